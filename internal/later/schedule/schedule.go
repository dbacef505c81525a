// Package schedule decides when queued tasks run: a pure function of the
// settings, the account's window and what is known of each task. It reads no
// clock and no file; whoever calls it acts on the answer and remembers what
// happened.
package schedule

import (
	"cmp"
	"slices"
	"time"
)

// Mode is what opens the mode gate.
type Mode string

// The modes.
const (
	WindowAware Mode = "window_aware" // the end of a usage window
	TimeBased   Mode = "time_based"   // hours of the day
	Always      Mode = "always"
)

// Source is where a window comes from, the most reliable first.
type Source string

// The sources.
const (
	Server   Source = "server"   // the host has said when the window ends
	Refusal  Source = "refusal"  // a run was refused until the window ends
	Estimate Source = "estimate" // from the times of the replies in the logs
)

const (
	// ResetMargin is how long after a reset nothing starts: the host continues the
	// sessions that were waiting for it then.
	ResetMargin = 5 * time.Minute
	// EstimateMargin is how far an estimated window may be off.
	EstimateMargin = 10 * time.Minute
	// maxPause is the longest limit there is, one of seven days, and a day. A time
	// beyond it comes from a clock that was wrong.
	maxPause = 8 * 24 * time.Hour
)

// Settings are the ones that scheduling obeys.
type Settings struct {
	Enabled   bool
	Mode      Mode
	Hours     []Hours       // for TimeBased, local time
	Duration  time.Duration // of a window
	Trigger   time.Duration // before its end
	IdleGrace time.Duration
	Backoff   int // percent of the weekly budget

	MaxAgents  int // at once
	PerWindow  int // started in one window
	PerSection int // tasks of one agent

	MaxAttempts int // of a task, over all windows
	MaxRetries  int // of a run that ended without a word

	Resume          bool
	ResumeRemaining time.Duration // of the window
}

// Window is the account's usage window; the zero Window is one that nobody knows
// or that has not begun.
type Window struct {
	Start, End time.Time
	Source     Source
}

// Remaining returns how long the window goes on; 0 for one that is over.
func (w Window) Remaining(now time.Time) time.Duration { return max(0, w.End.Sub(now)) }

// running reports whether the window is known and not over. Shortly after the end
// of an estimated one nobody knows.
func (w Window) running(now time.Time) bool { return !w.End.IsZero() && now.Before(w.End) }

// Section is what one agent is given tasks of.
type Section struct {
	Repo    string
	Name    string
	Tasks   []Task
	Running bool // an agent has it
}

// Facts are what a decision is made of.
type Facts struct {
	Now    time.Time
	Manual bool // a person asks: neither idleness nor the mode matters

	Window Window
	// Spent is how much of the weekly budget is used, in percent.
	Spent float64
	// Activity is the last end of a turn before this moment, zero for none.
	Activity time.Time
	// LimitUntil is when the limit that a run has met is over, zero for none.
	LimitUntil time.Time
	Paused     bool   // by the person
	Off        string // why nothing may start until the person resumes, "" if it may
	// Asked says that it is known whether an agent can be run, which takes a process of
	// the client; NoClient is why none can, "" if one can.
	Asked    bool
	NoClient string

	Running int         // agents
	Starts  []time.Time // of agents, those of the last window at least
	Resumed time.Time   // when a resume agent was last started

	Sections []Section
}

// Gate is one condition of a decision.
type Gate struct {
	Name   string
	Open   bool
	Reason string // what closes it, as the log names it
	// Because says it in words, where the reason alone tells too little.
	Because string
	Until   time.Time
}

// Start is an agent to be started.
type Start struct {
	Repo    string
	Section string
	Tasks   []Task
	Resume  bool
}

// Decision is what to do now.
type Decision struct {
	Gates  []Gate
	Starts []Start
	// Reason is why nothing starts, "" if something does, and Because that in words,
	// where the reason alone tells too little.
	Reason, Because string
	// Until is when that is over by itself, zero where nobody knows. Where no task is
	// due it is when the first one is: Key of Repo.
	Until     time.Time
	Repo, Key string
}

// Reasons for starting nothing, as they stand in the log.
const (
	Disabled    = "dispatch_disabled"
	SwitchedOff = "dispatch_off"
	Paused      = "paused"
	LimitPause  = "limit_pause"
	Idle        = "idle_grace_active"
	Budget      = "budget_limit"
	ModeClosed  = "mode_gate_closed"
	AgentsBusy  = "agents_busy"
	WindowFull  = "window_full"
	NoClient    = "no_client"
	NothingDue  = "nothing_due"
)

// Names of the gates, in the order in which they are asked.
const (
	GateEnabled = "dispatch enabled"
	GatePaused  = "not paused"
	GateLimit   = "no limit"
	GateIdle    = "idle"
	GateBudget  = "weekly budget"
	GateMode    = "window"
	GateResume  = "resume"
	GateAgents  = "free agents"
	GateClient  = "Claude Code"
)

// Decide returns what is to be started at f.Now, and what every gate says.
func Decide(s Settings, f Facts) Decision {
	var d Decision
	reason := ""
	gate := func(g Gate) bool {
		d.Gates = append(d.Gates, g)
		return g.Open
	}
	must := func(g Gate) {
		if !gate(g) && reason == "" {
			reason, d.Because, d.Until = g.Reason, g.Because, g.Until
		}
	}
	must(Gate{Name: GateEnabled, Open: s.Enabled && f.Off == "", Reason: first(!s.Enabled, Disabled, SwitchedOff)})
	must(Gate{Name: GatePaused, Open: !f.Paused, Reason: Paused})
	must(limitGate(f))
	must(idleGate(s, f))
	must(Gate{Name: GateBudget, Open: f.Spent < float64(s.Backoff), Reason: Budget})

	mode := modeGate(s, f)
	modeOpen := gate(mode)
	resumeOpen := gate(resumeGate(s, f))
	if !modeOpen && !resumeOpen && reason == "" {
		reason, d.Until = ModeClosed, mode.Until
	}
	free := min(s.MaxAgents-f.Running, s.PerWindow-started(s, f))
	must(Gate{Name: GateAgents, Open: free > 0, Reason: first(s.MaxAgents <= f.Running, AgentsBusy, WindowFull)})
	if f.Asked {
		must(Gate{Name: GateClient, Open: f.NoClient == "", Reason: NoClient, Because: f.NoClient})
	}

	if reason == "" {
		d.Starts = starts(s, f, modeOpen, resumeOpen, free)
		if len(d.Starts) == 0 {
			reason = NothingDue
			d.Until, d.Repo, d.Key = soonest(s, f)
		}
	}
	if !d.Until.After(f.Now) {
		d.Until = time.Time{}
	}
	d.Reason = reason
	return d
}

// soonest returns the task that only waits for its time and is due first.
func soonest(s Settings, f Facts) (at time.Time, repo, key string) {
	for _, sec := range f.Sections {
		if sec.Running {
			continue
		}
		for _, t := range sec.Tasks {
			if next := NotBefore(s, f, t); next.After(f.Now) && (at.IsZero() || next.Before(at)) {
				at, repo, key = next, sec.Repo, t.Key
			}
		}
	}
	return at, repo, key
}

// NotBefore returns until when a task waits whatever the gates say, zero for one that
// waits for somebody or for nothing: the API had no room for it, or it was tried in
// this window.
func NotBefore(s Settings, f Facts, t Task) time.Time {
	switch {
	case !t.Trusted || t.Running || t.Held != "" || t.Resume:
		return time.Time{}
	case again(s, f, t):
		return t.NotBefore
	case f.Window.running(f.Now):
		return f.Window.End
	}
	return t.Started.Add(s.Duration)
}

// again reports whether a task may be started, or started once more, in this window.
func again(s Settings, f Facts, t Task) bool {
	return t.Again || f.Manual || t.Started.Before(windowStart(s, f)) || t.Started.After(f.Now)
}

func first(cond bool, yes, no string) string {
	if cond {
		return yes
	}
	return no
}

// limitGate keeps everything back until the account's limit is over, and the
// margin after it. The limit is the account's, so it counts for every queue.
func limitGate(f Facts) Gate {
	until := f.LimitUntil.Add(ResetMargin)
	open := f.LimitUntil.IsZero() || !f.Now.Before(until) || until.Sub(f.Now) > maxPause
	return Gate{Name: GateLimit, Open: open, Reason: LimitPause, Until: until}
}

// idleGate keeps agents from competing with a person at work.
func idleGate(s Settings, f Facts) Gate {
	idle := f.Now.Sub(f.Activity)
	// A clock that was set back must not close the gate for as long.
	open := f.Manual || f.Activity.IsZero() || idle < 0 || idle >= s.IdleGrace
	return Gate{Name: GateIdle, Open: open, Reason: Idle, Until: f.Activity.Add(s.IdleGrace)}
}

func modeGate(s Settings, f Facts) Gate {
	g := Gate{Name: GateMode, Reason: ModeClosed}
	switch {
	case f.Manual:
		g.Open = true
	case s.Mode == Always:
		g.Open = true
	case s.Mode == TimeBased:
		g.Open = slices.ContainsFunc(s.Hours, func(h Hours) bool { return h.Contains(f.Now) })
	default:
		from, to := f.Window.End.Add(-s.Trigger), f.Window.End
		if f.Window.Source == Estimate {
			// What starts later may well run in the next window.
			to = to.Add(-EstimateMargin)
			from = to.Add(-max(s.Trigger, EstimateMargin))
		}
		g.Open = f.Window.running(f.Now) && !f.Now.Before(from) && f.Now.Before(to)
		g.Until = from
	}
	return g
}

// resumeGate lets go on what a limit has ended, once in a window, while most of it
// is left.
func resumeGate(s Settings, f Facts) Gate {
	g := Gate{Name: GateResume, Reason: ModeClosed}
	waiting := slices.ContainsFunc(f.Sections, func(s Section) bool {
		return slices.ContainsFunc(s.Tasks, func(t Task) bool { return t.Resume && due(t, f.Now) })
	})
	if !s.Resume || !waiting || f.Resumed.After(windowStart(s, f)) && !f.Resumed.After(f.Now) {
		return g
	}
	if f.Window.running(f.Now) {
		g.Open = s.Mode != WindowAware || f.Window.Remaining(f.Now) >= s.ResumeRemaining && f.Now.Sub(f.Window.Start) >= ResetMargin
		return g
	}
	// The next window begins with whatever runs first, so all of it is left.
	g.Open = !f.Now.Before(f.LimitUntil.Add(ResetMargin))
	if f.Window.Source == Estimate {
		g.Open = g.Open && !f.Now.Before(f.Window.End.Add(EstimateMargin))
	}
	return g
}

// windowStart returns when the current window began, or would have begun at the
// earliest where it is not known.
func windowStart(s Settings, f Facts) time.Time {
	if f.Window.running(f.Now) {
		return f.Window.Start
	}
	return f.Now.Add(-s.Duration)
}

// started counts the agents of the current window.
func started(s Settings, f Facts) int {
	from, n := windowStart(s, f), 0
	for _, t := range f.Starts {
		if !t.Before(from) {
			n++
		}
	}
	return n
}

// due reports whether a task could run now, whatever the gates say.
func due(t Task, now time.Time) bool {
	return t.Trusted && !t.Running && t.Held == "" && !now.Before(t.NotBefore)
}

// starts picks the tasks of at most free agents. What a limit ended comes first,
// all of a repository in one agent; then sections, those with the most urgent task
// first, and of those the one that has waited longest.
func starts(s Settings, f Facts, modeOpen, resumeOpen bool, free int) []Start {
	var out []Start
	resumed := map[string]bool{}
	if resumeOpen {
		for _, repo := range repos(f.Sections) {
			var tasks []Task
			for _, sec := range f.Sections {
				if sec.Repo == repo {
					tasks = append(tasks, keep(sec.Tasks, func(t Task) bool { return t.Resume && due(t, f.Now) })...)
				}
			}
			if len(tasks) == 0 || len(out) == free {
				continue
			}
			out = append(out, Start{Repo: repo, Section: "", Tasks: pick(tasks, s.PerSection), Resume: true})
			resumed[repo] = true
		}
	}
	if !modeOpen {
		return out
	}
	var open []Start
	for _, sec := range f.Sections {
		if sec.Running || resumed[sec.Repo] {
			continue
		}
		tasks := keep(sec.Tasks, func(t Task) bool {
			return due(t, f.Now) && again(s, f, t)
		})
		if len(tasks) > 0 {
			open = append(open, Start{Repo: sec.Repo, Section: sec.Name, Tasks: pick(tasks, s.PerSection)})
		}
	}
	slices.SortStableFunc(open, func(a, b Start) int {
		return cmp.Or(cmp.Compare(a.Tasks[0].Priority, b.Tasks[0].Priority), latest(a.Tasks).Compare(latest(b.Tasks)))
	})
	return append(out, open[:min(len(open), max(0, free-len(out)))]...)
}

func repos(sections []Section) []string {
	var list []string
	for _, s := range sections {
		if !slices.Contains(list, s.Repo) {
			list = append(list, s.Repo)
		}
	}
	return list
}

func keep(tasks []Task, ok func(Task) bool) []Task {
	return slices.DeleteFunc(slices.Clone(tasks), func(t Task) bool { return !ok(t) })
}

// pick returns the most urgent tasks, in the order of their lines where they are as
// urgent.
func pick(tasks []Task, limit int) []Task {
	slices.SortStableFunc(tasks, func(a, b Task) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Line, b.Line))
	})
	return tasks[:min(len(tasks), max(1, limit))]
}

func latest(tasks []Task) time.Time {
	var t time.Time
	for _, task := range tasks {
		if task.Started.After(t) {
			t = task.Started
		}
	}
	return t
}
