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
	"github.com/ccreload/ccreload/internal/state"
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
	maxPrompts  = 4
	maxFiles    = 15
	maxCommands = 5
	maxTodo     = 12
	promptText  = 700
	answerText  = 900
	outputText  = 300
	lineText    = 160
)

// document is all that an artifact is made of.
type document struct {
	ID      string
	Session string
	At      place
	Time    time.Time
	Git     gitFacts
	Facts   transcript.Facts
	Home    string
	// Headings are the titles of the sections.
	Headings []string
}

// render returns the artifact and how many secrets were taken out of it.
func (d *document) render() (text string, redacted int) {
	var body string
	for i, lines := range []func() []string{d.why, d.status, d.goOn, d.first, func() []string { return []string{textPushPolicy(d.Git)} }, d.verify, d.gotchas} {
		body += section(d.Headings[i], lines())
	}
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

func (d *document) why() []string {
	prompts := d.Facts.Prompts
	if len(prompts) == 0 {
		return []string{textNoPrompts}
	}
	last := prompts[len(prompts)-1]
	out := append([]string{textLastPrompt, ""}, d.quote(last.Text, promptText)...)
	if earlier := newest(prompts[:len(prompts)-1], maxPrompts); len(earlier) > 0 {
		out = append(out, "", textEarlier)
		for _, p := range earlier {
			out = append(out, "- "+d.line(p.Text, lineText))
		}
	}
	return out
}

func (d *document) status() []string {
	var out []string
	if d.Git.Err != nil {
		out = append(out, "- "+d.clean(textGit(d.Git)))
	} else {
		out = append(out, "- "+d.clean(textBranch(d.Git)))
		if d.Git.Operation != "" {
			out = append(out, "- "+fmt.Sprintf(textOperation, d.Git.Operation))
		}
		out = append(out, d.changes()...)
		if len(d.Git.Log) > 0 {
			out = append(out, "- "+textCommits)
			for _, c := range d.Git.Log {
				out = append(out, "  - `"+c.ID+"` "+d.line(c.Subject, lineText))
			}
		}
	}
	if n := len(d.Facts.Edited); n > 0 {
		out = append(out, "- "+textEdited+d.paths(d.Facts.Edited))
	}
	return out
}

// changes lists the files that differ from the last commit, with their lines.
func (d *document) changes() []string {
	files := d.Git.dirty()
	if len(files) == 0 {
		return []string{"- " + textClean}
	}
	out := []string{"- " + textDirty(len(files), d.Git.Status.Cut)}
	for i, f := range files {
		if i == maxFiles {
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

func (d *document) goOn() []string {
	var out []string
	open := slices.DeleteFunc(slices.Clone(d.Facts.Todo), func(i transcript.Item) bool { return i.Status == "completed" })
	slices.SortStableFunc(open, func(a, b transcript.Item) int { return begun(b) - begun(a) })
	for i, item := range open {
		if i == maxTodo {
			out = append(out, "- "+fmt.Sprintf(textMore, len(open)-i))
			break
		}
		out = append(out, "- [ ] "+d.line(item.Text, lineText)+strings.Repeat(textBegun, begun(item)))
	}
	if len(open) == 0 {
		out = append(out, textNoTodo)
	}
	if d.Facts.Answer != "" {
		out = append(out, "", textAnswer, "")
		out = append(out, d.quote(d.Facts.Answer, answerText)...)
	}
	return out
}

// begun is 1 for an item that is being worked on.
func begun(i transcript.Item) int {
	if i.Status == "in_progress" {
		return 1
	}
	return 0
}

// first is a command that shows where things stand and changes nothing.
func (d *document) first() []string {
	if d.Git.absent() {
		return []string{"```sh", "ls -la", "```"}
	}
	return []string{"```sh", "git status --short --branch", "```"}
}

// lastRuns returns the commands whose newest run failed, or those whose newest
// run did not, oldest first.
func lastRuns(list []transcript.Command, failed bool) []transcript.Command {
	var out []transcript.Command
	for _, c := range list {
		out = slices.DeleteFunc(out, func(o transcript.Command) bool { return o.Text == c.Text })
		if c.Failed == failed {
			out = append(out, c)
		}
	}
	return out
}

// isCheck reports whether a command line holds a word that says so.
func isCheck(command string) bool {
	return slices.ContainsFunc(words(strings.ToLower(command)), func(w string) bool {
		return slices.Contains([]string{"test", "tests", "pytest", "vitest", "jest", "check", "lint", "vet", "build", "clippy", "tsc", "typecheck", "verify"}, w)
	})
}

func (d *document) verify() []string {
	var out []string
	list := func(failed bool, word string) {
		runs := slices.DeleteFunc(lastRuns(d.Facts.Commands, failed), func(c transcript.Command) bool { return !isCheck(c.Text) })
		for _, c := range newest(runs, maxCommands) {
			out = append(out, "- "+word+d.code(c.Text, lineText))
		}
	}
	list(false, textPassed)
	list(true, textFails)
	if len(out) == 0 {
		out = append(out, textNoChecks)
	}
	return out
}

// newest returns the last n entries of a list.
func newest[T any](list []T, n int) []T { return list[max(0, len(list)-n):] }

func (d *document) gotchas() []string {
	var out []string
	for _, c := range newest(lastRuns(d.Facts.Commands, true), maxCommands) {
		line := "- " + textFailed + d.code(c.Text, lineText)
		if said := d.line(c.Output, outputText); said != "" {
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

// paths lists the newest of some files as people read them: below the top, or
// below ~.
func (d *document) paths(all []string) string {
	var out []string
	for _, p := range newest(all, maxFiles) {
		if rel, ok := state.Below(d.At.Top, p); ok && filepath.IsAbs(p) {
			p = filepath.ToSlash(rel)
		}
		out = append(out, d.code(p, lineText))
	}
	if more := len(all) - len(out); more > 0 {
		out = append(out, fmt.Sprintf(textMore, more))
	}
	return strings.Join(out, ", ")
}
