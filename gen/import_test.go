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

// What is imported generates the same marketplace again, and what does not come
// along is named.
func TestImport(t *testing.T) {
	t.Parallel()
	dir, out := lay(t, theirs), filepath.Join(t.TempDir(), "new")
	done, err := Import(dir, out, stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"plugins/commands/.claude-plugin/plugin.json: the byte order mark it begins with is not written again"}; !slices.Equal(done.Lost, want) {
		t.Errorf("lost is %q", done.Lost)
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
	// Not by what Import says of itself.
	for name, source := range map[string]string{"commands": "plugins/commands", "hooks": "plugins/hooks", "entry-only": "entry", "bare": "bare"} {
		for _, difference := range comparePlugins(t, filepath.Join(dir, source), filepath.Join(out, "marketplace", "plugins", name)) {
			t.Errorf("%s: %s", name, difference)
		}
	}
	sameJSON(t, marketFile, p.tree[marketFile].Data, strings.NewReplacer("./plugins/", "./marketplace/plugins/", "./entry", "./marketplace/plugins/entry-only", "./bare", "./marketplace/plugins/bare").Replace(theirs[marketFile]))
	if p.Files() != len(theirs)-1+3 {
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

// kinds are plugins as odd as people have them, each with what is lost of it.
var kinds = map[string]struct {
	files map[string]string
	lost  []string
}{
	"manifest only": {files: map[string]string{pluginFile: `{"name": "p"}`}},
	"everything in plugin.json": {files: map[string]string{
		pluginFile: `{"$schema": "https://x", "name": "p", "displayName": "P!", "version": "v1", "description": " two\nlines: {{x}} ", "author": {"name": "A", "url": ""},
			"homepage": "see https://x.org", "repository": {"type": "git", "url": "u"}, "license": {"type": "MIT"}, "keywords": "a, b", "dependencies": {"x": "^1"},
			"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 1e1}]}]}, "mcpServers": {"s": {"command": "x", "env": {"A": "${user_config.a}"}}},
			"commands": {"a": {"source": "./x.md"}}, "agents": ["./y.md"], "skills": "./s", "outputStyles": ["./o"], "lspServers": "./l.json", "settings": {"a": {"b": [null, true, -0.5, 123456789012345678]}},
			"userConfig": {"k": {"type": "string", "title": "T", "description": "D", "sensitive": true}}, "engines": {"claude-code": ">=2.1"}, "interface": {"a": []}, "category": "c"}`,
		"x.md": "x", "y.md": "y", "s/SKILL.md": "s", "o/o.md": "---\nname: o\n---\n", "l.json": "{}",
	}},
	"wrong types":      {files: map[string]string{pluginFile: `{"name": "p", "author": "me", "version": 1, "description": ["x"], "keywords": [1], "hooks": 7, "displayName": "", "homepage": 0, "license": ""}`}},
	"its own title":    {files: map[string]string{pluginFile: `{"name": "p", "displayName": "p", "version": "", "description": "  "}`}},
	"odd text":         {files: map[string]string{pluginFile: `{"name": "p", "description": "-x: #y\u0085\u2028'\"\\ \t%@` + "`" + `", "version": "1.0", "keywords": ["null", "1", "a: b", "é", "日本", "👍"], "yes": "no", "~": "~", "1": 1, "a b": "c"}`}},
	"own name in host": {files: map[string]string{pluginFile: `{"name": "Ünïcode plügin/2", "version": "1.0.0"}`, "a.md": "a"}},
	"frontmatter": {files: map[string]string{
		pluginFile:        `{"name": "p"}`,
		"commands/a.md":   "---\ndescription: Fix: this, #that\nallowed-tools: Bash(git *), Read\nargument-hint: [a] [b]\n---\n$1 {{x}}",
		"commands/b.md":   "no frontmatter",
		"commands/c.md":   "---\na: 1\na: 2\n---\n",
		"commands/d.md":   "---\r\ndescription: crlf\r\n---\r\nx\r\n",
		"commands/e.md":   "---\ndescription: >-\n  many\n  lines\n---\n",
		"commands/f.md":   "---\n\tbad: [\n---\n",
		"commands/g/h.md": "\ufeff---\nname: \n---\n-- commands/x.md --\n",
		"commands/i.md":   "",
		"agents/a.md":     "---\nname: a\ndescription: Use this. Examples:\\n<example>Context: x</example>\ntools: []\n---\n",
	}},
	"hooks": {files: map[string]string{
		pluginFile: `{"name": "p", "hooks": "./more.json"}`,
		hooksFile: `{"hooks": {
			"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "bash ${CLAUDE_PLUGIN_ROOT}/x.sh"}]}, {"matcher": "Bash", "hooks": []}],
			"PostToolUse": [{"matcher": "", "hooks": [{"type": "command", "command": "y", "async": true, "timeout": 0.5}]}],
			"Stop": [{"hooks": [{"type": "http", "url": "https://x.org"}, {"type": "mcp_tool", "server": "s", "tool": "t"}]}],
			"Notification": [{"id": "x", "description": "d", "hooks": [{"type": "command", "command": "z", "name": "n"}]}]}}`,
		"more.json": `{"hooks": {}}`, "x.sh!": "#!/bin/bash\n",
	}},
	"hooks twice":       {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}, {"type": "command", "command": "x"}]}]}}`}},
	"hooks of no event": {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: `{"hooks": {"OnStop": [{"hooks": [{"type": "command", "command": "x"}]}]}}`}},
	"hooks, no JSON":    {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: "{,}"}},
	"hooks, a list":     {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: "[]"}},
	"hooks, flat":       {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: `{"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}`}},
	"hooks with a mark": {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: "\ufeff{\"hooks\": {}}"}},
	"modules":           {files: map[string]string{pluginFile: `{"name": "p"}`, hooksFile: `{"modules": ["./m.ts"]}`, "hooks/m.ts": "export function register() {}"}},
	"servers":           {files: map[string]string{pluginFile: `{"name": "p"}`, ".mcp.json": `{"s": {"type": "http", "url": ""}}`, ".lsp.json": "{,}", "server/index.js": "//\r\n", "server/node_modules/a/package.json": "{}"}},
	"all sorts of files": {files: map[string]string{
		pluginFile: `{"name": "p"}`, ".gitignore": "*\n", ".gitattributes": "* text\n", ".github/x.yml": "", "bin/tool!": "\x7fELF\x00", "lib/a.pyc": "\x00\xff", "LICENSE.txt": "l", "README.md": "r\r\n",
		"README": "", "pkg/__init__.py": "", "日本/ü ü.md": "x", "a b/c'd.md": "x", "CLAUDE.md": "x", "plugin.json": "{}", "marketplace/plugins/x/.claude-plugin/plugin.json": "{", "output-styles/o.md": "",
		"scripts/go": "#!/bin/sh\n", "no-shebang!": "x", "gen/manifest.yaml": "x", "evals/a.yaml": "", ".claude-plugin/icon.png": "no picture", "hooks/README.md": "",
	}, lost: []string{"p: its .gitattributes holds in the project as well, where git may rewrite line ends; check says so if it has"}},
	"attributes that keep": {files: map[string]string{pluginFile: `{"name": "p"}`, ".gitattributes": "# * text\n* -text\n*.sh -text -diff\n*.png binary linguist-vendored\n"}},
	"links": {
		files: map[string]string{
			pluginFile: `{"name": "p"}`, "docs/a.md": "a", "docs/deep/b.md!": "b", ".git/config": "x",
			"in@": "docs/a.md", "dir@": "docs", "docs/deep/up@": "..", "self@": "self", "out@": "/etc/passwd", "gone@": "nowhere",
		},
		lost: []string{
			"p: dir is a link; what it leads to is copied",
			"p: dir/deep/up is a link to a directory it is in and is left out",
			"p: docs/deep/up is a link to a directory it is in and is left out",
			"p: gone is a link that leads nowhere or out of the plugin and is left out",
			"p: in is a link; what it leads to is copied",
			"p: out is a link that leads nowhere or out of the plugin and is left out",
			"p: self is a link that leads nowhere or out of the plugin and is left out",
		},
	},
	// A profile of ours is called so as well.
	"ccreload.json":            {files: map[string]string{pluginFile: `{"name": "p"}`, profileFile: `{"theme": "dark"}`, "README.md": "short"}},
	"ccreload.json, no JSON":   {files: map[string]string{pluginFile: `{"name": "p"}`, profileFile: "{"}},
	"ccreload.json and a tool": {files: map[string]string{pluginFile: `{"name": "p"}`, profileFile: `{"plugin": "other"}`, runtimeFile + "!": "#!/bin/sh\n"}},
	"null":                     {files: map[string]string{pluginFile: `{"name": "p", "hooks": null, "x": null}`}},
	"marks": {
		files: map[string]string{pluginFile: "\ufeff" + `{"name": "p"}`},
		lost:  []string{".claude-plugin/plugin.json: the byte order mark it begins with is not written again"},
	},
	"keys twice": {
		files: map[string]string{
			pluginFile: `{"name": "p", "version": "1", "author": {"name": "a", "name": "b"}, "x": [{"y": 1}, {"y": 1, "y": {"z": 0, "z": 0}}], "version": "2"}`,
			hooksFile:  `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "command": "y"}]}]}}`, // stays as it is
		},
		lost: []string{
			`.claude-plugin/plugin.json: the key "author.name" is there twice, and only the last one is taken`,
			`.claude-plugin/plugin.json: the key "x.1.y" is there twice, and only the last one is taken`,
			`.claude-plugin/plugin.json: the key "x.1.y.z" is there twice, and only the last one is taken`,
			`.claude-plugin/plugin.json: the key "version" is there twice, and only the last one is taken`,
		},
	},
	"half a character": {
		files: map[string]string{pluginFile: `{"name": "p", "description": "a \ud83d b"}`},
		lost:  []string{`.claude-plugin/plugin.json: a character that is none, such as half of a pair, is written as \ufffd`},
	},
	"bytes of no text": {
		files: map[string]string{pluginFile: "{\"name\": \"p\", \"description\": \"caf\xe9\"}"},
		lost:  []string{`.claude-plugin/plugin.json: a character that is none, such as half of a pair, is written as \ufffd`},
	},
	"names and versions": {files: map[string]string{
		pluginFile: `{"name": "p", "version": "v1.1"}`, hooksFile: `{"hooks": {"PreToolUse": [{"matcher": "Bash(", "hooks": [{"type": "command", "command": "x"}]}]}}`, "commands/CON.md": "x", "commands/foo.md": "x", "docs/aux": "x",
	}},
	"whole characters": {files: map[string]string{pluginFile: `{"name": "p", "description": "\ud83d\uDE00 \\ud83d \ufffd"}`}},
	"a root":           {files: map[string]string{pluginFile: `{"name": "p"}`, marketFile: `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./"}]}`, "a.md": ""}},
}

// Every kind of plugin generates as it was.
func TestImportKinds(t *testing.T) {
	t.Parallel()
	for name, tt := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && (name == "links" || name == "names and versions") {
				t.Skip("needs links, or names that Windows cannot have")
			}
			dir, out := lay(t, tt.files), filepath.Join(t.TempDir(), "out")
			done, err := Import(dir, out, stockTemplate(t))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(done.Lost, tt.lost) {
				t.Errorf("lost is %q, want %q", done.Lost, tt.lost)
			}
			p, err := Open(out)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			if _, err := p.Generate(); err != nil {
				t.Fatal(err)
			}
			for _, link := range []string{"docs/deep/up", "out", "gone", "self"} { // the comparison follows links
				_ = os.Remove(filepath.Join(dir, filepath.FromSlash(link)))
			}
			for _, difference := range comparePlugins(t, dir, filepath.Join(out, "marketplace", "plugins", done.Plugins[0])) {
				t.Error(difference)
			}
			if changes, err := p.Check(); err != nil || len(changes) > 0 {
				t.Errorf("check finds %v (%v)", changes, err)
			}
		})
	}
}

// A name that is no text can be on disk on Linux, and takes nothing else with it.
func TestImportNameOfNoText(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system has no such names")
	}
	dir := lay(t, map[string]string{pluginFile: `{"name": "p"}`, "a\xff.md": "a", "b.md": "b"})
	done, err := Import(dir, filepath.Join(t.TempDir(), "out"), stockTemplate(t))
	if want := []string{`p: the name of "a\xff.md" is not UTF-8, and it is left out`}; err != nil || !slices.Equal(done.Lost, want) || done.Files != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}

// A marketplace is as odd: what its entries say goes with them, and a plugin that
// cannot be read does not take the others with it.
func TestImportMarketplace(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{
		marketFile: `{"name": "My Plugins", "owner": "me", "metadata": {"pluginRoot": "./all"}, "tags": ["x"], "plugins": [
			{"name": "Café tools", "source": "cafe"}, {"name": "caf! tools", "source": "./all/cafe/"}, {"name": "other", "source": "./all/cafe", "version": null},
			{"name": "skills", "source": "./", "strict": false, "skills": ["./skills/a"]}, {"source": "./x"}, {"name": "gone", "source": "./gone"}, {"name": "up", "source": "../x"},
			{"name": "bad", "source": "./bad"}, {"name": "deep", "source": "./deep"}, {"name": "far", "source": {"source": "npm", "package": "x"}, "version": "1", "strict": false, "author": {"name": "a"}},
			{"name": "odd", "source": {"source": "ftp"}}, {"name": "far", "source": "./all/cafe"}, 7]}`,
		"all/cafe/" + pluginFile: `{"version": "1.0.0"}`,
		"deep/" + pluginFile:     `{"x": ` + strings.Repeat("[", 80) + strings.Repeat("]", 80) + `}`,
		"all/cafe/a.md":          "a",
		"bad/" + pluginFile:      "{",
		"skills/a/SKILL.md":      "a",
		"skills/b/SKILL.md":      "b",
		"skills/c.md":            "c",
	})
	out := filepath.Join(t.TempDir(), "out")
	done, err := Import(dir, out, stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"skills: it gets a directory of its own, where the host takes every skill in skills/ and not only those that the marketplace lists: delete b from gen/content/skills/files/skills",
		"the 5th plugin of the marketplace has no name and is left out",
		`gone: the source "./gone" is not a directory`,
		`up: the source "../x" leads out of the marketplace`,
		`bad: it is left out, since bad/.claude-plugin/plugin.json:1:1: not valid JSON: the file ends before what it begins does: a bracket or a quote is missing`,
		"deep: it is left out, since a manifest cannot hold what it says: lists and mappings are nested more than 60 deep: take that out of it first",
		"odd: the host knows no such source, and the plugin is left out",
		"far: a second entry of that name is left out",
		"the 13th plugin of the marketplace has no name and is left out",
	}
	if !slices.Equal(done.Lost, want) {
		t.Errorf("lost is %q, want %q", done.Lost, want)
	}
	p, err := Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	sameJSON(t, marketFile, p.tree[marketFile].Data, `{"name": "My Plugins", "owner": "me", "metadata": {"pluginRoot": "./all"}, "tags": ["x"], "plugins": [
		{"name": "Café tools", "source": "./marketplace/plugins/Caf-tools"}, {"name": "caf! tools", "source": "./marketplace/plugins/caf-tools"}, {"name": "other", "source": "./marketplace/plugins/other"},
		{"name": "skills", "source": "./marketplace/plugins/skills", "strict": false, "skills": ["./skills/a"]},
		{"name": "far", "source": {"source": "npm", "package": "x"}, "version": "1", "strict": false, "author": {"name": "a"}}]}`)
	sameJSON(t, pluginFile, p.tree[pluginDir("other")+"/"+pluginFile].Data, `{"version": "1.0.0"}`)
}

// What belongs to no plugin stays where it is, and is named by its kind.
func TestImportLeaves(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{
		marketFile:                    `{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "a", "source": "./plugins/a"}]}`,
		"plugins/a/" + pluginFile:     `{"name": "a"}`,
		"plugins/a/.git":              "gitdir: ../../.git/modules/a",
		"plugins/b/" + pluginFile:     `{"name": "b"}`,
		"plugins/README.md":           "r",
		"README.md":                   "r",
		".git/config":                 "c",
		"docs/a.md":                   "a",
		"docs/more/b.md":              "b",
		"external/x/c/" + pluginFile:  `{"name": "c"}`,
		"external/x/c/commands/do.md": "d",
		"external/x/notes.md":         "n",
	})
	for _, empty := range []string{"none", "plugins/a/none"} {
		if err := os.Mkdir(filepath.Join(dir, filepath.FromSlash(empty)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	done, err := Import(dir, filepath.Join(t.TempDir(), "out"), stockTemplate(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		".git, plugins/a/.git: the histories stay where they are",
		"external/x/c, plugins/b: the marketplace does not list these plugins",
		"README.md, docs/, external/x/notes.md, plugins/README.md: they belong to no plugin; copy what the project is to keep",
		"none, plugins/a/none: they are empty directories, which git does not keep either",
	}
	if !slices.Equal(done.Left, want) || len(done.Lost) > 0 {
		t.Errorf("left is %q, want %q; lost is %q", done.Left, want, done.Lost)
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":       {map[string]string{"a": "b"}, "this is not a plugin or a marketplace"},
		"no JSON":       {map[string]string{pluginFile: "{\"a\": 1,\n}"}, ".claude-plugin/plugin.json:2:1: not valid JSON: want another key, found }: is the comma before it one too many?\n    2 | }"},
		"a list":        {map[string]string{pluginFile: "[]"}, ".claude-plugin/plugin.json:1:1: want a JSON object, found a list"},
		"no text":       {map[string]string{pluginFile: ""}, ".claude-plugin/plugin.json:1:1: not valid JSON: the file is empty"},
		"more":          {map[string]string{pluginFile: `{"name": "p"} {}`}, ".claude-plugin/plugin.json:1:15: not valid JSON: something stands behind the end, {"},
		"no name":       {map[string]string{pluginFile: `{}`}, `".claude-plugin/plugin.json" has no name of the plugin`},
		"no plugins":    {map[string]string{marketFile: `{"name": "a", "owner": {"name": "o"}}`}, "the marketplace has no plugin that can be imported"},
		"none that can": {map[string]string{marketFile: `{"name": "a", "plugins": [{"name": "x", "source": "./x"}]}`}, "no plugin that can be imported"},
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
