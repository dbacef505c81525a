package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
)

// world is what a run sees: for one run: a plugin root, a data directory, a project.
type world struct {
	idle   func(*host.Call) bool
	taps   func(func(string) string) bool
	quit   chan struct{} // closed when the run gives up
	vars   map[string]string
	data   string
	stdout bytes.Buffer
	calls  []host.Call
	answer func(*host.Call) (host.Output, error)
	tap    func(*host.Call, []byte) error
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{data: t.TempDir()}
	w.vars = map[string]string{
		"CLAUDE_PLUGIN_ROOT": t.TempDir(),
		"CLAUDE_PLUGIN_DATA": w.data,
		"CLAUDE_PROJECT_DIR": t.TempDir(),
	}
	return w
}

func (w *world) run(stdin io.Reader, args ...string) {
	handler := func(c *host.Call) (host.Output, error) {
		w.calls = append(w.calls, *c)
		if w.answer != nil {
			return w.answer(c)
		}
		return host.Output{Message: "hello"}, nil
	}
	Run{
		Args:   args,
		Stdin:  stdin,
		Stdout: &w.stdout,
		Quit:   func() { close(w.quit) },
		Env:    host.Env{Now: time.Now, Getenv: func(k string) string { return w.vars[k] }},
		Plugin: func(name string) (*plugin.Plugin, bool) {
			return &plugin.Plugin{Name: name, StateDir: ".demo", Idle: w.idle, Handler: func(event host.Event) host.Handler {
				if !event.Known() {
					return nil
				}
				return handler
			}}, name == "demo"
		},
		Defaults: func(p string) (host.Profile, bool) { return demo, p == "demo" },
		Tap:      w.tap,
		Taps:     w.taps,
	}.Do()
}

func (w *world) log(t *testing.T) string {
	t.Helper()
	b, _ := os.ReadFile(filepath.Join(w.data, LogName))
	return string(b)
}

var demo = host.Profile{Plugin: "demo", Options: []host.Option{
	{Key: options.EnabledKey, Kind: host.KindBool, Default: "on", Scopes: []host.Scope{host.ScopeProject}},
}}

const stop = `{"hook_event_name":"Stop","session_id":"s"}`

func TestRunAnswers(t *testing.T) {
	w := newWorld(t)
	w.run(strings.NewReader(stop), "demo", "Stop")
	if got := w.stdout.String(); got != `{"systemMessage":"hello"}`+"\n" {
		t.Errorf("stdout %q", got)
	}
	if len(w.calls) != 1 || w.calls[0].Project != w.vars["CLAUDE_PROJECT_DIR"] || w.calls[0].Payload.SessionID != "s" {
		t.Errorf("calls %+v", w.calls)
	}
	if l := w.log(t); l != "" {
		t.Errorf("log %q", l)
	}
}

// A plugin that has nothing to do is not asked, but for somebody who wants to know.
func TestRunIdle(t *testing.T) {
	for name, tt := range map[string]struct {
		idle, taps, debug bool
		calls             int
	}{
		"idle": {idle: true}, "not idle": {calls: 1}, "recording": {idle: true, taps: true, calls: 1}, "debugging": {idle: true, debug: true, calls: 1},
	} {
		w := newWorld(t)
		w.idle = func(c *host.Call) bool {
			return tt.idle && c.Payload.SessionID == "s" && c.Project == w.vars["CLAUDE_PROJECT_DIR"]
		}
		w.taps = func(func(string) string) bool { return tt.taps }
		if tt.debug {
			w.vars[DebugVar] = "1"
		}
		w.run(strings.NewReader(stop), "demo", "Stop")
		if len(w.calls) != tt.calls {
			t.Errorf("%s: %d calls, want %d", name, len(w.calls), tt.calls)
		}
	}
}

// Everything that is wrong ends in silence and one line in the log.
func TestRunFailsOpen(t *testing.T) {
	for name, tt := range map[string]struct {
		stdin string
		args  []string
		set   func(*testing.T, *world)
		log   string
	}{
		"empty payload (case F74)":       {stdin: "", log: "payload is empty"},
		"half a payload (case F74)":      {stdin: stop[:20], log: "readable JSON"},
		"30 MB (case F74)":               {stdin: `{"prompt":"` + strings.Repeat("x", 30<<20), log: "more than"},
		"no plugin root (case F07)":      {stdin: stop, set: func(_ *testing.T, w *world) { delete(w.vars, "CLAUDE_PLUGIN_ROOT") }, log: "plugin root"},
		"plugin root is gone (case F07)": {stdin: stop, set: func(t *testing.T, w *world) { os.Remove(w.vars["CLAUDE_PLUGIN_ROOT"]) }, log: "plugin root"},
		"project is gone (case F39)":     {stdin: stop, set: func(t *testing.T, w *world) { os.Remove(w.vars["CLAUDE_PROJECT_DIR"]) }, log: "project directory"},
		"unknown plugin":                 {stdin: stop, args: []string{"other", "Stop"}, log: "other"},
		"unknown event":                  {stdin: `{"hook_event_name":"Nope"}`, log: "no handler"},
		"panic":                          {stdin: stop, set: func(_ *testing.T, w *world) { w.answer = func(*host.Call) (host.Output, error) { panic("boom") } }, log: "boom"},
		"handler's error": {stdin: stop, set: func(_ *testing.T, w *world) {
			w.answer = func(*host.Call) (host.Output, error) { return host.Output{Message: "x"}, io.ErrNoProgress }
		}, log: "Read"},
		"what the event does not accept (case F18)": {stdin: `{"hook_event_name":"PreCompact"}`, args: []string{"demo", "PreCompact"}, log: "takes no message"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tt.set != nil {
				tt.set(t, w)
			}
			if tt.args == nil {
				tt.args = []string{"demo", "Stop"}
			}
			w.run(strings.NewReader(tt.stdin), tt.args...)
			if w.stdout.Len() != 0 {
				t.Errorf("stdout %q", &w.stdout)
			}
			l := w.log(t)
			if strings.Count(l, "\n") != 1 || !strings.Contains(l, tt.log) {
				t.Errorf("log %q, want one line with %q", l, tt.log)
			}
		})
	}
}

func TestRunIsSilent(t *testing.T) {
	for name, tt := range map[string]struct{ variable, stdin string }{
		"switched off":             {OffVar, stop},
		"our own child (case F11)": {host.ChildVar, stop},
		"a subagent (case F38)":    {"", `{"hook_event_name":"Stop","agent_id":"a1"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.variable != "" {
				w.vars[tt.variable] = "1"
			}
			w.run(strings.NewReader(tt.stdin), "demo", "Stop")
			if w.stdout.Len() != 0 || len(w.calls) != 0 || w.log(t) != "" {
				t.Errorf("stdout %q, %d calls, log %q", &w.stdout, len(w.calls), w.log(t))
			}
		})
	}
}

// Some people switch a thing off by saying no.
func TestOn(t *testing.T) {
	for value, want := range map[string]bool{
		"": false, "0": false, "false": false, "FALSE": false, "off": false, "no": false, " No ": false,
		"1": true, "true": true, "on": true, "yes": true, "x": true,
	} {
		if On(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
		w := newWorld(t)
		w.vars[OffVar] = value
		w.run(strings.NewReader(stop), "demo", "Stop")
		if silent := w.stdout.Len() == 0; silent != want {
			t.Errorf("%s=%q: silent is %v", OffVar, value, silent)
		}
	}
}

// What the plugin's own ccreload.json says goes before what is compiled in.
func TestProfileOfTheRootComesFirst(t *testing.T) {
	compiled := func(name string) (host.Profile, bool) {
		return host.Profile{Plugin: name, Version: "1"}, name == "demo"
	}
	root := t.TempDir()
	for _, tt := range []struct{ file, version string }{
		{"", "1"}, {`{"plugin":"demo","version":"2"}`, "2"}, {`{"plugin":"other","version":"3"}`, "1"}, {`{`, "1"},
	} {
		if err := os.WriteFile(filepath.Join(root, "ccreload.json"), []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if p, err := Profile(root, "demo", compiled); err != nil || p.Version != tt.version {
			t.Errorf("%s: version %q, %v; want %s", tt.file, p.Version, err, tt.version)
		}
	}
}

// enabled: off in the project's file silences the plugin there.
func TestRunIsSwitchedOffInAProject(t *testing.T) {
	for config, want := range map[string]bool{"enabled: off\n": true, "enabled: on\n": false, "enabled: maybe\n": false, "": false} {
		w := newWorld(t)
		dir := filepath.Join(w.vars["CLAUDE_PROJECT_DIR"], ".demo")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, options.ConfigFile), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		w.run(strings.NewReader(stop), "demo", "Stop")
		if silent := w.stdout.Len() == 0 && len(w.calls) == 0; silent != want {
			t.Errorf("%q: silent is %v", config, silent)
		}
	}
}

// With CCRELOAD_DEBUG every decision is a line, with the facts where there are
// some, and without it a handler is not asked for them.
func TestRunLogsDecisions(t *testing.T) {
	for _, debug := range []string{"", "0", "1"} {
		w := newWorld(t)
		w.vars[DebugVar] = debug
		w.answer = func(c *host.Call) (host.Output, error) {
			if (c.Decided != nil) != (debug == "1") {
				t.Errorf("debug %q: asked for facts: %v", debug, c.Decided != nil)
			}
			if c.Decided != nil {
				c.Decided("notify", struct{ Percent int }{46})
			}
			return host.Output{Message: "hello"}, nil
		}
		w.run(strings.NewReader(stop), "demo", "Stop")
		l := w.log(t)
		if debug != "1" {
			if l != "" {
				t.Errorf("debug %q: log %q", debug, l)
			}
			continue
		}
		for _, part := range []string{`"msg":"decided"`, `"decision":"notify"`, `"facts":{"Percent":46}`, `"message":"hello"`, `"event":"Stop"`, `"session":"s"`} {
			if strings.Count(l, "\n") != 1 || !strings.Contains(l, part) {
				t.Errorf("log %q lacks %s", l, part)
			}
		}
	}
}

// A client that drops the arguments of exec form leaves the plugin to be
// found in ccreload.json and the event in the payload.
func TestRunWithoutArguments(t *testing.T) {
	w := newWorld(t)
	root := w.vars["CLAUDE_PLUGIN_ROOT"]
	if err := os.WriteFile(filepath.Join(root, "ccreload.json"), []byte(`{"plugin":"demo","version":"9.9.9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.run(strings.NewReader(stop))
	if len(w.calls) != 1 || w.calls[0].Profile.Version != "9.9.9" {
		t.Fatalf("calls %+v, log %s", w.calls, w.log(t))
	}
}

// stdin that never ends must not hold the session: SessionEnd has the
// shortest deadline. What comes after it is not written any more.
func TestRunGivesUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.quit = make(chan struct{})
	r, host := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(r, "demo", "SessionEnd")
	}()
	<-w.quit
	io.WriteString(host, stop)
	host.Close()
	<-done
	if w.stdout.Len() != 0 || !strings.Contains(w.log(t), "no answer within 1s") {
		t.Errorf("stdout %q, log %q", &w.stdout, w.log(t))
	}
}

// What a handler records as told must have been told.
func TestRunReportsTheAnswerAsWritten(t *testing.T) {
	for name, tt := range map[string]struct {
		out  host.Output
		fail bool
		want string
	}{
		"answered": {out: host.Output{Message: "hello"}, want: "told after 26 bytes"},
		"silent":   {want: "told after 0 bytes"},
		"refused":  {out: host.Output{Context: "Stop takes none"}},
		"failed":   {fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			told := ""
			w.answer = func(c *host.Call) (host.Output, error) {
				c.AfterAnswer(func() { told = fmt.Sprintf("told after %d bytes", w.stdout.Len()) })
				if tt.fail {
					return host.Output{}, errors.New("no")
				}
				return tt.out, nil
			}
			w.run(strings.NewReader(stop), "demo", "Stop")
			if told != tt.want {
				t.Errorf("got %q, want %q", told, tt.want)
			}
		})
	}
}

// A tap sees the payload as it came, before the handler changes anything, and
// cannot keep the handler from answering.
func TestRunIsTapped(t *testing.T) {
	for name, tt := range map[string]struct {
		fate func() error
		log  string
	}{
		"well":   {fate: func() error { return nil }},
		"fails":  {fate: func() error { return errors.New("disk full") }, log: "tap: disk full"},
		"panics": {fate: func() error { panic("oops") }, log: "panic in tap: oops"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var seen []string
			w.tap = func(c *host.Call, stdin []byte) error {
				seen = append(seen, "tap "+c.Payload.SessionID+" "+string(stdin))
				return tt.fate()
			}
			w.answer = func(*host.Call) (host.Output, error) {
				seen = append(seen, "handler")
				return host.Output{Message: "hello"}, nil
			}
			w.run(strings.NewReader(stop), "demo", "Stop")
			if want := []string{"tap s " + stop, "handler"}; !slices.Equal(seen, want) {
				t.Errorf("seen %q, want %q", seen, want)
			}
			if got := w.stdout.String(); got != `{"systemMessage":"hello"}`+"\n" {
				t.Errorf("stdout %q", got)
			}
			if log := w.log(t); tt.log == "" && log != "" || !strings.Contains(log, tt.log) {
				t.Errorf("log %q, want %q", log, tt.log)
			}
		})
	}
}

// A pipe whose other end stays open is what a host that hangs looks like to a
// real process.
func TestRunGivesUpOnAPipe(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.quit = make(chan struct{})
	r, end, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer end.Close()
	io.WriteString(end, stop[:10])
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.run(r, "demo", "SessionEnd")
	}()
	select {
	case <-done: // where the system can tell that nothing comes
		if l := w.log(t); !strings.Contains(l, "does not end") {
			t.Errorf("log %q", l)
		}
	case <-w.quit: // where only a clock can
		end.Close()
		<-done
	}
	if w.stdout.Len() != 0 {
		t.Errorf("stdout %q", &w.stdout)
	}
}

// A host that does not read what a hook says must not keep it.
func TestRunGivesUpOnAFullStdout(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	quit := make(chan struct{})
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Run{
			Args:   []string{"demo", "Stop"},
			Stdin:  strings.NewReader(stop),
			Stdout: w,
			Quit:   func() { close(quit) },
			Env: host.Env{Now: func() time.Time {
				defer func() { now = time.Unix(1e9, 0).Add(hookTimeout - 50*time.Millisecond) }()
				return now
			}, Getenv: func(name string) string {
				if name == "CLAUDE_PLUGIN_ROOT" || name == "CLAUDE_PROJECT_DIR" {
					return os.TempDir()
				}
				return ""
			}},
			Plugin: func(name string) (*plugin.Plugin, bool) {
				return &plugin.Plugin{Name: name, StateDir: ".demo", Handler: func(host.Event) host.Handler {
					return func(*host.Call) (host.Output, error) { return host.Output{Message: "hello"}, nil }
				}}, true
			},
			Defaults: func(p string) (host.Profile, bool) { return host.Profile{Plugin: p}, true },
		}.Do()
	}()
	<-quit
	r.Close()
	<-done
}

func TestClock(t *testing.T) {
	t.Parallel()
	rung := make(chan struct{}, 2)
	c := &clock{began: time.Now(), now: time.Now, limit: time.Millisecond, ring: func() { rung <- struct{}{} }}
	if !c.stop() {
		t.Error("a clock that was never started has rung")
	}
	c.start()
	c.start()
	<-rung
	if c.stop() {
		t.Error("a clock that has rung can be stopped")
	}
	late := &clock{began: time.Now().Add(-time.Hour), now: time.Now, limit: time.Minute, ring: c.ring}
	late.start()
	<-rung // at once: what went by before it was started counts

	c = &clock{began: time.Now(), now: time.Now, limit: time.Hour, ring: c.ring}
	c.start()
	if !c.stop() {
		t.Error("a clock that has not rung cannot be stopped")
	}
}

// Every handler can start the clock.
func TestRunHandsOutTheClock(t *testing.T) {
	for _, event := range []string{"Stop", "PreCompact"} {
		w := newWorld(t)
		w.answer = func(c *host.Call) (host.Output, error) {
			timed := false
			start := c.OnSlow
			c.OnSlow = func() { timed = true; start() }
			c.Slow()
			if !timed {
				t.Errorf("%s: Slow reaches no clock", event)
			}
			return host.Output{}, nil
		}
		w.run(strings.NewReader(`{"hook_event_name":"`+event+`"}`), "demo", event)
		if len(w.calls) != 1 {
			t.Errorf("%s: %d calls, log %s", event, len(w.calls), w.log(t))
		}
	}
}
