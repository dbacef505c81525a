// Package term decides what may reach a terminal: it knows what a terminal would
// obey instead of show, what nobody could see, how wide a text is, and how it
// becomes one line. It reads nothing and writes nothing.
package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as a terminal may be given it. What it would obey instead
// of showing stands there in print: control characters as their symbols (␛),
// and what turns the direction of the text around, or takes up no place at all,
// as an escape (\u202e). Line breaks, tabs and what joins two characters stay.
//
// Anybody can have written what stands in a repository or in a recording.
func Visible(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	// An invalid byte, of which some terminals make a C1 control, becomes U+FFFD.
	runes := []rune(strings.ReplaceAll(s, "\r\n", "\n"))
	for i, r := range runes {
		switch {
		case !hidden(r), i > 0 && i+1 < len(runes) && Joins(runes[i-1], r, runes[i+1]):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// invisible are the characters of Unicode that show nothing where they stand,
// so that a text could say one thing to its reader and another to a program:
// format characters (those of zero width, the directions, the soft hyphen, the
// tags), fillers, the line and paragraph separators, and the variation selectors
// beyond those of emoji.
var invisible = []*unicode.RangeTable{
	unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Zl, unicode.Zp, supplement,
}

var supplement = &unicode.RangeTable{R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}}

// Joins reports whether r is a zero-width joiner, or non-joiner, at its place: between
// two characters such as those of which emoji and the scripts of Asia make one. In
// ASCII it would only hide.
func Joins(before, r, after rune) bool {
	if r != '\u200c' && r != '\u200d' {
		return false
	}
	joinable := func(r rune) bool { return r >= utf8.RuneSelf && !hidden(r) && !unicode.IsSpace(r) }
	return joinable(before) && joinable(after)
}

// hidden reports whether r would be obeyed by a terminal, or not be seen.
func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x7f:
		return r < ' '
	}
	return unicode.IsControl(r) || unicode.In(r, invisible...) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}
