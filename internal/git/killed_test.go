package git

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/state"
)

// runChild is a process of child: it does one thing and exits.
func runChild(op string) int {
	os.Setenv("CHILD_PID", fmt.Sprint(os.Getpid())) // for what git starts
	at, n := os.Getenv("CHILD_PATH"), 0
	fmt.Sscan(os.Getenv("CHILD_KILL"), &n)
	if n > 0 {
		die := func(what string) {
			if n--; n == 0 {
				fmt.Println(what)
				self, _ := os.FindProcess(os.Getpid())
				self.Kill()
				select {}
			}
		}
		Step, state.Step = die, die
	}
	err := childDoes(context.Background(), op, at)
	switch {
	case errors.Is(err, ErrNotNow):
		fmt.Println("not now:", err)
		return 3
	case err != nil:
		fmt.Println(err)
		return 1
	}
	return 0
}

func childDoes(ctx context.Context, op, at string) error {
	if op == "add" {
		dir, root, _ := strings.Cut(at, "\n")
		r, err := Open(ctx, dir)
		if err == nil {
			_, err = r.AddWorktree(ctx, root, "x", "1")
		}
		return err
	}
	w, err := LoadWorktree(filepath.Clean(at))
	if err != nil {
		return err
	}
	switch op {
	case "commit":
		_, err = w.CommitAll(ctx, "m")
	case "integrate":
		_, err = w.Integrate(ctx, "m")
	case "remove":
		_, err = w.Remove(ctx, false)
	case "salvage":
		_, err = w.Remove(ctx, true)
	}
	return err
}

// every is how many changes are left out between two that a run is killed before.
var every = flag.Int("killed-every", 11, "kill a run before every so many changes (make thorough: 1)")

// killed runs op in processes that are killed before their first change, before
// their second, and so on, each in a world of its own, and has check look at each.
// A last one comes to its end.
func killed(t *testing.T, op string, least int, world func(t *testing.T) (dir, path string), check func(t *testing.T, dir, path string)) {
	for n := 1; ; n += *every {
		dir, path := world(t)
		out, err := child(t, op, path, n).CombinedOutput()
		before := strings.TrimSpace(string(out))
		if err == nil {
			before = "nothing"
		}
		t.Run(fmt.Sprintf("%s killed before %s", op, before), func(t *testing.T) {
			t.Parallel()
			check(t, dir, path)
		})
		if err == nil {
			if n <= least {
				t.Errorf("%s makes only %d changes", op, n-1)
			}
			return
		}
		if n > 50 || strings.Contains(before, "\n") {
			t.Fatalf("%s does not come to an end: %v\n%s", op, err, out)
		}
	}
}

// onlyNamed fails unless Orphans names all that there is below root, and returns
// what it names.
func onlyNamed(t *testing.T, dir, root string) []Orphan {
	t.Helper()
	list, err := Orphans(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	if left := leftovers(t, dir, root); left != "" && len(list) == 0 {
		t.Errorf("nobody names\n%s", left)
	}
	return list
}

// Whatever a run is killed before (SIGKILL, so nothing tidies up): what is left is
// named, goes away, and is in nobody's way.
func TestAddWorktreeKilled(t *testing.T) {
	t.Parallel()
	killed(t, "add", 4, func(t *testing.T) (string, string) {
		dir := repo(t)
		return dir, dir + "\n" + newRoot(t)
	}, func(t *testing.T, dir, path string) {
		_, root, _ := strings.Cut(path, "\n")
		tidy(t, dir, root)
		if w := add(t, dir, root, "x"); strings.HasSuffix(w.Path, "-2") {
			t.Errorf("its name is still taken: %q", w.Path)
		}
	})
}

// tidy does what a tick does.
func tidy(t *testing.T, dir, root string) {
	t.Helper()
	for _, o := range onlyNamed(t, dir, root) {
		if o.Worktree == nil {
			t.Fatalf("%s: %s", o.Path, o.Says)
		}
		if _, err := o.Worktree.Remove(t.Context(), false); err != nil {
			t.Errorf("%s: %v", o.Path, err)
		}
	}
	if left := leftovers(t, dir, root); left != "" {
		t.Errorf("left behind:\n%s", left)
	}
}

// The kill comes while git writes the files: git and we are gone, half of them are
// there, and git's own lock on the worktree.
func TestAddWorktreeKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	for name, kill := range map[string]string{"git": "kill -9 0", "both": "kill -9 $CHILD_PID; kill -9 0"} {
		dir, root := repo(t), newRoot(t)
		put(t, dir, "b/c", "1\n")
		put(t, dir, ".gitattributes", "b/c filter=k\n")
		do(t, dir, "add", ".")
		do(t, dir, "commit", "-q", "-m", "second")
		do(t, dir, "config", "filter.k.smudge", kill)
		do(t, dir, "config", "filter.k.required", "true")
		out, err := child(t, "add", dir+"\n"+root, 0).CombinedOutput()
		if err == nil {
			t.Fatalf("%s: it was not killed: %s", name, out)
		}
		if name == "both" {
			list := onlyNamed(t, dir, root)
			if len(list) != 1 || !list[0].Junk || !exists(filepath.Join(list[0].Path, "a")) {
				t.Fatalf("%s: %+v\n%s", name, list, out)
			}
			// Somebody put a file there: it is not deleted.
			put(t, list[0].Path, "mine", "1\n")
			if _, err := list[0].Worktree.Remove(t.Context(), false); err == nil || !strings.Contains(err.Error(), `"mine"`) {
				t.Errorf("%s: %v", name, err)
			}
			os.Remove(filepath.Join(list[0].Path, "mine"))
		}
		tidy(t, dir, root)
		if got := do(t, dir, "worktree", "list"); strings.Count(got, "\n") != 1 {
			t.Errorf("%s: git has\n%s", name, got)
		}
	}
}

func TestCommitAllKilled(t *testing.T) {
	t.Parallel()
	killed(t, "commit", 2, func(t *testing.T) (string, string) {
		dir, w := working(t)
		put(t, w.Path, "new", "1\n")
		return dir, w.Path
	}, func(t *testing.T, dir, path string) {
		w, err := LoadWorktree(path)
		if err != nil {
			t.Fatal(err)
		}
		work, err := w.CommitAll(t.Context(), "m")
		if err != nil || work.Commits != 1 || do(t, dir, "cat-file", "blob", w.Branch+":new") != "1\n" {
			t.Errorf("%+v, %v", work, err)
		}
	})
}

func TestIntegrateKilled(t *testing.T) {
	t.Parallel()
	killed(t, "integrate", 8, func(t *testing.T) (string, string) {
		dir, w := worked(t, "new", "1\n")
		put(t, dir, "a", "dirty\n")
		return dir, w.Path
	}, func(t *testing.T, dir, path string) {
		w, err := LoadWorktree(path)
		if err != nil {
			t.Fatal(err)
		}
		onlyNamed(t, dir, filepath.Dir(path))
		if merged, err := w.Integrate(t.Context(), "m"); err != nil {
			t.Errorf("%+v, %v", merged, err)
		}
		if got := do(t, dir, "log", "--merges", "--format=%s", "main"); got != "m\n" {
			t.Errorf("merges: %q", got)
		}
		if got := do(t, dir, "status", "--porcelain"); got != " M a\n" || readFile(t, dir, "new") != "1\n" {
			t.Errorf("status is %q", got)
		}
		if _, err := w.Remove(t.Context(), false); err != nil {
			t.Error(err)
		}
		tidy(t, dir, filepath.Dir(path))
	})
}

func TestRemoveKilled(t *testing.T) {
	t.Parallel()
	killed(t, "remove", 5, func(t *testing.T) (string, string) {
		dir, w := worked(t, "new", "1\n")
		do(t, dir, "merge", "-q", w.Branch)
		return dir, w.Path
	}, func(t *testing.T, dir, path string) {
		tidy(t, dir, filepath.Dir(path))
	})
	killed(t, "salvage", 6, func(t *testing.T) (string, string) {
		dir, w := worked(t, "new", "1\n")
		put(t, w.Path, "loose", "1\n")
		return dir, w.Path
	}, func(t *testing.T, dir, path string) {
		if w, err := LoadWorktree(path); err == nil {
			if _, err := w.Remove(t.Context(), true); err != nil {
				t.Error(err)
			}
		}
		ref := salvagePrefix + filepath.Base(path)
		if got := leftovers(t, dir, filepath.Dir(path)); got != ref {
			t.Errorf("left behind:\n%s", got)
		}
		for _, name := range []string{"new", "loose"} {
			if got := do(t, dir, "cat-file", "blob", ref+":"+name); got != "1\n" {
				t.Errorf("%s was salvaged as %q", name, got)
			}
		}
	})
}
