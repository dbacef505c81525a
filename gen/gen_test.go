package gen

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// small is a manifest with two plugins that has one of everything.
const small = `name: tools
version: 1.2.3
description: Two plugins.
repository: https://github.com/someone/tools
license: MIT
author: Someone
marketplace:
  name: tools
  description: Two plugins of somebody.
min-host-version: 2.1.163
platforms: [linux/amd64, windows/amd64]
windows:
  - {model: claude-opus-5-5, tokens: 1000000}
prices:
  - {model: claude-opus-5-5, input: 4, output: 20, cache-write-5m: 5, cache-write-1h: 8, cache-read: 0.2}
plugins:
  - name: first
    title: First of all
    description: Does "something", once.
    keywords: [one]
    readme: README.md
    icon: icon.png
    network:
      - {host: github.com, why: the launcher downloads from it}
    options:
      - key: budget
        kind: int|off
        default: "45"
        min: 0
        max: 95
        scopes: [user, project]
        title: Budget
        help: How much.
      - key: mode
        kind: choice
        default: calm
        choices: [calm, loud]
        aliases: {noisy: loud}
        scopes: [user]
        title: Mode
        help: How it is said, calm|loud.
      - key: quiet
        kind: bool
        default: "off"
        scopes: [user]
        title: Quiet
        help: Whether nothing is said.
      - key: limit
        kind: int
        default: ""
        min: 1000
        scopes: [project]
        title: Limit
        help: Where it ends.
      - key: note
        kind: text
        default: ""
        scopes: [project]
        title: Note
        help: What to add.
    hooks:
      - {event: SessionStart, timeout: 60, status: Starting}
      - {event: PreToolUse, matcher: Write, if: Write(**/a.md), timeout: 10}
      - {event: PreToolUse, matcher: Write, if: Write(**/b.md), timeout: 10}
      - {event: PreToolUse, matcher: Edit, if: Edit(**/a.md), timeout: 10}
      - {event: SessionEnd, timeout: 1}
    commands:
      - name: go
        description: "Go: now"
        argument-hint: "[a|b]"
        allowed-tools: ["Bash(ccreload config get:*)", Read]
        disable-model-invocation: true
        body: go.md
  - name: second
    title: second
    description: Does something else.
    readme: README.md
    network:
      - {host: github.com, why: the launcher downloads from it}
    hooks:
      - {event: Stop, timeout: 10}
    skills:
      - name: second
        description: Use it second.
        disable-model-invocation: true
        model: claude-sonnet-5-5
        body: second.md
`

// smallContent is what small is generated from, in the template of the repository.
func smallContent(t testing.TB) fstest.MapFS {
	t.Helper()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	return fstest.MapFS{
		templatePath:                   file(stockTemplate(t)),
		"gen/content/first/icon.png":   {Data: defaultIcon},
		"gen/content/first/README.md":  file("At {{opt \"budget\"}} ({{range_of \"budget\"}}) something is said, {{choices \"mode\"}}.\n"),
		"gen/content/first/go.md":      file("Go at {{opt \"budget\"}} or {{opt \"limit\"}}: $ARGUMENTS\n"),
		"gen/content/second/README.md": file("It has no options.\n"),
		"gen/content/second/second.md": file("# Second\n\nDo it.\n"),
	}
}

// stockTemplate is plugin.tmpl of the repository.
func stockTemplate(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("../" + templatePath)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// smallTree returns the tree of small.
func smallTree(t testing.TB) (*manifest, tree) {
	t.Helper()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	tree, _, err := emit(m, smallContent(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	return m, tree
}

// smallProject writes small and its prose into a directory of its own.
func smallProject(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, ManifestPath, small)
	content := smallContent(t)
	for name := range content {
		data, err := fs.ReadFile(content, name)
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, name, string(data))
	}
	return dir
}

func put(t testing.TB, dir, name, text string) {
	t.Helper()
	path := dir + "/" + name
	if err := os.MkdirAll(path[:strings.LastIndex(path, "/")], 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wants fails the test unless err is Problems and one of them has this text.
func wants(t *testing.T, err error, text string) {
	t.Helper()
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatalf("error is %v, want problems", err)
	}
	if !strings.Contains(ps.Error(), text) {
		t.Errorf("problems are\n%s\nwant\n%s", ps, text)
	}
}

// placed tests that each problem is one sentence with its place in the manifest
// and the line that stands there.
func placed(t *testing.T, err error, manifest string) {
	t.Helper()
	lines := strings.Split(manifest, "\n")
	for _, p := range problems(err) {
		switch {
		case p.File != ManifestPath || p.Line < 1 || p.Line > len(lines) || p.Column < 1:
			t.Errorf("it has no place: %s", p)
		case p.Source != lines[p.Line-1]:
			t.Errorf("it shows %q, and line %d is %q", p.Source, p.Line, lines[p.Line-1])
		case strings.ContainsAny(p.Message, "\r\n") || strings.HasSuffix(p.Message, "."):
			t.Errorf("it is not one sentence: %q", p.Message)
		}
	}
}
