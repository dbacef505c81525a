package state

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ErrExposed is a directory that git would take what is in it from.
var ErrExposed = errors.New("not ignored by git")

// maxIgnore is the most that is read of a file of git's, in bytes.
const maxIgnore = 1 << 20

// ignoreSelf drops the .gitignore, unless something of that name is there. An
// empty one was begun on a full disk.
func (tx *Tx) ignoreSelf() error {
	info, err := tx.root.Lstat(ignoreName)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
		return nil
	}
	return tx.Write(ignoreName, []byte("*\n"))
}

// protect sees to it that a .gitignore which a repository ships, and which may
// say anything, has nothing of ours be published: where it does not ignore all
// there is, the user's own list in the repository does, which nobody can ship.
func (d Dir) protect(root *os.Root) error {
	info, err := root.Lstat(ignoreName)
	if err != nil || info.Mode().IsRegular() && info.Size() == 0 {
		return nil // ignoreSelf writes it
	}
	if data, err := readIn(root, ignoreName, maxIgnore); err == nil && info.Mode().IsRegular() && ignoresAll(string(data)) {
		return nil
	}
	if err := exclude(d.path); err != nil {
		return refusal{fmt.Sprintf("%s does not ignore what is kept beside it, and git would offer it for a commit (%v); restore a lone * in it", d.Path(ignoreName), err), ErrExposed}
	}
	return nil
}

// ignoresAll reports whether a .gitignore has the line "*" and takes nothing back.
func ignoresAll(content string) bool {
	all := false
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, " \t\r\n")
		all = all || line == "*"
		if strings.HasPrefix(line, "!") {
			return false
		}
	}
	return all
}

// exclude has git ignore dir by the info/exclude of the repository that it is
// in, if any. A directory that is ignored as a whole is not looked into, so the
// .gitignore in it has no say; one further up has.
func exclude(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for top := filepath.Dir(dir); ; top = filepath.Dir(top) {
		if common, ok := gitDir(top); ok {
			return excludeIn(filepath.Join(common, "info"), top, dir)
		}
		if top == filepath.Dir(top) {
			return nil // no repository, and nobody to take it
		}
	}
}

func excludeIn(info, top, dir string) error {
	rel, err := filepath.Rel(top, dir)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	for at := rel; at != "."; at = path.Dir(at) {
		if takesBack(filepath.Join(top, filepath.FromSlash(path.Dir(at)), ignoreName), path.Base(rel)) {
			return fmt.Errorf("%s takes it back", path.Join(path.Dir(at), ignoreName))
		}
	}
	line := "/" + strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(rel) + "/"
	name := filepath.Join(info, "exclude")
	old, err := ReadFile(name, maxIgnore)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for have := range strings.Lines(string(old)) {
		if strings.TrimRight(have, "\r\n") == line {
			return nil
		}
	}
	if err := os.MkdirAll(info, dirPerm); err != nil {
		return err
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	return WriteFile(name, append(old, line+"\n"...), 0o644)
}

// takesBack reports whether the .gitignore at name may have a directory called
// base not be ignored.
func takesBack(name, base string) bool {
	data, err := ReadFile(name, maxIgnore)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for line := range strings.Lines(string(data)) {
		pattern, negated := strings.CutPrefix(strings.TrimRight(line, " \t\r\n"), "!")
		if !negated {
			continue
		}
		if ok, err := path.Match(path.Base(strings.TrimRight(pattern, "/")), base); ok || err != nil {
			return true
		}
	}
	return false
}

// gitDir returns the directory that all worktrees of the repository at top
// share: .git, or where the file of that name in a linked worktree or a submodule
// leads.
func gitDir(top string) (dir string, ok bool) {
	dir = filepath.Join(top, ".git")
	info, err := os.Stat(dir)
	if err != nil {
		return "", false
	}
	follow := func(from, file, prefix string) bool {
		data, err := ReadFile(file, maxIgnore)
		to, found := strings.CutPrefix(strings.TrimSpace(string(data)), prefix)
		if err != nil || !found {
			return false
		}
		if dir = strings.TrimSpace(to); !filepath.IsAbs(dir) {
			dir = filepath.Join(from, dir)
		}
		return true
	}
	if !info.IsDir() && !follow(top, dir, "gitdir:") {
		return "", false
	}
	follow(dir, filepath.Join(dir, "commondir"), "")
	return dir, true
}
