package record

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/transcript"
)

// latency is how long a Stop hook runs before the rows arrive that the host
// wrote late (case F02), as on the real client (docs/host.md, Transcripts).
const latency = 150 * time.Millisecond

// Replayer says what to replay with.
type Replayer struct {
	Binary string // the ccreload to run
	Root   string // the plugin's root; its hooks.json says what starts
	Dir    string // an existing directory for home, project and data
	// Env is what every hook finds in its environment beside the variables of
	// the recording: options of the plugin, for one.
	Env map[string]string
	// Config is written to the project's config file, by the binary itself.
	Config map[string]string
	// Options are those of a plugin without our runtime, by their keys.
	Options map[string]string
	Matcher Matcher
}

// Report is a replay for programs.
type Report struct {
	Recording string `json:"recording"`
	Plugin    string `json:"plugin"`
	Calls     []Step `json:"calls"`
	// Next is what a session is given that starts after the recording.
	Next Step `json:"next"`
}

// Step is one call as it went this time. In texts, the replay's directories
// are $PROJECT, $HOME and $TMP again.
type Step struct {
	T         float64    `json:"t"` // seconds, as recorded
	Event     host.Event `json:"event"`
	Session   string     `json:"session"`
	Processes int        `json:"processes"`          // hooks that were started
	Millis    float64    `json:"ms"`                 // for all of them
	Tokens    *int       `json:"tokens,omitempty"`   // occupancy after the call; absent when unknown
	Message   string     `json:"message,omitempty"`  // for the person
	Hidden    bool       `json:"hidden,omitempty"`   // which the client does not show
	Context   string     `json:"context,omitempty"`  // for the model
	Continue  string     `json:"continue,omitempty"` // with which the turn goes on
	Ask       string     `json:"ask,omitempty"`      // why the person is asked before the tool runs
	Block     string     `json:"block,omitempty"`    // why the host does not do what was asked
	NotRun    []string   `json:"not_run,omitempty"`  // handlers that are no programs
	Fault     string     `json:"fault,omitempty"`    // from the debug log, or in the eyes of the host

	Payload host.Payload `json:"-"` // what was asked
}

func (s Step) silent() bool { return s.Message+s.Context+s.Continue+s.Ask+s.Block == "" }

// Run replays calls in order and hands each step to each as it is done. Then
// it starts one more session in the same place, which no recording has, and
// returns that step: what it is given is what a person would go on with.
func (r Replayer) Run(calls []Call, each func(Step) error) (Step, error) {
	hooks, err := readHooks(r.Root)
	if err != nil {
		return Step{}, err
	}
	w, err := newWorld(r.Dir, r.Binary, r.Root)
	if err != nil {
		return Step{}, err
	}
	defer w.leave(math.MaxInt)
	if err := w.configure(r.Config); err != nil {
		return Step{}, err
	}
	last := map[string]int{} // by client: its last call
	for i, c := range calls {
		last[c.Env[host.PIDVar]] = i
	}
	p := player{Replayer: r, world: w, hooks: hooks}
	pending := append([]Call(nil), calls...)
	for i := range pending {
		step, err := p.play(pending[i], last[pending[i].Env[host.PIDVar]], late(pending, i))
		if err == nil {
			err = each(step)
		}
		if err != nil {
			return Step{}, fmt.Errorf("call %d, %s at %.1f s: %w", i+1, calls[i].Event, calls[i].T, err)
		}
		w.leave(i)
	}
	return p.play(newcomer(calls[len(calls)-1]), math.MaxInt, nil)
}

// late takes from the calls after i the rows that the host was still writing
// when the Stop hook of call i ran: where a prompt, a compaction or the end of
// the session comes next on that transcript, what stands before it up to the
// last answer belongs to the turn that stopped.
func late(calls []Call, i int) []json.RawMessage {
	if calls[i].Event != host.Stop {
		return nil
	}
	path := transcriptPath(calls[i])
	for j := i + 1; j < len(calls); j++ {
		if transcriptPath(calls[j]) != path {
			continue
		}
		switch calls[j].Event {
		case host.UserPromptSubmit, host.PreCompact, host.SessionEnd:
			n := answered(calls[j].Rows)
			rows := calls[j].Rows[:n]
			calls[j].Rows = calls[j].Rows[n:]
			return rows
		}
		return nil
	}
	return nil
}

// answered returns how many rows there are up to the last answer.
func answered(rows []json.RawMessage) int {
	n := 0
	for i, row := range rows {
		var r struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(row, &r) == nil && r.Type == "assistant" {
			n = i + 1
		}
	}
	return n
}

func transcriptPath(c Call) string {
	var p struct {
		Path string `json:"transcript_path"`
	}
	if json.Unmarshal(c.Payload, &p) != nil {
		return ""
	}
	return p.Path
}

// newcomer is the start of a session that comes after c, at a terminal.
func newcomer(c Call) Call {
	const id = "ffffffff-0000-4000-8000-000000000000"
	payload := `{"hook_event_name":"SessionStart","session_id":"` + id + `","source":"startup","cwd":"$PROJECT",` +
		`"transcript_path":"$HOME/.claude/projects/-PROJECT/` + id + `.jsonl"}`
	return Call{
		T:       c.T,
		Event:   host.SessionStart,
		Env:     host.Interactive(id, "newcomer", "$PROJECT"),
		Payload: json.RawMessage(payload),
	}
}

// player replays calls one by one.
type player struct {
	Replayer
	world *world
	hooks hooks
	log   int64 // bytes of the debug log that have been read
	// client is the version of the newest transcript row that has one.
	client string
}

// stage lays out what call c has found: its client, which lives up to call number
// until, its transcript, and the file it is about. It returns c as it is made here.
func (p *player) stage(c Call, until int) (Call, Step, error) {
	c, err := p.world.places.expand(c)
	if err != nil {
		return c, Step{}, err
	}
	if pid := c.Env[host.PIDVar]; pid != "" {
		if c.Env[host.PIDVar], err = p.world.clientPID(pid, until); err != nil {
			return c, Step{}, err
		}
	}
	payload, err := host.Claude{}.Decode(c.Payload)
	if err != nil {
		return c, Step{}, err
	}
	if err := p.world.append(payload.TranscriptPath, c.Rows, c.Rewritten); err != nil {
		return c, Step{}, err
	}
	if err := p.world.perform(c.Event, c.Payload); err != nil {
		return c, Step{}, err
	}
	return c, Step{T: c.T, Event: payload.Event, Session: payload.SessionID, Payload: payload}, nil
}

// play makes call c. Its client lives up to call number until.
func (p *player) play(c Call, until int, late []json.RawMessage) (Step, error) {
	c, step, err := p.stage(c, until)
	if err != nil {
		return Step{}, err
	}
	payload := step.Payload
	if late, err = p.world.places.expandRows(late); err != nil {
		return Step{}, err
	}
	p.look(&step)
	for _, h := range p.hooks.started(payload, c.Payload, p.Matcher) {
		if err := p.start(h, c, &step, late); err != nil {
			return Step{}, err
		}
		late = nil
	}
	if err := p.world.append(payload.TranscriptPath, late, false); err != nil {
		return Step{}, err
	}
	p.world.last = time.Now()
	step.Hidden = step.Message != "" && host.Claude{}.When(payload, host.ToPerson, p.client) != payload.Event
	for _, msg := range p.faults() {
		step.fault(p.world.places.out(msg))
	}
	return step, nil
}

// start runs one handler as the host does and adds to step what it said. The
// rows late arrive while it runs.
func (p *player) start(h handler, c Call, step *Step, late []json.RawMessage) error {
	if !h.program() {
		step.NotRun = append(step.NotRun, h.line())
		return nil
	}
	step.Processes++
	a, err := p.run(h, c, step, late)
	if err != nil {
		return err
	}
	step.Millis += a.millis
	said := a.said(step)
	for _, text := range []struct {
		of  *string
		add string
	}{{&step.Message, said.Message}, {&step.Context, said.Context}, {&step.Continue, said.Continue}, {&step.Ask, said.Ask}, {&step.Block, said.block}} {
		*text.of = strings.TrimPrefix(*text.of+"\n"+p.world.places.out(text.add), "\n")
	}
	return nil
}

// answer is how a handler ended.
type answer struct {
	handler        handler
	stdout, stderr string
	exit           int // -1 when it was killed or never ran
	failure        error
	millis         float64
}

// run runs one handler as the host does.
func (p *player) run(h handler, c Call, step *Step, late []json.RawMessage) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), h.timeout())
	defer cancel()
	cmd := p.command(ctx, h)
	cmd.Env = append(p.world.environ(c.Env), host.NoBackgroundVar+"=1")
	for name, v := range p.Env {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	cmd.Dir = p.world.places.Project
	cmd.Stdin = bytes.NewReader(c.Payload)
	// What a hook leaves running may hold its output open.
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	begun := time.Now()
	done := make(chan error, 1)
	err := cmd.Start()
	if err != nil {
		if h.ours() {
			return answer{}, fmt.Errorf("%s: %w", p.Binary, err)
		}
		done <- err // as the host sees it, a hook that failed
	} else {
		go func() { done <- cmd.Wait() }()
	}
	answered := false
	select {
	case err = <-done:
		answered = true
		p.look(step) // at what the hook has seen
	case <-time.After(latency):
	}
	if err := p.world.append(step.Payload.TranscriptPath, late, false); err != nil {
		return answer{}, err
	}
	if !answered {
		err = <-done
		p.look(step)
	}
	a := answer{handler: h, stdout: stdout.String(), stderr: stderr.String(), exit: -1, millis: float64(time.Since(begun).Microseconds()) / 1000}
	if cmd.ProcessState != nil {
		a.exit = cmd.ProcessState.ExitCode()
	}
	switch {
	case ctx.Err() != nil:
		a.exit, a.failure = -1, errors.New("no answer within "+h.timeout().String())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		a.failure = err
	}
	return a, nil
}

// command returns what the host starts for h: our runtime without the launcher, a
// program with its arguments, or a line that a shell takes apart. In shell form
// the host replaces nothing: the shell finds the variables in its environment.
func (p *player) command(ctx context.Context, h handler) *exec.Cmd {
	switch {
	case h.ours():
		return exec.CommandContext(ctx, p.Binary, h.Args...)
	case h.Args == nil && runtime.GOOS == "windows":
		return exec.CommandContext(ctx, "bash", "-c", h.Command)
	case h.Args == nil:
		return exec.CommandContext(ctx, "/bin/sh", "-c", h.Command)
	}
	args := make([]string, len(h.Args))
	for i, arg := range h.Args {
		args[i] = p.filled(arg)
	}
	return exec.CommandContext(ctx, p.filled(h.Command), args...)
}

// filled returns text of exec form with the values of the host's variables.
func (p *player) filled(text string) string {
	pairs := []string{
		"${" + host.RootVar + "}", p.world.root,
		"${" + host.DataVar + "}", p.world.data,
		"${" + host.ProjectVar + "}", p.world.places.Project,
	}
	for key, value := range p.Options {
		pairs = append(pairs, "${user_config."+key+"}", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// heard is what an answer says.
type heard struct {
	host.Output
	block string // why the host does not do what was asked
}

// said returns what a is for the host. Ours have to keep to what they may say at
// an event; of others, the host takes more.
func (a answer) said(step *Step) heard {
	if a.handler.ours() {
		said, invalid := host.Claude{}.Parse(step.Payload.Event, []byte(a.stdout))
		switch {
		case a.failure != nil:
			step.fault(strings.TrimSpace(a.failure.Error() + " " + strings.TrimSpace(a.stderr)))
		case invalid != nil:
			step.fault(invalid.Error())
		case a.stderr != "":
			step.fault("on stderr: " + strings.TrimSpace(a.stderr))
		}
		return heard{Output: said}
	}
	const refused = 2 // the exit code with which a hook says no
	switch {
	case a.exit == refused:
		return toHost(step.Payload.Event, strings.TrimSpace(a.stderr))
	case a.failure != nil:
		step.fault(strings.TrimSpace(a.failure.Error() + " " + strings.TrimSpace(a.stderr)))
		return heard{}
	}
	return theirs(step.Payload.Event, strings.TrimSpace(a.stdout))
}

// toHost is what a no comes to at event.
func toHost(event host.Event, why string) heard {
	switch event {
	case host.Stop, host.SubagentStop:
		return heard{Output: host.Output{Continue: why}}
	case host.PostToolUse, host.PostToolUseFailure:
		return heard{Output: host.Output{Context: why}}
	}
	return heard{block: cmp.Or(why, "no reason given")}
}

// theirs is what the stdout of any hook that went well comes to at event.
func theirs(event host.Event, stdout string) (out heard) {
	var all struct {
		Continue   *bool  `json:"continue"`
		StopReason string `json:"stopReason"`
		Message    string `json:"systemMessage"`
		Decision   string `json:"decision"`
		Reason     string `json:"reason"`
		Specific   struct {
			Context string `json:"additionalContext"`
			Verdict string `json:"permissionDecision"`
			Reason  string `json:"permissionDecisionReason"`
		} `json:"hookSpecificOutput"`
	}
	if !strings.HasPrefix(stdout, "{") || json.Unmarshal([]byte(stdout), &all) != nil {
		switch event {
		case host.SessionStart, host.UserPromptSubmit, "UserPromptExpansion":
			out.Context = stdout // of other events the model is told nothing
		}
		return out
	}
	if all.Decision == "block" {
		out = toHost(event, all.Reason)
	}
	out.Message = all.Message
	if event == host.Stop && out.Continue == "" {
		out.Continue = all.Specific.Context
	} else if all.Specific.Context != "" {
		out.Context = strings.TrimPrefix(out.Context+"\n"+all.Specific.Context, "\n")
	}
	switch all.Specific.Verdict {
	case "ask":
		out.Ask = cmp.Or(all.Specific.Reason, "the hook says so")
	case "deny":
		out.block = cmp.Or(all.Specific.Reason, "the hook says so")
	}
	if all.Continue != nil && !*all.Continue {
		out.block = cmp.Or(all.StopReason, "the session is stopped")
	}
	return out
}

// look adds to step what the transcript tells now.
func (p *player) look(step *Step) {
	tail, err := transcript.ReadTail(step.Payload.TranscriptPath)
	if err == nil && tail.Known && !tail.Estimate {
		step.Tokens = &tail.Tokens
	}
	if err == nil && tail.Version != "" {
		p.client = tail.Version
	}
}

// faults returns the faults that were logged since it was last called.
func (p *player) faults() []string {
	data, err := os.ReadFile(filepath.Join(p.world.data, hook.LogName))
	if err != nil || int64(len(data)) <= p.log {
		return nil
	}
	fresh := data[p.log:]
	p.log = int64(len(data))
	var out []string
	for line := range bytes.Lines(fresh) {
		var row struct{ Level, Msg string }
		if json.Unmarshal(line, &row) == nil && row.Level == "error" {
			out = append(out, row.Msg)
		}
	}
	return out
}

func (s *Step) fault(msg string) {
	if s.Fault != "" {
		msg = s.Fault + "; " + msg
	}
	s.Fault = msg
}

// FindRoot returns the root of the tree of plugin and what its ccreload.json
// says: one of dirs, or the place a marketplace in one of them has it. Of a plugin
// without our runtime, the profile has what its plugin.json says. Any plugin will do
// if none is named. The error says where it looked.
func FindRoot(plugin string, dirs ...string) (string, host.Profile, error) {
	none := func(string) (host.Profile, bool) { return host.Profile{}, false }
	for _, dir := range dirs {
		for _, root := range []string{dir, filepath.Join(dir, "marketplace", "plugins", plugin), filepath.Join(dir, "plugins", plugin)} {
			a, err := readPlugin(root)
			name := cmp.Or(plugin, a.Name)
			if profile, err := hook.Profile(root, name, none); err == nil {
				return root, profile, nil
			}
			if err == nil && a.Name == name && name != "" {
				profile := host.Profile{Plugin: a.Name, Version: a.Version}
				for key := range a.Options {
					profile.Options = append(profile.Options, host.Option{Key: key})
				}
				return root, profile, nil
			}
		}
	}
	if plugin == "" {
		return "", host.Profile{}, fmt.Errorf("no plugin in %s", strings.Join(dirs, ", "))
	}
	return "", host.Profile{}, fmt.Errorf("no tree of plugin %q in %s", plugin, strings.Join(dirs, ", "))
}

// Ours reports whether our runtime answers hooks of the plugin in root.
func Ours(root string) bool {
	_, err := os.Stat(filepath.Join(root, "ccreload.json"))
	return err == nil
}
