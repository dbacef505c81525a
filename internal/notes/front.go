package notes

import (
	"strings"

	"github.com/ccreload/ccreload/internal/term"
)

// fence opens and closes the frontmatter of a document.
const fence = "---"

// front returns the lines of the frontmatter, fences included and with their
// line ends, and what follows them. A block that is not closed, or does not
// begin on the first line, is no frontmatter: all of the document is body, and
// a body is never taken for a statement about itself.
func front(doc string) (lines []string, body string, ok bool) {
	rest := doc
	for rest != "" {
		i := strings.IndexByte(rest, '\n') + 1
		if i == 0 {
			i = len(rest)
		}
		line := rest[:i]
		rest = rest[i:]
		lines = append(lines, line)
		switch isFence := strings.TrimRight(line, " \t\r\n") == fence; {
		case len(lines) == 1 && strings.TrimPrefix(strings.TrimRight(line, " \t\r\n"), "\ufeff") != fence:
			return nil, doc, false
		case len(lines) > 1 && isFence:
			return lines, rest, true
		}
	}
	return nil, doc, false
}

// HasFront reports whether doc begins with a complete frontmatter block.
func HasFront(doc string) bool { _, _, ok := front(doc); return ok }

// Body returns doc without its frontmatter.
func Body(doc string) string { _, body, _ := front(doc); return body }

// entry is one key of a frontmatter block, with the lines of its value: what is
// indented below it belongs to it, whatever it looks like, and so do the items
// of a list (YAML 1.2, block scalars and block sequences).
type entry struct {
	key   string
	lines []string // with their line ends; the first has the key
}

// entries splits lines, those between the fences, at the keys of the top level.
// What belongs to no key, comments among it, has the key "".
func entries(lines []string) []entry {
	var list []entry
	for _, line := range lines {
		key, isKey := topKey(line)
		n := len(list) - 1
		switch bare := strings.TrimSpace(line); {
		case isKey:
			list = append(list, entry{key, []string{line}})
		case n >= 0 && list[n].key != "" && (bare == "" || line[0] == ' ' || line[0] == '\t' || bare == "-" || strings.HasPrefix(line, "- ")):
			list[n].lines = append(list[n].lines, line)
		default:
			list = append(list, entry{"", []string{line}})
		}
	}
	return list
}

// topKey returns the key that begins a line.
func topKey(line string) (string, bool) {
	k, rest, ok := strings.Cut(line, ":")
	if !ok || strings.HasPrefix(rest, "//") || strings.TrimLeft(k, " \t#-") != k {
		return "", false
	}
	k = unquote(strings.TrimSpace(k))
	return k, k != ""
}

// value returns what the entry says. A value of several lines keeps them where
// it says so ("|"), else they are one.
func (e entry) value() string {
	_, first, _ := strings.Cut(e.lines[0], ":")
	first = strings.TrimSpace(first)
	between := " "
	switch {
	case strings.HasPrefix(first, "|"):
		first, between = "", "\n"
	case strings.HasPrefix(first, ">"):
		first = ""
	}
	parts := []string{first}
	for _, line := range e.lines[1:] {
		parts = append(parts, strings.TrimSpace(line))
	}
	return unquote(strings.TrimSpace(strings.Join(parts, between)))
}

// FrontValue returns the value of a key of the top level in the frontmatter of
// doc without its quotes, "" when it is not there.
func FrontValue(doc, key string) string {
	lines, _, ok := front(doc)
	if !ok {
		return ""
	}
	for _, e := range entries(lines[1 : len(lines)-1]) {
		if e.key == key {
			return e.value()
		}
	}
	return ""
}

// SetFront returns doc with key set to value in its frontmatter, and whether
// there is one; without one doc comes back as it is. The body keeps its bytes,
// the block its line ends, and every other key its value.
func SetFront(doc, key, value string) (string, bool) {
	lines, body, ok := front(doc)
	if !ok {
		return doc, false
	}
	end := "\n"
	if strings.HasSuffix(lines[0], "\r\n") {
		end = "\r\n"
	}
	set := key + ": " + quote(value) + end
	out := lines[:1:1]
	for _, e := range entries(lines[1 : len(lines)-1]) {
		if e.key != key {
			out = append(out, e.lines...)
			continue
		}
		if set != "" {
			out = append(out, set)
		}
		set = "" // a second line of the same key goes
	}
	if set != "" {
		out = append(out, set)
	}
	out = append(out, lines[len(lines)-1])
	return strings.Join(out, "") + body, true
}

// WithFront returns body below a new frontmatter block of keys and values.
func WithFront(body string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(fence + "\n")
	for i := 0; i+1 < len(pairs); i += 2 {
		b.WriteString(pairs[i] + ": " + quote(pairs[i+1]) + "\n")
	}
	b.WriteString(fence + "\n" + body)
	return b.String()
}

// quote returns s as a double-quoted YAML scalar of one line.
func quote(s string) string {
	s = term.OneLine(s)
	s = strings.ReplaceAll(s, `\`, `\\`)
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}

// unquote undoes quote, and takes single quotes and none as well. A comment
// behind the value is none of it.
func unquote(s string) string {
	switch {
	case s == "":
	case s[0] == '"':
		var b strings.Builder
		for i := 1; i < len(s); i++ {
			switch {
			case s[i] == '"':
				return b.String()
			case s[i] == '\\' && i+1 < len(s):
				i++
				if strings.IndexByte("nrt", s[i]) >= 0 {
					b.WriteByte(' ') // a value is one line
					continue
				}
			}
			b.WriteByte(s[i])
		}
	case s[0] == '\'':
		if text, _, ok := strings.Cut(strings.ReplaceAll(s[1:], "''", "\x00"), "'"); ok {
			return strings.ReplaceAll(text, "\x00", "'")
		}
	default:
		if i := strings.Index(s, " # "); i >= 0 {
			return strings.TrimSpace(s[:i])
		}
	}
	return s
}
