package gen

import (
	"bytes"
	"cmp"
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
		return validateDir(path)
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
		_, err := decode(path, data, stockEvents)
		return "manifest", nil, err
	}
	return "", nil, problem.Input("name one of these", "%q is neither a directory nor a .yaml or .jsonl file", path)
}

// validateDir is Validate for a directory.
func validateDir(dir string) (what string, warnings Problems, err error) {
	has := func(file string) bool {
		info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(file)))
		return err == nil && info.Mode().IsRegular()
	}
	market := has(marketFile)
	skills, _ := filepath.Glob(filepath.Join(dir, "skills", "*", "SKILL.md"))
	switch {
	case has(pluginFile):
		what = "plugin"
	case market:
		what = "marketplace"
	case len(skills) > 0:
		what = "plugin" // the entry of a marketplace stands for its plugin.json
	default:
		return "", nil, problem.Input("name a directory that has .claude-plugin/plugin.json or .claude-plugin/marketplace.json", "%q is not a plugin or a marketplace", dir)
	}
	t, err := readTree(os.DirFS(dir))
	if err != nil {
		return "", nil, err
	}
	refused, warned := t.validate(market, t.looksOurs)
	return what, warned, refused.err()
}

// validate reports everything about a tree that a host would refuse, warn
// about or silently ignore. The tree may be a plugin, a marketplace or a
// project that holds marketplaces. Warned is what does not keep it from being
// used. Listed has the host look at a marketplace and not at its plugins one by
// one. answered says whether our runtime answers the plugin below a directory, which
// is empty or ends in a slash.
func (t tree) validate(listed bool, answered func(dir string) bool) (refused, warned Problems) {
	v := &validator{tree: t, answered: answered, commands: map[string]string{}, listed: listed, documents: map[string]*document{}, values: map[string]parsed{}}
	plugins := map[string]bool{} // by directory: whether a marketplace lists it
	manifests := t.manifests()
	for _, p := range manifests {
		dir, name := path.Split(p)
		dir = strings.TrimSuffix(dir, ".claude-plugin/")
		within := func(plugin string) bool { return plugin != dir && strings.HasPrefix(dir, plugin) }
		switch {
		case slices.ContainsFunc(slices.Collect(maps.Keys(plugins)), within):
			// Tests of a plugin, or what it installs: the host never looks there.
		case name == path.Base(marketFile):
			for _, dir := range v.market(dir) {
				plugins[dir] = true
			}
		default:
			plugins[dir] = plugins[dir] || !listed || dir == ""
		}
	}
	if len(manifests) == 0 {
		plugins[""] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(plugins)) {
		v.mild = !plugins[dir]
		v.listed = listed && !(dir == "" && t.hasFile(pluginFile))
		v.plugin(dir)
	}
	v.warned = append(v.warned, t.portable()...)
	refused, warned = problems(v.refused.err()), problems(v.warned.err())
	return refused, warned
}

// manifests returns where a plugin.json or marketplace.json lies, those further up
// first, and of one directory the marketplace first.
func (t tree) manifests() (out []string) {
	for p := range t {
		for _, file := range []string{marketFile, pluginFile} {
			if rest, ok := strings.CutSuffix(p, file); ok && (rest == "" || strings.HasSuffix(rest, "/")) {
				out = append(out, p)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(strings.Count(a, "/")-strings.Count(b, "/"), strings.Compare(a, b))
	})
	return out
}

type validator struct {
	tree     tree
	commands map[string]string // hook command line → the plugin directory that has it
	answered func(dir string) bool
	ours     bool // whether our runtime answers the plugin that is looked at
	// listed is whether a marketplace is validated, as the host does it: of the
	// plugins in it, it looks at less.
	listed bool
	// mild is whether the host does not look at what is looked at.
	mild            bool
	documents       map[string]*document
	values          map[string]parsed
	refused, warned Problems
}

// report notes what the host refuses.
func (v *validator) report(file, format string, args ...any) {
	v.refuse(finding{File: file, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) refuse(f finding) {
	if v.mild && !v.ours {
		v.warned = append(v.warned, f)
		return
	}
	f.theirs = !v.ours
	v.refused = append(v.refused, f)
}

// unlessListed makes v mild where a marketplace is validated, until the function
// it returns is called.
func (v *validator) unlessListed() (again func()) {
	was := v.mild
	v.mild = v.mild || v.listed
	return func() { v.mild = was }
}

// at returns a finding about a place in a JSON file.
func (v *validator) at(file, place, format string, args ...any) finding {
	d := v.document(file)
	if d == nil {
		return finding{File: file, Message: fmt.Sprintf(format, args...)}
	}
	return d.problem(place, format, args...)
}

// document returns a JSON file that knows where its values stand, nil if it is
// none. Few are needed: parsing JSON as YAML is far slower than parsing JSON.
func (v *validator) document(file string) *document {
	d, ok := v.documents[file]
	if !ok {
		d, _ = parse(file, withoutMark(v.tree[file].Data))
		v.documents[file] = d
	}
	return d
}

// withoutMark returns data without the mark some editors begin a file with.
func withoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// reportAt notes what the host refuses.
func (v *validator) reportAt(file, place, format string, args ...any) {
	v.refuse(v.at(file, place, format, args...))
}

// parsed is what encoding/json makes of a file.
type parsed struct {
	value any
	err   error
}

// value returns the value in a JSON file, which may begin with a mark.
func (v *validator) value(file string) (any, error) {
	p, ok := v.values[file]
	if !ok {
		p.err = json.Unmarshal(withoutMark(v.tree[file].Data), &p.value)
		v.values[file] = p
	}
	return p.value, p.err
}

// json returns the value in a JSON file.
func (v *validator) json(file string) (value any, ok bool) {
	data := v.tree[file].Data
	value, err := v.value(file)
	if len(withoutMark(data)) < len(data) {
		err = json.Unmarshal(data, &value) // says what the host says
	}
	if err != nil {
		for _, f := range notJSON(file, data, err) {
			v.refuse(f)
		}
		return nil, false
	}
	return value, true
}

// conform reports what a schema has against a value in a JSON file.
func (v *validator) conform(file, place string, value any, s *schema) Problems {
	if conforms(s.rule(), value) {
		return nil
	}
	d := v.document(file)
	if d == nil {
		d = &document{file: file}
	}
	return d.conformAt(place, value, s)
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
	data := withoutMark(v.tree[file].Data)
	value, err := v.value(file)
	ok = true
	for _, f := range conformValue(file, data, value, err, schema) {
		if f.ignored {
			v.note(f)
			continue
		}
		v.refuse(f)
		ok = false
	}
	return json.Unmarshal(data, into) == nil && ok
}

// market checks the marketplace below dir, and returns the directories of the
// plugins in it that lie there.
func (v *validator) market(dir string) (plugins []string) {
	file := dir + marketFile
	v.mild, v.ours = false, false
	for p := range v.tree {
		at, name := path.Split(p)
		v.ours = v.ours || strings.HasPrefix(p, dir) && name == profileFile && v.answered(at)
	}
	var market marketFileJSON
	if !v.read(file, "marketplace", &market) {
		return nil
	}
	value, _ := v.json(file)
	all, _ := value.(map[string]any)
	about, _ := all["metadata"].(map[string]any)
	root, _ := about["pluginRoot"].(string)
	entries, _ := all["plugins"].([]any)
	switch {
	case market.Name == "inline" || market.Name == "builtin" || official.MatchString(strings.ToLower(market.Name)):
		v.reportAt(file, "/name", "the name %q is reserved: the host keeps it for itself", market.Name)
	case len(entries) == 0:
		v.note(v.at(file, "/plugins", "the marketplace has no plugins"))
	}
	seen := map[string]bool{}
	for i, p := range market.Plugins {
		place := fmt.Sprintf("/plugins/%d", i)
		entry, _ := entries[i].(map[string]any)
		if seen[p.Name] {
			v.reportAt(file, place+"/name", "duplicate plugin %q", p.Name)
		}
		seen[p.Name] = true
		v.reserved(file, place+"/name", p.Name)
		for at, value := range flat(place+"/hooks", entry["hooks"]) {
			if events, ok := value.(map[string]any); ok {
				v.events(dir, file, at, events, true)
			}
		}
		source, ok := p.Source.(string)
		if !ok {
			if about, _ := p.Source.(map[string]any); about["source"] == "archive" && about["sha256"] == nil {
				f := v.at(file, place+"/source", "the archive of %s has no sha256, so the host installs whatever is at its address", p.Name)
				f.house = true
				v.note(f)
			}
			continue // elsewhere
		}
		if source != "." && !strings.HasPrefix(source, "./") {
			if root == "" {
				v.reportAt(file, place+"/source", "%q does not fit: want a path in the marketplace that begins with ./, unless metadata has a pluginRoot", source)
				continue
			}
			source = root + "/" + source
		}
		at := path.Join(dir, source)
		switch {
		case strings.Contains(source, ".."):
			v.reportAt(file, place+"/source", "the source %q leads out of the marketplace", source)
		case v.tree.hasFile(at):
			v.reportAt(file, place+"/source", "the source %q of %s is a file: want its directory", source, p.Name)
		case !v.tree.holds(at):
			v.note(v.at(file, place+"/source", "the source %q of %s is not a plugin", source, p.Name))
		case at == ".":
			plugins = append(plugins, "")
		default:
			plugins = append(plugins, at+"/")
		}
	}
	return plugins
}

// looksOurs reports whether our runtime answers the plugin below dir, as far as its
// files say. A file of somebody else's may be called as our profile is.
func (t tree) looksOurs(dir string) bool {
	f, ok := t[dir+profileFile]
	if !ok {
		return false
	}
	_, err := host.DecodeProfile(f.Data)
	return err == nil || t.hasFile(dir+runtimeFile)
}

// hasFile reports whether t has a file at p.
func (t tree) hasFile(p string) bool { _, ok := t[p]; return ok }

// holds reports whether t has a file at p or, since p is a directory, below it.
func (t tree) holds(p string) bool {
	if t.hasFile(p) || p == "." {
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
	v.ours = v.answered(dir)
	var plugin pluginFileJSON
	if v.tree.hasFile(dir + pluginFile) { // without one, its entry stands for it
		v.read(dir+pluginFile, "plugin", &plugin)
		v.manifest(dir, plugin)
	}
	if v.ours {
		v.ourHooks(dir)
	} else {
		v.hooks(dir)
	}
	v.prose(dir)
	v.profile(dir, plugin.Name)
	v.files(dir, plugin.Name)
}

// Names that the host keeps for its maker's plugins and marketplaces.
var (
	makers   = regexp.MustCompile(`^(claude|anthropics?|cc-plugin)[-_.]|^(claude|anthropics?)$`)
	official = regexp.MustCompile(`(claude|anthropics?)[-_.]*official([-_.]|$)|(^|[-_.])official[-_.]*(claude|anthropic)`)
)

// reserved checks the name of a plugin.
func (v *validator) reserved(file, place, name string) {
	if lower := strings.ToLower(name); makers.MatchString(lower) || official.MatchString(lower) {
		v.reportAt(file, place, "the name %q is reserved: the host keeps names that begin with claude- or anthropic- for its maker", name)
	}
}

// semantic is a version by semver.org.
var semantic = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)

// kebab is a name that every host takes.
var kebab = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// manifest checks what plugin.json says beyond its form.
func (v *validator) manifest(dir string, p pluginFileJSON) {
	file := dir + pluginFile
	if p.Name != "" && !kebab.MatchString(p.Name) {
		v.advise(file, "the name %q has more than lower-case letters, digits and single hyphens, and not every host takes that", p.Name)
	}
	// The host asks this of a plugin by itself; in a marketplace, of its entry.
	if dir == "" {
		v.reserved(file, "/name", p.Name)
	}
	for _, key := range []struct{ name, value string }{
		{"version", p.Version}, {"description", p.Description}, {"license", p.License}, {"repository", p.Repository},
	} {
		if key.value == "" {
			v.advise(file, "%q is missing", key.name)
		}
	}
	if p.Version != "" && !semantic.MatchString(p.Version) {
		v.note(v.at(file, "/version", "%q is not a version of three numbers, such as 1.2.0: the host takes it, and a plugin that depends on a range of versions, or a tool that compares them, does not", p.Version))
	}
	if p.Author == nil {
		v.advise(file, "%q is missing", "author")
	}
	if len(p.UserConfig) > host.MaxUserConfig {
		v.advise(file, "userConfig has %d options: want at most three options, since the host reminds the user of each one that is unset", len(p.UserConfig))
	}
	value, err := v.value(file)
	all, ok := value.(map[string]any)
	if err != nil || !ok && value != nil {
		return
	}
	if v.ours {
		for _, key := range []string{"hooks", "commands", "agents", "skills", "outputStyles", "mcpServers", "lspServers"} {
			if _, ok := all[key]; ok {
				v.advise(file, "unknown key %q: the host finds these where they are, and would load what is named here as well a second time", key)
			}
		}
	}
	v.inline(dir, all)
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
	if !ok || !v.ours {
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
