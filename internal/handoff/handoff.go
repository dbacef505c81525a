// Package handoff is the plugin graceful-handoff: it ends a session with a
// document the next one can start from, commits that document and nothing
// else, and hands it over once.
//
// Everything in the document is taken from git and from the transcript; no
// model is involved. Decisions are pure functions on plain structs; the
// pipeline (Run) and the hooks around them do the reading and writing. It
// never stages, stashes, pushes or deletes anything of the user's by itself.
package handoff

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// Plugin is graceful-handoff as the rest of the program sees it.
var Plugin = plugin.Plugin{
	Name:      name,
	StateDir:  stateName,
	Handler:   handler,
	Owns:      owns,
	Segment:   segment,
	Figures:   figures,
	Check:     check,
	Leftovers: locks,
}

const name = "graceful-handoff"

// Files. The artifact stands among the user's own; the rest is kept in the
// project's .handoff, which ignores itself, and in the plugin's data directory.
const (
	artifactStem = "NEXT-SESSION"
	artifactEnd  = ".local.md"
	stateName    = ".handoff"
	archiveName  = "archive"
	ledgerFile   = "ledger" // in the data directory: what this user's runtime wrote
)

const (
	lockWait = 2 * time.Second        // for a state directory
	endWait  = 500 * time.Millisecond // the same where all hooks of an event share little time
	maxFile  = 1 << 20                // bytes that are read of any file
)

// companions are files of the user that belong to a handoff where they exist.
var companions = []string{"REMEMBER.md", "TODO.md"}

// dirOf returns the state directory of a project.
func dirOf(project string) state.Dir { return state.NewDir(filepath.Join(project, stateName)) }

// archiveOf returns the directory of old artifacts, inside that one.
func archiveOf(project string) state.Dir {
	return state.NewDir(filepath.Join(project, stateName, archiveName))
}

// owns reports whether name is a file the plugin keeps in a project's .handoff;
// the archive in it is a directory, and its files begin with archive/.
func owns(name string) bool {
	if kept, ok := strings.CutPrefix(name, archiveName+"/"); ok {
		return isArchived(kept) || state.Owns(kept)
	}
	return state.Owns(name) || handover.Owns(name) || options.Owns(name)
}

// artifactName is the file of a handoff; the slug may be empty.
func artifactName(slug string) string {
	if slug != "" {
		slug = "-" + slug
	}
	return artifactStem + slug + artifactEnd
}

// isArtifact reports whether a file name is one of ours, any slug.
func isArtifact(name string) bool {
	return strings.HasPrefix(name, artifactStem) && strings.HasSuffix(name, artifactEnd)
}

// preTool has the person asked before the model commits a handoff. Without it
// the host's auto mode would say yes in their place.
func preTool(call *host.Call) (host.Output, error) {
	// Hosts that know no `if` rule call this before every command.
	if !strings.Contains(call.Payload.ToolCommand, "ccreload handoff commit") {
		return host.Output{}, nil
	}
	return host.Output{Ask: textAsk}, nil
}

// check adds what document waits for the next session.
func check(at plugin.Place, found *problem.Findings) {
	const check = "handoff"
	arm, _ := handover.FindArm(dirOf(at.Project))
	switch path := readLedgers(at.Data).waiting(at.Project, arm); {
	case arm.Item == "":
		found.OK(check, "none waits for the next session")
	case path == "":
		found.Note(check, "", "%q was to wait for the next session, but it is gone", arm.Item)
	default:
		found.OK(check, "%s waits for the next session", path)
	}
}

// handler returns what answers e, nil if nothing does.
func handler(e host.Event) host.Handler {
	switch e {
	case host.SessionStart:
		return sessionStart
	case host.UserPromptSubmit:
		return userPrompt
	case host.PreToolUse:
		return preTool
	case host.Stop:
		return stop
	case host.SessionEnd:
		return sessionEnd
	}
	return nil
}
