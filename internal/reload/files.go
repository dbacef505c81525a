// Package reload is the plugin cc-reload: a budget for the context window, a
// digest of the working thread when it is crossed, and that digest in the hands
// of whoever comes next, be it after /clear, a compaction or a night.
//
// Decisions are pure functions on plain structs (decideX); the handlers around
// them read and write the state directory under its lock. It never blocks a
// turn for longer than the model needs to write a digest, and never loses one.
package reload

import (
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/state"
)

// Plugin is cc-reload as the rest of the program sees it.
var Plugin = plugin.Plugin{
	Name:     name,
	StateDir: stateName,
	Handler:  handler,
	Owns:     owns,
	Segment:  segment,
	Figures:  func(at plugin.Place) []state.Dir { return []state.Dir{dirOf(at.Project)} },
	Window:   func(at plugin.Place) int { return Effective(at.Project, at.Profile, at.Host.Option).Window },
	Check:    check,
}

const (
	name      = "cc-reload"
	stateName = ".reload"
)

// Files of the state directory. The first group keeps the format of earlier
// releases of the plugin, so that a user can switch over in mid-project.
const (
	digestFile = "session.md"  // the digest: frontmatter and four sections
	armFile    = "pending"     // one-shot; holds the arming session's id when known
	markerFile = "summarizing" // a snapshot turn is running
	ladderFile = "notified"    // the last percentage a notice fired at
	configFile = options.ConfigFile

	// A foreign session's digest, set aside, is session.ID.md.
	sidePrefix = "session."
	sideSuffix = ".md"

	// What the model writes for `ccreload reload write --from` is draft-SESSION.md: a
	// name that the host's tool need not read before, and that no repository can bring.
	draftPrefix = "draft-"
	draftSuffix = ".md"
)

// Records of our own: what the formats above have no place for.
const (
	sessionsFile = ".crossings" // what is known of each session over the budget
	usedFile     = ".used"      // which digest was handed on last
)

// lockTimeout is how long a hook waits for the state directory.
const lockTimeout = 2 * time.Second

// maxFile is the most that is read of any file of the state directory, in
// bytes. A digest is a page; what is larger is not ours.
const maxFile = 1 << 20

// dirOf returns the state directory of a project.
func dirOf(project string) state.Dir { return state.NewDir(filepath.Join(project, stateName)) }

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
	case host.PreCompact:
		return preCompact
	case host.PostCompact:
		return postCompact
	case host.SessionEnd:
		return sessionEnd
	}
	return nil
}
