package gen

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// The whole tree of a small manifest, file by file; icons by their size.
// Regenerate with go test ./gen -run TestEmitGolden -update.
func TestEmitGolden(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("testdata/plugin.tmpl")
	if err != nil {
		t.Fatal(err)
	}
	content := smallContent(t)
	content[templatePath].Data = template
	tree, _, err := emit(m, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := &txtar.Archive{Comment: []byte("The tree of the manifest small in gen_test.go.\n\n")}
	for _, p := range tree.paths() {
		f := tree[p]
		if p == inventoryPath {
			continue // the hashes of the rest
		}
		data := f.Data
		if strings.HasSuffix(p, ".png") {
			data = []byte("an image\n")
		}
		got.Files = append(got.Files, txtar.File{Name: fmt.Sprintf("%s (%04o)", p, f.Mode), Data: data})
	}
	const golden = "testdata/small.txtar"
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wanted := map[string]string{}
	for _, f := range txtar.Parse(want).Files {
		wanted[f.Name] = string(f.Data)
	}
	for _, f := range got.Files {
		if wanted[f.Name] != string(f.Data) {
			t.Errorf("%s is\n%s\nwant\n%s", f.Name, f.Data, wanted[f.Name])
		}
		delete(wanted, f.Name)
	}
	for name := range wanted {
		t.Errorf("%s is missing", name)
	}
}

// What is in the repository is what its manifest says.
func TestRepositoryIsGenerated(t *testing.T) {
	t.Parallel()
	p, err := Open("..")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	changes, err := p.Check()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		t.Errorf("%s is %s: run make generate", c.Path, c.What)
	}
	if err := p.Released(); err != nil {
		t.Error(err)
	}
}

func TestEmitIsReproducible(t *testing.T) {
	t.Parallel()
	_, first := smallTree(t)
	_, second := smallTree(t)
	if !maps.EqualFunc(first, second, func(a, b file) bool { return a.Mode == b.Mode && bytes.Equal(a.Data, b.Data) }) {
		t.Error("two runs differ")
	}
	for p, f := range first {
		if strings.HasSuffix(p, ".png") {
			continue
		}
		if bytes.ContainsRune(f.Data, '\r') {
			t.Errorf("%s has a carriage return", p)
		}
		if !bytes.HasSuffix(f.Data, []byte("\n")) || bytes.HasSuffix(f.Data, []byte("\n\n")) {
			t.Errorf("%s does not end in one newline", p)
		}
	}
}

// A changed default reaches every place that names it.
func TestDefaultFlows(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(strings.Replace(small, `default: "45"`, `default: "30"`, 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := emit(m, smallContent(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{
		"marketplace/plugins/first/ccreload.json":              `"default": "30"`,
		"marketplace/plugins/first/.claude-plugin/plugin.json": `"default": 30`,
		"marketplace/plugins/first/commands/go.md":             "Go at 30 or automatic:",
		"marketplace/plugins/first/README.md":                  "At 30 (0 to 95, or `off`) something is said, `calm` or `loud`.",
		optionsPath:                                            "| `budget` | 30 | 0 to 95, or `off` |",
	} {
		if !strings.Contains(string(tree[p].Data), want) {
			t.Errorf("%s has no %q:\n%s", p, want, tree[p].Data)
		}
	}
}

func TestChecksums(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := strings.Repeat("0123456789abcdef", 4)
	content := smallContent(t)
	file := *content["gen/content/first/go.md"]
	file.Data = []byte("# of a release\n" + sum + "  ccreload-linux-amd64\n\n" + sum + " *ccreload-windows-amd64.exe\n" + sum + "  ccreload_1.2.3.tar.gz\n" + sum + "  ccreload-linux-arm64\n")
	content[checksumsPath] = &file
	tree, _, err := emit(m, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := string(tree["marketplace/plugins/first/bin/checksums.txt"].Data)
	if !strings.HasSuffix(got, "\n"+sum+"  ccreload-linux-amd64\n"+sum+"  ccreload-windows-amd64.exe\n") {
		t.Errorf("checksums.txt is %s", got)
	}
	for _, bad := range []string{"abc  name", strings.ToUpper(sum) + "  name", sum, sum + "  ../name", sum + "  a b"} {
		file.Data = []byte("\n" + bad + "\n")
		_, _, err := emit(m, content, nil)
		wants(t, err, "gen/checksums.txt:2:1: want a sha256 in lower case")
	}
}

// Each row changes a file that emit reads.
func TestEmitRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, text, want string }{
		"missing body":         {"gen/content/first/go.md", "", "gen/manifest.yaml:73:15: there is no file \"gen/content/first/go.md\"\n   73 |         body: go.md"},
		"missing icon":         {"gen/content/first/icon.png", "", `gen/manifest.yaml:22:11: there is no file "gen/content/first/icon.png"`},
		"icon of text":         {"gen/content/first/icon.png", "x", "gen/manifest.yaml:22:11: gen/content/first/icon.png: the icon is not a valid PNG"},
		"missing readme":       {"gen/content/second/README.md", "", `there is no file "gen/content/second/README.md"`},
		"empty body":           {"gen/content/first/go.md", " \n\n", "the file gen/content/first/go.md is empty"},
		"unknown option":       {"gen/content/first/go.md", "a\n\nat {{opt \"budgit\"}} %\n", "gen/content/first/go.md:3:6: the plugin first has no option \"budgit\"; did you mean \"budget\"?\n    3 | at {{opt \"budgit\"}} %\n"},
		"option of another":    {"gen/content/second/second.md", `{{opt "budget"}}`, `gen/content/second/second.md:1:3: the plugin second has no option "budget"`},
		"unknown setting":      {"gen/content/first/go.md", "a\nrun `ccreload config set KEY X` or `ccreload config set budgit X`\n", "gen/content/first/go.md:2:57: the plugin first has no option \"budgit\"; did you mean \"budget\"?"},
		"unknown function":     {"gen/content/first/go.md", "x\n{{option 1}}\n", `gen/content/first/go.md:2:1: function "option" not defined`},
		"unfinished action":    {"gen/content/first/go.md", "x\n{{opt\n", "gen/content/first/go.md:3:1: unclosed action started at gen/content/first/go.md:2"},
		"carriage return":      {"gen/content/first/go.md", "a\nb\rc\n", "marketplace/plugins/first/commands/go.md: the file has a carriage return"},
		"a file mark":          {"gen/content/first/go.md", "a\n-- b --\n", "gen/content/first/go.md:2:1: a line like this begins a file in plugin.tmpl"},
		"undeclared host":      {"gen/content/first/go.md", "curl https://Example.org:80/x and http://github.com\n", "gen/manifest.yaml:23:5: commands/go.md reaches the host \"example.org\", which is not declared here"},
		"section, no name":     {"plugin.tmpl", "-- a --\n-- --\n", "plugin.tmpl: a section has no name"},
		"template, no section": {"plugin.tmpl", "nothing\n", "plugin.tmpl: no section found"},
		"template, unknown":    {"plugin.tmpl", "-- a --\n{{.Nope}}\n", "plugin.tmpl:2:3: "},
		"template, option":     {"plugin.tmpl", "-- a --\n{{opt \"nope\"}}\n", `plugin.tmpl:2:3: the plugin first has no option "nope"`},
		"template, outside":    {"plugin.tmpl", "-- ../a --\nx\n", `plugin.tmpl: the section "../a" is not a path inside a plugin`},
		"template, twice":      {"plugin.tmpl", "-- a --\nx\n-- a --\ny\n", `duplicate section "a": first has this file already`},
		"template, generated":  {"plugin.tmpl", "-- .claude-plugin/plugin.json --\n{\"hooks\": \"./hooks/hooks.json\"}\n", `duplicate section ".claude-plugin/plugin.json": first has this file already`},
		"template, no license": {"plugin.tmpl", "-- a --\nx\n", "marketplace/plugins/first/LICENSE: the file is missing"},
		"template, launcher":   {"plugin.tmpl", "-- bin/ccreload --\nnot a script\n", "marketplace/plugins/first/bin/ccreload: a hook starts this file and it is not executable"},
		"template, other host": {"plugin.tmpl", "-- bin/ccreload --\n#!/bin/sh\ncurl https://example.com\n", `bin/ccreload reaches the host "example.com"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := decode(ManifestPath, []byte(small), nil)
			if err != nil {
				t.Fatal(err)
			}
			content := smallContent(t)
			content[tt.file].Data = []byte(tt.text)
			if tt.text == "" {
				delete(content, tt.file)
			}
			_, _, err = emit(m, content, nil)
			wants(t, err, tt.want)
		})
	}
}

// A piece that bodies share stands in each of them, as it is.
func TestInclude(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	content := smallContent(t)
	content["gen/content/first/go.md"].Data = []byte("before\n\n{{include \"form.md\"}}\n\nafter\n")
	_, _, err = emit(m, content, nil)
	wants(t, err, `gen/content/first/go.md:3:3: there is no file "gen/content/first/form.md"`)
	piece := *content["gen/content/first/README.md"]
	piece.Data = []byte("a {{piece}}\n")
	content["gen/content/first/form.md"] = &piece
	tree, _, err := emit(m, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(tree["marketplace/plugins/first/commands/go.md"].Data); !strings.HasSuffix(got, "---\n\nbefore\n\na {{piece}}\n\nafter\n") {
		t.Errorf("the command is\n%s", got)
	}
}

func TestEmitReportsEverything(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	content := smallContent(t)
	delete(content, "gen/content/first/go.md")
	delete(content, "gen/content/second/second.md")
	content["gen/content/first/README.md"].Data = []byte(`{{opt "x"}}`)
	_, _, err = emit(m, content, nil)
	var ps Problems
	if !errors.As(err, &ps) || len(ps) != 3 {
		t.Fatalf("%v, want three problems", err)
	}
}

func TestRecordingsAreValid(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../testdata/recordings/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := ValidateRecording(file, data); err != nil {
			t.Error(err)
		}
	}
	for line, want := range map[string]string{
		"":      "r.jsonl: the recording is empty",
		"{}\n{": "r.jsonl:2:1: not valid JSON",
		`{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"},"x":1}`:                                                             `r.jsonl:1:69: unknown key "x"`,
		`{"t":-1,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"}}`:                                                                  "-1 is too small: want at least 0",
		`{"t":0,"event":"Stop","env":{"A":1},"payload":{"hook_event_name":"Stop"}}`:                                                              "want a string, found a number",
		`{"t":1e999,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"}}`:                                                               "number 1e999 is not a valid number: too large",
		`{"t":1e99999999,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop","x":[{"y":1}]}}`:                                            "number 1e99999999 is not a valid number: too large",
		`{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"},"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`: "nested more than 60 deep",
		"\ufeff{}": "r.jsonl:1:1: the file begins with a byte order mark",
		"{\x00}":   "r.jsonl:1:2: the file is not text",
		`{"t":0,"event":"Stop","env":{},"payload":{}}`:                                  `"hook_event_name" is missing`,
		`{"t":0,"env":{},"payload":{"hook_event_name":"Stop"},"transcript_rows":["x"]}`: "want a mapping, found a string",
	} {
		wants(t, ValidateRecording("r.jsonl", []byte(line)), want)
	}
}

func BenchmarkGenerate(b *testing.B) {
	for b.Loop() {
		data, err := source.ReadFile("manifest.yaml")
		if err != nil {
			b.Fatal(err)
		}
		m, err := decode(ManifestPath, data, nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := emit(m, os.DirFS(".."), nil); err != nil {
			b.Fatal(err)
		}
	}
}
