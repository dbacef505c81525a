package host

import "strings"

// Dialect is how one host speaks with a hook.
type Dialect interface {
	Decode(stdin []byte) (Payload, error)
	Encode(Event, Output) ([]byte, error)
	// When returns the event at which a text reaches its reader: p's own, or a
	// later one that it has to wait for, or "" where there is none. client is
	// the host's version, "" when it is not known.
	When(p Payload, c Channel, client string) Event
}

// Channel is who a text of an Output is for, and how it gets there.
type Channel int

// The channels of an Output.
const (
	ToModel  Channel = iota // Context
	ToPerson                // Message
	GoOn                    // Continue
	Question                // Ask
)

// mark is what a payload shows of the host it comes from.
type mark uint8

const (
	isOurs   mark = 1 << iota // the transcript is named after the session, as only Claude Code does
	hasTurn                   // turn_id
	hasTime                   // timestamp
	hasCamel                  // sessionId and the like
	noLog                     // transcript_path is null
	isLog                     // it is another host's log
)

// others are the hosts that run our plugins and whose answers we do not speak
// yet. Each is known by a variable and a payload together: a Claude Code that
// was started in a shell of another host inherits the variable, and a payload
// may have a new field any day.
var others = [...]struct {
	name  string
	vars  [2]string // one of which it sets for a hook
	marks mark      // one of which its payloads show
}{
	{"Gemini CLI", [2]string{"GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"}, hasTime | isLog},
	{"Copilot CLI", [2]string{"COPILOT_CLI", "COPILOT_PLUGIN_ROOT"}, hasTime | hasCamel},
	{"Codex", [2]string{"PLUGIN_ROOT", "CODEX_HOME"}, hasTurn | isLog | noLog},
}

// own are variables that Claude Code alone sets for its hooks, whatever its age.
var own = [...]string{entrypointVar, PIDVar, attendedVar}

// Caller returns who has started a hook with that environment and payload. Its
// Dialect is nil for a host that we cannot answer: one we know by name, and one
// we do not know, whose payload Claude Code would not send. Such a host takes
// what we have to say and shows it to nobody, so it must get silence, and no
// state may change.
func Caller(getenv func(string) string, stdin []byte) (Host, Payload, error) {
	h := FromEnv(getenv)
	p, err := Claude{}.Decode(stdin)
	if err != nil {
		return h, p, err
	}
	foreign := p.marks &^ isOurs
	if foreign == 0 || p.marks&isOurs != 0 {
		return h, p, nil
	}
	set := func(names ...string) bool {
		for _, name := range names {
			if name != "" && getenv(name) != "" {
				return true
			}
		}
		return false
	}
	for _, o := range others {
		if foreign&o.marks != 0 && set(o.vars[:]...) {
			h.Name, h.Dialect = o.name, nil
			return h, p, nil
		}
	}
	if !set(own[:]...) {
		h.Name, h.Dialect = "", nil
	}
	return h, p, nil
}

// mark notes what one field of a payload shows.
func (p *Payload) mark(key string, value []byte) {
	switch key {
	case "turn_id":
		p.marks |= hasTurn
	case "timestamp":
		p.marks |= hasTime
	case "sessionId", "hookName", "toolName", "conversation_id":
		p.marks |= hasCamel
	case "transcript_path":
		if string(value) == "null" {
			p.marks |= noLog
		}
	}
}

// markTranscript tells Claude Code's transcript from the logs of others.
func (p *Payload) markTranscript() {
	name := p.TranscriptPath[strings.LastIndexAny(p.TranscriptPath, `/\`)+1:]
	switch {
	case name == "":
	case p.SessionID != "" && name == p.SessionID+".jsonl":
		p.marks |= isOurs
	case strings.HasPrefix(name, "rollout-"), strings.HasPrefix(name, "session-"), name == "events.jsonl":
		p.marks |= isLog
	}
	if p.SessionID == "" { // the transcript is named after it
		p.SessionID = strings.TrimSuffix(name, ".jsonl")
	}
}
