package queue

import (
	"strings"
	"unicode/utf8"
)

// minText is how many characters a captured task has at least.
const minText = 3

// word is what every form of a request has in it.
const word = "later"

// Captures returns the tasks that a prompt asks to queue: what follows "later:",
// "for later:", "add to later:", "note for later:", "queue for later:" or
// "add this to later:" up to the end of the line, with P0 for "later[!]:". The
// words count where a line or a sentence begins, outside code blocks.
func Captures(prompt string) []Entry {
	if !mentions(prompt) {
		return nil
	}
	var found []Entry
	var fence string
	for l := range strings.Lines(prompt) {
		l = strings.TrimRight(l, "\r\n")
		if mark := fenceOf(l); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence):
				fence = ""
			}
			continue
		}
		if fence != "" || indent(l) > 3 {
			continue
		}
		if e, ok := captureLine(l); ok {
			found = append(found, e)
		}
	}
	return found
}

// mentions reports whether the word is in a prompt at all; nearly none has it.
func mentions(prompt string) bool {
	for at := 0; ; at++ {
		i := strings.IndexAny(prompt[at:], "lL")
		if i < 0 {
			return false
		}
		at += i
		if len(prompt)-at >= len(word) && strings.EqualFold(prompt[at:at+len(word)], word) {
			return true
		}
	}
}

// captureLine returns the task of one line, by the first request in it.
func captureLine(l string) (Entry, bool) {
	for at := 0; at < len(l); {
		start := at + len(l[at:]) - len(strings.TrimLeft(l[at:], " \t"))
		if rest, urgent, ok := cutRequest(l[start:]); ok {
			e := Entry{Priority: P1, Text: Clean(rest)}
			if urgent {
				e.Priority = P0
			}
			return e, utf8.RuneCountInString(e.Text) >= minText
		}
		end := sentenceEnd(l[start:])
		if end < 0 {
			return Entry{}, false
		}
		at = start + end
	}
	return Entry{}, false
}

// cutRequest returns what follows the words of a request at the beginning of s.
func cutRequest(s string) (rest string, urgent, ok bool) {
	for _, lead := range [...][2]string{{"", ""}, {"for", ""}, {"add", "to"}, {"note", "for"}, {"queue", "for"}} {
		rest, ok := cutWord(s, lead[0])
		if !ok {
			continue
		}
		if lead[1] != "" {
			for _, what := range [...]string{"this", "that", "it"} {
				if after, ok := cutWord(rest, what); ok {
					rest = after
					break
				}
			}
			if rest, ok = cutWord(rest, lead[1]); !ok {
				continue
			}
		}
		if len(rest) < len(word) || !strings.EqualFold(rest[:len(word)], word) {
			continue
		}
		rest = strings.TrimLeft(rest[len(word):], " \t")
		if after, found := strings.CutPrefix(rest, "[!]"); found {
			rest, urgent = strings.TrimLeft(after, " \t"), true
		}
		if rest, ok = strings.CutPrefix(rest, ":"); ok {
			return rest, urgent, true
		}
		urgent = false
	}
	return "", false, false
}

// cutWord returns s behind a word and the blanks after it; "" is no word.
func cutWord(s, want string) (string, bool) {
	if want == "" {
		return s, true
	}
	if len(s) <= len(want) || !strings.EqualFold(s[:len(want)], want) {
		return s, false
	}
	rest := strings.TrimLeft(s[len(want):], " \t")
	return rest, len(rest) < len(s)-len(want)
}

// sentenceEnd returns where the sentence after the first one of s begins, -1 where
// there is one only.
func sentenceEnd(s string) int {
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(".!?", s[i]) < 0 {
			continue
		}
		j := i + 1
		for j < len(s) && strings.IndexByte(`.!?"')`, s[j]) >= 0 {
			j++
		}
		if j < len(s) && (s[j] == ' ' || s[j] == '\t') {
			return j
		}
	}
	return -1
}

// fenceOf returns the marks of a line that begins or ends a code block.
func fenceOf(l string) string {
	if indent(l) > 3 {
		return ""
	}
	t := strings.TrimLeft(l, " ")
	for _, c := range "`~" {
		if n := len(t) - len(strings.TrimLeft(t, string(c))); n >= 3 {
			return t[:n]
		}
	}
	return ""
}

// indent returns how many columns of blanks a line begins with.
func indent(l string) int {
	n := 0
	for _, c := range l {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 4
		default:
			return n
		}
	}
	return n
}
