package transcript

import (
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/shell"
)

// Paths returns the paths of the files that pick accepts, the newest first.
func (f Facts) Paths(pick func(File) bool) []string {
	var paths []string
	for _, file := range f.Files {
		if pick(file) {
			paths = append(paths, file.Path)
		}
	}
	return paths
}

// Edited picks files that were edited and touched since the last compaction.
func Edited(f File) bool { return f.Edited && !f.Before }

// EditedBefore picks files that were edited and not touched since the last compaction.
func EditedBefore(f File) bool { return f.Edited && f.Before }

// Read picks files that were only read.
func Read(f File) bool { return !f.Edited && !f.Named }

// Named picks files that only commands name.
func Named(f File) bool { return f.Named }

// Ran returns the newest commands that worked and did more than look around, in
// few words (shell.Brief), each running something that no newer one does.
func (f Facts) Ran(n int) []string {
	var ran []string
	seen := map[string]bool{}
	for _, c := range f.Commands {
		if len(ran) == n {
			break
		}
		if c.Failed {
			continue
		}
		brief, fresh := shell.Brief(c.Text), false
		for _, program := range shell.Commands(c.Text) {
			if key := program.Key(); !program.LooksAround() && !seen[key] {
				seen[key], fresh = true, true
			}
		}
		if fresh && brief != "" {
			ran = append(ran, brief)
		}
	}
	return ran
}

// AlsoRan returns the newest n programs that the session ran and that shown, a text,
// does not name.
func (f Facts) AlsoRan(shown string, n int) []string {
	var keys []string
	for _, key := range f.Keys {
		if len(keys) < n && !strings.Contains(shown, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Failing returns the newest n commands that failed and did not work since, each
// once.
func (f Facts) Failing(n int) []Command {
	var failing []Command
	for i, c := range f.Commands {
		same := func(o Command) bool { return o.Text == c.Text }
		if c.Failed && len(failing) < n && !slices.ContainsFunc(f.Commands[:i], same) {
			failing = append(failing, c)
		}
	}
	return failing
}
