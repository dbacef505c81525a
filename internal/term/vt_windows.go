package term

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// Obeys reports whether a terminal does what escape sequences say, and has it do so:
// a console has to be asked.
func Obeys(w io.Writer) bool {
	if !IsTerminal(w) {
		return false
	}
	console := windows.Handle(w.(*os.File).Fd())
	var mode uint32
	return windows.GetConsoleMode(console, &mode) == nil &&
		windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
