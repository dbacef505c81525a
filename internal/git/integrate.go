package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	mergeTime  = 60 * time.Second // for a merge with its hooks, and for bringing the user's files along
	mergeTries = 3
)

// Merged is what became of a merge.
type Merged struct {
	Commit  string // where the target is now
	Nothing bool   // the target had everything already
	Where   string // worktree of the user's whose files were brought along; "" where nobody has the target checked out
	Tries   int    // 2 or 3 when the target moved meanwhile
}

// ConflictError is a merge that a person has to make. Nothing is left of it.
type ConflictError struct {
	Branch, Target string
	Files          []string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("%q conflicts with %q in %s", e.Branch, e.Target, some(e.Files))
}

// LocalChangesError is a merge that would change files which the user has changed
// or made. It is an ErrNotNow: nothing was done.
type LocalChangesError struct {
	Path  string // of their worktree
	Files []string
}

func (e *LocalChangesError) Error() string {
	return fmt.Sprintf("the merge would change %s, which you have changed in %q; commit or stash that first", some(e.Files), e.Path)
}

// Is makes it an ErrNotNow.
func (e *LocalChangesError) Is(target error) bool { return target == ErrNotNow }

// Integrate merges the worktree's branch into its target, always by a commit with
// two parents and this message. It merges in a scratch worktree at the tip of the
// target, with the hooks and signing of a merge of the user's. Then the target
// moves, if it is where the merge began; if not, all is done again, three times at
// most. Where the target is checked out, a fast-forward there takes the files
// along: it changes those of the merge and no others, leaves what is staged as it
// is, and runs no hook.
//
// A target that has it all is left as it is. A merge that is not possible fails
// with a ConflictError, a LocalChangesError, another ErrNotNow (an operation in
// progress, a lock, a detached HEAD) or what git or a hook said. Then nothing has
// changed, and called again it goes on where it was killed.
func (w *Worktree) Integrate(ctx context.Context, message string) (Merged, error) {
	var out Merged
	err := w.withLock(ctx, func(l fileLock) error {
		if err := w.sweepScratch(ctx, l); err != nil {
			return err
		}
		for out.Tries = 1; ; out.Tries++ {
			moved, err := w.merge(ctx, l, message, &out)
			if !moved || out.Tries == mergeTries {
				return err
			}
		}
	})
	return out, err
}

// merge is one try. When the target has moved meanwhile it says so beside the
// error.
func (w *Worktree) merge(ctx context.Context, l fileLock, message string, out *Merged) (moved bool, err error) {
	refs, err := w.refs(ctx, "refs/heads/"+w.Branch, "refs/heads/"+w.Target)
	if err != nil {
		return false, err
	}
	tip, began := refs["refs/heads/"+w.Branch], refs["refs/heads/"+w.Target]
	if tip == "" {
		return false, fmt.Errorf("there is no branch %q any more", w.Branch)
	}
	where, err := w.target(ctx, began)
	if err != nil {
		return false, err
	}
	out.Commit = began
	_, err = w.common("merge-base", "--is-ancestor", tip, began).run(ctx)
	if err == nil {
		out.Nothing = out.Tries == 1 // else it was us, and somebody has gone on from there
		return false, nil
	}
	if code(err) != 1 {
		return false, err
	}
	made, err := w.mergeInScratch(ctx, l, began, tip, message)
	if err != nil {
		return false, err
	}
	failed := w.move(ctx, l, where, began, made)
	ctx = context.WithoutCancel(ctx) // whatever became of it has to be known
	now, err := w.commit(ctx, "refs/heads/"+w.Target)
	switch {
	case err != nil:
		return false, errors.Join(failed, err)
	case now == made:
		out.Commit = made
		if where != nil {
			out.Where = where.Top
		}
		return false, nil
	case now == began && failed != nil:
		return false, failed
	}
	return true, notNow("it is tried again", "branch %q moved while %q was being merged into it", w.Target, w.Branch)
}

// target returns the worktree that has the target branch checked out, nil for none.
// It fails where the branch, which is at tip, cannot be moved at the moment.
func (w *Worktree) target(ctx context.Context, tip string) (where *Repo, err error) {
	listed, err := w.listed(ctx)
	if err != nil {
		return nil, err
	}
	var at []string
	for _, l := range listed {
		if l.branch == w.Target && !l.bare {
			at = append(at, l.path)
		}
	}
	switch {
	case tip == "" && len(at) > 0:
		return nil, notNow("make a first commit", "branch %q has no commit yet", w.Target)
	case tip == "":
		return nil, problem.Fault("merge "+w.Branch+" by hand where it belongs", "there is no branch %q any more", w.Target)
	case len(at) > 1:
		return nil, notNow("check out another branch in one of them", "branch %q is checked out in %s", w.Target, some(at))
	}
	if op, path := w.heldBy(listed); op != "" {
		return nil, notNow("finish or abort it", "a %s of branch %q is in progress in %q", op, w.Target, path)
	}
	if len(at) == 0 {
		return nil, w.notDetached()
	}
	if !exists(at[0]) {
		return nil, notNow("git worktree prune forgets it", "branch %q is checked out in %q, which is not there", w.Target, at[0])
	}
	where, err = Open(ctx, at[0])
	if err != nil {
		return nil, err
	}
	where.filters = nil // the fast-forward needs them, and so does a comparison
	if op := where.Operation(); op != "" {
		return nil, notNow("finish or abort it", "a %s is in progress in %q", op, where.Top)
	}
	if where.IndexLocked() {
		return nil, notNow("delete it if no git is running", "%q is there: %w", filepath.Join(where.GitDir, "index.lock"), ErrIndexLocked)
	}
	return where, nil
}

// heldBy returns the operation that will put the target somewhere when it is
// over: while it runs, HEAD is detached and the branch seems to be free.
func (w *Worktree) heldBy(listed []listing) (op, path string) {
	for _, l := range listed {
		dir := w.Common
		if to, err := gitDirOf(l.path); err == nil {
			dir = to
		}
		for _, file := range []struct{ name, op string }{{"rebase-merge/head-name", "rebase"}, {"rebase-apply/head-name", "rebase"}, {"BISECT_START", "bisect"}} {
			data, err := state.ReadFile(filepath.Join(dir, filepath.FromSlash(file.name)), maxRecord)
			if err == nil && strings.TrimPrefix(strings.TrimSpace(string(data)), "refs/heads/") == w.Target {
				return file.op, l.path
			}
		}
	}
	return "", ""
}

// gitDirOf returns the git directory of the linked worktree at path. It fails
// with ErrNotOurs where there is no such worktree.
func gitDirOf(path string) (string, error) {
	data, err := state.ReadFile(filepath.Join(path, ".git"), maxRecord)
	to, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if err != nil || !ok {
		return "", errors.Join(ErrNotOurs, err)
	}
	if to = filepath.FromSlash(strings.TrimSpace(to)); !filepath.IsAbs(to) {
		to = filepath.Join(path, to)
	}
	return to, nil
}

// notDetached fails when the user's worktree has no branch checked out: they may
// be looking at a commit of the target, or be about to go back to it.
func (w *Worktree) notDetached() error {
	dir, err := gitDirOf(w.Checkout)
	if err != nil {
		dir = filepath.Join(w.Checkout, ".git")
	}
	head, err := state.ReadFile(filepath.Join(dir, "HEAD"), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the worktree is gone
	}
	if err == nil && !strings.HasPrefix(string(head), "ref:") {
		if op := (&Repo{GitDir: dir}).Operation(); op != "" {
			return notNow("finish or abort it", "a %s is in progress in %q", op, w.Checkout)
		}
		return notNow("check out a branch", "%q has no branch checked out", w.Checkout)
	}
	return err
}

// mergeInScratch merges tip into the commit began and returns the merge, which no
// branch has yet.
func (w *Worktree) mergeInScratch(ctx context.Context, l fileLock, began, tip, message string) (made string, err error) {
	root := filepath.Dir(w.Path)
	s := &Worktree{Base: began, Checkout: w.Checkout, Common: w.Common}
	if err := s.claim(ctx, root, slug(repoName(w.Common), "repository"), "merge"); err != nil {
		return "", err
	}
	if err := s.add(ctx, l, "--detach"); err != nil {
		return "", err
	}
	defer func() {
		_, undo := s.clear(context.WithoutCancel(ctx), l)
		err = errors.Join(err, undo)
	}()
	at := s.at()
	if err := at.mergeable(ctx, began, tip); err != nil {
		return "", err
	}
	merge := call{
		dir: s.Path, mutates: true, unattended: true, timeout: mergeTime, holds: l.held,
		config: []string{"rerere.enabled=false", "merge.autoStash=false"},
		args:   []string{"merge", "--no-ff", "--no-edit", "--no-stat", "--quiet", "-m", strings.TrimSpace(message), tip},
	}
	if failed := merge.change(ctx); failed != nil {
		out, err := at.read(context.WithoutCancel(ctx), "diff", "--name-only", "--diff-filter=U", "--no-ext-diff", "-z")
		if files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); err == nil && files[0] != "" {
			return "", &ConflictError{w.Branch, w.Target, slices.Compact(files)}
		}
		return "", at.orNobody(ctx, failed)
	}
	out, err := at.read(ctx, "rev-parse", "HEAD", "HEAD^1", "HEAD^2")
	if ids := strings.Fields(string(out)); err == nil && (len(ids) != 3 || ids[1] != began || ids[2] != tip) {
		err = errors.New("a merge hook has changed what was merged")
	}
	if err != nil {
		return "", err
	}
	return strings.Fields(string(out))[0], nil
}

// mergeable fails when the merge would not be the user's, or run what an agent
// wrote.
func (r *Repo) mergeable(ctx context.Context, began, tip string) error {
	fork, err := r.read(ctx, "merge-base", began, tip)
	if err != nil {
		return fmt.Errorf("the branches have nothing in common: %w", err)
	}
	names, err := r.names(ctx, strings.TrimSpace(string(fork)), tip)
	if err != nil {
		return err
	}
	return r.hooksUntouched(ctx, names)
}

// move puts the target, which was at began, to the commit made.
func (w *Worktree) move(ctx context.Context, l fileLock, where *Repo, began, made string) error {
	if where == nil {
		c := w.common("update-ref", "-m", "cc-later: merge "+w.Branch, "refs/heads/"+w.Target, made, began)
		c.holds = l.held
		return c.change(ctx)
	}
	names, err := where.names(ctx, began, made)
	if err != nil {
		return err
	}
	if err := where.free(ctx, names, made); err != nil {
		return err
	}
	step("fast-forward")
	// The merge takes whatever is checked out along.
	if branch, tip, err := where.branchTip(ctx); err != nil || branch != w.Target || tip != began {
		return errors.Join(notNow("it is tried again", "%q has something else checked out than %q now", where.Top, w.Target), err)
	}
	ff := call{
		dir: where.Top, checksOut: true, timeout: mergeTime, holds: l.held,
		config: []string{"merge.autoStash=false"},
		args:   []string{"merge", "--ff-only", "--no-overwrite-ignore", "--no-edit", "--no-stat", "--quiet", made},
	}
	_, err = ff.run(ctx)
	switch {
	case says(err, "would be overwritten", "would lose untracked files"):
		return notNow("commit or stash what you have changed", "%w", err)
	case says(err, ".lock'"):
		return notNow("delete it if no git is running", "%w", err)
	}
	return err
}

// free fails with a LocalChangesError when one of the files is changed or unknown
// to git, or in the way of one. A file that is already what the commit made has is
// not in the way: git, when somebody else moves the branch at the same time, has
// changed the files before it finds out.
func (r *Repo) free(ctx context.Context, files []string, made string) error {
	_, list, err := r.changes(ctx, false)
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, f := range files {
		wanted[f] = true
	}
	var blocked []string
	mine := map[string]bool{}
	for _, c := range list {
		p := strings.TrimSuffix(c.path, "/")
		mine[p] = true
		if above(p, wanted) {
			blocked = append(blocked, p)
		}
	}
	for _, f := range files {
		if mine[f] || above(f, mine) {
			blocked = append(blocked, f)
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	other := map[string]bool{}
	for _, args := range [][]string{{"diff-index"}, {"diff-index", "--cached"}} {
		diff := call{dir: r.Top, args: append(args, "--name-only", "--no-renames", "--no-ext-diff", "-z", made, "--"), limit: maxNames, timeout: mergeTime}
		out, err := diff.run(ctx)
		if err != nil {
			return err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			other[name] = true
		}
	}
	blocked = slices.DeleteFunc(blocked, func(f string) bool { return wanted[f] && !other[f] })
	if len(blocked) > 0 {
		return &LocalChangesError{r.Top, blocked}
	}
	return nil
}

// above reports whether one of the directories that p is in is among paths.
func above(p string, paths map[string]bool) bool {
	for p = path.Dir(p); p != "."; p = path.Dir(p) {
		if paths[p] {
			return true
		}
	}
	return false
}

// sweepScratch takes away what merges of this repository left that were killed.
func (w *Worktree) sweepScratch(ctx context.Context, l fileLock) error {
	root := filepath.Dir(w.Path)
	for _, name := range state.NewDir(root).Names() {
		name, ok := strings.CutSuffix(name, recordSuffix)
		if !ok {
			continue
		}
		s, err := LoadWorktree(filepath.Join(root, name))
		if err != nil || s.Branch != "" || s.Common != w.Common {
			continue // Orphans names it
		}
		if _, err := s.clear(ctx, l); err != nil && !errors.Is(err, ErrInUse) {
			return err
		}
	}
	return nil
}
