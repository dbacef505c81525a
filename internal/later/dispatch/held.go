package dispatch

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/term"
)

// heldOf returns the worktrees that are held for the person, by their paths.
func heldOf(orphans []git.Orphan) map[string]*git.Worktree {
	held := map[string]*git.Worktree{}
	for _, o := range orphans {
		if o.Worktree != nil && o.Worktree.Held != "" && !o.Junk {
			held[o.Path] = o.Worktree
		}
	}
	return held
}

// setupOf returns what changed of the configuration and hooks of a repository while
// an agent was at work, for people and as files, as long as a worktree says so.
func setupOf(common string, held map[string]*git.Worktree) (says string, files []string) {
	var names []string
	for _, path := range sorted(held) {
		tree := held[path]
		if tree.Common != common {
			continue
		}
		for _, f := range tree.Setup {
			name := f[0]
			if rel, err := filepath.Rel(tree.Checkout, f[0]); err == nil && filepath.IsLocal(rel) {
				name = rel
			}
			d := git.Difference{Keys: f[1:]}
			if name = strconv.Quote(name); len(d.Keys) > 0 {
				name += " (" + d.Setting() + ")"
			}
			if !contains(names, name) {
				names = append(names, name)
			}
			if !contains(files, f[0]) {
				files = append(files, f[0])
			}
		}
	}
	return strings.Join(cut(names, 3), ", "), files
}

// takeOver is what the person is to do with a worktree that is held for them. A
// command of git obeys the configuration of the repository, so where that changed
// the first thing is to look at it.
func (w *World) takeOver(ctx context.Context, tree *git.Worktree, held map[string]*git.Worktree) Want {
	var tasks []string
	for _, texts := range w.ledger.Kept(tree.Path) {
		tasks = append(tasks, texts...)
	}
	if len(tree.Setup) > 0 {
		says, files := setupOf(tree.Common, map[string]*git.Worktree{tree.Path: tree})
		return Want{
			fmt.Sprintf("before you run git in %s, look at %s: changed while an agent was at work%s", filepath.Base(tree.Checkout), says, ofTasks(tasks)+", so nothing of that is merged"),
			show(files),
		}
	}
	what := "no task was done, and what there is of it is kept in " + tree.Path
	if len(tasks) > 0 {
		what = nameTasks(tasks) + ": done, but not merged: " + tree.Held
	}
	if len(tasks) > 0 && tree.Astray {
		what = fmt.Sprintf("%s: done, and in %s without a merge of yours: %s", nameTasks(tasks), tree.Target, tree.Held)
	}
	if says, _ := setupOf(tree.Common, held); says != "" {
		return Want{What: what + "; before you run git there, look at " + says}
	}
	return Want{what, w.command(ctx, tree, len(tasks) > 0)}
}

// command is what takes the work of a worktree over, or shows what there is.
func (w *World) command(ctx context.Context, tree *git.Worktree, done bool) string {
	in, main := "git -C "+shell.Quote(tree.Path), "git -C "+shell.Quote(tree.Checkout)
	stage, err := tree.Stage(ctx)
	switch {
	case err != nil, !done:
		return in + " status"
	case tree.Astray:
		return main + " diff " + tree.Base[:min(len(tree.Base), 10)] + " " + shell.Quote(tree.Target)
	case stage == git.NotCommitted:
		return in + " add -A && " + in + " commit && " + main + " merge " + shell.Quote(tree.Branch)
	case stage == git.Taken:
		return in + " status" // what is left there is on no branch
	}
	return main + " merge " + shell.Quote(tree.Branch)
}

// steps are what the person is to do with the worktree of a run that is held for
// them, as lines of its report.
func (w *World) steps(ctx context.Context, run *Run) string {
	tree, err := git.LoadWorktree(deref(run.Worktree))
	if err != nil || tree.Held == "" {
		return ""
	}
	orphans, _ := git.Orphans(ctx, filepath.Dir(tree.Path)) // what cannot be read says nothing
	held := heldOf(orphans)
	held[tree.Path] = tree
	lines := ""
	if says, files := setupOf(tree.Common, held); says != "" {
		lines += fmt.Sprintf("- first look at %s, before you run git there: `%s`\n", term.Visible(says), term.Visible(show(files)))
	}
	return lines + fmt.Sprintf("- then, if you want it: `%s`\n", term.Visible(w.command(ctx, tree, len(w.ledger.Kept(tree.Path)) > 0)))
}

// show is a command that shows files and obeys none of them.
func show(files []string) string {
	const most = 3
	out := "cat"
	for _, f := range files[:min(len(files), most)] {
		out += " " + shell.Quote(f)
	}
	return out
}

func nameTasks(tasks []string) string {
	name := strconv.Quote(host.Cut(tasks[0], 60))
	if len(tasks) > 1 {
		name += " and " + term.Count(len(tasks)-1, "other task")
	}
	return name
}

func ofTasks(tasks []string) string {
	if len(tasks) == 0 {
		return ""
	}
	return " on " + nameTasks(tasks)
}
