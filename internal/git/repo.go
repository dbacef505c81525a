package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Repo is the worktree a directory belongs to.
type Repo struct {
	Dir       string // where calls run: the directory that was opened
	Top       string // top of the worktree, as git names it (links resolved)
	GitDir    string // of this worktree; holds its HEAD and index
	CommonDir string // shared by all worktrees of the repository
	Submodule bool   // the worktree is a submodule of one above it
	HasRemote bool   // there is somewhere to push to

	// Unattended says that nobody is there to type a passphrase: signing gets
	// no terminal and no screen to ask on.
	Unattended bool
	// CommitTime is what hooks and signing of a commit may take; 0 means 25 s.
	CommitTime time.Duration

	filters []string // configuration that silences filters the repository brings
}

// Open returns the repository dir is in. It fails with ErrNoGit, with ErrNoRepo
// where there is none, with ErrNoWorktree, or with what git has against the one
// that is there: an owner it does not trust, a HEAD that is broken.
func Open(ctx context.Context, dir string) (*Repo, error) {
	out, err := call{dir: dir, args: []string{"rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir"}}.run(ctx)
	if err != nil {
		switch found := enclosing(dir); {
		case says(err, "must be run in a work tree", "cannot use bare repository"):
			return nil, ErrNoWorktree
		case says(err, "not a git repository") && len(found) == 0:
			return nil, ErrNoRepo
		case says(err, "not a git repository"):
			err = fmt.Errorf("%q is there, but git does not take it for a repository; git fsck may say why: %w", filepath.Join(found[0], ".git"), err)
		}
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 3 {
		return nil, errors.New("git rev-parse: a path of the repository holds a line break")
	}
	r := &Repo{Dir: dir, Top: filepath.FromSlash(lines[0]), GitDir: filepath.FromSlash(lines[1]), CommonDir: filepath.FromSlash(lines[2])}
	if !filepath.IsAbs(r.CommonDir) {
		r.CommonDir = filepath.Join(dir, r.CommonDir)
	}
	// A linked worktree has a git directory of its own below the common one;
	// a submodule's .git is a file as well, yet it shares with nobody.
	if fi, err := os.Lstat(filepath.Join(r.Top, ".git")); err == nil && fi.Mode().IsRegular() && sameDir(r.GitDir, r.CommonDir) {
		r.Submodule = len(enclosing(filepath.Dir(r.Top))) > 0
	}
	return r, r.configured(ctx)
}

// Linked reports whether this is a worktree added with `git worktree add`.
func (r *Repo) Linked() bool { return !sameDir(r.GitDir, r.CommonDir) }

func sameDir(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// enclosing returns dir and the directories above it that hold an entry .git,
// innermost first.
func enclosing(dir string) []string {
	var out []string
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			out = append(out, dir)
		}
		up := filepath.Dir(dir)
		if up == dir {
			return out
		}
		dir = up
	}
}

// Inside returns the directory of git's own files that dir is in, "" for none.
// Git itself does not say so of a directory that it refuses.
func Inside(dir string) string {
	found := ""
	for dir = filepath.Clean(dir); ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			found = dir
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// configured reads what the configuration says of remotes and filters. The
// filters that the repository's own files define are switched off in every call
// that only reads: to compare a changed file git would run them. The user's
// own, from their home, may run.
func (r *Repo) configured(ctx context.Context) error {
	out, err := r.read(ctx, "config", "--includes", "--show-scope", "-z", "--get-regexp", `^(filter\..*\.(clean|smudge|process|required)|remote\..*\.url)$`)
	if code(err) == 1 {
		return nil // none
	}
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00") // scope, then name, line break and value
	for i := 0; i+1 < len(fields); i += 2 {
		name, _, _ := strings.Cut(fields[i+1], "\n")
		switch {
		case strings.HasPrefix(name, "remote."):
			r.HasRemote = true
		case fields[i] != "local" && fields[i] != "worktree":
		case strings.Contains(name, "="):
			return errors.New("git: a content filter of the repository has a name that cannot be switched off")
		case strings.HasSuffix(name, ".required"):
			r.filters = append(r.filters, name+"=false")
		default:
			r.filters = append(r.filters, name+"=")
		}
	}
	return nil
}

// read runs a git command that changes nothing.
func (r *Repo) read(ctx context.Context, args ...string) ([]byte, error) {
	return call{dir: r.Dir, args: args, config: r.filters}.run(ctx)
}

// Operation returns what the user is in the middle of: merge, rebase,
// cherry-pick, revert or bisect; "" when nothing is.
func (r *Repo) Operation() string {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"sequencer", "cherry-pick"},
		{"BISECT_LOG", "bisect"},
	} {
		if _, err := os.Lstat(filepath.Join(r.GitDir, op.file)); err == nil {
			return op.name
		}
	}
	return ""
}

// IndexLocked reports whether another git process is changing the index, or
// has left its lock behind.
func (r *Repo) IndexLocked() bool {
	_, err := os.Lstat(filepath.Join(r.GitDir, "index.lock"))
	return err == nil
}

// Ignored reports whether git ignores the path, which need not exist. A path
// that is tracked is not ignored.
func (r *Repo) Ignored(ctx context.Context, path string) (bool, error) {
	// check-ignore takes paths, not patterns, and refuses to be told so.
	_, err := call{dir: r.Dir, args: []string{"check-ignore", "-q", "--", path}, pathspecMagic: true}.run(ctx)
	switch code(err) {
	case 0:
		return true, nil
	case 1:
		return false, nil
	}
	return false, err
}
