package gen

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// theirs are plugins of every kind, as people have them.
var theirs = map[string]string{
	".claude-plugin/marketplace.json": `{"$schema": "x", "name": "all_kinds", "version": "2", "owner": {"name": "O", "email": "o@x.org"}, "metadata": {"description": "d"},
		"plugins": [
		{"name": "commands", "source": "./plugins/commands", "description": "Another text", "category": "dev", "tags": ["a"], "author": {"name": "Z"}},
		{"name": "hooks", "source": "./plugins/hooks", "version": "0.9", "strict": true},
		{"name": "entry-only", "source": "./entry", "description": "d", "strict": false, "lspServers": {"go": {"command": "gopls", "extensionToLanguage": {".go": "go"}}}},
		{"name": "bare", "source": "./bare"},
		{"name": "far", "source": {"source": "github", "repo": "a/b"}}]}`,
	"plugins/commands/.claude-plugin/plugin.json": "\ufeff" + `{"name": "commands", "description": "Two\nlines", "version": "1.0.0", "author": {"name": "A", "email": "a@x.org"}, "keywords": ["k: v", "no"],
		"license": "Apache-2.0", "homepage": "https://x.org/#y", "repository": "git@x.org:a/b", "mcpServers": "./mcp.json", "userConfig": {"n": {"type": "number", "title": "N", "description": "n", "max": 1e3, "default": 0.5}}}`,
	"plugins/commands/mcp.json":                `{"mcpServers":{"s":{"command":"${CLAUDE_PLUGIN_ROOT}/server/run"}}}`,
	"plugins/commands/commands/sub/x.md":       "---\ndescription: a: b\n---\r\n{{not ours}}",
	"plugins/commands/agents/a.md":             "no frontmatter\n",
	"plugins/commands/skills/s/SKILL.md":       "---\nname: s\n---\n-- a --\n",
	"plugins/commands/skills/s/scripts/go!":    "#!/bin/sh\n",
	"plugins/commands/server/run!":             "\x7fELF\x00\r\n\xff",
	"plugins/commands/pkg/__init__.py":         "",
	"plugins/hooks/.claude-plugin/plugin.json": `{"name": "hooks"}`,
	"plugins/hooks/hooks/hooks.json": `{"description": "H", "hooks": {
		"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "bash \"${CLAUDE_PLUGIN_ROOT}\"/x.sh", "timeout": 5}, {"type": "command", "command": "y", "async": true, "timeout": 60000}]}, {"hooks": [{"type": "prompt", "prompt": "ok?"}]}],
		"Stop": [{"matcher": "*", "hooks": [{"type": "command", "command": "python3", "args": ["${CLAUDE_PLUGIN_ROOT}/x.py"], "statusMessage": "s", "once": true}]}]}}`,
	"plugins/hooks/x.sh!":   "#!/bin/sh\n",
	"plugins/hooks/x.py":    "pass\n",
	"entry/.lsp.json":       "{}",
	"entry/LICENSE":         "mine",
	"bare/hooks/hooks.json": `{"hooks": {"Stop": [{"matcher": "", "hooks": [{"type": "command", "command": "true"}]}, {"hooks": [{"type": "unheard of"}]}]}}`,
}

// lay writes files into a new directory; a name that ends in ! is executable.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, "!") {
			mode = 0o755
		}
		file := filepath.Join(dir, filepath.FromSlash(strings.TrimSuffix(name, "!")))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// What is imported generates the same marketplace again, and what does not come
// along is named.
func TestImport(t *testing.T) {
	t.Parallel()
	dir, out := lay(t, theirs), filepath.Join(t.TempDir(), "new")
	done, err := Import(dir, out, stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"far: its source is elsewhere: import it from a copy of that"}; !slices.Equal(done.Lost, want) {
		t.Errorf("lost is %q, want %q", done.Lost, want)
	}
	if want := []string{"bare", "commands", "entry-only", "hooks"}; !slices.Equal(done.Plugins, want) {
		t.Errorf("the plugins are %q", done.Plugins)
	}
	p, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	// Not by what Import says of itself: file by file.
	for name, text := range theirs {
		name, run := strings.CutSuffix(name, "!")
		source, generated := filepath.Join(dir, name), filepath.Join(out, "marketplace", "plugins", strings.NewReplacer("plugins/", "", "entry/", "entry-only/").Replace(name))
		got, err := os.ReadFile(generated)
		switch {
		case name == marketFile:
			continue
		case err != nil:
			t.Error(err)
		case strings.HasSuffix(name, pluginFile) || strings.HasSuffix(name, hooksFile):
			sameJSON(t, name, got, strings.TrimPrefix(text, "\ufeff"))
		case string(got) != text:
			t.Errorf("%s is %q, want %q", name, got, text)
		}
		a, err := os.Stat(source)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := os.Stat(generated); err != nil || runtime.GOOS != "windows" && (a.Mode()&0o111 != 0) != (b.Mode()&0o111 != 0) || run && runtime.GOOS != "windows" && b.Mode()&0o111 == 0 {
			t.Errorf("%s has another run bit (%v)", name, err)
		}
	}
	if n := strings.Count(theirs[marketFile], `"name"`); n == 0 || p.Files() != len(theirs)-1+4 {
		t.Errorf("%d files are generated", p.Files())
	}
	var hooks []any
	for _, h := range p.manifest.Plugins[1].Hooks {
		hooks = append(hooks, h.Event)
	}
	if len(hooks) != 4 {
		t.Errorf("the hooks in the manifest are %v", hooks)
	}
	// Nothing is overwritten.
	if _, err := Import(dir, out, stockTemplate(t)); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a second import: %v", err)
	}
}

// One plugin is a marketplace of its own; links are followed inside it only.
func TestImportPlugin(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{
		pluginFile:      `{"name": "one", "author": {"name": "Me"}, "colour": "red"}`,
		"docs/a.md":     "a",
		".git/config":   "x",
		"README.md":     "r",
		"plugin/.x/y.z": "",
	})
	if runtime.GOOS != "windows" {
		for link, to := range map[string]string{"in": "docs/a.md", "out": "/etc/passwd", "dir": "docs"} {
			if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := t.TempDir()
	done, err := Import(dir, out, stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"one: dir: this is no file and is left out",
		"one: in: this is a link; what it leads to is copied",
		"one: out: a link that leads nowhere or out of the plugin is left out",
		`one: plugin.json has "colour", which the host does not know`,
		`one: "colour" of .claude-plugin/plugin.json is not the same`,
	}
	if runtime.GOOS == "windows" {
		want = want[3:]
	}
	if !slices.Equal(done.Lost, want) {
		t.Errorf("lost is %q, want %q", done.Lost, want)
	}
	p, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sub := p.tree.sub(pluginDir("one"))
	for _, path := range []string{".git/config", "out"} {
		if _, ok := sub[path]; ok {
			t.Errorf("%s is generated", path)
		}
	}
	if string(sub["plugin/.x/y.z"].Data) != "" || string(sub["README.md"].Data) != "r" {
		t.Errorf("the files are %q", sub.paths())
	}
	sameJSON(t, marketFile, p.tree[marketFile].Data, `{"name":"one","owner":{"name":"Me"},"plugins":[{"name":"one","source":"./marketplace/plugins/one"}]}`)
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":       {map[string]string{"a": "b"}, "this is not a plugin or a marketplace"},
		"no JSON":       {map[string]string{pluginFile: "{"}, `".claude-plugin/plugin.json" is not a JSON object`},
		"a list":        {map[string]string{pluginFile: "[]"}, `".claude-plugin/plugin.json" is not a JSON object`},
		"name of a way": {map[string]string{pluginFile: `{"name": "../x"}`}, `"../x" cannot be the name of a plugin here`},
		"no name":       {map[string]string{pluginFile: `{}`}, `"" cannot be the name of a plugin here`},
		"bad market":    {map[string]string{marketFile: `{"name": "a/b", "plugins": []}`}, `"a/b" cannot be the name of a marketplace here`},
		"wrong types":   {map[string]string{pluginFile: `{"name": "x", "author": "me"}`}, "want a mapping, found a string"},
		"no plugins":    {map[string]string{marketFile: `{"name": "a", "owner": {"name": "o"}}`}, "at least one plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Import(lay(t, tt.files), filepath.Join(t.TempDir(), "out"), stockTemplate(t))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want %s", err, tt.want)
			}
		})
	}
}

// What writeYAML writes is read as what it was.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{`{"a": "b"}`, `{"a": [1, -0.5, true, null, "no", "1.0", "a: b", "#x", "- x", "'", "\"", "\\", "\n", "\u2028", "é", ""]}`, `{"a": [{"b": 1, "c": []}, {}, [[1], [2]]], "": {"x y": {"z": "a, b]"}}}`, `{"~": "---", "<<": "*a", "? x": "!!t", "on": "0x10", "1": "2026-01-01"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		want := object(data)
		if len(want) == 0 || bytes.ContainsAny(data, "eE") && bytes.ContainsAny(data, "0123456789") {
			return // numbers of any size are not text's business
		}
		var b bytes.Buffer
		writeYAML(&b, want, "")
		var got any
		if err := yaml.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatalf("%s\nfrom %s: %v", b.String(), data, err)
		}
		if a, b := object(encode(got)), object(encode(want)); !reflect.DeepEqual(a, b) {
			t.Errorf("%v is read as %v", b, a)
		}
	})
}
