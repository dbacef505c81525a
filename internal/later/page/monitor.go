package page

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/term"
)

// Where a terminal does not say how large it is.
const (
	someColumns = 120
	someRows    = 40
)

// Monitor returns what `ccreload later monitor` shows, as lines that fit a terminal
// of so many columns and rows; 0 is one that does not say.
func Monitor(v dispatch.View, columns, rows int, paint term.Palette) []string {
	if columns <= 0 {
		columns = someColumns
	}
	if rows <= 0 {
		rows = someRows
	}
	// A line that ends in the last column would be drawn differently everywhere.
	m := monitor{columns: max(columns-1, 1), paint: paint}
	m.line(term.Dim, "cc-later, "+v.Now.Format("15:04:05"))
	used, says := windowGauge(v)
	m.gauge("Window", used, 80, says)
	m.gauge("Week", v.Week, float64(v.Config.Backoff), weekSays(v))
	m.list("Waits for you", term.Yellow, max(rows/4, 2), m.wants(v))
	m.list("Agents", term.Bold, max(rows/4, 2), agentLines(v))
	m.list("Queues", term.Bold, max(rows/4, 2), queueLines(v))
	m.line("", "")
	if v.Reason == "" {
		m.line("", "Something starts at the next tick.")
	} else {
		m.line("", "Nothing starts now: "+Why(v.Reason, v.Until, v.Because, v.Now)+".")
	}
	return m.lines[:min(len(m.lines), rows)]
}

// Gist is what Monitor shows but for what only passes: times, shares, and what
// agents say at the moment.
func Gist(v dispatch.View) string {
	var list []string
	for _, a := range v.Agents {
		list = append(list, a.ID+" "+Section(a.Run)+" "+a.Waits)
	}
	for _, w := range v.Wants {
		list = append(list, w.What)
	}
	list = append(list, queueLines(v)...)
	return strings.Join(append(list, string(v.Window.Source), v.Reason), "\n")
}

// monitor collects lines of a width.
type monitor struct {
	columns int
	paint   term.Palette
	lines   []string
}

func (m *monitor) line(c term.Color, text string) {
	// Anybody can have written what agents and tasks say.
	indent := len(text) - len(strings.TrimLeft(text, " "))
	text = term.Cut(text[:indent]+term.Line(text), m.columns)
	if c != "" {
		text = m.paint.In(c, text)
	}
	m.lines = append(m.lines, text)
}

// gauge adds a share with its bar, which is yellow near its end and red there.
func (m *monitor) gauge(name string, percent, limit float64, says string) {
	width := min(max(m.columns/4, 7), 32)
	name = term.Pad(name, 8)
	c := term.Green
	switch {
	case percent >= limit:
		c = term.Red
	case percent >= limit*3/4:
		c = term.Yellow
	}
	if percent < 0 {
		percent, c = 0, term.Dim
	}
	rest := m.columns - len(name) - width - 2
	if rest < 10 { // the words are worth more than the bar
		m.line("", name+says)
		return
	}
	m.lines = append(m.lines, name+m.paint.In(c, term.Gauge(percent, width))+"  "+term.Cut(term.Line(says), rest))
}

// list adds a title with lines below it, at most n, and says how many there are
// besides.
func (m *monitor) list(title string, c term.Color, n int, lines []string) {
	if len(lines) == 0 {
		return
	}
	m.line("", "")
	m.line(c, title)
	if len(lines) > n {
		lines = append(lines[:n-1:n-1], fmt.Sprintf("and %d more", len(lines)-n+1))
	}
	for _, l := range lines {
		m.line("", "  "+l)
	}
}

// windowGauge is how much of the window is used; where nobody says that, how much of
// its time is over.
func windowGauge(v dispatch.View) (percent float64, says string) {
	says = strings.TrimPrefix(window(v), "Window    ")
	w := v.Window
	switch {
	case !v.Now.Before(w.End):
		return -1, says
	case v.Used >= 0:
		return v.Used, says
	}
	return 100 * float64(v.Now.Sub(w.Start)) / float64(w.End.Sub(w.Start)), says
}

func weekSays(v dispatch.View) string { return strings.TrimPrefix(week(v), "Week      ") }

// wants are the things that wait for the person, with the command below where both
// do not fit in a line.
func (m *monitor) wants(v dispatch.View) []string {
	var lines []string
	for _, w := range v.Wants {
		switch {
		case w.Command == "":
			lines = append(lines, w.What)
		case term.Width(w.What)+term.Width(w.Command)+4 <= m.columns:
			lines = append(lines, w.What+": "+w.Command)
		default:
			lines = append(lines, w.What, "  "+w.Command)
		}
	}
	return lines
}

// agentLines has one line an agent: what, where, for how long, and the end of what it
// says.
func agentLines(v dispatch.View) []string {
	var lines []string
	for _, a := range v.Agents {
		line := fmt.Sprintf("%s, %s, %s", Section(a.Run), filepath.Base(a.Repo), strings.TrimPrefix(progress(a, v.Now), "for "))
		if tail := term.Line(a.Tail); tail != "" {
			line += ": " + tail
		}
		lines = append(lines, line)
	}
	return lines
}

// queueLines counts the tasks of each queue by where they stand.
func queueLines(v dispatch.View) []string {
	var lines []string
	for _, q := range v.Queues {
		n := map[string]int{}
		for _, s := range q.Sections {
			for _, t := range s.Tasks {
				n[State(t)]++
			}
		}
		var parts []string
		for _, p := range [...]struct{ state, says string }{
			{"runs", "running"}, {"merge", "to be merged"}, {"waits", "waiting"}, {"limit", "after the reset"}, {"you", "for you"}, {"trust?", "waiting for trust"},
		} {
			if n[p.state] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n[p.state], p.says))
			}
		}
		if len(q.Done) > 0 {
			parts = append(parts, fmt.Sprintf("%d done", len(q.Done)))
		}
		switch {
		case q.Err != nil:
			lines = append(lines, filepath.Base(q.Root)+": "+q.Err.Error())
		case len(parts) > 0:
			lines = append(lines, filepath.Base(q.Root)+": "+strings.Join(parts, ", "))
		}
	}
	return lines
}
