package reload

import (
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// The four sections of a digest, in its order.
const (
	sectionDone = "Done this stretch"
	sectionOpen = "In flight"
	sectionNext = "Next concrete step"
	sectionRisk = "Open questions & risks"
)

// survivors are the sections that outlive the cut of a digest that is too
// long for the host, the most important first; the frontmatter with the
// intent goes before them all.
var survivors = []string{sectionNext, sectionOpen, sectionRisk}

// Keys of a digest's frontmatter.
const (
	keyOwner   = "session_id"
	keyUpdated = "updated_at"
	keyIntent  = "intent"
)

// mechanicalMark opens the intent of a digest that no model has had a hand in.
const mechanicalMark = "(mechanical"

// readDigest returns the digest, false when there is nothing to hand over. What
// cannot be read, is larger than any digest is, or is no file, is an error that
// says what to do about it.
func readDigest(from state.Reader) (doc string, ok bool, err error) {
	return readPage(from, digestFile)
}

// readPage is readDigest for the digest or a copy that was set aside.
func readPage(from state.Reader, name string) (doc string, ok bool, err error) {
	switch from.Kind(name) {
	case state.Absent:
		return "", false, nil
	case state.Other:
		return "", false, from.NotRegular(name)
	}
	data, err := from.Read(name, maxFile)
	if err != nil {
		return "", false, errUnread{err}
	}
	return string(data), strings.TrimSpace(string(data)) != "", nil
}

// pageOf returns the file of what was armed: the digest, or a copy of it.
func pageOf(a handover.Arm) string {
	if strings.HasPrefix(a.Item, sidePrefix) && owns(a.Item) && filepath.Base(a.Item) == a.Item {
		return a.Item
	}
	return digestFile
}

// errUnread is why the digest is not read.
type errUnread struct{ cause error }

func (e errUnread) Error() string { return textUnread(e.cause) }
func (e errUnread) Unwrap() error { return e.cause }

// stampDigest returns doc with the session that owns it and the time in its
// frontmatter; an empty owner leaves the one it names. A document without
// frontmatter gets one, unless it begins like one that was never closed. The
// body keeps its bytes. What a model writes is no longer mechanical.
func stampDigest(doc, owner string, now time.Time) string {
	if !notes.HasFront(doc) {
		if strings.HasPrefix(strings.TrimPrefix(doc, "\ufeff"), "---") {
			return doc
		}
		doc = notes.WithFront(doc, keyOwner, "", keyUpdated, "", keyIntent, "")
	}
	if owner != "" {
		doc, _ = notes.SetFront(doc, keyOwner, owner)
	}
	doc, _ = notes.SetFront(doc, keyUpdated, now.UTC().Format(time.RFC3339))
	if isMechanical(doc) {
		doc, _ = notes.SetFront(doc, keyIntent, requested(doc))
	}
	return doc
}

// authorOf returns the session that wrote the digest doc, which was written at the
// time wrote. The one it has been handed to since owns it.
func authorOf(from state.Reader, doc string, wrote time.Time) string {
	if used := state.ReadPairs(from, usedFile); used.Get(keyUsed) == nanoseconds(wrote) && used.Get(keyAuthor) != "" {
		return used.Get(keyAuthor)
	}
	return notes.FrontValue(doc, keyOwner)
}

// setOwner names the session that carries the thread from here on in the page
// called name, where it can say so, and keeps the time of the file: nothing new
// is in it.
func setOwner(tx *state.Tx, name, doc, session string) (string, error) {
	owned, ok := notes.SetFront(doc, keyOwner, session)
	if !ok || session == "" || owned == doc {
		return doc, nil
	}
	_, wrote := tx.Stat(name)
	if err := tx.Write(name, []byte(owned)); err != nil {
		return doc, err
	}
	if err := tx.SetTime(name, wrote); err != nil || name != digestFile {
		return owned, err
	}
	return owned, handedOver(tx)
}

// missing lists what a digest lacks: its intent, and those of the four
// sections that are not there or say nothing at all.
func missing(doc string) []string {
	var list []string
	if notes.FrontValue(doc, keyIntent) == "" {
		list = append(list, keyIntent)
	}
	for _, title := range []string{sectionDone, sectionOpen, sectionNext, sectionRisk} {
		if text, ok := notes.Section(doc, title); !ok || strings.TrimSpace(text) == "" {
			list = append(list, title)
		}
	}
	return list
}

// requested returns the request that a mechanical digest has for its intent.
func requested(doc string) string {
	_, request, _ := strings.Cut(notes.FrontValue(doc, keyIntent), ")")
	return strings.TrimSpace(request)
}

// isMechanical reports whether a program wrote the digest.
func isMechanical(doc string) bool {
	return strings.HasPrefix(notes.FrontValue(doc, keyIntent), mechanicalMark)
}

// thinWords is how many words a page without any of the four sections needs to
// say something.
const thinWords = 4

// isThin reports whether a digest says nothing that a new session can use: it is
// empty, a title, the placeholders of the form, or "none" throughout.
func isThin(doc string) bool {
	for _, title := range []string{sectionDone, sectionOpen, sectionNext, sectionRisk} {
		if text, ok := notes.Section(doc, title); ok && words(text) > 0 {
			return false
		}
	}
	return words(notes.Body(doc)) < thinWords
}

// words counts those of the lines that say something. Scripts that set no spaces
// count by the letter.
func words(text string) (n int) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || saysNothing(line) {
			continue
		}
		for _, word := range wordsOf(line) {
			if n++; word[0] >= 0x80 {
				n += utf8.RuneCountInString(word) / 2
			}
		}
	}
	return n
}

// wordsOf splits a line at everything that is neither letter nor digit.
func wordsOf(line string) []string {
	return strings.FieldsFunc(strings.ToLower(line), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// saysNothing reports whether a line is filler, such as "- none" or
// "(nothing in flight)", or a placeholder: one in brackets, or one of the form
// that the model was given.
func saysNothing(line string) bool {
	words := wordsOf(line)
	if len(words) == 0 || isPlaceholder(strings.TrimLeft(line, "-*+ \t"), words) {
		return true
	}
	switch words[0] {
	case "nothing", "none", "unknown", "n", "na", "tbd", "todo", "empty", "placeholder":
		return len(words) <= 4
	case "no":
		return !slices.ContainsFunc(words[1:], func(w string) bool { return !slices.Contains(nothingOpen, w) })
	}
	return false
}

// nothingOpen are the words of lines such as "No open questions or risks yet."
var nothingOpen = []string{"thing", "open", "question", "questions", "risk", "risks", "issue", "issues", "blockers", "known", "or", "and", "yet", "work", "in", "flight", "progress", "changes"}

// isPlaceholder reports whether a line waits to be filled in.
func isPlaceholder(line string, words []string) bool {
	if n := len(line) - 1; n > 0 && len(words) <= 12 {
		for _, pair := range []string{"<>", "[]", "{}"} {
			if line[0] == pair[0] && line[n] == pair[1] {
				return true
			}
		}
	}
	return slices.Contains(textForm, strings.Join(words, " "))
}

// firstLine returns the first line of a section that says something, without
// its bullet, "" when there is none.
func firstLine(doc, title string) string {
	text, _ := notes.Section(doc, title)
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*+> \t")
		if line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
			return line
		}
	}
	return ""
}

// Characters of each part of the banner.
const (
	bannerIntent = 90
	bannerPart   = 70
	bannerNext   = 110
)

// banner is the line that tells a person what was picked up.
func banner(doc string, old time.Duration) string {
	said := func(title string) string {
		line := firstLine(doc, title)
		if saysNothing(line) {
			return ""
		}
		return notes.Line(line, bannerPart)
	}
	age := ""
	if old >= oldDigest {
		age = notes.Age(int(old.Seconds()))
	}
	if isMechanical(doc) {
		return textBanner(age, strings.TrimSpace(notes.Line(requested(doc), bannerIntent)+textByProgram), "", "", notes.Line(firstLine(doc, sectionNext), bannerNext))
	}
	return textBanner(age,
		notes.Line(notes.FrontValue(doc, keyIntent), bannerIntent),
		said(sectionDone),
		said(sectionOpen),
		notes.Line(firstLine(doc, sectionNext), bannerNext),
	)
}

// forContext puts a digest into the form in which the next session gets it.
func forContext(doc, path string) string { return pageFor(doc, path).Context() }

func pageFor(doc, path string) notes.Page {
	return notes.Page{
		Intro: textIntro(notes.Line(notes.FrontValue(doc, keyUpdated), 40), isMechanical(doc)),
		Doc:   doc,
		First: survivors,
		Rest:  func(left int) string { return textRest(path, left) },
	}
}

// maxCompact is the most that is handed over after a compaction, in characters:
// the host's own summary is in the context by then.
const maxCompact = 2_500

// afterCompact is forContext for a session that has a summary already. It is given
// what that may have lost, if the digest has any of it.
func afterCompact(doc, path string) string {
	p := pageFor(doc, path)
	p.Max = maxCompact
	short := ""
	for _, title := range survivors {
		if text, ok := notes.Section(doc, title); ok && strings.TrimSpace(text) != "" {
			text, _ = notes.Fit(text, maxCompact/4) // none crowds out another
			short += "\n## " + title + "\n" + strings.TrimRight(text, "\n") + "\n"
		}
	}
	if short != "" {
		p.Doc = "intent: " + notes.FrontValue(doc, keyIntent) + "\n" + short
		p.Left = max(1, host.Len(doc)-host.Len(p.Doc))
	}
	return p.Context()
}

// oldDigest is the age from which the banner mentions it.
const oldDigest = 24 * time.Hour

// written returns when a digest was written, by its own word or that of its file,
// whichever is longer ago.
func written(doc string, wrote time.Time) time.Time {
	if at, err := time.Parse(time.RFC3339, notes.FrontValue(doc, keyUpdated)); err == nil && at.Before(wrote) {
		return at
	}
	return wrote
}
