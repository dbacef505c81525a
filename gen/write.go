package gen

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// Change is what one run did to one file, or what check finds.
type Change struct {
	Path string
	What string // added, updated, removed, kept; missing, changed, crlf, mode, orphaned; gone
}

// write brings the files below root in line with t and returns what it
// changed, sorted by path, also when it stops with an error half-way. New
// content is first written beside the old, all of it, and then put in place
// file by file: an error before that leaves everything as it was. Of the stale
// files, path → hash, which an earlier run wrote, those that t no longer has are
// removed, unless somebody has edited them; other files are never touched. Root
// keeps symbolic links from leading outside.
//
// The file called last comes last, so that a run that was killed is known to
// have been: the next one finishes what it began.
func write(files *rootFS, t tree, stale map[string]string, last string) ([]Change, error) {
	w := &writer{rootFS: files}
	defer w.discard()
	for _, p := range t.paths() {
		if p == last {
			continue
		}
		if err := w.stage(p, t[p]); err != nil {
			return nil, err
		}
	}
	for _, p := range slices.Sorted(maps.Keys(stale)) {
		if _, ok := t[p]; !ok {
			w.steps = append(w.steps, step{path: p, what: "removed", hash: stale[p]})
		}
	}
	if f, ok := t[last]; ok {
		if err := w.stage(last, f); err != nil {
			return nil, err
		}
	}
	err := w.commit()
	slices.SortFunc(w.done, byPath)
	return w.done, err
}

func byPath(a, b Change) int { return strings.Compare(a.Path, b.Path) }

type writer struct {
	*rootFS
	steps []step
	done  []Change
}

// step puts the file temp at path or, without temp, removes path.
type step struct{ temp, path, what, hash string }

// stage writes f beside p if it differs from what is there.
func (w *writer) stage(p string, f file) error {
	temp := path.Join(path.Dir(p), "."+path.Base(p)+".new")
	what := "updated"
	switch info, err := w.Lstat(p); {
	case errors.Is(err, fs.ErrNotExist):
		what = "added"
	case err != nil:
		return w.unwritable(p, err)
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return problem.Input(moveAway, "%q is %s", p, host.FileKind(info.Mode()))
	case info.Mode().IsRegular() && sameMode(info.Mode(), f.Mode):
		if old, err := w.ReadFile(p); err == nil && bytes.Equal(old, f.Data) {
			return nil
		}
	}
	if err := w.root.MkdirAll(path.Dir(p), 0o755); err != nil {
		return w.unwritable(p, err)
	}
	_ = w.root.Remove(temp) // left by a run that was killed
	w.steps = append(w.steps, step{temp: temp, path: p, what: what})
	out, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return w.unwritable(temp, err)
	}
	// No fsync: whatever a power cut takes away is generated again.
	_, err = out.Write(f.Data)
	if err := cmp.Or(err, out.Close()); err != nil {
		return w.unwritable(temp, err)
	}
	if err := w.root.Chmod(temp, f.Mode); err != nil { // whatever the umask says
		return w.unwritable(temp, err)
	}
	return nil
}

const moveAway = "move it away and run the command again"

// unwritable says why p could not be written and what to do about it.
func (w *writer) unwritable(p string, err error) error {
	if blocked := blockedBy(w, p); blocked != nil {
		return blocked
	}
	hint := "put that right and run the command again"
	switch {
	case errors.Is(err, fs.ErrExist):
		hint = moveAway
	case errors.Is(err, fs.ErrPermission):
		hint = "make its directory yours to write, or work on a copy of the project"
	}
	return problem.Input(hint, "%q cannot be written: %w", p, Cause(err))
}

// commit takes the steps.
func (w *writer) commit() error {
	w.Close()
	for ; len(w.steps) > 0; w.steps = w.steps[1:] {
		s := w.steps[0]
		var err error
		if s.temp != "" {
			err = w.root.Rename(s.temp, s.path)
		} else if _, gone := w.root.Lstat(s.path); gone != nil {
			s.what = "gone"
		} else if data, bad := readFile(w, "", s.path); bad != nil || hash(data) != s.hash {
			s.what = "kept"
		} else if err = w.root.Remove(s.path); err == nil {
			w.prune(path.Dir(s.path))
		}
		if err != nil {
			return w.unwritable(s.path, err)
		}
		w.done = append(w.done, Change{s.path, s.what})
	}
	return nil
}

// discard removes what was staged and not put in place.
func (w *writer) discard() {
	w.Close()
	for _, s := range w.steps {
		if s.temp != "" {
			_ = w.root.Remove(s.temp)
			w.prune(path.Dir(s.path))
		}
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

// compare returns how the files below fsys differ from t, sorted by path:
// missing, changed, crlf (in nothing but the line ends), mode (the executable
// bit), and orphaned, which is a file in a generated place that nothing
// generates. Bundled runtimes are not looked at.
func compare(fsys fs.FS, t tree) ([]Change, error) {
	inv, err := readInventory(fsys)
	if err != nil {
		return nil, err
	}
	var out []Change
	for p, want := range t {
		info, err := fs.Lstat(fsys, p)
		if err != nil {
			out = append(out, Change{p, "missing"}) // or out of reach, as generate will say
			continue
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			out = append(out, Change{p, "changed"}) // generate puts a file there
			continue
		}
		data, err := readFile(fsys, "", p)
		if err != nil {
			return nil, err
		}
		same := bytes.Equal(data, want.Data)
		switch {
		case !same && bytes.Equal(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), want.Data):
			out = append(out, Change{p, "crlf"})
		case !same:
			out = append(out, Change{p, "changed"})
		case !sameMode(info.Mode(), want.Mode):
			out = append(out, Change{p, "mode"})
		}
	}
	for p := range inv.Files {
		if t.has(p) {
			continue
		}
		if _, err := fs.Stat(fsys, p); err == nil {
			out = append(out, Change{p, "orphaned"})
		} else {
			out = append(out, Change{p, "gone"})
		}
	}
	if err := blockedBy(fsys, inventoryPath); err != nil {
		return nil, err
	}
	err = fs.WalkDir(fsys, "marketplace", func(p string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return unreadable(p, err)
		case !d.IsDir() && !t.has(p):
			out = append(out, Change{p, "orphaned"})
		}
		return nil
	})
	slices.SortFunc(out, byPath)
	return slices.Compact(out), err
}

// has reports whether p is a file of t or a runtime that a build put there.
func (t tree) has(p string) bool {
	_, ok := t[p]
	return ok || bundled(p)
}
