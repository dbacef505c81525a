package handoff

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

func TestDecideTrigger(t *testing.T) {
	t.Parallel()
	at := func(tokens int, known bool) occupancy.Occupancy {
		return occupancy.Occupancy{Known: known, Tokens: tokens, Window: occupancy.Window{Tokens: 200_000}}
	}
	full := triggerFacts{Full: at(140_000, true), Limit: 70}
	for name, tt := range map[string]struct {
		change func(*triggerFacts)
		want   bool
	}{
		"at the limit":                {func(*triggerFacts) {}, true},
		"69.5 %":                      {func(f *triggerFacts) { f.Full = at(139_000, true) }, false},
		"unknown":                     {func(f *triggerFacts) { f.Full = at(140_000, false) }, false},
		"off":                         {func(f *triggerFacts) { f.Off = true }, false},
		"had one":                     {func(f *triggerFacts) { f.Done = true }, false},
		"loop owner":                  {func(f *triggerFacts) { f.Loop = true }, false},
		"nobody there":                {func(f *triggerFacts) { f.Away = true }, false},
		"limit line (case F36)":       {func(f *triggerFacts) { f.Failed = true }, false},
		"background tasks (case F37)": {func(f *triggerFacts) { f.Background = true }, false},
	} {
		f := full
		tt.change(&f)
		if got := decideTrigger(f); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// stopWith runs a Stop whose run is done in this process instead of another.
func (w *world) stopWith(p host.Payload, runs *int) host.Output {
	w.t.Helper()
	p.Event = host.Stop
	call := w.call(p)
	s := stopping{call: call, launch: func(*host.Call) (running, error) {
		*runs++
		r := w.run(func(o *Options) { o.Auto = true })
		return running{ended: func() bool { return true }, result: func() (Result, error) { return r, nil }}, nil
	}}
	out, err := s.answer()
	return w.answered(call, out, err)
}

func TestStopHandsOverOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	runs := 0
	w.say(w.prompt("do it"), w.answer("working", "claude-opus-5-5", 690_000))
	if out := w.stopWith(host.Payload{}, &runs); runs != 0 || !out.Silent() {
		t.Fatalf("below the limit: %+v", out)
	}
	w.say(w.answer("still working", "claude-opus-5-5", 710_000))
	if out := w.stopWith(host.Payload{LastMessage: "API Error: 529"}, &runs); runs != 0 || !out.Silent() {
		t.Errorf("after an error: %+v", out)
	}
	if out := w.stopWith(host.Payload{BackgroundTasks: 1}, &runs); runs != 0 || !out.Silent() {
		t.Errorf("tasks are running: %+v", out)
	}
	out := w.stopWith(host.Payload{}, &runs)
	if runs != 1 || out.Continue != "" || !strings.Contains(out.Message, "context 71 % full") ||
		!strings.Contains(out.Message, "and committed, with nothing else in the commit.") || strings.Contains(out.Message, "\n") {
		t.Errorf("at the limit: %d runs, %+v", runs, out)
	}
	if w.committed(w.project) != "NEXT-SESSION.local.md" {
		t.Errorf("committed %q", w.committed(w.project))
	}
	for range 2 {
		if out := w.stopWith(host.Payload{}, &runs); runs != 1 || !out.Silent() {
			t.Errorf("a second time: %d runs, %+v", runs, out)
		}
	}
	w.session, w.transcript = "s2", filepath.Join(filepath.Dir(w.transcript), "s2.jsonl")
	w.say(w.answer("another session", "claude-opus-5-5", 800_000))
	w.put("a", "new\n")
	if w.stopWith(host.Payload{}, &runs); runs != 2 {
		t.Errorf("another session: %d runs", runs)
	}
}

func TestStopDoesNotWaitForSlowHooks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(w.answer("working", "claude-opus-5-5", 900_000))
	call := w.call(host.Payload{Event: host.Stop})
	clock := w.now
	call.Env.Now = func() time.Time { return clock }
	call.Env.Sleep = func(d time.Duration) { clock = clock.Add(d) }
	s := stopping{call: call, launch: func(*host.Call) (running, error) {
		return running{ended: func() bool { return false }}, nil
	}}
	out, err := s.answer()
	if err != nil || !strings.Contains(out.Message, "take their time") || clock.Sub(w.now) > 5*time.Second {
		t.Errorf("%+v, %v after %v", out, err, clock.Sub(w.now))
	}
	s.launch = func(*host.Call) (running, error) { return running{}, errors.New("no binary") }
	if out, err := s.answer(); err == nil || !out.Silent() {
		t.Errorf("%+v, %v", out, err)
	}
}

// case F02: the newest reply is not written yet, and could matter.
func TestStopWaitsWhenNearTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say(w.answer("working", "claude-opus-5-5", 650_000), w.prompt("more"))
	runs, slept := 0, 0
	call := w.call(host.Payload{Event: host.Stop})
	call.Env.Sleep = func(time.Duration) {
		if slept++; slept == 3 {
			w.say(w.answer("more", "claude-opus-5-5", 720_000))
		}
	}
	s := stopping{call: call, launch: func(*host.Call) (running, error) {
		runs++
		return running{ended: func() bool { return true }, result: func() (Result, error) { return Result{Skipped: true}, nil }}, nil
	}}
	if _, err := s.answer(); err != nil || runs != 1 {
		t.Errorf("%d runs, %v", runs, err)
	}
}

func TestLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := filepath.Join(dir, "s1.jsonl")
	now := time.Now()
	lock, err := takeLock(at, "s1", now)
	if err != nil || lock == nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".handoff-lock-s1")); err != nil {
		t.Error(err)
	}
	if again, err := takeLock(at, "s1", now); again != nil || err != nil {
		t.Errorf("while it runs: %v, %v", again, err)
	}
	lock.done(now)
	if again, err := takeLock(at, "s1", now); again != nil || err != nil {
		t.Errorf("when it is done: %v, %v", again, err)
	}
	if other, err := takeLock(at, "s2", now); other == nil || err != nil {
		t.Errorf("another session: %v, %v", other, err)
	}
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	self.Start++ // case F63: the id of a dead run has been handed out again
	for _, content := range []string{lockRunning + self.String(), lockRunning + "nonsense", ""} {
		if err := os.WriteFile(filepath.Join(dir, ".handoff-lock-s1"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if again, err := takeLock(at, "s1", now); again == nil || err != nil {
			t.Errorf("lock of a dead run %q: %v, %v", content, again, err)
		}
	}
	old := filepath.Join(dir, ".handoff-lock-old")
	os.WriteFile(old, []byte(lockDone), 0o600)
	os.Chtimes(old, now.Add(-2*lockAge), now.Add(-2*lockAge))
	sweepLocks(dir, now)
	if !isAbsent(old) || isAbsent(filepath.Join(dir, ".handoff-lock-s1")) {
		t.Error("the sweep took the wrong locks")
	}
	for _, tt := range [][2]string{{"", "s1"}, {at, ""}, {filepath.Join(dir, "gone", "s.jsonl"), "s"}} {
		if lock, err := takeLock(tt[0], tt[1], now); lock != nil || tt[0] == "" && err == nil {
			t.Errorf("%q: %v, %v", tt, lock, err)
		}
	}
}

// case F94: an old figure of the status line takes no part, whatever it says;
// its window does.
func TestStopBesideTheStatusLine(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		used, window, tokens int
		want                 string
	}{
		"it says more":          {90, 1_000_000, 100_000, ""},
		"it says less":          {20, 1_000_000, 900_000, "context 90 % full"},
		"its window is smaller": {20, 200_000, 150_000, "context 75 % full"},
		"its window is larger":  {90, 2_000_000, 900_000, ""},
	} {
		w := newWorld(t)
		w.say(w.answer("working", "claude-opus-5-5", tt.tokens))
		fig := occupancy.Figure{Session: "s1", Model: "claude-opus-5-5", Window: tt.window, Used: tt.used, Time: w.now}
		if err := fig.Show(state.NewDir(w.data), false); err != nil {
			t.Fatal(err)
		}
		runs := 0
		if out := w.stopWith(host.Payload{}, &runs); (runs == 1) != (tt.want != "") || !strings.Contains(out.Message, tt.want) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// Without a figure in the transcript: what the host has shown since, else the
// size, against the window most models have.
func TestStopWithoutUsage(t *testing.T) {
	t.Parallel()
	row := `{"type":"assistant","isSidechain":false,"timestamp":"2026-11-30T12:00:00Z","message":{"model":"m","role":"assistant","content":[{"type":"text","text":"` + strings.Repeat("x", 490_000) + `"}]}}`
	for name, tt := range map[string]struct {
		row  string
		fig  occupancy.Figure
		want string
	}{
		"by size":                       {row, occupancy.Figure{}, "context 70 % full"},
		"by size, the host's window":    {row, occupancy.Figure{Model: "m", Window: 1_000_000, Used: -1}, ""},
		"by what the host has shown":    {row, occupancy.Figure{Model: "m", Window: 200_000, Used: 80}, "context 80 % full"},
		"nothing is known":              {"{}", occupancy.Figure{}, ""},
		"what is shown is under the 70": {row, occupancy.Figure{Model: "m", Window: 200_000, Used: 30}, ""},
	} {
		w := newWorld(t)
		w.say(tt.row)
		tt.fig.Session, tt.fig.Time = "s1", time.Date(2026, 11, 30, 12, 0, 1, 0, time.UTC)
		if tt.fig.Model != "" {
			if err := tt.fig.Show(state.NewDir(w.data), false); err != nil {
				t.Fatal(err)
			}
		}
		runs := 0
		if out := w.stopWith(host.Payload{}, &runs); (runs == 1) != (tt.want != "") || !strings.Contains(out.Message, tt.want) {
			t.Errorf("%s: %+v", name, out)
		}
	}
}

// The run that a Stop starts is another process; here this test binary plays
// it (see TestMain) and reports the arguments it was given.
func TestLaunch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env["CCRELOAD_BIN"] = os.Args[0]
	gone := filepath.Join(t.TempDir(), "gone")
	for cwd, want := range map[string]string{w.project: w.project, gone: w.project} {
		run, err := launch(w.call(host.Payload{Event: host.Stop, Cwd: cwd}))
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(10 * time.Second); !run.ended() && time.Now().Before(end); {
			runtime.Gosched()
		}
		r, err := run.result()
		if err != nil {
			t.Fatal(err)
		}
		args := strings.Join(r.Actions, " ")
		for _, part := range []string{"handoff run --auto --non-interactive --json", "--dir=" + want, "--project=" + w.project, "--session=s1", "--transcript=" + w.transcript} {
			if !strings.Contains(args, part) {
				t.Errorf("case F39: %q is missing in %q", part, args)
			}
		}
	}
}
