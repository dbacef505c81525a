package proc

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"
)

// startPlayer starts a part detached and returns its identity and its output.
func startPlayer(t *testing.T, part string, args []string, env ...string) (ID, *os.File) {
	t.Helper()
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(append(os.Environ(), "PROC_TEST="+part), env...)
	cmd.Stdout = w
	id, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { end(id, 0) })
	return id, out
}

// hasty is a clock by which every wait is over at once; before calls what the
// test has to see happen first.
func hasty(before func()) (Clock, *time.Duration) {
	start, passed := time.Now(), time.Duration(0)
	return Clock{
		Now: func() time.Time { return start.Add(passed) },
		Sleep: func(d time.Duration) {
			if before != nil {
				before()
			}
			passed += d
		},
	}, &passed
}

func TestStopKillsWhatDoesNotEndInTime(t *testing.T) {
	t.Parallel()
	id, out := startPlayer(t, "stubborn", nil)
	child, err := Identify(readPID(t, out))
	if err != nil {
		t.Fatal(err)
	}
	if tree := id.Tree(); !slices.Contains(tree, id) || !slices.Contains(tree, child) || len(tree) != 2 {
		t.Errorf("the tree is %v, want %v and %v", tree, id, child)
	}
	clock, passed := hasty(nil)
	if err := Stop([]ID{id}, 10*time.Second, clock); err != nil {
		t.Error(err)
	}
	if runtime.GOOS != "windows" && *passed < 10*time.Second {
		t.Errorf("it was killed after %v", *passed)
	}
	eventually(t, "both are dead", func() bool { return id.Ended() && child.Ended() })
}

func TestStopWaitsForWhatEndsByItself(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no way to ask")
	}
	id, out := startPlayer(t, "stay", nil)
	readPID(t, out)
	clock, passed := hasty(func() { out.Read(make([]byte, 1)) }) // until its end
	if err := Stop([]ID{id}, time.Hour, clock); err != nil {
		t.Error(err)
	}
	if *passed >= time.Hour {
		t.Error("it was waited for to the end")
	}
	if !id.Ended() {
		t.Error("it lives")
	}
}

func TestStopKillsWhatIsBornMeanwhile(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no way to ask")
	}
	id, out := startPlayer(t, "breed", nil)
	readPID(t, out)
	var child ID
	clock, _ := hasty(func() {
		if child.PID == 0 {
			child, _ = Identify(readPID(t, out))
		}
	})
	if err := Stop([]ID{id}, time.Second, clock); err != nil {
		t.Error(err)
	}
	if child.PID == 0 {
		t.Fatal("no child")
	}
	eventually(t, "both are dead", func() bool { return id.Ended() && child.Ended() })
}

func TestStopOfNobody(t *testing.T) {
	t.Parallel()
	id, out := startPlayer(t, "stay", nil)
	readPID(t, out)
	reused := id
	reused.Start++
	clock, passed := hasty(nil)
	if err := Stop([]ID{reused, {}}, time.Hour, clock); err != nil || *passed != 0 || !id.Alive() {
		t.Errorf("case F63: a process that only shares the id: %v after %v", err, *passed)
	}
	if err := Stop(nil, time.Hour, clock); err != nil {
		t.Error(err)
	}
}

func TestFindByCommandLineAndVariable(t *testing.T) {
	t.Parallel()
	mark := "one two\t" + t.Name()
	id, out := startPlayer(t, "parent", []string{"--mark", mark, ""}, "PROC_MARK="+t.Name())
	child, err := Identify(readPID(t, out))
	if err != nil {
		t.Fatal(err)
	}
	found := Find(func(args []string) bool { return slices.Equal(args[1:], []string{"--mark", mark, ""}) })
	if !slices.Equal(found, []ID{id}) {
		t.Errorf("by its command line %v was found, want %v", found, id)
	}
	if up, err := child.Parent(); err != nil || up != id {
		t.Errorf("the parent is %v, %v", up, err)
	}
	if err := killOne(id.PID); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the parent is dead", id.Ended)
	if found := Marked("PROC_MARK=" + t.Name()); !slices.Equal(found, []ID{child}) {
		t.Errorf("by its variable %v was found, want the orphan %v", found, child)
	}
	if err := Stop([]ID{id, child}, 0, Clock{}); err != nil {
		t.Error(err)
	}
	eventually(t, "the orphan is dead", child.Ended)
}

func TestCPUGrowsWithWork(t *testing.T) {
	t.Parallel()
	id, out := startPlayer(t, "spin", nil)
	readPID(t, out)
	eventually(t, "a busy process gets processor time", func() bool { return CPU(id.Tree()) >= 50*time.Millisecond })
	idle, out := startPlayer(t, "stay", nil)
	readPID(t, out)
	if CPU([]ID{idle}) >= CPU(id.Tree()) {
		t.Error("an idle process had as much")
	}
	if err := end(id, 0); err != nil {
		t.Error(err)
	}
	eventually(t, "it has ended", id.Ended)
	if got := CPU(append(id.Tree(), ID{})); got != 0 {
		t.Errorf("nobody had %v", got)
	}
}
