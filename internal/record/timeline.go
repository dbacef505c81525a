package record

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

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
	Color bool // ANSI colors
	Width int  // columns
	Full  bool // texts are printed whole

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
	fmt.Fprintf(t.Out, "%s  %s\n\n", t.bold(term.Visible(name)), t.dim(fmt.Sprintf("%s · %s · %.0f s · %s",
		plugin, count(len(calls), "hook call"), last, count(max(len(ids), 1), "session"))))
}

// Step prints one step.
func (t *Timeline) Step(s Step) {
	mark := t.dim(markNone)
	switch {
	case s.Fault != "":
		mark = t.red(markFault)
	case !s.Said.Silent():
		mark = t.green(markSaid)
	case s.Processes > 0:
		mark = t.dim(markSilent)
	}
	about := describe(s)
	if name := t.names[s.Payload.SessionID]; name != "" {
		about = strings.TrimSpace(name + "  " + about)
	}
	about = term.Visible(about)
	event := fmt.Sprintf("%-16s", term.Visible(string(s.Payload.Event)))
	if s.Said.Silent() && s.Fault == "" {
		event, about = t.dim(event), t.dim(about)
	} else {
		event = t.bold(event)
	}
	fmt.Fprintln(t.Out, strings.TrimRight(fmt.Sprintf("%6.1f s  %s  %s  %s", s.T, mark, event, about), " "))
	t.started += s.Processes
	label := "on screen"
	if s.Hidden() {
		label = "not shown"
	}
	t.text(label, s.Said.Message, t.yellow)
	t.text("asks", s.Said.Ask, t.yellow)
	t.text("to model", s.Said.Continue, t.cyan)
	t.text("to model", s.Said.Context, t.cyan)
	t.text("fault", s.Fault, t.red)
	if s.Said.Context != "" && s.Payload.Event != host.PostToolUse {
		t.given = &s
	}
}

// End prints the foot: the marks, and the digest that a new session receives.
// next is the session that was started after the recording.
func (t *Timeline) End(next Step) {
	fmt.Fprintf(t.Out, "\n%s\n\n", t.dim(fmt.Sprintf("%s %s started.  %s a hook spoke  %s it had nothing to say  %s none was started",
		count(t.started, "hook"), was(t.started), markSaid, markSilent, markNone)))
	given, when := t.given, ""
	if next.Said.Context != "" {
		given, when = &next, "The next session receives"
	} else if given != nil {
		when = fmt.Sprintf("The session that began at %.1f s received", given.T)
	}
	if given == nil {
		fmt.Fprintln(t.Out, "No digest was handed on: the next session starts empty.")
		return
	}
	fmt.Fprintf(t.Out, "%s %s\n\n", t.bold(when), t.dim("("+count(host.Len(given.Said.Context), "character")+")"))
	if given == &next && next.Said.Message != "" {
		t.text("on screen", next.Said.Message, t.yellow)
		fmt.Fprintln(t.Out)
	}
	for _, line := range wrap(term.Visible(strings.TrimSpace(given.Said.Context)), t.width()-4) {
		fmt.Fprintln(t.Out, strings.TrimRight("  "+t.dim("│")+" "+line, " "))
	}
}

// text prints a text with a label at its left.
func (t *Timeline) text(label, s string, paint func(string) string) {
	if s == "" {
		return
	}
	lines := wrap(term.Visible(strings.TrimSpace(s)), t.width()-marginWidth)
	if more := len(lines) - excerpt; !t.Full && more > 1 {
		lines = append(lines[:excerpt], "… "+count(more, "more line"))
	}
	for i, line := range lines {
		if i > 0 {
			label = ""
		}
		fmt.Fprintln(t.Out, strings.TrimRight(fmt.Sprintf("%13s%-9s  %s %s", "", label, t.dim("│"), paint(line)), " "))
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
		add("“%s”", oneLine(p.Prompt))
	case host.Stop:
		add("“%s”", oneLine(p.LastMessage))
		if s.Tokens >= 0 {
			add("%s tokens", thousands(s.Tokens))
		}
		if p.StopHookActive {
			add("continued by a hook")
		}
		if p.BackgroundTasks > 0 {
			add("%s", count(p.BackgroundTasks, "background task"))
		}
		if s.Said.Continue != "" {
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

func oneLine(s string) string { return host.Cut(strings.Join(strings.Fields(s), " "), aboutWidth) }

// wrap breaks s into lines of at most width characters, between words where
// it can. Line breaks of s stay.
func wrap(s string, width int) []string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		for utf8.RuneCountInString(line) > width {
			runes := []rune(line)
			at := width
			for at > width/2 && runes[at] != ' ' {
				at--
			}
			if runes[at] != ' ' {
				at = width
			}
			out = append(out, strings.TrimRight(string(runes[:at]), " "))
			line = strings.TrimLeft(string(runes[at:]), " ")
		}
		out = append(out, line)
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func was(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func (t *Timeline) bold(s string) string   { return t.paint("1", s) }
func (t *Timeline) dim(s string) string    { return t.paint("2", s) }
func (t *Timeline) red(s string) string    { return t.paint("31", s) }
func (t *Timeline) green(s string) string  { return t.paint("32", s) }
func (t *Timeline) yellow(s string) string { return t.paint("33", s) }
func (t *Timeline) cyan(s string) string   { return t.paint("36", s) }

func (t *Timeline) paint(code, s string) string {
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// Report is a replay for machines.
type Report struct {
	Recording string       `json:"recording"`
	Plugin    string       `json:"plugin"`
	Calls     []ReportCall `json:"calls"`
	// Next is what a session is given that starts after the recording.
	Next ReportCall `json:"next"`
}

// ReportCall is one step of a Report.
type ReportCall struct {
	T         float64    `json:"t"` // seconds
	Event     host.Event `json:"event"`
	Session   string     `json:"session"`
	Processes int        `json:"processes"`          // hooks that were started
	Millis    float64    `json:"ms"`                 // for all of them
	Tokens    *int       `json:"tokens,omitempty"`   // occupancy; absent when unknown
	Message   string     `json:"message,omitempty"`  // for the person
	Hidden    bool       `json:"hidden,omitempty"`   // which the client does not show
	Context   string     `json:"context,omitempty"`  // for the model
	Continue  string     `json:"continue,omitempty"` // with which the turn goes on
	Ask       string     `json:"ask,omitempty"`      // why the person is asked before the tool runs
	Fault     string     `json:"fault,omitempty"`
}

// Report returns s for machines.
func (s Step) Report() ReportCall {
	r := ReportCall{
		T:         s.T,
		Event:     s.Payload.Event,
		Session:   s.Payload.SessionID,
		Processes: s.Processes,
		Millis:    float64(s.Took.Microseconds()) / 1000,
		Message:   s.Said.Message,
		Hidden:    s.Hidden(),
		Context:   s.Said.Context,
		Continue:  s.Said.Continue,
		Ask:       s.Said.Ask,
		Fault:     s.Fault,
	}
	if s.Tokens >= 0 {
		r.Tokens = &s.Tokens
	}
	return r
}
