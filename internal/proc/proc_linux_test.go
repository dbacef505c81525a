package proc

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestParseStatCountsFromTheLastParenthesis(t *testing.T) {
	t.Parallel()
	const rest = " S 41 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2"
	for _, name := range []string{"(sh)", "(a b)", "(a) R 1 (b))", "()"} {
		s, err := parseStat("7 " + name + rest)
		if err != nil || s.ppid != 41 || s.start != 987654 || s.stopped || s.ended || s.cpu != 260*time.Millisecond {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	for _, line := range []string{"", "7 (sh", "7 (sh) S 41", "7 (sh) S x 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654"} {
		if _, err := parseStat(line); err == nil {
			t.Errorf("%q is accepted", line)
		}
	}
}

func TestAZombieDoesNotLive(t *testing.T) {
	t.Parallel()
	cmd := play("wait")
	if err := cmd.Start(); err != nil { // stdin is the null device: it ends at once
		t.Fatal(err)
	}
	defer cmd.Wait()
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, id.PID, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if !Alive(id.PID) {
		t.Error("a zombie still has its entry")
	}
	if id.Alive() || !id.Ended() {
		t.Error("a zombie is alive")
	}
}

func TestAStoppedProcessDoesNotLive(t *testing.T) {
	t.Parallel()
	cmd := play("stay")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(id.PID, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, id.PID, nil, unix.WSTOPPED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if id.Alive() || id.Ended() {
		t.Error("a stopped process is alive, or has ended")
	}
	if err := end(id, time.Second); err != nil {
		t.Error(err)
	}
	eventually(t, "the stopped process is dead", id.Ended)
	cmd.Wait()
}

func TestWorkingIn(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(below, 0o755); err != nil {
		t.Fatal(err)
	}
	cat := exec.Command("cat")
	cat.Dir = below
	in, err := cat.StdinPipe()
	if err != nil || cat.Start() != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{dir: true, below: true, filepath.Join(dir, "a"): true, filepath.Join(dir, "a", "c"): false, dir + "/a/b/": false} {
		if got, err := WorkingIn(at); err != nil || slices.Contains(got, cat.Process.Pid) != want {
			t.Errorf("WorkingIn(%q) = %v, %v", at, got, err)
		}
	}
	in.Close()
	cat.Wait()
	if got, err := WorkingIn(dir); err != nil || len(got) > 0 {
		t.Errorf("after it ended: %v, %v", got, err)
	}
}
