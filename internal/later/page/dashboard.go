package page

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// DashboardFile is the page, in the application's directory.
const DashboardFile = "dashboard.html"

// dashboardWait is how long writing the page waits for whoever edits a file there.
const dashboardWait = 2 * time.Second

// WriteDashboard writes the page of a view and returns its path. Only the user can
// read it. A link in its place is replaced, and what it leads to is not touched.
func WriteDashboard(v dispatch.View) (string, error) {
	dir := state.NewDir(v.App)
	return dir.Path(DashboardFile), dir.WithLock(dashboardWait, func(tx *state.Tx) error {
		return tx.Write(DashboardFile, []byte(Dashboard(v)))
	})
}

// HasDashboard reports whether somebody once asked for the page, so that it is to be
// kept up to date.
func HasDashboard(app string) bool { return state.NewDir(app).Kind(DashboardFile) == state.File }

// How much the page has of what can be long, or many.
const (
	clipAt    = 240    // characters of a text that are shown at once
	clipWhole = 10_000 // and when it is opened
	maxName   = 120    // of what is shown at once and never whole
	maxPath   = 1_000
	maxTail   = 1_200 // characters of the end of an agent's output
	maxTasks  = 100   // of a repository
	maxWants  = 50
	maxEvents = 60 // of everything that happened
	maxOf     = 12 // merges, and failures
	maxDone   = 10 // of a repository, the newest
	maxModels = 8
	daysShown = 14
)

// How often the page is loaded anew, in seconds, while agents are at work and else.
const (
	everyBusy = 10
	everyIdle = 60
)

// Dashboard returns the page of a view. It needs nothing but itself.
func Dashboard(v dispatch.View) string { return boardOf(v).page() }

// board is what the page shows, in the words and the order in which it does.
type board struct {
	Every int // seconds

	Title   string
	Summary string
	Time    stamp

	Window windowCard
	Week   weekCard
	Starts string // whether something starts, and why not
	Gates  []gate

	Wants    []want
	MoreWant int
	Agents   []agentCard
	Queues   []queueCard
	Merges   []event
	Failures []event
	Events   []event
	Days     daysCard
	Models   []modelRow

	File string
	ids  ids
}

// ids gives what keeps its state while the page is loaded anew a name that it has
// the next time as well.
type ids map[string]int

func (n ids) of(kind string, parts ...string) string {
	h := fnv.New64a()
	for _, p := range parts {
		h.Write([]byte(p + "\x00"))
	}
	id := fmt.Sprintf("%s-%x", kind, h.Sum64())
	if n[id]++; n[id] > 1 {
		id += fmt.Sprintf("-%d", n[id])
	}
	return id
}

// stamp is a moment, for people and for programs.
type stamp struct{ Says, ISO string }

func (b *board) stamp(t, now time.Time) stamp {
	return stamp{Clock(t, now), t.UTC().Format(time.RFC3339)}
}

// text is what anybody can have written: its beginning, and all of it where that is
// longer.
type text struct {
	ID, Head, Whole string
	Left            string // how much more there is than Whole
}

func (b *board) text(s string) text {
	s = strings.TrimSpace(term.Visible(s))
	n := utf8.RuneCountInString(s)
	if n <= clipAt {
		return text{Head: s}
	}
	t := text{ID: b.ids.of("text", s), Head: strings.TrimSpace(first(s, clipAt)), Whole: first(s, clipWhole)}
	if n > clipWhole {
		t.Left = term.Count(n-clipWhole, "character")
	}
	return t
}

// name returns what names something, cut to n characters.
func name(s string, n int) string {
	s = strings.TrimSpace(term.Visible(s))
	if utf8.RuneCountInString(s) > n {
		return first(s, n) + "…"
	}
	return s
}

// first returns the first n characters of s.
func first(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// last returns the last n characters of s, from the beginning of a line if there is
// one.
func last(s string, n int) string {
	cut := len(s)
	for ; cut > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:cut])
		cut -= size
	}
	if cut == 0 {
		return s
	}
	s = s[cut:]
	if _, rest, ok := strings.Cut(s, "\n"); ok && len(rest) > len(s)/2 {
		s = rest
	}
	return "…" + s
}

type gate struct {
	Open bool
	Says string
}

type want struct {
	What    text
	ID      string // of the command
	Command string
}

type agentCard struct {
	ID, Name, Repo, Span string
	Since                stamp
	Over                 bool
	Facts                []string
	Tasks                []text
	Waits                text
	Tail                 string
}

type queueCard struct {
	ID, Name, Path, Counts string
	Problem                text
	Sections               []sectionCard
	More                   int
	Done                   []doneRow // those that an agent has done
}

type doneRow struct {
	Time   stamp
	Text   text
	Note   text
	Report string
}

type sectionCard struct {
	Name  string
	Tasks []taskRow
}

type taskRow struct {
	State, Says string // for the style sheet, and for people
	Priority    string
	Text        text
	Note        text
}

type event struct {
	Time stamp
	Repo string
	Text text
}

func boardOf(v dispatch.View) *board {
	b := &board{
		Every: everyIdle, File: name(filepath.Join(v.App, DashboardFile), maxPath), ids: ids{},
	}
	b.Time = b.stamp(v.Now, v.Now)
	b.Window, b.Week = windowOf(v), weekOf(v)
	b.wants(v)
	b.agents(v)
	b.queues(v)
	b.gates(v)
	b.events(v)
	b.Days, b.Models = daysOf(v), modelsOf(v)
	if v.AtWork() > 0 {
		b.Every = everyBusy
	}
	b.summary(v)
	return b
}

// summary says in a line what there is to know, in the title as well.
func (b *board) summary(v dispatch.View) {
	var parts []string
	if n := len(v.Wants); n == 1 {
		parts = append(parts, "1 thing waits for you")
	} else if n > 1 {
		parts = append(parts, term.Thousands(n)+" things wait for you")
	}
	if n := v.AtWork(); n > 0 {
		parts = append(parts, term.Count(n, "agent")+" at work")
	}
	open := 0
	for _, q := range v.Queues {
		for _, s := range q.Sections {
			open += len(s.Tasks)
		}
	}
	if open > 0 {
		parts = append(parts, term.Count(open, "open task"))
	}
	b.Title = "cc-later"
	if len(parts) > 0 {
		b.Title = parts[0] + " · cc-later"
	}
	if b.Summary = strings.Join(parts, " · "); b.Summary == "" {
		b.Summary = "Nothing is queued"
	}
}

func (b *board) wants(v dispatch.View) {
	list := v.Wants
	if len(list) > maxWants {
		list, b.MoreWant = list[:maxWants], len(list)-maxWants
	}
	for _, w := range list {
		what := w.What
		if !slices.ContainsFunc(v.Queues, func(q dispatch.Queued) bool { return strings.HasPrefix(what, filepath.Base(q.Root)) }) {
			what = sentence(what)
		}
		row := want{What: b.text(what), Command: term.Visible(w.Command)}
		if w.Command != "" {
			row.ID = b.ids.of("command", w.What, w.Command)
		}
		b.Wants = append(b.Wants, row)
	}
}

// sentence begins with a capital letter.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 || r == utf8.RuneError {
		return s
	}
	return strings.ToUpper(string(r)) + s[size:]
}

func (b *board) agents(v dispatch.View) {
	for _, a := range v.Agents {
		card := agentCard{
			ID: b.ids.of("agent", a.Repo, a.Section, a.ID), Name: name(sentence(Section(a.Run)), maxName), Repo: name(filepath.Base(a.Repo), maxName),
			Span: Span(v.Now.Sub(a.DispatchTS)), Since: b.stamp(a.DispatchTS, v.Now), Over: a.Over,
			Tail: last(strings.TrimSpace(term.Visible(a.Tail)), maxTail),
		}
		if a.Waits != "" {
			card.Waits = b.text(sentence(a.Waits))
		}
		if a.Model != "" {
			card.Facts = append(card.Facts, name(a.Model, maxName))
		}
		if a.Branch != nil {
			card.Facts = append(card.Facts, "branch "+name(*a.Branch, maxName))
		} else if !a.Writes {
			card.Facts = append(card.Facts, "reads only")
		}
		if a.Retries > 0 {
			card.Facts = append(card.Facts, fmt.Sprintf("started again, time %d", a.Retries))
		}
		for _, t := range a.Entries {
			card.Tasks = append(card.Tasks, b.text(t.Text))
		}
		b.Agents = append(b.Agents, card)
	}
}

func (b *board) queues(v dispatch.View) {
	for _, q := range v.Queues {
		card := queueCard{ID: b.ids.of("queue", q.Root), Name: name(filepath.Base(q.Root), maxName), Path: name(q.Root, maxPath)}
		open := 0
		for _, s := range q.Sections {
			open += len(s.Tasks)
		}
		switch {
		case q.Err != nil:
			card.Problem = b.text(sentence(q.Err.Error()))
		case q.Blocked != "":
			card.Problem = b.text("Nothing of it can run: " + q.Blocked)
		}
		if open+len(q.Done) == 0 && card.Problem.Head == "" {
			continue
		}
		card.Counts = fmt.Sprintf("%s open, %s done", term.Thousands(open), term.Thousands(len(q.Done)))
		left := maxTasks
		for _, s := range q.Sections {
			sec := sectionCard{Name: name(s.Name, maxName)}
			for _, t := range s.Tasks {
				if left--; left < 0 {
					card.More++
					continue
				}
				sec.Tasks = append(sec.Tasks, b.task(t, v.Now))
			}
			if len(sec.Tasks) > 0 {
				card.Sections = append(card.Sections, sec)
			}
		}
		card.Done = b.done(q.Done, v.Now)
		b.Queues = append(b.Queues, card)
	}
}

// done are the last tasks that agents have done, the newest first.
func (b *board) done(tasks []dispatch.Known, now time.Time) []doneRow {
	tasks = slices.DeleteFunc(slices.Clone(tasks), func(t dispatch.Known) bool { return t.Ended.IsZero() })
	slices.SortStableFunc(tasks, func(x, y dispatch.Known) int { return y.Ended.Compare(x.Ended) })
	var rows []doneRow
	for _, t := range tasks[:min(len(tasks), maxDone)] {
		rows = append(rows, doneRow{b.stamp(t.Ended, now), b.text(t.Text), b.text(sentence(t.Note)), name(t.Report, maxPath)})
	}
	return rows
}

// stateSays are the words of the page for those of State.
var stateSays = map[string]string{
	"runs": "running", "merge": "to be merged", "waits": "waiting", "limit": "after the reset", "you": "needs you", "trust?": "needs your trust",
}

func (b *board) task(t dispatch.Known, now time.Time) taskRow {
	st := State(t)
	row := taskRow{State: strings.TrimSuffix(st, "?"), Says: stateSays[st], Text: b.text(t.Text)}
	switch p := t.Priority.String(); p {
	case "P0":
		row.Priority = "urgent"
	case "P2":
		row.Priority = "minor"
	}
	var note []string
	if t.Attempts > 0 {
		note = append(note, "tried "+times(t.Attempts))
	}
	if t.Held != "" {
		note = append(note, t.Held)
	}
	if says := Waits(t, now); says != "" {
		note = append(note, says)
	} else if t.Note != "" && !t.Running && !t.Merging {
		note = append(note, t.Note)
	}
	row.Note = b.text(sentence(strings.Join(note, ": ")))
	return row
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return term.Count(n, "time")
}

// gateSays are the words of the page for the gates of the schedule that are open;
// of one that is closed it says why.
var gateSays = map[string]string{
	"dispatch enabled": "agents may be started",
	"not paused":       "not paused",
	"no limit":         "no usage limit is reached",
	"idle":             "nobody is at work",
	"weekly budget":    "the week's budget has room",
	"window":           "it is time",
	"resume":           "what a limit ended may go on",
	"free agents":      "there is room for another agent",
	"Claude Code":      "agents can be run, and it is known who pays",
}

func (b *board) gates(v dispatch.View) {
	b.Starts = "Something starts at the next look."
	if v.Reason != "" {
		b.Starts = "Nothing starts now: " + name(Why(v.Reason, v.Until, v.Because, v.Now), clipAt) + "."
	}
	for _, g := range v.Gates {
		row := gate{Open: g.Open, Says: name(sentence(cmp.Or(gateSays[g.Name], g.Name)), maxName)}
		if !g.Open {
			row.Says = name(sentence(dispatch.Closed(g)), maxName)
			if g.Until.After(v.Now) {
				row.Says += ", until " + Clock(g.Until, v.Now)
			}
		}
		b.Gates = append(b.Gates, row)
	}
}

// failures are the events that did not go as they should.
var failures = map[string]bool{
	"merge_conflict": true, "merge_waits": true, "checkout_changed": true, "nudge_stale": true, "nudge_dead": true, "agent_abandoned": true,
	"stray_task": true, "dispatch_off": true, "error": true, "left_running": true, "lost_agent": true,
}

func (b *board) events(v dispatch.View) {
	last := ""
	for _, e := range v.Events {
		if e.Text == last {
			continue // what does not change is said at every look
		}
		last = e.Text
		row := event{Time: b.stamp(e.Time, v.Now), Text: b.text(sentence(e.Text))}
		if repo, ok := e.More["repo"].(string); ok {
			row.Repo = name(filepath.Base(repo), maxName)
		}
		switch {
		case e.Event == "merge" && len(b.Merges) < maxOf:
			b.Merges = append(b.Merges, row)
		case failures[e.Event] && len(b.Failures) < maxOf:
			b.Failures = append(b.Failures, row)
		}
		if len(b.Events) < maxEvents {
			row.Text = b.text(sentence(e.Text)) // with an id of its own
			b.Events = append(b.Events, row)
		}
	}
}

// windowCard is the usage window: what is left of it, and how that came.
type windowCard struct {
	Open   bool
	Big    string // what is left
	Says   string
	Source string
	Chart  *chart
}

// sourceSays says who tells of a window.
func sourceSays(s schedule.Source) string {
	switch s {
	case schedule.Server:
		return "Claude Code says so"
	case schedule.Refusal:
		return "the limit was reached"
	}
	return "an estimate from the logs, 10 minutes more or less"
}

func windowOf(v dispatch.View) windowCard {
	w := v.Window
	if !v.Now.Before(w.End) {
		return windowCard{}
	}
	left := Span(w.Remaining(v.Now))
	c := windowCard{Open: true, Big: left, Says: "until " + Clock(w.End, v.Now), Source: sourceSays(w.Source)}
	if v.Used >= 0 {
		c.Big = fmt.Sprintf("%.0f %%", max(0, 100-v.Used))
		c.Says = fmt.Sprintf("%.0f %% used; %s until the reset at %s", v.Used, left, Clock(w.End, v.Now))
	}
	c.Chart = burnDown(v)
	return c
}

// weekCard is the budget of the week.
type weekCard struct {
	Big, Says, Source string
	Used, Limit       string // as lengths
	Level             string // for the style sheet
	Describe          string
}

func weekOf(v dispatch.View) weekCard {
	limit := float64(v.Config.Backoff)
	c := weekCard{
		Big: fmt.Sprintf("%.0f %%", v.Week), Used: share(v.Week, 100), Limit: share(limit, 100),
		Says: fmt.Sprintf("From %d %% on nothing starts", v.Config.Backoff), Source: "by the logs of this machine",
	}
	switch {
	case v.Week >= limit:
		c.Level = "over"
	case v.Week >= limit*3/4:
		c.Level = "near"
	}
	if v.WeekSource == "host" {
		c.Source = "Claude Code says so"
	}
	if !v.WeekResets.IsZero() {
		c.Source += "; the week ends " + Clock(v.WeekResets, v.Now)
	}
	c.Describe = fmt.Sprintf("%.0f %% of the week's budget is used; the mark is at %d %%", v.Week, v.Config.Backoff)
	return c
}
