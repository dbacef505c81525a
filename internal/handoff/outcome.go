package handoff

import (
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
)

// outcome is what a run has done and what it has left undone. What follows from
// it is decided by its fields; report puts it into words when the run is over.
type outcome struct {
	dry      bool   // nothing was done, only looked at
	skipped  reason // there was nothing to do
	path     string // of the handoff document, "" when there is none
	session  string // when the session was last written to, if it was found and not given
	redacted int    // secrets taken out of it
	archived string // where an earlier one of its name is now
	written  bool

	paths       []string // of the commit, as git names them
	committed   git.Made
	uncommitted reason
	mayCommit   bool // the user still can
	indexKnows  bool // the user's index knows of the commit
	indexNoted  bool // an event of a session will tell it

	branch, upstream string
	remote           bool
	pushed           bool
	unpushed         reason

	armed  bool // the document waits for the next session
	errors []string
}

func (o *outcome) fail(format string, args ...any) {
	o.errors = append(o.errors, fmt.Sprintf(format, args...))
}

// report fills in the part of r that is words.
func (o outcome) report(r *Result) {
	r.Skipped = o.skipped != ""
	r.ArtifactPath, r.Redacted, r.CommitID = o.path, o.redacted, o.committed.ID
	r.Actions, r.Errors, r.NextSteps = append(r.Actions, o.actions()...), append(r.Errors, o.errors...), append(r.NextSteps, o.next()...)
	r.Prompt, r.Armed = textPrompt(o.path), o.armed
}

func (o outcome) actions() []string {
	if o.skipped != "" {
		return []string{string(o.skipped)}
	}
	var out []string
	say := func(did, would string, args ...any) {
		if o.dry {
			out = append(out, fmt.Sprintf(would, args[0]))
		} else {
			out = append(out, fmt.Sprintf(did, args...))
		}
	}
	name, files := filepath.Base(o.path), nameList(o.paths)
	if o.session != "" {
		out = append(out, fmt.Sprintf(didFind, o.session))
	}
	if o.archived != "" {
		say(didArchive, wouldArchive, name, o.archived)
	}
	if o.written {
		say(didWrite, wouldWrite, o.path+textTakenOut(o.redacted))
	}
	switch id := o.committed.ID; {
	case o.uncommitted != "":
		out = append(out, string(o.uncommitted))
	case id != "" || o.dry && files != "":
		say(didCommit, wouldCommit, files, id[:min(12, len(id))])
	}
	switch {
	case o.unpushed != "":
		out = append(out, string(o.unpushed))
	case o.pushed:
		say(didPush, wouldPush, o.branch, o.upstream)
	}
	if o.armed && o.written {
		out = append(out, didArm)
	}
	return out
}

// nameList is what people read of paths.
func nameList(paths []string) string {
	names := make([]string, len(paths))
	for i, p := range paths {
		names[i] = path.Base(p)
	}
	return strings.Join(names, ", ")
}

// next returns what is left for the person to do.
func (o outcome) next() []string {
	var out []string
	committed := o.committed.ID != ""
	switch {
	case o.skipped != "":
		return nil
	case committed && !o.indexKnows:
		out = append(out, stepIndex(o.paths, o.indexNoted))
	}
	switch {
	case committed && !o.pushed && o.remote:
		out = append(out, stepPush)
	case o.mayCommit:
		out = append(out, fmt.Sprintf(stepCommit, filepath.Base(o.path)))
	}
	if o.armed {
		return append(out, stepContinue)
	}
	return append(out, stepPaste)
}
