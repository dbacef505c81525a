package transcript

import (
	"regexp"
	"slices"
	"strings"
	"sync"

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

// Terms returns the words of a text that stand for one thing in a project, each
// once: paths, options, and names with an underscore, a dot or a capital in their
// midst, or in backticks.
func Terms(text string) []string {
	var terms []string
	for _, term := range termPattern().FindAllString(text, -1) {
		term = strings.TrimRight(strings.Trim(term, "`"), ".,:;/")
		if len(term) >= 3 && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// termPattern is not compiled before it is needed: no hook of an ordinary turn does.
var termPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("`[^`\\s]{3,80}`" + `|--?[A-Za-z][\w-]+|[\w.~-]*(?:/[\w.-]+)+|\b[A-Za-z_]\w*\.[A-Za-z]\w*\b|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|\b[A-Z][a-z0-9]+[A-Z]\w*\b|\b[A-Z]{2,}\w*[a-z]\w+\b`)
})

// maxTerm is the longest term that Terms lists, in bytes.
const maxTerm = 60

// Terms returns n terms of the newest prompts and of the last answer that shown, a
// text, does not hold: who goes on will hear of them again.
func (f Facts) Terms(shown string, n int) []string {
	var terms []string
	add := func(text string) {
		for _, term := range Terms(text) {
			if len(terms) < n && len(term) <= maxTerm && !strings.Contains(shown, term) && !slices.Contains(terms, term) {
				terms = append(terms, term)
			}
		}
	}
	for i, p := range f.Prompts {
		add(p.Text)
		if i == 1 {
			add(f.Answer)
		}
	}
	if len(f.Prompts) < 2 {
		add(f.Answer)
	}
	return terms
}
