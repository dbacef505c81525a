package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// tryGit is do for a command that may fail.
func tryGit(dir string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = environ(os.Environ(), true, false)
	return cmd.Run()
}

func TestStatus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	do(t, dir, "init", "-q", "-b", "main")
	put(t, dir, "a b", "1\n")
	do(t, dir, "add", ".")
	s, err := open(t, dir).Status(t.Context())
	if err != nil || !s.Unborn() || s.Branch != "main" || !reflect.DeepEqual(s.Files, []File{{Path: "a b", Staged: 'A', Worktree: '.'}}) {
		t.Errorf("unborn: %+v, %v", s, err)
	}
	if list, err := open(t, dir).Log(t.Context(), 3); err != nil || list != nil {
		t.Errorf("unborn log: %v, %v", list, err)
	}
	if list, err := open(t, dir).Changes(t.Context(), true); err != nil || !reflect.DeepEqual(list, []Change{{Path: "a b", Added: 1}}) {
		t.Errorf("unborn changes: %v, %v", list, err)
	}

	do(t, dir, "commit", "-q", "-m", "one: ü")
	clone := filepath.Join(t.TempDir(), "clone")
	do(t, dir, "clone", "-q", dir, clone)
	put(t, clone, "a b", "2\n")
	do(t, clone, "commit", "-q", "-am", "two")
	put(t, clone, "a b", "3\n4\n")
	put(t, clone, "dir/ny\næøå", "x")
	r := open(t, clone)
	s, err = r.Status(t.Context())
	if err != nil || s.Upstream != "origin/main" || s.Ahead != 1 || s.Behind != 0 || !s.Counted || len(s.Commit) != 40 {
		t.Errorf("clone: %+v, %v", s, err)
	}
	want := []File{{Path: "a b", Staged: '.', Worktree: 'M'}, {Path: "dir/", Staged: '?', Worktree: '?'}}
	if !reflect.DeepEqual(s.Files, want) {
		t.Errorf("files = %+v", s.Files)
	}
	if list, err := r.Changes(t.Context(), false); err != nil || !reflect.DeepEqual(list, []Change{{Path: "a b", Added: 2, Deleted: 1}}) {
		t.Errorf("changes: %v, %v", list, err)
	}
	list, err := r.Log(t.Context(), 5)
	if err != nil || len(list) != 2 || list[0].Subject != "two" || list[1].Subject != "one: ü" || list[0].ID == "" {
		t.Errorf("log: %+v, %v", list, err)
	}
	do(t, clone, "checkout", "-q", "--detach")
	if s, err := r.Status(t.Context()); err != nil || s.Branch != "" || s.Unborn() || s.Upstream != "" {
		t.Errorf("detached: %+v, %v", s, err)
	}
}

func TestParseStatusRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"1 M\x00", "1 MM N... 1\x00", "9 x\x00", "u UU N...\x00"} {
		if got, err := parseStatus(s); err == nil {
			t.Errorf("%q: %+v", s, got)
		}
	}
}

func FuzzParseStatus(f *testing.F) {
	for _, s := range []string{
		"# branch.oid (initial)\x00# branch.head main\x00",
		"# branch.oid 1234\x00# branch.head (detached)\x00# branch.upstream o/m\x00# branch.ab +1 -2\x00",
		"1 .M N... 100644 100644 100644 aaaa bbbb a b\x00? c d\x00! e\x00",
		"2 R. N... 100644 100644 100644 aaaa bbbb R100 new\x00old\x00",
		"u UU N... 100644 100644 100644 100644 aaaa bbbb cccc x\x00",
		"1 .M N... 100644", "# branch.ab x y\x00", "\x00\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := parseStatus(s)
		if err == nil && len(got.Files) > strings.Count(s, "\x00") {
			t.Errorf("%d files out of %d records", len(got.Files), strings.Count(s, "\x00"))
		}
		parseNumstat(s)
	})
}

// A file whose time is new and whose content is old tempts git to write the
// index; reads must not.
func TestReadsLeaveAStaleIndexAlone(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	put(t, dir, "b", "1\n")
	do(t, dir, "add", "b")
	do(t, dir, "commit", "-q", "-m", "second")
	put(t, dir, "b", "2\n3\n")
	then := time.Now().Add(-5 * time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "a"), then, then); err != nil {
		t.Fatal(err)
	}
	index := func() string {
		data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	before := index()
	r := open(t, dir)
	for name, read := range map[string]func() error{
		"Status":   func() error { _, err := r.Status(t.Context()); return err },
		"Log":      func() error { _, err := r.Log(t.Context(), 3); return err },
		"Ignored":  func() error { _, err := r.Ignored(t.Context(), "a"); return err },
		"Tracked":  func() error { _, err := Tracked(t.Context(), dir, "a"); return err },
		"Unstaged": func() error { _, err := r.Unstaged(t.Context(), "a"); return err },
		"Changes": func() error {
			list, err := r.Changes(t.Context(), false)
			if want := []Change{{Path: "b", Added: 2, Deleted: 1}}; !slices.Equal(list, want) {
				t.Errorf("Changes = %+v, want %+v", list, want)
			}
			return err
		},
	} {
		if err := read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if index() != before {
			t.Fatalf("%s wrote the index", name)
		}
	}
	put(t, dir, "ours", "x\n")
	if _, err := r.CommitOnly(t.Context(), headOf(t, dir), "ours", "ours"); err != nil || index() != before {
		t.Errorf("CommitOnly: %v, or it wrote the index", err)
	}
	// The trap is armed: plain git does write it.
	do(t, dir, "status")
	if index() == before {
		t.Error("git status had nothing to refresh")
	}
}
