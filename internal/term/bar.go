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
		fmt.Fprintf(b.W, "\r%s %d of %d", gauge(full, barWidth), b.done, b.Total)
	}
}

// Clear takes the bar from the screen.
func (b *Bar) Clear() {
	if IsTerminal(b.W) {
		io.WriteString(b.W, "\r\x1b[K")
	}
}

// Gauge shows a share, in percent, as a bar that is width columns wide with its
// ends. A share that is not zero shows, and only a whole one fills it.
func Gauge(percent float64, width int) string {
	inner := max(width-2, 1)
	full := int(percent / 100 * float64(inner))
	switch {
	case percent >= 100:
		full = inner
	case percent > 0:
		full = max(full, 1)
	}
	return gauge(min(max(full, 0), inner), inner)
}

func gauge(full, width int) string {
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}
