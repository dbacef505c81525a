package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// commitTime is what hooks and signing get, pushTime what the network gets.
	commitTime = 25 * time.Second
	pushTime   = 30 * time.Second
)

// Made is a commit of ours.
type Made struct {
	ID     string
	parent string
	files  []entry
}

// CommitOnly commits the files at paths, below Top and with slashes, as they are
// on disk, on top of HEAD.
// It never reads or writes the user's index: what they have staged stays
// staged, and nothing else gets in; what their index is to be told is for
// RefreshIndex. Hooks and signing run as the user configured them, within a
// deadline. When a hook adds other files, the commit is taken back. It fails
// with ErrIndexLocked, ErrNothing, or with what git said, and then there is no
// commit of ours.
//
// HEAD must be a branch that has the commit before, and no operation may be in
// progress: see Operation and Status.
func (r *Repo) CommitOnly(ctx context.Context, before, message string, paths ...string) (Made, error) {
	if r.IndexLocked() {
		return Made{}, ErrIndexLocked
	}
	temp, err := newTempDir()
	if err != nil {
		return Made{}, err
	}
	defer temp.remove()
	index := filepath.Join(temp.path, "index")
	// A copy of the user's index saves git from reading every file again.
	if err := copyFile(index, filepath.Join(r.GitDir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Made{}, err
	}
	// Filters stay on here: one that encrypts must not be bypassed.
	own := func(args ...string) call {
		return call{dir: r.Top, args: args, env: []string{"GIT_INDEX_FILE=" + index}, config: []string{"core.splitIndex=false"}, holds: temp.held}
	}
	if _, err := own("read-tree", "--reset", "HEAD").run(ctx); err != nil {
		return Made{}, err
	}
	if _, err := own(append([]string{"add", "--"}, paths...)...).run(ctx); err != nil {
		return Made{}, err
	}
	commit := own("commit", "--quiet", "--no-status", "--file=-")
	commit.mutates, commit.stdin, commit.unattended = true, message, r.Unattended
	commit.timeout = cmp.Or(r.CommitTime, commitTime)
	_, failed := commit.run(ctx)
	ctx = context.WithoutCancel(ctx) // whatever became of it has to be known

	// Even a call that failed may have made the commit: a hook after it hangs.
	ours, newest, err := r.since(ctx, before, paths)
	switch foreign := newest.beyond(paths); {
	case err != nil:
		return Made{}, errors.Join(failed, err)
	case ours.ID != "":
		return ours, nil
	case failed == nil && len(foreign) > 0:
		err := fmt.Errorf("a commit hook added %q, so the commit was taken back", foreign)
		_, undo := call{dir: r.Dir, args: []string{"update-ref", "-m", "handoff: take back a commit with files of others", "HEAD", newest.parent, newest.ID}}.run(ctx)
		return Made{}, errors.Join(err, undo)
	case code(failed) == 1:
		// A hook said no, or there was nothing to say yes to.
		if _, err := own("diff-index", "--cached", "--quiet", "HEAD", "--").run(ctx); err == nil {
			return Made{}, ErrNothing
		}
	}
	return Made{}, cmp.Or(failed, ErrNothing)
}

// Find returns the commit that CommitOnly has made on top of before, for a run
// that did not live to see it. It fails with ErrNothing when there is none.
func (r *Repo) Find(ctx context.Context, before string, paths ...string) (Made, error) {
	ours, _, err := r.since(ctx, before, paths)
	if err == nil && ours.ID == "" {
		err = ErrNothing
	}
	return ours, err
}

// since looks for our commit among those that HEAD has since before, where the
// user, or a hook after ours, may have made one too: ours changes files of
// paths, below Top, and no others. It also returns the newest of them all.
func (r *Repo) since(ctx context.Context, before string, paths []string) (ours, newest Made, err error) {
	out, err := r.read(ctx, "log", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-show-signature", "--no-notes", "--format=%x01%H %P", before+"..HEAD", "--")
	if err != nil {
		return Made{}, Made{}, err
	}
	for record := range strings.SplitSeq(strings.TrimPrefix(string(out), "\x01"), "\x01") {
		ids, raw, _ := strings.Cut(record, "\x00")
		id, parents, _ := strings.Cut(ids, " ")
		parent, _, _ := strings.Cut(parents, " ")
		made := Made{ID: id, parent: parent, files: parseRaw(raw)}
		if newest.ID == "" {
			newest = made
		}
		if len(made.files) > 0 && len(made.beyond(paths)) == 0 {
			return made, newest, nil
		}
	}
	return Made{}, newest, nil
}

// beyond returns what the commit changes apart from paths.
func (m Made) beyond(paths []string) []string {
	return slices.DeleteFunc(m.paths(), func(p string) bool { return slices.Contains(paths, p) })
}

func (m Made) paths() []string {
	out := make([]string, len(m.files))
	for i, f := range m.files {
		out[i] = f.path
	}
	return out
}

// Rel returns path, absolute or below Dir, as git names it: below Top, with
// slashes. It fails for a path outside the worktree.
func (r *Repo) Rel(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.Dir, path)
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	top, err := filepath.EvalSymlinks(r.Top)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(top, filepath.Join(dir, filepath.Base(path)))
	if err != nil || !filepath.IsLocal(rel) {
		return "", fmt.Errorf("%q is outside the worktree %q", path, r.Top)
	}
	return filepath.ToSlash(rel), nil
}

// Push sends branch to its upstream and nothing else, never by force. It
// fails when the branch has no upstream.
func (r *Repo) Push(ctx context.Context, branch string) error {
	out, err := r.read(ctx, "for-each-ref", "--format=%(upstream:remotename)%00%(upstream:remoteref)", "refs/heads/"+branch)
	if err != nil {
		return err
	}
	remote, ref, _ := strings.Cut(strings.TrimSpace(string(out)), "\x00")
	if remote == "" || ref == "" {
		return fmt.Errorf("branch %q has no upstream; set one with git push -u", branch)
	}
	_, err = call{
		dir: r.Dir, mutates: true, unattended: r.Unattended, timeout: pushTime, config: []string{"push.followTags=false"},
		args: []string{"push", "--quiet", "--recurse-submodules=no", "--", remote, "refs/heads/" + branch + ":" + ref},
	}.run(ctx)
	return err
}

func copyFile(to, from string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o600)
}

// RefreshIndex tells the user's index of a commit that was made beside it, as
// `git commit` would have done: without this, git status shows its files as
// staged for removal, and the user's next commit would undo it. Only the
// entries of those files change, and of them only the ones that neither the
// user nor a later commit has touched since. It fails with ErrIndexLocked, or
// during an operation (see Operation), and may be tried again later.
func (r *Repo) RefreshIndex(ctx context.Context, m Made) error {
	if r.IndexLocked() {
		return ErrIndexLocked
	}
	staged, err := r.staged(ctx, m.paths()...)
	if err != nil {
		return err
	}
	args := []string{"update-index", "--add"}
	for _, f := range m.files {
		if f.after != "" && slices.Contains(staged, entry{path: f.path, before: f.after, after: f.before}) {
			args = append(args, "--cacheinfo", strings.Replace(f.after, " ", ",", 1)+","+f.path)
		}
	}
	if len(args) == 2 {
		return nil
	}
	_, err = call{dir: r.Top, args: args}.run(ctx)
	return err
}

// staged returns those of paths, below Top, in which the index differs from
// HEAD. During an operation, when that says nothing of the user, it fails.
func (r *Repo) staged(ctx context.Context, paths ...string) ([]entry, error) {
	if op := r.Operation(); op != "" {
		return nil, fmt.Errorf("a %s is in progress", op)
	}
	out, err := call{dir: r.Top, args: append([]string{"diff-index", "--cached", "--raw", "--no-abbrev", "--no-renames", "-z", "HEAD", "--"}, paths...)}.run(ctx)
	return parseRaw(string(out)), err
}

// Unstaged returns the file at path as HEAD has it, for a file that at most the
// worktree changes: the index holds the same, and no operation is in progress
// that could have brought other content. For any other file it is an error.
func (r *Repo) Unstaged(ctx context.Context, path string) ([]byte, error) {
	rel, err := r.Rel(path)
	if err != nil {
		return nil, err
	}
	staged, err := r.staged(ctx, rel)
	if err == nil && len(staged) > 0 {
		err = fmt.Errorf("the index differs from HEAD in %q", rel)
	}
	if err != nil {
		return nil, err
	}
	return call{dir: r.Top, args: []string{"cat-file", "blob", "HEAD:" + rel}}.run(ctx)
}

// entry is a file in two trees. Each side is "mode object", "" without the file.
type entry struct {
	path, before, after string
	unmerged            bool
}

// parseRaw reads the raw format of git diff with -z and --no-renames.
func parseRaw(out string) []entry {
	var list []entry
	for out != "" {
		var meta, path string
		meta, out, _ = strings.Cut(out, "\x00")
		path, out, _ = strings.Cut(out, "\x00")
		f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(meta), ":"))
		if len(f) != 5 || path == "" {
			break
		}
		side := func(mode, object string) string {
			if mode == "000000" {
				return ""
			}
			return mode + " " + object
		}
		list = append(list, entry{path: path, before: side(f[0], f[2]), after: side(f[1], f[3]), unmerged: f[4] == "U"})
	}
	return list
}
