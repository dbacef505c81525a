package gen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
)

// How much of a problem is shown, in characters and in number.
const (
	maxMessage = 400
	maxSource  = 120
	maxShown   = 40
)

// finding is one thing that is wrong with an input, and where.
type finding struct {
	File    string // as the user would name it, e.g. gen/manifest.yaml
	Line    int    // from 1; 0 when the whole file is meant
	Column  int    // from 1
	Message string // one clause: what is wrong and what would be right
	Source  string // the offending line

	// ignored marks a key or word that the host does not know and passes over.
	ignored bool
	// house marks a rule that only our own plugins have to keep.
	house bool
	// theirs marks what stands in a plugin that our runtime does not answer.
	theirs bool
}

// String returns file:line:column: message, and below it the line itself. A
// terminal can be shown it.
func (p finding) String() string {
	s := p.sentence()
	if p.Line == 0 || strings.TrimSpace(p.Source) == "" {
		return s
	}
	source := []rune(p.Source)
	mark := min(max(p.Column-1, 0), len(source))
	before, after := "", ""
	if first := mark - maxSource/2; first > 0 && len(source) > maxSource {
		source, mark, before = source[first:], mark-first, "…"
	}
	if len(source) > maxSource {
		source, after = source[:maxSource], "…"
	}
	head := before + term.Visible(string(source[:mark]))
	prefix := fmt.Sprintf("%5d | ", p.Line)
	// Tabs are kept in the second line, so that the mark stays below its place.
	pad := []rune(head)
	for i, r := range pad {
		if r != '\t' {
			pad[i] = ' '
		}
	}
	return s + "\n" + prefix + head + term.Visible(string(source[mark:])) + after +
		"\n" + strings.Repeat(" ", len(prefix)-2) + "| " + string(pad) + "^"
}

// sentence returns the place and the message on one line.
func (p finding) sentence() string {
	message := term.Cut(term.Line(p.Message), maxMessage)
	if p.Line == 0 {
		return term.Line(p.File) + ": " + message
	}
	return fmt.Sprintf("%s:%d:%d: %s", term.Line(p.File), p.Line, p.Column, message)
}

// Problems is every problem found, in the order of the files and lines. It is
// an error when it is not empty.
type Problems []finding

// Error returns the problems, one after the other, and of very many the first.
func (ps Problems) Error() string {
	var lines []string
	for i, p := range ps {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(ps)-i))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "\n")
}

// House splits ps into the rules of the house and all others.
func (ps Problems) House() (house, others Problems) {
	for _, p := range ps {
		if p.house {
			house = append(house, p)
		} else {
			others = append(others, p)
		}
	}
	return house, others
}

// Placed marks an error whose lines begin with a place in a file.
func (Problems) Placed() {}

// sentence returns an error and what to do about it on one line.
func sentence(err error) string {
	if ps := problems(err); ps != nil {
		return ps[0].sentence()
	}
	if hint := problem.Hint(err); hint != "" {
		return err.Error() + ": " + hint
	}
	return err.Error()
}

// problems returns an error as what it is known to be.
func problems(err error) Problems {
	ps, _ := errors.AsType[Problems](err)
	return ps
}

// err returns ps sorted and without repetitions, or nil when there are none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b finding) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column, strings.Compare(a.Message, b.Message))
	})
	return slices.Compact(ps)
}
