package term

import (
	"strings"
	"unicode"
)

// OneLine returns s with every run of white space and control characters
// turned into one space, so that it fits a "key: value" line or a list.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
}

// Line returns s on one line, as a terminal may be given it (Visible).
func Line(s string) string { return OneLine(Visible(s)) }

// Cut returns s if it takes at most n columns, else its longest beginning that
// does so with an ellipsis.
func Cut(s string, n int) string {
	used, end := 0, 0
	for i, r := range s {
		if used < n {
			end = i // an ellipsis still fits here
		}
		if used += width(r); used > n {
			return s[:end] + "…"
		}
	}
	return s
}

// Width returns how many columns s takes. Its line breaks and tabs count as
// nothing: see Line.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// Pad returns s with spaces behind it that make it n columns wide.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(n-Width(s), 0)) }

// wide are the characters that take two columns: the scripts of East Asia in
// full width, and emoji.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1},
		{Lo: 0x3041, Hi: 0xa4cf, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1},
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff01, Hi: 0xff60, Stride: 1},
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1},
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1faff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// width returns how many columns r takes.
func width(r rune) int {
	switch {
	case r < ' ':
		return 0
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// Wrap breaks s into lines of at most n columns, between words where it can.
// Line breaks of s stay.
func Wrap(s string, n int) []string {
	n = max(n, 2) // the widest character fits
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		for Width(line) > n {
			used, at, space := 0, 0, 0
			for i, r := range line {
				if used += width(r); used > n {
					if r == ' ' {
						space = i
					}
					at = i
					break
				}
				if r == ' ' {
					space = i
				}
			}
			if space > at/2 {
				at = space
			}
			out = append(out, strings.TrimRight(line[:at], " "))
			line = strings.TrimLeft(line[at:], " ")
		}
		out = append(out, line)
	}
	return out
}
