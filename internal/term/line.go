package term

import "strings"

// OneLine returns s with every run of white space and control characters
// turned into one space, so that it fits a "key: value" line or a list.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return r <= ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == '\u2028' || r == '\u2029'
	}), " ")
}
