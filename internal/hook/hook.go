// Package hook runs one hook: stdin becomes a payload, the guards have their
// say, a handler answers, and the answer is written in one piece.
//
// It must never hurt the session it serves. Whatever goes wrong, the exit code
// is 0, stdout is empty and the debug log has one line; only this package
// writes to stdout, once, and only what the host accepts for that event.
package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/state"
)

// OffVar, switched on, silences every hook of every plugin, as host.ChildVar does.
const OffVar = "CCRELOAD_OFF"

const (
	// hookTimeout is how long a hook may take before it gives up. The host would
	// wait longer, a person would not.
	hookTimeout = 5 * time.Second
	// endTimeout is the same at the end of a session, where all hooks share
	// 1.5 s (docs/host.md, Output).
	endTimeout = time.Second
	maxProfile = 1 << 20
)

// On reports whether the value of such a variable switches it on: anything but
// what says no.
func On(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "0", "false", "off", "no":
		return false
	}
	return true
}

// Run is one start of the runtime in hook mode.
type Run struct {
	Args   []string // what follows "hook": plugin and event, or nothing
	Stdin  io.Reader
	Stdout io.Writer
	Env    host.Env
	// Plugin returns the plugin of that name.
	Plugin func(name string) (*plugin.Plugin, bool)
	// Defaults returns the profile compiled in for a plugin.
	Defaults func(plugin string) (host.Profile, bool)
	// Timeout is how long the hook may take; 0 means as long as a person and the
	// host can be expected to wait.
	Timeout time.Duration
	// Quit ends the process with 0 when the hook has taken too long. It may
	// be called while Do is still running.
	Quit func()
	// Tap, if any, is shown every call that reaches a handler, and the payload
	// as it came, just before the handler runs. What goes wrong in it is
	// logged and costs the call nothing.
	Tap func(call *host.Call, stdin []byte) error
	// Taps, if any, reports whether Tap may have anything to do.
	Taps func(getenv func(string) string) bool
}

// Do runs the hook. When it returns, the process should exit with 0.
//
// The handler runs right here and a clock watches over it, instead of the
// other way round: a second goroutine costs a second thread.
func (r Run) Do() {
	log := newLog(r.Env)
	c := &clock{began: r.Env.Now(), now: r.Env.Now, limit: hookTimeout}
	if r.Timeout > 0 {
		c.limit = r.Timeout
	} else if len(r.Args) > 1 && host.Event(r.Args[1]) == host.SessionEnd {
		c.limit = endTimeout
	}
	quit := r.Quit // r itself stays on the stack
	c.ring = func() {
		log.fault(fmt.Errorf("no answer within %s", c.limit))
		quit()
	}
	a := r.attempt(log, c)
	if len(a.out) > 0 {
		c.start() // a host that does not read may not keep us either
	}
	if c.late() {
		return // the host may have stopped listening
	}
	r.give(a, log)
	c.stop()
}

// attempt returns the answer, the zero answer when anything goes wrong.
func (r Run) attempt(log *log, c *clock) (a answer) {
	defer func() {
		if p := recover(); p != nil {
			log.fault(fmt.Errorf("panic: %v", p), "stack", stack())
			a = answer{}
		}
	}()
	a, err := r.answer(log, c)
	if err != nil {
		log.fault(err)
		return answer{}
	}
	return a
}

// answer is what a run has to say.
type answer struct {
	out  []byte
	call *host.Call // nil when no handler was asked
}

// give writes the answer, and then lets the handler know that it is written.
func (r Run) give(a answer, log *log) {
	defer func() {
		if p := recover(); p != nil {
			log.fault(fmt.Errorf("panic: %v", p), "stack", stack())
		}
	}()
	if len(a.out) > 0 {
		if _, err := r.Stdout.Write(a.out); err != nil {
			log.fault(fmt.Errorf("stdout: %w", err))
			return
		}
	}
	if a.call != nil {
		a.call.Answered()
	}
}

// answer returns what to say.
func (r Run) answer(log *log, c *clock) (answer, error) {
	// Read first, whatever comes: a host that cannot get rid of its payload
	// reports the hook as broken.
	stdin, err := r.input(c)
	if err != nil {
		return answer{}, err
	}
	if On(r.Env.Getenv(OffVar)) || On(r.Env.Getenv(host.ChildVar)) {
		return answer{}, nil
	}
	from, p, err := host.Caller(r.Env.Getenv, stdin)
	if err != nil {
		return answer{}, err
	}
	if from.Dialect == nil {
		log.note("not Claude Code: no answer", "host", from.Name, "event", string(p.Event))
		return answer{}, nil
	}
	// A plugin root that is not there means that the plugin was removed or
	// updated under a running session (case F07).
	if info, err := os.Stat(from.Root); from.Root == "" || err != nil || !info.IsDir() {
		return answer{}, fmt.Errorf("plugin root %q is not a directory", from.Root)
	}
	if r.idle(from, p, log) || ended(p) {
		return answer{}, nil
	}
	profile, err := r.profile(from.Root)
	if err != nil {
		return answer{}, err
	}
	if len(r.Args) > 1 && p.Event != host.Event(r.Args[1]) {
		if p.Event != "" {
			log.note("payload and arguments name different events", "payload", string(p.Event), "argument", r.Args[1])
		} else {
			p.Event = host.Event(r.Args[1])
		}
	}
	log.about(profile.Plugin, p)
	if p.AgentID != "" { // case F38
		return answer{}, nil
	}
	of, ok := r.Plugin(profile.Plugin)
	if !ok {
		return answer{}, fmt.Errorf("plugin %q is not known", profile.Plugin)
	}
	handle := of.Handler(p.Event)
	if handle == nil {
		return answer{}, fmt.Errorf("no handler for %s %s", profile.Plugin, p.Event)
	}
	project, err := projectDir(from.Project, p.Cwd)
	if err != nil {
		return answer{}, err
	}
	if (options.Plugin{Dir: of.State(project), Profile: profile}).Off() {
		log.note("decided", "decision", "silence: switched off in this project")
		return answer{}, nil
	}
	env := r.Env
	env.Log = log.note
	call := &host.Call{
		Host:    from,
		Plugin:  profile.Plugin,
		Payload: p,
		Project: project,
		Profile: profile,
		Env:     env,
		OnSlow:  c.start,
	}
	// What happens at every turn says itself when it becomes slow.
	if p.Event != host.Stop && p.Event != host.UserPromptSubmit {
		call.Slow()
	}
	r.tap(call, stdin, log)
	var decision string
	var facts any
	if log.debug {
		call.Decided = func(d string, f any) { decision, facts = d, f }
	}
	out, err := handle(call)
	if err != nil {
		return answer{}, err
	}
	if log.debug {
		log.decided(call, out, decision, facts)
	}
	encoded, err := from.Dialect.Encode(p.Event, out)
	return answer{encoded, call}, err
}

// End has the hooks of a session do nothing from now on: what was removed in it would
// be there again after its next turn. The mark for that is in the directory for
// temporary files and goes with the session. It reports whether that is so.
func End(session string) bool {
	path := endMark(session)
	if path == "" {
		return false
	}
	_, err := state.CreateExclusive(path, nil)
	return err == nil
}

// ended reports whether the hooks of the session are to do nothing.
func ended(p host.Payload) bool {
	path := endMark(p.SessionID)
	if path == "" {
		return false
	}
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	if p.Event == host.SessionEnd {
		os.Remove(path) // else the system does
	}
	return true
}

// endMark returns the mark of a session, "" where no file can be called so.
func endMark(session string) string {
	if session == "" || len(session) > 64 || strings.Trim(session, "0123456789-abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return ""
	}
	return filepath.Join(os.TempDir(), "ccreload-ended-"+session)
}

// idle reports whether the plugin that is called by its name has nothing to do, and
// nobody wants to know.
func (r Run) idle(from host.Host, p host.Payload, log *log) bool {
	if len(r.Args) == 0 || log.debug || r.Taps != nil && r.Taps(r.Env.Getenv) {
		return false
	}
	of, ok := r.Plugin(r.Args[0])
	if !ok || of.Idle == nil {
		return false
	}
	project, err := projectDir(from.Project, p.Cwd)
	return err == nil && of.Idle(&host.Call{Host: from, Payload: p, Project: project, Env: r.Env})
}

func (r Run) tap(call *host.Call, stdin []byte, log *log) {
	if r.Tap == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			log.fault(fmt.Errorf("panic in tap: %v", p), "stack", stack())
		}
	}()
	if err := r.Tap(call, stdin); err != nil {
		log.fault(fmt.Errorf("tap: %w", err))
	}
}

// profile returns what the manifest says of the plugin that was called: the
// ccreload.json of its root, or the one compiled in.
func (r Run) profile(root string) (host.Profile, error) {
	want := ""
	if len(r.Args) > 0 {
		want = r.Args[0]
	}
	return Profile(root, want, r.Defaults)
}

// Profile reads the ccreload.json in root; where there is none, or it does
// not name want, the profile compiled in for want is returned. An empty want
// takes whatever the file names.
func Profile(root, want string, defaults func(string) (host.Profile, bool)) (host.Profile, error) {
	var why error
	if root != "" {
		data, err := state.ReadFile(filepath.Join(root, "ccreload.json"), maxProfile)
		if err == nil {
			p, err := host.DecodeProfile(data)
			if err == nil && (want == "" || want == p.Plugin) {
				return p, nil
			}
			why = err
		}
	}
	if p, ok := defaults(want); ok {
		return p, nil
	}
	if why == nil {
		why = fmt.Errorf("plugin %q is not known", want)
	}
	return host.Profile{}, why
}

// projectDir returns the directory whose state a hook works on: the project
// of the session, and not the worktree that cwd may name (case F39).
func projectDir(candidates ...string) (string, error) {
	for _, dir := range candidates {
		if dir == "" {
			continue
		}
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	return "", errors.New("the project directory is gone")
}
