package gen

import (
	"encoding/json"
	"io/fs"
	"path"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// foreign is a manifest of plugins that our runtime has no part in, with one of
// everything.
const foreign = `name: others
marketplace:
  name: others
  owner: {name: Else, email: else@example.org}
  host: {metadata: {pluginRoot: ./x}}
plugins:
  - name: 3_in.One
    runtime: none
    version: "7"
    license: Apache-2.0
    author: {name: A, email: a@b.c, url: "https://a.b"}
    category: development
    tags: [x, y]
    homepage: https://a.b/c
    files: files
    host:
      dependencies: [other]
      lspServers: {go: {command: gopls, extensionToLanguage: {.go: go}}}
      userConfig: {token: {type: string, title: T, description: D, sensitive: true}}
    entry: {version: null, strict: true}
    hooks-description: Two of them
    hooks:
      - {event: Stop, matcher: "*", timeout: 30, status: Wait, run: {command: python3, args: ["${CLAUDE_PLUGIN_ROOT}/hooks/stop.py"]}}
      - {event: WorktreeCreate, async: true, run: {command: '"${CLAUDE_PLUGIN_ROOT}"/hooks/tree.sh'}}
      - {event: PostToolUse, run: {type: prompt, prompt: Is it done?, timeout: 0.5}}
    commands:
      - {name: do_it, description: Does it, allowed-tools: [Read], body: do.md, extra: {effort: high, description: null}}
    skills:
      - {name: s, description: 'A "skill"', body: s.md, files: s, extra: {context: fork, user-invocable: false}}
    agents:
      - {name: a, description: Looks, allowed-tools: [Read, Grep], body: a.md, extra: {color: red}}
  - {name: empty, runtime: none}
`

func foreignContent(t testing.TB) fstest.MapFS {
	const dir = "gen/content/3_in.One/"
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s), Mode: 0o644} }
	return fstest.MapFS{
		templatePath:                  text(stockTemplate(t)),
		dir + "do.md":                 text("Do $ARGUMENTS.\n"),
		dir + "s.md":                  text("Write {{\"{{\"}}x}}.\n"),
		dir + "a.md":                  text("Look.\n"),
		dir + "s/scripts/run.sh":      {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
		dir + "s/scripts/data":        {Data: []byte("\x00\r\n\xff"), Mode: 0o600},
		dir + "files/hooks/stop.py":   text("pass\n"),
		dir + "files/hooks/tree.sh":   {Data: []byte("#!/bin/sh\n"), Mode: 0o744},
		dir + "files/.mcp.json":       text(`{"mcpServers":{}}`),
		dir + "files/README.md":       text("mine\r\n"),
		dir + "files/LICENSE":         text("mine"),
		dir + "files/commands/x/y.md": text("{{not a template}}"),
	}
}

func emitForeign(t testing.TB, manifest string, files fs.FS) (tree, Problems, error) {
	t.Helper()
	m, err := decode(ManifestPath, []byte(manifest), stockEvents)
	if err != nil {
		return nil, nil, err
	}
	return emit(m, files, nil)
}

// A plugin without our runtime has what its entry says, what lies below
// `files:` as it is, and nothing of ours.
func TestForeignPlugin(t *testing.T) {
	t.Parallel()
	content := foreignContent(t)
	got, _, err := emitForeign(t, foreign, content)
	if err != nil {
		t.Fatal(err)
	}
	sub := got.sub(pluginDir("3_in.One"))
	for path, want := range map[string]string{
		".claude-plugin/plugin.json": `{"name":"3_in.One","version":"7","license":"Apache-2.0","author":{"name":"A","email":"a@b.c","url":"https://a.b"},"homepage":"https://a.b/c",
			"dependencies":["other"],"lspServers":{"go":{"command":"gopls","extensionToLanguage":{".go":"go"}}},
			"userConfig":{"token":{"type":"string","title":"T","description":"D","sensitive":true}}}`,
		hooksFile: `{"description":"Two of them","hooks":{
			"Stop":[{"matcher":"*","hooks":[{"type":"command","command":"python3","args":["${CLAUDE_PLUGIN_ROOT}/hooks/stop.py"],"timeout":30,"statusMessage":"Wait"}]}],
			"WorktreeCreate":[{"hooks":[{"type":"command","command":"\"${CLAUDE_PLUGIN_ROOT}\"/hooks/tree.sh","async":true}]}],
			"PostToolUse":[{"hooks":[{"type":"prompt","prompt":"Is it done?","timeout":0.5}]}]}}`,
	} {
		sameJSON(t, path, sub[path].Data, want)
		delete(sub, path)
	}
	for path, want := range map[string]string{
		"commands/do_it.md":     "---\nallowed-tools: Read\neffort: \"high\"\n---\n\nDo $ARGUMENTS.\n",
		"skills/s/SKILL.md":     "---\nname: s\ndescription: \"A \\\"skill\\\"\"\ncontext: \"fork\"\nuser-invocable: false\n---\n\nWrite {{x}}.\n",
		"agents/a.md":           "---\nname: a\ndescription: \"Looks\"\ntools: Read, Grep\ncolor: \"red\"\n---\n\nLook.\n",
		"commands/x/y.md":       "{{not a template}}",
		"hooks/stop.py":         "pass\n",
		".mcp.json":             `{"mcpServers":{}}`,
		"README.md":             "mine\r\n",
		"LICENSE":               "mine",
		"skills/s/scripts/data": "\x00\r\n\xff",
	} {
		if f := sub[path]; string(f.Data) != want || f.Mode != 0o644 {
			t.Errorf("%s (%o) is %q, want %q", path, f.Mode, f.Data, want)
		}
		delete(sub, path)
	}
	for _, path := range []string{"hooks/tree.sh", "skills/s/scripts/run.sh"} {
		if sub[path].Mode != 0o755 {
			t.Errorf("%s has the mode %o", path, sub[path].Mode)
		}
		delete(sub, path)
	}
	if len(sub) > 0 {
		t.Errorf("there is also %q", sub.paths())
	}
	sameJSON(t, marketFile, got[marketFile].Data, `{"name":"others","owner":{"name":"Else","email":"else@example.org"},"metadata":{"pluginRoot":"./x"},"plugins":[
		{"name":"3_in.One","source":"./marketplace/plugins/3_in.One","category":"development","tags":["x","y"],"homepage":"https://a.b/c","strict":true},
		{"name":"empty","source":"./marketplace/plugins/empty"}]}`)
	if paths := got.sub(pluginDir("empty")).paths(); len(paths) != 1 || paths[0] != pluginFile {
		t.Errorf("the empty plugin has %q", paths)
	}
}

func sameJSON(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// What nothing takes in is said, and so is what cannot be taken in.
func TestForeignContent(t *testing.T) {
	t.Parallel()
	const dir = "gen/content/3_in.One/"
	for name, tt := range map[string]struct {
		path, text    string
		mode          fs.FileMode
		warns, refuse string
	}{
		"unused":          {path: "old.md", warns: dir + "old.md: nothing in the manifest uses this file"},
		"no run bit":      {path: "files/hooks/tree.sh", text: "#!/bin/sh\n", warns: "hooks/tree.sh: a hook starts this file and it is not executable"},
		"a link":          {path: "files/link", mode: fs.ModeSymlink, refuse: `"gen/content/3_in.One/files/link" is a link`},
		"twice":           {path: "files/hooks/hooks.json", text: "{}", refuse: "would be a file that comes from the manifest already"},
		"twice, section":  {path: "files/agents/a.md", refuse: `31:16: "agents/a.md" comes from ` + "`files:` already"},
		"braces in prose": {path: "do.md", text: "Write {{x}}.", refuse: `do.md:1:7: function "x" not defined; where {{ is part of the text, write {{"{{"}}`},
		"dots in prose":   {path: "do.md", text: "a\nWrite {{ .x }}.", refuse: `do.md:2:10: the manifest has no "x" for prose; where {{ is part of the text, write {{"{{"}}`},
		"open braces":     {path: "do.md", text: "a\nWrite {{", refuse: `do.md:2:7: unclosed action; where {{ is part of the text`},
		"of nobody":       {path: "../3_in.On/x.md", warns: `gen/content/3_in.On: no plugin in the manifest is called "3_in.On", so nothing uses this; did you mean "3_in.One"?`},
		"a device":        {path: "files/commands/NUL.md", text: "---\ndescription: x\n---\n", warns: "commands/NUL.md: Windows cannot have this name"},
		"a version":       {path: "files/x", warns: `plugin.json:29:14: "7" is not a version of three numbers, such as 1.2.0`},
		"a server":        {path: "files/.mcp.json", text: `{"mcpServers":{"s":{"command":"${CLAUDE_PLUGIN_ROOT}/hooks/stop.py"}}}`, warns: "hooks/stop.py: a server starts this file and it is not executable"},
		"a server's file": {path: "files/.mcp.json", text: `{"mcpServers":{"s":{"command":"node","args":["${CLAUDE_PLUGIN_ROOT}/gone.js"]}}}`, warns: `.mcp.json:1:46: the server "s" names "gone.js", which is not in the plugin`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := foreignContent(t)
			content[path.Join(dir, tt.path)] = &fstest.MapFile{Data: []byte(tt.text), Mode: tt.mode}
			_, warnings, err := emitForeign(t, foreign, content)
			if tt.refuse != "" {
				wants(t, err, tt.refuse)
			} else if err != nil {
				t.Fatal(err)
			} else if !strings.Contains(warnings.Error(), tt.warns) {
				t.Errorf("the warnings are %s, want %s", warnings, tt.warns)
			}
		})
	}
}

// A whole number may be written with a point.
func TestForeignWholeNumber(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(strings.Replace(foreign, "timeout: 30", "timeout: 5.0", 1)), stockEvents)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Plugins[0].Hooks[0].Timeout; got != 5 {
		t.Errorf("the timeout is %d", got)
	}
}

// A matcher that the host cannot take is said where it stands in hooks.json.
func TestForeignMatcher(t *testing.T) {
	t.Parallel()
	_, warnings, err := emitForeign(t, strings.Replace(foreign, `matcher: "*"`, `matcher: "*Bash"`, 1), foreignContent(t))
	if err != nil {
		t.Fatal(err)
	}
	wants(t, warnings, `hooks/hooks.json:28:20: the matcher "*Bash" is not a regular expression: nothing stands before a *, + or ? that it could repeat`)
}

// Each row changes one thing in foreign, which is then refused where it stands.
func TestForeignRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, new, want string }{
		"unknown host key":     {"dependencies: [other]", "dependecies: [other]", `17:7: unknown key "dependecies"; did you mean "dependencies"?`},
		"host key of a type":   {"dependencies: [other]", "dependencies: other", `17:21: want a list, found a string (the plugins this one needs`},
		"unknown frontmatter":  {"context: fork", "contxt: fork", `unknown key "contxt"; did you mean "context"?`},
		"unknown handler":      {"type: prompt", "type: promt", `"promt" does not fit: want command, prompt, agent, http or mcp_tool`},
		"unknown handler key":  {"run: {command: python3, args", "run: {command: python3, arg", `unknown key "arg"; did you mean "args"?`},
		"prompt without text":  {", prompt: Is it done?", "", `"prompt" is missing`},
		"command without one":  {"run: {command: python3, args", "run: {args", `"command" is missing`},
		"unknown event":        {"WorktreeCreate", "WorktreeCreated", `the host has no event "WorktreeCreated"; did you mean "WorktreeCreate"?`},
		"nothing to run":       {", async: true, run: {command: '\"${CLAUDE_PLUGIN_ROOT}\"/hooks/tree.sh'}", ", timeout: 5", `the hook says nothing to run, and the plugin has no runtime`},
		"options":              {"    files: files\n", "    files: files\n    options: [{key: k, kind: text, default: \"\", scopes: [user], title: T, help: H}]\n", "a plugin without it has `host: {userConfig: …}`"},
		"files outside":        {"files: files", "files: ../empty", `"../empty" leads out of the plugin's content directory`},
		"files nowhere":        {"files: files", "files: nowhere", `there is no file "gen/content/3_in.One/nowhere"`},
		"files a file":         {"files: files", "files: do.md", `15:12: "gen/content/3_in.One/do.md" is a file: want the directory`},
		"skill files a file":   {"files: s,", "files: s.md,", `29:64: "gen/content/3_in.One/s.md" is a file: want the directory`},
		"a key twice":          {"dependencies: [other]", `version: "8"`, "17:7: \"version\" is said twice, here and by `version`: keep one of the two"},
		"twice, by two names":  {"    host:\n", "    title: X\n    host:\n      displayName: Y\n", "18:7: \"displayName\" is said twice, here and by `title`"},
		"twice, unchecked":     {"    entry:", "    unchecked: {dependencies: []}\n    entry:", "20:17: \"dependencies\" is said twice, here and by `host: {dependencies: …}`"},
		"twice, in its entry":  {"strict: true", "category: x", "\"category\" is said twice, here and by `category`"},
		"twice, in a hook":     {"run: {command: python3,", "run: {timeout: 5, command: python3,", "\"timeout\" is said twice, here and by `timeout`"},
		"twice, frontmatter":   {"description: null", "description: x", "\"description\" is said twice, here and by `description`"},
		"twice, of an agent":   {"extra: {color: red", "extra: {tools: Read", "\"tools\" is said twice, here and by `allowed-tools`"},
		"twice, marketplace":   {"metadata: {pluginRoot: ./x}", "plugins: []", "\"plugins\" is said twice, here and by `plugins`"},
		"no time":              {"timeout: 0.5", "timeout: 0", "0 is too small: want more than 0 (seconds)"},
		"a server's key":       {"dependencies: [other]", "mcpServers: {s: {comand: x}}", `17:24: "command" is missing; is it meant by "comand"?`},
		"key of a hook":        {"    files: files\n", "    files: files\n    event: Stop\n", "unknown key \"event\"; it goes into an entry of `hooks:`"},
		"key of the top":       {"    files: files\n", "    files: files\n    platforms: [linux/amd64]\n", "unknown key \"platforms\"; it goes to the top of the manifest"},
		"key of a marketplace": {"    files: files\n", "    files: files\n    owner: {name: X}\n", "unknown key \"owner\"; it goes into `marketplace:`"},
		"key of a plugin":      {"name: others\nmarketplace", "name: others\ntags: [x]\nmarketplace", "unknown key \"tags\"; it goes into an entry of `plugins:`"},
		"a number for text":    {`version: "7"`, "version: 5.0", `want a string, found a number (a version in quotes, such as "1.2.0")`},
		"true for text":        {"author: {name: A, email: a@b.c", "author: {name: A, email: true", `want a string, found true or false; put it into quotes`},
		"half a second":        {"timeout: 30", "timeout: 5.5", `want a whole number, found a number (seconds)`},
		"a command with files": {"body: do.md", "body: do.md, files: s", `only a skill has files of its own`},
		"no owner":             {"  owner: {name: Else, email: else@example.org}\n", "", `the marketplace has no owner`},
		"runtime of a name":    {"runtime: none}", "runtime: nil}", `"nil" does not fit: want none`},
		"ours needs more":      {"{name: empty, runtime: none}", "{name: empty}", `1:1: "platforms" is missing`},
		"agent twice":          {"    agents:\n", "    agents:\n      - {name: a, description: x, body: a.md}\n", `duplicate agent "a"`},
		"key of plugin.json":   {"    files: files\n", "    files: files\n    mcpServers: {}\n", "unknown key \"mcpServers\"; it goes into `host:`"},
		"like one of another":  {"    files: files\n", "    files: files\n    mcpServer: {}\n", "unknown key \"mcpServer\"; did you mean \"mcpServers\", which goes into `host:`?"},
		"key of frontmatter":   {"extra: {context: fork,", "context: fork, extra: {", "unknown key \"context\"; it goes into `extra:`"},
		"key of a handler":     {"run: {type: prompt, prompt: Is it done?, timeout: 0.5}", "type: prompt, prompt: Is it done?", "unknown key \"prompt\"; it goes into `run:`"},
		"spaces in a name":     {"name: 3_in.One", "name: 3 in One", `"3 in One" does not fit`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(foreign, tt.old) {
				t.Fatalf("foreign has no %q", tt.old)
			}
			text := strings.Replace(foreign, tt.old, tt.new, 1)
			_, _, err := emitForeign(t, text, foreignContent(t))
			wants(t, err, tt.want)
			placed(t, err, text)
		})
	}
}

// A plugin of ours may have a program of its own for an event, and for one that
// our runtime does not answer it has to.
func TestOurPluginWithAnotherProgram(t *testing.T) {
	t.Parallel()
	const stop = "- {event: Stop, timeout: 10}"
	content := smallContent(t)
	m, err := decode(ManifestPath, []byte(strings.Replace(small, stop, stop+"\n      - {event: Setup, timeout: 10, run: {command: git, args: [status]}}", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := emit(m, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	sameJSON(t, hooksFile, got[pluginDir("second")+"/"+hooksFile].Data, `{"description":"Does something else.","hooks":{
		"Stop":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/bin/ccreload","args":["hook","second","Stop"],"timeout":10}]}],
		"Setup":[{"hooks":[{"type":"command","command":"git","args":["status"],"timeout":10}]}]}}`)
	_, err = decode(ManifestPath, []byte(strings.Replace(small, stop, "- {event: Setup, timeout: 10}", 1)), nil)
	wants(t, err, "our runtime does not answer the event Setup: give the hook a program with `run: {command: …}`")
}
