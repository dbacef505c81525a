package gen

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// Each row breaks one file of a good tree. The paths are below plugins/first
// of the marketplace.
func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	replace := func(name, old, new string) func(tree) {
		return func(tree tree) {
			path := pluginDir("first") + "/" + name
			f := tree[path]
			f.Data = []byte(strings.Replace(string(f.Data), old, new, 1))
			tree[path] = f
		}
	}
	put := func(path, text string) func(tree) {
		return func(tree tree) { tree[path] = file{Data: []byte(text), Mode: 0o644} }
	}
	remove := func(path string) func(tree) { return func(tree tree) { delete(tree, path) } }
	const first = "marketplace/plugins/first/"
	for name, tt := range map[string]struct {
		edit func(tree)
		want string
	}{
		"two plugins, one command line (F16)": {
			replace("hooks/hooks.json", "\"first\",\n              \"SessionEnd\"", "\"second\",\n              \"Stop\""),
			`the command line "${CLAUDE_PLUGIN_ROOT}/bin/ccreload hook second Stop" is also a hook of marketplace/plugins/first: the host runs one of the two`,
		},
		"one handler twice (F16)": {
			replace("hooks/hooks.json", "Write(**/b.md)", "Write(**/a.md)"),
			`duplicate command line "${CLAUDE_PLUGIN_ROOT}/bin/ccreload hook first PreToolUse" of the event PreToolUse`,
		},
		"hooks in plugin.json (F20)":    {replace(pluginFile, `"license"`, `"hooks": "./hooks/hooks.json", "license"`), first + pluginFile + `: unknown key "hooks"`},
		"commands in plugin.json":       {replace(pluginFile, `"license"`, `"commands": "./commands", "license"`), `unknown key "commands"`},
		"extra key in hooks.json (F45)": {replace(hooksFile, `"description"`, `"statusLine": {}, "description"`), first + hooksFile + `:2:3: unknown key "statusLine"`},
		"shell form":                    {replace(hooksFile, `"${CLAUDE_PLUGIN_ROOT}/bin/ccreload"`, `"sh -c 'echo'"`), `starts the program "sh -c 'echo'", and with args no shell takes that apart`},
		"no timeout":                    {replace(hooksFile, `"timeout": 10,`, ``), `"timeout" is missing`},
		"timeout in milliseconds":       {replace(hooksFile, `"timeout": 10,`, `"timeout": 10000,`), `10000 is too large: want at most 600`},
		"unknown event":                 {replace(hooksFile, `"SessionEnd": [`, `"SessionOver": [`), `the host has no event "SessionOver"`},
		"matcher on an event without":   {replace(hooksFile, `"SessionStart": [`, `"Stop": [{"matcher": "x", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/bin/ccreload", "args": [], "timeout": 1}]}], "SessionStart": [`), `the event Stop takes no matcher`},
		"if on an event without":        {replace(hooksFile, `"statusMessage"`, `"if": "Write(x)", "statusMessage"`), `the event SessionStart takes no if rule`},
		"SessionEnd too long":           {replace(hooksFile, `"timeout": 1,`, `"timeout": 2,`), `the timeout of SessionEnd is 2`},
		"program that is not there":     {remove(first + "bin/ccreload"), `the program "${CLAUDE_PLUGIN_ROOT}/bin/ccreload" of SessionStart is not in the plugin`},
		"four user options":             {replace(pluginFile, `"userConfig": {`, `"userConfig": {"x": {"type": "string", "title": "x", "description": "x"},`), `userConfig has 4 options: want at most three`},
		"absolute source (F45)":         {put("marketplace/"+marketFile, `{"name":"tools","description":"x","owner":{"name":"x"},"plugins":[{"name":"first","source":"/plugins/first","description":"x","version":"1.0.0"}]}`), `1:92: "/plugins/first" does not fit: want a path in the marketplace that begins with ./`},
		"source without ./ (F45)":       {put("marketplace/"+marketFile, `{"name":"tools","description":"x","owner":{"name":"x"},"plugins":[{"name":"first","source":"plugins/first","description":"x","version":"1.0.0"}]}`), `1:92: "plugins/first" does not fit: want a path in the marketplace that begins with ./`},
		"source to nowhere":             {put("marketplace/"+marketFile, `{"name":"tools","description":"x","owner":{"name":"x"},"plugins":[{"name":"first","source":"./plugins/third","description":"x","version":"1.0.0"}]}`), `the source "./plugins/third" of first is not a plugin`},
		"plugin twice":                  {put("marketplace/"+marketFile, `{"name":"tools","description":"x","owner":{"name":"x"},"plugins":[{"name":"first","source":"./plugins/first","description":"x","version":"1.0.0"},{"name":"first","source":"./plugins/first","description":"x","version":"1.0.0"}]}`), `duplicate plugin "first"`},
		"no JSON":                       {put(first+hooksFile, "{"), first + hooksFile + ":1:1: not valid JSON"},
		"two values":                    {put(first+hooksFile, `{"description":"x","hooks":{}} {}`), first + hooksFile + ":"},
		"plugin.json at the root":       {put(first+"plugin.json", "{}"), first + "plugin.json: a plugin.json at the root of a plugin silences its hooks in other hosts"},
		"CLAUDE.md at the root":         {put(first+"CLAUDE.md", "x"), first + "CLAUDE.md: a CLAUDE.md at the root"},
		"no license":                    {remove(first + "LICENSE"), first + "LICENSE: the file is missing"},
		"no README":                     {remove(first + "README.md"), first + "README.md: the file is missing"},
		"short README":                  {put(first+"README.md", "/plugin install first --marketplace a/b\n"), "the README has 5 words: want 40"},
		"README of another":             {replace("README.md", "/plugin install first --", "/plugin install second --"), `the line "/plugin install first --marketplace OWNER/REPO" is missing`},
		"no icon":                       {remove(first + iconFile), first + iconFile + ": the file is missing"},
		"icon of text":                  {put(first+iconFile, "x"), "the icon is not a valid PNG"},
		"small icon":                    {func(tree tree) { tree[first+iconFile] = file{Data: picture(t, 64, 64)} }, "the icon has 64 by 64 pixels"},
		"oblong icon":                   {func(tree tree) { tree[first+iconFile] = file{Data: picture(t, 600, 512)} }, "the icon has 600 by 512 pixels"},
		"carriage return (F73)":         {replace("LICENSE", "\n", "\r\n"), first + "LICENSE: the file has a carriage return"},
		"profile of another":            {replace(profileFile, `"plugin": "first"`, `"plugin": "second"`), `this is the profile of "second", and the plugin is called "first"`},
		"profile of nobody":             {put(first+profileFile, "{}"), "names no plugin"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, tree := smallTree(t)
			if err := refused(tree); err != nil {
				t.Fatalf("the good tree: %v", err)
			}
			tt.edit(tree)
			wants(t, refused(tree), tt.want)
		})
	}
}

// refused returns what a host or, in a plugin of ours, a house rule has against
// the tree.
func refused(t tree) error {
	ps, _ := t.validate(false, t.looksOurs)
	return ps.err()
}

func picture(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A tree that is read from disk is the one that was written, without what a
// build or git put there.
func TestReadTree(t *testing.T) {
	t.Parallel()
	dir, p := generated(t)
	put(t, dir, ".git/config", "x")
	put(t, dir, "marketplace/plugins/first/bin/ccreload-linux-amd64", "x")
	got, err := readTree(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range p.tree.paths() {
		if !bytes.Equal(got[path].Data, p.tree[path].Data) {
			t.Errorf("%s differs", path)
		}
	}
	if err := refused(got); err != nil {
		t.Error(err)
	}
	for path := range got {
		if strings.HasPrefix(path, ".git/") || strings.Contains(path, "ccreload-linux") {
			t.Errorf("%s is read", path)
		}
	}
	if _, err := readTree(fstest.MapFS{"a": &fstest.MapFile{Data: []byte("x")}}); err != nil {
		t.Error(err)
	}
}
