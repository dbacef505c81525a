package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Columns returns how many columns the terminal w has, 0 where it is none or
// does not say.
func Columns(w io.Writer) int {
	columns, _ := Size(w)
	return columns
}

// Size returns how many columns and rows the terminal w has, 0 where it is none or
// does not say.
func Size(w io.Writer) (columns, rows int) {
	if !IsTerminal(w) {
		return 0, 0
	}
	columns, rows, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}
