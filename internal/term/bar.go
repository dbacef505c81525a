package term

import (
	"fmt"
	"io"
	"strings"
)

// Bar shows on a terminal how far a piece of work is, and elsewhere nothing.
type Bar struct {
	W     io.Writer
	Total int // steps

	done, drawn int
}

const barWidth = 30

// Add notes that one more step is done.
func (b *Bar) Add() {
	b.done++
	if full := b.done * barWidth / max(b.Total, 1); IsTerminal(b.W) && (b.done == 1 || full != b.drawn) {
		b.drawn = full
		fmt.Fprintf(b.W, "\r[%s%s] %d of %d", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), b.done, b.Total)
	}
}

// Clear takes the bar from the screen.
func (b *Bar) Clear() {
	if IsTerminal(b.W) {
		io.WriteString(b.W, "\r\x1b[K")
	}
}
