package handoff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
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

const (
	// searched is how many transcripts, the newest first, are looked into for one
	// of a directory, and searchedSize how many bytes at either end of each.
	searched     = 100
	searchedSize = 64 << 10
)

// newestTranscript returns the transcript below the host's directory projects
// that was written to last by a session in dir, or with below in a directory
// below it, and when that was; "" for none. Its rows say where a session was:
// the name of its directory does not (case F47).
func newestTranscript(projects, dir string, below bool) (found string, when time.Time) {
	type candidate struct {
		path string
		when time.Time
	}
	var all []candidate
	dirs, _ := os.ReadDir(projects) // none where it cannot be read
	for _, d := range dirs {
		files, _ := os.ReadDir(filepath.Join(projects, d.Name()))
		for _, f := range files {
			// Subagents of some clients have transcripts beside that of the session.
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() && strings.HasSuffix(f.Name(), ".jsonl") && !strings.HasPrefix(f.Name(), "agent-") {
				all = append(all, candidate{filepath.Join(projects, d.Name(), f.Name()), info.ModTime()})
			}
		}
	}
	slices.SortFunc(all, func(a, b candidate) int { return b.when.Compare(a.when) })
	for _, c := range all[:min(len(all), searched)] {
		cwd := cwdOf(c.path)
		rel, inside := state.Below(state.RealPath(dir), state.RealPath(cwd))
		if cwd != "" && inside && (below || rel == ".") {
			return c.path, c.when
		}
	}
	return "", time.Time{}
}

// cwdOf returns the directory that the newest row of a transcript names, or
// where the end of the file holds no whole row, the oldest.
func cwdOf(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	for _, at := range []int64{max(0, info.Size()-searchedSize), 0} {
		data, _ := io.ReadAll(io.NewSectionReader(f, at, searchedSize))
		lines := bytes.Split(data, []byte("\n"))
		for _, line := range slices.Backward(lines) {
			var row struct {
				Cwd string `json:"cwd"`
			}
			if json.Unmarshal(line, &row) == nil && row.Cwd != "" {
				return row.Cwd
			}
		}
	}
	return ""
}
