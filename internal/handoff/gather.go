package handoff

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/transcript"
)

// gitFacts is what git says of the worktree.
type gitFacts struct {
	Repo      *git.Repo // nil without a repository
	Status    git.Status
	Changes   []git.Change
	Log       []git.Commit
	Operation string
}

const (
	logLength = 5
	// gitTime is what all questions to git may take together.
	gitTime = 15 * time.Second
)

// gatherGit asks git how things stand in the worktree that dir is in.
func gatherGit(ctx context.Context, dir string) (g gitFacts, err error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	if g.Repo, err = git.Open(ctx, dir); err != nil {
		return gitFacts{}, err
	}
	g.Operation = g.Repo.Operation()
	g.Status, err = g.Repo.Status(ctx)
	return g, err
}

// describe asks for what only the document says. What could not be found out is
// the error, and the rest is there.
func (g *gitFacts) describe(ctx context.Context) error {
	if g.Repo == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	var failed, err error
	g.Changes, failed = g.Repo.Changes(ctx, g.Status.Unborn())
	g.Log, err = g.Repo.Log(ctx, logLength)
	return errors.Join(failed, err)
}

// top returns the top of the worktree, "" without a repository.
func (g gitFacts) top() string {
	if g.Repo == nil {
		return ""
	}
	return g.Repo.Top
}

// dirty returns the files that differ, without artifacts of ours.
func (g gitFacts) dirty() []git.File {
	var out []git.File
	for _, f := range g.Status.Files {
		if !isArtifact(path.Base(f.Path)) {
			out = append(out, f)
		}
	}
	return out
}

// file returns what git says of one path below the top of the worktree.
func (g gitFacts) file(rel string) (git.File, bool) {
	for _, f := range g.Status.Files {
		if f.Path == rel {
			return f, true
		}
	}
	return git.File{}, false
}

// gatherSession reads the transcript; without one there is nothing to say.
func gatherSession(file string, since time.Time) (transcript.Facts, error) {
	if file == "" {
		return transcript.Facts{}, errors.New(errNoTranscript)
	}
	return transcript.ReadFacts(file, since)
}
