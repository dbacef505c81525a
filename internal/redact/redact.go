// Package redact takes secrets and the directories of this machine out of
// text. Whatever leaves a transcript for a file, a commit, a log or a terminal
// passes it, whole: half of a secret is still a secret, so redaction comes
// before any cut. docs/redaction.md says what is found and what is not.
//
// It needs nothing but package strings, and nothing of it runs at start-up:
// every hook links it, few call it.
package redact

import "strings"

const markOpen = "[redacted: "

// Count returns how many secrets have been taken out of s.
func Count(s string) int { return strings.Count(s, markOpen) }

// maxPasses bounds how often a text is read. Taking one secret out can bring
// another to light, but only a text made for it needs more than two passes.
const maxPasses = 8

// Text is s without its secrets, each replaced by [redacted: KIND] (case F62).
// It takes time linear in s, and doing it again changes nothing. What only
// might be a secret stays: commit ids, UUIDs, references to variables.
func Text(s string) string {
	for range maxPasses {
		clean := pass(s)
		if clean == s {
			break
		}
		s = clean
	}
	return s
}

func pass(s string) string {
	var out strings.Builder
	sc := scanner{s: s}
	for i := 0; i < len(s); {
		f := sc.at(i)
		if f.kind != "" {
			out.WriteString(s[sc.done:f.start] + markOpen + f.kind + "]")
			for at := i + 1; at < f.start; at++ {
				sc.cmd.step(s, at)
			}
			sc.done = f.end
		}
		i = max(i+1, f.end)
	}
	if sc.done == 0 {
		return s
	}
	return out.String() + s[sc.done:]
}

// found is a secret in a text. Without a kind it is none, and the text up to
// end has been looked at.
type found struct {
	start, end int
	kind       string
}

// scanner goes through a text once, from its beginning to its end. It looks
// ahead no further than look bytes before it decides, so that time is linear.
type scanner struct {
	s      string
	done   int     // end of what has been taken out
	escape int     // end of the last escaped character
	cmd    command // the command line that the text is in the middle of
}

const look = 1024

// at looks for a secret that the bytes at offset i announce: by their own form,
// or as the sign between a name and a value. Words are passed over whole, so
// an offset at a letter is one where a word begins.
func (sc *scanner) at(i int) found {
	s := sc.s
	sc.cmd.step(s, i)
	switch c := s[i]; {
	case alnum(c):
		return sc.word(i)
	case c == '[' && strings.HasPrefix(s[i:], markOpen):
		if end := strings.IndexByte(s[i:min(len(sc.s), i+look)], ']'); end > 0 {
			return found{end: i + end + 1}
		}
	case c == '[' && i > 0 && (s[i-1] == 0x1b || sc.escape == i):
		// A color for a terminal ends with a letter, and a word may follow.
		n := 1 + span(s[i+1:min(len(s), i+16)], func(c byte) bool { return digit(c) || c == ';' })
		sc.escape = i + n + span(s[i+n:min(len(s), i+n+1)], letter)
		return found{end: sc.escape}
	case c == '-':
		if f := privateKey(s, i, sc.done); f.end > 0 {
			return f
		}
		return sc.flag(i)
	case c == ':' && strings.HasPrefix(s[i:], "://"):
		return userinfo(s, i+len("://"))
	case c == ':':
		if f := telegram(s, i); f.end > 0 {
			return f
		}
		if f := pgpass(s, i); f.end > 0 {
			return f
		}
		return sc.assignment(i, 1)
	case c == '=' || c == '>':
		return sc.assignment(i, 1)
	case c == '%':
		return sc.escaped(i)
	case c == '\\':
		sc.escape = i + escape(s[i:])
		return found{end: sc.escape}
	case c == '/':
		if f := webhook(s, i); f.end > 0 {
			return f
		}
		return oracle(s, i)
	case c == '@':
		return driverDSN(s, i, sc.done)
	case c == '.':
		return terraform(s, i, sc.done)
	}
	return found{}
}

// escape returns how long the escape at the start of s is that stands for a
// character in JSON or code, so that a word can begin behind it.
func escape(s string) int {
	switch {
	case len(s) >= 6 && s[1] == 'u' && span(s[2:6], hexadecimal) == 4:
		return 6
	case len(s) >= 4 && (s[1] == 'x' || s[1] == '0') && alnum(s[2]) && alnum(s[3]):
		return 4
	case len(s) >= 2 && strings.IndexByte("nrt", s[1]) >= 0:
		return 2
	}
	return 1
}

func alnum(c byte) bool { return digit(c) || letter(c) }

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// wordChar reports whether c belongs to a base64url word.
func wordChar(c byte) bool { return alnum(c) || c == '_' || c == '-' }

func hexadecimal(c byte) bool { return digit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func base64(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' }

func blank(c byte) bool { return c == ' ' || c == '\t' }

// span returns how many bytes at the start of s are in the set.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// spanBack returns how many bytes at the end of s are in the set, at most most.
func spanBack(s string, most int, in func(byte) bool) int {
	n := 0
	for n < len(s) && n < most && in(s[len(s)-1-n]) {
		n++
	}
	return n
}

// among reports whether s is one of the words.
func among(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

// hasSuffix reports whether s ends with one of the words.
func hasSuffix(s string, words ...string) bool {
	for _, w := range words {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// traits are the kinds of characters that a text is made of.
type traits struct{ digit, lower, upper, inner, other bool }

func traitsOf(s string) (t traits) {
	for i := range len(s) {
		switch c := s[i]; {
		case digit(c):
			t.digit = true
		case c >= 'a' && c <= 'z':
			t.lower = true
		case c >= 'A' && c <= 'Z':
			t.upper = true
			t.inner = t.inner || i > 0
		default:
			t.other = true
		}
	}
	return t
}

// mixed reports whether s has digits and letters, as what a machine has made
// up nearly always has.
func mixed(s string) bool { t := traitsOf(s); return t.digit && (t.lower || t.upper) }

// wordlike reports whether s could be a word of a language: letters only, big
// ones at most at the start or everywhere.
func wordlike(s string) bool {
	t := traitsOf(s)
	return !t.digit && !t.other && !(t.lower && t.inner)
}
