// Package occupancy answers how full the context window of a session is. The
// hooks of every plugin, the status line and doctor ask here, so that no two of
// them say different things of the same moment.
//
// Tokens are those of the transcript. The window is that of the first source
// that knows it (Sources). Nothing here asks the network but AtStart, and
// nothing waits but Measure.
package occupancy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Occupancy is how full the context window of a session is.
type Occupancy struct {
	Known    bool
	FromHost bool // Tokens are from the host's percentage: the transcript has none
	Tokens   int  // in the window now
	Window   Window
	Tail     transcript.Tail
}

// Of returns the occupancy of the session whose transcript ends in tail. Where
// that tells no usage, the percentage that the host has shown since its last
// row counts.
func (s Sources) Of(tail transcript.Tail) Occupancy {
	o := Occupancy{Known: tail.Known, Tokens: tail.Tokens, Tail: tail}
	seen := max(s.Seen, tail.Tokens)
	if !tail.Known || tail.Estimate {
		seen = s.Seen
		last, err := time.Parse(time.RFC3339, tail.Time)
		if f := s.Figure; f.Session != "" && f.Used >= 0 && (err != nil || f.Time.After(last)) && f.of(tail.Model) {
			o.Known, o.FromHost = true, true
			window := f.Window
			if window == 0 {
				window = s.window(tail.Model, seen).Tokens
			}
			o.Tokens = int(float64(window) * float64(f.Used) / 100)
			seen = max(seen, o.Tokens)
		}
	}
	o.Window = s.window(tail.Model, seen)
	return o
}

// Percent returns how full the window is, from 0 to 100, rounded to the nearest
// as the host does. It is for showing: what is decided by it is not rounded.
func (o Occupancy) Percent() int { return models.Percent(o.Tokens, o.Window.Tokens) }

// Reaches reports whether percent of the window is in use: 69.5 % is under 70.
func (o Occupancy) Reaches(percent int) bool {
	return o.Known && float64(o.Tokens)*100 >= float64(percent)*float64(o.Window.Tokens)
}

// String is an occupancy as people read it: "46 % full (461k of 1M tokens)".
func (o Occupancy) String() string {
	about := ""
	if o.Tail.Estimate && !o.FromHost {
		about = "about "
	}
	return fmt.Sprintf("%s%d %% full (%s of %s tokens)", about, o.Percent(), Tokens(o.Tokens), Tokens(o.Window.Tokens))
}

// Tokens writes a number of tokens as people say it, rounded down: 900, 1.5k,
// 461k, 1M, 1.5M.
func Tokens(n int) string {
	unit, tenths := "", n*10
	switch {
	case n >= 1_000_000:
		unit, tenths = "M", n/100_000
	case n >= 10_000:
		unit, tenths = "k", n/1000*10
	case n >= 1000:
		unit, tenths = "k", n/100
	}
	s := strconv.Itoa(tenths / 10)
	if tenths%10 != 0 {
		s += "." + strconv.Itoa(tenths%10)
	}
	return s + unit
}
