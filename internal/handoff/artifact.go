package handoff

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Keys of an artifact's frontmatter.
const (
	keyID       = "handoff_id"
	keySession  = "session_id"
	keyKind     = "type"
	keyBranch   = "branch"
	keyCommit   = "commit"
	keyTime     = "time"
	keyRedacted = "redacted"
)

// Limits of the document, so that it is handed over whole as a rule: entries
// of a list, and characters of one.
const (
	maxCommands = 5
	maxTodo     = 25
	promptText  = 700
	answerText  = 900
	outputText  = 300
	lineText    = 160
	maxPage     = 2750 // characters, unless what is still to be done needs more
)

// document is all that an artifact is made of.
type document struct {
	ID      string
	Session string
	At      place
	Time    time.Time
	Git     gitFacts
	Facts   transcript.Facts
	Left    []notes.OpenItem // what earlier sessions left open
	Home    string
	// Headings are the titles of the sections.
	Headings []string

	root string // what base returned
}

// Page returns the document of a session of which only the facts are known: what
// git and earlier sessions would add is not in it.
func Page(facts transcript.Facts, home string, now time.Time) string {
	d := document{
		ID: "-", Session: "-", At: place{Kind: SingleTask, Top: facts.Cwd}, Time: now,
		Git: gitFacts{Err: git.ErrNoRepo}, Facts: facts, Home: home, Headings: headings[0],
	}
	text, _ := d.render()
	return text
}

// render returns the artifact and how many secrets were taken out of it.
func (d *document) render() (text string, redacted int) {
	body := notes.Fill(maxPage, d.body)
	// Each piece is clean already; this is for what only shows in their midst.
	body = redact.Text(strings.TrimSuffix(body, "\n"))
	redacted = redact.Count(body)
	if redacted > 0 {
		body += "\n" + fmt.Sprintf(textRedacted, plural(redacted, "secret was", "secrets were")) + "\n"
	}
	front := "---\n---\n"
	for _, kv := range [][2]string{
		{keyID, d.ID},
		{keySession, d.Session},
		{keyKind, string(d.At.Kind)},
		{keyBranch, d.clean(d.Git.Status.Branch)},
		{keyCommit, d.Git.Status.Commit},
		{keyTime, d.Time.UTC().Format(time.RFC3339)},
		{keyRedacted, fmt.Sprint(redacted)},
	} {
		front, _ = notes.SetFront(front, kv[0], kv[1])
	}
	return front + "\n" + body, redacted
}

// body returns the sections, with as much in them as there is room for.
func (d *document) body(room notes.Room) string {
	var body string
	for i, lines := range []func(notes.Room) []string{d.why, d.status, d.goOn, d.command, d.push, d.verify, d.gotchas} {
		body += section(d.Headings[i], lines(room))
	}
	if terms := d.Facts.Terms(body, room.Terms); len(terms) > 0 {
		title := "## " + d.Headings[secContinue] + "\n\n"
		body = strings.Replace(body, title, title+textTerms+d.line(strings.Join(terms, ", "), maxPage)+"\n\n", 1)
	}
	return body
}

func section(title string, lines []string) string {
	if len(lines) == 0 {
		lines = []string{textNothing}
	}
	return "## " + title + "\n\n" + strings.Join(lines, "\n") + "\n\n"
}

// clean takes secrets and the home directory out of a text. It comes before
// any cut or quote, which could hide half of a secret from it.
func (d *document) clean(s string) string { return redact.Dir(redact.Text(s), d.Home, "~") }

// line is a text as one line of at most n characters.
func (d *document) line(s string, n int) string { return notes.Line(d.clean(s), n) }

// code is a text as inline code.
func (d *document) code(s string, n int) string {
	return "`" + strings.ReplaceAll(d.line(s, n), "`", "'") + "`"
}

// quote returns a text as a block quote, in which no line can pass for a
// heading of ours.
func (d *document) quote(s string, n int) []string {
	s = strings.TrimSpace(d.clean(s))
	var out []string
	for l := range strings.SplitSeq(host.Cut(s, n), "\n") {
		out = append(out, strings.TrimRight("> "+notes.Line(l, n), " "))
	}
	return out
}

func (d *document) why(room notes.Room) []string {
	prompts := d.Facts.Prompts
	if len(prompts) == 0 {
		return []string{textNoPrompts}
	}
	out := append([]string{textLastPrompt, ""}, d.quote(prompts[0].Text, room.Text(promptText))...)
	if earlier := first(prompts[1:], room.Prompts); len(earlier) > 0 {
		out = append(out, "", textEarlier)
		for _, p := range earlier {
			out = append(out, "- "+d.line(p.Text, lineText))
		}
	}
	return out
}

func (d *document) status(room notes.Room) []string {
	var out []string
	if d.Git.Err != nil {
		out = append(out, "- "+d.clean(textGit(d.Git)))
	} else {
		out = append(out, "- "+d.clean(textBranch(d.Git)))
		if d.Git.Operation != "" {
			out = append(out, "- "+fmt.Sprintf(textOperation, d.Git.Operation))
		}
		out = append(out, d.changes(room)...)
		if len(d.Git.Log) > 0 {
			out = append(out, "- "+textCommits)
			for _, c := range d.Git.Log {
				out = append(out, "  - `"+c.ID+"` "+d.line(c.Subject, lineText))
			}
		}
	}
	if base := d.base(); base != d.At.Top {
		out = append(out, "- "+fmt.Sprintf(textBase, d.code(base, lineText)))
	}
	for _, line := range notes.Touched(d.Facts, room, "`", d.path) {
		out = append(out, "- "+line)
	}
	return out
}

// changes lists the files that differ from the last commit, with their lines.
func (d *document) changes(room notes.Room) []string {
	files := d.Git.dirty()
	if len(files) == 0 {
		return []string{"- " + textClean}
	}
	out := []string{"- " + textDirty(len(files), d.Git.Status.Cut)}
	for i, f := range files {
		if i == room.Dirty {
			out = append(out, "  - "+fmt.Sprintf(textMore, len(files)-i))
			break
		}
		out = append(out, "  - "+d.code(f.Path, lineText)+": "+d.change(f))
	}
	return out
}

func (d *document) change(f git.File) string {
	how := textFile(f)
	i := slices.IndexFunc(d.Git.Changes, func(c git.Change) bool { return c.Path == f.Path })
	if i < 0 {
		return how
	}
	if c := d.Git.Changes[i]; !c.Binary {
		how += fmt.Sprintf(", +%d −%d", c.Added, c.Deleted)
	}
	return how
}

func (d *document) goOn(room notes.Room) []string {
	var out []string
	open := d.Facts.Open()
	for i, item := range open {
		if i == maxTodo {
			out = append(out, "- "+fmt.Sprintf(textMore, len(open)-i))
			break
		}
		text := openMark + d.line(item.Text, lineText)
		if item.Begun() {
			text += textBegun
		}
		out = append(out, text)
	}
	for _, item := range first(d.Left, room.Left) {
		item.Text = d.line(item.Text, lineText)
		out = append(out, openMark+item.String())
	}
	if len(out) == 0 {
		out = append(out, textNoTodo)
	}
	if d.Facts.Answer != "" {
		out = append(out, "", textAnswer, "")
		out = append(out, d.quote(d.Facts.Answer, room.Text(answerText))...)
	}
	return out
}

// openMark begins the line of something that is still to be done.
const openMark = "- [ ] "

// left reads from an earlier document what its session left open.
func (d *document) left(old string) []notes.OpenItem {
	title := ""
	for _, titles := range headings {
		if _, ok := notes.Section(old, titles[secContinue]); ok {
			title = titles[secContinue]
		}
	}
	text, _ := notes.Section(old, title)
	var items []notes.OpenItem
	for line := range strings.Lines(text) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), strings.TrimSpace(openMark)+" "); ok {
			items = append(items, notes.ParseItem(strings.TrimSuffix(text, textBegun)))
		}
	}
	since, _, _ := strings.Cut(notes.FrontValue(old, keyTime), "T")
	return notes.Carry(items, notes.FrontValue(old, keySession) != d.Session, since, func(text string) bool {
		return slices.ContainsFunc(d.Facts.Todo, func(i transcript.Item) bool { return d.line(i.Text, lineText) == text })
	})
}

// command is one that shows where things stand and changes nothing, in any shell
// that the host has: ls has no options in PowerShell.
func (d *document) command(notes.Room) []string {
	if d.Git.absent() {
		return []string{"```sh", "ls", "```"}
	}
	return []string{"```sh", "git status --short --branch", "```"}
}

// isCheck reports whether a command line holds a word that says so.
func isCheck(command string) bool {
	if programs := shell.Commands(command); len(programs) > 0 && strings.HasPrefix(programs[len(programs)-1].Key(), "git ") {
		return false // whatever a commit's message says
	}
	return slices.ContainsFunc(words(strings.ToLower(command)), func(w string) bool {
		return slices.Contains([]string{"test", "tests", "pytest", "vitest", "jest", "check", "lint", "vet", "build", "clippy", "tsc", "typecheck", "verify"}, w)
	})
}

func (d *document) push(notes.Room) []string { return []string{textPushPolicy(d.Git)} }

func (d *document) verify(room notes.Room) []string {
	var out []string
	list := func(failed bool, word string) {
		n := 0
		for i, c := range d.Facts.Commands {
			// Only the newest run of a command says how things stand.
			same := func(o transcript.Command) bool { return o.Text == c.Text }
			if n < min(maxCommands, room.Failed) && c.Failed == failed && isCheck(c.Text) && !slices.ContainsFunc(d.Facts.Commands[:i], same) {
				n++
				out = append(out, "- "+word+d.code(c.Text, lineText))
			}
		}
	}
	list(false, textPassed)
	list(true, textFails)
	if len(out) == 0 {
		out = append(out, textNoChecks)
	}
	for _, c := range d.Facts.Ran(room.Ran) {
		if !strings.Contains(strings.Join(out, "\n"), d.code(c, lineText)) {
			out = append(out, "- "+textRan+d.code(c, lineText))
		}
	}
	if keys := d.Facts.AlsoRan(strings.Join(out, "\n"), room.Also); len(keys) > 0 {
		out = append(out, "- "+textAlso+d.line(strings.Join(keys, ", "), maxPage))
	}
	return out
}

// first returns the first n entries of a list.
func first[T any](list []T, n int) []T { return list[:min(len(list), n)] }

func (d *document) gotchas(room notes.Room) []string {
	var out []string
	for _, c := range d.Facts.Failing(min(maxCommands, room.Failed)) {
		line := "- " + textFailed + d.code(c.Text, lineText)
		if said := d.line(c.Output, room.Text(outputText)); said != "" {
			line += ": " + said
		}
		out = append(out, line)
	}
	if d.Git.Repo != nil {
		if d.Git.Repo.Submodule {
			out = append(out, "- "+textSubmodule)
		}
		if d.Git.Repo.Linked() {
			out = append(out, "- "+textLinked)
		}
	}
	return out
}

// base is the directory that paths are written from.
func (d *document) base() string {
	if d.root == "" {
		d.root = notes.Base(d.Facts, d.At.Top)
	}
	return d.root
}

// path returns a path as people read it, below the top or below ~.
func (d *document) path(p string) string {
	if rel := notes.Below(d.base(), p); rel != "" {
		p = filepath.ToSlash(rel)
	}
	return strings.ReplaceAll(d.line(p, lineText), "`", "'")
}
