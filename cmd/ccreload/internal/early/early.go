// Package early runs a hook before the command line is initialized. Whoever
// imports it does so for that, and only command ccreload may.
//
// The host starts the program at every turn, and a start is mostly memory
// touched for the first time. Go initializes every package that is linked before
// main begins, needed or not: each after those it imports, and of those that are
// ready the one whose path sorts first. The hooks of this repository do not
// import the command line's packages (cobra and what that brings: pflag,
// text/template, net), and this path sorts before theirs. So the hook can be over
// before their turn comes; docs/architecture.md, Start-up, has what it saves.
//
// Nothing depends on the order but time: a hook that is not run here is run by
// main, in the same way. A test of internal/cli holds the order.
package early

import (
	"os"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	_ "github.com/ccreload/ccreload/internal/oneproc" // is initialized before all others
	"github.com/ccreload/ccreload/internal/registry"
)

func init() {
	if len(os.Args) > 1 && os.Args[1] == "hook" && !asks(os.Args[2:]) {
		run := registry.Hook(os.Args[2:], os.Stdin, os.Stdout, registry.Env())
		run.Timeout = timeout
		run.Do()
		os.Exit(0)
	}
}

// timeout is set in the program of the tests.
var timeout time.Duration

// asks reports whether a hook may have something to ask a proxy on this machine,
// and has to wait for package net.
func asks(args []string) bool {
	return len(args) != 2 || host.Event(args[1]) == host.SessionStart
}
