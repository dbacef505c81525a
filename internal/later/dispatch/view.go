package dispatch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
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
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

// View is everything that a person is shown, at one moment. Whatever shows it shows
// the same.
type View struct {
	Now    time.Time
	App    string
	Config later.Config

	Window schedule.Window
	Used   float64 // percent of the window, -1 when nobody says
	Week   float64 // percent of the week's budget
	// WeekSource says who tells: the host, or the logs.
	WeekSource string
	WeekResets time.Time // zero when nobody says

	Gates  []schedule.Gate
	Reason string // why nothing starts now, "" if something would
	// Until is when that is over by itself, zero where nobody knows; Because says why the
	// task waits that is due first, where none is, or why no agent can be run.
	Until   time.Time
	Because string
	Paused  time.Time
	Off     string

	Queues []Queued
	Agents []Agent
	Wants  []Want
	Events []LogEvent // newest first, without what one tick after the other says
	// Burn is what was used in the window, in tokens by quarters of an hour, the one
	// that it began in first; empty when none is open.
	Burn   []int64
	Days   []Day   // of the last fourteen with a reply, oldest first
	Models []Share // of the last seven days
}

// Agent is an agent at work, or one whose work is not merged yet.
type Agent struct {
	Repo string
	*Run
	Tail string // the end of what it said, for people
}

// Want is something that waits for the person.
type Want struct {
	What    string
	Command string // what does it, "" where that is up to them
}

// LogEvent is a line of the log.
type LogEvent struct {
	Time  time.Time
	Event string
	Text  string // what people read of it
	More  map[string]any
}

// Day is what was used on one day.
type Day struct {
	Day      string // YYYY-MM-DD
	Cost     float64
	Unpriced int64 // replies without a price
}

// Share is what one model was used for.
type Share struct {
	Model    string
	Cost     float64
	Unpriced int64 // replies without a price
	Tokens   int64
}

// viewEvents is how many events of the log are looked at.
const viewEvents = 200

// AtWork counts the agents that are at work.
func (v View) AtWork() int {
	n := 0
	for _, a := range v.Agents {
		if !a.Over {
			n++
		}
	}
	return n
}

// View returns what there is to show of all repositories, and of root, the one
// that the person is in.
func (w *World) View(ctx context.Context, root string) (View, error) {
	if err := w.Open(); err != nil {
		return View{}, err
	}
	broken := w.load()
	w.count()
	now := w.now()
	v := View{
		Now: now.Local(), App: w.App, Config: w.config, Window: w.window(now), Used: -1, Week: w.spent(now), WeekSource: "logs",
		Paused: Paused(w.App), Off: Off(w.App),
	}
	said := w.limits.Current(now)
	if !said.FiveHour.Seen.IsZero() {
		v.Used = said.FiveHour.Used
	}
	if week := said.SevenDay; !week.Seen.IsZero() && week.Used >= 0 {
		v.WeekSource, v.WeekResets = "host", week.Resets
	}
	for _, path := range w.repos(root) {
		v.Queues = append(v.Queues, w.read(path))
	}
	reports := reportsOf(w.App)
	for _, q := range v.Queues {
		for i, t := range q.Done {
			q.Done[i].Report = reports[reportKey(t.Agent)]
		}
	}
	if w.Asks {
		w.lookForClient(ctx, v.Queues)
	}
	facts := w.facts(Options{}, v.Queues)
	d := schedule.Decide(w.config.Settings, facts)
	v.Gates, v.Reason, v.Until, v.Because = d.Gates, d.Reason, d.Until, w.because(d)
	for _, q := range v.Queues {
		for _, s := range q.Sections {
			for i, t := range s.Tasks {
				if at := schedule.NotBefore(w.config.Settings, facts, scheduled(t)); at.After(facts.Now) {
					s.Tasks[i].Until, s.Tasks[i].Because = at, waitsFor(t.Known)
				}
			}
		}
	}
	for _, path := range sorted(w.state.Repos) {
		for _, run := range w.state.Repos[path].Agents {
			v.Agents = append(v.Agents, Agent{path, run, tail(run.ResultPath)})
		}
	}
	v.Events = readLog(w.App, viewEvents, false)
	v.Wants = w.wants(ctx, v, broken)
	w.shares(&v)
	return v, nil
}

// wants lists what waits for the person, the most important first.
func (w *World) wants(ctx context.Context, v View, broken error) []Want {
	var list []Want
	add := func(command, format string, args ...any) {
		list = append(list, Want{fmt.Sprintf(format, args...), command})
	}
	if broken != nil {
		add("", "%v, so no task may run", broken)
	}
	if _, err := os.Lstat(filepath.Join(w.App, later.StateFile+".broken")); err == nil {
		add("rm "+shell.Quote(filepath.Join(w.App, later.StateFile+".broken")), "%s could not be read once and was set aside", later.StateFile)
	}
	if w.config.SkipPermissions {
		add("", "agents skip every permission check (DISPATCH_SKIP_PERMISSIONS)")
	}
	if rules := agent.OpenRules(w.Host); w.config.Writes && len(rules) > 0 {
		add("", "your settings allow %s as a whole, so an agent can change files outside its worktree; that is found out, and nothing of such an agent is merged", strings.Join(rules, ", "))
	}
	if v.Off != "" {
		add("ccreload later resume", "%s, and nothing starts until you have put that right", v.Off)
	}
	if !v.Paused.IsZero() {
		add("ccreload later resume", "paused since %s", v.Paused.Local().Format("2006-01-02 15:04"))
	}
	for _, p := range w.config.Problems {
		add("", "%s: %s", later.ConfigFile, p)
	}
	for _, a := range v.Agents {
		switch {
		case a.Over && a.Waits != "":
			add("", "%s of %s: the agent has ended, and its work waits: %s", a.name(), filepath.Base(a.Repo), a.Waits)
		case a.Waits != "":
			add("", "%s of %s: %s", a.name(), filepath.Base(a.Repo), a.Waits)
		}
	}
	known := map[string]bool{}
	for _, a := range v.Agents {
		known[deref(a.Worktree)] = true
	}
	orphans, err := git.Orphans(ctx, filepath.Join(w.App, worktreeName))
	if err != nil {
		add("", "%v", err)
	}
	orphans = slices.DeleteFunc(orphans, func(o git.Orphan) bool { return known[o.Path] })
	held := heldOf(orphans)
	for _, q := range v.Queues {
		list = append(list, wantsOf(q, held)...)
	}
	var first []Want
	for _, o := range orphans {
		switch tree := held[o.Path]; {
		case tree == nil:
			add("", "%s: %s", o.Path, o.Says)
		case len(tree.Setup) > 0:
			first = append(first, w.takeOver(ctx, tree, held))
		default:
			list = append(list, w.takeOver(ctx, tree, held))
		}
	}
	return append(first, list...)
}

// wantsOf lists what waits for the person in one queue, but for what is held in a
// worktree.
func wantsOf(q Queued, held map[string]*git.Worktree) []Want {
	var list []Want
	name := filepath.Base(q.Root)
	if q.Err != nil {
		return []Want{{What: q.Err.Error()}}
	}
	if q.Blocked != "" {
		list = append(list, Want{What: name + ": " + q.Blocked})
	}
	unknown, strays := 0, 0
	var notes []string
	for _, s := range q.Sections {
		for _, t := range s.Tasks {
			switch {
			case t.Held == schedule.HeldLong:
				list = append(list, Want{What: fmt.Sprintf("%q: %s", host.Cut(t.Text, 60), t.Held)})
			case t.Source == later.Strayed:
				strays++
			case !t.May():
				unknown++
			case t.Held != "" && t.Kept != "" && held[t.Kept] != nil:
			case t.Held != "":
				why := t.Held
				if t.Note != "" {
					why += " (" + t.Note + ")"
				}
				list = append(list, Want{fmt.Sprintf("%q: %s", t.Text, why), "ccreload later retry " + t.ID})
			case t.Verdict == schedule.NotStarted && t.Delays > 0 && !slices.Contains(notes, t.Note):
				notes = append(notes, t.Note)
				list = append(list, Want{fmt.Sprintf("%s: no agent could be started: %s; to try again at once", name, t.Note), "ccreload later retry " + t.ID})
			}
		}
	}
	if strays > 0 {
		list = append(list, Want{fmt.Sprintf("%s: %s appeared in the queue while an agent was at work", name, term.Count(strays, "task")), "ccreload later trust --repo " + shell.Quote(q.Root)})
	}
	if unknown > 0 {
		list = append(list, Want{fmt.Sprintf("%s: %s waiting for trust, since nothing shows that you queued it", name, term.Count(unknown, "task")), "ccreload later trust --repo " + shell.Quote(q.Root)})
	}
	return list
}

// shares adds what was used: in the window, by day, and by model.
func (w *World) shares(v *View) {
	if w.index == nil {
		return
	}
	if v.Window.Remaining(v.Now) > 0 {
		v.Burn = w.index.Quarters(v.Window.Start, v.Now, w.config.CountCached)
	}
	days := w.index.Stats(usage.Query{Days: 14, By: usage.ByDay, Zone: v.Now.Location(), Now: v.Now, Prices: w.Prices})
	for _, day := range sorted(days.By) {
		t := days.By[day]
		v.Days = append(v.Days, Day{day, t.Cost, t.Unpriced})
	}
	models := w.index.Stats(usage.Query{Days: 7, By: usage.ByModel, Zone: v.Now.Location(), Now: v.Now, Prices: w.Prices})
	for _, id := range sorted(models.By) {
		t := models.By[id]
		v.Models = append(v.Models, Share{id, t.Cost, t.Unpriced, t.Input + t.Output + t.CacheRead + t.Write5m + t.Write1h})
	}
	slices.SortStableFunc(v.Models, func(a, b Share) int { return int((b.Cost - a.Cost) * 1e6) })
}

// readLog returns the newest n events of the log, the newest first; unless all are
// wanted, of ticks in a row that started nothing for the same reason only the last.
func readLog(app string, n int, all bool) []LogEvent {
	var list []LogEvent
	var skip []byte
	for _, name := range []string{LogFile, LogFile + ".1"} {
		data := end(filepath.Join(app, name), maxLog)
		lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
		for _, l := range slices.Backward(lines) {
			// Nearly all lines are such: each is compared as it stands, up to its time.
			head, _, _ := bytes.Cut(l, []byte(`,"ts":`))
			switch {
			case all || !bytes.Contains(head, []byte(`"event":"skip"`)):
				head = nil
			case bytes.Equal(head, skip):
				continue
			}
			skip = head
			var more map[string]any
			if json.Unmarshal(l, &more) != nil {
				continue
			}
			e := LogEvent{More: more}
			e.Event, _ = more["event"].(string)
			ts, _ := more["ts"].(string)
			e.Time, _ = time.Parse(time.RFC3339, ts)
			if e.Event == "" {
				continue
			}
			e.Text = say(e)
			if list = append(list, e); len(list) == n {
				return list
			}
		}
	}
	return list
}

// end returns the end of a file, at most n bytes, from the beginning of a line.
func end(path string, n int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	from := max(0, info.Size()-n)
	data, _ := io.ReadAll(io.NewSectionReader(f, from, n))
	if from > 0 {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	return data
}

// reasons are what people read instead of a reason of the log.
var reasons = map[string]string{
	schedule.Disabled:    "dispatch is switched off",
	schedule.SwitchedOff: "nothing may start until you resume",
	schedule.Paused:      "paused",
	schedule.LimitPause:  "waiting for the limit to be reset",
	schedule.Idle:        "somebody is at work",
	schedule.Budget:      "the weekly budget is used",
	schedule.ModeClosed:  "it is not time yet",
	schedule.AgentsBusy:  "as many agents as may run are at work",
	schedule.WindowFull:  "as many agents as may were started in this window",
	schedule.NoClient:    "no agent can be run",
	schedule.NothingDue:  "no task is due",
}

// Why returns what people read instead of a reason for starting nothing.
func Why(reason string) string {
	if why, ok := reasons[reason]; ok {
		return why
	}
	return reason
}

// Closed returns what people read of a gate that is closed.
func Closed(g schedule.Gate) string { return cmp.Or(g.Because, Why(g.Reason)) }

// because says in words why nothing starts: why the task waits that is due first, where
// no task is due, or what the gate says.
func (w *World) because(d schedule.Decision) string {
	if d.Key == "" {
		return d.Because
	}
	k := w.ledger.Task(d.Repo, d.Key)
	why := waitsFor(k)
	if k.Verdict != schedule.NotStarted {
		return why
	}
	for _, s := range w.read(d.Repo).Sections {
		for _, t := range s.Tasks {
			if t.Text == d.Key {
				return why + "; `ccreload later retry " + t.ID + "` has it tried at once"
			}
		}
	}
	return why
}

// waitsFor returns why a task waits that only waits for its time.
func waitsFor(k later.Known) string {
	note := ""
	if k.Note != "" {
		note = ": " + host.Cut(k.Note, 100)
	}
	switch k.Verdict {
	case schedule.Throttled:
		return "the API had no room" + note
	case schedule.NotStarted:
		return "no agent could be started" + note
	}
	return "a task is tried once in a window"
}

// say returns what people read of an event.
func say(e LogEvent) string {
	text := func(key string) string { s, _ := e.More[key].(string); return s }
	section := text("section")
	if section == "" {
		section = "default"
	}
	switch e.Event {
	case "skip":
		return "nothing started: " + cmp.Or(text("detail"), Why(text("reason")))
	case "dispatch":
		n, _ := e.More["entries_dispatched"].(float64)
		return fmt.Sprintf("%s started with %s", section, term.Count(int(n), "task"))
	case "merge":
		return fmt.Sprintf("%s merged into %s", section, text("target"))
	case "merged_by_person":
		return "you merged " + text("branch")
	case "merge_conflict":
		return section + " conflicts; its worktree is kept"
	case "setup_changed":
		return "git's configuration or hooks changed while an agent was at work; not merged"
	case "checkout_changed":
		return "the checkout changed while an agent was at work; not merged"
	case "reconcile":
		n, _ := e.More["completed"].(float64)
		return term.Count(int(n), "agent") + " ended"
	case "nudge_stale":
		return section + " was stuck and is stopped"
	case "nudge_dead":
		return section + " ended without a word and is tried again"
	case "agent_abandoned":
		return section + " ended without a word once too often"
	case "resume_scheduled":
		return "a limit ended a task; it goes on after the reset"
	case "merge_waits":
		return section + " is not merged yet: " + text("detail")
	case "left_running":
		return section + " left something running, which is stopped"
	case "lost_agent":
		return "an agent without a record is stopped"
	case "salvage":
		return "what an agent left unfinished is kept in git: " + text("ref")
	case "orphan_removed":
		return "a worktree that nobody works in is removed"
	case "stray_task":
		return "a task appeared while an agent was at work: " + text("text")
	case "window_exhausted":
		return "the limit is reached"
	case "window_reset_detected":
		return "the limit is over"
	case "dispatch_off":
		return text("detail") + ", and nothing starts until you resume"
	case "error":
		return strings.TrimSpace(text("reason") + ": " + text("detail"))
	}
	return strings.ReplaceAll(e.Event, "_", " ")
}

// tailBytes is how much of the end of an agent's output is looked at.
const tailBytes = 256 << 10

// tail returns the last thing that an agent said, or did.
func tail(path string) string {
	lines := bytes.Split(end(path, tailBytes), []byte("\n"))
	for _, l := range slices.Backward(lines) {
		var row struct {
			Type    string
			Message struct {
				Content []struct {
					Type, Text, Name string
					Input            map[string]any
				}
			}
		}
		if json.Unmarshal(l, &row) != nil || row.Type != "assistant" {
			continue
		}
		for _, block := range slices.Backward(row.Message.Content) {
			switch block.Type {
			case "text":
				if t := strings.TrimSpace(block.Text); t != "" {
					return t
				}
			case "tool_use":
				for _, key := range []string{"command", "file_path", "pattern", "path"} {
					if s, ok := block.Input[key].(string); ok {
						return block.Name + " " + s
					}
				}
				return block.Name
			}
		}
	}
	return ""
}
