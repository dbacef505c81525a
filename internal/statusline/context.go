package statusline

import (
	"strconv"

	"github.com/ccreload/ccreload/internal/models"
)

// Level says how close a figure is to its limit.
type Level int

// The levels. The line shows them as no color, yellow and red.
const (
	Calm Level = iota
	Near
	Over
)

// Part is one plugin's piece of the line. Only Value is colored. The zero
// Part shows nothing.
type Part struct {
	Label, Value, Note string
	Level              Level
}

// Budget is how much of the context window may fill up. Without a Percent
// there is no budget at all; with Tokens too, the one reached first counts.
type Budget struct {
	Percent int
	Tokens  int
}

// Without a budget the colors change at these percentages.
const (
	looseNear = 60
	looseOver = 85
)

// Context is the part of cc-reload: how full the window is, against the
// budget.
func Context(f Fill, b Budget) Part {
	if f.Percent < 0 {
		return Part{}
	}
	part := Part{
		Label: "ctx[" + short(f.Window) + "] ",
		Value: strconv.Itoa(f.Percent) + "%",
		Level: b.level(f),
	}
	if b.Percent > 0 {
		part.Note = "·" + strconv.Itoa(b.Percent)
	}
	return part
}

// Hint is a part that is words only, with the color of near or over.
func Hint(text string, urgent bool) Part {
	switch {
	case text == "":
		return Part{}
	case urgent:
		return Part{Value: text, Level: Over}
	}
	return Part{Value: text, Level: Near}
}

// Fill is how full the context window is.
type Fill struct {
	Window  int // tokens
	Tokens  int // in the window
	Percent int // of Window, 0 to 100, rounded; -1 when there is no figure
}

// FillOf returns the figure of p. It is right also when the host takes the
// window for smaller than it is (case F06); known is what else is known of
// the window.
func FillOf(p Payload, known models.Inputs) Fill {
	f := Fill{Tokens: p.Tokens, Percent: p.Percent}
	if f.Tokens == 0 {
		f.Tokens = min(p.Window/100*p.Percent, max(p.Window, models.Unknown))
	}
	known.HostSize, known.LiveModel, known.Seen = p.Window, p.Model, f.Tokens
	// A model chosen with the large window says so in its id ([1m]), whatever
	// the size says.
	if n, ok := (models.Table{}).Window(p.Model); ok {
		known.HostSize = max(p.Window, n)
	}
	if p.Over200k {
		known.Seen = max(f.Tokens, models.Assumed+1)
	}
	f.Window = models.Resolve(known).Tokens
	if f.Window != p.Window {
		f.Percent = models.Percent(f.Tokens, f.Window)
	}
	f.Percent = min(f.Percent, 100)
	if !p.Known {
		f.Percent = -1
	}
	return f
}

func (b Budget) level(f Fill) Level {
	if b.Percent <= 0 {
		switch {
		case f.Percent >= looseOver:
			return Over
		case f.Percent >= looseNear:
			return Near
		}
		return Calm
	}
	level := against(f.Percent, b.Percent)
	if b.Tokens > 0 {
		level = max(level, against(f.Tokens, b.Tokens))
	}
	return level
}

// against is near from two thirds of the limit.
func against(n, limit int) Level {
	switch {
	case n >= limit:
		return Over
	case 3*int64(n) >= 2*int64(limit):
		return Near
	}
	return Calm
}

// short writes a number of tokens as people say it: 200k, 1M, 1.5M.
func short(tokens int) string {
	switch {
	case tokens >= 1_000_000:
		return trimTenth(tokens/100_000) + "M"
	case tokens >= 10_000:
		return strconv.Itoa(tokens/1000) + "k"
	case tokens >= 1000:
		return trimTenth(tokens/100) + "k"
	}
	return strconv.Itoa(tokens)
}

// trimTenth writes n tenths, without a tenth that is zero.
func trimTenth(n int) string {
	s := strconv.Itoa(n / 10)
	if n%10 != 0 {
		s += "." + strconv.Itoa(n%10)
	}
	return s
}
