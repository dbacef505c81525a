package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

func TestArgs(t *testing.T) {
	t.Parallel()
	const always = "-p --output-format stream-json --verbose --session-id S --model M --setting-sources user --strict-mcp-config"
	const readOnly = " --permission-mode dontAsk --tools Read,Grep,Glob"
	const tools = " --tools Read,Grep,Glob,Edit,Write,Bash"
	for _, c := range []struct {
		s    Spec
		want string
	}{
		{Spec{}, always + readOnly},
		{Spec{SkipPermissions: true}, always + readOnly}, // there is nothing to skip
		{Spec{Client: Client{Prompts: true}}, always + " --permission-prompts none" + readOnly},
		{Spec{BudgetUSD: "1.50"}, always + " --max-budget-usd 1.50" + readOnly},
		{Spec{Writes: true}, always + " --permission-mode acceptEdits" + tools},
		{Spec{Writes: true, SkipPermissions: true}, always + " --dangerously-skip-permissions" + tools},
		{Spec{Resume: true}, strings.Replace(always, "--session-id", "--resume", 1) + readOnly},
	} {
		c.s.Session, c.s.Model = "S", "M"
		got := strings.Join(Args(c.s), " ")
		if got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if !isRunOf(append([]string{"claude"}, Args(c.s)...), "S") || isRunOf(Args(c.s), "T") {
			t.Errorf("%s is not known again", got)
		}
	}
	for _, args := range [][]string{{"grep", "S"}, {"claude", "--resume", "S"}, {"claude", "-p", "S"}, {"vi", "-p", "--session-id=S"}, {}} {
		if isRunOf(args, "S") {
			t.Errorf("%q passes for a run", args)
		}
	}
}

func TestNewID(t *testing.T) {
	t.Parallel()
	a, b := NewID(), NewID()
	if a == b || !isID(a) || a[14] != '4' || !strings.ContainsRune("89ab", rune(a[19])) {
		t.Errorf("%s, %s", a, b)
	}
	for _, s := range []string{"", "../" + a[3:], strings.ToUpper(a[:8]) + "X" + a[9:], a + "0", strings.Replace(a, "-", "0", 1)} {
		if isID(s) {
			t.Errorf("%q passes for an id", s)
		}
	}
}

func TestStartGivesAnAgentWhatItNeedsAndNoMore(t *testing.T) {
	b := newBench(t)
	s := b.spec("echo")
	r := b.start(s)
	b.until("its end", r.Process.Ended)
	out, _ := os.ReadFile(s.Out)
	lines := strings.Split(string(out), "\n")
	if len(lines) < 4 {
		t.Fatalf("it said %q", out)
	}
	if want := fmt.Sprintf("%q", Args(s)); lines[0] != want {
		t.Errorf("arguments %s, want %s", lines[0], want)
	}
	if lines[1] != `"do it\n"` {
		t.Errorf("stdin was %s", lines[1])
	}
	if lines[2] != fmt.Sprintf("%q", b.repo) {
		t.Errorf("it worked in %s", lines[2])
	}
	if !strings.Contains(lines[3], `"`+mark(s.ID)+`"`) {
		t.Errorf("its mark is not in %s", lines[3])
	}
	if errs, _ := os.ReadFile(s.Err); string(errs) != "a warning\n" {
		t.Errorf("stderr was %q", errs)
	}
	for _, path := range []string{s.Out, s.Err, filepath.Join(b.dir, "app", "agents", s.ID)} {
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if got := b.load(s.ID); got.Phase() != Over || got.Dir != b.repo || got.Out != s.Out || got.Process != r.Process || !got.Started.Equal(r.Started) {
		t.Errorf("%+v", got)
	}
	if err := b.store.Forget(s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := b.store.Load(s.ID); !errors.Is(err, ErrUnknown) {
		t.Errorf("it is still known: %v", err)
	}
	if left := state.NewDir(filepath.Join(b.dir, "app", "agents")).Names(); len(slices.DeleteFunc(left, state.Owns)) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestStartThatFailsLeavesNothing(t *testing.T) {
	b := newBench(t)
	for name, change := range map[string]func(*Spec){
		"no program":         func(s *Spec) { s.Client.Path = filepath.Join(b.dir, "none") },
		"no directory":       func(s *Spec) { s.Dir = filepath.Join(b.dir, "none") },
		"an output is there": func(s *Spec) { os.WriteFile(s.Out, nil, 0o600) },
		"an output is a link": func(s *Spec) {
			if os.Symlink(filepath.Join(b.repo, "target"), s.Out) != nil {
				os.WriteFile(s.Out, nil, 0o600)
			}
		},
		"no place for errors": func(s *Spec) { s.Err = filepath.Join(b.dir, "none", "err") },
		"no name":             func(s *Spec) { s.ID = "../x" },
		"no session":          func(s *Spec) { s.Session = "--help" },
	} {
		s := b.spec("echo")
		change(&s)
		if _, err := b.store.Start(s, time.Now()); err == nil {
			t.Errorf("%s: it started", name)
		}
		if all, err := b.store.All(); err != nil || len(all) != 0 {
			t.Errorf("%s: left %+v, %v", name, all, err)
		}
	}
	if _, err := os.Lstat(filepath.Join(b.repo, "target")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a link was followed")
	}
	s := b.spec("wait")
	b.start(s)
	if _, err := b.store.Start(s, time.Now()); err == nil {
		t.Error("one run was started twice")
	}
}

// killAt are the steps of a start at which a kill of the tick is tried, and what
// must be known of the agent afterwards.
var killAt = map[string]Phase{
	"create PROMPT":   "",
	"rename PROMPT":   "",
	"create RECORD":   "",
	"rename RECORD":   "",
	"process":         Running, // started, and not yet recorded
	"create RECORD 2": Running,
	"rename RECORD 2": Running,
	"the end":         Running,
}

// tick is a process that starts an agent and is killed by the kernel at a step.
func tick() {
	at, id := os.Getenv("TICK_STEP"), os.Getenv("TICK_ID")
	app := os.Getenv("TICK_APP")
	seen := map[string]int{}
	kill := func(what string) {
		what = strings.Replace(strings.Replace(what, id+promptSuffix, "PROMPT", 1), id, "RECORD", 1)
		if seen[what]++; seen[what] > 1 {
			what = fmt.Sprint(what, " ", seen[what])
		}
		if what == at {
			self, _ := os.FindProcess(os.Getpid())
			self.Kill()
			select {}
		}
	}
	state.Step, afterStart = kill, kill
	_, err := Open(state.NewDir(app)).Start(Spec{
		ID: id, Session: os.Getenv("TICK_SESSION"), Client: Client{Path: os.Args[0]}, Model: "sonnet", Dir: app, Prompt: "x",
		Environ: append(os.Environ(), "AGENT_TEST=wait"), Out: filepath.Join(app, "out"), Err: filepath.Join(app, "err"),
	}, time.Now())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	kill("the end")
}

// Whenever the tick is killed, the agent is known, or there is none: never is one
// left running that nobody knows.
func TestKillOfTheTickLosesNoAgent(t *testing.T) {
	t.Parallel()
	for step, want := range killAt {
		t.Run(step, func(t *testing.T) {
			b := newBench(t)
			id, session, app := NewID(), NewID(), filepath.Join(b.dir, "app")
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "AGENT_TEST=tick", "TICK_STEP="+step, "TICK_ID="+id, "TICK_SESSION="+session, "TICK_APP="+app)
			out, err := cmd.Output()
			if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || len(out) > 0 || exit.ExitCode() == 1 && runtime.GOOS != "windows" {
				t.Fatalf("the tick was not killed: %v\n%s", err, out)
			}
			r, err := b.store.Load(id)
			t.Cleanup(func() { b.store.Stop(id, hastyClock()) })
			switch {
			case want == "" && errors.Is(err, ErrUnknown):
			case err != nil:
				t.Fatal(err)
			case want == "" && r.Phase() == NeverStarted:
			case r.Phase() != want:
				t.Errorf("it is %q", r.Phase())
			}
			running := proc.Find(func(args []string) bool { return isRunOf(args, session) })
			if want == "" && len(running) > 0 || want != "" && !slices.Equal(running, []proc.ID{r.Process}) {
				t.Errorf("%v run, %v is known", running, r.Process)
			}
			if want == Running {
				if err := b.store.Stop(id, hastyClock()); err != nil {
					t.Error(err)
				}
				b.until("the agent's end", r.Process.Ended)
				if again := b.load(id); again.Process != r.Process || again.Phase() != Over {
					t.Errorf("after its end it is %v, %q", again.Process, again.Phase())
				}
				if all, err := b.store.All(); err != nil || len(all) != 1 {
					t.Errorf("all are %v, %v", all, err)
				}
			}
		})
	}
}

func TestAPidThatWasReusedIsNoAgent(t *testing.T) {
	b := newBench(t)
	s := b.spec("wait")
	r := b.start(s)
	other := b.spec("wait")
	somebody := b.start(other)
	// The agent is gone, and its id belongs to somebody else.
	err := b.store.dir.WithLock(time.Second, func(tx *state.Tx) error {
		r.Process = somebody.Process
		r.Process.Start++
		r.Tree = []proc.ID{r.Process}
		r.ID = NewID()
		return tx.Write(r.ID, r.bytes())
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := b.load(r.ID); got.Phase() != Over {
		t.Errorf("it is %q", got.Phase())
	}
	if err := b.store.Stop(r.ID, hastyClock()); err != nil {
		t.Error(err)
	}
	if !somebody.Process.Alive() {
		t.Error("somebody else was stopped")
	}
}

func TestARecordThatCannotBeReadHidesNoOther(t *testing.T) {
	b := newBench(t)
	s := b.spec("wait")
	b.start(s)
	bad := NewID()
	for _, text := range []string{"", "{", `{"ID":"` + s.ID + `"}`, "\x00"} {
		if err := os.WriteFile(filepath.Join(b.dir, "app", "agents", bad), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := b.store.All()
		if err == nil || !strings.Contains(err.Error(), bad) || len(all) != 1 || all[0].ID != s.ID {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

func TestStopEndsToolsInSessionsOfTheirOwn(t *testing.T) {
	for _, name := range []string{"with its agent", "after its agent was killed"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			s := b.spec("work")
			r := b.start(s)
			var pid int
			fmt.Sscan(b.line(s.Err), &pid)
			tool, err := proc.Identify(pid)
			if err != nil {
				t.Fatal(err)
			}
			if name != "with its agent" {
				p, err := os.FindProcess(r.Process.PID)
				if err != nil {
					t.Fatal(err)
				}
				p.Kill()
				b.until("the agent's end", r.Process.Ended)
			}
			if left, err := b.store.Left(s.ID); err != nil || !slices.Contains(left, tool) {
				t.Errorf("%v is left, %v; want the tool %v", left, err, tool)
			}
			if err := b.store.Stop(s.ID, hastyClock()); err != nil {
				t.Error(err)
			}
			b.until("the end of both", func() bool { return tool.Ended() && r.Process.Ended() })
			if left, err := b.store.Left(s.ID); err != nil || len(left) != 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

func (b bench) look(id string) Record {
	b.Helper()
	r, err := b.store.Look(id, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func TestLookSeesToolsAndProcesses(t *testing.T) {
	b := newBench(t)
	s := b.spec("work")
	r := b.start(s)
	var pid int
	fmt.Sscan(b.line(s.Err), &pid)
	got := b.look(s.ID)
	tool, err := proc.Identify(pid)
	if err != nil || !reflect.DeepEqual(got.Tree, []proc.ID{r.Process, tool}) {
		t.Errorf("the tree is %v, %v; want %v and %v", got.Tree, err, r.Process, tool)
	}
	if !got.Pulse.OpenTool || got.Pulse.Bytes != int64(len(initRow)+len(callRow)+2) {
		t.Errorf("the pulse is %+v", got.Pulse)
	}
	if again := b.load(s.ID); !reflect.DeepEqual(again.Tree, got.Tree) || again.Pulse.Bytes != got.Pulse.Bytes || !again.Pulse.Progress.Equal(got.Pulse.Progress) {
		t.Errorf("it is not kept: %+v", again)
	}
	f, err := os.OpenFile(s.Out, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(f, doneRow)
	f.Close()
	if got := b.look(s.ID); got.Pulse.OpenTool {
		t.Error("a call that has an answer is open")
	}
	if _, err := b.store.Look(NewID(), time.Now()); !errors.Is(err, ErrUnknown) {
		t.Errorf("nobody: %v", err)
	}
}

func TestPulse(t *testing.T) {
	t.Parallel()
	start := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	first := Pulse{Seen: at(0), Progress: at(0), Bytes: 10, CPU: time.Second}
	for name, c := range map[string]struct {
		now    int
		seen   Pulse
		others bool
		stale  bool // after ten minutes
	}{
		"nothing":                        {10, Pulse{Bytes: 10, CPU: time.Second}, false, true},
		"nothing, and not yet for long":  {9, Pulse{Bytes: 10, CPU: time.Second}, false, false},
		"nothing but a little computing": {10, Pulse{Bytes: 10, CPU: 30 * time.Second}, false, true},
		"output a moment ago":            {20, Pulse{Seen: at(19), Bytes: 11, CPU: time.Second}, false, false},
		"output long ago":                {20, Pulse{Seen: at(5), Bytes: 11, CPU: time.Second}, false, true},
		"computing":                      {20, Pulse{Bytes: 10, CPU: 3 * time.Minute}, false, false},
		"other processes":                {20, Pulse{Bytes: 10, CPU: 0}, true, false},
		"an open tool":                   {20, Pulse{Bytes: 10, CPU: time.Second, OpenTool: true}, false, false},
		"a tool that never ends":         {30, Pulse{Bytes: 10, CPU: time.Second, OpenTool: true}, false, true},
		"a clock that was set back":      {-60, Pulse{Bytes: 10, CPU: time.Second}, false, false},
		"output from the future":         {20, Pulse{Seen: at(600), Bytes: 11}, false, false},
	} {
		p := first.next(at(c.now), c.seen, c.others)
		if p.Stale(10*time.Minute) != c.stale {
			t.Errorf("%s: %+v", name, p)
		}
		if p.Progress.After(p.Seen) {
			t.Errorf("%s: progress after now", name)
		}
	}
}
