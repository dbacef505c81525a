package schedule

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var accounts = flag.Int("accounts", 100, "how many accounts to simulate (make thorough: 10000)")

// account is a simulated one: the true window of the server, a person who works at
// odd hours, agents that take their time, and a scheduler that sees only what it
// would see.
type account struct {
	rng *rand.Rand
	set Settings
	now time.Time
	// skew is how far the clock that the scheduler reads is off: people set it back.
	skew time.Duration

	begin, end time.Time // of the true window, zero before the first
	used, size int

	told     Window // by the server, as far as the scheduler has heard
	activity time.Time
	limit    time.Time
	paused   bool
	hears    bool // the status line tells what the server says
	timer    time.Duration

	tasks   []*simTask
	agents  []simAgent
	starts  []time.Time
	resumed time.Time
}

type simTask struct {
	Task
	section string
	since   time.Time // open and trusted
	done    bool
}

type simAgent struct {
	until time.Time
	tasks []*simTask
	sec   string
	cut   bool // the limit will end it
}

func newAccount(seed uint64) *account {
	rng := rand.New(rand.NewPCG(seed, 7))
	a := &account{
		rng: rng, set: standard, now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rng.IntN(1e6)) * time.Second),
		size: 20 + rng.IntN(200), hears: rng.IntN(3) > 0, timer: time.Duration(5*(1+rng.IntN(2))) * time.Minute,
	}
	a.set.Mode = []Mode{WindowAware, WindowAware, WindowAware, TimeBased, Always}[rng.IntN(5)]
	a.set.Hours = []Hours{{22 * 60, 6 * 60}, {12 * 60, 24 * 60}}[:1+rng.IntN(2)]
	a.set.MaxAgents, a.set.PerWindow, a.set.PerSection = 1+rng.IntN(4), 1+rng.IntN(12), 1+rng.IntN(4)
	return a
}

// use spends some of the true window, which begins with its first use, and reports
// whether there was any left.
func (a *account) use(n int) bool {
	if !a.now.Before(a.end) {
		a.begin, a.end, a.used = a.now, a.now.Add(a.set.Duration), 0
	}
	if a.used+n > a.size {
		a.told = Window{a.begin, a.end, Refusal}
		return false
	}
	a.used += n
	if a.hears {
		a.told = Window{a.begin, a.end, Server}
	}
	return true
}

// window is what the scheduler believes. Without the server's word it is an
// estimate that is off by less than the margin.
func (a *account) window() Window {
	switch {
	case !a.told.End.IsZero() && a.now.Before(a.told.End):
		w := a.told
		w.Start, w.End = w.Start.Add(a.skew), w.End.Add(a.skew)
		return w
	case a.end.IsZero():
		return Window{}
	}
	off := a.skew + time.Duration(a.end.Unix()%19-9)*time.Minute
	return Window{a.begin.Add(off), a.end.Add(off), Estimate}
}

func (a *account) facts() Facts {
	f := Facts{
		Now: a.now.Add(a.skew), Window: a.window(), Activity: a.activity, LimitUntil: a.limit, Paused: a.paused,
		Running: len(a.agents), Starts: a.starts, Resumed: a.resumed,
	}
	for _, name := range []string{"", "Auth", "Docs", "Tests"} {
		sec := Section{Repo: "/r", Name: name}
		for _, t := range a.tasks {
			if t.section == name && !t.done {
				sec.Tasks = append(sec.Tasks, t.Task)
			}
		}
		sec.Running = slices.ContainsFunc(a.agents, func(x simAgent) bool { return x.sec == name })
		if len(sec.Tasks) > 0 {
			f.Sections = append(f.Sections, sec)
		}
	}
	return f
}

// tick is one run of the scheduler; it returns what broke a promise.
func (a *account) tick() error {
	f := a.facts()
	d := Decide(a.set, f)
	if (len(d.Starts) == 0) == (d.Reason == "") {
		return fmt.Errorf("%d agents and the reason %q", len(d.Starts), d.Reason)
	}
	for _, s := range d.Starts {
		switch {
		case a.paused:
			return fmt.Errorf("started while paused")
		case !a.limit.IsZero() && a.now.Add(a.skew).Before(a.limit.Add(ResetMargin)):
			return fmt.Errorf("started before the reset: limit until %s", a.limit)
		case len(s.Tasks) == 0 || len(s.Tasks) > a.set.PerSection:
			return fmt.Errorf("an agent with %d tasks", len(s.Tasks))
		case a.set.Mode == WindowAware && !s.Resume && a.skew == 0:
			if left := a.end.Sub(a.now); left <= 0 || left > a.set.Trigger+2*EstimateMargin {
				return fmt.Errorf("started with %s left of the true window (%s)", left, f.Window.Source)
			}
		case a.set.Mode == TimeBased && !s.Resume && !slices.ContainsFunc(a.set.Hours, func(h Hours) bool { return h.Contains(f.Now) }):
			return fmt.Errorf("started outside the hours")
		}
		agent := simAgent{until: a.now.Add(time.Duration(1+a.rng.IntN(60)) * time.Minute), sec: s.Section}
		for _, picked := range s.Tasks {
			i := slices.IndexFunc(a.tasks, func(t *simTask) bool { return t.Key == picked.Key })
			t := a.tasks[i]
			switch {
			case t.Running:
				return fmt.Errorf("%s is run twice", t.Key)
			case !t.Trusted || t.Held != "" || t.done || t.Attempts >= a.set.MaxAttempts:
				return fmt.Errorf("%s must not run: %+v", t.Key, t.Task)
			}
			t.Running, t.State = true, t.State.Start(f.Now)
			agent.tasks = append(agent.tasks, t)
		}
		agent.cut = !a.use(len(agent.tasks) * (1 + a.rng.IntN(5)))
		a.agents = append(a.agents, agent)
		a.starts = append(a.starts, f.Now)
		if s.Resume {
			a.resumed = f.Now
		}
	}
	if len(a.agents) > a.set.MaxAgents {
		return fmt.Errorf("%d agents at once", len(a.agents))
	}
	if n := started(a.set, Facts{Now: f.Now, Window: f.Window, Starts: a.starts}); len(d.Starts) > 0 && n > a.set.PerWindow {
		return fmt.Errorf("%d agents in one window", n)
	}
	return nil
}

// reconcile ends agents.
func (a *account) reconcile() {
	a.agents = slices.DeleteFunc(a.agents, func(x simAgent) bool {
		if a.now.Before(x.until) && !x.cut {
			return false
		}
		for _, t := range x.tasks {
			v := []Verdict{Done, Done, Done, Failed, Skipped, NeedsHuman, Throttled, Ended, Refused}[a.rng.IntN(9)]
			if x.cut {
				v = Limited
				a.limit = a.end.Add(a.skew)
			}
			t.Running, t.done = false, v == Done
			t.State = t.State.End(v, a.now.Add(a.skew), a.set)
		}
		return true
	})
}

// person works, queues, trusts, pauses, sets the clock.
func (a *account) person(i int) {
	working := a.rng.IntN(100) < 30
	if working && a.use(a.rng.IntN(3)) {
		a.activity = a.now.Add(a.skew)
	}
	switch roll := a.rng.IntN(300); {
	case roll < 6 && len(a.tasks) < 15:
		a.tasks = append(a.tasks, &simTask{
			section: []string{"", "Auth", "Docs", "Tests"}[a.rng.IntN(4)], since: a.now,
			Task: Task{Key: fmt.Sprint(i), Priority: a.rng.IntN(3), Line: i, Trusted: a.rng.IntN(5) > 0},
		})
	case roll == 7:
		a.paused = !a.paused
	case roll == 8:
		a.skew = time.Duration(a.rng.IntN(3)-1) * time.Hour
	case roll < 10:
		for _, t := range a.tasks {
			t.Trusted = true
			if t.Held != "" {
				t.State = t.State.Retry()
			}
		}
	}
}

func (a *account) run(days int) error {
	for i := range days * 24 * 12 {
		a.now = a.now.Add(5 * time.Minute)
		a.person(i)
		a.reconcile()
		if i%int(a.timer/(5*time.Minute)) == 0 {
			if err := a.tick(); err != nil {
				return fmt.Errorf("day %d, %s: %w", i/288, a.now, err)
			}
		}
		// What is over takes no room in the simulation.
		if i%72 == 0 {
			a.tasks = slices.DeleteFunc(a.tasks, func(t *simTask) bool { return t.done })
			a.starts = slices.DeleteFunc(a.starts, func(t time.Time) bool { return a.now.Sub(t) > 24*time.Hour })
		}
	}
	return a.rest()
}

// rest lets the account be: somebody opens a window now and then, nobody pauses or
// changes anything. Every task must come to an end or to the person.
func (a *account) rest() error {
	a.paused, a.skew = false, 0
	for _, t := range a.tasks {
		t.Trusted = true
	}
	a.size = 1 << 30
	for i := range 20 * 24 * 12 {
		a.now = a.now.Add(5 * time.Minute)
		if i%70 == 0 {
			a.use(1)
			a.activity = a.now
		}
		a.reconcile()
		if err := a.tick(); err != nil {
			return fmt.Errorf("at rest, %s: %w", a.now, err)
		}
		if !slices.ContainsFunc(a.tasks, func(t *simTask) bool { return !t.done && t.Held == "" }) {
			return nil
		}
	}
	for _, t := range a.tasks {
		if !t.done && t.Held == "" {
			return fmt.Errorf("%s never comes to its turn: %+v, %d agents, settings %+v", t.Key, t.Task, len(a.agents), a.set)
		}
	}
	return nil
}

// Never two agents with one task, never one before a reset, never more than the
// settings allow, and nothing that waits for ever.
func TestAccounts(t *testing.T) {
	t.Parallel()
	for seed := range *accounts {
		if err := newAccount(uint64(seed)).run(3 + seed%10); err != nil {
			t.Fatalf("account %d: %v", seed, err)
		}
	}
}

func TestAThousandDays(t *testing.T) {
	t.Parallel()
	if err := newAccount(1 << 40).run(1000); err != nil {
		t.Fatal(err)
	}
}

// A rival took the break after which somebody came back for the beginning of a
// window, so that the last minutes of every window passed unused. Whoever asks
// every five minutes must be able to use a window of which two minutes are left.
func TestTwoMinuteWindow(t *testing.T) {
	t.Parallel()
	f := Facts{Now: noon, Window: ending(2*time.Minute, Server), Activity: noon.Add(-12 * time.Minute), Sections: queued("a")}
	if d := Decide(standard, f); len(d.Starts) != 1 {
		t.Errorf("with two minutes left: %s", d.Reason)
	}
	f.Window = ending(-time.Second, Server)
	if d := Decide(standard, f); len(d.Starts) != 0 {
		t.Error("started in the next window")
	}
	for seed := range uint64(50) {
		a := newAccount(seed)
		a.set, a.hears, a.timer = standard, true, 5*time.Minute
		a.tasks = []*simTask{{Task: Task{Key: "x", Priority: 1, Trusted: true}}}
		a.use(1)
		a.activity = a.now
		for a.now.Before(a.end) {
			a.now = a.now.Add(a.timer)
			if err := a.tick(); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.starts) != 1 {
			t.Fatalf("account %d: %d agents in a window that was left alone", seed, len(a.starts))
		}
	}
}

// Another rival moved the beginning of its window, or the last activity, at every
// look, so that the time it waited for never came.
func TestLookingMovesNothing(t *testing.T) {
	t.Parallel()
	f := Facts{Window: ending(0, Server), Activity: noon.Add(-5 * time.Hour), Sections: queued("a")}
	started := 0
	for i := range 5 * 60 {
		f.Now = noon.Add(time.Duration(i-5*60) * time.Minute)
		before := f.Window
		d := Decide(standard, f)
		started += len(d.Starts)
		if f.Window != before {
			t.Fatal("the window moved")
		}
		for _, s := range d.Starts {
			f.Sections[0].Tasks[0].State = s.Tasks[0].State.Start(f.Now)
		}
	}
	if started != 1 {
		t.Errorf("asked every minute: %d agents, want 1", started)
	}
}
