// Package plugin says what a plugin of ours is made of, for everything that
// treats all of them alike: the runner of hooks, doctor, config, uninstall.
//
// Each plugin exports one Plugin, and package registry has the list of them. Nothing
// else may ask which plugin it has before it.
package plugin

import (
	"path/filepath"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// Plugin is one plugin.
type Plugin struct {
	Name     string // as the manifest has it
	StateDir string // the directory it keeps in a project

	// Handler returns what answers an event, nil if nothing does.
	Handler func(host.Event) host.Handler
	// Idle, if any, reports whether there is nothing to say to a call, and nothing to
	// note, whatever is set: of the hooks of a prompt that holds for nearly all. It is
	// asked before the settings are read, which takes longer than all else.
	Idle func(*host.Call) bool
	// Owns reports whether name is a file of ours in StateDir; one in a
	// directory there is named with a slash.
	Owns func(name string) bool
	// Segment is the plugin's part of the status line at an occupancy. It only
	// shows: nothing is written because of it.
	Segment func(Place, occupancy.Occupancy) Segment
	// Figures lists the directories in which the plugin's hooks look for what the
	// host has said of a session, for the status line to keep it there.
	Figures func(Place) []state.Dir
	// Window, if any, returns the context window that the user has set, in tokens,
	// 0 for none.
	Window func(Place) int
	// Check adds what the plugin has for the next session of a project.
	Check func(Place, *problem.Findings)
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

// Off reports whether the plugin is switched off at a place.
func (p Plugin) Off(at Place) bool { return p.Options(at).Off() }

// Options returns what can be set for the plugin at a place.
func (p Plugin) Options(at Place) options.Plugin {
	return options.ForCommand(p.State(at.Project), at.Data, at.Profile, at.Host.Option)
}
