package handoff

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// Kept is a handoff document, as a list shows it.
type Kept struct {
	// Number is 1 for the newest in the archive; 0 is the one that stands in the
	// project.
	Number     int       `json:"number"`
	Path       string    `json:"path"`
	Written    time.Time `json:"written"`
	AgeSeconds int       `json:"age_seconds"`
	Branch     string    `json:"branch,omitempty"`
	Request    string    `json:"request,omitempty"`
	Problem    string    `json:"problem,omitempty"` // why it could not be read

	doc string
}

// List returns the handoff document of a project and those in its archive, the
// newest first. Nothing is shown of what git tracks in the archive, which came
// with the repository.
func List(o Options) ([]Kept, error) {
	list := []Kept{}
	if last, ok := readLedgers(o.Data).newest(o.Project); ok {
		content, err := readArtifact(last.Path)
		list = append(list, kept(0, last.Path, content, err, last.Time, o.Env.Now()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
	defer cancel()
	// Where git gives no answer the person who asks sees that it is a list of paths.
	if tracked, _ := git.Tracked(ctx, dirOf(o.Project).Path(""), archiveName); len(tracked) > 0 {
		return nil, errors.New(errArchiveTracked)
	}
	archive := archiveOf(o.Project)
	names := slices.DeleteFunc(archive.Names(), func(name string) bool { return !isArchived(name) || archive.Kind(name) != state.File })
	slices.Sort(names)
	slices.Reverse(names)
	for i, name := range names {
		content, err := archive.Read(name, maxFile)
		when, _ := time.Parse(stampFormat, name[:len(stampFormat)]) // of the archiving
		list = append(list, kept(i+1, archive.Path(name), content, err, when, o.Env.Now()))
	}
	return list, nil
}

// kept reads what a list says of a document.
func kept(number int, path string, content []byte, err error, when, now time.Time) Kept {
	doc := string(content)
	if t, err := time.Parse(time.RFC3339, notes.FrontValue(doc, keyTime)); err == nil {
		when = t
	}
	k := Kept{
		Number: number, Path: path, Written: when, AgeSeconds: max(0, int(now.Sub(when).Seconds())), doc: doc,
		Branch: notes.Line(notes.FrontValue(doc, keyBranch), lineText), Request: request(doc),
	}
	if err != nil {
		k.Problem = term.OneLine(err.Error())
	}
	return k
}

// request returns the first line of what was asked for last, "" where the document
// knows of nothing.
func request(doc string) string {
	for line := range strings.Lines(notes.Body(doc)) {
		if quoted, ok := strings.CutPrefix(line, "> "); ok {
			return notes.Line(quoted, lineText)
		}
	}
	return ""
}

// Show returns the document with a number of the list. Without that of the
// project, 0 is the newest of the archive.
func Show(o Options, number int) (doc string, err error) {
	list, err := List(o)
	if err != nil {
		return "", err
	}
	if number == 0 && len(list) > 0 {
		number = list[0].Number
	}
	i := slices.IndexFunc(list, func(k Kept) bool { return k.Number == number })
	switch {
	case i < 0:
		return "", problem.Input("see `ccreload handoff list`", errNoSuch, number)
	case list[i].Problem != "":
		return "", errors.New(list[i].Problem)
	}
	return list[i].doc, nil
}
