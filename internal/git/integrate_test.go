package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// worked is a repository and a worktree in which an agent has changed a file and
// committed.
func worked(t *testing.T, name, content string) (dir string, w *Worktree) {
	t.Helper()
	dir, w = working(t)
	commitIn(t, w, name, content)
	return dir, w
}

func commitIn(t *testing.T, w *Worktree, name, content string) {
	t.Helper()
	put(t, w.Path, name, content)
	do(t, w.Path, "add", "--", name)
	do(t, w.Path, "commit", "-q", "-m", "cc-later: x tasks")
}

// theirs is a commit of the user's.
func theirs(t *testing.T, dir, name, content string) {
	t.Helper()
	put(t, dir, name, content)
	do(t, dir, "add", "--", name)
	do(t, dir, "commit", "-q", "-m", "the user's "+name)
}

func TestIntegrate(t *testing.T) {
	t.Parallel()
	dir, w := worked(t, "new", "1\n")
	theirs(t, dir, "b", "1\n") // the target has moved since
	put(t, dir, ".claude/LATER.md", "- [ ] untracked\n")
	put(t, dir, "gone", "dirty, and not touched by the merge\n")
	put(t, dir, "staged", "1\n")
	do(t, dir, "add", "staged")
	status, tip := do(t, dir, "status", "--porcelain"), headOf(t, dir)
	merged, err := w.Integrate(t.Context(), "cc-later: x tasks")
	if err != nil || merged.Nothing || merged.Tries != 1 || !sameDir(merged.Where, dir) || merged.Commit != headOf(t, dir) {
		t.Fatalf("%+v, %v", merged, err)
	}
	if got := do(t, dir, "log", "-1", "--format=%s %P"); got != "cc-later: x tasks "+tip+" "+headOf(t, w.Path)+"\n" {
		t.Errorf("merged as %q", got)
	}
	if got := do(t, dir, "status", "--porcelain"); got != status || readFile(t, dir, "new") != "1\n" {
		t.Errorf("status was\n%sand is\n%s", status, got)
	}
	if got := do(t, dir, "symbolic-ref", "HEAD"); got != "refs/heads/main\n" {
		t.Errorf("on %q", got)
	}
	again, err := w.Integrate(t.Context(), "cc-later: x tasks")
	if err != nil || !again.Nothing || headOf(t, dir) != merged.Commit {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if left := leftovers(t, dir, filepath.Dir(w.Path)); strings.Contains(left, "-merge") {
		t.Errorf("left behind:\n%s", left)
	}
}

// The queue is tracked and has been changed: an agent's work still comes in.
func TestIntegrateBesideADirtyQueue(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	theirs(t, dir, ".claude/LATER.md", "- [ ] one\n")
	w := add(t, dir, newRoot(t), "x")
	commitIn(t, w, "new", "1\n")
	put(t, dir, ".claude/LATER.md", "- [ ] one\n- [ ] two\n")
	if _, err := w.Integrate(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, ".claude/LATER.md"); got != "- [ ] one\n- [ ] two\n" {
		t.Errorf("the queue is %q", got)
	}
	// An agent that wrote to the queue stops here.
	w = add(t, dir, newRoot(t), "y")
	commitIn(t, w, ".claude/LATER.md", "- [x] one\n")
	var changed *LocalChangesError
	if _, err := w.Integrate(t.Context(), "m"); !errors.As(err, &changed) || strings.Join(changed.Files, " ") != ".claude/LATER.md" {
		t.Errorf("error = %v", err)
	}
}

// The target is checked out nowhere, or in another worktree than at first.
func TestIntegrateWhereTheTargetIs(t *testing.T) {
	t.Parallel()
	dir, w := worked(t, "new", "1\n")
	do(t, dir, "checkout", "-q", "-b", "elsewhere")
	status := do(t, dir, "status", "--porcelain")
	merged, err := w.Integrate(t.Context(), "m")
	if err != nil || merged.Where != "" || merged.Commit != strings.TrimSpace(do(t, dir, "rev-parse", "main")) {
		t.Fatalf("%+v, %v", merged, err)
	}
	if headOf(t, dir) == merged.Commit || exists(filepath.Join(dir, "new")) || do(t, dir, "status", "--porcelain") != status {
		t.Error("case F55: the user's other branch changed")
	}
	linked := filepath.Join(t.TempDir(), "linked ü")
	do(t, dir, "worktree", "add", "-q", linked, "main")
	commitIn(t, w, "more", "1\n")
	merged, err = w.Integrate(t.Context(), "m")
	if err != nil || !sameDir(merged.Where, linked) || !exists(filepath.Join(linked, "more")) || exists(filepath.Join(dir, "more")) {
		t.Errorf("%+v, %v", merged, err)
	}
}

// A git that was overtaken between changing the files and moving the branch leaves
// what the merge would bring, staged.
func TestIntegrateOverWhatIsThereAlready(t *testing.T) {
	t.Parallel()
	dir, w := worked(t, "new", "1\n")
	put(t, dir, "new", "1\n")
	do(t, dir, "add", "new")
	if _, err := w.Integrate(t.Context(), "m"); err != nil || do(t, dir, "status", "--porcelain") != "" {
		t.Errorf("%v, status %q", err, do(t, dir, "status", "--porcelain"))
	}
}

func TestIntegrateConflict(t *testing.T) {
	t.Parallel()
	dir, w := working(t)
	put(t, w.Path, "b ü", "agent\n")
	put(t, w.Path, "a", "agent\n")
	if _, err := w.CommitAll(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	theirs(t, dir, "a", "user\n")
	theirs(t, dir, "b ü", "user\n")
	before, status, refs := headOf(t, dir), do(t, dir, "status", "--porcelain"), do(t, dir, "for-each-ref")
	var conflict *ConflictError
	merged, err := w.Integrate(t.Context(), "m")
	if !errors.As(err, &conflict) || strings.Join(conflict.Files, "|") != "a|b ü" || errors.Is(err, ErrNotNow) {
		t.Fatalf("%+v, %v", merged, err)
	}
	if headOf(t, dir) != before || do(t, dir, "status", "--porcelain") != status || do(t, dir, "for-each-ref") != refs || open(t, dir).Operation() != "" {
		t.Error("something is left of it")
	}
	if left := leftovers(t, dir, filepath.Dir(w.Path)); strings.Contains(left, "-merge") {
		t.Errorf("left behind:\n%s", left)
	}
	if readFile(t, w.Path, "a") != "agent\n" {
		t.Error("the work is gone")
	}
	// A person resolves it in the worktree, and it goes on.
	tryGit(w.Path, "merge", "-q", "main")
	put(t, w.Path, "a", "both\n")
	put(t, w.Path, "b ü", "both\n")
	do(t, w.Path, "commit", "-q", "-am", "resolved")
	if _, err := w.Integrate(t.Context(), "m"); err != nil || readFile(t, dir, "a") != "both\n" {
		t.Error(err)
	}
}

func TestIntegrateRefuses(t *testing.T) {
	t.Parallel()
	diverge := func(t *testing.T, dir string) {
		do(t, dir, "branch", "other", "HEAD^")
		theirs(t, dir, "c", "main\n")
		do(t, dir, "checkout", "-q", "other")
		theirs(t, dir, "c", "other\n")
		do(t, dir, "checkout", "-q", "main")
	}
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string, w *Worktree)
		says    string
		later   bool
	}{
		"changed file": {func(t *testing.T, dir string, _ *Worktree) { put(t, dir, "new", "untracked, mine\n") }, `would change "new"`, true},
		"ignored file": {func(t *testing.T, dir string, _ *Worktree) {
			put(t, dir, ".git/info/exclude", "new\n")
			put(t, dir, "new", "ignored, mine\n")
		}, "would be overwritten", true},
		"a directory in the way": {func(t *testing.T, dir string, _ *Worktree) { put(t, dir, "new/x", "mine\n") }, `would change "new/x"`, true},
		"a file in the way of a directory": {func(t *testing.T, dir string, w *Worktree) {
			commitIn(t, w, "sub/new", "1\n")
			put(t, dir, "sub", "mine\n")
		}, `would change "sub/new"`, true},
		"merge": {func(t *testing.T, dir string, _ *Worktree) {
			diverge(t, dir)
			tryGit(dir, "merge", "other")
		}, "a merge is in progress", true},
		"rebase": {func(t *testing.T, dir string, _ *Worktree) {
			diverge(t, dir)
			tryGit(dir, "rebase", "other")
		}, `a rebase of branch "main" is in progress`, true},
		"bisect": {func(t *testing.T, dir string, _ *Worktree) { do(t, dir, "bisect", "start", "HEAD", "HEAD^") }, `a bisect of branch "main" is in progress`, true},
		"rebase elsewhere": {func(t *testing.T, dir string, _ *Worktree) {
			diverge(t, dir)
			linked := filepath.Join(t.TempDir(), "linked")
			do(t, dir, "checkout", "-q", "-b", "third")
			do(t, dir, "worktree", "add", "-q", linked, "main")
			tryGit(linked, "rebase", "other")
		}, `a rebase of branch "main" is in progress`, true},
		"index.lock": {func(t *testing.T, dir string, _ *Worktree) { put(t, dir, ".git/index.lock", "") }, "index.lock", true},
		"detached":   {func(t *testing.T, dir string, _ *Worktree) { do(t, dir, "checkout", "-q", "--detach") }, "no branch checked out", true},
		"deleted target": {func(t *testing.T, dir string, _ *Worktree) {
			do(t, dir, "checkout", "-q", "-b", "elsewhere")
			do(t, dir, "branch", "-q", "-D", "main")
		}, `there is no branch "main"`, false},
		"unborn target": {func(t *testing.T, dir string, _ *Worktree) {
			do(t, dir, "update-ref", "-d", "refs/heads/main")
		}, "no commit yet", true},
		"deleted branch": {func(t *testing.T, dir string, w *Worktree) {
			do(t, w.Path, "checkout", "-q", "--detach")
			do(t, dir, "branch", "-q", "-D", w.Branch)
		}, `there is no branch "cc-later/`, false},
		"twice checked out": {func(t *testing.T, dir string, _ *Worktree) {
			do(t, dir, "worktree", "add", "-q", "-f", filepath.Join(t.TempDir(), "twin"), "main")
		}, "is checked out in", true},
		"checked out on a disk that is gone": {func(t *testing.T, dir string, _ *Worktree) {
			do(t, dir, "checkout", "-q", "-b", "elsewhere")
			disk := filepath.Join(t.TempDir(), "disk")
			do(t, dir, "worktree", "add", "-q", disk, "main")
			os.RemoveAll(disk)
		}, "which is not there", true},
		"merge hook": {func(t *testing.T, dir string, _ *Worktree) {
			put(t, dir, ".git/hooks/pre-merge-commit", "#!/bin/sh\necho not on a Friday >&2\nexit 1\n")
		}, "not on a Friday", false},
		"changed hooks": {func(t *testing.T, dir string, w *Worktree) {
			put(t, w.Path, ".husky/pre-merge-commit", "#!/bin/sh\ntouch "+dir+"/ran\n")
			do(t, w.Path, "add", ".")
			do(t, w.Path, "commit", "-q", "-m", "the agent's")
			do(t, dir, "config", "core.hooksPath", ".husky")
		}, ".husky/pre-merge-commit", false},
		"no common history": {func(t *testing.T, dir string, w *Worktree) {
			do(t, w.Path, "checkout", "-q", "--orphan", "other")
			do(t, w.Path, "commit", "-q", "-m", "orphan")
			do(t, w.Path, "branch", "-q", "-f", w.Branch)
		}, "nothing in common", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := worked(t, "new", "1\n")
			tt.prepare(t, dir, w)
			before, status, refs := headOf(t, dir), do(t, dir, "status", "--porcelain", "--ignored"), do(t, dir, "for-each-ref")
			merged, err := w.Integrate(t.Context(), "m")
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, ErrNotNow) != tt.later {
				t.Errorf("%+v, error %v (not now: %v), want one about %q", merged, err, errors.Is(err, ErrNotNow), tt.says)
			}
			if headOf(t, dir) != before || do(t, dir, "status", "--porcelain", "--ignored") != status || do(t, dir, "for-each-ref") != refs || exists(filepath.Join(dir, "ran")) {
				t.Error("something changed")
			}
			if left := leftovers(t, dir, filepath.Dir(w.Path)); strings.Contains(left, "-merge") {
				t.Errorf("left behind:\n%s", left)
			}
		})
	}
}

// The tip is moved while a merge is on its way: by the user, or by a merge. Not in
// parallel: Step is one for the process.
func TestIntegrateWhenTheTargetMoves(t *testing.T) {
	for name, out := range map[string]bool{"checked out": true, "not checked out": false} {
		for _, times := range []int{1, 9} {
			dir, w := worked(t, "new", "1\n")
			if !out {
				do(t, dir, "checkout", "-q", "-b", "elsewhere")
			}
			n := 0
			Step = func(what string) {
				if what != "fast-forward" && what != "git update-ref" || n == times {
					return
				}
				n++
				tree := strings.TrimSpace(do(t, dir, "rev-parse", "main^{tree}"))
				moved := strings.TrimSpace(do(t, dir, "commit-tree", "-p", "main", "-m", fmt.Sprint("meanwhile ", n), tree))
				do(t, dir, "update-ref", "refs/heads/main", moved)
			}
			merged, err := w.Integrate(t.Context(), "m")
			Step = nil
			subjects := do(t, dir, "log", "--first-parent", "--format=%s", "-4", "main")
			switch {
			case times > mergeTries:
				if err == nil || !errors.Is(err, ErrNotNow) || merged.Tries != 3 || !strings.HasPrefix(subjects, "meanwhile 3\nmeanwhile 2\nmeanwhile 1\n") {
					t.Errorf("%s, %d times: %+v, %v:\n%s", name, times, merged, err, subjects)
				}
			case err != nil || merged.Tries != times+1 || !strings.HasPrefix(subjects, fmt.Sprintf("m\nmeanwhile %d\n", times)):
				t.Errorf("%s, %d times: %+v, %v:\n%s", name, times, merged, err, subjects)
			}
			if got := do(t, dir, "status", "--porcelain"); got != "" {
				t.Errorf("%s, %d times: status is %q", name, times, got)
			}
			if left := leftovers(t, dir, filepath.Dir(w.Path)); strings.Contains(left, "-merge") {
				t.Errorf("%s, %d times: left behind:\n%s", name, times, left)
			}
		}
	}
}

// The user changes the branch just before the fast-forward.
func TestIntegrateWhenTheUserGoesElsewhere(t *testing.T) {
	dir, w := worked(t, "new", "1\n")
	do(t, dir, "branch", "elsewhere")
	Step = func(what string) {
		if what == "fast-forward" {
			do(t, dir, "checkout", "-q", "elsewhere")
		}
	}
	merged, err := w.Integrate(t.Context(), "m")
	Step = nil
	if !errors.Is(err, ErrNotNow) || headOf(t, dir) != w.Base || exists(filepath.Join(dir, "new")) {
		t.Errorf("case F55: %+v, %v", merged, err)
	}
	if merged, err = w.Integrate(t.Context(), "m"); err != nil || headOf(t, dir) != w.Base || strings.TrimSpace(do(t, dir, "rev-parse", "main")) != merged.Commit {
		t.Errorf("case F55: %+v, %v", merged, err)
	}
}

// Four agents are merged by four processes at once, two of them with another root.
func TestIntegrateFromSeveralProcesses(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	roots := []string{newRoot(t), newRoot(t)}
	var all sync.WaitGroup
	for i := range 4 {
		w := add(t, dir, roots[i%2], fmt.Sprint("x", i))
		commitIn(t, w, fmt.Sprint("new", i), "1\n")
		all.Go(func() {
			for range 5 { // as ticks would
				out, err := child(t, "integrate", w.Path, 0).CombinedOutput()
				if err == nil {
					return
				}
				if !strings.Contains(string(out), "not now") {
					t.Errorf("%v\n%s", err, out)
					return
				}
			}
			t.Error("it never came in")
		})
	}
	all.Wait()
	if got := do(t, dir, "log", "--merges", "--format=%s"); strings.Count(got, "m\n") != 4 {
		t.Errorf("merges:\n%s", got)
	}
	if got := do(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("status is %q", got)
	}
	if exists(filepath.Join(dir, ".git", lockName)) {
		t.Error("the lock is left behind")
	}
	for i := range 4 {
		if !exists(filepath.Join(dir, fmt.Sprint("new", i))) {
			t.Errorf("the work of %d is not there", i)
		}
	}
}

// child is a process of this test that does op in the worktree at path, and kills
// itself before the nth change if n is not 0.
func child(t *testing.T, op, path string, n int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "GIT_TEST_CHILD="+op, "CHILD_PATH="+path, fmt.Sprint("CHILD_KILL=", n))
	return cmd
}
