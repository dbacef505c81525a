package reload

import (
	"cmp"
	"fmt"
	"slices"
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
	Home      string // and those below this one
	Now       time.Time
	Facts     transcript.Facts
	Summary   string // the host's own, of the compaction before this one
	SummaryAt time.Time
	Branch    string
	Dirty     []string         // files with changes that are not committed
	Left      []notes.OpenItem // what earlier sessions left open

	root string // what base returned
}

// How much of each kind a mechanical digest holds: entries, and characters of
// an entry. All together it stays a page, well below what the host takes.
const (
	mechPrompt  = 300
	mechEntry   = 140
	mechTodo    = 25
	mechAnswer  = 6 // lines
	mechSummary = 1500

	// mechPage is the most that a digest has, but for the summary, unless what is
	// still to be done needs more.
	mechPage = 2900
)

// MechanicalPage returns the mechanical digest of a session of which only the facts
// are known: what git and earlier sessions would add is not in it.
func MechanicalPage(facts transcript.Facts, home string, now time.Time) string {
	return mechanical{Session: "-", Project: facts.Cwd, Home: home, Now: now, Facts: facts, Branch: facts.Branch}.digest()
}

// digest writes the facts down. It judges nothing and says so.
func (m mechanical) digest() string {
	prompt := ""
	if len(m.Facts.Prompts) > 0 {
		prompt = notes.Line(m.Facts.Prompts[0].Text, mechPrompt)
	}
	intent := strings.TrimSpace(mechanicalMark + " fallback) " + prompt)
	front := func(body string) string {
		return notes.WithFront(body, keyOwner, m.Session, keyUpdated, m.Now.UTC().Format(time.RFC3339), keyIntent, intent)
	}
	m.base() // once for all pages that are tried
	body := notes.Fill(mechPage-host.Len(front("")), func(room notes.Room) string { return m.body(prompt, room) })
	if quoted := m.quoted(); quoted != "" {
		body += "\n## " + fmt.Sprintf(textMechSummary, m.SummaryAt.UTC().Format("2006-01-02 15:04 UTC")) + "\n" + quoted
	}
	if n := redact.Count(intent + body); n > 0 {
		body += "\n" + fmt.Sprintf(textMechMasked, n) + "\n"
	}
	return front(body)
}

// body returns the sections, with as much in them as there is room for.
func (m mechanical) body(prompt string, room notes.Room) string {
	risks := m.risks(room)
	done, open, next := m.done(strings.Join(risks, "\n"), room), m.open(room), m.next(prompt)
	shown := strings.Join(slices.Concat(done, open, next, risks, []string{prompt}), "\n")
	if terms := m.Facts.Terms(shown, room.Terms); len(terms) > 0 {
		open = append(open, textMechTerms+notes.Line(strings.Join(terms, ", "), mechPage))
	}
	var b strings.Builder
	b.WriteString(textMechanical + "\n")
	for _, s := range []struct {
		title   string
		entries []string
		none    string
	}{
		{sectionDone, done, textMechUnknown},
		{sectionOpen, open, textMechUnknown},
		{sectionNext, next, textMechDerive},
		{sectionRisk, risks, textMechNoRisk},
	} {
		if len(s.entries) == 0 {
			s.entries = []string{s.none}
		}
		b.WriteString("\n## " + s.title + "\n- " + strings.Join(s.entries, "\n- ") + "\n")
	}
	return b.String()
}

// How much of each kind the model is reminded of when it is asked for a digest.
const (
	briefTodo   = 8
	briefFailed = 3
)

var briefRoom = notes.Room{Edited: 12, Read: 12, Before: 10, Named: 8}

// reminder lists for the model that is to write the digest what it need not look
// up: a line of each kind, "" when nothing is known.
func (m mechanical) reminder() string {
	var lines []string
	add := func(format string, list []string) {
		if len(list) > 0 {
			lines = append(lines, "- "+fmt.Sprintf(format, strings.Join(list, "; ")))
		}
	}
	for _, line := range notes.Touched(m.Facts, briefRoom, "", m.path) {
		lines = append(lines, "- "+line)
	}
	var open, left, failed []string
	for _, item := range m.todo() {
		open = append(open, notes.Line(item.Text, mechEntry))
	}
	for _, item := range m.Left {
		left = append(left, notes.Line(item.Text, mechEntry))
	}
	for _, c := range m.Facts.Failing(briefFailed) {
		failed = append(failed, command("`%s`", c.Text))
	}
	add(textMechTodo, open[:min(len(open), briefTodo)])
	add(textMechLeft+"%s", left[:min(len(left), briefTodo)])
	add(textMechFailing, failed)
	if len(lines) == 0 {
		return ""
	}
	return textReminder + "\n" + strings.Join(lines, "\n")
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

// done lists what was touched and run. shown are the commands that stand elsewhere.
func (m *mechanical) done(shown string, room notes.Room) []string {
	var list []string
	if base := m.base(); base != m.Project {
		list = append(list, entry(textMechBase, redact.Dir(base, m.Home, "~")))
	}
	list = append(list, notes.Touched(m.Facts, room, "", m.path)...)
	var ran []string
	for _, c := range m.Facts.Ran(room.Ran) {
		ran = append(ran, command(textMechRan, c))
	}
	list = append(list, ran...)
	if keys := m.Facts.AlsoRan(shown+strings.Join(ran, "\n"), room.Also); len(keys) > 0 {
		list = append(list, textMechAlso+notes.Line(strings.Join(keys, ", "), mechPage))
	}
	return list
}

func (m *mechanical) open(room notes.Room) []string {
	var list []string
	for _, item := range m.todo() {
		format := textMechTodo
		if item.Begun() {
			format = textMechBegun
		}
		list = append(list, entry(format, item.Text))
	}
	for _, item := range m.Left[:min(len(m.Left), room.Left)] {
		item.Text = notes.Line(item.Text, mechEntry)
		list = append(list, textMechLeft+item.String())
	}
	edited := map[string]bool{}
	for _, p := range m.Facts.Paths(transcript.Edited) {
		edited[m.short(p)] = true
	}
	dirty := slices.DeleteFunc(slices.Clone(m.Dirty), func(p string) bool { return edited[m.short(p)] })
	where := textMechDirty
	if m.Branch != "" {
		where = entry(textMechDirtyOn, m.Branch)
	}
	switch {
	case len(dirty) > 0 && len(dirty) < len(m.Dirty):
		list = append(list, where+textMechSome+notes.Some(dirty, room.Dirty, m.path))
	case len(dirty) > 0:
		list = append(list, where+notes.Some(dirty, room.Dirty, m.path))
	case len(m.Dirty) > 0:
		list = append(list, where+textMechAll)
	case m.Branch != "":
		list = append(list, entry(textMechBranch, m.Branch))
	}
	if answer := m.answer(); answer != "" {
		list = append(list, textMechAnswer+answer)
	}
	// The last request is the intent; "go on" alone would not say with what.
	if len(m.Facts.Prompts) > 1 {
		earlier := m.Facts.Prompts[1:]
		for _, p := range earlier[:min(len(earlier), room.Prompts)] {
			list = append(list, entry(textMechBefore, p.Text))
		}
	}
	return list
}

// next names the todo item in hand, else the next one, else the last request.
func (m *mechanical) next(prompt string) []string {
	if list := m.todo(); len(list) > 0 {
		return []string{entry(textMechGoOn, list[0].Text)}
	}
	if prompt != "" {
		return []string{textMechRequest + prompt}
	}
	return nil
}

// risks are the commands that failed and have not worked since: dead ends that
// nobody has to walk twice.
func (m *mechanical) risks(room notes.Room) []string {
	var list []string
	for _, c := range m.Facts.Failing(room.Failed) {
		line := command(textMechFailed, c.Text)
		if c.Output != "" {
			line += ": " + notes.Line(c.Output, room.Text(mechEntry))
		}
		list = append(list, line)
	}
	return list
}

// todo returns what is still to be done, what was begun first.
func (m *mechanical) todo() []transcript.Item {
	list := m.Facts.Open()
	return list[:min(len(list), mechTodo)]
}

// answer returns the beginning of the model's last answer.
func (m *mechanical) answer() string {
	lines := strings.SplitN(strings.TrimSpace(m.Facts.Answer), "\n", mechAnswer+1)
	return notes.Line(strings.Join(lines[:min(len(lines), mechAnswer)], " "), mechPrompt)
}

// path returns a path as an entry has it.
func (m *mechanical) path(p string) string { return notes.Line(m.short(p), mechEntry) }

// base is the directory that paths are written from.
func (m *mechanical) base() string {
	if m.root == "" {
		m.root = notes.Base(m.Facts, m.Project)
	}
	return m.root
}

// short returns a path below the base, or below ~, as people write it.
func (m *mechanical) short(p string) string {
	return cmp.Or(notes.Below(m.base(), p), redact.Dir(p, m.Home, "~"))
}

// left reads from the page that is replaced, which author wrote, what the sessions
// before left open.
func (m *mechanical) left(old, author string) []notes.OpenItem {
	written, err := time.Parse(time.RFC3339, notes.FrontValue(old, keyUpdated))
	if err != nil {
		written = m.Now
	}
	var items []notes.OpenItem
	add := func(text string) {
		item := notes.ParseItem(text)
		same := func(o notes.OpenItem) bool { return sameText(o.Text, item.Text) }
		if !saysNothing(item.Text) && !slices.ContainsFunc(items, same) {
			items = append(items, item)
		}
	}
	byProgram := isMechanical(old)
	for _, line := range slices.Concat(notes.Bullets(old, sectionOpen), notes.Bullets(old, sectionNext)) {
		if !byProgram {
			add(line)
			continue
		}
		// Of a mechanical page only what says that something is to be done.
		for _, format := range []string{textMechTodo, textMechBegun, textMechLeft, textMechGoOn, textMechRequest} {
			if text, ok := strings.CutPrefix(line, strings.TrimSuffix(format, "%s")); ok {
				add(text)
				break
			}
		}
	}
	return notes.Carry(items, author != m.Session, written.UTC().Format(time.DateOnly), func(text string) bool {
		return slices.ContainsFunc(m.Facts.Todo, func(i transcript.Item) bool {
			return sameText(notes.Line(i.Text, mechEntry), text)
		})
	})
}

// sameText reports whether two entries say the same, whatever case, spaces and
// punctuation they are written with.
func sameText(a, b string) bool {
	return slices.Equal(wordsOf(a), wordsOf(b))
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
