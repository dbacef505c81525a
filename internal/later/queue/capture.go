package queue

import (
	"slices"
	"strings"
)

// word is what every form of a request has in it.
const word = "later"

// Requests is what a prompt asks to queue.
type Requests struct {
	Tasks  []Entry
	Short  int // how many were left out since they are too short
	Pasted int // how many were left out since they stand in pasted text
}

// None reports whether a prompt asks for nothing.
func (r Requests) None() bool { return len(r.Tasks) == 0 && r.Short == 0 && r.Pasted == 0 }

// Captures returns what a prompt asks to queue: what follows "later:", "for
// later:", "add to later:", "note for later:", "queue for later:" or "add this to
// later:" up to the end of the line, with P0 for "later[!]:". The words count where
// a line or a sentence begins, outside code blocks and outside of what the host
// marks as not typed.
func Captures(prompt string) (found Requests) {
	if !mentions(prompt) {
		return found
	}
	typed := typedOnly(prompt)
	found.collect(prompt, typed)
	if typed != prompt {
		var all Requests
		all.collect(prompt, prompt)
		found.Pasted = max(found.Pasted, len(all.Tasks)-len(found.Tasks))
	}
	return found
}

// collect adds the requests that stand in typed, which is as long as the prompt,
// with their text from there.
func (r *Requests) collect(prompt, typed string) {
	var fence string
	at := 0
	for l := range strings.Lines(typed) {
		whole := strings.TrimRight(prompt[at:at+len(l)], "\r\n")
		at += len(l)
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
		said, start, ok := captureLine(l)
		if !ok {
			continue
		}
		whole = whole[start:]
		for _, name := range notTyped {
			if i := strings.Index(whole, "<"+name); i >= 0 {
				whole = whole[:i]
				r.Pasted++
			}
		}
		switch e := EntryOf(whole, said); {
		case e.Length() < MinText:
			r.Short++
		default:
			if text := []rune(e.Text); len(text) > MaxText {
				e.Text, e.Cut = strings.TrimSpace(string(text[:MaxText])), true
			}
			r.Tasks = append(r.Tasks, e)
		}
	}
}

// notTyped are the marks around text that somebody else wrote, whatever its end.
var notTyped = []string{"pasted_content", "system-reminder", "task-notification"}

// maxOpen is how many elements of different names a prompt may leave open.
const maxOpen = 100

// typedOnly returns a prompt with blanks in the place of every element in it:
// what the host or the person puts between marks is not theirs.
func typedOnly(prompt string) string {
	var out []byte
	open := map[string]bool{} // names of what is never closed from here on
	for at := 0; ; {
		i := strings.IndexByte(prompt[at:], '<')
		if i < 0 {
			break
		}
		at += i
		name := prompt[at+1:]
		name = name[:len(name)-len(strings.TrimLeftFunc(name, isName))]
		if name == "" || open[name] {
			at++
			continue
		}
		end := len(prompt)
		if len(open) < maxOpen { // else nobody has typed what follows
			if i := strings.Index(prompt[at:], "</"+name+">"); i >= 0 {
				end = at + i + len(name) + 3
			} else if !slices.Contains(notTyped, name) {
				open[name] = true
				at++
				continue
			}
		}
		if out == nil {
			out = []byte(prompt)
		}
		for ; at < end; at++ {
			if out[at] != '\n' {
				out[at] = ' '
			}
		}
	}
	if out == nil {
		return prompt
	}
	return string(out)
}

func isName(r rune) bool {
	return r == '-' || r == '_' || 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9'
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

// captureLine returns the priority that the first request in a line says, and where
// the text of the task begins.
func captureLine(l string) (said Priority, text int, ok bool) {
	for at := 0; at < len(l); {
		start := at + len(l[at:]) - len(strings.TrimLeft(l[at:], " \t"))
		if rest, urgent, ok := cutRequest(l[start:]); ok {
			said := Unsaid
			if urgent {
				said = P0
			}
			return said, len(l) - len(rest), true
		}
		end := sentenceEnd(l[start:])
		if end < 0 {
			break
		}
		at = start + end
	}
	return Unsaid, 0, false
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
