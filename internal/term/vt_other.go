//go:build !windows

package term

import "io"

// Obeys reports whether a terminal does what escape sequences say.
func Obeys(w io.Writer) bool { return IsTerminal(w) }
