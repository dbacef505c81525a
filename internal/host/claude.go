package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// Claude is the dialect of Claude Code (docs/host.md).
type Claude struct{}

// continueSince is the first client that continues a turn on
// hookSpecificOutput.additionalContext, which it shows as "Stop hook says".
// Older ones need decision: block, shown as a problem (docs/host.md, Output).
const continueSince = "2.1.163"

// Decode reads the JSON object a hook gets on stdin. A UTF-8 byte order mark
// is skipped, and a field of an unexpected type counts as missing. An error
// means that nothing in it can be trusted.
func (Claude) Decode(stdin []byte) (Payload, error) {
	stdin = bytes.TrimPrefix(stdin, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(stdin)) == 0 {
		return Payload{}, errors.New("payload is empty")
	}
	var p Payload
	if !jsonscan.Object(stdin, func(key, value []byte) { p.set(string(key), value) }) {
		return Payload{}, errors.New("payload is not a readable JSON object")
	}
	p.markTranscript()
	return p, nil
}

// set takes one field of the payload, by the name Claude Code gives it.
func (p *Payload) set(key string, value []byte) {
	switch key {
	case "hook_event_name":
		p.Event = Event(jsonscan.Text(value))
	case "session_id":
		p.SessionID = jsonscan.Text(value)
	case "transcript_path":
		p.TranscriptPath = jsonscan.Text(value)
		p.mark(key, value)
	case "cwd":
		p.Cwd = jsonscan.Text(value)
	case "agent_id":
		p.AgentID = jsonscan.Text(value)
	case "permission_mode":
		p.PermissionMode = jsonscan.Text(value)
	case "source":
		p.Source = jsonscan.Text(value)
	case "model":
		p.Model = jsonscan.Text(value)
		if value[0] == '{' { // some versions name more than the id
			jsonscan.Object(value, func(key, value []byte) {
				if string(key) == "id" {
					p.Model = jsonscan.Text(value)
				}
			})
		}
	case "prompt":
		p.Prompt = jsonscan.Text(value)
	case "stop_hook_active":
		p.StopHookActive = jsonscan.True(value)
	case "last_assistant_message":
		p.LastMessage = jsonscan.Text(value)
	case "background_tasks":
		n := 0
		if jsonscan.Array(value, func([]byte) { n++ }) {
			p.BackgroundTasks = n
		}
	case "error":
		p.Failure = jsonscan.Text(value)
	case "tool_name":
		p.Tool = jsonscan.Text(value)
	case "tool_use_id":
		p.ToolUse = jsonscan.Text(value)
	case "tool_input":
		jsonscan.Object(value, func(key, value []byte) {
			switch string(key) {
			case "file_path":
				p.ToolPath = jsonscan.Text(value)
			case "command":
				p.ToolCommand = jsonscan.Text(value)
			}
		})
	case "trigger":
		p.Trigger = jsonscan.Text(value)
	case "compact_summary":
		p.Summary = jsonscan.Text(value)
	case "reason":
		p.Reason = jsonscan.Text(value)
	default:
		p.mark(key, value)
	}
}

// claudeOutput is what Claude Code reads from a hook's stdout.
type claudeOutput struct {
	Decision string          `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Message  string          `json:"systemMessage,omitempty"`
	Specific *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	Event   Event  `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
	Verdict string `json:"permissionDecision,omitempty"`
	Reason  string `json:"permissionDecisionReason,omitempty"`
}

// ask is the only verdict on a tool that hooks of ours give: to allow or to
// deny is the person's.
const ask = "ask"

// Encode returns the bytes to write to stdout for out, nil for silence. A
// text above MaxText is cut. What e does not accept is an error: the host
// would reject the whole output, so nothing of it may be written (case F18).
func (Claude) Encode(e Event, out Output) ([]byte, error) {
	if out.Silent() {
		return nil, nil
	}
	r, ok := ruleOf(e)
	switch {
	case !ok:
		return nil, fmt.Errorf("event %q is not known", e)
	case out.Context != "" && !r.context:
		return nil, fmt.Errorf("event %s takes no context", e)
	case out.Message != "" && !r.message:
		return nil, fmt.Errorf("event %s takes no message", e)
	case out.Continue != "" && !r.continues:
		return nil, fmt.Errorf("event %s cannot continue the turn", e)
	case out.Ask != "" && !r.asks:
		return nil, fmt.Errorf("event %s cannot have the person asked", e)
	}
	c := claudeOutput{Message: Cut(out.Message, MaxText)}
	switch {
	case out.Context != "":
		c.Specific = &claudeSpecific{Event: e, Context: Cut(out.Context, MaxText)}
	case out.Continue != "" && AtLeast(out.Client, continueSince):
		c.Specific = &claudeSpecific{Event: e, Context: Cut(out.Continue, MaxText)}
	case out.Continue != "":
		c.Decision, c.Reason = "block", Cut("Not an error: "+out.Continue, MaxText)
	}
	if out.Ask != "" {
		if c.Specific == nil {
			c.Specific = &claudeSpecific{Event: e}
		}
		c.Specific.Verdict, c.Specific.Reason = ask, Cut(out.Ask, MaxText)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Len returns the length of s as the host counts it: UTF-16 units, of which
// an emoji takes two.
func Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Cut returns s if it has at most n characters (Len), else its longest
// beginning that, with an ellipsis, has n. It never splits a character.
func Cut(s string, n int) string {
	if len(s) <= n || Len(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := max(utf16.RuneLen(r), 1)
		if used+w > n-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// Parse returns what stdout says to Claude Code at e. An error means that the
// client would not accept it: it is no single JSON object, has a field that e
// does not allow, says nothing (silence is zero bytes) or exceeds the cap.
func (Claude) Parse(e Event, stdout []byte) (Output, error) {
	if len(stdout) == 0 {
		return Output{}, nil
	}
	if !utf8.Valid(stdout) {
		return Output{}, errors.New("output is not UTF-8")
	}
	var c claudeOutput
	dec := json.NewDecoder(bytes.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Output{}, fmt.Errorf("output is not what the host reads: %w", err)
	}
	if dec.More() {
		return Output{}, errors.New("output is more than one object")
	}
	out := Output{Message: c.Message, Client: continueSince}
	if c.Decision != "" {
		if c.Decision != "block" || c.Reason == "" {
			return Output{}, fmt.Errorf("decision %q needs the value block and a reason", c.Decision)
		}
		out.Continue = c.Reason
	}
	if s := c.Specific; s != nil {
		if s.Event != e {
			return Output{}, fmt.Errorf("output is for %q, the event is %s", s.Event, e)
		}
		if s.Verdict != "" && s.Verdict != ask || (s.Verdict == "") != (s.Reason == "") {
			return Output{}, fmt.Errorf("permissionDecision %q needs the value %s and a reason", s.Verdict, ask)
		}
		out.Ask = s.Reason
		if e == Stop {
			out.Continue = s.Context
		} else {
			out.Context = s.Context
		}
	}
	if out.Silent() {
		return Output{}, errors.New("output says nothing: silence is zero bytes")
	}
	for _, s := range []string{out.Context, out.Message, out.Continue, out.Ask} {
		if Len(s) > MaxText {
			return Output{}, fmt.Errorf("text has %d characters, the host takes %d", Len(s), MaxText)
		}
	}
	if _, err := (Claude{}).Encode(e, out); err != nil {
		return Output{}, err
	}
	out.Client = ""
	return out, nil
}

// Valid reports whether stdout is something Claude Code accepts for e:
// nothing at all, or what Parse can read. Tests hold every answer of ours
// against it.
func (Claude) Valid(e Event, stdout []byte) error {
	_, err := Claude{}.Parse(e, stdout)
	return err
}

// hidesSince is the first client that, in one of its renderers, does not show a
// SessionStart message after /clear (docs/host.md, Output).
const hidesSince = "2.1.265"

// When says that a message of SessionStart may not be seen after /clear and has
// to wait for the first prompt. An unknown version counts as a new one: at both
// moments, the other renderer would show it twice.
func (Claude) When(p Payload, c Channel, client string) Event {
	r, _ := ruleOf(p.Event)
	if !r.takes(c) {
		return ""
	}
	if c == ToPerson && p.Event == SessionStart && p.Source == "clear" && (client == "" || AtLeast(client, hidesSince)) {
		return UserPromptSubmit
	}
	return p.Event
}

// maxErrorLine is more than any line of the host about an error has, in bytes.
const maxErrorLine = 300

// IsAPIError reports whether the last message of a turn is not the model's
// but the host's line about an error or a limit of the API (case F36). An
// answer that merely mentions one has more lines, or says so in a sentence.
func IsAPIError(message string) bool {
	m := strings.TrimSpace(message)
	if m == "" || strings.ContainsAny(m, "\n\r") || len(m) > maxErrorLine {
		return false
	}
	for _, start := range []string{"API Error", "Claude AI usage limit reached"} {
		if strings.HasPrefix(m, start) {
			return true
		}
	}
	// "You've hit your session limit · resets 3:45pm", "5-hour limit reached ∙ resets 12pm"
	what, _, reset := strings.Cut(strings.Replace(m, "’", "'", 1), " resets ")
	words := strings.Fields(what)
	if n := len(words); !reset || n == 0 || n > 8 || !strings.Contains("∙·•-–—|", words[n-1]) {
		return false
	}
	return strings.Contains(what, " limit reached ") || strings.HasPrefix(what, "You've hit your ")
}
