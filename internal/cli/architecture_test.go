package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/registry"
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
		if from == "manual" || from == "packages" { // for a release, and in neither program
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

// The registry knows the plugins, and the commands of a plugin know theirs. All
// else treats them alike, so that a further plugin is one more line there. (measure
// weighs the pages of both.)
func TestOnlyItsOwnCommandsKnowAPlugin(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
	text := map[string]string{}
	var plugins []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[file] = string(data)
		if strings.Contains(text[file], "\nvar Plugin = plugin.Plugin{") {
			plugins = append(plugins, filepath.Base(filepath.Dir(file)))
		}
	}
	if len(plugins) != len(registry.Plugins()) {
		t.Fatalf("the plugins are %q", plugins)
	}
	for _, name := range plugins {
		for file := range text {
			of := filepath.ToSlash(strings.TrimPrefix(file, ".."+string(filepath.Separator)))
			switch of {
			case "registry/registry.go", "cli/" + name + ".go", "cli/measure.go":
				continue
			}
			if strings.HasPrefix(of, "cli/"+name+"_") {
				continue
			}
			if strings.Contains(text[file], `internal/`+name+`"`) {
				t.Errorf("%s knows the plugin %s", of, name)
			}
		}
	}
}
