package git

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// dirty is a repository in the middle of work: a has one hunk staged and one
// not, s is staged, .env is untracked. It returns the index as it stands.
func dirty(t *testing.T) (dir string, index []byte) {
	t.Helper()
	dir = repo(t)
	put(t, dir, "a", "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n")
	put(t, dir, "s", "staged\n")
	do(t, dir, "add", "a", "s")
	put(t, dir, "a", "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n")
	put(t, dir, ".env", "KEY=1\n")
	put(t, dir, "NEXT.md", "next\n")
	return dir, readIndex(t, dir)
}

func readIndex(t *testing.T, dir string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func headOf(t *testing.T, dir string) string {
	t.Helper()
	if tryGit(dir, "rev-parse", "-q", "--verify", "HEAD") != nil {
		return "" // an unborn branch
	}
	return strings.TrimSpace(do(t, dir, "rev-parse", "HEAD"))
}

func files(t *testing.T, dir string) string {
	t.Helper()
	return strings.Join(strings.Fields(do(t, dir, "show", "--name-only", "--format=", "HEAD")), " ")
}

func TestCommitOnlyTakesOnlyItsPaths(t *testing.T) {
	t.Parallel()
	dir, index := dirty(t)
	worktree := do(t, dir, "diff")
	r := open(t, dir)
	made, err := r.CommitOnly(t.Context(), headOf(t, dir), "docs: hand over\n\nBody with # and -x\n", "NEXT.md")
	if err != nil {
		t.Fatal(err)
	}
	if now := headOf(t, dir); now != made.ID {
		t.Errorf("commit is %s, HEAD is %s", made.ID, now)
	}
	if got := files(t, dir); got != "NEXT.md" {
		t.Errorf("case F52: the commit holds %q", got)
	}
	if !bytes.Equal(index, readIndex(t, dir)) {
		t.Error("case F52: the index changed")
	}
	if got := do(t, dir, "diff"); got != worktree {
		t.Errorf("case F52: unstaged work changed:\n%s", got)
	}
	if got := do(t, dir, "log", "-1", "--format=%B"); !strings.HasPrefix(got, "docs: hand over\n\nBody with # and -x") {
		t.Errorf("message = %q", got)
	}
	if _, err := r.CommitOnly(t.Context(), headOf(t, dir), "again", "NEXT.md"); !errors.Is(err, ErrNothing) {
		t.Errorf("second commit: %v, want ErrNothing", err)
	}
}

func TestCommitOnlyRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string)
		want    string
	}{
		"held index.lock": {func(t *testing.T, dir string) { put(t, dir, ".git/index.lock", "") }, "index.lock"},
		"failing hook": {func(t *testing.T, dir string) {
			put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\necho style is wrong >&2\nexit 1\n")
		}, "style is wrong"},
		"ignored file":    {func(t *testing.T, dir string) { put(t, dir, ".git/info/exclude", "NEXT.md\n") }, "ignored"},
		"greedy hook":     {func(t *testing.T, dir string) { put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\ngit add -A\n") }, "taken back"},
		"missing file":    {func(t *testing.T, dir string) { os.Remove(filepath.Join(dir, "NEXT.md")) }, "NEXT.md"},
		"failing signing": {func(t *testing.T, dir string) { sign(t, dir, "exit 1") }, "gpg"},
		"unborn HEAD":     {func(t *testing.T, dir string) { do(t, dir, "checkout", "-q", "--orphan", "new") }, "HEAD"},
		"unmerged index":  {nil, ""},
		"reformatting hook": {func(t *testing.T, dir string) {
			put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\necho formatted >NEXT.md\ngit add NEXT.md\n")
		}, ""},
		"commit-msg hook": {func(t *testing.T, dir string) {
			put(t, dir, ".git/hooks/commit-msg", "#!/bin/sh\necho 'no ticket' >&2; exit 1\n")
		}, "no ticket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := dirty(t)
			if tt.prepare != nil {
				tt.prepare(t, dir)
			} else {
				conflict(t, dir)
			}
			index := readIndex(t, dir)
			before := do(t, dir, "log", "--all", "--format=%H")
			_, err := open(t, dir).CommitOnly(t.Context(), headOf(t, dir), "docs: hand over", "NEXT.md")
			if !bytes.Equal(index, readIndex(t, dir)) {
				t.Error("the index changed")
			}
			if tt.want == "" {
				if err != nil || files(t, dir) != "NEXT.md" {
					t.Errorf("commit of %q: %v", files(t, dir), err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want one about %q", err, tt.want)
			}
			if after := do(t, dir, "log", "--all", "--format=%H"); after != before {
				t.Errorf("there is a commit:\n%s", after)
			}
			if locks, _ := filepath.Glob(filepath.Join(dir, ".git", "*.lock")); len(locks) > 0 && tt.want != "index.lock" {
				t.Errorf("locks are left behind: %q", locks)
			}
		})
	}
}

// conflict leaves the index unmerged without an operation in progress.
func conflict(t *testing.T, dir string) {
	t.Helper()
	do(t, dir, "reset", "-q", "--hard")
	put(t, dir, "NEXT.md", "next\n")
	put(t, dir, "a", "stash\n")
	do(t, dir, "stash", "-q")
	put(t, dir, "a", "other\n")
	do(t, dir, "commit", "-q", "-am", "other")
	if tryGit(dir, "stash", "pop") == nil {
		t.Fatal("no conflict")
	}
}

// sign makes every commit signed by a program that runs script.
func sign(t *testing.T, dir, script string) {
	t.Helper()
	gpg := put(t, t.TempDir(), "gpg", "#!/bin/sh\n"+script+"\n")
	do(t, dir, "config", "gpg.program", gpg)
	do(t, dir, "config", "commit.gpgSign", "true")
}

// case F53: a signing program that never answers.
func TestCommitOnlyHasADeadline(t *testing.T) {
	t.Parallel()
	dir, index := dirty(t)
	started := filepath.Join(t.TempDir(), "started")
	sign(t, dir, "trap 'exit 1' INT; : >'"+started+"'; while :; do sleep 1; done")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(started); err == nil {
				cancel()
			}
		}
	}()
	start := time.Now()
	_, err := open(t, dir).CommitOnly(ctx, headOf(t, dir), "docs: hand over", "NEXT.md")
	cancel()
	if err == nil {
		t.Fatal("it is committed")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
	if got := files(t, dir); got != "a" {
		t.Errorf("HEAD holds %q", got)
	}
	if !bytes.Equal(index, readIndex(t, dir)) {
		t.Error("the index changed")
	}
	if locks, _ := filepath.Glob(filepath.Join(dir, ".git", "*.lock")); len(locks) > 0 {
		t.Errorf("locks are left behind: %q", locks)
	}
}

func TestCommitOnlyInALinkedWorktree(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	main := readIndex(t, dir)
	linked := filepath.Join(t.TempDir(), "linked")
	do(t, dir, "worktree", "add", "-q", "-b", "side", linked)
	put(t, linked, "sub/NEXT.md", "next\n")
	if _, err := open(t, linked).CommitOnly(t.Context(), headOf(t, linked), "docs: hand over", "sub/NEXT.md"); err != nil {
		t.Fatal(err)
	}
	if got := files(t, linked); got != "sub/NEXT.md" {
		t.Errorf("the commit holds %q", got)
	}
	if !bytes.Equal(main, readIndex(t, dir)) || files(t, dir) != "a" {
		t.Error("case F39: the main worktree changed")
	}
}

// A filter that encrypts is the repository's own configuration, and must run.
func TestCommitOnlyRunsFilters(t *testing.T) {
	t.Parallel()
	dir, _ := dirty(t)
	do(t, dir, "config", "filter.crypt.clean", "tr a-z b-za")
	put(t, dir, ".git/info/attributes", "NEXT.md filter=crypt\n")
	if _, err := open(t, dir).CommitOnly(t.Context(), headOf(t, dir), "docs: hand over", "NEXT.md"); err != nil {
		t.Fatal(err)
	}
	if got := do(t, dir, "cat-file", "blob", "HEAD:NEXT.md"); got != "ofyu\n" {
		t.Errorf("committed %q", got)
	}
}

func TestPushSendsOneBranch(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	do(t, dir, "clone", "-q", "--bare", dir, remote)
	do(t, dir, "remote", "add", "origin", remote)
	do(t, dir, "branch", "other")
	do(t, dir, "config", "push.default", "matching")
	r := open(t, dir)
	if err := r.Push(t.Context(), "main"); err == nil || !strings.Contains(err.Error(), "no upstream") {
		t.Errorf("without an upstream: %v", err)
	}
	do(t, dir, "fetch", "-q", "origin")
	do(t, dir, "branch", "-q", "-u", "origin/main")
	put(t, dir, "a", "pushed\n")
	do(t, dir, "commit", "-q", "-am", "second")
	if err := r.Push(t.Context(), "main"); err != nil {
		t.Fatal(err)
	}
	if got := do(t, remote, "log", "-1", "--format=%s", "main"); got != "second\n" {
		t.Errorf("the remote has %q", got)
	}
	if got := do(t, remote, "branch", "--list", "other"); got != "" {
		t.Errorf("also pushed: %q", got)
	}
}

func TestRefreshIndexChangesOurEntriesOnly(t *testing.T) {
	t.Parallel()
	dir, _ := dirty(t)
	staged := do(t, dir, "diff", "--cached")
	r := open(t, dir)
	made, err := r.CommitOnly(t.Context(), headOf(t, dir), "docs: hand over", "NEXT.md")
	if err != nil {
		t.Fatal(err)
	}
	if got := do(t, dir, "diff", "--cached", "--name-status"); !strings.Contains(got, "D\tNEXT.md") {
		t.Fatalf("there is nothing to update: %q", got)
	}
	put(t, dir, ".git/index.lock", "")
	if err := r.RefreshIndex(t.Context(), made); !errors.Is(err, ErrIndexLocked) {
		t.Errorf("with a held lock: %v", err)
	}
	os.Remove(filepath.Join(dir, ".git", "index.lock"))
	if err := r.RefreshIndex(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if got := do(t, dir, "diff", "--cached"); got != staged {
		t.Errorf("what is staged changed:\n%s", got)
	}
	if got := do(t, dir, "status", "--porcelain", "NEXT.md"); got != "" {
		t.Errorf("status = %q", got)
	}
	index := readIndex(t, dir)
	if err := r.RefreshIndex(t.Context(), made); err != nil || !bytes.Equal(index, readIndex(t, dir)) {
		t.Errorf("a second time it writes again (%v)", err)
	}
}

func TestRefreshIndexLeavesWhatTheUserHasTouched(t *testing.T) {
	t.Parallel()
	dir, _ := dirty(t)
	r := open(t, dir)
	made, err := r.CommitOnly(t.Context(), headOf(t, dir), "docs: hand over", "NEXT.md")
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "NEXT.md", "more\n")
	do(t, dir, "add", "NEXT.md")
	index := readIndex(t, dir)
	if err := r.RefreshIndex(t.Context(), made); err != nil || !bytes.Equal(index, readIndex(t, dir)) {
		t.Errorf("the user's staged version is gone (%v)", err)
	}
	do(t, dir, "reset", "-q", "--hard")
	do(t, dir, "rm", "-q", "NEXT.md")
	do(t, dir, "commit", "-q", "-m", "removed")
	index = readIndex(t, dir)
	if err := r.RefreshIndex(t.Context(), made); err != nil || !bytes.Equal(index, readIndex(t, dir)) {
		t.Errorf("a file that a later commit removed is back (%v)", err)
	}
}

func TestUnstaged(t *testing.T) {
	t.Parallel()
	dir, _ := dirty(t)
	r := open(t, dir)
	at := func(name string) (string, error) {
		content, err := r.Unstaged(t.Context(), filepath.Join(dir, name))
		return string(content), err
	}
	put(t, dir, "NEXT.md", "one\n")
	made, err := r.CommitOnly(t.Context(), headOf(t, dir), "m", "NEXT.md")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := at("NEXT.md"); err == nil {
		t.Errorf("the index does not know it: %q", got)
	}
	if err := r.RefreshIndex(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	put(t, dir, "NEXT.md", "two\n")
	if got, err := at("NEXT.md"); got != "one\n" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	for _, name := range []string{"s", ".env", "nowhere"} {
		if got, err := at(name); err == nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
