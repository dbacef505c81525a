package git

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/proc"
)

func TestRemoveWhatIsMerged(t *testing.T) {
	t.Parallel()
	for name, merge := range map[string]func(t *testing.T, dir string, w *Worktree){
		"nothing was done": nil,
		"merged":           func(t *testing.T, dir string, w *Worktree) { do(t, dir, "merge", "-q", "--no-ff", w.Branch) },
		"merged, and the target went on": func(t *testing.T, dir string, w *Worktree) {
			do(t, dir, "merge", "-q", "--no-ff", w.Branch)
			theirs(t, dir, "new", "changed since\n")
		},
		"into another branch": func(t *testing.T, dir string, w *Worktree) {
			do(t, dir, "checkout", "-q", "-b", "release")
			do(t, dir, "merge", "-q", w.Branch)
			do(t, dir, "checkout", "-q", "main")
		},
		"squashed": func(t *testing.T, dir string, w *Worktree) {
			do(t, dir, "merge", "-q", "--squash", w.Branch)
			do(t, dir, "commit", "-q", "-m", "squashed")
		},
		"squashed onto a target that had moved, and moved on": func(t *testing.T, dir string, w *Worktree) {
			theirs(t, dir, "b", "before\n")
			do(t, dir, "merge", "-q", "--squash", w.Branch)
			do(t, dir, "commit", "-q", "-m", "squashed")
			theirs(t, dir, "b", "after\n")
		},
		"rebased": func(t *testing.T, dir string, w *Worktree) {
			theirs(t, dir, "b", "before\n")
			for _, c := range strings.Fields(do(t, dir, "rev-list", "--reverse", w.Base+".."+w.Branch)) {
				do(t, dir, "cherry-pick", c)
			}
		},
		"by hand, to the same content": func(t *testing.T, dir string, w *Worktree) {
			put(t, dir, "a", "agent\n")
			theirs(t, dir, "new", "2\n")
			do(t, dir, "commit", "-qam", "the same")
		},
		"taken back by the agent": func(t *testing.T, _ string, w *Worktree) { do(t, w.Path, "revert", "--no-edit", "HEAD", "HEAD^") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := working(t)
			if merge != nil {
				commitIn(t, w, "new", "2\n")
				commitIn(t, w, "a", "agent\n")
				merge(t, dir, w)
			}
			put(t, w.Path, "build.o", "ignored\n")
			before := do(t, dir, "for-each-ref", "refs/heads/main", "refs/heads/release", "refs/tags")
			removed, err := w.Remove(t.Context(), false)
			if err != nil || removed.Salvage != "" || removed.Kept != "" || strings.Join(removed.Ignored, " ") != "build.o" {
				t.Fatalf("%+v, %v", removed, err)
			}
			if left := leftovers(t, dir, filepath.Dir(w.Path)); left != "" {
				t.Errorf("left behind:\n%s", left)
			}
			if got := do(t, dir, "for-each-ref", "refs/heads/main", "refs/heads/release", "refs/tags"); got != before {
				t.Errorf("the user's refs are\n%swere\n%s", got, before)
			}
			if removed, err := w.Remove(t.Context(), false); err != nil {
				t.Errorf("a second time: %+v, %v", removed, err)
			}
		})
	}
}

// case F15: whatever is in it that is nowhere else.
func TestRemoveKeepsWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		work func(t *testing.T, dir string, w *Worktree)
		file string // in the salvage
	}{
		"an untracked file": {func(t *testing.T, _ string, w *Worktree) { put(t, w.Path, "dir/b ü", "1\n") }, "dir/b ü"},
		"a changed file":    {func(t *testing.T, _ string, w *Worktree) { put(t, w.Path, "a", "1\n") }, "a"},
		"a staged file": {func(t *testing.T, _ string, w *Worktree) {
			put(t, w.Path, "b", "1\n")
			do(t, w.Path, "add", "b")
		}, "b"},
		"a commit": {func(t *testing.T, _ string, w *Worktree) { commitIn(t, w, "b", "1\n") }, "b"},
		"a commit that is partly picked": {func(t *testing.T, dir string, w *Worktree) {
			commitIn(t, w, "c", "1\n")
			commitIn(t, w, "b", "1\n")
			do(t, dir, "cherry-pick", w.Branch+"^")
		}, "b"},
		"a commit of a target that is gone": {func(t *testing.T, dir string, w *Worktree) {
			commitIn(t, w, "b", "1\n")
			do(t, dir, "branch", "-m", "trunk")
		}, "b"},
		"a commit without a branch": {func(t *testing.T, _ string, w *Worktree) {
			do(t, w.Path, "checkout", "-q", "--detach")
			put(t, w.Path, "b", "1\n")
			do(t, w.Path, "add", "b")
			do(t, w.Path, "commit", "-q", "-m", "loose")
		}, "b"},
		"an unmerged file": {func(t *testing.T, dir string, w *Worktree) {
			theirs(t, dir, "a", "theirs\n")
			commitIn(t, w, "a", "ours\n")
			tryGit(w.Path, "merge", "main")
		}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := working(t)
			tt.work(t, dir, w)
			index, status := readFile(t, w.GitDir, "index"), do(t, w.Path, "status", "--porcelain")
			var unmerged *UnmergedError
			for range 2 { // a second time the same
				if _, err := w.Remove(t.Context(), false); !errors.As(err, &unmerged) || unmerged.Ref != salvagePrefix+filepath.Base(w.Path) {
					t.Fatalf("error = %v", err)
				}
			}
			if do(t, w.Path, "status", "--porcelain") != status || name != "an unmerged file" && readFile(t, w.GitDir, "index") != index {
				t.Error("it did not stay as it was")
			}
			want := readFile(t, w.Path, tt.file)
			removed, err := w.Remove(t.Context(), true)
			if err != nil || removed.Salvage != unmerged.Ref || removed.Kept != "" {
				t.Fatalf("%+v, %v", removed, err)
			}
			if got := do(t, dir, "cat-file", "blob", removed.Salvage+":"+tt.file); got != want {
				t.Errorf("salvaged %q, want %q", got, want)
			}
			if got := leftovers(t, dir, filepath.Dir(w.Path)); got != removed.Salvage {
				t.Errorf("left behind:\n%s", got)
			}
		})
	}
}

// case F15: links lead out of it, to a sibling and to the user's files.
func TestRemoveFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, w := working(t)
	sibling := filepath.Dir(put(t, filepath.Dir(w.Path), "sibling/precious", "1\n"))
	put(t, dir, ".git/info/exclude", "link*\nnode_modules\n")
	for name, to := range map[string]string{"link": sibling, "link2": filepath.Join(dir, "a"), "node_modules": dir} {
		if err := os.Symlink(to, filepath.Join(w.Path, name)); err != nil {
			t.Skip(err)
		}
	}
	put(t, w.Path, "link3/read-only/x", "")
	if err := os.Chmod(filepath.Join(w.Path, "link3", "read-only"), 0o500); err != nil {
		t.Fatal(err)
	}
	if removed, err := w.Remove(t.Context(), false); err != nil || exists(w.Path) {
		t.Errorf("%+v, %v", removed, err)
	}
	for _, name := range []string{filepath.Join(sibling, "precious"), filepath.Join(dir, "a")} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
	// The directory itself is a link by now.
	w = add(t, dir, newRoot(t), "y")
	if err := os.RemoveAll(w.Path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, w.Path); err != nil {
		t.Fatal(err)
	}
	if removed, err := w.Remove(t.Context(), true); !errors.Is(err, ErrNotOurs) || !exists(filepath.Join(dir, "a")) {
		t.Errorf("%+v, %v", removed, err)
	}
}

// case F15: somebody works in it.
func TestRemoveWaitsForWhoeverWorksThere(t *testing.T) {
	t.Parallel()
	_, w := working(t)
	put(t, w.Path, "sub/x", "")
	cat := exec.Command("cat")
	cat.Dir = filepath.Join(w.Path, "sub")
	in, err := cat.StdinPipe()
	if err != nil || cat.Start() != nil {
		t.Fatal(err)
	}
	defer cat.Wait()
	defer in.Close()
	if runtime.GOOS == "linux" {
		if _, err := w.Remove(t.Context(), true); !errors.Is(err, ErrInUse) || !exists(w.Path) {
			t.Errorf("with a process inside: %v", err)
		}
	}
	id, err := proc.Identify(cat.Process.Pid)
	if err != nil || w.SetOwner(id, "session") != nil {
		t.Fatal(err)
	}
	loaded, err := LoadWorktree(w.Path)
	if err != nil || loaded.Owner != id || loaded.Session != "session" {
		t.Fatalf("%+v, %v", loaded, err)
	}
	if _, err := loaded.Remove(t.Context(), true); !errors.Is(err, ErrInUse) || !exists(w.Path) {
		t.Errorf("with its owner alive: %v", err)
	}
	io.WriteString(in, "x")
	in.Close()
	cat.Wait()
	if _, err := loaded.Remove(t.Context(), true); err != nil || exists(w.Path) {
		t.Errorf("after it ended: %v", err)
	}
}

func TestRemoveWhenThingsAreGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		gone func(t *testing.T, dir string, w *Worktree)
		says string // of the error
		left string // beside it
	}{
		"its files":                  {func(_ *testing.T, _ string, w *Worktree) { os.RemoveAll(w.Path) }, "", "salvage"},
		"its files and registration": {func(t *testing.T, dir string, w *Worktree) { do(t, dir, "worktree", "remove", "-f", w.Path) }, "", "salvage"},
		"all but the record": {func(t *testing.T, dir string, w *Worktree) {
			do(t, dir, "worktree", "remove", "-f", w.Path)
			do(t, dir, "branch", "-D", w.Branch)
		}, "", ""},
		"the repository":         {func(_ *testing.T, dir string, _ *Worktree) { os.RemoveAll(dir) }, "is gone", "repository"},
		"everything":             {func(_ *testing.T, dir string, w *Worktree) { os.RemoveAll(dir); os.RemoveAll(w.Path) }, "", "repository"},
		"its registration":       {func(_ *testing.T, _ string, w *Worktree) { os.RemoveAll(w.GitDir) }, ErrNotOurs.Error(), "all"},
		"somebody has locked it": {func(t *testing.T, dir string, w *Worktree) { do(t, dir, "worktree", "lock", w.Path) }, "has locked", "all"},
		"the branch is looked at by now": {func(t *testing.T, dir string, w *Worktree) {
			os.RemoveAll(w.Path)
			do(t, dir, "worktree", "prune")
			do(t, dir, "checkout", "-q", w.Branch)
		}, "", "branch"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, w := worked(t, "new", "1\n")
			tip := headOf(t, w.Path)
			tt.gone(t, dir, w)
			removed, err := w.Remove(t.Context(), true)
			if (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
				t.Fatalf("%+v, error %v, want one about %q", removed, err, tt.says)
			}
			if tt.left != "repository" && name != "all but the record" {
				// Whatever became of it, some ref has the work.
				if got := do(t, dir, "for-each-ref", "--contains", tip); got == "" {
					t.Error("the work is gone")
				}
			}
			list, err := Orphans(t.Context(), filepath.Dir(w.Path))
			if err != nil || (len(list) > 0) != (tt.says != "") {
				t.Errorf("orphans %+v, %v", list, err)
			}
		})
	}
}

func TestOrphans(t *testing.T) {
	t.Parallel()
	dir, root := repo(t), newRoot(t)
	if list, err := Orphans(t.Context(), root); err != nil || len(list) > 0 {
		t.Errorf("without a root: %+v, %v", list, err)
	}
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := add(t, dir, root, "alive").SetOwner(self, ""); err != nil {
		t.Fatal(err)
	}
	ended := self
	ended.Start++ // its process id is another's by now
	if err := add(t, dir, root, "ended").SetOwner(ended, ""); err != nil {
		t.Fatal(err)
	}
	add(t, dir, root, "unused")
	os.RemoveAll(add(t, dir, root, "deleted").Path)
	other := repo(t)
	lost := add(t, other, root, "lost")
	os.RemoveAll(other)
	foul := add(t, dir, root, "foul")
	os.RemoveAll(filepath.Join(foul.Path, ".git"))
	put(t, root, "stranger/file", "")
	list, err := Orphans(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range list {
		name := strings.TrimPrefix(filepath.Base(o.Path), filepath.Base(dir)+"-")
		name, _, _ = strings.Cut(name, "-")
		if o.Path == lost.Path {
			name = "lost"
		}
		got[name] = o.Says
		if o.Junk != (name == "deleted") || (o.Worktree == nil) != (name == "stranger") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	for name, says := range map[string]string{
		"ended": "has ended", "unused": "no agent", "deleted": "deleted its files", "lost": "repository " + filepath.Join(other, ".git") + " is gone", "foul": ".git", "stranger": "not a worktree of ours",
	} {
		if !strings.Contains(got[name], says) {
			t.Errorf("%s: says %q, want %q", name, got[name], says)
		}
	}
	if len(got) != 6 {
		t.Errorf("%d are named: %q", len(got), got)
	}
	// What was deleted by hand goes; what is a stranger's stays.
	for _, o := range list {
		if o.Junk {
			if _, err := o.Worktree.Remove(t.Context(), false); err != nil {
				t.Errorf("%s: %v", o.Path, err)
			}
		}
	}
	if left := leftovers(t, dir, root); strings.Contains(left, "deleted") || !strings.Contains(left, "stranger") {
		t.Errorf("left:\n%s", left)
	}
}
