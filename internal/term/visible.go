// Package term decides what may reach a terminal: it knows what a terminal would
// obey instead of show, and how a text becomes one line. It reads nothing and
// writes nothing.
package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s as a terminal may be given it. What it would obey instead
// of showing stands there in print: control characters as their symbols (␛),
// and what turns the direction of the text around as an escape (\u202e). Line
// breaks and tabs stay.
//
// Anybody can have written what stands in a repository or in a recording.
func Visible(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, obeyed) < 0 {
		return s
	}
	var b strings.Builder
	// An invalid byte, of which some terminals make a C1 control, becomes U+FFFD.
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case !obeyed(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		default:
			const hex = "0123456789abcdef"
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&15])
			}
		}
	}
	return b.String()
}

// obeyed reports whether a terminal may act on r: a control character, or one
// of the bidirectional controls of Unicode.
func obeyed(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
