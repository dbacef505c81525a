package git

import (
	"path/filepath"
	"reflect"
	"testing"
)

// The rules of each directory hold, before there is a repository, in one, and for a
// directory further down in one; what was added in spite of them is kept.
func TestIgnoredFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	put(t, dir, "sub/a/.gitignore", "dist/\n*.log\n!keep.log\n")
	for _, name := range []string{"sub/a/dist/x", "sub/a/b/y ü.log", "sub/a/keep.log", "sub/z.log", "sub/.gitignore"} {
		put(t, dir, name, "x\n")
	}
	ask := func(when string, want ...string) {
		t.Helper()
		got, err := IgnoredFiles(t.Context(), sub)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v; want %q", when, got, err, want)
		}
	}
	ask("without a repository", "a/b/y ü.log", "a/dist/x")
	if got, err := IgnoredFiles(t.Context(), sub, "a/dist", "nowhere"); err != nil || !reflect.DeepEqual(got, []string{"a/dist/x"}) {
		t.Errorf("of one directory: %q, %v", got, err)
	}
	do(t, dir, "init", "-q")
	ask("in a repository", "a/b/y ü.log", "a/dist/x")
	put(t, dir, ".gitignore", "/sub/z.log\n")
	ask("with a rule further up", "a/b/y ü.log", "a/dist/x", "z.log")
	do(t, dir, "add", "-f", "sub/a/dist")
	ask("after git add -f", "a/b/y ü.log", "z.log")
}
