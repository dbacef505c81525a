package git

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// commitAllTime is what a commit of everything may take, hooks and signing
// included.
const commitAllTime = 60 * time.Second

// hookFiles are where the common hook runners keep what a commit runs, below the
// top of a worktree. A name with a slash is a directory.
var hookFiles = [...]string{".husky/", ".githooks/", ".pre-commit-config.yaml", "lefthook.yml", "lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook.toml", "lefthook.json", ".lefthook/"}

// Work is what a branch of a worktree has by now.
type Work struct {
	Commit  string   // the tip of the branch
	Made    bool     // this call has made it
	Commits int      // on the branch since it began
	Left    []string // what is not in it, such as files that a commit hook made; below Path
}

// CommitAll commits everything that differs in the worktree: changed, new and
// deleted files, but not what git ignores. A link is committed as a link. Author,
// filters, signing and hooks are as the user configured them, signing without
// asking; all of it has 60 s. The message gets trailers, lines such as
// "Task: t_0123456789".
//
// It fails with ErrNothing when there is nothing and never was, with ErrNotOurs
// when the worktree has become another, and when what is there cannot be committed
// as it should: what a hook refused, a repository in the repository, commits of
// somebody who left the branch, hooks that were changed. Then all of it stays as it
// is. Called again after it succeeded it returns the same Work.
func (w *Worktree) CommitAll(ctx context.Context, message string, trailers ...string) (Work, error) {
	ctx, cancel := context.WithTimeout(ctx, commitAllTime)
	defer cancel()
	at, err := w.open()
	if err != nil {
		return Work{}, err
	}
	head, list, err := at.changes(ctx, false)
	if err != nil {
		return Work{}, err
	}
	if err := at.onBranch(ctx, w, head); err != nil {
		return Work{}, err
	}
	before := head.Commit
	if err := committable(w, list); err != nil {
		return Work{}, err
	}
	if len(list) == 0 {
		return w.workSince(ctx, at, before)
	}
	names, err := at.names(ctx, w.Base, before)
	if err != nil {
		return Work{}, err
	}
	for _, c := range list {
		names = append(names, c.path)
	}
	if err := at.hooksUntouched(ctx, names); err != nil {
		return Work{}, err
	}
	add := call{dir: at.Top, args: []string{"add", "--all"}, timeout: commitAllTime}
	if err := add.change(ctx); err != nil {
		return Work{}, err
	}
	commit := call{
		dir: at.Top, args: []string{"commit", "--quiet", "--no-status", "--file=-"}, stdin: withTrailers(message, trailers),
		mutates: true, unattended: true, timeout: commitAllTime,
	}
	failed := commit.change(ctx)
	ctx = context.WithoutCancel(ctx) // whatever became of it has to be known
	work, err := w.workSince(ctx, at, before)
	switch {
	case err == nil && work.Made:
		return work, nil // a hook after it may have failed
	case code(failed) == 1 && at.nothingStaged(ctx):
		return work, err // what differed was only how lines end, for instance
	case failed != nil:
		return Work{}, at.orNobody(ctx, failed)
	}
	return work, err
}

// nothingStaged reports whether a commit would be empty.
func (r *Repo) nothingStaged(ctx context.Context) bool {
	_, err := r.read(ctx, "diff-index", "--cached", "--quiet", "HEAD", "--")
	return err == nil
}

// onBranch fails unless the worktree's branch is checked out, goes on from where it
// began, and no operation is in progress.
func (r *Repo) onBranch(ctx context.Context, w *Worktree, head Status) error {
	const hint = "commit or merge by hand what is worth it"
	if op := r.Operation(); op != "" {
		return problem.Fault(hint, "a %s is in progress in %q", op, w.Path)
	}
	if r.IndexLocked() {
		return problem.Fault("delete it if no git is running", "%q is there: %w", filepath.Join(r.GitDir, "index.lock"), ErrIndexLocked)
	}
	if head.Branch != w.Branch || head.Unborn() {
		now := "nothing"
		if head.Branch != "" {
			now = fmt.Sprintf("branch %q", head.Branch)
		}
		return problem.Fault(hint, "the branch %q was left: %q has %s checked out", w.Branch, w.Path, now)
	}
	if head.Commit == w.Base {
		return nil
	}
	_, err := r.read(ctx, "merge-base", "--is-ancestor", w.Base, head.Commit)
	if code(err) == 1 {
		return problem.Fault(hint, "the history of branch %q was rewritten: it does not go on from %s", w.Branch, w.Base)
	}
	return err
}

// pending is a path of a worktree that differs from HEAD.
type pending struct {
	path     string // with slashes; with one at the end for a directory
	ignored  bool
	nested   bool // a submodule or another repository, whose content is not in this one
	unmerged bool
}

// changes returns the branch and commit that are checked out, what differs from
// HEAD, file by file, and with ignored set what git ignores, directory by directory.
func (r *Repo) changes(ctx context.Context, ignored bool) (head Status, list []pending, err error) {
	status := call{
		dir: r.Top, timeout: commitAllTime, limit: maxNames, config: r.filters,
		args: []string{"status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z", "--untracked-files=all", "--ignore-submodules=none", "--no-renames"},
	}
	if ignored {
		status.args = append(status.args, "--ignored=matching")
	}
	out, err := status.run(ctx)
	if err != nil {
		return Status{}, nil, err
	}
	err = eachRecord(string(out), func(kind, fields, path string) {
		switch kind {
		case "#":
			head.header(path)
		case "!":
			list = append(list, pending{path: path, ignored: true})
		case "?":
			list = append(list, pending{path: path, nested: strings.HasSuffix(path, "/")})
		case "1", "2", "u":
			list = append(list, pending{path: path, nested: strings.HasPrefix(fields[3:], "S") || strings.Contains(fields, " 160000"), unmerged: kind == "u"})
		}
	})
	return head, list, err
}

// committable fails when a commit of the list would leave work out.
func committable(w *Worktree, list []pending) error {
	var nested, unmerged []string
	for _, c := range list {
		if c.nested {
			nested = append(nested, c.path)
		}
		if c.unmerged {
			unmerged = append(unmerged, c.path)
		}
	}
	switch {
	case len(nested) > 0:
		return problem.Fault("commit there by hand what is worth it", "%q has repositories of their own in it, and what changed in them cannot be committed here: %s", w.Path, some(nested))
	case len(unmerged) > 0:
		return problem.Fault("resolve them and commit by hand", "%q has conflicts: %s", w.Path, some(unmerged))
	}
	return nil
}

// names returns the files, below Top, in which two commits differ.
func (r *Repo) names(ctx context.Context, from, to string) ([]string, error) {
	c := call{dir: r.Top, args: []string{"diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", from, to, "--"}, limit: maxNames, timeout: commitAllTime}
	out, err := c.run(ctx)
	return slices.DeleteFunc(strings.Split(string(out), "\x00"), func(s string) bool { return s == "" }), err
}

// hooksUntouched fails when one of the files is what the repository's hooks are
// made of, or is named in one of them: a commit or merge would run it. So it does
// when the worktree has got a configuration of its own, which may name filters.
func (r *Repo) hooksUntouched(ctx context.Context, files []string) error {
	dir, err := r.hooksDir(ctx)
	if err != nil {
		return err
	}
	places := hookFiles[:]
	if rel, in := state.Below(state.RealPath(r.Top), state.RealPath(dir)); in && rel != "." {
		places = append(slices.Clone(places), filepath.ToSlash(rel)+"/")
	}
	named := hookWords(dir)
	var touched []string
	for _, f := range files {
		if named[f] || named[path.Base(f)] || slices.ContainsFunc(places, func(p string) bool { return f == p || strings.HasSuffix(p, "/") && strings.HasPrefix(f, p) }) {
			touched = append(touched, f)
		}
	}
	// git gives a new worktree a copy of the first one's.
	own, ownErr := os.ReadFile(filepath.Join(r.GitDir, worktreeConfig))
	first, _ := os.ReadFile(filepath.Join(r.CommonDir, worktreeConfig))
	if ownErr == nil && !bytes.Equal(own, first) {
		touched = append(touched, "the configuration "+worktreeConfig)
	}
	if len(touched) > 0 {
		return problem.Fault("read them, then commit and merge by hand", "what git runs on a commit was changed: %s", some(touched))
	}
	return nil
}

const worktreeConfig = "config.worktree"

// maxHook is how much of a hook is read, in bytes.
const maxHook = 64 << 10

// runners run the file that is named next.
var runners = []string{"sh", "bash", "zsh", "dash", "python", "python3", "node", "ruby", "perl", "source", ".", "exec", "deno", "php"}

// runFrom returns the files from which a program takes what it runs.
func runFrom(program string) []string {
	switch program {
	case "make":
		return []string{"Makefile", "makefile", "GNUmakefile"}
	case "just":
		return []string{"justfile", "Justfile"}
	case "task":
		return []string{"Taskfile.yml"}
	case "npm", "npx", "yarn", "pnpm", "bun":
		return []string{"package.json"}
	}
	return nil
}

// hookWords returns what the hooks in a directory name that may be a file.
func hookWords(dir string) map[string]bool {
	words := map[string]bool{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		data, err := state.ReadFile(filepath.Join(dir, e.Name()), maxHook)
		if err != nil || bytes.IndexByte(data, 0) >= 0 {
			continue
		}
		before := ""
		for _, w := range strings.FieldsFunc(string(data), func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune("'\"`;&|()<>=$", r)
		}) {
			w = path.Clean(w)
			if strings.ContainsAny(w, "/.") || slices.Contains(runners, before) {
				words[w], words[path.Base(w)] = true, true
			}
			before = w
			for _, f := range runFrom(w) {
				words[f] = true
			}
		}
	}
	return words
}

// hooksDir returns where git looks for hooks, in full.
func (r *Repo) hooksDir(ctx context.Context) (string, error) {
	// As a call that runs hooks sees it. This one runs none.
	out, err := call{dir: r.Top, args: []string{"rev-parse", "--git-path", "hooks"}, mutates: true}.run(ctx)
	dir := filepath.FromSlash(strings.TrimSuffix(string(out), "\n"))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(r.Top, dir)
	}
	return dir, err
}

// identity fails when git does not know who commits.
func (r *Repo) identity(ctx context.Context) error {
	for _, who := range []string{"GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"} {
		if _, err := r.read(ctx, "var", who); err != nil {
			return problem.Fault("set user.name and user.email with git config", "git does not know who commits in %q", r.Top)
		}
	}
	return nil
}

// orNobody returns why a commit failed: because git does not know who commits, or
// for the reason that git gave, in whatever language.
func (r *Repo) orNobody(ctx context.Context, failed error) error {
	return cmp.Or(r.identity(ctx), failed)
}

// withTrailers returns message with trailers as its last paragraph.
func withTrailers(message string, trailers []string) string {
	message = strings.TrimSpace(message) + "\n"
	for i, t := range trailers {
		if i == 0 {
			message += "\n"
		}
		message += term.OneLine(t) + "\n"
	}
	return message
}

// workSince returns what is on the branch, of which the tip was before.
func (w *Worktree) workSince(ctx context.Context, at *Repo, before string) (Work, error) {
	head, left, err := at.changes(ctx, false)
	if err != nil {
		return Work{}, err
	}
	out, err := at.read(ctx, "rev-list", "--count", w.Base+".."+head.Commit)
	if err != nil {
		return Work{}, err
	}
	work := Work{Commit: head.Commit, Made: head.Commit != before}
	if _, err := fmt.Sscan(string(out), &work.Commits); err != nil {
		return Work{}, fmt.Errorf("git rev-list: %w", err)
	}
	for _, c := range left {
		work.Left = append(work.Left, c.path)
	}
	if work.Commits == 0 {
		return work, ErrNothing
	}
	return work, nil
}
