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

// FrontValue returns the value of key in the frontmatter of doc without its
// quotes, "" when it is not there.
func FrontValue(doc, key string) string {
	lines, _, ok := front(doc)
	if !ok {
		return ""
	}
	for _, line := range lines[1 : len(lines)-1] {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return unquote(strings.TrimSpace(v))
		}
	}
	return ""
}

// SetFront returns doc with key set to value in its frontmatter, and whether
// there is one; without one doc comes back as it is. The body keeps its bytes
// and the block its line ends.
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
	done := false
	for _, line := range lines[1 : len(lines)-1] {
		k, _, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(k) == key {
			if done {
				continue
			}
			line, done = set, true
		}
		out = append(out, line)
	}
	if !done {
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

// unquote undoes quote, and takes single quotes and none as well.
func unquote(s string) string {
	switch {
	case len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"':
		var b strings.Builder
		for s = s[1 : len(s)-1]; s != ""; s = s[1:] {
			if s[0] == '\\' && len(s) > 1 {
				s = s[1:]
			}
			b.WriteByte(s[0])
		}
		return b.String()
	case len(s) >= 2 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	}
	return s
}
