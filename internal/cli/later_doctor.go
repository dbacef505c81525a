package cli

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/notify"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// later looks at what the agents of cc-later need, where it is in use.
func (c *checkup) later() {
	const check = "later"
	app := later.AppDir(c.host, c.env.Getenv)
	place, _ := c.timerPlace()
	timer := place.Status(c.ctx)
	if _, err := os.Stat(app); app == "" || err != nil && len(timer.Files) == 0 {
		return // nothing was ever queued
	}
	if err := writable(app); err != nil {
		c.Bad(check, "make it writable for you", "%q cannot be written, so nothing can be queued or run: %v", app, err)
	}
	if path, err := agent.Find(c.host, exec.LookPath); err != nil {
		c.Note(check, "install Claude Code, or put it on PATH", "no agent can run: %v", err)
	} else if w, err := c.laterReader(); err != nil {
		c.Bad(check, problem.Hint(err), "no agent can run: %v", err)
	} else if _, err := w.Client(c.ctx); err != nil {
		c.Bad(check, problem.Hint(err), "%v", err)
	} else {
		c.OK(check, "agents run %s", path)
	}
	if off := dispatch.Off(app); off != "" {
		c.Bad(check, "put that right, then `ccreload later resume`", "%s, and nothing starts until you resume", off)
	}
	if _, err := exec.LookPath("git"); err != nil {
		c.Note(check, "install git, or put it on PATH", "git was not found, so no agent can change files, and nothing of one is merged")
	}
	switch says := strings.TrimSuffix(c.timerSays(timer), "."); {
	case len(timer.Files) == 0:
		c.OK(check, "%s", says)
	case !timer.Whole || !timer.Active:
		says, _, _ = strings.Cut(says, "; `")
		c.Note(check, "`ccreload later timer install`", "%s", says)
	case len(c.plugins) > 0 && !slices.ContainsFunc(c.plugins, func(p installed) bool { return p.Name == later.Name }):
		c.Note(check, "`ccreload later timer uninstall`", "%s, but the plugin %s is not installed", says, later.Name)
	default:
		c.OK(check, "%s", says)
	}
	orphans, err := git.Orphans(c.ctx, dispatch.Worktrees(app))
	if err != nil {
		c.Note(check, "", "the worktrees of agents cannot be looked at: %v", err)
	}
	kept := slices.DeleteFunc(orphans, func(o git.Orphan) bool { return o.Junk })
	if len(kept) > 0 {
		c.Note(check, "`ccreload later status` names them", "%s of agents with work that is not merged", term.Count(len(kept), "worktree"))
	}
}

// laterFiles are the names in the application's directory that are ours.
var laterFiles = []string{
	later.ConfigFile, later.StateFile, later.StateFile + ".broken", later.LedgerFile, dispatch.LogFile, dispatch.LogFile + ".1", notify.FileName,
	"limits.json", page.DashboardFile, "activity", "off", "paused", "tick",
	"agents", "locks", "questions", "reports", "results", "timer", "usage", "watched", "worktrees",
}

// ownsLater reports whether a file in the application's directory is ours.
func ownsLater(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return state.Owns(name) || slices.Contains(laterFiles, first)
}

// laterLeftovers are the timer, and with all the application's directory. While an
// agent is at work, or where work of one is kept, that stays.
func (a *app) laterLeftovers(ctx context.Context, all bool) ([]leftover, error) {
	var out []leftover
	place, _ := a.timerPlace()
	if paths := place.Files(); len(paths) > 0 {
		out = append(out, leftover{what: paths, remove: func() error {
			_, err := place.Uninstall(ctx)
			return err
		}})
	}
	app := later.AppDir(a.host, a.env.Getenv)
	if info, err := os.Lstat(app); app == "" || err != nil || !info.IsDir() {
		return out, nil
	}
	keep := func(why string) ([]leftover, error) {
		return append(out, leftover{kept: []string{app}, why: why, remove: func() error { return nil }}), nil
	}
	agents, err := agent.Open(state.NewDir(app)).All()
	running := func(r agent.Record) bool { return r.Phase() == agent.Running }
	switch trees, _ := os.ReadDir(dispatch.Worktrees(app)); { // none when it cannot be read
	case !all:
		return keep("it has your settings, results and statistics of cc-later; --later-data removes it")
	case err != nil:
		return nil, err
	case slices.ContainsFunc(agents, running):
		return keep("agents are at work; `ccreload later stop` ends them")
	case slices.ContainsFunc(trees, fs.DirEntry.IsDir):
		return keep("work of agents is in " + filepath.Base(dispatch.Worktrees(app)) + "; `ccreload later status` says what to do with it")
	}
	if err := dispatch.Settle(app, tickWait); err != nil {
		return nil, err
	}
	l, err := sift(app, ownsLater)
	return append(out, l), err
}
