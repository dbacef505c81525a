package gen

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with an input, and where.
type Problem struct {
	File    string // as the user would name it, e.g. gen/manifest.yaml
	Line    int    // from 1; 0 when the whole file is meant
	Column  int    // from 1
	Message string // one clause: what is wrong and what would be right
	Source  string // the offending line
}

// String returns file:line:column: message, and below it the line itself.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	s := fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	if strings.TrimSpace(p.Source) == "" {
		return s
	}
	prefix := fmt.Sprintf("%5d | ", p.Line)
	// Tabs are kept in the second line, so that the mark stays below its place.
	pad := []rune(p.Source)
	pad = pad[:min(max(p.Column-1, 0), len(pad))]
	for i, r := range pad {
		if r != '\t' {
			pad[i] = ' '
		}
	}
	return s + "\n" + prefix + p.Source + "\n" + strings.Repeat(" ", len(prefix)-2) + "| " + string(pad) + "^"
}

// Problems is every problem found, in the order of the files and lines. It is
// an error when it is not empty.
type Problems []Problem

// Error returns the problems, one after the other.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// err returns ps sorted and without repetitions, or nil when there are none.
func (ps Problems) err() error {
	if len(ps) == 0 {
		return nil
	}
	slices.SortStableFunc(ps, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		if a.Column != b.Column {
			return a.Column - b.Column
		}
		return strings.Compare(a.Message, b.Message)
	})
	return slices.Compact(ps)
}
