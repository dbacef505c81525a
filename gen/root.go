package gen

import (
	"io/fs"
	"os"
	"path"
	"strings"
)

// rootFS is the files below a root, as root.FS() is them. That opens every directory
// on the way to a file again for each; this keeps those open that lead to the last
// file, since the next is mostly beside it or below. Close it before one of them
// may be removed.
type rootFS struct {
	root *os.Root
	open []openDir // each below the one before it
}

// openDir is a directory below the root, its path with a slash at the end.
type openDir struct {
	path string
	root *os.Root
}

func (r *rootFS) Open(name string) (fs.File, error)          { return near(r, name, fs.FS.Open) }
func (r *rootFS) ReadDir(name string) ([]fs.DirEntry, error) { return near(r, name, fs.ReadDir) }
func (r *rootFS) ReadFile(name string) ([]byte, error)       { return near(r, name, fs.ReadFile) }
func (r *rootFS) Stat(name string) (fs.FileInfo, error)      { return near(r, name, fs.Stat) }
func (r *rootFS) Lstat(name string) (fs.FileInfo, error)     { return near(r, name, fs.Lstat) }
func (r *rootFS) ReadLink(name string) (string, error)       { return near(r, name, fs.ReadLink) }

// Close closes the directories, and not the root.
func (r *rootFS) Close() { r.leave(0) }

// leave closes all directories but the first n.
func (r *rootFS) leave(n int) {
	for _, dir := range r.open[n:] {
		dir.root.Close()
	}
	r.open = r.open[:n]
}

// near does what is to be done with name in the directory it lies in. What does not
// work there, such as a link that leads out of it, is left to the root, which follows
// it if it may and words the error if not.
func near[T any](r *rootFS, name string, do func(fs.FS, string) (T, error)) (T, error) {
	if dir := r.enter(name); dir != nil {
		if v, err := do(dir.FS(), path.Base(name)); err == nil {
			return v, nil
		}
	}
	return do(r.root.FS(), name)
}

// enter opens the directory that name lies in; nil where there is none, or a link on
// the way.
func (r *rootFS) enter(name string) *os.Root {
	if !fs.ValidPath(name) {
		return nil
	}
	for n := len(r.open); n > 0 && !strings.HasPrefix(name, r.open[n-1].path); n-- {
		r.leave(n - 1)
	}
	at := openDir{root: r.root}
	if n := len(r.open); n > 0 {
		at = r.open[n-1]
	}
	for {
		next, _, below := strings.Cut(name[len(at.path):], "/")
		if !below {
			return at.root
		}
		info, err := at.root.Lstat(next)
		if err != nil || !info.IsDir() {
			return nil // opening a pipe would wait
		}
		dir, err := at.root.OpenRoot(next)
		if err != nil {
			return nil
		}
		at = openDir{at.path + next + "/", dir}
		r.open = append(r.open, at)
	}
}
