package term

// Color is a color or a weight of a terminal.
type Color string

// The colors and weights in use.
const (
	Bold   Color = "1"
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Reset ends every color.
const Reset = "\x1b[0m"

// Palette paints where it is true, and leaves texts alone where it is not.
type Palette bool

// In returns s in color c. What s holds is not looked at: see Visible.
func (p Palette) In(c Color, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + Reset
}
