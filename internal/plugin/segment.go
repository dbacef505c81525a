package plugin

import (
	"strconv"

	"github.com/ccreload/ccreload/internal/occupancy"
)

// Level says how close a figure is to its limit.
type Level int

// The levels. The line shows them as no color, yellow and red.
const (
	Calm Level = iota
	Near
	Over
)

// Segment is one plugin's part of the status line. Only Value is colored. The
// zero Segment shows nothing.
type Segment struct {
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

// Context is a segment that says how full the window is, against the budget.
func Context(o occupancy.Occupancy, b Budget) Segment {
	if !o.Known {
		return Segment{}
	}
	part := Segment{
		Label: "ctx[" + occupancy.Tokens(o.Window.Tokens) + "] ",
		Value: strconv.Itoa(o.Percent()) + "%",
		Level: b.level(o),
	}
	if b.Percent > 0 {
		part.Note = "·" + strconv.Itoa(b.Percent)
	}
	return part
}

// Hint is a segment that is words only, with the color of near or over.
func Hint(text string, urgent bool) Segment {
	switch {
	case text == "":
		return Segment{}
	case urgent:
		return Segment{Value: text, Level: Over}
	}
	return Segment{Value: text, Level: Near}
}

func (b Budget) level(o occupancy.Occupancy) Level {
	percent := o.Percent()
	if b.Percent <= 0 {
		switch {
		case percent >= looseOver:
			return Over
		case percent >= looseNear:
			return Near
		}
		return Calm
	}
	level := against(percent, b.Percent)
	if b.Tokens > 0 {
		level = max(level, against(o.Tokens, b.Tokens))
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
