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

// CommitOnly commits the files at paths, as they are on disk, on top of HEAD
// and returns the new commit's id. It never reads or writes the user's index:
// what they have staged stays staged, and nothing else gets in. Hooks and
// signing run as the user configured them, within a deadline. When a hook
// adds other files, the commit is taken back. It fails with ErrIndexLocked,
// ErrNothing, or with what git said; HEAD is then where it was.
//
// HEAD must be a branch with a commit, and no operation may be in progress:
// see Operation and Status.
func (r *Repo) CommitOnly(ctx context.Context, message string, paths ...string) (string, error) {
	if r.IndexLocked() {
		return "", ErrIndexLocked
	}
	dir, err := os.MkdirTemp("", "ccreload-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	index := filepath.Join(dir, "index")
	// A copy of the user's index saves git from reading every file again.
	if err := copyFile(index, filepath.Join(r.GitDir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	// Filters stay on here: one that encrypts must not be bypassed.
	own := func(args ...string) call {
		return call{dir: r.Dir, args: args, env: []string{"GIT_INDEX_FILE=" + index}, config: []string{"core.splitIndex=false"}}
	}
	before, err := r.head(ctx)
	if err != nil {
		return "", err
	}
	if _, err := own("read-tree", "--reset", before).run(ctx); err != nil {
		return "", err
	}
	if _, err := own(append([]string{"add", "--"}, paths...)...).run(ctx); err != nil {
		return "", err
	}
	switch _, err := own("diff-index", "--cached", "--quiet", before, "--").run(ctx); code(err) {
	case 0:
		return "", ErrNothing
	case 1:
	default:
		return "", err
	}
	commit := own("commit", "--quiet", "--no-status", "--file=-")
	commit.acts, commit.stdin, commit.alone = true, message, r.Unattended
	commit.limit = cmp.Or(r.CommitTime, commitTime)
	_, failed := commit.run(ctx)
	ctx = context.WithoutCancel(ctx) // whatever became of it has to be known

	after, err := r.head(ctx)
	if err != nil || after == before {
		return "", errors.Join(failed, err)
	}
	// The commit is made, even if a hook after it failed.
	foreign, err := r.foreignTo(ctx, before, after, paths)
	if err == nil && len(foreign) == 0 {
		return after, nil
	}
	if err == nil {
		err = fmt.Errorf("a commit hook added %q, so the commit was taken back", foreign)
	}
	_, undo := call{dir: r.Dir, args: []string{"update-ref", "-m", "handoff: take back a commit with files of others", "HEAD", before, after}}.run(ctx)
	return "", errors.Join(err, undo)
}

func (r *Repo) head(ctx context.Context) (string, error) {
	out, err := r.read(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}")
	if code(err) == 1 {
		return "", errors.New("HEAD has no commit yet")
	}
	return strings.TrimSpace(string(out)), err
}

// foreignTo returns what the commits from before to after change apart from
// paths.
func (r *Repo) foreignTo(ctx context.Context, before, after string, paths []string) ([]string, error) {
	out, err := r.read(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", before, after)
	if err != nil {
		return nil, err
	}
	var ours []string
	for _, p := range paths {
		rel, err := r.Rel(p)
		if err != nil {
			return nil, err
		}
		ours = append(ours, rel)
	}
	var foreign []string
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if name != "" && !slices.Contains(ours, name) {
			foreign = append(foreign, name)
		}
	}
	return foreign, nil
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
		dir: r.Dir, acts: true, alone: r.Unattended, limit: pushTime, config: []string{"push.followTags=false"},
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

// Adopt tells the user's index of files that CommitOnly has committed beside
// it, as `git commit` would have done: without this, git status shows them as
// staged for removal, and the user's next commit would undo ours. Only the
// entries of those files change, and of them only the ones that neither the
// user nor a later commit has touched since. It fails with ErrIndexLocked, or
// during an operation (see Operation), and may be tried again later.
func (r *Repo) Adopt(ctx context.Context, commit string, paths ...string) error {
	if op := r.Operation(); op != "" {
		return fmt.Errorf("a %s is in progress", op)
	}
	if r.IndexLocked() {
		return ErrIndexLocked
	}
	index, err := r.indexed(ctx, paths...)
	if err != nil {
		return err
	}
	var trees [3]map[string]string
	for i, tree := range []string{commit + "^", commit, "HEAD"} {
		if trees[i], err = r.inTree(ctx, tree, paths...); err != nil {
			return err
		}
	}
	args := []string{"update-index", "--add"}
	for _, p := range paths {
		if before, ours, head := trees[0][p], trees[1][p], trees[2][p]; ours != "" && head == ours && index[p] == before {
			args = append(args, "--cacheinfo", ours+","+p)
		}
	}
	if len(args) == 2 {
		return nil
	}
	_, err = call{dir: r.Top, args: args}.run(ctx)
	return err
}

// indexed returns the entries that the index has for paths below Top, inTree
// those of a tree.
func (r *Repo) indexed(ctx context.Context, paths ...string) (map[string]string, error) {
	return r.entries(ctx, paths, "ls-files", "-s", "-z")
}

func (r *Repo) inTree(ctx context.Context, tree string, paths ...string) (map[string]string, error) {
	return r.entries(ctx, paths, "ls-tree", "-z", tree)
}

func (r *Repo) entries(ctx context.Context, paths []string, args ...string) (map[string]string, error) {
	out, err := call{dir: r.Top, args: append(append(args, "--"), paths...)}.run(ctx)
	return parseEntries(string(out)), err
}

// Unstaged returns the file at path as HEAD has it, for a file that at most the
// worktree changes: the index holds the same, and no operation is in progress
// that could have brought other content. For any other file it is an error.
func (r *Repo) Unstaged(ctx context.Context, path string) ([]byte, error) {
	if op := r.Operation(); op != "" {
		return nil, fmt.Errorf("a %s is in progress", op)
	}
	rel, err := r.Rel(path)
	if err != nil {
		return nil, err
	}
	index, err := r.indexed(ctx, rel)
	if err != nil {
		return nil, err
	}
	head, err := r.inTree(ctx, "HEAD", rel)
	if err != nil {
		return nil, err
	}
	mode, id, ok := strings.Cut(head[rel], ",")
	if !ok || index[rel] != head[rel] || !strings.HasPrefix(mode, "100") {
		return nil, fmt.Errorf("the index differs from HEAD in %q", rel)
	}
	return call{dir: r.Top, args: []string{"cat-file", "blob", id}}.run(ctx)
}

// parseEntries reads the answer of git ls-files -s -z or git ls-tree -z: path →
// "mode,object". A path in conflict is left out.
func parseEntries(out string) map[string]string {
	entries := map[string]string{}
	for record := range strings.SplitSeq(out, "\x00") {
		meta, path, ok := strings.Cut(record, "\t")
		f := strings.Fields(meta)
		switch {
		case !ok || len(f) != 3:
		case f[1] == "blob": // ls-tree: mode, type, object
			entries[path] = f[0] + "," + f[2]
		case f[2] == "0": // ls-files: mode, object, stage
			entries[path] = f[0] + "," + f[1]
		case len(f[2]) == 1:
			entries[path] = "conflict"
		}
	}
	return entries
}
