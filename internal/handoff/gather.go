package handoff

import (
	"context"
	"errors"
	"path"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// gitFacts is what git says of the worktree.
type gitFacts struct {
	Repo      *git.Repo // nil without a repository, and where git refuses it
	Err       error     // why there is no Repo, or no Status
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
func gatherGit(ctx context.Context, dir string) (g gitFacts) {
	ctx, cancel := context.WithTimeout(ctx, gitTime)
	defer cancel()
	repo, err := git.Open(ctx, dir)
	if err != nil {
		return gitFacts{Err: err}
	}
	g.Repo, g.Operation = repo, repo.Operation()
	g.Status, g.Err = repo.Status(ctx)
	return g
}

// absent reports whether there is no repository for certain: no other failure of
// git says that.
func (g gitFacts) absent() bool { return errors.Is(g.Err, git.ErrNoRepo) }

// describe asks for what only the document says. What could not be found out is
// the error, and the rest is there.
func (g *gitFacts) describe(ctx context.Context) error {
	if g.Err != nil {
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

// searched is how many transcripts, the newest first, are looked into for one of a
// directory.
const searched = 100

// newestTranscript returns the transcript below the host's directory projects
// that was written to last by a session in dir, or with below in a directory
// below it, and when that was; "" for none.
func newestTranscript(projects, dir string, below bool) (found string, when time.Time) {
	all := transcript.Sessions(projects)
	for _, s := range all[:min(len(all), searched)] {
		cwd := transcript.Cwd(s.Path)
		rel, inside := state.Below(state.RealPath(dir), state.RealPath(cwd))
		if cwd != "" && inside && (below || rel == ".") {
			return s.Path, s.Time
		}
	}
	return "", time.Time{}
}
