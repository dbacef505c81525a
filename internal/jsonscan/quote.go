package jsonscan

import (
	"fmt"
	"strings"
)

// Quote returns s as a JSON string, without the escapes that only HTML needs.
// Bytes that are not UTF-8 become U+FFFD.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == '\u2028' || r == '\u2029': // the latter end a line in JavaScript
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
