package dispatch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/usage"
)

// unknownLimit is how long a limit is taken to last that nobody said the end of: a
// refused run costs next to nothing.
const unknownLimit = time.Hour

// maxTask is the longest task that an agent is given, in characters. A longer one
// is somebody's text that looks like a task, and no ledger keeps it.
const maxTask = 10_000

// window returns the account's usage window, from the best source there is.
func (w *World) window(now time.Time) schedule.Window {
	if five := w.limits.Current(now).FiveHour; !five.Resets.IsZero() {
		from := schedule.Server
		if five.Source == usage.FromRefusal {
			from = schedule.Refusal
		}
		return schedule.Window{Start: five.Resets.Add(-w.config.Duration), End: five.Resets, Source: from}
	}
	if w.index == nil {
		return schedule.Window{}
	}
	// What the host said last is where the next window can have begun at the
	// earliest.
	var anchor time.Time
	if w.state.WindowStart != nil {
		anchor = *w.state.WindowStart
	}
	guess, ok := w.index.Window(now, w.config.Duration, anchor)
	if !ok {
		return schedule.Window{}
	}
	return schedule.Window{Start: guess.Start, End: guess.End, Source: schedule.Estimate}
}

// limitUntil returns when the limit that was met is over, zero for none.
func (w *World) limitUntil() time.Time {
	var until time.Time
	for _, l := range [...]usage.Limit{w.limits.FiveHour, w.limits.SevenDay} {
		if l.Status != usage.Rejected {
			continue
		}
		end := l.Resets
		if end.IsZero() {
			end = l.Seen.Add(unknownLimit)
		}
		if end.After(until) {
			until = end
		}
	}
	return until
}

// spent returns how much of the week's budget is used, in percent: what the host
// says, else what the logs do.
func (w *World) spent(now time.Time) float64 {
	if week := w.limits.Current(now).SevenDay; !week.Seen.IsZero() && week.Used >= 0 {
		return week.Used
	}
	if w.index == nil {
		return 0
	}
	return 100 * float64(w.index.Tokens(now.Add(-usage.SevenDays), now, w.config.CountCached)) / float64(max(1, w.config.WeekTokens))
}

// calibrate keeps in the state where the window began, for when nobody says so any
// more, and when a limit was met. It goes by what was said, never by when it looks.
func (w *World) calibrate(win schedule.Window) {
	if win.Source == schedule.Server || win.Source == schedule.Refusal {
		start := win.Start.UTC()
		w.state.WindowStart = &start
	}
	until := w.limitUntil()
	switch {
	case until.IsZero() && w.state.WindowLimit != nil:
		w.state.WindowLimit = nil
		w.log("window_reset_detected", nil)
	case !until.IsZero() && w.now().Before(until) && w.state.WindowLimit == nil:
		now := w.now()
		w.state.WindowLimit = &now
		w.log("window_exhausted", fields{"until": until.UTC().Format(time.RFC3339)})
	case !until.IsZero() && !w.now().Before(until) && w.state.WindowLimit != nil:
		w.state.WindowLimit = nil
		w.log("window_reset_detected", nil)
	}
}

// Queued is the queue of one repository, as the schedule sees it.
type Queued struct {
	Root     string
	Sections []Section
	Done     []Known // tasks that are ticked off
	Err      error   // why the queue cannot be used
	Blocked  string  // why nothing of it may run, "" if it may
}

// Section is one section of it.
type Section struct {
	Name  string
	Tasks []Known
}

// Known is a task and what is known of it.
type Known struct {
	queue.Task
	later.Known
	Running bool // an agent is at work on it
	Merging bool // one was, and its work waits to be merged
	// Until is when a task is due that only waits for its time, and Because why it
	// waits; only in a View.
	Until   time.Time
	Because string
	Report  string // what the last agent reported; only of a task that is done, in a View
}

// read returns the queue of a repository.
func (w *World) read(root string) Queued {
	q := Queued{Root: root}
	file := later.QueueOf(root, w.config)
	data, err := file.Read()
	var parsed queue.Queue
	if err == nil {
		parsed, err = queue.Parse(data)
	}
	if err != nil {
		q.Err = fmt.Errorf("the queue %s cannot be used: %w", file.Path, err)
		return q
	}
	for _, t := range parsed.Done {
		t.ID = queue.ID(t.Line, t.Text)
		q.Done = append(q.Done, Known{Task: t, Known: w.ledger.Task(root, t.Text)})
	}
	trusts := w.ledger.Trusts(root) && !w.busy[root] && w.state.Repos[root].atWork() == 0
	seen := map[string]bool{}
	for _, s := range parsed.Sections {
		sec := Section{Name: s.Name}
		for _, t := range s.Tasks {
			if seen[t.Text] {
				continue // the same once more is the same task
			}
			seen[t.Text] = true
			known := w.ledger.Task(root, t.Text)
			if trusts && (known.Source == "" || known.Source == later.Met) {
				known.Source = later.Vouched // as the next tick notes
			}
			if utf8.RuneCountInString(t.Text) > maxTask {
				known.Held = schedule.HeldLong
			}
			run := w.state.Repos[root].with(t.Text)
			sec.Tasks = append(sec.Tasks, Known{Task: t, Known: known, Running: run != nil && !run.Over, Merging: run != nil && run.Over})
		}
		q.Sections = append(q.Sections, sec)
	}
	if w.config.Writes && len(q.Sections) > 0 {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err != nil {
			q.Blocked = "it is no git repository, and agents that change files need one"
		}
	}
	return q
}

// vouch notes where tasks that are new come from: those of a trusted repository
// may run, unless they appeared while an agent was at work. What else there is, is
// noted where an agent may be started, so that it is not taken for the agent's.
func (w *World) vouch(q Queued) {
	var entries []later.Entry
	trusts, starts := w.ledger.Trusts(q.Root), false
	for _, s := range q.Sections {
		starts = starts || slices.ContainsFunc(s.Tasks, func(t Known) bool { return t.May() })
	}
	for _, s := range q.Sections {
		for _, t := range s.Tasks {
			source := w.ledger.Task(q.Root, t.Text).Source
			if source != "" && source != later.Met || t.Held == schedule.HeldLong {
				continue
			}
			e := later.Entry{Time: w.now(), Repo: q.Root, Text: t.Text}
			switch {
			case w.busy[q.Root] && source == "":
				e.Event = later.Strayed
				w.log("stray_task", fields{"repo": q.Root, "text": t.Text})
			case w.busy[q.Root]:
				continue
			case trusts:
				e.Event = later.Vouched
			case starts && source == "":
				e.Event = later.Met
			default:
				continue
			}
			entries = append(entries, e)
		}
	}
	if len(entries) > 0 {
		if err := w.note(entries...); err != nil {
			w.log("error", fields{"reason": "ledger", "detail": err.Error()})
		}
	}
}

// facts are what the schedule is asked with.
func (w *World) facts(o Options, queues []Queued) schedule.Facts {
	now := w.now()
	running, _ := w.state.atWork()
	f := schedule.Facts{
		Now:        now,
		Manual:     o.Manual,
		Window:     w.window(now),
		Spent:      w.spent(now),
		Activity:   o.IdleSince,
		LimitUntil: w.limitUntil(),
		Paused:     !Paused(w.App).IsZero(),
		Off:        Off(w.App),
		Asked:      !w.answer.at.IsZero(),
		NoClient:   w.answer.problem,
		Running:    running,
		Starts:     w.ledger.Starts,
		Resumed:    w.ledger.Resumed,
	}
	f.Now = f.Now.Local()
	if f.Activity.IsZero() {
		f.Activity = later.Activity(w.App)
	}
	for _, q := range queues {
		if q.Err != nil || q.Blocked != "" {
			continue
		}
		for _, s := range q.Sections {
			f.Sections = append(f.Sections, w.section(q.Root, s))
		}
	}
	return f
}

func (w *World) section(root string, s Section) schedule.Section {
	out := schedule.Section{Repo: root, Name: s.Name}
	if r := w.state.Repos[root]; r != nil {
		for _, a := range r.Agents {
			out.Running = out.Running || a.Section == s.Name && !a.Resume
		}
	}
	for _, t := range s.Tasks {
		out.Tasks = append(out.Tasks, scheduled(t))
	}
	return out
}

// scheduled is a task as the schedule sees it.
func scheduled(t Known) schedule.Task {
	return schedule.Task{
		Key: t.Text, Priority: int(t.Priority), Line: t.Line, Trusted: t.May(), Running: t.Running || t.Merging, State: t.Known.State,
	}
}
