package notes

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/term"
)

// Page is what a session hands to the next one.
type Page struct {
	Intro string // where they come from, and that they are no orders; the plugin's words
	Doc   string // Markdown
	// First are the sections that survive longest, the most important first.
	First []string
	// Rest is the line for what did not fit: how much it is and where it is.
	Rest func(left int) string
	// Max is the most that is handed over, in characters; 0 is MaxContext.
	Max int
	// Left is how many characters Doc is short of the whole document.
	Left int
}

// frameTag encloses the notes, so that the model can tell where somebody
// else's words begin and end.
const frameTag = "earlier-session-notes"

// Context returns the notes as the model is to get them: framed, without
// secrets, and at most Max characters.
func (p Page) Context() string {
	open, end := p.Intro+"\n\n<"+frameTag+">\n", "</"+frameTag+">\n"
	doc := defuse(redact.Text(strings.ToValidUTF8(p.Doc, "\ufffd")))
	if !strings.HasSuffix(doc, "\n") {
		doc += "\n"
	}
	// The number of characters left out is never longer than this one.
	reserve := host.Len(p.Rest(host.Len(doc)+p.Left)) + 1
	room := cmp.Or(p.Max, MaxContext) - host.Len(open) - host.Len(end)
	if host.Len(doc) > room || p.Left > 0 {
		room -= reserve
	}
	text, left := Fit(doc, room, p.First...)
	left += p.Left
	out := open + text + end
	if left > 0 {
		out += p.Rest(left) + "\n"
	}
	return out
}

// defuse takes the meaning from tags in s that would end the frame, or the one
// that the host puts around it: notes may quote anything, and what follows
// must not pass for the words of somebody else.
func defuse(s string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		if s[i] != '<' {
			continue
		}
		name := strings.TrimLeft(s[i+1:], "/ \t\r\n")
		if hasPrefixFold(name, frameTag) || hasPrefixFold(name, "system-") {
			b.WriteString(s[from:i] + "&lt;")
			from = i + 1
		}
	}
	return b.String() + s[from:]
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// Line returns s as one line that a terminal may be given (term.Line), without
// secrets and of at most n characters.
func Line(s string, n int) string { return host.Cut(term.Line(redact.Text(s)), n) }

// Age rounds a number of seconds to the unit a person would use.
func Age(seconds int) string {
	n, unit := seconds, "second"
	switch {
	case seconds >= 48*3600:
		n, unit = seconds/86400, "day"
	case seconds >= 2*3600:
		n, unit = seconds/3600, "hour"
	case seconds >= 120:
		n, unit = seconds/60, "minute"
	}
	if n != 1 {
		unit += "s"
	}
	return strconv.Itoa(n) + " " + unit
}
