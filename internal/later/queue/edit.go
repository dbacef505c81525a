package queue

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/term"
)

// Entry is a task to be written.
type Entry struct {
	Priority Priority
	Text     string // one line: see Clean
	Cut      bool   // whether more was asked for
}

// EntryOf returns the task that a person asks for in text. The priority that was said
// beside the text goes before one that stands in front of it, as in the file.
func EntryOf(text string, said Priority) Entry {
	e := Entry{Priority: said, Text: Clean(text)}
	if p, rest, ok := cutPriority(e.Text); ok && rest != "" {
		e.Text = rest
		if said == Unsaid {
			e.Priority = p
		}
	}
	if e.Priority == Unsaid {
		e.Priority = P1
	}
	return e
}

// Length returns how many characters the text has.
func (e Entry) Length() int { return utf8.RuneCountInString(e.Text) }

// Clean returns text as it is kept in the queue: one line without control or
// invisible formatting characters, blanks in a row as one.
func Clean(text string) string {
	runes := []rune(text)
	kept := runes[:0]
	for i, r := range runes {
		switch {
		case unicode.IsSpace(r):
			kept = append(kept, ' ')
		case i+1 < len(runes) && len(kept) > 0 && term.Joins(kept[len(kept)-1], r, runes[i+1]),
			unicode.IsGraphic(r) && r != unicode.ReplacementChar:
			kept = append(kept, r)
		}
	}
	return strings.Join(strings.Fields(string(kept)), " ")
}

// Like returns the open task of the queue that has the text, whatever the letter
// case.
func (q Queue) Like(text string) (t Task, ok bool) {
	for _, s := range q.Sections {
		for _, t := range s.Tasks {
			if strings.EqualFold(t.Text, text) {
				return t, true
			}
		}
	}
	return t, false
}

// AppendTo returns data with the entries at the end of a section, which is added if
// it is not there yet, whatever its letter case; "" is the end of the file. A file without a last newline
// keeps having none; an empty one gets a title.
func AppendTo(data []byte, section string, entries ...Entry) ([]byte, error) {
	if err := check(data); err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return data, nil
	}
	eol := lineEnd(data)
	out := bytes.Clone(data)
	if len(bytes.TrimSpace(bytes.TrimPrefix(data, []byte(bom)))) == 0 {
		out = append(out, "# LATER"+eol+eol...)
	}
	if section == "" {
		return insert(out, len(out), entries)
	}
	if name, ok := heading(section); ok {
		section = name // as it stands in the file
	}
	for _, same := range []func(string, string) bool{equal, strings.EqualFold} {
		if at, found := sectionEnd(out, func(name string) bool { return same(name, section) }); found {
			return insert(out, at, entries)
		}
	}
	switch {
	case !bytes.HasSuffix(out, []byte("\n")):
		out = append(out, eol+eol...)
	case !bytes.HasSuffix(out, []byte("\n\n")) && !bytes.HasSuffix(out, []byte("\n\r\n")):
		out = append(out, eol...)
	}
	out = append(out, "## "+section+eol...)
	return insert(out, len(out), entries)
}

// MarkDone returns data with the tasks ticked off, each at its id or else at its
// text, and those that were found. A line that is no open task any more is left
// as it is.
func MarkDone(data []byte, tasks ...Task) ([]byte, []Task, error) {
	q, err := Parse(data)
	if err != nil {
		return nil, nil, err
	}
	out := bytes.Clone(data)
	all := lines(data)
	var done []Task
	for _, want := range tasks {
		if ticked(data, all, want) {
			continue // by a run that was killed before it could say so
		}
		t, _, ok := q.Find(want.ID, want.Text)
		if !ok {
			continue
		}
		l, ok := parseLine(string(all[t.Line].body(out)))
		if !ok || l.mark == 'x' {
			continue
		}
		out[all[t.Line].start+l.at] = 'x'
		done = append(done, want)
	}
	return out, done, nil
}

// ticked reports whether the line that a task stood on has the same text and is
// ticked off.
func ticked(data []byte, all []line, t Task) bool {
	if t.ID == "" || t.Line >= len(all) || t.ID != ID(t.Line, t.Text) {
		return false
	}
	l, ok := parseLine(string(all[t.Line].body(data)))
	return ok && l.text == t.Text && (l.mark == 'x' || l.mark == 'X')
}

func equal(a, b string) bool { return a == b }

// sectionEnd returns where a task at the end of the section with a name goes: behind
// its last line that is not blank.
func sectionEnd(data []byte, is func(name string) bool) (at int, found bool) {
	inside := false
	for _, l := range lines(data) {
		text := string(l.body(data))
		if name, ok := heading(text); ok {
			if inside {
				break
			}
			inside = is(name)
			found = found || inside
		}
		if inside && strings.TrimSpace(text) != "" {
			at = l.next
		}
	}
	return at, found
}

func insert(data []byte, at int, entries []Entry) ([]byte, error) {
	eol := lineEnd(data)
	var add strings.Builder
	bare := at > 0 && data[at-1] != '\n' && !bytes.Equal(data[:at], []byte(bom))
	if bare {
		add.WriteString(eol)
	}
	for i, e := range entries {
		if i > 0 {
			add.WriteString(eol)
		}
		add.WriteString("- [ ] (" + e.Priority.String() + ") " + e.Text)
	}
	if !bare {
		add.WriteString(eol)
	}
	out := make([]byte, 0, len(data)+add.Len())
	out = append(out, data[:at]...)
	out = append(out, add.String()...)
	out = append(out, data[at:]...)
	return out, check(out)
}

// lineEnd returns the line end that data uses, by its first line.
func lineEnd(data []byte) string {
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
