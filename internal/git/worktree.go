package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	// BranchPrefix is what the branches of our worktrees begin with.
	BranchPrefix = "cc-later/"
	// ownRefs is where the refs of ours are that are no branches.
	ownRefs       = "refs/cc-later/"
	salvagePrefix = ownRefs + "salvage/"

	recordSuffix   = ".worktree" // of the record, beside the worktree
	removingSuffix = ".removing" // of a worktree that is being deleted
	markerName     = "ccreload"  // in the git directory of a worktree of ours
	maxRecord      = 1 << 16

	addTime    = 5 * time.Minute // to check out a whole tree
	recordWait = 5 * time.Second
)

// Errors that callers tell apart.
var (
	// ErrInUse means that a process works in the worktree.
	ErrInUse = errors.New("a process is at work in the worktree")
	// ErrNotOurs means that what lies at the path is not what was made there.
	ErrNotOurs = errors.New("not the worktree that was made there")
)

// Worktree is one that was made for an agent, or, without a branch, for a merge.
// Beside it lies a record of it, which is written before it and deleted after it,
// so that whatever a run is killed between, Orphans finds it.
type Worktree struct {
	Path     string // {root}/{repository}-{slug}-{stamp}
	Branch   string // cc-later/{slug}-{stamp}; "" for the scratch worktree of a merge
	Base     string // id of the commit it began with
	Target   string // branch that was checked out in Checkout, and that its work is for
	Checkout string // top of the user's worktree that it was made from
	Common   string // git directory that all worktrees of the repository share
	GitDir   string // its own git directory; "" as long as it is not complete

	// Held is why it stays for the person, "" where it does not.
	Held string
	// Setup are files that decide what git does and runs in the repository, and that
	// changed while somebody worked in the worktree: the first of each is the path,
	// others what is set otherwise. Before a person has looked at them nothing is run
	// here that obeys them.
	Setup [][]string
	// Astray says that what was done in it was in another branch when it was held: no
	// merge of the person's has brought it there.
	Astray bool

	Owner   proc.ID // who works in it; the zero ID as long as nobody does
	Session string  // of the host, "" if unknown

	// Notes say what could not be brought along: submodules, ignored files. They
	// are of the call that made the worktree, and not recorded.
	Notes []string
}

// AddWorktree makes a worktree below root, an absolute path outside of the
// repository, on a branch of its own, at the tip of the branch that is checked out
// in r. The name has slug, a text of any kind, and stamp in it, and a number where
// that is taken. Initialized submodules come along from the user's copies, and so
// do ignored files that .worktreeinclude lists; what of that does not is in Notes.
//
// No hook of the repository runs. It fails without a trace; an error that is an
// ErrNotNow may be gone later.
func (r *Repo) AddWorktree(ctx context.Context, root, slugOf, stamp string) (*Worktree, error) {
	branch, tip, err := r.branchTip(ctx)
	if err != nil {
		return nil, err
	}
	root, err = r.rootOf(ctx, root)
	if err != nil {
		return nil, err
	}
	w := &Worktree{Base: tip, Target: branch, Checkout: r.Top, Common: state.RealPath(r.CommonDir)}
	err = locked(ctx, w.Common, func(l fileLock) error {
		name := slug(slugOf, "default") + "-" + slug(stamp, "now")
		if err := w.claim(ctx, root, slug(filepath.Base(r.Top), "repository"), name); err != nil {
			return err
		}
		return w.add(ctx, l, "--no-track", "-b", w.Branch)
	})
	if err != nil {
		return nil, err
	}
	w.bring(ctx, r)
	return w, nil
}

// branchTip returns the branch that is checked out and its commit.
func (r *Repo) branchTip(ctx context.Context) (branch, tip string, err error) {
	out, err := r.read(ctx, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	lines := strings.Fields(string(out))
	if err == nil && len(lines) == 2 {
		if branch, ok := strings.CutPrefix(lines[1], "refs/heads/"); ok {
			return branch, lines[0], nil
		}
		if op := r.Operation(); op != "" {
			return "", "", notNow("finish or abort it", "a %s is in progress in %q", op, r.Top)
		}
		return "", "", notNow("check out the branch that the work is for", "%q has no branch checked out", r.Top)
	}
	if name, _ := r.read(ctx, "symbolic-ref", "-q", "HEAD"); len(name) > 0 {
		return "", "", notNow("make a first commit", "branch %q has no commit yet", strings.TrimPrefix(strings.TrimSpace(string(name)), "refs/heads/"))
	}
	return "", "", errors.Join(errors.New("HEAD is not understood"), err)
}

// rootOf makes the directory root and returns it without links. It has to lie
// outside of every worktree of the repository, which would else show our files as
// new ones of theirs.
func (r *Repo) rootOf(ctx context.Context, root string) (string, error) {
	if !filepath.IsAbs(root) {
		return "", fmt.Errorf("%q is not an absolute path", root)
	}
	listed, err := r.listed(ctx)
	if err != nil {
		return "", err
	}
	inside := func() error {
		real := state.Resolve(root)
		for _, l := range append(listed, listing{path: r.Top}, listing{path: r.CommonDir}) {
			if _, in := state.Below(state.RealPath(l.path), real); in && !l.bare {
				return problem.Fault("set CC_LATER_APP_DIR to a directory outside of it", "worktrees in %q would lie inside the repository %q", root, l.path)
			}
		}
		return nil
	}
	if err := inside(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	return state.RealPath(root), inside()
}

// slug returns s as part of a file's and a branch's name: letters, digits, _ and
// -, at most 40 of them; instead where nothing is left. Names that differ only in
// what was replaced become one: claim adds a number.
func slug(s, instead string) string {
	const most = 40
	out := make([]byte, 0, most)
	for _, c := range s {
		if len(out) == most {
			break
		}
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
			out = append(out, byte(c))
		default:
			out = append(out, '_')
		}
	}
	if len(out) == 0 {
		return instead
	}
	return string(out)
}

// repoName returns what people call the repository with the git directory common.
func repoName(common string) string {
	name := filepath.Base(common)
	if name == ".git" {
		return filepath.Base(filepath.Dir(common))
	}
	return strings.TrimSuffix(name, ".git")
}

// claim finds a name that is free and writes the record. The file systems of
// Windows and macOS take names of other case for the same, and a branch is a file.
func (w *Worktree) claim(ctx context.Context, root, repository, name string) error {
	refs, err := w.refs(ctx, "refs/heads/"+strings.TrimSuffix(BranchPrefix, "/"), salvagePrefix)
	if err != nil {
		return err
	}
	if _, taken := refs["refs/heads/"+strings.TrimSuffix(BranchPrefix, "/")]; taken {
		return problem.Fault("rename it with git branch -m", "a branch is called %q, so none can be called %q", strings.TrimSuffix(BranchPrefix, "/"), BranchPrefix+name)
	}
	listed, err := w.listed(ctx)
	if err != nil {
		return err
	}
	taken := map[string]bool{}
	for ref := range refs {
		branch := strings.TrimPrefix(strings.TrimPrefix(ref, "refs/heads/"+BranchPrefix), salvagePrefix)
		taken["branch "+strings.ToLower(branch)] = true
	}
	for _, l := range listed {
		taken[strings.ToLower(filepath.Base(l.path))] = true
	}
	dir := state.NewDir(root)
	return dir.WithLock(recordWait, func(tx *state.Tx) error {
		for _, there := range dir.Names() {
			there = strings.TrimSuffix(strings.TrimSuffix(there, recordSuffix), removingSuffix)
			taken[strings.ToLower(there)] = true
		}
		for n := 1; ; n++ {
			id := name
			if n > 1 {
				id += fmt.Sprintf("-%d", n)
			}
			path := repository + "-" + id
			if taken["branch "+strings.ToLower(id)] || taken[strings.ToLower(path)] {
				continue
			}
			w.Path = filepath.Join(root, path)
			if w.Target != "" {
				w.Branch = BranchPrefix + id
			}
			return tx.Write(path+recordSuffix, w.encode())
		}
	})
}

// add makes the worktree, which how says how to attach, and marks it. On failure
// it takes away what there is of it.
func (w *Worktree) add(ctx context.Context, l fileLock, how ...string) error {
	err := w.tryAdd(ctx, l, how)
	if err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	w.GitDir = ""
	_, undo := w.clear(ctx, l)
	return errors.Join(err, undo)
}

func (w *Worktree) tryAdd(ctx context.Context, l fileLock, how []string) error {
	args := append([]string{"worktree", "add", "--quiet", "--no-guess-remote"}, how...)
	add := w.common(append(args, "--", w.Path, w.Base)...)
	add.checksOut, add.timeout, add.holds = true, addTime, l.held
	if err := add.change(ctx); err != nil {
		return err
	}
	gitDir, err := w.linkedTo()
	if err != nil {
		return err
	}
	step("mark")
	if err := state.WriteFile(filepath.Join(gitDir, markerName), w.mark(), 0o600); err != nil {
		return err
	}
	w.GitDir = gitDir
	return w.save()
}

// change runs a call that changes something.
func (c call) change(ctx context.Context) error {
	step("git " + c.args[0])
	_, err := c.patient(ctx)
	return err
}

// patient is run for a call that may come across a worktree which another git has
// half made, and fails on it.
func (c call) patient(ctx context.Context) (out []byte, err error) {
	for range 10 {
		if out, err = c.run(ctx); !says(err, "failed to read ") {
			break
		}
		select {
		case <-ctx.Done():
		case <-time.After(lockEvery):
		}
	}
	return out, err
}

// common returns a call that concerns the repository and no worktree: it works
// when the user's and ours are gone.
func (w *Worktree) common(args ...string) call {
	return call{dir: w.Common, args: args, env: []string{"GIT_DIR=" + w.Common}}
}

// refs returns the refs that begin with one of prefixes, with their objects.
func (w *Worktree) refs(ctx context.Context, prefixes ...string) (map[string]string, error) {
	out, err := w.common(append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, prefixes...)...).run(ctx)
	if err != nil {
		return nil, err
	}
	return parseRefs(string(out)), nil
}

func parseRefs(out string) map[string]string {
	refs := map[string]string{}
	for line := range strings.Lines(out) {
		if name, id, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			refs[name] = id
		}
	}
	return refs
}

// commit returns the commit that name stands for, "" for none.
func (w *Worktree) commit(ctx context.Context, name string) (string, error) {
	out, err := w.common("rev-parse", "-q", "--verify", "--end-of-options", name+"^{commit}").run(ctx)
	if code(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// linkedTo returns the git directory that the file .git in the worktree names,
// and fails with ErrNotOurs where that is not one of the repository's.
func (w *Worktree) linkedTo() (string, error) {
	name := filepath.Join(w.Path, ".git")
	info, err := os.Lstat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%q is not the file that git put there: %w", name, ErrNotOurs)
	}
	to, err := gitDirOf(w.Path)
	if err != nil {
		return "", fmt.Errorf("%q is not the file that git put there: %w", name, err)
	}
	to = state.RealPath(to)
	if !state.Within(filepath.Join(w.Common, "worktrees"), to) {
		return "", fmt.Errorf("%q leads to %q, which is not a worktree of %q: %w", name, to, w.Common, ErrNotOurs)
	}
	return to, nil
}

// check fails with ErrNotOurs unless the worktree is the one that was made: it
// leads to its git directory, which has our marker and leads back.
func (w *Worktree) check() error {
	to, err := w.linkedTo()
	if err != nil {
		return err
	}
	mark, err := state.ReadFile(filepath.Join(to, markerName), maxRecord)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !sameDir(to, w.GitDir) || string(mark) != string(w.mark()) {
		return fmt.Errorf("%q: %w", w.Path, ErrNotOurs)
	}
	return nil
}

// mark is what the marker holds.
func (w *Worktree) mark() []byte {
	return []byte(quoted("path", w.Path) + quoted("branch", w.Branch) + quoted("base", w.Base))
}

// SetOwner records who works in the worktree. Remove leaves it alone until that
// process has ended.
func (w *Worktree) SetOwner(owner proc.ID, session string) error {
	w.Owner, w.Session = owner, session
	return w.save()
}

// Hold records that the worktree stays for the person, and why.
func (w *Worktree) Hold(ctx context.Context, why string, setup [][]string) error {
	w.Held, w.Setup = strings.ToValidUTF8(why[:min(len(why), maxHeld)], ""), setup[:min(len(setup), maxSetup)]
	tip, err := w.commit(ctx, "refs/heads/"+w.Branch)
	if err != nil {
		return err
	}
	w.Astray = false
	if tip != "" && tip != w.Base {
		if w.Astray, err = w.taken(ctx, tip); err != nil {
			return err
		}
	}
	return w.save()
}

// What a record holds of them.
const (
	maxHeld  = 4000 // bytes
	maxSetup = 20
)

// save writes the record.
func (w *Worktree) save() error {
	return state.NewDir(filepath.Dir(w.Path)).WithLock(recordWait, func(tx *state.Tx) error {
		return tx.Update(filepath.Base(w.Path)+recordSuffix, w.encode())
	})
}

func (w *Worktree) encode() []byte {
	owner := ""
	if w.Owner != (proc.ID{}) {
		owner = w.Owner.String()
	}
	held := ""
	if w.Held != "" {
		held = quoted("held", w.Held)
	}
	for _, words := range w.Setup {
		held += quoted(append([]string{"setup"}, words...)...)
	}
	if w.Astray {
		held += quoted("astray", "")
	}
	return []byte(string(w.mark()) + quoted("target", w.Target) + quoted("checkout", w.Checkout) + quoted("common", w.Common) +
		quoted("gitdir", w.GitDir) + quoted("owner", owner) + quoted("session", w.Session) + held)
}

// LoadWorktree returns the worktree at path as it is recorded, whatever became of
// its files. It fails with fs.ErrNotExist where none of ours is.
func LoadWorktree(path string) (*Worktree, error) {
	data, err := state.NewDir(filepath.Dir(path)).Read(filepath.Base(path)+recordSuffix, maxRecord)
	if err != nil {
		return nil, err
	}
	w, err := decodeWorktree(string(data))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s%s: %w", path, recordSuffix, err)
	case filepath.Base(w.Path) != filepath.Base(path):
		return nil, fmt.Errorf("%s%s is the record of another worktree, %q", path, recordSuffix, w.Path)
	}
	return w, nil
}

func decodeWorktree(text string) (*Worktree, error) {
	w := &Worktree{}
	fields := map[string]*string{
		"path": &w.Path, "branch": &w.Branch, "base": &w.Base, "target": &w.Target, "checkout": &w.Checkout,
		"common": &w.Common, "gitdir": &w.GitDir, "session": &w.Session, "held": &w.Held,
	}
	err := unquoted(text, func(words []string) error {
		if words[0] == "setup" && len(words) > 1 {
			w.Setup = append(w.Setup, words[1:])
			return nil
		}
		if len(words) != 2 {
			return fmt.Errorf("%q is not understood", words)
		}
		w.Astray = w.Astray || words[0] == "astray"
		if words[0] == "owner" && words[1] != "" {
			id, err := proc.ParseID(words[1])
			w.Owner = id
			return err
		}
		if to := fields[words[0]]; to != nil {
			*to = words[1]
		}
		return nil
	})
	if err == nil && (!filepath.IsAbs(w.Path) || !filepath.IsAbs(w.Common) || w.Base == "" || w.Branch != "" && !strings.HasPrefix(w.Branch, BranchPrefix)) {
		err = errors.New("the record is damaged")
	}
	return w, err
}

// listing is a worktree as `git worktree list` has it.
type listing struct {
	path, branch string // branch is "" on a detached HEAD
	bare, locked bool
}

// listed returns all worktrees of the repository, the main one first.
func (r *Repo) listed(ctx context.Context) ([]listing, error) {
	out, err := call{dir: r.Dir, args: []string{"worktree", "list", "--porcelain"}}.patient(ctx)
	return parseListing(string(out)), err
}

func (w *Worktree) listed(ctx context.Context) ([]listing, error) {
	out, err := w.common("worktree", "list", "--porcelain").patient(ctx)
	list := parseListing(string(out))
	if err != nil || len(list) == 0 || !sameDir(list[0].path, w.Common) || list[0].bare {
		return list, err
	}
	// Of a submodule git names the git directory.
	if out, err = w.common("config", "core.worktree").run(ctx); err != nil {
		return nil, err
	}
	if list[0].path = filepath.FromSlash(strings.TrimSuffix(string(out), "\n")); !filepath.IsAbs(list[0].path) {
		list[0].path = filepath.Join(w.Common, list[0].path)
	}
	return list, nil
}

// parseListing reads the answer of git worktree list --porcelain.
func parseListing(out string) []listing {
	var list []listing
	for line := range strings.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if key == "worktree" {
			list = append(list, listing{path: filepath.FromSlash(value)})
			continue
		}
		if len(list) == 0 {
			continue
		}
		l := &list[len(list)-1]
		switch key {
		case "branch":
			l.branch = strings.TrimPrefix(value, "refs/heads/")
		case "bare":
			l.bare = true
		case "locked":
			l.locked = true
		}
	}
	return list
}
