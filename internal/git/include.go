package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// What may come along into a new worktree beside the commit. None of it is worth a
// failure: what is left out is noted.
const (
	includeName  = ".worktreeinclude"
	includeTime  = 10 * time.Second
	includeFiles = 1000
	includeBytes = 64 << 20
	moduleTime   = 30 * time.Second
	maxModules   = 20
)

// bring copies into the worktree what git does not, from the user's.
func (w *Worktree) bring(ctx context.Context, from *Repo) {
	w.include(ctx, from)
	w.modules(ctx, from)
}

func (w *Worktree) note(format string, args ...any) {
	w.Notes = append(w.Notes, fmt.Sprintf(format, args...))
}

// include copies the files that .worktreeinclude lists, in the words of a
// .gitignore, and that git ignores. No link is followed or copied, and no file
// replaced.
func (w *Worktree) include(ctx context.Context, from *Repo) {
	ctx, cancel := context.WithTimeout(ctx, includeTime)
	defer cancel()
	list := filepath.Join(from.Top, includeName)
	if info, err := os.Lstat(list); err != nil || !info.Mode().IsRegular() {
		return
	}
	names, err := from.included(ctx, list)
	if err != nil {
		w.note("what %s lists is not there: %v", includeName, err)
		return
	}
	source, err := os.OpenRoot(from.Top)
	if err != nil {
		w.note("what %s lists is not there: %v", includeName, err)
		return
	}
	defer source.Close()
	target, err := os.OpenRoot(w.Path)
	if err != nil {
		w.note("what %s lists is not there: %v", includeName, err)
		return
	}
	defer target.Close()
	var left []string
	room := int64(includeBytes)
	for i, name := range names {
		if i >= includeFiles || ctx.Err() != nil {
			left = append(left, names[i:]...)
			break
		}
		n, err := copyInto(target, source, filepath.FromSlash(name), room)
		room -= n
		if err != nil && !errors.Is(err, fs.ErrExist) {
			left = append(left, name)
		}
	}
	if len(left) > 0 {
		w.note("%s lists files that were not copied: %s", includeName, some(left))
	}
}

// included returns the files that the list names and that git ignores.
func (r *Repo) included(ctx context.Context, list string) ([]string, error) {
	ls := call{dir: r.Top, args: []string{"ls-files", "--others", "--ignored", "--exclude-from=" + list, "-z"}}
	out, err := ls.run(ctx)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	// Of an answer that was cut off the last name is not whole.
	whole := string(out[:strings.LastIndexByte(string(out), 0)+1])
	ignored := call{dir: r.Top, args: []string{"check-ignore", "-z", "--stdin"}, stdin: whole, pathspecMagic: true}
	out, err = ignored.run(ctx)
	if code(err) == 1 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), err
}

// copyInto copies a regular file of at most room bytes and returns its size. It
// fails with fs.ErrExist where there is something already.
func copyInto(target, source *os.Root, name string, room int64) (int64, error) {
	info, err := source.Lstat(name)
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() || info.Size() > room {
		return 0, fmt.Errorf("%q is not a regular file, or too large", name)
	}
	if err := target.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return 0, err
	}
	in, err := source.Open(name)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := target.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, room))
	return n, errors.Join(err, out.Close())
}

// modules clones the submodules of the commit from the user's own copies, without
// a network. Git counts what an agent changes in one as no change of ours.
func (w *Worktree) modules(ctx context.Context, from *Repo) {
	ctx, cancel := context.WithTimeout(ctx, moduleTime)
	defer cancel()
	if !exists(filepath.Join(w.Path, ".gitmodules")) {
		return
	}
	ls := call{dir: w.Path, args: []string{"ls-files", "--stage", "-z"}, limit: maxNames}
	out, err := ls.run(ctx)
	if err != nil {
		w.note("the submodules are not there: %v", err)
		return
	}
	var left []string
	n := 0
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, path, _ := strings.Cut(entry, "\t")
		fields := strings.Fields(meta)
		if len(fields) != 3 || fields[0] != "160000" {
			continue
		}
		if n++; n > maxModules || w.module(ctx, from, path, fields[1]) != nil {
			left = append(left, path)
		}
	}
	if len(left) > 0 {
		w.note("submodules are not there: %s", some(left))
	}
}

// module clones the submodule at path, at commit.
func (w *Worktree) module(ctx context.Context, from *Repo, path, commit string) error {
	there := filepath.Join(from.Top, filepath.FromSlash(path))
	if !state.Within(state.RealPath(from.Top), state.RealPath(there)) || !exists(filepath.Join(there, ".git")) {
		return ErrNoRepo
	}
	sub, err := Open(ctx, there)
	if err != nil || !sameDir(sub.Top, there) {
		return errors.Join(ErrNoRepo, err)
	}
	to := filepath.Join(w.Path, filepath.FromSlash(path))
	if !state.Within(state.RealPath(w.Path), state.Resolve(to)) {
		return ErrNotOurs
	}
	for _, c := range []call{
		{dir: w.Path, args: []string{"clone", "--quiet", "--no-checkout", "--local", "--", sub.CommonDir, to}},
		{dir: to, args: []string{"checkout", "--quiet", "--detach", commit}},
	} {
		c.checksOut, c.timeout = true, moduleTime
		if err := c.change(ctx); err != nil {
			return errors.Join(err, emptyModule(to))
		}
	}
	return nil
}

// emptyModule leaves an empty directory where a submodule could not be brought.
func emptyModule(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}
