package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// working returns a repository, with files a, gone and .gitignore in it, and a worktree of it for an agent.
func working(t *testing.T) (dir string, w *Worktree) {
	t.Helper()
	dir = copied(t, templates()[1])
	return dir, add(t, dir, newRoot(t), "x")
}

func TestCommitAll(t *testing.T) {
	t.Parallel()
	dir, w := working(t)
	if _, err := w.CommitAll(t.Context(), "m"); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing was done: %v", err)
	}
	put(t, w.Path, "a", "changed\n")
	put(t, w.Path, "dir ü/new\nfile", "1\n")
	put(t, w.Path, "-f", "1\n")
	put(t, w.Path, ":(top)*", "1\n")
	put(t, w.Path, "x.o", "ignored\n")
	os.Remove(filepath.Join(w.Path, "gone"))
	if err := os.Symlink("/etc", filepath.Join(w.Path, "link")); err != nil {
		t.Skip(err)
	}
	work, err := w.CommitAll(t.Context(), "cc-later: Auth tasks\n\n# not a comment\n", "Task: t_0123456789", "Task: t_\nabcdefabcd")
	if err != nil || !work.Made || work.Commits != 1 || work.Commit != headOf(t, w.Path) || len(work.Left) > 0 {
		t.Fatalf("%+v, %v", work, err)
	}
	got := do(t, w.Path, "show", "-z", "--name-status", "--format=%an <%ae>%x00%B", "--no-renames", "HEAD")
	want := "A <a@example.org>\x00cc-later: Auth tasks\n\n# not a comment\n\nTask: t_0123456789\nTask: t_ abcdefabcd\n\x00" +
		"\x00A\x00-f\x00A\x00:(top)*\x00M\x00a\x00A\x00dir ü/new\nfile\x00D\x00gone\x00A\x00link\x00"
	if strings.ReplaceAll(got, "\x00\n", "\x00") != strings.ReplaceAll(want, "\x00\x00", "\x00") {
		t.Errorf("committed %q\nwant %q", got, want)
	}
	if got := do(t, w.Path, "ls-tree", "HEAD", "link"); !strings.HasPrefix(got, "120000") {
		t.Errorf("the link is %q", got)
	}
	again, err := w.CommitAll(t.Context(), "m")
	if err != nil || again.Made || again.Commit != work.Commit || again.Commits != 1 {
		t.Errorf("a second time: %+v, %v", again, err)
	}
	if headOf(t, dir) != w.Base {
		t.Error("the user's branch moved")
	}
}

// What an agent did with git itself, in spite of the host.
func TestCommitAllAfterAnAgentUsedGit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		agent func(t *testing.T, w *Worktree)
		says  string // "" when it is committed
		foul  bool   // it is not our worktree any more
	}{
		"committed": {func(t *testing.T, w *Worktree) {
			put(t, w.Path, "own", "1\n")
			do(t, w.Path, "add", ".")
			do(t, w.Path, "commit", "-q", "-m", "the agent's")
			put(t, w.Path, "more", "1\n")
		}, "", false},
		"committed all": {func(t *testing.T, w *Worktree) {
			put(t, w.Path, "own", "1\n")
			put(t, w.Path, "more", "1\n")
			do(t, w.Path, "add", ".")
			do(t, w.Path, "commit", "-q", "-m", "the agent's")
		}, "", false},
		"staged": {func(t *testing.T, w *Worktree) {
			put(t, w.Path, "own", "1\n")
			do(t, w.Path, "add", ".")
			put(t, w.Path, "more", "1\n")
		}, "", false},
		"another branch": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "checkout", "-q", "-b", "mine")
			put(t, w.Path, "own", "1\n")
		}, `has branch "mine" checked out`, false},
		"detached": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "checkout", "-q", "--detach")
			put(t, w.Path, "own", "1\n")
		}, "has nothing checked out", false},
		"rewritten": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "commit", "-q", "--amend", "-m", "another first")
			put(t, w.Path, "own", "1\n")
		}, "was rewritten", false},
		"merging": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "branch", "other", w.Base+"^")
			put(t, w.Path, "a", "ours\n")
			do(t, w.Path, "commit", "-qam", "ours")
			do(t, w.Path, "checkout", "-q", "other")
			put(t, w.Path, "a", "theirs\n")
			do(t, w.Path, "commit", "-qam", "theirs")
			do(t, w.Path, "checkout", "-q", w.Branch)
			tryGit(w.Path, "merge", "other")
		}, "a merge is in progress", false},
		"locked": {func(t *testing.T, w *Worktree) {
			put(t, w.Path, "own", "1\n")
			put(t, w.GitDir, "index.lock", "")
		}, "index.lock", false},
		"a repository in it": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "init", "-q", "nested repo")
			put(t, w.Path, "nested repo/x", "1\n")
		}, `"nested repo/"`, false},
		"a repository added": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "clone", "-q", w.Common, "nested")
			do(t, w.Path, "add", "nested")
		}, `"nested"`, false},
		"a repository instead": {func(t *testing.T, w *Worktree) {
			os.Remove(filepath.Join(w.Path, ".git"))
			do(t, w.Path, "init", "-q", "-b", w.Branch)
			put(t, w.Path, "own", "1\n")
		}, "not the worktree that was made there", true},
		"another .git file": {func(t *testing.T, w *Worktree) {
			evil := repo(t)
			put(t, w.Path, ".git", "gitdir: "+filepath.Join(evil, ".git")+"\n")
		}, "not the worktree that was made there", true},
		"the marker of another": {func(t *testing.T, w *Worktree) { put(t, w.GitDir, markerName, "x") }, "not the worktree that was made there", true},
		"hooks":                 {func(t *testing.T, w *Worktree) { put(t, w.Path, ".husky/pre-commit", "touch /tmp/x\n") }, ".husky/pre-commit", false},
		"configured hooks": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "config", "core.hooksPath", "tools/hooks")
			put(t, w.Path, "tools/hooks/pre-commit", "#!/bin/sh\ntouch ran\n")
		}, "tools/hooks/pre-commit", false},
		"a script that a hook runs": {func(t *testing.T, w *Worktree) {
			put(t, w.Common, "hooks/pre-commit", "#!/bin/sh\nsh \"./scripts/lint.sh\" || exit 1\n")
			put(t, w.Path, "scripts/lint.sh", "touch ran\n")
		}, "scripts/lint.sh", false},
		"a script that a hook runs elsewhere": {func(t *testing.T, w *Worktree) {
			put(t, w.Common, "hooks/pre-commit", "#!/bin/sh\ncd scripts && ./lint.sh\n")
			put(t, w.Path, "scripts/lint.sh", "touch ran\n")
		}, "scripts/lint.sh", false},
		"what make does for a hook": {func(t *testing.T, w *Worktree) {
			put(t, w.Common, "hooks/pre-commit", "#!/bin/sh\nmake lint\n")
			put(t, w.Path, "Makefile", "lint:\n\ttouch ran\n")
		}, "Makefile", false},
		"a configuration of the worktree": {func(t *testing.T, w *Worktree) {
			do(t, w.Path, "config", "extensions.worktreeConfig", "true")
			do(t, w.Path, "config", "--worktree", "filter.e.clean", "touch ran; cat")
			put(t, w.Path, "own", "1\n")
		}, "config.worktree", false},
		"committed hooks": {func(t *testing.T, w *Worktree) {
			put(t, w.Path, ".pre-commit-config.yaml", "repos: []\n")
			do(t, w.Path, "add", ".")
			do(t, w.Path, "commit", "-q", "-m", "the agent's")
			put(t, w.Path, "own", "1\n")
		}, ".pre-commit-config.yaml", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := working(t)
			tt.agent(t, w)
			head, status := "", ""
			if !tt.foul {
				head, status = headOf(t, w.Path), do(t, w.Path, "status", "--porcelain")
			}
			work, err := w.CommitAll(t.Context(), "m")
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, ErrNotOurs) != tt.foul {
					t.Errorf("%+v, error %v, want one about %q", work, err, tt.says)
				}
				if !tt.foul && (headOf(t, w.Path) != head || do(t, w.Path, "status", "--porcelain") != status) {
					t.Error("it did not stay as it was")
				}
				if !tt.foul && strings.Contains(tt.says, "hook") && exists(filepath.Join(w.Path, "ran")) {
					t.Error("a hook of the agent's ran")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := do(t, w.Path, "diff", "--name-only", w.Base, work.Commit); got != "more\nown\n" {
				t.Errorf("the branch has %q", got)
			}
			if headOf(t, dir) != w.Base {
				t.Error("the user's branch moved")
			}
		})
	}
}

func TestCommitAllRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir string)
		says    string
	}{
		"by a hook": {func(t *testing.T, dir string) {
			put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\necho style is wrong >&2\nexit 1\n")
		}, "style is wrong"},
		"by the message hook": {func(t *testing.T, dir string) {
			put(t, dir, ".git/hooks/commit-msg", "#!/bin/sh\necho no ticket >&2\nexit 1\n")
		}, "no ticket"},
		"by signing": {func(t *testing.T, dir string) { sign(t, dir, "exit 1") }, "gpg"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := working(t)
			tt.prepare(t, dir)
			put(t, w.Path, "new", "1\n")
			work, err := w.CommitAll(t.Context(), "m")
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%+v, error %v, want one about %q", work, err, tt.says)
			}
			if headOf(t, w.Path) != w.Base || readFile(t, w.Path, "new") != "1\n" {
				t.Error("it did not stay as it was")
			}
			// Nothing is lost when it is removed.
			removed, err := w.Remove(t.Context(), true)
			if err != nil || do(t, dir, "cat-file", "blob", removed.Salvage+":new") != "1\n" {
				t.Errorf("Remove: %+v, %v", removed, err)
			}
		})
	}
}

func TestCommitAllWithoutIdentity(t *testing.T) {
	_, w := working(t)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(name, "")
		os.Unsetenv(name)
	}
	do(t, w.Path, "config", "user.useConfigOnly", "true")
	put(t, w.Path, "new", "1\n")
	if _, err := w.CommitAll(context.Background(), "m"); err == nil || !strings.Contains(err.Error(), "does not know who commits") {
		t.Errorf("error = %v", err)
	}
	if removed, err := w.Remove(context.Background(), true); err != nil || removed.Salvage == "" {
		t.Errorf("what cannot be committed is not salvaged: %+v, %v", removed, err)
	}
}

// case F53: a hook that never answers. What it leaves is in the worktree.
func TestCommitAllHasADeadline(t *testing.T) {
	t.Parallel()
	dir, w := working(t)
	started := filepath.Join(t.TempDir(), "started")
	put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\ntrap 'exit 1' INT\n: >'"+started+"'\nwhile :; do sleep 1; done\n")
	put(t, w.Path, "new", "1\n")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if exists(started) {
				cancel()
			}
		}
	}()
	if work, err := w.CommitAll(ctx, "m"); err == nil {
		t.Fatalf("it is committed: %+v", work)
	}
	if headOf(t, w.Path) != w.Base || exists(filepath.Join(w.GitDir, "index.lock")) {
		t.Error("it did not stay as it was")
	}
}

// A hook may format what is committed and leave files of its own.
func TestCommitAllNamesWhatAHookLeft(t *testing.T) {
	t.Parallel()
	dir, w := working(t)
	put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\necho formatted >new\ngit add new\necho 1 >hook.log\n")
	put(t, dir, ".git/hooks/post-commit", "#!/bin/sh\nexit 1\n")
	put(t, w.Path, "new", "1\n")
	work, err := w.CommitAll(t.Context(), "m")
	if err != nil || !work.Made || strings.Join(work.Left, " ") != "hook.log" || readFile(t, w.Path, "new") != "formatted\n" {
		t.Errorf("%+v, %v", work, err)
	}
}
