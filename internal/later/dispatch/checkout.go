package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/state"
)

// An agent that may write works in a worktree and must leave the user's checkout
// alone. What that looks like is noted when the run begins and compared when it is
// over, and before and after each merge of ours, which changes it rightly.

// maxSnapshot is the most that is read of a noted checkout, in bytes.
const maxSnapshot = 64 << 20

func (w *World) snapFile(run *Run) string {
	return filepath.Join(w.App, watchName, run.ID)
}

// snap notes what the checkout looks like for a run. Without a note there is
// nothing to compare, and nothing is merged.
func (w *World) snap(ctx context.Context, root string, run *Run) {
	err := os.MkdirAll(filepath.Join(w.App, watchName), 0o700)
	var now git.Snapshot
	if err == nil {
		now, err = w.look(ctx, root)
	}
	if err == nil {
		err = state.WriteFile(w.snapFile(run), now.Bytes(), 0o600)
	}
	if err != nil {
		run.Changed = append(run.Changed, "what the checkout looked like before could not be noted: "+err.Error())
	}
}

func (w *World) look(ctx context.Context, root string) (git.Snapshot, error) {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return git.Snapshot{}, err
	}
	return repo.Watch(ctx)
}

// compare adds what has changed in the checkout since it was noted for a run.
func (w *World) compare(ctx context.Context, root string, run *Run) {
	switch {
	case !run.Writes || run.Checked:
		return
	case run.Resnap:
		// A tick was killed at a change of its own.
		w.snap(ctx, root, run)
		run.Resnap = false
		return
	}
	data, err := state.ReadFile(w.snapFile(run), maxSnapshot)
	if errors.Is(err, fs.ErrNotExist) {
		return // the run never began, or said so when it did
	}
	var before, now git.Snapshot
	if err == nil {
		before, err = git.ParseSnapshot(data)
	}
	if err == nil {
		now, err = w.look(ctx, root)
	}
	if err != nil {
		run.Changed = append(run.Changed, "the checkout could not be compared: "+err.Error())
		return
	}
	for _, d := range before.Compare(now) {
		if d.Kind == git.KindFile && w.ours(d.Name) {
			continue
		}
		says := d.String()
		if d.Kind == git.KindSetup {
			// Git would run what is set up there, with the next commit.
			if file := append([]string{d.Name}, d.Keys...); !slices.ContainsFunc(run.Setup, func(f []string) bool { return slices.Equal(f, file) }) {
				run.Setup = append(run.Setup, file)
			}
			says = strings.ReplaceAll(says, root+string(filepath.Separator), "")
		}
		if !slices.Contains(run.Changed, says) {
			run.Changed = append(run.Changed, says)
		}
	}
}

// ours reports whether a file of the checkout is one that we change ourselves while
// the person works: the queue, where vouch looks at what is new, and what the
// plugins keep for a project, where each of them knows what it wrote.
func (w *World) ours(name string) bool {
	dir, _, below := strings.Cut(name, "/")
	return name == w.config.QueuePath || below && slices.Contains(w.StateDirs, dir)
}

// around runs a change of ours to the checkout: what others have changed is noted
// for the agents at work before it, and what it changed itself is not theirs.
func (w *World) around(ctx context.Context, root string, own *Run, change func() error) error {
	var others []*Run
	for _, a := range w.state.repo(root).Agents {
		if a != own && a.Writes && !a.Checked {
			others = append(others, a)
			w.compare(ctx, root, a)
			a.Resnap = true
		}
	}
	step("save comparison")
	if err := w.state.save(w.App); err != nil {
		return err
	}
	err := change()
	for _, a := range others {
		w.snap(ctx, root, a)
		a.Resnap = false
	}
	return err
}
