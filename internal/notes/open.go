package notes

import (
	"strings"
)

// OpenItem is something that a session left undone.
type OpenItem struct {
	Text  string
	Since string // the day it was written down, "2026-11-30"
	Times int    // how often it has been carried over since
}

// MaxCarried is how often an item is carried over: what two sessions in a row
// have not touched has no place in the page of a third.
const MaxCarried = 2

const (
	carriedOnce  = ", one session ago"
	carriedTwice = ", two sessions ago"
)

// String returns the item with its age, as ParseItem reads it.
func (i OpenItem) String() string {
	mark := carriedOnce
	if i.Times > 1 {
		mark = carriedTwice
	}
	return i.Text + " (open since " + i.Since + mark + ")"
}

// ParseItem reads an item that may have been carried over before.
func ParseItem(line string) OpenItem {
	text, age, ok := cutLast(line, " (open since ")
	if ok {
		if since, ok := strings.CutSuffix(age, carriedTwice+")"); ok {
			return OpenItem{text, since, 2}
		}
		if since, ok := strings.CutSuffix(age, carriedOnce+")"); ok {
			return OpenItem{text, since, 1}
		}
	}
	return OpenItem{Text: line}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// Carry returns what is to be carried over of items into a page of a session. An
// item that was written down by another session, on the day since, has been carried
// over once more. Gone are those that are too old, and those that closed, or a
// list of the session's own that it is in, names.
func Carry(items []OpenItem, another bool, since string, known func(text string) bool) []OpenItem {
	var carried []OpenItem
	for _, item := range items {
		switch {
		case item.Times == 0 && !another:
			continue // the session says itself what it left open
		case item.Times == 0:
			item.Since = since
		}
		if another {
			item.Times++
		}
		if item.Times <= MaxCarried && !known(item.Text) {
			carried = append(carried, item)
		}
	}
	return carried
}

// Bullets returns the items of the lists of a section, without their marks.
func Bullets(doc, title string) []string {
	text, _ := Section(doc, title)
	var list []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, mark := range [...]string{"- [ ] ", "- ", "* ", "+ "} {
			if rest, ok := strings.CutPrefix(line, mark); ok {
				list = append(list, strings.TrimSpace(rest))
				break
			}
		}
	}
	return list
}
