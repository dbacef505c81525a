package notes

import (
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

// MaxContext is the most a plugin hands over, in characters as the host counts
// them: below the host's own cap, where the model would only see a preview.
const MaxContext = 9_000

// minPart is the least of a section that is worth showing, in characters.
const minPart = 120

// cutMark stands where the end of a section was left out.
const cutMark = "[…]\n"

// Fit returns doc if it has at most limit characters (host.Len), else as much
// of it as fits, and the number of characters left out. It is cut between
// sections, in document order: what stands before the first heading and the
// sections named in first survive longest, in that order, then the others from
// the top. One section, the first that no longer fits, is cut at the end of a
// line.
func Fit(doc string, limit int, first ...string) (text string, left int) {
	total := host.Len(doc)
	if total <= limit {
		return doc, 0
	}
	parts := sections(doc)
	budget := limit
	for n, i := range order(parts, first) {
		p := &parts[i]
		room := budget
		if n == 0 && p.title == "" {
			room = budget / 2 // an endless preamble must not crowd out the next step
		}
		p.keep(room)
		budget -= p.cost
	}
	var b strings.Builder
	kept := 0
	for _, p := range parts {
		b.WriteString(p.kept)
		kept += host.Len(p.kept)
		if p.kept != "" && len(p.kept) < len(p.text) {
			if !strings.HasSuffix(p.kept, "\n") {
				b.WriteByte('\n')
			}
			if fence := openFence(p.kept); fence != "" {
				b.WriteString(fence + "\n")
			}
			b.WriteString(cutMark)
		}
	}
	return b.String(), total - kept
}

// section is a heading with what belongs to it; the first may have none.
type section struct {
	title string
	text  string
	body  int    // where the text begins that follows the heading
	kept  string // the beginning of text that is handed over
	cost  int    // characters of the budget
}

// keep takes as much of the section as room allows.
func (s *section) keep(room int) {
	if n := host.Len(s.text); n <= room {
		s.kept, s.cost = s.text, n
		return
	}
	room -= host.Len(cutMark) + 1
	if room < minPart {
		return
	}
	s.kept = wholeLines(s.text, room)
	fence := openFence(s.kept)
	if fence != "" { // which has to be closed, or all that follows would be code
		s.kept = wholeLines(s.text, room-len(fence)-1)
		if last := openFence(s.kept); len(last) > len(fence) {
			s.kept = ""
		}
	}
	s.cost = host.Len(s.kept) + len(fence) + host.Len(cutMark) + 2
}

// wholeLines returns the longest beginning of s that has at most n characters
// and ends with a line, unless one of them is nearly all there is.
func wholeLines(s string, n int) string {
	s = prefix(s, n)
	if i := strings.LastIndexByte(s, '\n') + 1; i > len(s)/2 {
		return s[:i]
	}
	return s
}

// prefix returns the longest beginning of s that has at most n characters.
func prefix(s string, n int) string {
	for i, r := range s {
		if n -= host.Len(string(r)); n < 0 {
			return s[:i]
		}
	}
	return s
}

// order returns the indices of parts, the most important first.
func order(parts []section, first []string) []int {
	var list []int
	taken := make([]bool, len(parts))
	take := func(title string) {
		for i, p := range parts {
			if !taken[i] && strings.EqualFold(p.title, title) {
				taken[i] = true
				list = append(list, i)
			}
		}
	}
	take("")
	for _, title := range first {
		take(title)
	}
	for i := range parts {
		if !taken[i] {
			list = append(list, i)
		}
	}
	return list
}

// sections splits doc at its headings of the first and second level. Their
// texts joined are doc again; the frontmatter is part of what comes before them.
func sections(doc string) []section {
	var list []section
	current, from := section{}, 0
	cut := func(title string, at, body int) {
		if at > from {
			current.text = doc[from:at]
			list = append(list, current)
		}
		current, from = section{title: title, body: body - at}, at
	}
	at := len(doc) - len(Body(doc))
	before := at // where the line before begins
	var b block
	for line := range strings.Lines(doc[at:]) {
		level, title, underline := b.next(line)
		end := at + len(line)
		switch {
		case level == 0 || level > 2:
		case underline:
			cut(strings.TrimSpace(doc[before:at]), before, end)
		default:
			cut(title, at, end)
		}
		before, at = at, end
	}
	current.text = doc[from:]
	return append(list, current)
}

// Section returns the text below the heading called title, and whether there
// is one. The heading is found in any case and with text in parentheses or a
// colon after it.
func Section(doc, title string) (text string, ok bool) {
	for _, s := range sections(Body(doc)) {
		if isTitle(s.title, title) {
			return s.text[s.body:], true
		}
	}
	return "", false
}

func isTitle(have, want string) bool {
	if !hasPrefixFold(have, want) {
		return false
	}
	rest := strings.TrimSpace(have[len(want):])
	return rest == "" || rest[0] == '(' || rest[0] == ':'
}
