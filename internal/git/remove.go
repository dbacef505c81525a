package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// mergedTime is what it may take to find out whether a branch was merged.
const mergedTime = 30 * time.Second

// Removal is what became of a worktree.
type Removal struct {
	Salvage string   // ref that keeps what nothing else does; "" when nothing was to be kept
	Ignored []string // ignored files and directories, such as build output, that went along
	Kept    string   // branch that stays although the worktree is gone; "" when it is gone as well
}

// UnmergedError is a worktree whose work is nowhere else; it was left alone.
type UnmergedError struct {
	Path    string
	Files   []string // changed or unknown to git, below Path
	Commits bool     // there are commits as well
	Ref     string   // what has all of that by now, whatever becomes of the worktree
}

func (e *UnmergedError) Error() string {
	what := "commits that are not merged"
	if len(e.Files) > 0 {
		what = "changes that are not committed (" + some(e.Files) + ")"
	}
	return fmt.Sprintf("%q has %s; a copy of all its work is in %s", e.Path, what, e.Ref)
}

// Remove deletes the worktree, its branch and its record, unless something would
// be lost: it fails with ErrInUse while a process works there, with ErrNotOurs when
// something else lies at the path, and with an UnmergedError when work in it is in
// no other branch, not even as a squashed commit in the target. Before that the
// work is salvaged: a ref below refs/cc-later/salvage/ has the commits, and the
// files as they are, and stays until somebody deletes it. With salvage set that is
// enough, and the worktree goes. What git ignores is no work and goes along.
//
// One that is half made, or half removed already, goes as well. No link is
// followed and nothing forced.
func (w *Worktree) Remove(ctx context.Context, salvage bool) (Removal, error) {
	var out Removal
	if !isGitDir(w.Common) {
		return out, w.forget()
	}
	err := w.withLock(ctx, func(l fileLock) error {
		now, err := LoadWorktree(w.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil // somebody else was faster
		}
		if err != nil {
			return err
		}
		if now.GitDir == "" {
			out.Kept, err = now.clear(ctx, l)
			return err
		}
		out, err = now.remove(ctx, l, salvage)
		return err
	})
	return out, err
}

// withLock is locked for the repository of the worktree.
func (w *Worktree) withLock(ctx context.Context, fn func(fileLock) error) error {
	return locked(ctx, w.Common, fn)
}

// forget drops the record of a worktree whose repository is gone, if it is gone
// too.
func (w *Worktree) forget() error {
	if exists(w.Path) {
		return problem.Fault("take from it what you need and delete it",
			"the repository %q is gone, so it is not known what in %q is work", w.Common, w.Path)
	}
	return w.erase()
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func (w *Worktree) remove(ctx context.Context, l fileLock, salvage bool) (Removal, error) {
	var out Removal
	tips, files := []string{}, []string(nil)
	tip, err := w.commit(ctx, "refs/heads/"+w.Branch)
	if err != nil {
		return out, err
	}
	if tip != "" {
		tips = append(tips, tip)
	}
	there := exists(w.Path)
	if there {
		if err := w.mayGo(ctx); err != nil {
			return out, err
		}
		head, dirty, ignored, err := w.work(ctx)
		if err != nil {
			return out, err
		}
		if head != "" && head != tip {
			tips = append(tips, head)
		}
		files, out.Ignored = dirty, ignored
	}
	var unmerged []string
	for _, tip := range tips {
		merged, err := w.merged(ctx, tip)
		if err == nil && !merged && !there {
			merged, err = w.reachable(ctx, tip, salvagePrefix) // since before it was removed
		}
		if err != nil {
			return out, err
		}
		if !merged {
			unmerged = append(unmerged, tip)
		}
	}
	if len(files) > 0 || len(unmerged) > 0 {
		if out.Salvage, err = w.salvage(ctx, l, tips, len(files) > 0); err != nil {
			return out, err
		}
		if there && !salvage {
			return out, &UnmergedError{w.Path, files, len(unmerged) > 0, out.Salvage}
		}
	}
	out.Kept, err = w.discard(ctx, l, tip)
	return out, err
}

// mayGo fails when the worktree is not ours any more, or somebody needs it.
func (w *Worktree) mayGo(ctx context.Context) error {
	if err := w.check(); err != nil {
		return err
	}
	if err := w.inUse(); err != nil {
		return err
	}
	listed, err := w.listed(ctx)
	if err != nil {
		return err
	}
	for _, l := range listed {
		if l.locked && sameDir(l.path, w.Path) {
			return notNow("git worktree unlock allows it again", "somebody has locked the worktree %q", w.Path)
		}
	}
	return nil
}

// inUse fails with ErrInUse while the owner lives, or any process works in the
// directory.
func (w *Worktree) inUse() error {
	if w.Owner != (proc.ID{}) && !w.Owner.Ended() {
		return fmt.Errorf("%q: %w (process %d)", w.Path, ErrInUse, w.Owner.PID)
	}
	pids, err := proc.WorkingIn(state.RealPath(w.Path))
	if err == nil && len(pids) > 0 {
		err = fmt.Errorf("%q: %w (process %d)", w.Path, ErrInUse, slices.Min(pids))
	}
	return err
}

// work returns the commit that is checked out, "" for none, the files that differ
// from it, and what git ignores. It fails when there is work that no commit could
// hold: in a submodule or in a repository of its own.
func (w *Worktree) work(ctx context.Context) (head string, files, ignored []string, err error) {
	at, err := w.open()
	if err != nil {
		return "", nil, nil, err
	}
	now, list, err := at.changes(ctx, true)
	if err != nil {
		return "", nil, nil, err
	}
	var nested []string
	for _, c := range list {
		switch {
		case c.ignored:
			ignored = append(ignored, c.path)
		case c.nested:
			nested = append(nested, c.path)
		default:
			files = append(files, c.path)
		}
	}
	if len(nested) > 0 {
		return "", nil, nil, problem.Fault("take from it what you need and delete it", "%q has repositories of their own in it, with work that cannot be saved here: %s", w.Path, some(nested))
	}
	return now.Commit, files, ignored, nil
}

// open returns the worktree as a repository to work in.
func (w *Worktree) open() (*Repo, error) {
	if err := w.check(); err != nil {
		return nil, err
	}
	return w.at(), nil
}

// at returns the worktree as a repository, of which nothing is asked. Filters stay
// on: they were when the files were written.
func (w *Worktree) at() *Repo {
	return &Repo{Dir: w.Path, Top: w.Path, GitDir: w.GitDir, CommonDir: w.Common, Unattended: true}
}

// merged reports whether the work up to the commit tip is in another branch: all
// its commits are, or the target has the same content, the same changes one by
// one, or all of them in one commit.
func (w *Worktree) merged(ctx context.Context, tip string) (bool, error) {
	if tip == w.Base {
		return true, nil // nothing was done
	}
	ctx, cancel := context.WithTimeout(ctx, mergedTime)
	defer cancel()
	if elsewhere, err := w.reachable(ctx, tip, "refs/heads", "refs/remotes"); elsewhere || err != nil {
		return elsewhere, err
	}
	target, err := w.commit(ctx, "refs/heads/"+w.Target)
	if err != nil || target == "" {
		return false, err
	}
	out, err := w.common("merge-base", target, tip).run(ctx)
	fork := strings.TrimSpace(string(out))
	if code(err) == 1 {
		return false, nil // they have nothing in common
	}
	if err != nil {
		return false, err
	}
	trees, err := w.common("rev-parse", target+"^{tree}", tip+"^{tree}", fork+"^{tree}").run(ctx)
	if err != nil {
		return false, err
	}
	tree := strings.Fields(string(trees))
	if len(tree) == 3 && (tree[1] == tree[0] || tree[1] == tree[2]) {
		return true, nil
	}
	squashed, err := w.commitTree(ctx, tip+"^{tree}", tip, fork)
	if err != nil {
		return false, err
	}
	for _, one := range []string{squashed, tip} {
		if out, err = w.common("cherry", target, one).run(ctx); err != nil {
			return false, err
		}
		if len(out) > 0 && !strings.Contains("\n"+string(out), "\n+") {
			return true, nil
		}
	}
	return false, nil
}

// taken reports whether the work up to the commit tip is in another branch. Where the
// configuration cannot be trusted only commits are looked for.
func (w *Worktree) taken(ctx context.Context, tip string) (bool, error) {
	if len(w.Setup) > 0 {
		return w.reachable(ctx, tip, "refs/heads")
	}
	return w.merged(ctx, tip)
}

// Stage is how far the work of a worktree that is held has come.
type Stage string

// The stages.
const (
	NotCommitted Stage = "not committed" // nothing is on its branch
	Committed    Stage = "committed"
	Taken        Stage = "taken" // what is on its branch is in another one
)

// Stage tells how far the work has come by now, by its branch alone.
func (w *Worktree) Stage(ctx context.Context) (Stage, error) {
	tip, err := w.commit(ctx, "refs/heads/"+w.Branch)
	if err != nil || tip == "" || tip == w.Base {
		return NotCommitted, err
	}
	taken, err := w.taken(ctx, tip)
	if taken {
		return Taken, err
	}
	return Committed, err
}

// Merged reports whether a person has merged the worktree: there are commits, there
// is nothing besides, and all of it is in another branch, where it was not before
// the worktree was held for them.
func (w *Worktree) Merged(ctx context.Context) (bool, error) {
	tip, err := w.commit(ctx, "refs/heads/"+w.Branch)
	if err != nil || tip == "" || tip == w.Base {
		return false, err
	}
	// Asked before anything that runs filters: a person who has merged knows what is
	// set up.
	if taken, err := w.taken(ctx, tip); err != nil || !taken {
		if err == nil && w.Astray {
			w.Astray = false // they have put that right
			err = w.save()
		}
		return false, err
	}
	if w.Astray {
		return false, nil
	}
	head, files, _, err := w.work(ctx)
	return err == nil && head == tip && len(files) == 0, err
}

// reachable reports whether a ref that begins with one of prefixes has the commit
// tip, apart from the worktree's own branch.
func (w *Worktree) reachable(ctx context.Context, tip string, prefixes ...string) (bool, error) {
	out, err := w.common(append([]string{"for-each-ref", "--contains", tip, "--format=%(refname)"}, prefixes...)...).run(ctx)
	if err != nil {
		return false, err
	}
	for ref := range strings.Lines(string(out)) {
		if strings.TrimSpace(ref) != "refs/heads/"+w.Branch {
			return true, nil
		}
	}
	return false, nil
}

// commitTree makes a commit that is on no branch, of a tree, dated as the commit
// of and so the same each time.
func (w *Worktree) commitTree(ctx context.Context, tree, of string, parents ...string) (string, error) {
	date, err := w.common("log", "-1", "--no-show-signature", "--format=%cd", "--date=raw", of).run(ctx)
	if err != nil {
		return "", err
	}
	c := w.common("commit-tree", "--no-gpg-sign", "-m", "work of "+filepath.Base(w.Path), tree)
	for _, p := range parents {
		c.args = append(c.args, "-p", p)
	}
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		c.env = append(c.env, "GIT_"+who+"_NAME=cc-later", "GIT_"+who+"_EMAIL=cc-later@localhost", "GIT_"+who+"_DATE="+strings.TrimSpace(string(date)))
	}
	out, err := c.run(ctx)
	return strings.TrimSpace(string(out)), err
}

// salvage has a ref keep tips and, with files set, the files as they are in the
// worktree. It returns the ref; called again for the same work, the same one.
func (w *Worktree) salvage(ctx context.Context, l fileLock, tips []string, files bool) (string, error) {
	if len(tips) == 0 {
		tips = []string{w.Base}
	}
	tree := tips[len(tips)-1] + "^{tree}"
	keep := tips[0]
	if files {
		var err error
		if tree, err = w.tree(ctx); err != nil {
			return "", err
		}
	}
	if files || len(tips) > 1 {
		var err error
		if keep, err = w.commitTree(ctx, tree, tips[len(tips)-1], tips...); err != nil {
			return "", err
		}
	}
	refs, err := w.refs(ctx, salvagePrefix)
	if err != nil {
		return "", err
	}
	first := salvagePrefix + filepath.Base(w.Path)
	for n, ref := 1, first; ; n++ {
		if n > 1 {
			ref = fmt.Sprintf("%s-%d", first, n)
		}
		switch refs[ref] {
		case keep:
			return ref, nil
		case "":
			c := w.common("update-ref", "-m", "cc-later: salvage", ref, keep, "")
			c.holds = l.held
			return ref, c.change(ctx)
		}
	}
}

// tree writes what the files in the worktree are, apart from ignored ones, as a
// tree, by an index of its own.
func (w *Worktree) tree(ctx context.Context) (string, error) {
	temp, err := newTempDir()
	if err != nil {
		return "", err
	}
	defer temp.remove()
	index := filepath.Join(temp.path, "index")
	if err := copyFile(index, filepath.Join(w.GitDir, "index")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	own := func(args ...string) call {
		return call{dir: w.Path, args: args, env: []string{"GIT_INDEX_FILE=" + index}, config: []string{"core.splitIndex=false"}, timeout: commitAllTime}
	}
	if _, err := own("add", "--all").run(ctx); err != nil {
		return "", err
	}
	out, err := own("write-tree").run(ctx)
	return strings.TrimSpace(string(out)), err
}

// discard takes away the files, what git knows of the worktree, the branch if it is
// at tip, and the record, in that order, so that the next call goes on where one
// was killed. It returns the branch if that has to stay.
func (w *Worktree) discard(ctx context.Context, l fileLock, tip string) (kept string, err error) {
	trash := w.Path + removingSuffix
	if exists(w.Path) && !exists(trash) {
		step("set aside")
		if err := os.Rename(w.Path, trash); err != nil {
			return w.Branch, err
		}
	}
	if exists(trash) {
		step("delete files")
		if err := removeAll(trash); err != nil {
			return w.Branch, err
		}
	}
	if err := w.unlist(ctx, l); err != nil {
		return w.Branch, err
	}
	if kept, err = w.dropBranch(ctx, l, tip); err != nil {
		return w.Branch, err
	}
	return kept, w.erase()
}

// removeAll deletes a directory and follows no link. A directory that may not be
// written, such as those of Go's module cache, is made writable.
func removeAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			if info, err := d.Info(); err == nil && info.Mode().Perm()&0o700 != 0o700 {
				return root.Chmod(path, 0o700) // before it is read
			}
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}

// unlist has git forget the worktree, whose files are gone. `git worktree prune`
// would as well forget those of the user's that are on a disk that is not there.
func (w *Worktree) unlist(ctx context.Context, l fileLock) error {
	listed, err := w.listed(ctx)
	if err != nil {
		return err
	}
	for _, entry := range listed {
		if filepath.Clean(entry.path) != w.Path {
			continue
		}
		if entry.locked { // by git, which was killed while it made the worktree
			if err := w.common("worktree", "unlock", "--", w.Path).change(ctx); err != nil {
				return err
			}
		}
		c := w.common("worktree", "remove", "--", w.Path)
		c.holds = l.held
		return c.change(ctx)
	}
	// Git does not list what it had hardly begun with.
	begun := filepath.Join(w.Common, "worktrees", filepath.Base(w.Path))
	if w.GitDir == "" && exists(begun) && !exists(filepath.Join(begun, "gitdir")) {
		step("delete registration")
		return os.RemoveAll(begun)
	}
	return nil
}

// dropBranch deletes the branch if it is at tip and nobody has it checked out, and
// returns it if it stays.
func (w *Worktree) dropBranch(ctx context.Context, l fileLock, tip string) (kept string, err error) {
	if w.Branch == "" {
		return "", nil
	}
	out, err := w.common("for-each-ref", "--format=%(objectname) %(worktreepath)", "refs/heads/"+w.Branch).run(ctx)
	now, usedIn, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), " ")
	if err != nil || now == "" {
		return "", err
	}
	if now != tip || usedIn != "" {
		return w.Branch, nil
	}
	c := w.common("update-ref", "-d", "refs/heads/"+w.Branch, tip)
	c.holds = l.held
	return "", c.change(ctx)
}

// erase deletes the record.
func (w *Worktree) erase() error {
	return state.NewDir(filepath.Dir(w.Path)).WithLock(recordWait, func(tx *state.Tx) error {
		return tx.Remove(filepath.Base(w.Path) + recordSuffix)
	})
}

// clear takes away a worktree that was never handed to anybody: a half-made one,
// or the scratch of a merge. It returns the branch if that has to stay.
func (w *Worktree) clear(ctx context.Context, l fileLock) (kept string, err error) {
	if exists(w.Path) {
		if err := w.inUse(); err != nil {
			return w.Branch, err
		}
		if w.Branch != "" {
			if err := w.onlyFromBase(ctx); err != nil {
				return w.Branch, err
			}
		}
	}
	return w.discard(ctx, l, w.Base)
}

// onlyFromBase fails when there is a file that the commit does not have, which git
// cannot have put there.
func (w *Worktree) onlyFromBase(ctx context.Context) error {
	ls := w.common("ls-tree", "-r", "-z", "--name-only", "--full-tree", w.Base)
	ls.limit = maxNames
	out, err := ls.run(ctx)
	if err != nil {
		return err
	}
	known := map[string]bool{".git": true}
	for name := range strings.SplitSeq(string(out), "\x00") {
		known[name] = true
	}
	var foreign []string
	err = filepath.WalkDir(w.Path, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(w.Path, path)
		if err == nil && !known[filepath.ToSlash(rel)] && len(foreign) < 100 {
			foreign = append(foreign, filepath.ToSlash(rel))
		}
		return err
	})
	if err == nil && len(foreign) > 0 {
		err = problem.Fault("move it away", "%q was only being made, and somebody has put files into it: %s", w.Path, some(foreign))
	}
	return err
}

// maxNames is how much of a list of all files is read, in bytes.
const maxNames = 256 << 20
