package dispatch

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// Options are what a tick is told.
type Options struct {
	Repo string // the repository of whoever asks, "" for a timer
	// IdleSince is when a turn ended before the one that starts this tick; zero for
	// whenever one last did.
	IdleSince time.Time
	Manual    bool          // a person asks: only Repo, whatever the window and whether they are at work
	Wait      time.Duration // for another tick
	// Only has agents looked after and none started.
	Only bool
}

// Result is what a tick did.
type Result struct {
	Decision schedule.Decision
	Because  string   // why nothing starts, in words: why the task waits that is due first, or no agent can be run
	Started  []string // sections, as people call them
	Ended    []string // what came of agents, as sentences
	Running  int      // agents at work
	Waiting  int      // those that are over and whose work cannot be merged at the moment
	Problems []string
	Busy     bool // another tick was at work, and nothing was done
}

// Step, where a test has set it, is called before each change of a tick, with what
// is about to happen: a test ends the run there, as a kill would.
var Step func(what string)

func step(what string) {
	if Step != nil {
		Step(what)
	}
}

// Tick looks after the agents and starts those whose time has come. Another tick
// that is at work is no error.
func (w *World) Tick(ctx context.Context, o Options) (Result, error) {
	var r Result
	if err := w.Prepare(); err != nil {
		return r, err
	}
	err := w.locked(ctx, o.Wait, func() error { return w.tick(ctx, o, &r) })
	if errors.Is(err, state.ErrBusy) {
		return Result{Busy: true}, nil
	}
	return r, err
}

func (w *World) tick(ctx context.Context, o Options, r *Result) error {
	later.MarkTick(w.App, w.Env.Now())
	if err := w.load(); err != nil {
		return err
	}
	r.Problems = w.config.Problems
	w.busy = map[string]bool{}
	for root, repo := range w.state.Repos {
		w.busy[root] = repo.atWork() > 0
	}
	w.reconcile(ctx, r)
	w.tidy(ctx, r)

	roots := w.repos(o.Repo)
	if active := later.Activity(w.App); !active.IsZero() {
		active = active.UTC()
		w.state.LastHook = &active
	}
	w.count()
	w.calibrate(w.window(w.now()))
	var queues []Queued
	for _, root := range roots {
		q := w.read(root)
		switch {
		case o.Manual && o.Repo != "" && o.Repo != root: // not what was asked about
		case q.Err != nil:
			r.Problems = append(r.Problems, q.Err.Error())
			w.log("error", fields{"reason": "queue", "repo": root, "detail": q.Err.Error()})
		case q.Blocked != "":
			r.Problems = append(r.Problems, root+": "+q.Blocked)
		}
		if err := w.ignore(ctx, root); err != nil {
			r.Problems = append(r.Problems, "the queue could not be ignored: "+err.Error())
		}
		w.vouch(q)
		queues = append(queues, w.read(root))
	}
	if !o.Only {
		w.start(ctx, o, queues, r)
	}
	w.resumeEntries(queues)
	r.Running, r.Waiting = w.state.atWork()
	step("save state")
	if err := w.state.save(w.App); err != nil {
		return err
	}
	if r.Running > 0 && w.Watch != nil {
		return w.Watch()
	}
	return nil
}

// start asks the schedule and starts what it says.
func (w *World) start(ctx context.Context, o Options, queues []Queued, r *Result) {
	if o.Manual && o.Repo != "" {
		queues = slices.DeleteFunc(slices.Clone(queues), func(q Queued) bool { return q.Root != o.Repo })
	}
	decide := func() bool {
		r.Decision = schedule.Decide(w.config.Settings, w.facts(o, queues))
		return len(r.Decision.Starts) > 0
	}
	var client agent.Client
	w.answer = answer{} // of an earlier tick or look
	starts := decide()
	if starts { // only then is it worth a process
		client, _ = w.Client(ctx)
		starts = decide()
	}
	if !starts {
		r.Because = w.because(r.Decision)
		skip := fields{"reason": r.Decision.Reason}
		if r.Decision.Because != "" {
			skip["detail"] = r.Decision.Because
		}
		w.log("skip", skip)
		return
	}
	for _, s := range r.Decision.Starts {
		run, err := w.launch(ctx, client, s)
		if err != nil {
			r.Problems = append(r.Problems, advice(err))
			w.log("error", fields{"reason": "dispatch", "repo": s.Repo, "section": s.Section, "detail": err.Error()})
			continue
		}
		r.Started = append(r.Started, run.name()+" of "+filepath.Base(s.Repo))
	}
}

// advice is an error in one line, with what to do about it.
func advice(err error) string {
	if hint := problem.Hint(err); hint != "" {
		return err.Error() + "; " + hint
	}
	return err.Error()
}

// resumeEntries keeps in the state what a limit has ended, as the original does.
func (w *World) resumeEntries(queues []Queued) {
	for _, q := range queues {
		var list []Task
		for _, s := range q.Sections {
			for _, t := range s.Tasks {
				if t.Resume {
					list = append(list, taskOf(t.Task))
				}
			}
		}
		if len(list) == 0 && w.state.Repos[q.Root] == nil {
			continue
		}
		repo := w.state.repo(q.Root)
		repo.ResumeEntries, repo.ResumeReason = list, nil
		if len(list) > 0 {
			why := "limit_exhausted"
			repo.ResumeReason = &why
		}
	}
}
