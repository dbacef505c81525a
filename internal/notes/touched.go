package notes

import (
	"fmt"
	"strings"

	"github.com/ccreload/ccreload/internal/transcript"
)

// What a page lists of the files of a session, and how many of each kind. What
// these numbers are worth can be measured (docs/continuity.md).
var touched = []struct {
	label string
	pick  func(transcript.File) bool
	most  int
}{
	{"Edited: ", transcript.Edited, 25},
	{"Read: ", transcript.Read, 15},
	{"Edited before the last compaction: ", transcript.EditedBefore, 10},
	{"Named in commands: ", transcript.Named, 8},
}

// Touched returns a line for each kind of files that a session touched, the newest
// first, at most of them in each. Each path is shown as show has it.
func Touched(f transcript.Facts, most int, show func(path string) string) []string {
	var lines []string
	for _, kind := range touched {
		if paths := f.Paths(kind.pick); len(paths) > 0 {
			lines = append(lines, kind.label+Some(paths, min(most, kind.most), show))
		}
	}
	return lines
}

// Some returns the first most of list, each as show has it, and how many more
// there are.
func Some(list []string, most int, show func(string) string) string {
	var shown []string
	for _, s := range list[:min(len(list), most)] {
		shown = append(shown, show(s))
	}
	s := strings.Join(shown, ", ")
	if more := len(list) - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// AllFiles is more than any kind of files has in a page.
const AllFiles = 100
