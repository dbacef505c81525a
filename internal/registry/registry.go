// Package registry is the list of the plugins, and the run of a hook of any of
// them.
//
// It must not import what a command line is made of, nor the network: the
// program runs most hooks before those packages are initialized.
package registry

import (
	"io"
	"os"
	"time"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/record"
	"github.com/ccreload/ccreload/internal/reload"
)

// plugins are the ones this runtime serves, in the order of the status line.
var plugins = [...]*plugin.Plugin{&reload.Plugin, &handoff.Plugin, &later.Plugin}

// Plugins returns the plugins that this runtime serves, in the order of the
// status line.
func Plugins() []*plugin.Plugin { return plugins[:] }

// Named returns the plugin called name.
func Named(name string) (*plugin.Plugin, bool) {
	for _, p := range plugins {
		if p.Name == name {
			return p, true
		}
	}
	return nil, false
}

// Names lists what the plugins are called.
func Names() []string {
	var names []string
	for _, p := range plugins {
		names = append(names, p.Name)
	}
	return names
}

// Env is the world of this process, without a network.
func Env() host.Env {
	return host.Env{
		Now:    time.Now,
		Sleep:  time.Sleep,
		Getenv: os.Getenv,
		Alive:  proc.Alive,
		Log:    func(string, ...any) {},
	}
}

// Hook returns the run of a hook of whichever plugin is called; args are what
// follows "hook" on the command line. After its Do the process is to exit with 0.
func Hook(args []string, stdin io.Reader, stdout io.Writer, env host.Env) hook.Run {
	// The launcher means this process. What a commit starts may be Go as well.
	if os.Getenv("GOMAXPROCS") == "1" {
		os.Unsetenv("GOMAXPROCS")
	}
	return hook.Run{
		Args:     args,
		Stdin:    stdin,
		Stdout:   stdout,
		Env:      env,
		Plugin:   Named,
		Defaults: ccreload.Defaults,
		// A handler that hangs cannot return to who called it.
		Quit: func() { os.Exit(0) },
		Tap:  record.Tap,
		Taps: record.Taps,
	}
}
