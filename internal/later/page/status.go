// Package page shows what cc-later does: the status as text, the monitor, and the
// dashboard as one HTML file. It only shows; what there is to show is a
// dispatch.View.
package page

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	maxLines = 40
	maxText  = 70 // characters of a task in one line
)

// Status returns the page of `ccreload later status`: 40 lines at most, what waits
// for the person before what is for information.
func Status(v dispatch.View) string {
	var p paper
	p.add("%s", window(v))
	p.add("%s", week(v))
	p.wants(v)
	p.agents(v)
	p.queues(v)
	p.gates(v)
	p.events(v)
	return p.String()
}

// paper collects lines.
type paper struct{ lines []string }

func (p *paper) add(format string, args ...any) {
	p.lines = append(p.lines, term.Visible(fmt.Sprintf(format, args...)))
}

// room is how many more lines there can be.
func (p *paper) room() int { return maxLines - len(p.lines) }

// list adds a title and lines below it, at most n, and says how many there are
// besides.
func (p *paper) list(title string, n int, lines []string) {
	n = min(n, p.room()-2)
	if len(lines) == 0 || n < 1 {
		return
	}
	p.add("%s", title)
	if len(lines) > n {
		lines = append(lines[:n-1:n-1], fmt.Sprintf("and %d more", len(lines)-n+1))
	}
	for _, l := range lines {
		p.add("  %s", l)
	}
}

func (p *paper) String() string {
	if len(p.lines) > maxLines {
		p.lines = p.lines[:maxLines]
	}
	return strings.Join(p.lines, "\n") + "\n"
}

func window(v dispatch.View) string {
	w := v.Window
	if !v.Now.Before(w.End) {
		return "Window    none is open; the next begins with the next request"
	}
	left := fmt.Sprintf("%s left, until %s", Span(w.Remaining(v.Now)), Clock(w.End, v.Now))
	if v.Used >= 0 {
		left = fmt.Sprintf("%.0f %% used, %s", v.Used, left)
	}
	return fmt.Sprintf("Window    %s (%s)", left, source(w.Source))
}

func source(s schedule.Source) string {
	switch s {
	case schedule.Server:
		return "the host says so"
	case schedule.Refusal:
		return "the limit was met"
	}
	return "an estimate from the logs, 10 minutes more or less"
}

func week(v dispatch.View) string {
	says := "by the logs"
	if v.WeekSource == "host" {
		says = "the host says so"
	}
	line := fmt.Sprintf("Week      %.0f %% used of the budget, nothing starts from %d %% on (%s)", v.Week, v.Config.Backoff, says)
	if !v.WeekResets.IsZero() {
		line += ", until " + Clock(v.WeekResets, v.Now)
	}
	return line
}

func (p *paper) wants(v dispatch.View) {
	var lines []string
	for _, w := range v.Wants {
		line := host.Cut(w.What, 160)
		if w.Command != "" {
			line += ": `" + w.Command + "`"
		}
		lines = append(lines, line)
	}
	p.list("Waits for you", 8, lines)
}

func (p *paper) agents(v dispatch.View) {
	var lines []string
	for _, a := range v.Agents {
		line := fmt.Sprintf("%s of %s, %s, %s", Section(a.Run), filepath.Base(a.Repo), term.Count(len(a.Entries), "task"), progress(a, v.Now))
		if a.Branch != nil {
			line += ", branch " + *a.Branch
		}
		lines = append(lines, line)
	}
	p.list("Agents", 6, lines)
}

// progress says how long an agent has been at work, or that it is not any more.
func progress(a dispatch.Agent, now time.Time) string {
	if a.Over {
		return "ended, its work waits"
	}
	return "for " + Span(now.Sub(a.DispatchTS))
}

func (p *paper) queues(v dispatch.View) {
	for _, q := range v.Queues {
		open, lines := 0, []string(nil)
		for _, s := range q.Sections {
			for _, t := range s.Tasks {
				open++
				line := fmt.Sprintf("%s %s %-7s %s", t.ID, t.Priority, State(t), host.Cut(t.Text, maxText))
				if says := Waits(t, v.Now); says != "" {
					line += " (" + says + ")"
				}
				lines = append(lines, line)
			}
		}
		if open+len(q.Done) == 0 {
			continue
		}
		p.list(fmt.Sprintf("Queue of %s: %d open, %d done", filepath.Base(q.Root), open, len(q.Done)), max(3, min(10, p.room()-14)), lines)
	}
}

// State says in a word where a task stands.
func State(t dispatch.Known) string {
	switch {
	case t.Running:
		return "runs"
	case t.Merging:
		return "merge"
	case t.Held == schedule.HeldLong:
		return "you"
	case !t.May():
		return "trust?"
	case t.Held != "":
		return "you"
	case t.Resume:
		return "limit"
	}
	return "waits"
}

// Waits says until when a task waits and why, "" for one that is due.
func Waits(t dispatch.Known, now time.Time) string {
	if t.Until.IsZero() {
		return ""
	}
	return "until " + Clock(t.Until, now) + ", " + t.Because
}

// Why says why nothing starts, and until when if that is known.
func Why(reason string, until time.Time, because string, now time.Time) string {
	says := dispatch.Why(reason)
	switch {
	case until.IsZero():
		return cmp.Or(because, says)
	case reason == schedule.NothingDue:
		return fmt.Sprintf("%s before %s (%s)", says, Clock(until, now), because)
	}
	return says + ", until " + Clock(until, now)
}

// Section is what people call the section of an agent.
func Section(r *dispatch.Run) string {
	switch {
	case r.Resume:
		return "what the limit ended"
	case r.Section == "":
		return "the tasks above all sections"
	}
	return r.Section
}

func (p *paper) gates(v dispatch.View) {
	var lines []string
	for _, g := range v.Gates {
		says := "open"
		if !g.Open {
			says = "closed: " + dispatch.Closed(g)
			if !g.Until.IsZero() && g.Until.After(v.Now) {
				says += ", until " + Clock(g.Until, v.Now)
			}
		}
		lines = append(lines, fmt.Sprintf("%-17s %s", g.Name, says))
	}
	title := "Gates: something would start now"
	if v.Reason != "" {
		title = "Gates: nothing starts, " + Why(v.Reason, v.Until, v.Because, v.Now)
	}
	p.list(title, len(lines), lines)
}

func (p *paper) events(v dispatch.View) {
	var lines []string
	last := ""
	for _, e := range v.Events {
		if e.Text == last {
			continue // a tick every few minutes says the same
		}
		last = e.Text
		lines = append(lines, fmt.Sprintf("%s  %s", Clock(e.Time, v.Now), host.Cut(e.Text, 100)))
	}
	p.list("Last events", min(6, len(lines)), lines)
}

// Span returns a duration as 1h10 or 25 min.
func Span(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	switch {
	case m < 60:
		return fmt.Sprintf("%d min", max(0, m))
	case m < 48*60:
		return fmt.Sprintf("%dh%02d", m/60, m%60)
	}
	return fmt.Sprintf("%d days", m/60/24)
}

// Clock returns a moment as people of now's time zone say it: the time, with the
// day where it is another.
func Clock(t, now time.Time) string {
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("Mon 02 Jan 15:04")
}
