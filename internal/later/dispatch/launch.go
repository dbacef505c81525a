package dispatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// stampLayout is how a run is dated in the names of its files and branch.
const stampLayout = "20060102-150405"

// askAgain is how long an answer of the client counts for whoever only looks.
const askAgain = time.Minute

// answer is what was found about the client.
type answer struct {
	at      time.Time
	problem string // why no agent can be run, in one line, "" if one can
}

// Client returns the program that agents are run with, once it is clear who pays. The
// error is a sentence with advice. Ticks ask before they start something, and whoever
// shows what would start shows the same.
func (w *World) Client(ctx context.Context) (agent.Client, error) {
	client, err := w.findClient(ctx)
	w.answer = answer{at: w.now()}
	if err != nil {
		w.answer.problem = advice(err)
	}
	return client, err
}

// lookForClient asks the client for a View, where an agent may be run for a task and
// the last answer is too old.
func (w *World) lookForClient(ctx context.Context, queues []Queued) {
	may := slices.ContainsFunc(queues, func(q Queued) bool {
		return slices.ContainsFunc(q.Sections, func(s Section) bool { return slices.ContainsFunc(s.Tasks, Known.May) })
	})
	if may && w.now().Sub(w.answer.at).Abs() >= askAgain {
		w.Client(ctx) // what it says is kept
	}
}

func (w *World) findClient(ctx context.Context) (agent.Client, error) {
	if _, err := w.LookPath("git"); err != nil && w.config.Writes {
		return agent.Client{}, problem.Input("install git, or put it on PATH", "git was not found, and agents that change files need it")
	}
	path, err := agent.Find(w.Host, w.LookPath)
	if err != nil {
		return agent.Client{}, err
	}
	environ := host.AgentEnviron(w.Environ, w.config.AllowKey)
	client, err := w.store.Probe(ctx, path, environ)
	if err != nil {
		return agent.Client{}, err
	}
	payer, err := w.store.Payer(ctx, client, w.Environ, w.config.AllowKey)
	if err != nil {
		return agent.Client{}, err
	}
	switch {
	case payer.Kind == agent.Withheld, payer.Kind == agent.ByKey && !w.config.AllowKey:
		return agent.Client{}, problem.Input("set DISPATCH_ALLOW_API_KEY=true in "+later.ConfigFile+" if it may pay", "an API key would pay for the agents (%s), and that is not allowed", payer.Source)
	case payer.Kind == agent.Nobody && w.Env.Getenv(host.SessionVar) != "":
		// The session itself may be logged in with a token, which the host keeps
		// from what it starts: that says nothing of a tick elsewhere.
		return agent.Client{}, problem.Input("it can from a terminal or a timer that has the token, or once you are logged in with `claude` and /login", "Claude Code does not hand the login of this session on, so no agent can run from here")
	case payer.Kind == agent.Nobody:
		return agent.Client{}, problem.Input("log in with `claude`, or set CLAUDE_CODE_OAUTH_TOKEN for this too if a token is your login", "nobody is logged in, so no agent can run")
	}
	return client, nil
}

// launch starts an agent. The run stands in the state before anything is done for
// it; whatever this process is killed between, the next tick finds the run, and
// what there is of it.
func (w *World) launch(ctx context.Context, client agent.Client, s schedule.Start) (*Run, error) {
	now := w.now()
	stamp := w.Env.Now().Local().Format(stampLayout)
	run := &Run{
		ID: agent.NewID(), Session: agent.NewID(), Section: s.Section, DispatchTS: now,
		Model: w.config.Model, Writes: w.config.Writes, Resume: s.Resume, ResultPath: w.output(s, stamp),
	}
	for _, t := range s.Tasks {
		run.Entries = append(run.Entries, w.entry(s.Repo, t))
		run.Retries = max(run.Retries, t.Retries)
	}
	repo := w.state.repo(s.Repo)
	repo.Agents = append(repo.Agents, run)
	repo.DispatchTS = &now
	step("plan run")
	if err := w.state.save(w.App); err != nil {
		repo.drop(run)
		return nil, err
	}
	if err := w.begin(ctx, client, s, run, stamp); err != nil {
		w.undo(ctx, s.Repo, run, err)
		return nil, fmt.Errorf("no agent for %s: %w", run.name(), err)
	}
	branch := any(nil)
	if run.Branch != nil {
		branch = *run.Branch
	}
	left := 0
	if win := w.window(now); !win.End.IsZero() {
		left = int(win.Remaining(now).Minutes())
	}
	w.log("dispatch", fields{
		"repo": s.Repo, "section": s.Section, "entries_dispatched": len(run.Entries), "entries": run.Entries, "remaining_minutes": left,
		"model": run.Model, "result_path": run.ResultPath, "branch": branch, "auto_resume": s.Resume,
	})
	return run, nil
}

// entry is a task as it stands in the queue now.
func (w *World) entry(root string, t schedule.Task) Task {
	for _, s := range w.read(root).Sections {
		for _, k := range s.Tasks {
			if k.Text == t.Key {
				return taskOf(k.Task)
			}
		}
	}
	return Task{Text: t.Key, Priority: fmt.Sprintf("P%d", t.Priority)}
}

// begin does what a run needs, and starts it.
func (w *World) begin(ctx context.Context, client agent.Client, s schedule.Start, run *Run, stamp string) error {
	var entries []later.Entry
	brief := agent.Brief{Repo: s.Repo, Writes: run.Writes}
	if w.ledger.Trusts(s.Repo) { // a repository can ship a heading, above what was queued here
		brief.Section = s.Section
	}
	for _, t := range run.Entries {
		entries = append(entries, later.Entry{Time: run.DispatchTS, Event: later.Began, Repo: s.Repo, Text: t.Text, Agent: run.ID, Resume: run.Resume})
		brief.Tasks = append(brief.Tasks, agent.Task{ID: t.ID, Priority: t.Priority, Text: t.Text})
	}
	if err := os.MkdirAll(filepath.Dir(run.ResultPath), 0o700); err != nil {
		return err
	}
	dir := s.Repo
	var tree *git.Worktree
	if run.Writes {
		var err error
		if tree, err = w.prepareTree(ctx, s.Repo, run, stamp); err != nil {
			return err
		}
		dir = tree.Path
	}
	step("note start")
	if err := w.note(entries...); err != nil {
		return err
	}
	step("start agent")
	rec, err := w.store.Start(agent.Spec{
		ID: run.ID, Client: client, Session: run.Session, Model: run.Model, Writes: run.Writes, BudgetUSD: w.config.BudgetUSD,
		SkipPermissions: w.config.SkipPermissions, Dir: dir, Prompt: agent.Prompt(brief), Environ: host.AgentEnviron(w.Environ, w.config.AllowKey),
		Out: run.ResultPath, Err: run.ResultPath + ".err",
	}, w.now())
	if err != nil {
		return err
	}
	run.PID = rec.Process.PID
	if tree != nil {
		step("set owner")
		if err := tree.SetOwner(rec.Process, run.Session); err != nil {
			w.log("error", fields{"reason": "owner", "detail": err.Error()})
		}
	}
	step("save started run")
	return w.state.save(w.App)
}

// prepareTree makes the worktree of a run, and notes what the user's checkout
// looks like before it.
func (w *World) prepareTree(ctx context.Context, root string, run *Run, stamp string) (*git.Worktree, error) {
	repo, err := git.Open(ctx, root)
	if err != nil {
		return nil, err
	}
	step("add worktree")
	tree, err := repo.AddWorktree(ctx, filepath.Join(w.App, worktreeName), run.name(), stamp)
	if err != nil {
		return nil, err
	}
	run.Branch, run.Worktree = &tree.Branch, &tree.Path
	step("save worktree")
	if err := w.state.save(w.App); err != nil {
		return nil, err
	}
	w.snap(ctx, root, run)
	return tree, nil
}

// output returns the file for what an agent says.
func (w *World) output(s schedule.Start, stamp string) string {
	name := short(filepath.Base(s.Repo)) + "-" + slug((&Run{Section: s.Section, Resume: s.Resume}).name())
	replace := strings.NewReplacer("{app}", w.App, "{repo}", name, "{date}", stamp)
	path := replace.Replace(w.config.Output)
	if !filepath.IsAbs(path) || state.Within(state.RealPath(s.Repo), state.Resolve(path)) {
		path = filepath.Join(w.App, resultsName, name+"-"+stamp+".json")
	}
	for n := 2; ; n++ {
		_, err := os.Lstat(path)
		_, err2 := os.Lstat(path + ".err")
		if err != nil && err2 != nil {
			return path
		}
		ext := filepath.Ext(path)
		path = strings.TrimSuffix(path, ext) + fmt.Sprintf("-%d", n) + ext
	}
}

// short returns the name of a directory as part of a file's, which may be longer.
func short(name string) string {
	const most = 100 // bytes, of the 255 that a name can have
	if len(name) <= most {
		return name
	}
	return strings.ToValidUTF8(name[:most], "")
}

// slug returns a section's name as part of a file's.
func slug(name string) string {
	s := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
	return s[:min(len(s), 40)]
}

// undo takes back a run that could not be started.
func (w *World) undo(ctx context.Context, root string, run *Run, why error) {
	if run.Worktree != nil {
		w.removeTree(ctx, run)
	}
	// It was no attempt; the next one waits a little.
	w.finish(root, run, func(Task) (schedule.Verdict, string) { return schedule.NotStarted, advice(why) })
	w.forget(root, run)
}
