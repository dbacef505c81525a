package git

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/proc"
)

// Orphan is something below the root that no agent is at work in.
type Orphan struct {
	Path     string
	Worktree *Worktree // nil for what has no record that could be read
	Says     string    // what it is, and what it needs
	// Junk is set for what was never handed to an agent or is being removed
	// already: Worktree.Remove does away with it and asks for nothing.
	Junk bool
}

// Orphans returns what in root has nobody who works in it: half-made and
// half-removed worktrees, those whose agent, files or repository are gone, and what
// is no worktree of ours. It changes nothing.
func Orphans(ctx context.Context, root string) ([]Orphan, error) {
	entries, err := os.ReadDir(root)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	recorded := map[string]bool{}
	var list []Orphan
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), recordSuffix)
		if !ok {
			continue
		}
		recorded[name] = true
		if o := orphan(filepath.Join(root, name)); o.Says != "" {
			list = append(list, o)
		}
		if ctx.Err() != nil {
			return list, ctx.Err()
		}
	}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), removingSuffix)
		if e.IsDir() && !recorded[name] {
			list = append(list, Orphan{Path: filepath.Join(root, e.Name()), Says: "it is not a worktree of ours; look what it is"})
		}
	}
	return list, nil
}

// orphan says what the worktree at path needs, with nothing to say of one in which
// somebody works.
func orphan(path string) Orphan {
	o := Orphan{Path: path}
	w, err := LoadWorktree(path)
	if err != nil {
		o.Says = err.Error()
		return o
	}
	o.Worktree, o.Path = w, w.Path // without links, as whoever made it knows it
	switch there := exists(path); {
	case !isGitDir(w.Common) && there:
		o.Says = "its repository " + w.Common + " is gone; take from it what you need and delete it"
	case !isGitDir(w.Common):
		o.Says, o.Junk = "it and its repository are gone", true
	case w.Branch == "":
		o.Says, o.Junk = "it was for a merge that was killed", true
	case w.GitDir == "":
		o.Says, o.Junk = "it was not complete when whoever made it was killed", true
	case exists(path + removingSuffix):
		o.Says, o.Junk = "whoever removed it was killed", true
	case !there:
		o.Says, o.Junk = "somebody has deleted its files", true
	case w.check() != nil:
		o.Says = w.check().Error()
	case w.Owner == (proc.ID{}):
		o.Says = "no agent was started in it"
	case w.Held != "":
		o.Says = w.Held
	case w.Owner.Ended():
		o.Says = "its agent has ended; it is removed once no process works in it"
	}
	return o
}
