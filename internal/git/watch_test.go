package git

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func watch(t *testing.T, dir string) Snapshot {
	t.Helper()
	s, err := open(t, dir).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever an agent, or the user, does to the main checkout is one difference each,
// and what is none is none.
func TestWatch(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		act  func(t *testing.T, dir string)
		want string // Kind and Name of the differences
		says string
	}{
		"nothing":              {func(*testing.T, string) {}, "", ""},
		"a read":               {func(t *testing.T, dir string) { do(t, dir, "status") }, "", ""},
		"a worktree of ours":   {func(t *testing.T, dir string) { add(t, dir, newRoot(t), "x") }, "", ""},
		"a salvage":            {func(t *testing.T, dir string) { do(t, dir, "update-ref", salvagePrefix+"x", "HEAD") }, "", ""},
		"the same content":     {func(t *testing.T, dir string) { put(t, dir, "dirty", "1\n"); put(t, dir, "ignored.o", "1\n") }, "", ""},
		"a changed file":       {func(t *testing.T, dir string) { put(t, dir, "a", "x\n") }, "file a", `"a" is new`},
		"a dirty file, again":  {func(t *testing.T, dir string) { put(t, dir, "dirty", "2\n") }, "file dirty", `"dirty" was changed`},
		"a changed queue":      {func(t *testing.T, dir string) { put(t, dir, ".claude/LATER.md", "- [x] mine\n") }, "file .claude/LATER.md", "was changed"},
		"an ignored file":      {func(t *testing.T, dir string) { put(t, dir, "ignored.o", "2\n") }, "file ignored.o", "was changed"},
		"a new file":           {func(t *testing.T, dir string) { put(t, dir, "sub/new ü", "2\n") }, "file sub/new ü", "is new"},
		"a deleted file":       {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, "dirty")) }, "file dirty", "gone"},
		"a deleted clean file": {func(_ *testing.T, dir string) { os.Remove(filepath.Join(dir, "a")) }, "file a", ""},
		"a taken back file":    {func(t *testing.T, dir string) { do(t, dir, "checkout", "-q", "tracked") }, "file tracked", "as in HEAD again"},
		"what is staged":       {func(t *testing.T, dir string) { do(t, dir, "add", "tracked") }, "file tracked", "was changed"},
		"a mode": {func(_ *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, "dirty"), 0o600); err != nil {
				panic(err)
			}
		}, "file dirty", "was changed"},
		"a link": {func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "dirty"))
			if err := os.Symlink("/dev/zero", filepath.Join(dir, "dirty")); err != nil {
				t.Skip(err)
			}
		}, "file dirty", "was changed"},
		"a commit":       {func(t *testing.T, dir string) { do(t, dir, "commit", "-q", "--allow-empty", "-m", "x") }, "ref refs/heads/main", "refs/heads/main moved from "},
		"a branch":       {func(t *testing.T, dir string) { do(t, dir, "branch", "new") }, "ref refs/heads/new", "refs/heads/new is new ("},
		"a deleted tag":  {func(t *testing.T, dir string) { do(t, dir, "tag", "-d", "v1") }, "ref refs/tags/v1", "refs/tags/v1 is gone ("},
		"another branch": {func(t *testing.T, dir string) { do(t, dir, "checkout", "-q", "other") }, "head HEAD", `"other" is checked out instead of "main"`},
		"no branch":      {func(t *testing.T, dir string) { do(t, dir, "checkout", "-q", "--detach") }, "head HEAD", `is checked out instead of "main"`},
		"a stash":        {func(t *testing.T, dir string) { do(t, dir, "stash", "-q") }, "ref refs/stash|file tracked", ""},
		"configuration":  {func(t *testing.T, dir string) { do(t, dir, "config", "core.hooksPath", "/nowhere") }, "setup .git/config", `config" (core.hookspath), which decides what git does and runs, was changed`},
		"a remote":       {func(t *testing.T, dir string) { do(t, dir, "remote", "add", "mine", "https://example.test/x") }, "setup .git/config", `(remote.mine.fetch, remote.mine.url)`},
		// As a push with -u notes it, or a new branch that follows another.
		"where a branch is pushed to": {func(t *testing.T, dir string) {
			do(t, dir, "config", "branch.main.remote", "origin")
			do(t, dir, "config", "branch.main.merge", "refs/heads/main")
			do(t, dir, "branch", "--set-upstream-to", "main", "other")
		}, "", ""},
		"a branch that is pushed elsewhere": {func(t *testing.T, dir string) {
			do(t, dir, "config", "branch.main.remote", "https://example.test/x")
		}, "setup .git/config", `(branch.main.remote)`},
		"a configuration others may write": {func(_ *testing.T, dir string) {
			if err := os.Chmod(filepath.Join(dir, ".git", "config"), 0o666); err != nil {
				panic(err)
			}
		}, "setup .git/config", ""},
		"a configuration git cannot read": {func(t *testing.T, dir string) { put(t, dir, ".git/config.worktree", "[x\n") }, "setup .git/config.worktree", ""},
		"a hook":                          {func(t *testing.T, dir string) { put(t, dir, ".git/hooks/pre-commit", "#!/bin/sh\n") }, "setup .git/hooks/pre-commit", "is new"},
		"attributes":                      {func(t *testing.T, dir string) { put(t, dir, ".git/info/attributes", "* filter=x\n") }, "setup .git/info/attributes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := repo(t)
			put(t, dir, "tracked", "1\n")
			do(t, dir, "add", ".")
			do(t, dir, "commit", "-q", "-m", "second")
			do(t, dir, "tag", "v1")
			do(t, dir, "branch", "other")
			do(t, dir, "remote", "add", "origin", "https://example.test/ours")
			put(t, dir, "tracked", "2\n")
			put(t, dir, "dirty", "1\n")
			put(t, dir, "ignored.o", "1\n")
			put(t, dir, ".claude/LATER.md", "- [ ] mine\n")
			put(t, dir, ".git/info/exclude", "*.o\n.claude/LATER.md\nbuild/\n")
			put(t, dir, "build/x", "1\n")
			before := watch(t, dir)
			tt.act(t, dir)
			kept, err := ParseSnapshot(before.Bytes())
			if err != nil || !bytes.Equal(kept.Bytes(), before.Bytes()) {
				t.Fatalf("kept as\n%s\n%v", before.Bytes(), err)
			}
			var got []string
			sentences := ""
			for _, d := range kept.Compare(watch(t, dir)) {
				got = append(got, string(d.Kind)+" "+strings.TrimPrefix(strings.TrimPrefix(d.Name, open(t, dir).Top), "/"))
				sentences += d.String() + "\n"
			}
			if strings.Join(got, "|") != tt.want || !strings.Contains(sentences, tt.says) {
				t.Errorf("differences %q:\n%swant %q, %q", got, sentences, tt.want, tt.says)
			}
		})
	}
}

// What is too large, or too much, to be read is still told apart.
func TestWatchIsBounded(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	big, err := os.Create(filepath.Join(dir, "big"))
	if err != nil || big.Truncate(watchBytes+1) != nil {
		t.Fatal(err)
	}
	defer big.Close()
	for i := range watchFiles {
		put(t, dir, fmt.Sprintf("many/%04d", i), "x")
	}
	before := watch(t, dir)
	if diff := before.Compare(watch(t, dir)); len(diff) > 0 {
		t.Errorf("differences %+v", diff)
	}
	if _, err := big.WriteAt([]byte("x"), 5); err != nil {
		t.Fatal(err)
	}
	put(t, dir, fmt.Sprintf("many/%04d", watchFiles-1), "y")
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "big"), then, then); err != nil {
		t.Fatal(err)
	}
	if diff := before.Compare(watch(t, dir)); len(diff) != 2 || diff[0].Name != "big" {
		t.Errorf("differences %+v", diff)
	}
	before.Cut = true
	if diff := before.Compare(before); len(diff) != 1 || diff[0].Kind != KindCut || diff[0].String() == "" {
		t.Errorf("differences %+v", diff)
	}
}

func FuzzParseSnapshot(f *testing.F) {
	for _, s := range []string{
		"", quoted("end"), quoted("head", "main", "1") + quoted("ref", "refs/heads/a", "1") + quoted("file", "a\nb", "? x") + quoted("setup", "/x", "y") + quoted("cut") + quoted("end"),
		quoted("head", "main"), quoted("ref"), `"head" "a`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSnapshot([]byte(text))
		if err != nil {
			return
		}
		again, err := ParseSnapshot(s.Bytes())
		if err != nil || len(s.Compare(again)) > 0 && !s.Cut {
			t.Errorf("%q: %+v, %v", text, again, err)
		}
	})
}
