package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// Validate holds what is at path against the rules: the directory of a plugin
// or of a marketplace, a manifest or a recording. It returns which of them it
// is; the error is Problems when it is not valid. The warnings are what the host
// passes over and what our house rules ask for beyond the host's: errors only in
// a plugin that our runtime answers.
func Validate(path string) (what string, warnings Problems, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		for _, what := range []string{"plugin", "marketplace"} {
			info, err := os.Lstat(filepath.Join(path, ".claude-plugin", what+".json"))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			t, err := readTree(os.DirFS(path))
			if err != nil {
				return "", nil, err
			}
			refused, warned := t.validate()
			return what, warned, refused.err()
		}
		return "", nil, problem.Input("name a directory that has .claude-plugin/plugin.json or .claude-plugin/marketplace.json", "%q is not a plugin or a marketplace", path)
	}
	dir, name := filepath.Split(path)
	data, err := readFile(os.DirFS(filepath.Clean(dir)), filepath.ToSlash(dir), name)
	if err != nil {
		return "", nil, err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl":
		return "recording", nil, ValidateRecording(path, data)
	case ".yaml", ".yml":
		_, err := decode(path, data, stockEvents())
		return "manifest", nil, err
	}
	return "", nil, problem.Input("name one of these", "%q is neither a directory nor a .yaml or .jsonl file", path)
}

// validate reports everything about a tree that a host would refuse, warn
// about or silently ignore. The tree may be a plugin, a marketplace or a
// project that holds marketplaces. Warned is what does not keep it from being
// used.
func (t tree) validate() (refused, warned Problems) {
	v := &validator{tree: t, commands: map[string]string{}}
	for _, p := range t.paths() {
		switch {
		case p == marketFile || strings.HasSuffix(p, "/"+marketFile):
			v.market(p)
		case p == pluginFile:
			v.plugin("")
		case strings.HasSuffix(p, "/"+pluginFile):
			v.plugin(strings.TrimSuffix(p, pluginFile))
		}
	}
	refused, warned = problems(v.refused.err()), problems(v.warned.err())
	return refused, warned
}

type validator struct {
	tree            tree
	commands        map[string]string // hook command line → the plugin directory that has it
	ours            bool              // whether our runtime answers the plugin that is looked at
	refused, warned Problems
}

// report notes what the host refuses.
func (v *validator) report(file, format string, args ...any) {
	v.refuse(finding{File: file, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) refuse(f finding) {
	f.theirs = !v.ours
	v.refused = append(v.refused, f)
}

// warn notes what the host passes over or what will fail in it; a plugin of ours
// is refused.
func (v *validator) warn(file, format string, args ...any) {
	v.note(finding{File: file, Message: fmt.Sprintf(format, args...)})
}

// advise notes what the house rules ask for: refused in a plugin of ours.
func (v *validator) advise(file, format string, args ...any) {
	v.note(finding{File: file, Message: fmt.Sprintf(format, args...), house: true})
}

func (v *validator) note(f finding) {
	if v.ours {
		v.refuse(f)
	} else {
		v.warned = append(v.warned, f)
	}
}

// read fills into from a JSON file, and reports what the schema has against it.
func (v *validator) read(file, schema string, into any) (ok bool) {
	data := v.tree[file].Data
	ok = true
	for _, f := range conformJSON(file, data, schema) {
		if f.ignored {
			v.note(f)
			continue
		}
		v.refuse(f)
		ok = false
	}
	return json.Unmarshal(data, into) == nil && ok
}

// market checks a marketplace.json and that its sources lead to plugins.
func (v *validator) market(file string) {
	v.ours = false
	var market marketFileJSON
	if !v.read(file, "marketplace", &market) {
		return
	}
	seen := map[string]bool{}
	for _, p := range market.Plugins {
		if seen[p.Name] {
			v.report(file, "duplicate plugin %q", p.Name)
		}
		seen[p.Name] = true
		source, ok := p.Source.(string)
		if !ok {
			if about, _ := p.Source.(map[string]any); about["source"] == "archive" && about["sha256"] == nil {
				v.advise(file, "the archive of %s has no sha256, so the host installs whatever is at its address", p.Name)
			}
			continue // elsewhere
		}
		if !v.tree.holds(path.Join(strings.TrimSuffix(file, marketFile), source)) {
			v.report(file, "the source %q of %s is not a plugin", source, p.Name)
		}
	}
}

// holds reports whether t has a file at p or, since p is a directory, below it.
func (t tree) holds(p string) bool {
	if _, ok := t[p]; ok || p == "." {
		return true
	}
	for name := range t {
		if strings.HasPrefix(name, p+"/") {
			return true
		}
	}
	return false
}

// plugin checks the plugin below dir, which is empty or ends in a slash.
func (v *validator) plugin(dir string) {
	_, v.ours = v.tree[dir+profileFile]
	var plugin pluginFileJSON
	v.read(dir+pluginFile, "plugin", &plugin)
	v.manifest(dir, plugin)
	if v.ours {
		v.ourHooks(dir)
	} else {
		v.hooks(dir)
	}
	v.servers(dir)
	v.profile(dir, plugin.Name)
	v.files(dir, plugin.Name)
}

// reserved are the names that the host keeps for its maker's plugins.
var reserved = regexp.MustCompile(`^(claude|anthropics?|cc-plugin)-|^(claude|anthropics?)$`)

// kebab is a name that every host takes.
var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// manifest checks what plugin.json says beyond its form.
func (v *validator) manifest(dir string, p pluginFileJSON) {
	file := dir + pluginFile
	if p.Name != "" && !kebab.MatchString(p.Name) {
		v.advise(file, "the name %q has more than lower-case letters, digits and single hyphens, and not every host takes that", p.Name)
	}
	// The host asks this of a plugin by itself, not in a marketplace.
	if dir == "" && reserved.MatchString(strings.ToLower(p.Name)) {
		v.report(file, "the name %q is reserved: the host keeps names that begin with claude- or anthropic- for its maker", p.Name)
	}
	for _, key := range []struct{ name, value string }{
		{"version", p.Version}, {"description", p.Description}, {"license", p.License}, {"repository", p.Repository},
	} {
		if key.value == "" {
			v.advise(file, "%q is missing", key.name)
		}
	}
	if p.Author == nil {
		v.advise(file, "%q is missing", "author")
	}
	if len(p.UserConfig) > host.MaxUserConfig {
		v.advise(file, "userConfig has %d options: want at most three options, since the host reminds the user of each one that is unset", len(p.UserConfig))
	}
	var all map[string]any
	if json.Unmarshal(v.tree[file].Data, &all) != nil {
		return
	}
	for _, key := range []string{"hooks", "commands", "agents", "skills", "outputStyles", "mcpServers", "lspServers"} {
		if _, ok := all[key]; ok && v.ours {
			v.advise(file, "unknown key %q: the host finds these where they are, and would load what is named here as well a second time", key)
		}
		v.paths(dir, key, all[key])
	}
}

// paths checks that the files a key of plugin.json names are there.
func (v *validator) paths(dir, key string, value any) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			v.paths(dir, key, item)
		}
	case string:
		name, ok := strings.CutPrefix(value, ".")
		inside := path.Join(".", strings.TrimPrefix(name, "/"))
		switch {
		case !ok || name != "" && name[0] != '/' || strings.Contains(name, ".."):
			if !strings.Contains(value, "://") { // a bundle of servers may be elsewhere
				v.report(dir+pluginFile, "%s names %q: want a path in the plugin that begins with ./", key, value)
			}
		case key == "agents" && !strings.HasSuffix(name, ".md"):
			v.report(dir+pluginFile, "%s names %q: want a Markdown file", key, value)
		case key == "hooks" && inside == hooksFile:
			v.warn(dir+pluginFile, "%s names %q, which the host finds by itself and would load a second time", key, value)
		case !v.tree.holds(path.Join(dir, inside)):
			v.report(dir+pluginFile, "%s names %q, which is not in the plugin", key, value)
		}
	}
}

// servers checks .mcp.json, if there is one.
func (v *validator) servers(dir string) {
	file := dir + ".mcp.json"
	f, ok := v.tree[file]
	if !ok {
		return
	}
	var all map[string]any
	if err := json.Unmarshal(f.Data, &all); err != nil {
		v.report(file, "not valid JSON: %v", err)
		return
	}
	if inner, ok := all["mcpServers"].(map[string]any); ok {
		all = inner
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		server, _ := all[name].(map[string]any)
		want := "command"
		if kind, _ := server["type"].(string); kind != "" && kind != "stdio" {
			want = "url"
		}
		if s, _ := server[want].(string); s == "" && server["type"] != "sdk" {
			v.report(file, "the server %q has no %q, so the host leaves it out", name, want)
		}
	}
}

// rooted finds the files of a plugin that a command line names.
var rooted = regexp.MustCompile(`("?)\$\{CLAUDE_PLUGIN_ROOT\}"?/([A-Za-z0-9_./-]*[A-Za-z0-9_-])`)

// hooks checks hooks/hooks.json, if there is one, as the host does.
func (v *validator) hooks(dir string) {
	file := dir + hooksFile
	var hooks hostHooksJSON
	if _, ok := v.tree[file]; !ok || !v.read(file, "host-hooks", &hooks) {
		return
	}
	if hooks.Hooks == nil && hooks.Modules == nil {
		v.report(file, "%q is missing", "hooks")
	}
	known := words(allEvents())
	for _, event := range slices.Sorted(maps.Keys(hooks.Hooks)) {
		if !slices.Contains(known, event) {
			v.warn(file, "the host has no event %q and passes it over%s", event, didYouMean(event, known))
		}
		for _, group := range hooks.Hooks[event] {
			for _, h := range group.Hooks {
				v.hook(dir, event, h)
			}
		}
	}
}

// hook checks one handler of any plugin.
func (v *validator) hook(dir, event string, h map[string]any) {
	command, _ := h["command"].(string)
	args, exec := h["args"].([]any)
	if h["type"] != "command" {
		return
	}
	if h["timeout"] == nil {
		v.advise(dir+hooksFile, "a hook of %s has no timeout", event)
	}
	if exec && strings.ContainsAny(strings.ReplaceAll(command, "${CLAUDE_PLUGIN_ROOT}", ""), " \t") {
		v.warn(dir+hooksFile, "a hook of %s starts the program %q, and with args no shell takes that apart", event, command)
	}
	if !exec {
		v.advise(dir+hooksFile, "a hook of %s goes through a shell, which differs from system to system: exec form has command and args", event)
	}
	for i, text := range append([]any{command}, args...) {
		line, _ := text.(string)
		for _, m := range rooted.FindAllStringSubmatchIndex(line, -1) {
			name := line[m[4]:m[5]]
			if !exec && m[2] == m[3] {
				v.warn(dir+hooksFile, "a hook of %s has ${CLAUDE_PLUGIN_ROOT} without quotes, which fails where the path has a space", event)
			}
			switch f, ok := v.tree[path.Join(dir, name)]; {
			case !ok && !v.tree.holds(path.Join(dir, name)) && !bundled(name):
				v.warn(dir+hooksFile, "a hook of %s names %q, which is not in the plugin", event, name)
			case ok && i == 0 && m[0] == 0 && f.Mode&0o111 == 0:
				v.warn(path.Join(dir, name), "a hook starts this file and it is not executable")
			}
		}
	}
}

// ourHooks checks hooks/hooks.json of a plugin of ours, and holds its command
// lines against those of the plugins before it.
func (v *validator) ourHooks(dir string) {
	file := dir + hooksFile
	if _, ok := v.tree[file]; !ok {
		return
	}
	var all hostHooksJSON
	if json.Unmarshal(v.tree[file].Data, &all) == nil && all.foreign() {
		v.hooks(dir) // some have a program of their own
		return
	}
	var hooks hooksFileJSON
	if !v.read(file, "hooks", &hooks) {
		return
	}
	for event, groups := range hooks.Hooks {
		seen := map[string]bool{}
		for _, g := range groups {
			for _, h := range g.Hooks {
				hook{Event: event, Matcher: g.Matcher, If: h.If, Timeout: h.Timeout}.check(func(_, format string, args ...any) { v.report(file, format, args...) })
				line := strings.Join(append([]string{h.Command}, h.Args...), " ")
				if owner, ok := v.commands[line]; ok && owner != dir {
					v.report(file, "the command line %q is also a hook of %s: the host runs one of the two", line, strings.TrimSuffix(owner, "/"))
				}
				v.commands[line] = dir
				id := g.Matcher + "\x00" + h.If + "\x00" + line
				if seen[id] {
					v.report(file, "duplicate command line %q of the event %s", line, event)
				}
				seen[id] = true
				program := dir + strings.TrimPrefix(h.Command, "${CLAUDE_PLUGIN_ROOT}/")
				if p, ok := v.tree[program]; !ok {
					v.report(file, "the program %q of %s is not in the plugin", h.Command, event)
				} else if p.Mode&0o111 == 0 {
					v.report(program, "a hook starts this file and it is not executable")
				}
			}
		}
	}
}

// foreign reports whether a hook does not start our runtime.
func (h hostHooksJSON) foreign() bool {
	for _, groups := range h.Hooks {
		for _, g := range groups {
			for _, handler := range g.Hooks {
				if handler["command"] != "${CLAUDE_PLUGIN_ROOT}/"+runtimeFile {
					return true
				}
			}
		}
	}
	return false
}

func (v *validator) profile(dir, plugin string) {
	file := dir + profileFile
	f, ok := v.tree[file]
	if !ok {
		return
	}
	switch profile, err := host.DecodeProfile(f.Data); {
	case err != nil:
		v.report(file, "%v", err)
	case profile.Plugin != plugin:
		v.report(file, "this is the profile of %q, and the plugin is called %q", profile.Plugin, plugin)
	}
}

// files checks what the host expects to find in a plugin, and not to find.
func (v *validator) files(dir, plugin string) {
	for name, why := range map[string]string{
		"plugin.json": "a plugin.json at the root of a plugin silences its hooks in other hosts",
		"CLAUDE.md":   "a CLAUDE.md at the root of a plugin is not read; prose belongs into skills",
	} {
		if _, ok := v.tree[dir+name]; ok {
			v.advise(dir+name, "%s", why)
		}
	}
	if _, ok := v.tree[dir+"LICENSE"]; !ok {
		v.advise(dir+"LICENSE", "the file is missing; the host's directory asks for a license")
	}
	v.readme(dir+"README.md", plugin)
	if icon, ok := v.tree[dir+iconFile]; !ok {
		v.advise(dir+iconFile, "the file is missing")
	} else if err := checkIcon(icon.Data); err != nil {
		v.advise(dir+iconFile, "%v", err)
	}
	for p, f := range v.tree {
		if strings.HasPrefix(p, dir) && p != dir+iconFile && bytes.IndexByte(f.Data, '\r') >= 0 && bytes.IndexByte(f.Data, 0) < 0 {
			v.advise(p, "the file has a carriage return; text in a plugin has LF only (case F73)")
		}
	}
}

// checkIcon returns what the host's directory has against an icon.
func checkIcon(data []byte) error {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("the icon is not a valid PNG: %w", err)
	}
	if c.Width != c.Height || c.Width < 512 || c.Width > 2048 {
		return fmt.Errorf("the icon has %d by %d pixels: want a square of 512 to 2048", c.Width, c.Height)
	}
	return nil
}

// readmeWords is how many words the host's directory wants in a README.
const readmeWords = 40

func (v *validator) readme(file, plugin string) {
	f, ok := v.tree[file]
	if !ok {
		v.advise(file, "the file is missing")
		return
	}
	if n := len(bytes.Fields(f.Data)); n < readmeWords {
		v.advise(file, "the README has %d words: want %d", n, readmeWords)
	}
	install := "/plugin install " + plugin + " --marketplace "
	for line := range strings.Lines(string(f.Data)) {
		slug, ok := strings.CutPrefix(strings.TrimSpace(line), install)
		if ok && strings.Count(slug, "/") == 1 && !strings.ContainsAny(slug, " \t") {
			return
		}
	}
	v.advise(file, "the line %q is missing", install+"OWNER/REPO")
}

// readTree reads the files below fsys into a tree. Programs that a build puts
// into a plugin are left out: they are not generated.
func readTree(fsys fs.FS) (tree, error) {
	t := tree{}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(p, err)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case !d.Type().IsRegular() || bundled(p):
			return nil
		}
		data, err := readFile(fsys, "", p)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		t[p] = file{Data: data, Mode: info.Mode().Perm()}
		return nil
	})
	return t, err
}

// bundled reports whether p is a runtime that a build put into a plugin.
func bundled(p string) bool {
	dir, name := path.Split(p)
	return path.Base(dir) == "bin" &&
		(strings.HasPrefix(name, "ccreload-") || name == "ccreload.exe")
}

// recordedCall is a line of a recording: one call of a hook.
type recordedCall struct {
	T       float64           `json:"t"`
	Event   string            `json:"event"`
	Env     map[string]string `json:"env"`
	Payload struct {
		Event string `json:"hook_event_name"`
	} `json:"payload"`
	Rows      []map[string]any `json:"transcript_rows,omitempty"`
	Rewritten bool             `json:"transcript_rewritten,omitempty"`
}

// ValidateRecording reports what is wrong with a recording, one JSON object a
// line. file names it in the problems.
func ValidateRecording(file string, data []byte) error {
	var ps Problems
	n := 0
	for line := range bytes.Lines(data) {
		n++
		line = bytes.TrimRight(line, "\n")
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		for _, p := range conformJSON(file, line, "recording") {
			// A line of a recording is long: its number is enough.
			p.Line, p.Column, p.Source = n, max(p.Column, 1), ""
			ps = append(ps, p)
		}
	}
	if n == 0 {
		ps = append(ps, finding{File: file, Message: "the recording is empty"})
	}
	return ps.err()
}
