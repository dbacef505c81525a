package gen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// filesDir is where Import puts what it copies, below gen/content/PLUGIN.
const filesDir = "files"

// Imported says what Import has made.
type Imported struct {
	Dir     string   // the project
	Plugins []string // their names
	Files   int      // how many files the plugins have
	Listed  int      // how many more the marketplace lists, from elsewhere
	// Lost has a sentence for everything that generate will not write as it was.
	Lost []string
	// Left has one for each kind of thing that is no part of a plugin and stays
	// where it is.
	Left []string
}

// Import begins a project from the plugin or marketplace in dir: plugin.json,
// hooks.json and marketplace.json become a manifest, every other file is copied.
// It then compares what generates from it with the original and says what is
// different. The project is made in out, or without one in a directory of its
// name; nothing is overwritten.
func Import(dir, out, template string) (*Imported, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem.Input("name the directory of a plugin or of a marketplace", "%q cannot be opened: %w", dir, Cause(err))
	}
	defer root.Close()
	im := &importer{files: root.FS(), tree: tree{}, originals: map[string]tree{}, entryOf: map[string]map[string]any{}, dirs: map[string]bool{}, remote: map[string]bool{}}
	name, err := im.read()
	if err != nil {
		return nil, err
	}
	if out == "" {
		out = name
	}
	im.tree[templatePath] = file{Data: []byte(template), Mode: 0o644}
	im.tree[attributes] = attributesFile
	generated, err := im.tree.generated()
	if err != nil {
		return nil, problem.Input("nothing is written: put that right and import it again", "what is imported cannot be generated: %s", sentence(err))
	}
	if err := start(out, im.tree); err != nil {
		return nil, err
	}
	done := &Imported{Dir: out, Lost: im.lost, Left: im.left.sentences(), Listed: len(im.remote)}
	for _, name := range slices.Sorted(maps.Keys(im.originals)) {
		done.Plugins = append(done.Plugins, name)
		done.Files += len(im.originals[name])
		done.Lost = append(done.Lost, differences(name, im.originals[name], generated.sub(pluginDir(name)))...)
	}
	done.Lost = append(done.Lost, im.compareMarket(object(generated[marketFile].Data))...)
	return done, nil
}

// generated returns what generates from a project.
func (t tree) generated() (tree, error) {
	m, err := decode(ManifestPath, t[ManifestPath].Data, stockEvents)
	if err != nil {
		return nil, err
	}
	generated, _, err := emit(m, t.fs(), nil)
	return generated, err
}

// compareMarket says how a marketplace that was generated is not the one that
// was imported, apart from where its plugins lie.
func (im *importer) compareMarket(generated map[string]any) (out []string) {
	if im.market == nil {
		return nil
	}
	was, is := maps.Clone(im.market), maps.Clone(generated)
	delete(was, "plugins")
	delete(is, "plugins")
	out = append(out, unequal("the marketplace", marketFile, was, is)...)
	entries := map[any]map[string]any{}
	for _, entry := range im.entryOf {
		entries[entry["name"]] = entry
	}
	list, _ := generated["plugins"].([]any)
	for _, item := range list {
		is, _ := item.(map[string]any)
		name, _ := is["name"].(string)
		was := maps.Clone(entries[name])
		if _, local := was["source"].(string); local {
			delete(was, "source")
			delete(is, "source")
		}
		out = append(out, unequal(name, "its entry in the marketplace", was, is)...)
	}
	return out
}

// unequal says which keys of two objects differ.
func unequal(name, file string, was, is map[string]any) (out []string) {
	for _, key := range slices.Sorted(maps.Keys(was)) {
		if !reflect.DeepEqual(was[key], is[key]) {
			out = append(out, fmt.Sprintf("%s: %q of %s is not the same", name, key, file))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[key]; !ok {
			out = append(out, fmt.Sprintf("%s: %q is new in %s", name, key, file))
		}
	}
	return out
}

type importer struct {
	files     fs.FS                     // what is imported
	tree      tree                      // the project
	originals map[string]tree           // of each plugin
	plugins   []any                     // entries of the manifest
	entryOf   map[string]map[string]any // of the marketplace that is imported, by plugin
	market    map[string]any
	dirs      map[string]bool // of the plugins that the marketplace lists
	remote    map[string]bool // names of those that it lists from elsewhere
	lost      []string
	left      leftOut
}

func (im *importer) lose(format string, args ...any) {
	if s := fmt.Sprintf(format, args...); !slices.Contains(im.lost, s) { // a file is read twice
		im.lost = append(im.lost, s)
	}
}

// read fills the project and returns its name.
func (im *importer) read() (name string, err error) {
	market, err := im.object(marketFile)
	if errors.Is(err, fs.ErrNotExist) {
		p, err := im.object(pluginFile)
		if errors.Is(err, fs.ErrNotExist) {
			return "", problem.Input("name a directory that has .claude-plugin/plugin.json or .claude-plugin/marketplace.json", "this is not a plugin or a marketplace")
		} else if err != nil {
			return "", err
		}
		if name, _ = p["name"].(string); name == "" {
			return "", problem.Input("give it one first", "%q has no name of the plugin", pluginFile)
		}
		if err := im.plugin(".", map[string]any{"name": name}, false); err != nil {
			return "", err
		}
		for registered := range im.entryOf {
			name = registered // the plugin alone is the marketplace
		}
		market = map[string]any{"name": name, "owner": map[string]any{"name": name}}
		if author := named(p["author"]); author != nil {
			market["owner"] = map[string]any{"name": p["author"].(map[string]any)["name"]}
		}
	} else if err != nil {
		return "", err
	} else if err := im.entries(market); err != nil {
		return "", err
	} else {
		im.market = market
		if im.isPlugin(".") && !im.dirs["."] {
			im.left.beside = true
		} else if err := im.around("."); err != nil {
			return "", err
		}
	}
	if len(im.plugins) == 0 {
		why := "it has none"
		if len(im.lost) > 0 {
			why = some("; ", im.lost)
		}
		return "", problem.Input("name the directory of one plugin", "the marketplace has no plugin that can be imported: %s", why)
	}
	own, _ := market["name"].(string)
	name = own
	if !safeName.MatchString(own) || len(own) > maxName {
		name = strings.Trim(notSafe.ReplaceAllString(own, "-"), "-._")
		name = cmp.Or(name[:min(len(name), maxName)], "marketplace")
	}
	im.manifest(name, market)
	return name, nil
}

// manifest writes gen/manifest.yaml.
func (im *importer) manifest(name string, market map[string]any) {
	rest := maps.Clone(market)
	delete(rest, "plugins")
	about := mapping{{"name", name}}
	if rest["name"] == name {
		delete(rest, "name")
	}
	about.add("description", take(rest, "description", oneLine))
	owner := named(rest["owner"])
	if owner != nil {
		delete(rest, "owner")
	} else {
		owner = mapping{{"name", name}}
		rest["owner"] = market["owner"] // as it is, or null for none
	}
	about = append(about, field{"owner", owner})
	about.add("host", rest)
	top := mapping{{"name", name}, {"marketplace", about}, {"plugins", im.plugins}}
	var b bytes.Buffer
	b.WriteString("# Imported by ccreload-gen. `ccreload-gen generate` writes marketplace/ and\n# .claude-plugin/ from this file and from content/; edit here, never there.\n#\n# For completion in an editor: `ccreload-gen schema > manifest.schema.json`.\n")
	writeYAML(&b, top, "")
	im.tree[ManifestPath] = file{Data: b.Bytes(), Mode: 0o644}
}

// entries imports the plugins of a marketplace.
func (im *importer) entries(market map[string]any) error {
	list, _ := market["plugins"].([]any)
	about, _ := market["metadata"].(map[string]any)
	base, _ := about["pluginRoot"].(string)
	for i, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		if name == "" {
			im.lose("the %s plugin of the marketplace has no name and is left out", ordinal(i+1))
			continue
		}
		if slices.ContainsFunc(list[:i], func(v any) bool { m, _ := v.(map[string]any); return m["name"] == name }) {
			im.lose("%s: a second entry of that name is left out", name)
			continue
		}
		source, local := entry["source"].(string)
		if !local {
			im.elsewhere(entry)
			continue
		}
		dir := path.Clean(source)
		if !strings.ContainsAny(source, "/.") && base != "" { // as the host takes a bare name
			dir = path.Join(base, source)
		}
		if !fs.ValidPath(dir) {
			im.lose("%s: the source %q leads out of the marketplace", name, source)
			continue
		}
		if info, err := fs.Stat(im.files, dir); err != nil || !info.IsDir() {
			im.lose("%s: the source %q is not a directory", name, source)
			continue
		}
		if more := im.unlisted(entry); dir == "." && len(more) > 0 {
			im.lose("%s: it gets a directory of its own, where the host takes every skill in skills/ and not only those that the marketplace lists: delete %s from gen/content/%s/files/skills", name, some(", ", more), name)
		}
		im.dirs[dir] = true
		if err := im.plugin(dir, entry, true); err != nil {
			im.lose("%s: it is left out, since %s", name, sentence(err))
		}
	}
	return nil
}

// unlisted returns the skills in skills/ that the entry of a plugin beside its
// marketplace does not list, none where it lists none.
func (im *importer) unlisted(entry map[string]any) (out []string) {
	listed := map[string]bool{}
	for _, value := range flat("", entry["skills"]) {
		if text, ok := value.(string); ok {
			listed[path.Clean(text)] = true
		}
	}
	if len(listed) == 0 || listed["skills"] {
		return nil
	}
	skills, _ := fs.Glob(im.files, "skills/*/SKILL.md")
	for _, skill := range skills {
		if dir := path.Dir(skill); !listed[dir] {
			out = append(out, path.Base(dir))
		}
	}
	return out
}

func ordinal(n int) string {
	suffix := "th"
	switch {
	case n/10%10 == 1:
	case n%10 == 1:
		suffix = "st"
	case n%10 == 2:
		suffix = "nd"
	case n%10 == 3:
		suffix = "rd"
	}
	return strconv.Itoa(n) + suffix
}

// elsewhere imports a plugin that the marketplace only lists.
func (im *importer) elsewhere(entry map[string]any) {
	name := im.register(entry)
	p := mapping{{"name", name}, {"source", entry["source"]}}
	if !p.decodes() {
		im.lose("%s: the host knows no such source, and the plugin is left out", entry["name"])
		return
	}
	var typed plugin
	for _, key := range []string{"description", "version", "homepage", "keywords"} {
		f := field{key, entry[key]}
		if f.value != nil && append(p[:2:2], f).decodes() {
			p = append(p, f)
			typed.know(f)
		}
	}
	own, _ := entry["name"].(string)
	im.remote[own] = true
	im.plugins = append(im.plugins, append(p, entryKeys(name, &typed, entry)...))
}

// register returns the name by which the manifest knows the plugin of entry: its
// own, or one like it that a directory can have.
func (im *importer) register(entry map[string]any) string {
	own, _ := entry["name"].(string)
	name := own
	if !safeName.MatchString(own) || len(own) > maxName {
		name = strings.Trim(notSafe.ReplaceAllString(own, "-"), "-._")
		name = cmp.Or(name[:min(len(name), maxName)], "plugin")
	}
	for unique, n := name, 2; ; n++ {
		if _, taken := im.entryOf[name]; !taken {
			break
		}
		name = fmt.Sprintf("%s-%d", unique[:min(len(unique), maxName-4)], n)
	}
	im.entryOf[name] = entry
	return name
}

// plugin imports the plugin in dir. entry is that of the marketplace, if one is
// imported.
func (im *importer) plugin(dir string, entry map[string]any, market bool) error {
	about, err := im.object(path.Join(dir, pluginFile))
	none := errors.Is(err, fs.ErrNotExist)
	if err != nil && !none {
		return err
	}
	name := im.register(entry)
	original, err := im.original(name, dir)
	if err != nil {
		return err
	}
	im.originals[name] = original
	p, typed := im.entry(name, about, none)
	copies := maps.Clone(original)
	delete(copies, pluginFile)
	if hooks := importHooks(original[hooksFile].Data); hooks != nil {
		delete(copies, hooksFile)
		p = append(p, hooks...)
	}
	if market {
		p = append(p, entryKeys(name, typed, entry)...)
	}
	if len(copies) > 0 {
		p = append(p, field{"files", filesDir})
	}
	if _, err := p.decode(); err != nil {
		delete(im.entryOf, name)
		delete(im.originals, name)
		return problem.Input("take that out of it first", "a manifest cannot hold what it says: %s", problems(err)[0].Message)
	}
	for _, file := range copies.paths() {
		f := copies[file]
		if path.Base(file) == attributes && rewrites.Match(f.Data) {
			im.lose("%s: its %s holds in the project as well, where git may rewrite line ends; check says so if it has", name, file)
		}
		im.tree[path.Join(contentDir, name, filesDir, file)] = f
	}
	im.plugins = append(im.plugins, p)
	return nil
}

// rewrites matches a line of a .gitattributes that has git write other bytes than it
// was given.
var rewrites = regexp.MustCompile(`(?m)^[ \t]*[^#\s]\S*[ \t](.*[ \t])?(text|crlf|ident|eol=|filter=|working-tree-encoding=)`)

// know notes a key of the manifest, as generate will see it.
func (p *plugin) know(f field) {
	s, _ := f.value.(string)
	switch f.key {
	case "version":
		p.Version = s
	case "description":
		p.Description = s
	case "homepage":
		p.Homepage = s
	case "keywords":
		p.Keywords = texts(f.value)
	}
}

// pluginKeys are the keys of plugin.json that the manifest has under a name of
// its own.
var pluginKeys = []struct{ host, manifest string }{
	{"displayName", "title"},
	{"description", "description"},
	{"version", "version"},
	{"license", "license"},
	{"author", "author"},
	{"homepage", "homepage"},
	{"repository", "repository"},
	{"keywords", "keywords"},
}

// entry returns the manifest's entry of the plugin whose plugin.json is about.
// Each key goes where the manifest takes it and plugin.json gets the same again:
// under its own name, into host: or, whatever it is, into unchecked:. Without a
// plugin.json, none, the entry of the marketplace stands for it.
func (im *importer) entry(name string, about map[string]any, none bool) (mapping, *plugin) {
	p := mapping{{"name", name}, {"runtime", "none"}}
	rest := maps.Clone(about)
	host, unchecked := map[string]any{}, map[string]any{}
	gives := func(f field, key string, want any) bool {
		m := append(p[:2:2], f)
		decoded := m.decoded()
		return decoded != nil && reflect.DeepEqual(object(encode(decoded.pluginJSON(&decoded.Plugins[0])))[key], want)
	}
	switch v, ok := rest["name"]; {
	case none || !ok:
		host["name"] = nil
	case v == name:
		delete(rest, "name")
	}
	var typed plugin
	for _, key := range pluginKeys {
		v := rest[key.host]
		if v == nil {
			continue
		}
		f := field{key.manifest, v}
		if key.manifest == "author" {
			f.value = named(v)
		}
		if f.value != nil && gives(f, key.host, v) {
			delete(rest, key.host)
			p = append(p, f)
			typed.know(f)
		}
	}
	for key, v := range rest {
		into := map[string]any{key: v}
		if gives(field{"host", into}, key, v) && v != nil {
			host[key] = v
		} else {
			unchecked[key] = v
		}
	}
	p.add("host", host)
	p.add("unchecked", unchecked)
	return p, &typed
}

var (
	safeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`) // as in fields.yaml
	notSafe  = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
)

// maxName is how long a name may be, as in fields.yaml.
const maxName = 64

// take returns the value of key in rest and takes it out, if it fits.
func take(rest map[string]any, key string, fits func(any) bool) any {
	v, ok := rest[key]
	if !ok || !fits(v) {
		return nil
	}
	delete(rest, key)
	return v
}

func oneLine(v any) bool {
	s, _ := v.(string)
	return strings.TrimLeft(s, " \t\n\r\f\v") == s && s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' })
}

// lines reports whether v is what keywords and tags can be.
func lines(v any) bool {
	list, _ := v.([]any)
	seen := map[any]bool{}
	for _, item := range list {
		if !oneLine(item) || seen[item] {
			return false
		}
		seen[item] = true
	}
	return len(list) > 0
}

func texts(v any) []string {
	var out []string
	list, _ := v.([]any)
	for _, item := range list {
		s, _ := item.(string)
		out = append(out, s)
	}
	return out
}

// person reports whether v is a name with an address or two.
func person(v any) bool {
	all, _ := v.(map[string]any)
	if !oneLine(all["name"]) {
		return false
	}
	for key, value := range all {
		if s, ok := value.(string); !ok || s == "" || key != "name" && key != "email" && key != "url" {
			return false
		}
	}
	return true
}

// named returns a person with the name first, nil if v is none.
func named(v any) any {
	all, ok := v.(map[string]any)
	if !ok || !person(v) {
		return nil
	}
	var m mapping
	for _, key := range []string{"name", "email", "url"} {
		m.add(key, all[key])
	}
	return m
}

// entryKeys returns the keys by which p, called name, gets entry in a marketplace.
func entryKeys(name string, p *plugin, entry map[string]any) (out mapping) {
	rest := maps.Clone(entry)
	if rest["name"] == name {
		delete(rest, "name")
	}
	delete(rest, "source")
	out.add("category", take(rest, "category", oneLine))
	out.add("tags", take(rest, "tags", lines))
	usual := object(encode(marketPlugin{Description: p.Description, Version: p.Version, Keywords: p.Keywords, Homepage: p.Homepage}))
	delete(usual, "name")
	delete(usual, "source")
	for key, value := range usual {
		if actual, ok := rest[key]; !ok {
			rest[key] = nil
		} else if reflect.DeepEqual(actual, value) {
			delete(rest, key)
		}
	}
	out.add("entry", rest)
	return out
}

// importHooks returns the keys of the manifest for a hooks.json, or nil when they
// would not give the same one.
func importHooks(data []byte) mapping {
	if len(oddities(data)) > 0 {
		return nil
	}
	all := object(data)
	events, ok := all["hooks"].(map[string]any)
	if !ok || len(events) == 0 {
		return nil
	}
	known := words(allEvents())
	var list []any
	for _, event := range slices.Sorted(maps.Keys(events)) {
		groups, _ := events[event].([]any)
		for _, item := range groups {
			group, _ := item.(map[string]any)
			handlers, _ := group["hooks"].([]any)
			for _, item := range handlers {
				handler, ok := item.(map[string]any)
				if !ok || !slices.Contains(known, event) {
					return nil
				}
				list = append(list, importHook(event, group["matcher"], maps.Clone(handler)))
			}
		}
	}
	var out mapping
	out.add("hooks-description", take(all, "description", oneLine))
	out.add("hooks", list)
	if !reflect.DeepEqual(object(out.hooksJSON()), object(data)) {
		return nil
	}
	return out
}

func importHook(event string, matcher any, run map[string]any) mapping {
	h := mapping{{"event", event}}
	h.add("matcher", matcher)
	h.add("if", take(run, "if", oneLine))
	h.add("timeout", take(run, "timeout", func(v any) bool {
		number, _ := v.(json.Number)
		n, err := number.Int64()
		return err == nil && n >= 1 && n <= 600
	}))
	h.add("status", take(run, "statusMessage", oneLine))
	if run["async"] == true {
		h = append(h, field{"async", true})
		delete(run, "async")
	}
	if run["type"] == "command" {
		delete(run, "type")
	}
	return append(h, field{"run", run})
}

// hooksJSON returns the hooks.json that generates from the keys, nil where the
// manifest would refuse them.
func (m mapping) hooksJSON() []byte {
	parsed := append(mapping{{"name", "x"}, {"runtime", "none"}}, m...).decoded()
	if parsed == nil {
		return nil
	}
	return encode(parsed.Plugins[0].hooksJSON())
}

// decoded returns a manifest with the one plugin that m is, nil where it would be
// refused.
func (m mapping) decoded() *manifest {
	parsed, _ := m.decode()
	return parsed
}

func (m mapping) decode() (*manifest, error) {
	var b bytes.Buffer
	b.WriteString("name: x\nmarketplace: {name: x, owner: {name: x}}\nplugins:")
	writeYAML(&b, []any{m}, "")
	return decode(ManifestPath, b.Bytes(), nil)
}

func (m mapping) decodes() bool { return m.decoded() != nil }

// object returns a JSON object, nil when it is none. Its numbers have one form
// each, without an exponent, which not every reader of YAML knows.
func object(data []byte) map[string]any {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v map[string]any
	if dec.Decode(&v) != nil {
		return nil
	}
	out, _ := canonical(v).(map[string]any)
	return out
}

func canonical(v any) any {
	switch v := v.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil && strings.ContainsAny(v.String(), ".eE") {
			return json.Number(strconv.FormatFloat(f, 'f', -1, 64))
		}
	case map[string]any:
		for key := range v {
			v[key] = canonical(v[key])
		}
	case []any:
		for i := range v {
			v[i] = canonical(v[i])
		}
	}
	return v
}

// object reads a JSON object of the import.
func (im *importer) object(name string) (map[string]any, error) {
	data, err := readFile(im.files, "", name)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(withoutMark(data), &v); err != nil {
		return nil, notJSON(name, withoutMark(data), err)
	}
	all := object(withoutMark(data))
	if all == nil {
		return nil, Problems{place(name, string(data), 0, "want a JSON object, found "+articled[typeOf(v)])}
	}
	for _, odd := range oddities(data) {
		im.lose("%s: %s", name, odd)
	}
	return all, nil
}

// original returns the files of the plugin in dir. The marketplace of a
// repository that is a plugin as well is not part of the plugin.
func (im *importer) original(name, dir string) (tree, error) {
	t := tree{}
	info, err := fs.Stat(im.files, dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return t, im.collect(t, name, dir, "", []fs.FileInfo{info})
}

// list returns what is in a directory, and notes it where that is nothing.
func (im *importer) list(dir string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(im.files, dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	if len(entries) == 0 {
		im.left.empty = append(im.left.empty, dir)
	}
	return entries, nil
}

// collect adds the files below dir to t, below to. Links are followed, as the host
// does when it installs a plugin, but not out of what is imported, nor to one of
// the directories above, which are around.
func (im *importer) collect(t tree, plugin, dir, to string, around []fs.FileInfo) error {
	entries, err := im.list(dir)
	if err != nil {
		return err
	}
	for _, d := range entries {
		p, name := path.Join(dir, d.Name()), path.Join(to, d.Name())
		if d.Name() == ".git" {
			im.left.git = append(im.left.git, p)
			continue
		} else if name == marketFile {
			continue
		}
		info, err := fs.Stat(im.files, p)
		switch {
		case !utf8.ValidString(d.Name()):
			im.lose("%s: the name of %q is not UTF-8, and it is left out", plugin, name)
			continue
		case err != nil && d.Type()&fs.ModeSymlink != 0:
			im.lose("%s: %s is a link that leads nowhere or out of the plugin and is left out", plugin, name)
			continue
		case err != nil:
			return unreadable(p, err)
		case info.IsDir() && slices.ContainsFunc(around, func(above fs.FileInfo) bool { return os.SameFile(above, info) }):
			im.lose("%s: %s is a link to a directory it is in and is left out", plugin, name)
			continue
		case !info.IsDir() && !info.Mode().IsRegular():
			im.lose("%s: %s is %s and is left out", plugin, name, host.FileKind(info.Mode()))
			continue
		case info.Size() > maxFile && !info.IsDir():
			im.lose("%s: %s has more than %d MB and is left out", plugin, name, maxFile>>20)
			continue
		case d.Type()&fs.ModeSymlink != 0:
			im.lose("%s: %s is a link; what it leads to is copied", plugin, name)
		}
		if info.IsDir() {
			if err := im.collect(t, plugin, p, name, append(around[:len(around):len(around)], info)); err != nil {
				return err
			}
			continue
		}
		data, err := readFile(im.files, "", p)
		if err != nil {
			return err
		}
		t[name] = file{Data: data, Mode: runBit(info.Mode(), data)}
	}
	return nil
}

// differences says how a tree that was generated is not the original: JSON that
// the generator writes by value, everything else by bytes and run bit.
func differences(name string, original, generated tree) (out []string) {
	for _, p := range original.paths() {
		was, is := original[p], generated[p]
		_, ok := generated[p]
		switch {
		case !ok:
			out = append(out, fmt.Sprintf("%s: %s is not generated", name, p))
		case !sameMode(was.Mode, is.Mode):
			out = append(out, fmt.Sprintf("%s: %s has another run bit", name, p))
		case bytes.Equal(was.Data, is.Data):
		case p == pluginFile || p == hooksFile:
			out = append(out, unequal(name, p, object(bytes.TrimPrefix(was.Data, []byte("\ufeff"))), object(is.Data))...)
		default:
			out = append(out, fmt.Sprintf("%s: %s has other bytes", name, p))
		}
	}
	for _, p := range generated.paths() {
		if _, ok := original[p]; !ok {
			out = append(out, fmt.Sprintf("%s: %s is new", name, p))
		}
	}
	return out
}
