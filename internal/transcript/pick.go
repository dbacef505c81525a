package transcript

import (
	"slices"
	"strings"
	"unicode/utf8"

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
// does not name; before them all those that do not work.
func (f Facts) AlsoRan(shown string, n int) []string {
	var keys []string
	for i, key := range slices.Concat(f.Broken, f.Keys) {
		if (i < len(f.Broken) || len(keys) < n) && !strings.Contains(shown, key) && !slices.Contains(keys, key) {
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
	add := func(word string, named bool) {
		word = strings.TrimRight(strings.TrimLeft(word, "."), ".-/")
		if len(word) >= 3 && (named || isTerm(word)) && !slices.Contains(terms, word) {
			terms = append(terms, word)
		}
	}
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !inTerm(r) })
		if n < 0 {
			n = len(text)
		}
		add(text[:n], false)
		text = text[n:]
		if code, rest, ok := strings.Cut(strings.TrimPrefix(text, "`"), "`"); ok && text[0] == '`' && code != "" && !strings.ContainsAny(code, " \t\n") {
			add(code, true)
			text = rest
		} else if text != "" {
			_, size := utf8.DecodeRuneInString(text)
			text = text[size:]
		}
	}
	return terms
}

func inTerm(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./~-", r)
}

// isTerm reports whether a word is a name as programs have them, and none of a
// language.
func isTerm(word string) bool {
	letter := func(i int) bool { return i >= 0 && i < len(word) && isLetter(word[i]) }
	if rest := strings.TrimLeft(word, "-"); len(rest) < len(word) {
		return len(word)-len(rest) <= 2 && rest != "" && isLetter(rest[0])
	}
	capitals := 0
	for i := range len(word) {
		switch c := word[i]; {
		case c == '/':
			return true
		case c == '_':
			if i > 0 && i < len(word)-1 {
				return true
			}
		case c == '.':
			if len(word) > 3 && letter(i+1) && i > 0 {
				return true
			}
		case c >= 'A' && c <= 'Z':
			if letter(i-1) && word[i-1] >= 'a' {
				return true // camelCase
			}
			capitals++
		case c >= 'a' && c <= 'z' && capitals >= 2 && i+1 < len(word):
			return true // HTTPServer
		}
	}
	return false
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// maxTerm is the longest term that Terms lists, in bytes.
const maxTerm = 60

// recentPrompts are those whose terms come before those of the last answer.
const recentPrompts = 2

// Terms returns n terms of the newest prompts and of the newest answers that shown, a
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
	recent := min(len(f.Prompts), recentPrompts)
	for _, p := range f.Prompts[:recent] {
		add(p.Text)
	}
	add(f.Answer)
	earlier := f.Prompts[recent:]
	for i := range max(len(earlier), len(f.Said)) {
		if i < len(earlier) {
			add(earlier[i].Text)
		}
		if i < len(f.Said) {
			add(f.Said[i])
		}
	}
	return terms
}
