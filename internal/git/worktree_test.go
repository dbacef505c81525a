package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ccreload/ccreload/internal/problem"
)

// newRoot returns where worktrees are to be, beside no repository.
func newRoot(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "later", "worktrees")
}

func add(t *testing.T, dir, root, slug string) *Worktree {
	t.Helper()
	w, err := open(t, dir).AddWorktree(t.Context(), root, slug, "20260406-100000")
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// leftovers returns what there is of ours in the repository and below root, apart
// from the locks.
func leftovers(t *testing.T, dir, root string) string {
	t.Helper()
	var left []string
	entries, _ := os.ReadDir(root)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			left = append(left, e.Name())
		}
	}
	for _, args := range [][]string{{"for-each-ref", "--format=%(refname)", "refs/heads/cc-later", "refs/cc-later"}, {"worktree", "list", "--porcelain"}} {
		for line := range strings.Lines(do(t, dir, args...)) {
			if strings.HasPrefix(line, "refs/") || strings.HasPrefix(line, "worktree "+root) {
				left = append(left, strings.TrimSpace(line))
			}
		}
	}
	common := strings.TrimSpace(do(t, dir, "rev-parse", "--path-format=absolute", "--git-common-dir"))
	admin, _ := os.ReadDir(filepath.Join(common, "worktrees"))
	for _, e := range admin {
		if exists(filepath.Join(common, "worktrees", e.Name(), markerName)) {
			left = append(left, "worktrees/"+e.Name())
		}
	}
	return strings.Join(left, "\n")
}

func TestAddWorktree(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(t *testing.T) string{
		"plain": repo,
		"a name with blanks, quotes and letters": func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), `my "ü" 'repo'  $(touch x)`)
			do(t, filepath.Dir(repo(t)), "clone", "-q", repo(t), dir)
			return dir
		},
		"sha256": func(t *testing.T) string {
			dir := t.TempDir()
			do(t, dir, "init", "-q", "-b", "main", "--object-format=sha256")
			put(t, dir, "a", "1\n")
			do(t, dir, "add", "a")
			do(t, dir, "commit", "-q", "-m", "first")
			return dir
		},
		"a linked worktree": func(t *testing.T) string {
			linked := filepath.Join(t.TempDir(), "linked")
			do(t, repo(t), "worktree", "add", "-q", "-b", "side", linked)
			return linked
		},
		"a worktree of a bare repository": func(t *testing.T) string {
			parent := t.TempDir()
			do(t, parent, "clone", "-q", "--bare", repo(t), ".bare")
			do(t, filepath.Join(parent, ".bare"), "worktree", "add", "-q", "../main", "main")
			return filepath.Join(parent, "main")
		},
		"a submodule": func(t *testing.T) string {
			super := repo(t)
			do(t, super, "submodule", "--quiet", "add", repo(t), "mod")
			return filepath.Join(super, "mod")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := prepare(t), newRoot(t)
			before, index, config := do(t, dir, "status", "--porcelain"), readFile(t, open(t, dir).GitDir, "index"), readFile(t, open(t, dir).CommonDir, "config")
			w := add(t, dir, root, "Auth: the ü part")
			if want := "cc-later/Auth__the___part-20260406-100000"; w.Branch != want {
				t.Errorf("branch %q, want %q", w.Branch, want)
			}
			if got := headOf(t, w.Path); got != w.Base || got != headOf(t, dir) {
				t.Errorf("it is at %s", got)
			}
			if got := strings.TrimSpace(do(t, w.Path, "symbolic-ref", "--short", "HEAD")); got != w.Branch {
				t.Errorf("it is on %q", got)
			}
			if got := do(t, w.Path, "status", "--porcelain"); got != "" {
				t.Errorf("its status is %q", got)
			}
			if do(t, dir, "status", "--porcelain") != before || readFile(t, open(t, dir).GitDir, "index") != index || readFile(t, open(t, dir).CommonDir, "config") != config {
				t.Error("the user's worktree or configuration changed")
			}
			got, err := LoadWorktree(w.Path)
			if err != nil || got.Branch != w.Branch || got.GitDir != w.GitDir || got.check() != nil {
				t.Errorf("loaded %+v, %v", got, err)
			}
			put(t, w.Path, "new", "1\n")
			work, err := w.CommitAll(t.Context(), "cc-later: Auth tasks", "Task: t_0123456789")
			if err != nil || !work.Made || work.Commits != 1 {
				t.Fatalf("CommitAll: %+v, %v", work, err)
			}
			merged, err := w.Integrate(t.Context(), "cc-later: Auth tasks")
			if err != nil || merged.Commit != headOf(t, dir) {
				t.Fatalf("Integrate: %+v, %v", merged, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "new")); err != nil {
				t.Error("the user's files were not brought along")
			}
			if removed, err := w.Remove(t.Context(), false); err != nil || removed.Salvage != "" || removed.Kept != "" {
				t.Fatalf("Remove: %+v, %v", removed, err)
			}
			if left := leftovers(t, dir, root); left != "" {
				t.Errorf("left behind:\n%s", left)
			}
			if got := do(t, dir, "status", "--porcelain"); got != before {
				t.Errorf("status was %q and is %q", before, got)
			}
		})
	}
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"": "default", "Auth": "Auth", "a b/c.lock": "a_b_c_lock", "../..": "_____", "-x": "-x", "für": "f_r", "\xff": "_",
		strings.Repeat("é", 100): strings.Repeat("_", 40), "con": "con", "..": "__",
	} {
		if got := slug(in, "default"); got != want {
			t.Errorf("slug(%q) = %q, want %q", in, got, want)
		}
	}
}

// Refs, paths and what git has registered: whatever has the name already, the next
// one gets a number.
func TestNamesThatAreTaken(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	first := add(t, dir, root, "x")
	do(t, dir, "branch", "cc-later/X-20260406-100000-2") // of another case
	put(t, root, filepath.Base(dir)+"-x-20260406-100000-3/file", "")
	do(t, dir, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), filepath.Base(dir)+"-x-20260406-100000-4"))
	do(t, dir, "update-ref", salvagePrefix+"x-20260406-100000-5", "HEAD")
	w := add(t, dir, root, "x")
	if want := first.Branch + "-6"; w.Branch != want || w.Path != first.Path+"-6" {
		t.Errorf("%q at %q, want %q", w.Branch, w.Path, want)
	}
}

func TestAddWorktreeRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, dir, root string) (at string)
		says    string
		later   bool
	}{
		"inside the repository": {func(_ *testing.T, dir, _ string) string { return filepath.Join(dir, "sub", "trees") }, "inside the repository", false},
		"inside by a link": {func(t *testing.T, dir, _ string) string {
			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(dir, link); err != nil {
				t.Skip(err)
			}
			return filepath.Join(link, "trees")
		}, "inside the repository", false},
		"inside .git": {func(_ *testing.T, dir, _ string) string { return filepath.Join(dir, ".git", "trees") }, "inside the repository", false},
		"inside another worktree": {func(t *testing.T, dir, _ string) string {
			linked := filepath.Join(t.TempDir(), "linked")
			do(t, dir, "worktree", "add", "-q", "--detach", linked)
			return filepath.Join(linked, "trees")
		}, "inside the repository", false},
		"relative": {func(_ *testing.T, _, _ string) string { return "trees" }, "absolute", false},
		"detached": {func(t *testing.T, dir, root string) string { do(t, dir, "checkout", "-q", "--detach"); return root }, "no branch checked out", true},
		"a rebase": {func(t *testing.T, dir, root string) string {
			do(t, dir, "checkout", "-q", "-b", "other")
			put(t, dir, "a", "theirs\n")
			do(t, dir, "commit", "-q", "-am", "theirs")
			do(t, dir, "checkout", "-q", "main")
			put(t, dir, "a", "mine\n")
			do(t, dir, "commit", "-q", "-am", "mine")
			tryGit(dir, "rebase", "other")
			return root
		}, "a rebase is in progress", true},
		"unborn": {func(t *testing.T, dir, root string) string {
			do(t, dir, "checkout", "-q", "--orphan", "new")
			return root
		}, "no commit yet", true},
		"a branch in the way": {func(t *testing.T, dir, root string) string { do(t, dir, "branch", "cc-later"); return root }, `a branch is called "cc-later"`, false},
		"no permission": {func(t *testing.T, _, root string) string {
			if os.Getuid() == 0 {
				put(t, filepath.Dir(root), filepath.Base(root), "a file") // root may write anywhere
				return root
			}
			os.MkdirAll(root, 0o500)
			return root
		}, root0("not a directory", "permission denied"), false},
		"a filter that fails": {func(t *testing.T, dir, root string) string {
			do(t, dir, "config", "filter.lfs.smudge", "echo no such object >&2; exit 1 #")
			do(t, dir, "config", "filter.lfs.required", "true")
			put(t, dir, ".git/info/attributes", "a filter=lfs\n")
			return root
		}, "smudge filter lfs failed", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := repo(t), newRoot(t)
			at := tt.prepare(t, dir, root)
			before := do(t, dir, "for-each-ref")
			w, err := open(t, dir).AddWorktree(t.Context(), at, "x", "1")
			if err == nil || !strings.Contains(err.Error(), tt.says) || errors.Is(err, ErrNotNow) != tt.later {
				t.Errorf("%+v, error %v, want one about %q", w, err, tt.says)
			}
			if got := do(t, dir, "for-each-ref"); got != before {
				t.Errorf("refs are\n%swere\n%s", got, before)
			}
			if got := do(t, dir, "worktree", "list", "--porcelain"); strings.Contains(got, "worktree "+at) {
				t.Errorf("git still has\n%s", got)
			}
			if list, err := Orphans(t.Context(), at); err == nil && len(list) > 0 {
				t.Errorf("left behind: %+v", list)
			}
		})
	}
}

// root0 returns what root is told, or other users.
func root0(root, user string) string {
	if os.Getuid() == 0 {
		return root
	}
	return user
}

func TestBareRepositoryHasNoWorktree(t *testing.T) {
	t.Parallel()
	bare := t.TempDir()
	do(t, bare, "init", "-q", "--bare")
	if _, err := Open(t.Context(), bare); !errors.Is(err, ErrNoWorktree) {
		t.Errorf("Open = %v", err)
	}
}

// case F23: several at once, and the configuration is locked.
func TestWorktreesAtOnce(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	put(t, dir, ".git/config.lock", "")
	r := open(t, dir)
	made := make([]*Worktree, 5)
	var all sync.WaitGroup
	for i := range made {
		all.Go(func() {
			w, err := r.AddWorktree(t.Context(), root, "same", "1")
			if err != nil {
				t.Error(err)
			}
			made[i] = w
		})
	}
	all.Wait()
	var branches, want []string
	for _, w := range made {
		if w != nil {
			branches = append(branches, "refs/heads/"+w.Branch)
		}
	}
	slices.Sort(branches)
	want = strings.Fields(do(t, dir, "for-each-ref", "--format=%(refname)", "refs/heads/cc-later"))
	if len(slices.Compact(branches)) != 5 || !slices.Equal(branches, want) {
		t.Errorf("made %q, the repository has %q", branches, want)
	}
}

// What a repository has configured to run on a checkout does not run, and does on
// the commit, which is the user's.
func TestHooksRunOnCommitOnly(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	log := filepath.Join(t.TempDir(), "ran")
	for _, hook := range []string{"post-checkout", "post-index-change", "reference-transaction", "pre-commit", "commit-msg", "pre-merge-commit", "post-merge", "fsmonitor"} {
		put(t, dir, ".git/hooks/"+hook, "#!/bin/sh\necho "+hook+" >>'"+log+"'\n")
	}
	do(t, dir, "config", "core.fsmonitor", filepath.Join(dir, ".git/hooks/fsmonitor"))
	ran := func() string {
		data, _ := os.ReadFile(log)
		os.Remove(log)
		list := strings.Fields(string(data))
		slices.Sort(list)
		return strings.Join(slices.Compact(list), " ")
	}
	ran()
	w := add(t, dir, root, "x")
	if got := ran(); got != "" {
		t.Errorf("making a worktree ran %q", got)
	}
	put(t, w.Path, "new", "1\n")
	if _, err := w.CommitAll(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if got := ran(); !strings.Contains(got, "pre-commit") || !strings.Contains(got, "commit-msg") || strings.Contains(got, "fsmonitor") {
		t.Errorf("the commit ran %q", got)
	}
	if _, err := w.Integrate(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if got := ran(); !strings.Contains(got, "pre-merge-commit") || strings.Contains(got, "post-checkout") {
		t.Errorf("the merge ran %q", got)
	}
	if _, err := w.Remove(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if got := ran(); got != "" {
		t.Errorf("removing it ran %q", got)
	}
	// The trap is armed.
	do(t, dir, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "plain"))
	if got := ran(); !strings.Contains(got, "post-checkout") {
		t.Errorf("plain git runs %q only", got)
	}
}

// A filter makes of a pointer what an agent has to read, and of what the agent
// writes a pointer.
func TestWorktreesAreFiltered(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	do(t, dir, "config", "filter.crypt.clean", "tr a-z b-za")
	do(t, dir, "config", "filter.crypt.smudge", "tr b-za a-z")
	do(t, dir, "config", "filter.crypt.required", "true")
	put(t, dir, ".gitattributes", "*.secret filter=crypt\n")
	put(t, dir, "x.secret", "hello\n")
	do(t, dir, "add", ".")
	do(t, dir, "commit", "-q", "-m", "secret")
	w := add(t, dir, root, "x")
	if got := readFile(t, w.Path, "x.secret"); got != "hello\n" {
		t.Errorf("the worktree has %q", got)
	}
	put(t, w.Path, "y.secret", "world\n")
	work, err := w.CommitAll(t.Context(), "m")
	if err != nil || len(work.Left) > 0 {
		t.Fatalf("%+v, %v", work, err)
	}
	if got := do(t, w.Path, "cat-file", "blob", "HEAD:y.secret"); got != "xpsme\n" {
		t.Errorf("the commit has %q", got)
	}
	if _, err := w.Integrate(t.Context(), "m"); err != nil {
		t.Fatal(err)
	}
	if got := readFile(t, dir, "y.secret"); got != "world\n" {
		t.Errorf("the user has %q", got)
	}
	if _, err := w.Remove(t.Context(), false); err != nil {
		t.Error(err)
	}
}

func TestWorktreeInclude(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	outside := put(t, t.TempDir(), "outside", "secret\n")
	put(t, dir, ".gitignore", "*.local\n.env*\nbuild/\nlinked\n")
	do(t, dir, "add", ".gitignore")
	do(t, dir, "commit", "-q", "-m", "ignore")
	put(t, dir, ".worktreeinclude", "# what agents need\r\n.env*\nconf/*.local\nlinked\na\nuntracked\n../*\n/etc/passwd\n")
	put(t, dir, ".env", "KEY=1\n")
	put(t, dir, ".env ü", "KEY=2\n")
	put(t, dir, "conf/x.local", "x\n")
	put(t, dir, "other.local", "no\n")
	put(t, dir, "untracked", "not ignored\n")
	put(t, dir, "a", "changed by the user\n")
	if err := os.Symlink(outside, filepath.Join(dir, "linked")); err != nil {
		t.Skip(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, ".env.link")); err != nil {
		t.Skip(err)
	}
	big, err := os.Create(filepath.Join(dir, ".env.big"))
	if err != nil || big.Truncate(includeBytes+1) != nil {
		t.Fatal(err)
	}
	big.Close()
	w := add(t, dir, root, "x")
	for name, want := range map[string]string{".env": "KEY=1\n", ".env ü": "KEY=2\n", "conf/x.local": "x\n", "a": "1\n2\n3\n4\n5\n6\n7\n8\n9\n"} {
		if got := readFile(t, w.Path, name); got != want {
			t.Errorf("%s holds %q", name, got)
		}
	}
	for _, name := range []string{"other.local", "untracked", "linked", ".env.link", ".env.big"} {
		if exists(filepath.Join(w.Path, name)) {
			t.Errorf("%s came along", name)
		}
	}
	if notes := strings.Join(w.Notes, "\n"); !strings.Contains(notes, ".env.big") || !strings.Contains(notes, "linked") {
		t.Errorf("notes are %q", notes)
	}
	// Copies are no work, whatever became of them.
	put(t, w.Path, "conf/x.local", "changed\n")
	removed, err := w.Remove(t.Context(), false)
	if want := []string{".env", ".env ü", "conf/x.local"}; err != nil || !slices.Equal(removed.Ignored, want) || removed.Salvage != "" {
		t.Errorf("Remove: %+v, %v", removed, err)
	}
}

func TestSubmodulesComeAlong(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	lib := repo(t)
	do(t, dir, "submodule", "--quiet", "add", lib, "mod dir/lib")
	do(t, dir, "submodule", "--quiet", "add", lib, "absent")
	do(t, dir, "commit", "-q", "-m", "with submodules")
	do(t, dir, "submodule", "--quiet", "deinit", "-f", "absent")
	if err := os.RemoveAll(lib); err != nil { // there is no network either
		t.Fatal(err)
	}
	config := readFile(t, dir, ".git/config")
	w := add(t, dir, root, "x")
	if got := readFile(t, w.Path, "mod dir/lib/a"); !strings.HasPrefix(got, "1\n") {
		t.Errorf("the submodule has %q", got)
	}
	if got := strings.Join(w.Notes, "\n"); !strings.Contains(got, "absent") || strings.Contains(got, "mod dir") {
		t.Errorf("notes are %q", got)
	}
	if readFile(t, dir, ".git/config") != config {
		t.Error("the user's configuration changed")
	}
	put(t, w.Path, "mod dir/lib/a", "work of the agent\n")
	put(t, w.Path, "b", "1\n")
	var named *problem.Error
	if _, err := w.CommitAll(t.Context(), "m"); !errors.As(err, &named) || !strings.Contains(err.Error(), "mod dir/lib") {
		t.Errorf("a change that no commit can hold: %v", err)
	}
	if _, err := w.Remove(t.Context(), true); err == nil || !exists(w.Path) {
		t.Errorf("and removed all the same: %v", err)
	}
	do(t, filepath.Join(w.Path, "mod dir/lib"), "checkout", "-q", "a")
	if _, err := w.CommitAll(t.Context(), "m"); err != nil {
		t.Error(err)
	}
	if removed, err := w.Remove(t.Context(), true); err != nil || removed.Salvage == "" || exists(w.Path) {
		t.Errorf("Remove: %+v, %v", removed, err)
	}
}

func TestAddWorktreeWithoutGit(t *testing.T) {
	dir := repo(t)
	r := open(t, dir)
	w := add(t, dir, newRoot(t), "x")
	t.Setenv("PATH", t.TempDir())
	if _, err := r.AddWorktree(context.Background(), newRoot(t), "x", "1"); !errors.Is(err, ErrNoGit) {
		t.Errorf("AddWorktree: %v", err)
	}
	if _, err := w.CommitAll(context.Background(), "m"); !errors.Is(err, ErrNoGit) {
		t.Errorf("CommitAll: %v", err)
	}
	if _, err := w.Integrate(context.Background(), "m"); !errors.Is(err, ErrNoGit) {
		t.Errorf("Integrate: %v", err)
	}
	if _, err := w.Remove(context.Background(), true); !errors.Is(err, ErrNoGit) || !exists(w.Path) {
		t.Errorf("Remove: %v", err)
	}
	if _, err := r.Watch(context.Background()); !errors.Is(err, ErrNoGit) {
		t.Errorf("Watch: %v", err)
	}
}

func TestLoadWorktreeRefuses(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "cut": `"path" "/x`, "other": quoted("path", filepath.Join(root, "x")) + quoted("common", "/x/.git") + quoted("base", "1"),
		"branch": quoted("path", filepath.Join(root, "branch")) + quoted("common", "/x/.git") + quoted("base", "1") + quoted("branch", "main"),
		"owner":  quoted("path", filepath.Join(root, "owner")) + quoted("common", "/x/.git") + quoted("base", "1") + quoted("owner", "nobody"),
	} {
		put(t, root, name+recordSuffix, text)
		if w, err := LoadWorktree(filepath.Join(root, name)); err == nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
	if _, err := LoadWorktree(filepath.Join(root, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if list, err := Orphans(t.Context(), root); err != nil || len(list) != 5 {
		t.Errorf("Orphans: %+v, %v", list, err)
	}
}

func FuzzUnquoted(f *testing.F) {
	for _, s := range []string{quoted("path", "/a b/ü\n\"x\""), "", "\n", `"a" "b`, "\"a\"\n\"\"\n", "a\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		again := ""
		if unquoted(s, func(words []string) error { again += quoted(words...); return nil }) == nil {
			twice := ""
			if err := unquoted(again, func(words []string) error { twice += quoted(words...); return nil }); err != nil || twice != again {
				t.Errorf("%q became %q: %v", again, twice, err)
			}
		}
	})
}
