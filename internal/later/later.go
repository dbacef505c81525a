// Package later is the plugin cc-later: what can wait is queued in
// .claude/LATER.md and runs, unattended, at the end of a usage window that would
// otherwise go to waste.
//
// This package has the hooks and what they share with the commands: settings,
// queue, ledger. A hook only ever notes something or starts `ccreload later tick`
// in the background; package dispatch has that. A text from a repository is never
// run unless a person has said so.
package later

import (
	"maps"
	"slices"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/state"
)

// Plugin is cc-later as the rest of the program sees it.
var Plugin = plugin.Plugin{
	Name:     Name,
	StateDir: stateDir,
	Handler:  handler,
	Idle:     idle,
	Owns:     owns,
	Segment:  segment,
	Figures:  func(plugin.Place) []state.Dir { return nil },
	Check:    check,
}

// Name is the plugin's.
const Name = "cc-later"

const stateDir = ".later"

// owns reports whether name is a file the plugin keeps in a project's .later: what
// is set for it, and that it is trusted. The queue is the person's.
func owns(name string) bool { return state.Owns(name) || options.Owns(name) || name == trustFile }

// handler returns what answers e, nil if nothing does.
func handler(e host.Event) host.Handler {
	switch e {
	case host.SessionStart:
		return sessionStart
	case host.UserPromptSubmit:
		return userPrompt
	case host.PreToolUse:
		return preTool
	case host.PostToolUse:
		return postTool
	case host.Stop:
		return stop
	case host.StopFailure:
		return stopFailure
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
