package problem

import "fmt"

// Verdict is what a check came to.
type Verdict string

// The verdicts.
const (
	OK   Verdict = "ok"
	Note Verdict = "note"    // worth knowing, and nothing is wrong
	Bad  Verdict = "problem" // something does not work as it should
)

// Finding is what a check has to say: a plain sentence, and what to do.
type Finding struct {
	Check   string  `json:"check"`
	Verdict Verdict `json:"verdict"`
	Says    string  `json:"says"`
	Hint    string  `json:"hint,omitempty"`
}

// Findings are what several checks have to say, in their order.
type Findings []Finding

// OK adds that what check looked at is in order.
func (f *Findings) OK(check, format string, args ...any) { f.add(OK, check, "", format, args) }

// Note adds something worth knowing; hint may be "".
func (f *Findings) Note(check, hint, format string, args ...any) {
	f.add(Note, check, hint, format, args)
}

// Bad adds a problem; hint may be "".
func (f *Findings) Bad(check, hint, format string, args ...any) {
	f.add(Bad, check, hint, format, args)
}

// Error adds err as a problem, with the hint it carries.
func (f *Findings) Error(check string, err error) { f.Bad(check, Hint(err), "%v", err) }

func (f *Findings) add(v Verdict, check, hint, format string, args []any) {
	*f = append(*f, Finding{check, v, fmt.Sprintf(format, args...), hint})
}

// Problems returns how many findings are problems.
func (f Findings) Problems() int {
	n := 0
	for _, one := range f {
		if one.Verdict == Bad {
			n++
		}
	}
	return n
}
