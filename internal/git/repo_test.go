package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	put(t, dir, "sub/x", "")
	r := open(t, filepath.Join(dir, "sub"))
	if !sameDir(r.Top, dir) || !sameDir(r.GitDir, filepath.Join(dir, ".git")) || r.Linked() || r.Submodule {
		t.Errorf("subdirectory: %+v", r)
	}

	linked := filepath.Join(t.TempDir(), "linked")
	do(t, dir, "worktree", "add", "-q", linked)
	r = open(t, linked)
	if !sameDir(r.Top, linked) || !r.Linked() || r.Submodule || !sameDir(r.CommonDir, filepath.Join(dir, ".git")) {
		t.Errorf("case F39: linked worktree: %+v", r)
	}

	super := repo(t)
	do(t, super, "submodule", "--quiet", "add", dir, "mod")
	r = open(t, filepath.Join(super, "mod"))
	if !sameDir(r.Top, filepath.Join(super, "mod")) || !r.Submodule || r.Linked() {
		t.Errorf("submodule: %+v", r)
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	bare := t.TempDir()
	do(t, bare, "init", "-q", "--bare")
	// A bare repository that came with the files of another one, and would have
	// its own configuration obeyed.
	disguised := filepath.Join(repo(t), "fixture")
	do(t, filepath.Dir(disguised), "init", "-q", "--bare", "fixture")
	do(t, disguised, "config", "core.bare", "false")
	do(t, disguised, "config", "core.worktree", t.TempDir())
	broken := repo(t)
	put(t, broken, ".git/HEAD", "nonsense\n")
	none := t.TempDir()
	for name, tt := range map[string]struct {
		dir  string
		want error
		says string
	}{
		"plain":            {none, ErrNoRepo, ""},
		"bare":             {bare, ErrNoWorktree, ""},
		"inside .git":      {filepath.Join(repo(t), ".git"), ErrNoWorktree, ""},
		"a disguised bare": {disguised, ErrNoWorktree, ""},
		"a broken HEAD":    {broken, nil, filepath.Join(broken, ".git")},
	} {
		r, err := Open(t.Context(), tt.dir)
		if err == nil || tt.want != nil && !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	for dir, want := range map[string]string{none: "", broken: "", filepath.Join(broken, ".git", "refs", "heads"): filepath.Join(broken, ".git"), bare: bare} {
		if got := Inside(dir); got != want {
			t.Errorf("Inside(%q) = %q, want %q", dir, got, want)
		}
	}
}

func TestOpenHasADeadline(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := Open(ctx, repo(t)); err == nil {
		t.Error("a call whose time is up succeeded")
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	diverged := func(t *testing.T) string {
		dir := repo(t)
		do(t, dir, "checkout", "-q", "-b", "other")
		put(t, dir, "a", "theirs\n")
		do(t, dir, "commit", "-q", "-am", "theirs")
		do(t, dir, "checkout", "-q", "main")
		put(t, dir, "a", "ours\n")
		do(t, dir, "commit", "-q", "-am", "ours")
		return dir
	}
	for want, args := range map[string][]string{
		"":            {"status"},
		"merge":       {"merge", "other"},
		"rebase":      {"rebase", "other"},
		"cherry-pick": {"cherry-pick", "other"},
		"revert":      {"revert", "--no-edit", "HEAD^"},
		"bisect":      {"bisect", "start", "HEAD", "HEAD^"},
	} {
		t.Run("during "+want, func(t *testing.T) {
			t.Parallel()
			dir := diverged(t)
			tryGit(dir, args...) // it stops at the conflict, with an error
			r := open(t, dir)
			if got := r.Operation(); got != want {
				t.Errorf("Operation = %q", got)
			}
			if r.IndexLocked() {
				t.Error("nobody holds the index")
			}
			put(t, dir, ".git/index.lock", "")
			if !r.IndexLocked() {
				t.Error("index.lock is not seen")
			}
		})
	}
}

func TestIgnored(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	put(t, dir, ".gitignore", "*.local.md\n")
	put(t, dir, "kept.local.md", "")
	do(t, dir, "add", "-f", "kept.local.md")
	r := open(t, dir)
	for name, want := range map[string]bool{"NEXT.local.md": true, "NEXT.md": false, "kept.local.md": false, filepath.Join(dir, "x.local.md"): true} {
		if got, err := r.Ignored(t.Context(), name); got != want || err != nil {
			t.Errorf("Ignored(%q) = %v, %v", name, got, err)
		}
	}
}

func TestTracked(t *testing.T) {
	t.Parallel()
	check := func(name, dir string, want ...string) {
		t.Helper()
		got, err := Tracked(t.Context(), dir, "a", ".reload/session.md", ".reload/pending")
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: Tracked = %v, %v, want %v", name, got, err, want)
		}
	}
	none := t.TempDir()
	put(t, none, ".reload/session.md", "")
	check("no repository", none)
	if err := os.Mkdir(filepath.Join(none, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	check("a .git that is none", none)

	dir := repo(t)
	put(t, dir, ".reload/session.md", "")
	put(t, dir, ".reload/pending", "")
	check("ours", dir, "a")
	do(t, dir, "add", ".reload/session.md")
	check("case F61: shipped", dir, "a", ".reload/session.md")
	do(t, dir, "commit", "-q", "-m", "ship")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err == nil {
		check("through a link", link, "a", ".reload/session.md")
	}
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, dir, "clone", "-q", dir, clone)
	check("a clone", clone, "a", ".reload/session.md")

	// A bare repository among the files of a clone, with its own idea of what
	// is tracked.
	do(t, dir, "init", "-q", "--bare", "proj")
	put(t, dir, "proj/.reload/session.md", "")
	put(t, dir, "proj/refs/keep", "")
	do(t, dir, "add", "proj")
	check("inside a disguised bare repository", filepath.Join(dir, "proj"), ".reload/session.md")

	// The directory itself as a submodule.
	state := repo(t)
	put(t, state, "session.md", "")
	do(t, state, "add", ".")
	do(t, state, "commit", "-q", "-m", "state")
	super := repo(t)
	do(t, super, "submodule", "--quiet", "add", state, ".reload")
	check("a submodule as state directory", super, "a", ".reload/session.md")

	// A repository in a repository: the outer one still answers for its files.
	outer := repo(t)
	put(t, outer, "in/.reload/pending", "")
	do(t, outer, "add", ".")
	do(t, filepath.Join(outer, "in"), "init", "-q")
	check("tracked further up", filepath.Join(outer, "in"), ".reload/pending")
}

// On a file system that ignores case the clone's .RELOAD is our .reload.
func TestTrackedIgnoresCase(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	put(t, dir, ".RELOAD/Session.md", "")
	do(t, dir, "add", ".RELOAD")
	got, err := Tracked(t.Context(), dir, ".reload/session.md")
	if err != nil || len(got) != 1 {
		t.Errorf("Tracked = %v, %v", got, err)
	}
}

// What cannot be found out is an error, never "not tracked".
func TestTrackedFailsClosed(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	put(t, dir, ".git/index", "DIRC nonsense")
	if got, err := Tracked(t.Context(), dir, "a"); err == nil {
		t.Errorf("Tracked = %v, no error", got)
	}
}

func TestSpelledTakesTheNameOnDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "long name", "")
	// Another name of the same file, as a short name on Windows would be.
	if err := os.Link(filepath.Join(dir, "long name"), filepath.Join(dir, "LONG~1")); err != nil {
		t.Skip(err)
	}
	if got := spelled(dir, "LONG~1"); got != "LONG~1" {
		t.Errorf("an exact name became %q", got)
	}
	if got := spelled(dir, "absent"); got != "absent" {
		t.Errorf("a name that is not there became %q", got)
	}
}
