package term

import (
	"io"
	"strings"
)

// Screen is a terminal that is drawn on as a whole and in place, beside what stood
// on it: Close brings that back.
type Screen struct {
	W io.Writer

	open bool
}

const (
	enter = "\x1b[?1049h\x1b[?25l" // the other buffer, no cursor
	leave = "\x1b[?25h\x1b[?1049l"
	// Terminals that know it show nothing in between; others do not care.
	begin = "\x1b[?2026h\x1b[H"
	end   = "\x1b[J\x1b[?2026l"
)

// Show draws lines, which have to fit. What is the same stays on the screen, so that
// nothing flickers.
func (s *Screen) Show(lines []string) {
	var b strings.Builder
	if !s.open {
		s.open = true
		b.WriteString(enter)
	}
	b.WriteString(begin)
	for i, l := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(l + "\x1b[K")
	}
	b.WriteString(end)
	io.WriteString(s.W, b.String())
}

// Close gives the terminal back as it was.
func (s *Screen) Close() {
	if s.open {
		s.open = false
		io.WriteString(s.W, leave)
	}
}
