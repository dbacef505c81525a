package cli

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The table of docs/architecture.md is the order of the packages: a package
// imports those above it and no others.
func TestImportsFollowTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Rooms\n")
	table, _, _ = strings.Cut(table, "\n## ")
	order := map[string]int{}
	for i, row := range strings.Split(table, "\n") {
		cell, _, ok := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		if !ok {
			continue
		}
		for _, name := range regexp.MustCompile("`([a-z]+)`").FindAllStringSubmatch(cell, -1) {
			order[name[1]] = i
		}
	}
	const module, rooms = "github.com/ccreload/ccreload/", "internal/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	room := func(path string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, module+rooms), "/")
		return name
	}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		from := room(paths[0])
		if from == "manual" { // writes the man pages of both programs, and is in neither
			continue
		}
		at, ok := order[from]
		if !ok {
			t.Errorf("%s is not in the table", from)
		}
		for _, path := range slices.DeleteFunc(paths[1:], func(p string) bool { return !strings.HasPrefix(p, module+rooms) }) {
			if to := room(path); to != from && order[to] >= at {
				t.Errorf("%s imports %s, which is not above it", from, to)
			}
		}
	}
}
