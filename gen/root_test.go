package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// However one goes from file to file, and whatever lies on the way, the answers are
// those of the root.
func TestRootFSIsRootFS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"top", "a/one", "a/b/two", "a/b/c/three", "ab/four"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"a/near": "one", "a/b/up": "../../top", "a/b/side": "../../ab", "a/b/out": t.TempDir(), "a/dangling": "nowhere",
	} {
		if err := os.Symlink(filepath.FromSlash(target), filepath.Join(dir, filepath.FromSlash(link))); err != nil {
			t.Fatal(err)
		}
	}
	if err := mkfifo(filepath.Join(dir, "a", "pipe")); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	near := &rootFS{root: root}
	defer near.Close()
	names := []string{
		".", "top", "a", "a/one", "a/b", "a/b/c/three", "ab/four", "a/b/two", "a/near", "a/b/up", "a/b/side/four", "a/b/out",
		"a/b/out/x", "a/dangling", "a/dangling/x", "a/pipe/x", "top/x", "a/b/none/x", "none", "", "../x", "/top", "a//one", "a/",
	}
	for _, before := range names {
		for _, name := range names {
			_, _ = near.Stat(before)
			if got, want := seen(near, name), seen(root.FS(), name); got != want {
				t.Errorf("%q after %q: %s, want %s", name, before, got, want)
			}
		}
	}
}

// seen is all that fsys says of name.
func seen(fsys fs.FS, name string) (s string) {
	if info, err := fs.Lstat(fsys, name); err == nil {
		s += info.Mode().String()
	} else {
		s += err.Error()
	}
	info, err := fs.Stat(fsys, name)
	switch {
	case err != nil:
		s += fmt.Sprint("; ", err)
	case info.IsDir():
		entries, err := fs.ReadDir(fsys, name)
		s += fmt.Sprint("; ", entries, err)
	default:
		data, err := fs.ReadFile(fsys, name)
		s += fmt.Sprintf("; %s, %v", data, err)
	}
	target, err := fs.ReadLink(fsys, name)
	return s + fmt.Sprint("; ", target, err)
}
