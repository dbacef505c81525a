package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
)

// Change is what one run did to one file, or what check finds.
type Change struct {
	Path string
	What string // added, updated, removed, kept; missing, changed, mode, orphaned
}

// Write brings the files below root in line with t and returns what it
// changed, sorted by path. New content is first written beside the old, all
// of it, and then put in place file by file: an error before that leaves
// everything as it was. Files that an earlier run wrote and t no longer has
// are removed, unless somebody has edited them; other files are never
// touched. Root keeps symbolic links from leading outside.
func Write(root *os.Root, t Tree) ([]Change, error) {
	inv, err := readInventory(root.FS())
	if err != nil {
		return nil, err
	}
	w := &writer{root: root}
	defer w.discard()
	for _, p := range t.Paths() {
		if err := w.stage(p, t[p]); err != nil {
			return nil, err
		}
	}
	if err := w.commit(); err != nil {
		return nil, err
	}
	for p, sum := range inv.Files {
		if _, ok := t[p]; ok {
			continue
		}
		data, err := root.ReadFile(p)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil || hash(data) != sum:
			w.done = append(w.done, Change{p, "kept"})
		case root.Remove(p) == nil:
			w.done = append(w.done, Change{p, "removed"})
			w.prune(path.Dir(p))
		}
	}
	slices.SortFunc(w.done, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return w.done, nil
}

type writer struct {
	root   *os.Root
	staged []staged
	done   []Change
}

type staged struct{ temp, path, what string }

// stage writes f beside p if it differs from what is there.
func (w *writer) stage(p string, f File) error {
	what := "updated"
	switch info, err := w.root.Lstat(p); {
	case errors.Is(err, fs.ErrNotExist):
		what = "added"
	case err != nil:
		return err
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s is not a file: move it away and generate again", p)
	case info.Mode().IsRegular() && sameMode(info.Mode(), f.Mode):
		if old, err := w.root.ReadFile(p); err == nil && bytes.Equal(old, f.Data) {
			return nil
		}
	}
	if err := w.root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return err
	}
	temp := path.Join(path.Dir(p), "."+path.Base(p)+".new")
	w.staged = append(w.staged, staged{temp, p, what})
	_ = w.root.Remove(temp) // left by a run that was killed
	out, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return err
	}
	// No fsync: whatever a power cut takes away is generated again.
	_, err = out.Write(f.Data)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return w.root.Chmod(temp, f.Mode) // whatever the umask says
}

func (w *writer) commit() error {
	for len(w.staged) > 0 {
		s := w.staged[0]
		if err := w.root.Rename(s.temp, s.path); err != nil {
			return err
		}
		w.done = append(w.done, Change{s.path, s.what})
		w.staged = w.staged[1:]
	}
	return nil
}

// discard removes what was staged and not put in place.
func (w *writer) discard() {
	for _, s := range w.staged {
		_ = w.root.Remove(s.temp)
		w.prune(path.Dir(s.path))
	}
}

// prune removes dir and the directories above it as long as they are empty.
func (w *writer) prune(dir string) {
	for dir != "." && w.root.Remove(dir) == nil {
		dir = path.Dir(dir)
	}
}

// sameMode compares the executable bit, the only one git keeps. Windows has
// none.
func sameMode(a, b fs.FileMode) bool {
	return runtime.GOOS == "windows" || (a&0o111 != 0) == (b&0o111 != 0)
}

// Compare returns how the files below fsys differ from t, sorted by path:
// missing, changed, mode (the executable bit), and orphaned, which is a file
// in a generated place that nothing generates. Bundled runtimes are not
// looked at.
func Compare(fsys fs.FS, t Tree) ([]Change, error) {
	inv, err := readInventory(fsys)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, p := range t.Paths() {
		want := t[p]
		data, err := fs.ReadFile(fsys, p)
		if errors.Is(err, fs.ErrNotExist) {
			out = append(out, Change{p, "missing"})
			continue
		} else if err != nil {
			return nil, err
		}
		info, err := fs.Stat(fsys, p)
		if err != nil {
			return nil, err
		}
		switch {
		case !bytes.Equal(data, want.Data):
			out = append(out, Change{p, "changed"})
		case !sameMode(info.Mode(), want.Mode):
			out = append(out, Change{p, "mode"})
		}
	}
	orphan := func(p string) {
		if _, ok := t[p]; !ok && !bundled(p) {
			out = append(out, Change{p, "orphaned"})
		}
	}
	err = fs.WalkDir(fsys, "marketplace", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		if !d.IsDir() {
			orphan(p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for p := range inv.Files {
		if _, err := fs.Stat(fsys, p); err == nil {
			orphan(p)
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return slices.Compact(out), nil
}
