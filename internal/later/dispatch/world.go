// Package dispatch is a tick of cc-later: it looks after the agents that run,
// takes over what those that are done have left, and starts others when the
// schedule says so. Hooks, timers and people start ticks; one works at a time, and
// whatever is killed on the way is made up for by the next.
package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/usage"
)

// saveWait is how long a tick waits for whoever edits a file of the application.
const saveWait = 10 * time.Second

// Files of the application's directory.
const (
	pausedFile   = "paused" // its content is when, by whom
	offFile      = "off"    // its content is why nothing may start
	locksName    = "locks"
	worktreeName = "worktrees"
	resultsName  = "results"
	usageName    = "usage"
	watchName    = "watched"
)

// World is what a tick works with.
type World struct {
	App     string // the application's directory
	Profile host.Profile
	Host    host.Host
	Env     host.Env
	Environ []string // of this process
	Prices  models.Prices
	// StateDirs are the directories of a project in which plugins keep their state.
	StateDirs []string
	// LookPath finds a program.
	LookPath func(string) (string, error)
	// Watch starts a process that looks after the agents once this one is over.
	Watch func() error
	// Asks has View ask the client whether agents can be run, where a task may run:
	// that takes a process, as a tick starts it, once a minute at most. Without it View
	// knows what this World has found before.
	Asks bool

	config later.Config
	state  State
	ledger *later.Ledger
	store  agent.Store
	index  *usage.Index
	limits usage.Limits
	answer answer

	busy map[string]bool // repositories in which an agent was at work when the tick began
}

// now is the time, without what a file cannot hold.
func (w *World) now() time.Time { return w.Env.Now().UTC().Truncate(time.Second) }

// Open reads the settings. It creates nothing, as whatever only shows something.
func (w *World) Open() error {
	if w.App == "" {
		return problem.Fault("set HOME to an absolute path", "you have no home directory, so nothing can be queued, and it is not known what was")
	}
	w.config = later.ReadConfig(w.App, w.Profile)
	w.store = agent.Open(state.NewDir(w.App))
	return nil
}

// Prepare is Open, and creates the application's directory.
func (w *World) Prepare() error {
	if w.App == "" {
		return w.Open()
	}
	if err := later.Prepare(w.App, w.Profile); err != nil {
		return problem.Fault("make room, or set CC_LATER_APP_DIR to another directory", "cc-later cannot keep anything in %q: %w", w.App, err)
	}
	return w.Open()
}

// load reads what is known.
func (w *World) load() error {
	var err error
	w.state, err = loadState(w.App)
	if errors.Is(err, errBroken) {
		w.log("error", fields{"reason": "state", "detail": err.Error()})
		err = nil
	}
	// Whoever went on with another error would take every agent for lost.
	w.limits = usage.ReadLimits(w.App)
	return errors.Join(err, w.reload())
}

// reload reads the ledger anew, after something was added to it.
func (w *World) reload() (err error) {
	w.ledger, err = later.ReadLedger(w.App, w.config.Settings)
	return err
}

// note adds to the ledger.
func (w *World) note(entries ...later.Entry) error {
	err := state.NewDir(w.App).WithLock(saveWait, func(*state.Tx) error { return later.Append(w.App, entries...) })
	return errors.Join(err, w.reload())
}

// count brings the index of what was used up to date. It is kept apart: without it
// nothing is known of the budget, and the rest goes on.
func (w *World) count() {
	w.index = usage.Open(filepath.Join(w.App, usageName), usage.Roots(w.Host, w.config.Logs), w.Prices)
	if _, err := os.Stat(w.App); err != nil {
		w.index.ReadOnly = true
	}
	if _, err := w.index.Update(); err != nil && !errors.Is(err, state.ErrBusy) {
		w.log("error", fields{"reason": "usage", "detail": err.Error()})
	}
}

// repos are the repositories to look at: those that are set, else those in which
// something was queued; those with an agent in any case.
func (w *World) repos(own string) []string {
	var list []string
	add := func(path string) {
		if path != "" && !contains(list, path) {
			list = append(list, path)
		}
	}
	if len(w.config.Watch) > 0 {
		for _, path := range w.config.Watch {
			if rest, ok := strings.CutPrefix(path, "~/"); ok && w.Host.Home != "" {
				path = filepath.Join(w.Host.Home, rest)
			}
			if filepath.IsAbs(path) {
				add(later.Root(path))
			}
		}
	} else {
		add(own)
		for _, path := range w.ledger.Repos() {
			add(path)
		}
	}
	for path, r := range w.state.Repos {
		if len(r.Agents) > 0 || len(r.ResumeEntries) > 0 {
			add(path)
		}
	}
	return list
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// Flags that people set.

// Paused reports since when a person has everything paused, zero for not.
func Paused(app string) time.Time {
	info, err := os.Stat(filepath.Join(app, pausedFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Off returns why nothing may start until a person resumes, "" if it may.
func Off(app string) string {
	data, err := state.ReadFile(filepath.Join(app, offFile), 4096)
	if err != nil {
		return ""
	}
	if why := strings.TrimSpace(string(data)); why != "" {
		return why
	}
	return "switched off"
}

// Pause has nothing start until Resume.
func Pause(app string) error {
	_, err := state.CreateExclusive(filepath.Join(app, pausedFile), nil)
	return err
}

// Resume takes back Pause and what switched dispatch off.
func Resume(app string) error {
	err := errors.Join(gone(os.Remove(filepath.Join(app, pausedFile))), gone(os.Remove(filepath.Join(app, offFile))))
	return err
}

func gone(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// switchOff has nothing start until a person resumes, and tells them once.
func (w *World) switchOff(why string) {
	made, err := state.CreateExclusive(filepath.Join(w.App, offFile), []byte(why+"\n"))
	if err != nil {
		w.log("error", fields{"reason": "off", "detail": err.Error()})
	}
	if made {
		w.log("dispatch_off", fields{"detail": why})
	}
}

// lockTry is how long a tick tries at least to be the only one.
const lockTry = 200 * time.Millisecond

// locked runs fn as the only tick of the user, waiting at most wait.
func (w *World) locked(ctx context.Context, wait time.Duration, fn func() error) error {
	return state.NewDir(filepath.Join(w.App, locksName)).WithLock(max(wait, lockTry), func(*state.Tx) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fn()
	})
}

// Settle waits for a tick that is at work, at most so long, and creates nothing.
func Settle(app string, wait time.Duration) error {
	locks := filepath.Join(app, locksName)
	if _, err := os.Stat(locks); err != nil {
		return nil // no tick ever was
	}
	return state.NewDir(locks).WithLock(wait, func(*state.Tx) error { return nil })
}

// Worktrees is where the agents work that may change files.
func Worktrees(app string) string { return filepath.Join(app, worktreeName) }

// Note adds what a person says to the ledger.
func (w *World) Note(entries ...later.Entry) error {
	for i := range entries {
		entries[i].Time = w.now()
	}
	return w.note(entries...)
}

// Stop ends all agents and returns how many there were, and how many that had ended
// before wait to be merged. What they have left is taken over as if they had ended
// by themselves.
func (w *World) Stop(ctx context.Context, wait time.Duration) (n, waiting int, err error) {
	err = w.locked(ctx, wait, func() error {
		if err := w.load(); err != nil {
			return err
		}
		var failed error
		for _, root := range sorted(w.state.Repos) {
			for _, run := range w.state.Repos[root].Agents {
				// One that has ended by itself says what came of its tasks.
				run.Stopped = run.Stopped || !run.Over && !w.store.Ended(run.ID)
			}
		}
		step("save stop")
		if err := w.state.save(w.App); err != nil {
			return err
		}
		for _, root := range sorted(w.state.Repos) {
			for _, run := range w.state.Repos[root].Agents {
				if !run.Stopped {
					continue
				}
				switch err := w.store.Stop(run.ID, w.clock()); {
				case run.ID == "", errors.Is(err, agent.ErrUnknown): // the original's, or one that never began
				case err != nil:
					failed = errors.Join(failed, fmt.Errorf("the agent of %s could not be ended: %w", run.name(), err))
				default:
					n++
				}
			}
		}
		var r Result
		w.reconcile(ctx, &r)
		_, waiting = w.state.atWork()
		return errors.Join(failed, w.state.save(w.App))
	})
	return n, waiting, err
}

// Log returns the newest n events of the log, the newest first.
func Log(app string, n int) []LogEvent { return readLog(app, n, true) }
