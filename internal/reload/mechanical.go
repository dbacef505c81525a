package reload

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// mechanical is what a digest without a model is made of.
type mechanical struct {
	Session   string
	Project   string // paths below it are shortened
	Now       time.Time
	Facts     transcript.Facts
	Summary   string // the host's own, of the compaction before this one
	SummaryAt time.Time
	Branch    string
	Dirty     []string // files with changes that are not committed
}

// How much of each kind a mechanical digest holds: entries, and characters of
// an entry. All together it stays a page, well below what the host takes.
const (
	mechPrompt   = 300
	mechEntry    = 140
	mechPrompts  = 3
	mechFiles    = 25
	mechCommands = 10
	mechFailed   = 8
	mechTodo     = 15
	mechAnswer   = 6 // lines
	mechSummary  = 2000
)

// digest writes the facts down. It judges nothing and says so.
func (m mechanical) digest() string {
	prompt := ""
	if n := len(m.Facts.Prompts); n > 0 {
		prompt = notes.Line(m.Facts.Prompts[n-1].Text, mechPrompt)
	}
	intent := strings.TrimSpace(mechanicalMark + " fallback) " + prompt)
	var b strings.Builder
	b.WriteString(textMechanical + "\n")
	for _, s := range []struct {
		title   string
		entries []string
		none    string
	}{
		{sectionDone, m.done(), textMechUnknown},
		{sectionOpen, m.open(), textMechUnknown},
		{sectionNext, m.next(prompt), textMechDerive},
		{sectionRisk, m.risks(), textMechNoRisk},
	} {
		if len(s.entries) == 0 {
			s.entries = []string{s.none}
		}
		b.WriteString("\n## " + s.title + "\n- " + strings.Join(s.entries, "\n- ") + "\n")
	}
	if quoted := m.quoted(); quoted != "" {
		b.WriteString("\n## " + fmt.Sprintf(textMechSummary, m.SummaryAt.UTC().Format("2006-01-02 15:04 UTC")) + "\n" + quoted)
	}
	body := b.String()
	if n := redact.Count(intent + body); n > 0 {
		body += "\n" + fmt.Sprintf(textMechMasked, n) + "\n"
	}
	return notes.WithFront(body,
		keyOwner, m.Session,
		keyUpdated, m.Now.UTC().Format(time.RFC3339),
		keyIntent, intent)
}

// entry fills texts into a line of the digest.
func entry(format string, texts ...string) string {
	args := make([]any, len(texts))
	for i, s := range texts {
		args[i] = notes.Line(s, mechEntry)
	}
	return fmt.Sprintf(format, args...)
}

// command is entry for a line that shows a command as code.
func command(format, text string) string {
	return entry(format, strings.ReplaceAll(text, "`", "'"))
}

func (m *mechanical) done() []string {
	var list []string
	if len(m.Facts.Edited) > 0 {
		list = append(list, textMechEdited+m.files(m.Facts.Edited))
	}
	good := slices.DeleteFunc(slices.Clone(m.Facts.Commands), func(c transcript.Command) bool { return c.Failed })
	for _, c := range newest(good, mechCommands) {
		list = append(list, command(textMechRan, c.Text))
	}
	return list
}

func (m *mechanical) open() []string {
	var list []string
	for _, item := range m.todo() {
		format := textMechTodo
		if item.Status == "in_progress" {
			format = textMechBegun
		}
		list = append(list, entry(format, item.Text))
	}
	switch {
	case len(m.Dirty) > 0 && m.Branch != "":
		list = append(list, entry(textMechDirtyOn, m.Branch)+m.files(m.Dirty))
	case len(m.Dirty) > 0:
		list = append(list, textMechDirty+m.files(m.Dirty))
	case m.Branch != "":
		list = append(list, entry(textMechBranch, m.Branch))
	}
	if answer := m.answer(); answer != "" {
		list = append(list, textMechAnswer+answer)
	}
	// The last request is the intent; "go on" alone would not say with what.
	if n := len(m.Facts.Prompts); n > 1 {
		for _, p := range newest(m.Facts.Prompts[:n-1], mechPrompts) {
			list = append(list, entry(textMechBefore, p.Text))
		}
	}
	return list
}

// next names the todo item in hand, else the next one, else the last request.
func (m *mechanical) next(prompt string) []string {
	list := m.todo()
	if len(list) > 0 {
		i := slices.IndexFunc(list, func(i transcript.Item) bool { return i.Status == "in_progress" })
		return []string{entry(textMechGoOn, list[max(i, 0)].Text)}
	}
	if prompt != "" {
		return []string{textMechRequest + prompt}
	}
	return nil
}

// risks are the commands that failed and have not worked since: dead ends that
// nobody has to walk twice.
func (m *mechanical) risks() []string {
	last := map[string]int{}
	for i, c := range m.Facts.Commands {
		last[c.Text] = i
	}
	var list []string
	for i, c := range m.Facts.Commands {
		if !c.Failed || last[c.Text] != i {
			continue
		}
		line := command(textMechFailed, c.Text)
		if c.Output != "" {
			line += ": " + notes.Line(c.Output, mechEntry)
		}
		list = append(list, line)
	}
	return newest(list, mechFailed)
}

// todo returns what is still to be done.
func (m *mechanical) todo() []transcript.Item {
	list := slices.DeleteFunc(slices.Clone(m.Facts.Todo), func(i transcript.Item) bool { return i.Status == "completed" })
	return list[:min(len(list), mechTodo)]
}

// answer returns the beginning of the model's last answer.
func (m *mechanical) answer() string {
	lines := strings.SplitN(strings.TrimSpace(m.Facts.Answer), "\n", mechAnswer+1)
	return notes.Line(strings.Join(lines[:min(len(lines), mechAnswer)], " "), mechPrompt)
}

// files lists the newest of paths, shortened.
func (m *mechanical) files(paths []string) string {
	var list []string
	for _, p := range newest(paths, mechFiles) {
		if rel, ok := state.Below(m.Project, p); ok && filepath.IsAbs(p) {
			p = rel
		}
		list = append(list, notes.Line(p, mechEntry))
	}
	s := strings.Join(list, ", ")
	if more := len(paths) - len(list); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// quoted returns the host's summary as a quotation, whose lines cannot pass
// for headings of the digest.
func (m *mechanical) quoted() string {
	text := redact.Text(m.Summary)
	var b strings.Builder
	for line := range strings.Lines(host.Cut(strings.TrimSpace(text), mechSummary)) {
		if line = notes.Line(line, mechSummary); line != "" {
			b.WriteString("> " + line + "\n")
		}
	}
	return b.String()
}

// newest returns the last n elements of list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
