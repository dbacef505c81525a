package reload

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/redact"
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
		b.WriteString("\n## " + textMechSummary(m.SummaryAt) + "\n" + quoted)
	}
	body := b.String()
	if n := redact.Count(intent + body); n > 0 {
		body += "\n" + textMechMasked(n) + "\n"
	}
	return notes.WithFront(body,
		keyOwner, m.Session,
		keyUpdated, m.Now.UTC().Format(time.RFC3339),
		keyIntent, intent)
}

func (m *mechanical) done() []string {
	var list []string
	if files := m.files(m.Facts.Edited); len(files) > 0 {
		list = append(list, textMechEdited(files, len(m.Facts.Edited)-len(files)))
	}
	var good []transcript.Command
	for _, c := range m.Facts.Commands {
		if !c.Failed {
			good = append(good, c)
		}
	}
	for _, c := range newest(good, mechCommands) {
		list = append(list, textMechRan(notes.Line(c.Text, mechEntry)))
	}
	return list
}

func (m *mechanical) open() []string {
	var list []string
	for _, item := range m.todo() {
		list = append(list, textMechTodo(notes.Line(item.Text, mechEntry), item.Status == "in_progress"))
	}
	if files := m.files(m.Dirty); len(files) > 0 {
		list = append(list, textMechDirty(notes.Line(m.Branch, mechEntry), files, len(m.Dirty)-len(files)))
	} else if m.Branch != "" {
		list = append(list, textMechBranch(notes.Line(m.Branch, mechEntry)))
	}
	if answer := m.answer(); answer != "" {
		list = append(list, textMechAnswer(answer))
	}
	// The last request is the intent; "go on" alone would not say with what.
	if n := len(m.Facts.Prompts); n > 1 {
		for _, p := range newest(m.Facts.Prompts[:n-1], mechPrompts) {
			list = append(list, textMechBefore(notes.Line(p.Text, mechEntry)))
		}
	}
	return list
}

// next names the todo item in hand, else the next one, else the last request.
func (m *mechanical) next(prompt string) []string {
	list := m.todo()
	for _, item := range list {
		if item.Status == "in_progress" {
			return []string{textMechGoOn(notes.Line(item.Text, mechEntry))}
		}
	}
	if len(list) > 0 {
		return []string{textMechGoOn(notes.Line(list[0].Text, mechEntry))}
	}
	if prompt != "" {
		return []string{textMechRequest(prompt)}
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
	var failed []transcript.Command
	for i, c := range m.Facts.Commands {
		if c.Failed && last[c.Text] == i {
			failed = append(failed, c)
		}
	}
	var list []string
	for _, c := range newest(failed, mechFailed) {
		list = append(list, textMechFailed(notes.Line(c.Text, mechEntry), notes.Line(c.Output, mechEntry)))
	}
	return list
}

// todo returns what is still to be done.
func (m *mechanical) todo() []transcript.Item {
	var list []transcript.Item
	for _, item := range m.Facts.Todo {
		if item.Status != "completed" && len(list) < mechTodo {
			list = append(list, item)
		}
	}
	return list
}

// answer returns the beginning of the model's last answer.
func (m *mechanical) answer() string {
	lines := strings.SplitN(strings.TrimSpace(m.Facts.Answer), "\n", mechAnswer+1)
	return notes.Line(strings.Join(lines[:min(len(lines), mechAnswer)], " "), mechPrompt)
}

// files returns the newest of paths, shortened.
func (m *mechanical) files(paths []string) []string {
	var list []string
	for _, p := range newest(paths, mechFiles) {
		if rel, err := filepath.Rel(m.Project, p); filepath.IsAbs(p) && err == nil && filepath.IsLocal(rel) {
			p = rel
		}
		list = append(list, notes.Line(p, mechEntry))
	}
	return list
}

// quoted returns the host's summary as a quotation, whose lines cannot pass
// for headings of the digest.
func (m *mechanical) quoted() string {
	var b strings.Builder
	for line := range strings.Lines(host.Cut(strings.TrimSpace(redact.Text(m.Summary)), mechSummary)) {
		if line = notes.Line(line, mechSummary); line != "" {
			b.WriteString("> " + line + "\n")
		}
	}
	return b.String()
}

// newest returns the last n elements of list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }
