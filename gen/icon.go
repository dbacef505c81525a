package gen

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
)

// Icons are drawn with whole numbers only: floating point may round
// differently from one CPU to the next, and the file must not.
const (
	iconSize = 512 // pixels
	unit     = 16  // units per pixel, the resolution of the geometry
	samples  = 8   // per pixel and axis, along edges
	levels   = samples * samples
)

// shape tells whether a point, in units, belongs to it.
type shape func(x, y int) bool

// glyphs are the signs an icon can carry.
var glyphs = map[string]func() shape{
	"reload":  reloadGlyph,
	"handoff": handoffGlyph,
	"clock":   clockGlyph,
}

// draw returns the icon as PNG: a rounded square in the icon's color with a
// white sign on it. The same icon always gives the same bytes.
func (i Icon) draw() ([]byte, error) {
	glyph, ok := glyphs[i.Glyph]
	if !ok {
		return nil, fmt.Errorf("there is no glyph %q", i.Glyph)
	}
	rgb, err := strconv.ParseUint(strings.TrimPrefix(i.Color, "#"), 16, 24)
	if err != nil {
		return nil, fmt.Errorf("%q is not a color such as #2F6F8F", i.Color)
	}
	img := image.NewPaletted(image.Rect(0, 0, iconSize, iconSize), palette(uint32(rgb)))
	base, sign := coverage(roundedSquare(iconSize, 116)), coverage(glyph())
	for at := range img.Pix {
		if img.Pix[at] = base[at]; sign[at] > 0 {
			img.Pix[at] = levels + sign[at]
		}
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&out, img); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// palette returns the colors of an icon: entry n up to levels is the base
// color covering n of levels, entry levels+n is white covering n of them on
// top of it.
func palette(rgb uint32) color.Palette {
	base := [3]int{int(rgb >> 16), int(rgb >> 8 & 0xff), int(rgb & 0xff)}
	p := make(color.Palette, 2*levels+1)
	for n := range levels + 1 {
		p[n] = color.NRGBA{uint8(base[0]), uint8(base[1]), uint8(base[2]), uint8(255 * n / levels)}
	}
	for n := 1; n <= levels; n++ {
		mix := func(c int) uint8 { return uint8(c + (255-c)*n/levels) }
		p[levels+n] = color.NRGBA{mix(base[0]), mix(base[1]), mix(base[2]), 255}
	}
	return p
}

// coverage returns, for each pixel, how many of levels samples lie in s.
func coverage(s shape) []uint8 {
	// A tile whose corners agree is taken to be of one piece. Four pixels is
	// small enough for that: nothing here is thinner, or rounder, than a pen.
	const tile = 4
	out := make([]uint8, iconSize*iconSize)
	for y := 0; y < iconSize; y += tile {
		for x := 0; x < iconSize; x += tile {
			fill(out, s, x, y, tile)
		}
	}
	return out
}

// fill covers the square of size pixels at x, y.
func fill(out []uint8, s shape, x, y, size int) {
	l, t, r, b := x*unit, y*unit, (x+size)*unit, (y+size)*unit
	in := s(l, t)
	switch {
	case in == s(r, t) && in == s(l, b) && in == s(r, b):
		for row := y; in && row < y+size; row++ {
			for at := row*iconSize + x; at < row*iconSize+x+size; at++ {
				out[at] = levels
			}
		}
	case size == 1:
		out[y*iconSize+x] = sample(s, l, t)
	default:
		half := size / 2
		fill(out, s, x, y, half)
		fill(out, s, x+half, y, half)
		fill(out, s, x, y+half, half)
		fill(out, s, x+half, y+half, half)
	}
}

// sample returns how many of levels points of the pixel at x, y, in units,
// lie in s.
func sample(s shape, x, y int) uint8 {
	const step = unit / samples
	n := uint8(0)
	for dy := step / 2; dy < unit; dy += step {
		for dx := step / 2; dx < unit; dx += step {
			if s(x+dx, y+dy) {
				n++
			}
		}
	}
	return n
}

// The functions below take pixels.

func roundedSquare(size, radius int) shape {
	size, radius = size*unit, radius*unit
	return func(x, y int) bool {
		dx, dy := max(radius-x, x-(size-radius), 0), max(radius-y, y-(size-radius), 0)
		return dx*dx+dy*dy <= radius*radius
	}
}

// ring is a circle of the given radius drawn with a pen of the given width.
func ring(cx, cy, radius, width int) shape {
	cx, cy = cx*unit, cy*unit
	inner, outer := (radius*2-width)*unit/2, (radius*2+width)*unit/2
	return func(x, y int) bool {
		d := (x-cx)*(x-cx) + (y-cy)*(y-cy)
		return inner*inner <= d && d <= outer*outer
	}
}

// disc is a dot of the given width.
func disc(cx, cy, width int) shape { return line(cx, cy, cx, cy, width) }

// line is a straight stroke with round ends.
func line(ax, ay, bx, by, width int) shape {
	ax, ay, bx, by = ax*unit, ay*unit, bx*unit, by*unit
	r := width * unit / 2
	dx, dy := bx-ax, by-ay
	length := dx*dx + dy*dy
	return func(x, y int) bool {
		px, py := x-ax, y-ay
		switch t := px*dx + py*dy; {
		case t <= 0:
			return px*px+py*py <= r*r
		case t >= length:
			return (x-bx)*(x-bx)+(y-by)*(y-by) <= r*r
		}
		cross := px*dy - py*dx
		return cross*cross <= r*r*length
	}
}

// leftOf and rightOf are the two sides of the line from a to b, seen along it.
func leftOf(ax, ay, bx, by int) shape {
	ax, ay, bx, by = ax*unit, ay*unit, bx*unit, by*unit
	return func(x, y int) bool { return (bx-ax)*(y-ay)-(by-ay)*(x-ax) <= 0 }
}

func rightOf(ax, ay, bx, by int) shape { return not(leftOf(ax, ay, bx, by)) }

func union(shapes ...shape) shape {
	return func(x, y int) bool {
		for _, s := range shapes {
			if s(x, y) {
				return true
			}
		}
		return false
	}
}

func both(a, b shape) shape { return func(x, y int) bool { return a(x, y) && b(x, y) } }
func not(s shape) shape     { return func(x, y int) bool { return !s(x, y) } }

// reloadGlyph is a circle, open at the upper right, with an arrow head where it
// comes to the top.
func reloadGlyph() shape {
	gap := both(leftOf(256, 270, 496, 170), rightOf(256, 270, 256, 0))
	return union(
		both(ring(256, 270, 132, 44), not(gap)),
		disc(378, 219, 44),
		line(256, 138, 330, 138, 44),
		line(274, 76, 336, 138, 44),
		line(274, 200, 336, 138, 44),
	)
}

// handoffGlyph is an arrow from a point to a circle.
func handoffGlyph() shape {
	return union(
		disc(122, 256, 88),
		line(122, 256, 266, 256, 36),
		line(216, 200, 272, 256, 36),
		line(216, 312, 272, 256, 36),
		ring(386, 256, 56, 36),
	)
}

// clockGlyph is a clock face at three o'clock.
func clockGlyph() shape {
	return union(
		ring(256, 256, 140, 40),
		line(256, 256, 256, 172, 36),
		line(256, 256, 320, 256, 36),
	)
}
