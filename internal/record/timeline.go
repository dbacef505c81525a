package record

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/term"
)

// Marks of a step: what its hooks had to say.
const (
	markSaid   = "●" // something
	markSilent = "–" // nothing
	markNone   = "·" // no hook was started
	markFault  = "!" // something went wrong
)

const (
	// aboutWidth is how much of a prompt or an answer a line shows.
	aboutWidth = 52
	// excerpt is how many lines of a text a timeline shows unless it is Full.
	excerpt = 8
	// marginWidth is what stands left of a text: its indent and label.
	marginWidth = 27
	minWidth    = 60
)

// Timeline prints a replay for people. Recordings come from strangers, so what
// a terminal would obey is shown to it in print.
type Timeline struct {
	Out   io.Writer
	Paint term.Palette
	Width int  // columns
	Full  bool // texts are printed whole
	// Handover is whether to say what the next session receives.
	Handover bool

	names   map[string]string // by session: a letter, when there are several
	started int
	given   *Step // the last one that gave the model something to start with
}

// Begin prints the head: what is replayed, with what.
func (t *Timeline) Begin(name, plugin string, calls []Call) {
	t.names = map[string]string{}
	var ids []string
	for _, c := range calls {
		var p struct {
			ID string `json:"session_id"`
		}
		if json.Unmarshal(c.Payload, &p) == nil && !slices.Contains(ids, p.ID) {
			ids = append(ids, p.ID)
		}
	}
	if len(ids) > 1 {
		for i, id := range ids {
			t.names[id] = string(rune('A' + i%26))
		}
	}
	last := calls[len(calls)-1].T
	fmt.Fprintf(t.Out, "%s  %s\n\n", t.Paint.In(term.Bold, term.Visible(name)), t.Paint.In(term.Dim, fmt.Sprintf("%s · %s · %.0f s · %s",
		plugin, term.Count(len(calls), "hook call"), last, term.Count(max(len(ids), 1), "session"))))
}

// Step prints one step.
func (t *Timeline) Step(s Step) {
	mark := t.Paint.In(term.Dim, markNone)
	switch {
	case s.Fault != "":
		mark = t.Paint.In(term.Red, markFault)
	case !s.silent():
		mark = t.Paint.In(term.Green, markSaid)
	case s.Processes > 0:
		mark = t.Paint.In(term.Dim, markSilent)
	}
	about := term.Line(describe(s))
	if name := t.names[s.Session]; name != "" {
		about = strings.TrimSpace(name + "  " + about)
	}
	event := term.Pad(term.Line(string(s.Event)), 16)
	if s.silent() && s.Fault == "" {
		event, about = t.Paint.In(term.Dim, event), t.Paint.In(term.Dim, about)
	} else {
		event = t.Paint.In(term.Bold, event)
	}
	fmt.Fprintln(t.Out, strings.TrimRight(fmt.Sprintf("%6.1f s  %s  %s  %s", s.T, mark, event, about), " "))
	t.started += s.Processes
	label := "on screen"
	if s.Hidden {
		label = "not shown"
	}
	t.text(label, s.Message, term.Yellow)
	t.text("asks", s.Ask, term.Yellow)
	t.text("blocked", s.Block, term.Red)
	t.text("to model", s.Continue, term.Cyan)
	t.text("to model", s.Context, term.Cyan)
	t.text("fault", s.Fault, term.Red)
	t.text("not run", strings.Join(s.NotRun, "\n"), term.Dim)
	if s.Context != "" && s.Event != host.PostToolUse {
		t.given = &s
	}
}

// End prints the foot: the marks, and the digest that a new session receives.
// next is the session that was started after the recording.
func (t *Timeline) End(next Step) {
	fmt.Fprintf(t.Out, "\n%s\n\n", t.Paint.In(term.Dim, fmt.Sprintf("%s %s started.  %s a hook spoke  %s it had nothing to say  %s none was started",
		term.Count(t.started, "hook"), was(t.started), markSaid, markSilent, markNone)))
	if !t.Handover {
		return
	}
	given, when := t.given, ""
	if next.Context != "" {
		given, when = &next, "The next session receives"
	} else if given != nil {
		when = fmt.Sprintf("With the prompt at %.1f s the session received", given.T)
		if given.Event == host.SessionStart {
			when = fmt.Sprintf("The session that began at %.1f s received", given.T)
		}
	}
	if given == nil {
		fmt.Fprintln(t.Out, "No digest was handed on: the next session starts empty.")
		return
	}
	fmt.Fprintf(t.Out, "%s %s\n\n", t.Paint.In(term.Bold, when), t.Paint.In(term.Dim, "("+term.Count(host.Len(given.Context), "character")+")"))
	if given == &next && next.Message != "" {
		t.text("on screen", next.Message, term.Yellow)
		fmt.Fprintln(t.Out)
	}
	for _, line := range term.Wrap(term.Visible(strings.TrimSpace(given.Context)), t.width()-4) {
		fmt.Fprintln(t.Out, strings.TrimRight("  "+t.Paint.In(term.Dim, "│")+" "+line, " "))
	}
}

// text prints a text with a label at its left.
func (t *Timeline) text(label, s string, color term.Color) {
	if s == "" {
		return
	}
	lines := term.Wrap(term.Visible(strings.TrimSpace(s)), t.width()-marginWidth)
	if more := len(lines) - excerpt; !t.Full && more > 1 {
		lines = append(lines[:excerpt], "… "+term.Count(more, "more line"))
	}
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		fmt.Fprintln(t.Out, strings.TrimRight(fmt.Sprintf("%13s%-9s  %s %s", "", label, t.Paint.In(term.Dim, "│"), t.Paint.In(color, line)), " "))
	}
}

func (t *Timeline) width() int { return max(t.Width, minWidth) }

// describe says in a few words what the host asked.
func describe(s Step) string {
	p := s.Payload
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch p.Event {
	case host.SessionStart:
		add("%s", p.Source)
		if p.Model != "" {
			add("%s", p.Model)
		}
	case host.UserPromptSubmit:
		add("“%s”", inLine(p.Prompt))
	case host.Stop:
		add("“%s”", inLine(p.LastMessage))
		if s.Tokens != nil {
			add("%s tokens", term.Thousands(*s.Tokens))
		}
		if p.StopHookActive {
			add("continued by a hook")
		}
		if p.BackgroundTasks > 0 {
			add("%s", term.Count(p.BackgroundTasks, "background task"))
		}
		if s.Continue != "" {
			add("the turn goes on")
		}
	case host.StopFailure:
		add("%s", p.Failure)
	case host.PreToolUse, host.PostToolUse, host.PostToolUseFailure:
		add("%s", p.Tool)
		if p.ToolPath != "" {
			add("%s", p.ToolPath[strings.LastIndexAny(p.ToolPath, `/\`)+1:])
		}
	case host.PreCompact, host.PostCompact:
		add("%s", p.Trigger)
	case host.SessionEnd:
		add("%s", p.Reason)
	case host.SubagentStart, host.SubagentStop:
		add("%s", p.AgentID)
	}
	return strings.Join(parts, " · ")
}

// inLine returns the beginning of s, as much of it as a line shows.
func inLine(s string) string { return term.Cut(term.Line(s), aboutWidth) }

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}
