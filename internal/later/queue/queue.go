// Package queue reads and edits the file of queued tasks, .claude/LATER.md.
//
// The file belongs to the person who types in it: an edit changes the bytes it is
// about and no other. Nothing here reads or writes a file.
package queue

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a queue. A larger one is refused as a whole: half of it would look
// like all of it.
const (
	MaxLines = 10_000
	MaxBytes = 8 << 20
	// A task that we write has at least MinText and at most MaxText characters, however
	// it is queued.
	MinText = 3
	MaxText = 500
)

// Errors of Parse.
const (
	ErrTooLong Error = "it has more than 10,000 lines"
	ErrTooBig  Error = "it has more than 8 MB"
	ErrBinary  Error = "it is not a text in UTF-8"
)

// Error is an error of Parse: a constant, which costs a hook no start.
type Error string

func (e Error) Error() string { return string(e) }

// Priority is how urgent a task is: P0 is the most urgent.
type Priority int

// The priorities. Unsaid is none: that of a task is P1 then.
const (
	Unsaid Priority = iota - 1
	P0
	P1
	P2
)

func (p Priority) String() string { return [...]string{"P0", "P1", "P2"}[p] }

// Task is an open line of the queue.
type Task struct {
	ID       string // t_ and ten hexadecimal digits; moving or changing the line changes it
	Line     int    // from 0
	Priority Priority
	Text     string
}

// Section is the open tasks below one heading, in the order of their lines; the
// tasks above the first heading are in a section without a name.
type Section struct {
	Name  string
	Tasks []Task
}

// Queue is what a file holds.
type Queue struct {
	Sections []Section // those with an open task
	Done     []Task    // that are ticked off, without their ids
}

// Open returns the number of open tasks.
func (q Queue) Open() int {
	n := 0
	for _, s := range q.Sections {
		n += len(s.Tasks)
	}
	return n
}

// Tasks returns all open tasks in the order of their lines.
func (q Queue) Tasks() []Task {
	var all []Task
	for _, s := range q.Sections {
		all = append(all, s.Tasks...)
	}
	return all
}

// Find returns the task that has the id, or else the first one with the text, and
// the name of its section. An id holds for one place in the file; people move
// lines while an agent works.
func (q Queue) Find(id, text string) (Task, string, bool) {
	for _, same := range []func(Task) bool{
		func(t Task) bool { return t.ID == id && (text == "" || t.Text == text) },
		func(t Task) bool { return text != "" && t.Text == text },
	} {
		for _, s := range q.Sections {
			if i := slices.IndexFunc(s.Tasks, same); i >= 0 {
				return s.Tasks[i], s.Name, true
			}
		}
	}
	return Task{}, "", false
}

// Parse reads a queue. Lines that are neither a task nor a heading are the
// person's own and mean nothing here.
func Parse(data []byte) (Queue, error) {
	if err := check(data); err != nil {
		return Queue{}, err
	}
	var q Queue
	current := Section{}
	flush := func() {
		if len(current.Tasks) > 0 {
			q.Sections = append(q.Sections, current)
		}
	}
	for i, raw := range lines(data) {
		text := string(raw.body(data))
		if name, ok := heading(text); ok {
			flush()
			current = Section{Name: name}
			continue
		}
		l, ok := parseLine(text)
		switch {
		case !ok:
		case l.mark == 'x' || l.mark == 'X':
			q.Done = append(q.Done, Task{Line: i, Priority: l.priority(), Text: l.text})
		default:
			current.Tasks = append(current.Tasks, Task{ID: ID(i, l.text), Line: i, Priority: l.priority(), Text: l.text})
		}
	}
	flush()
	return q, nil
}

// Select returns at most limit tasks of a section, the most urgent first, in the
// order of their lines where they are as urgent.
func (s Section) Select(limit int) []Task {
	picked := slices.Clone(s.Tasks)
	slices.SortStableFunc(picked, func(a, b Task) int { return int(a.Priority) - int(b.Priority) })
	return picked[:min(max(limit, 0), len(picked))]
}

// ID returns the id of the task text on a line, counted from 0.
func ID(line int, text string) string {
	sum := sha1Sum([]byte(fmt.Sprintf("%d:%s", line, text)))
	return fmt.Sprintf("t_%x", sum[:5])
}

func check(data []byte) error {
	switch {
	case len(data) > MaxBytes:
		return ErrTooBig
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return ErrBinary
	case bytes.Count(data, []byte("\n")) >= MaxLines && lineCount(data) > MaxLines:
		return ErrTooLong
	}
	return nil
}

func lineCount(data []byte) int {
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// line is where one line stands: from start to end without its line end, and to
// next with it.
type line struct{ start, end, next int }

func (l line) body(data []byte) []byte { return data[l.start:l.end] }

const bom = "\uFEFF"

// lines returns the lines of data, without the byte order mark before the first.
func lines(data []byte) []line {
	var out []line
	at := 0
	if bytes.HasPrefix(data, []byte(bom)) {
		at = len(bom)
	}
	for at < len(data) {
		l := line{start: at, end: len(data), next: len(data)}
		if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
			l.end, l.next = at+i, at+i+1
		}
		if l.end > l.start && data[l.end-1] == '\r' {
			l.end--
		}
		out = append(out, l)
		at = l.next
	}
	return out
}

// heading returns the name of a second-level heading.
func heading(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "##")
	if !ok || rest == "" || !isSpace(rest) {
		return "", false
	}
	name := strings.TrimSpace(rest)
	return name, name != ""
}

func isSpace(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsSpace(r)
}

// taskLine is one "- [ ] (P1) text".
type taskLine struct {
	at       int // of the mark in the line
	mark     byte
	explicit Priority
	given    bool // there is a priority in the line
	text     string
}

func (l taskLine) priority() Priority {
	switch {
	case l.mark == '!':
		return P0
	case l.given:
		return l.explicit
	}
	return P1
}

func parseLine(s string) (taskLine, bool) {
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	rest, ok := strings.CutPrefix(rest, "-")
	if !ok {
		return taskLine{}, false
	}
	rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
	if len(rest) < 3 || rest[0] != '[' || rest[2] != ']' || strings.IndexByte(" xX!", rest[1]) < 0 {
		return taskLine{}, false
	}
	l := taskLine{at: len(s) - len(rest) + 1, mark: rest[1]}
	l.text = strings.TrimSpace(rest[3:])
	if p, after, ok := cutPriority(l.text); ok && after != "" {
		l.explicit, l.given, l.text = p, true, after
	}
	return l, l.text != ""
}

// cutPriority returns the priority in front of a task and what follows it.
func cutPriority(s string) (Priority, string, bool) {
	if len(s) < 4 || s[:2] != "(P" || s[2] < '0' || s[2] > '2' || s[3] != ')' {
		return P1, s, false
	}
	return Priority(s[2] - '0'), strings.TrimSpace(s[4:]), true
}
