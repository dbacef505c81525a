// Package plugin says what a plugin of ours is made of, for everything that
// treats all of them alike: the runner of hooks, doctor, config, uninstall.
//
// Each plugin exports one Plugin, and package cli has the list of them. Nothing
// else may ask which plugin it has before it.
package plugin

import (
	"fmt"
	"path/filepath"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// Plugin is one plugin.
type Plugin struct {
	Name     string // as the manifest has it
	StateDir string // the directory it keeps in a project

	// Handler returns what answers an event, nil if nothing does.
	Handler func(host.Event) host.Handler
	// Owns reports whether name is a file of ours in StateDir; one in a
	// directory there is named with a slash.
	Owns func(name string) bool
	// Check says what the plugin has for the next session of a project.
	Check func(Place) []Finding
	// Leftovers, if any, lists what it has left in the host's configuration
	// directory.
	Leftovers func(config string) []string
}

// Place is where a command looks at a plugin.
type Place struct {
	Project string
	Data    []string // the plugin's data directories
	Profile host.Profile
	Host    host.Host
	Env     host.Env
}

// State returns the directory that the plugin keeps in a project.
func (p Plugin) State(project string) state.Dir {
	return state.NewDir(filepath.Join(project, p.StateDir))
}

// Options returns what can be set for the plugin at a place.
func (p Plugin) Options(at Place) options.Plugin {
	return options.ForCommand(p.State(at.Project), at.Data, at.Profile, at.Host.Option)
}

// Verdict is what a check came to.
type Verdict string

// The verdicts of a check.
const (
	IsOK      Verdict = "ok"
	IsNote    Verdict = "note"    // worth knowing, and nothing is wrong
	IsProblem Verdict = "problem" // something does not work as it should
)

// Finding is what a check has to say: a plain sentence, and what to do.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`
	Fix     string  `json:"fix,omitempty"`
}

// OK says that what was checked is in order.
func OK(check, format string, args ...any) Finding {
	return Finding{Check: check, Verdict: IsOK, Says: fmt.Sprintf(format, args...)}
}

// Note says what is worth knowing.
func Note(check, fix, format string, args ...any) Finding {
	return Finding{check, IsNote, fmt.Sprintf(format, args...), fix}
}

// Problem says what does not work, and how to mend it.
func Problem(check, fix, format string, args ...any) Finding {
	return Finding{check, IsProblem, fmt.Sprintf(format, args...), fix}
}
