package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// Validate holds what is at path against the rules: the directory of a plugin
// or of a marketplace, a manifest or a recording. It returns which of them it
// is; the error is Problems when it is not valid.
func Validate(path string) (what string, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		for _, what := range []string{"plugin", "marketplace"} {
			info, err := os.Lstat(filepath.Join(path, ".claude-plugin", what+".json"))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			t, err := readTree(os.DirFS(path))
			if err != nil {
				return "", err
			}
			return what, t.validate()
		}
		return "", problem.Input("name a directory that has .claude-plugin/plugin.json or .claude-plugin/marketplace.json", "%q is not a plugin or a marketplace", path)
	}
	dir, name := filepath.Split(path)
	data, err := readFile(os.DirFS(filepath.Clean(dir)), filepath.ToSlash(dir), name)
	if err != nil {
		return "", err
	}
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl":
		return "recording", ValidateRecording(path, data)
	case ".yaml", ".yml":
		_, err := decode(path, data, stockEvents())
		return "manifest", err
	}
	return "", problem.Input("name one of these", "%q is neither a directory nor a .yaml or .jsonl file", path)
}

// validate reports everything about a tree that a host would refuse, warn
// about or silently ignore. The tree may be a plugin, a marketplace or a
// project that holds marketplaces. The error is Problems.
func (t tree) validate() error {
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
	return v.ps.err()
}

type validator struct {
	tree     tree
	commands map[string]string // hook command line → the plugin directory that has it
	ps       Problems
}

func (v *validator) report(file, format string, args ...any) {
	v.ps = append(v.ps, finding{File: file, Message: fmt.Sprintf(format, args...)})
}

// read fills into from a JSON file, and reports what the schema has against it.
func (v *validator) read(file, schema string, into any) (ok bool) {
	data := v.tree[file].Data
	ps := conformJSON(file, data, schema)
	v.ps = append(v.ps, ps...)
	return json.Unmarshal(data, into) == nil && len(ps) == 0
}

// market checks a marketplace.json and that its sources lead to plugins.
func (v *validator) market(file string) {
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
			continue // an archive: elsewhere
		}
		dir := path.Join(strings.TrimSuffix(file, marketFile), source)
		if _, ok := v.tree[dir+"/"+pluginFile]; !ok {
			v.report(file, "the source %q of %s is not a plugin", source, p.Name)
		}
	}
}

// plugin checks the plugin below dir, which is empty or ends in a slash.
func (v *validator) plugin(dir string) {
	var plugin pluginFileJSON
	v.read(dir+pluginFile, "plugin", &plugin)
	v.hooks(dir)
	v.profile(dir, plugin.Name)
	v.files(dir, plugin.Name)
}

// hooks checks hooks/hooks.json, if there is one, and holds its command lines
// against those of the plugins before it.
func (v *validator) hooks(dir string) {
	file := dir + hooksFile
	var hooks hooksFileJSON
	if _, ok := v.tree[file]; !ok || !v.read(file, "hooks", &hooks) {
		return
	}
	for event, groups := range hooks.Hooks {
		seen := map[string]bool{}
		for _, g := range groups {
			for _, h := range g.Hooks {
				hook{event, g.Matcher, h.If, h.Timeout, h.Status}.check(func(_, format string, args ...any) { v.report(file, format, args...) })
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
			v.report(dir+name, "%s", why)
		}
	}
	if _, ok := v.tree[dir+"LICENSE"]; !ok {
		v.report(dir+"LICENSE", "the file is missing; the host's directory asks for a license")
	}
	v.readme(dir+"README.md", plugin)
	if icon, ok := v.tree[dir+iconFile]; !ok {
		v.report(dir+iconFile, "the file is missing")
	} else if err := checkIcon(icon.Data); err != nil {
		v.report(dir+iconFile, "%v", err)
	}
	for p, f := range v.tree {
		if strings.HasPrefix(p, dir) && p != dir+iconFile && bytes.IndexByte(f.Data, '\r') >= 0 {
			v.report(p, "the file has a carriage return; text in a plugin has LF only (case F73)")
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
		v.report(file, "the file is missing")
		return
	}
	if n := len(bytes.Fields(f.Data)); n < readmeWords {
		v.report(file, "the README has %d words: want %d", n, readmeWords)
	}
	install := "/plugin install " + plugin + " --marketplace "
	for line := range strings.Lines(string(f.Data)) {
		slug, ok := strings.CutPrefix(strings.TrimSpace(line), install)
		if ok && strings.Count(slug, "/") == 1 && !strings.ContainsAny(slug, " \t") {
			return
		}
	}
	v.report(file, "the line %q is missing", install+"OWNER/REPO")
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
