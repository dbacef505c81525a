package handoff

import (
	"context"
	"errors"
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

// gatherGit asks git about the worktree that dir is in. What could not be
// found out is in errs, and the rest is there.
func gatherGit(ctx context.Context, dir string) (g gitFacts, errs []error) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return g, []error{err}
	}
	g.Repo = repo
	g.Operation = repo.Operation()
	note := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	g.Status, err = repo.Status(ctx)
	note(err)
	if err == nil {
		g.Changes, err = repo.Changes(ctx, g.Status.Unborn())
		note(err)
	}
	g.Log, err = repo.Log(ctx, logLength)
	note(err)
	return g, errs
}

// dirty returns the files that differ, without artifacts of ours.
func (g gitFacts) dirty() []git.File {
	var out []git.File
	for _, f := range g.Status.Files {
		if !isArtifact(base(f.Path)) {
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
func gatherSession(path string, since time.Time) (transcript.Facts, error) {
	if path == "" {
		return transcript.Facts{}, errors.New(textNoTranscript)
	}
	return transcript.ReadFacts(path, since)
}
