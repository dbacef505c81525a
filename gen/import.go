package gen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/problem"
)

// filesDir is where Import puts what it copies, below gen/content/PLUGIN.
const filesDir = "files"

// Imported says what Import has made.
type Imported struct {
	Dir     string   // the project
	Plugins []string // their names
	Files   int      // how many files the plugins have
	// Lost has a sentence for everything that generate will not write as it was.
	Lost []string
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
	im := &importer{files: root.FS(), tree: tree{}, originals: map[string]tree{}, entryOf: map[string]map[string]any{}}
	name, err := im.read()
	if err != nil {
		return nil, err
	}
	if out == "" {
		out = name
	}
	im.tree[templatePath] = file{Data: []byte(template), Mode: 0o644}
	im.tree[attributes] = attributesFile
	if err := start(out, im.tree); err != nil {
		return nil, err
	}
	p, err := Open(out)
	if ps := problems(err); ps != nil {
		return nil, problem.Input("correct that and run `ccreload-gen generate "+out+"`", "%s is written, but not all of it can be generated:\n%w", filepath.Join(out, ManifestPath), ps)
	} else if err != nil {
		return nil, err
	}
	defer p.Close()
	done := &Imported{Dir: out, Lost: im.lost}
	for _, name := range slices.Sorted(maps.Keys(im.originals)) {
		done.Plugins = append(done.Plugins, name)
		done.Files += len(im.originals[name])
		done.Lost = append(done.Lost, differences(name, im.originals[name], p.tree.sub(pluginDir(name)))...)
	}
	done.Lost = append(done.Lost, im.compareMarket(object(p.tree[marketFile].Data))...)
	return done, nil
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
	list, _ := generated["plugins"].([]any)
	for _, item := range list {
		is, _ := item.(map[string]any)
		name, _ := is["name"].(string)
		was := maps.Clone(im.entryOf[name])
		delete(was, "source")
		delete(is, "source")
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
	lost      []string
}

func (im *importer) lose(format string, args ...any) {
	im.lost = append(im.lost, fmt.Sprintf(format, args...))
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
		name, _ = p["name"].(string)
		owner := name
		if author, ok := p["author"].(map[string]any); ok {
			if s, ok := author["name"].(string); ok {
				owner = s
			}
		}
		market = map[string]any{"name": name, "owner": map[string]any{"name": owner}}
		err = im.plugin(".", map[string]any{"name": name}, false)
		if err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	} else if err := im.entries(market); err != nil {
		return "", err
	} else {
		im.market = market
	}
	name, _ = market["name"].(string)
	if !safeName.MatchString(name) {
		return "", problem.Input("rename it: letters, digits, hyphens, _ and . can be", "%q cannot be the name of a marketplace here", name)
	}
	im.manifest(name, market)
	return name, nil
}

// manifest writes gen/manifest.yaml.
func (im *importer) manifest(name string, market map[string]any) {
	rest := maps.Clone(market)
	delete(rest, "plugins")
	about := mapping{{"name", name}}
	delete(rest, "name")
	about.add("description", take(rest, "description", oneLine))
	about.add("owner", named(take(rest, "owner", person)))
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
	seen := map[string]bool{}
	for _, item := range list {
		entry, _ := item.(map[string]any)
		name, _ := entry["name"].(string)
		source, local := entry["source"].(string)
		switch {
		case !local:
			im.lose("%s: its source is elsewhere: import it from a copy of that", name)
			continue
		case seen[name]:
			im.lose("%s: a second entry of that name is left out", name)
			continue
		}
		seen[name] = true
		im.entryOf[name] = entry
		dir := path.Clean(source)
		if !fs.ValidPath(dir) {
			im.lose("%s: the source %q leads out of the marketplace", name, source)
			continue
		}
		if info, err := fs.Stat(im.files, dir); err != nil || !info.IsDir() {
			im.lose("%s: the source %q is not a directory", name, source)
			continue
		}
		if err := im.plugin(dir, entry, true); err != nil {
			return err
		}
	}
	return nil
}

// plugin imports the plugin in dir. entry is that of the marketplace, if one is
// imported.
func (im *importer) plugin(dir string, entry map[string]any, market bool) error {
	name, _ := entry["name"].(string)
	if !safeName.MatchString(name) {
		return problem.Input("rename it: letters, digits, hyphens, _ and . can be", "%q cannot be the name of a plugin here", name)
	}
	original, err := im.original(name, dir)
	if err != nil {
		return err
	}
	im.originals[name] = original
	rest, err := im.object(path.Join(dir, pluginFile))
	if errors.Is(err, fs.ErrNotExist) {
		rest = map[string]any{"name": nil} // the entry stands for it
	} else if err != nil {
		return err
	}
	p := im.entry(name, rest)
	var typed plugin
	copies := maps.Clone(original)
	delete(copies, pluginFile)
	if hooks := importHooks(original[hooksFile].Data); hooks != nil {
		delete(copies, hooksFile)
		p = append(p, hooks...)
	}
	if market {
		for i := range p { // as generate will see them
			s, _ := p[i].value.(string)
			switch p[i].key {
			case "version":
				typed.Version = s
			case "description":
				typed.Description = s
			case "homepage":
				typed.Homepage = s
			case "keywords":
				typed.Keywords = texts(p[i].value)
			}
		}
		p = append(p, entryKeys(&typed, entry)...)
	}
	if len(copies) > 0 {
		p = append(p, field{"files", filesDir})
	}
	for file, f := range copies {
		im.tree[path.Join(contentDir, name, filesDir, file)] = f
	}
	im.plugins = append(im.plugins, p)
	return nil
}

// entry returns the manifest's entry of a plugin whose plugin.json is rest.
func (im *importer) entry(name string, rest map[string]any) mapping {
	p := mapping{{"name", name}, {"runtime", "none"}}
	if rest["name"] == name {
		delete(rest, "name")
	}
	p.add("title", take(rest, "displayName", oneLine))
	for _, key := range []string{"description", "version"} {
		p.add(key, take(rest, key, text))
	}
	p.add("license", take(rest, "license", func(v any) bool { s, _ := v.(string); return licenseID.MatchString(s) }))
	p.add("author", named(take(rest, "author", person)))
	for _, key := range []string{"homepage", "repository"} {
		p.add(key, take(rest, key, func(v any) bool { s, _ := v.(string); return urlPattern.MatchString(s) && oneLine(v) }))
	}
	p.add("keywords", take(rest, "keywords", lines))
	known := part(schemas["manifest"].rule(), []string{"plugins", "0", "host"})["properties"].(rule)
	for _, key := range slices.Sorted(maps.Keys(rest)) {
		if known[key] == nil {
			im.lose("%s: plugin.json has %q, which the host does not know", name, key)
			delete(rest, key)
		}
	}
	p.add("host", rest)
	return p
}

var (
	safeName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)    // as in fields.yaml
	licenseID = regexp.MustCompile(`^[A-Za-z0-9(][A-Za-z0-9.+() -]*$`) // as in fields.yaml
)

// take returns the value of key in rest and takes it out, if it fits.
func take(rest map[string]any, key string, fits func(any) bool) any {
	v, ok := rest[key]
	if !ok || !fits(v) {
		return nil
	}
	delete(rest, key)
	return v
}

func text(v any) bool { s, ok := v.(string); return ok && strings.TrimSpace(s) != "" }

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

// named returns a person with the name first.
func named(v any) any {
	all, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	var m mapping
	for _, key := range []string{"name", "email", "url"} {
		m.add(key, all[key])
	}
	return m
}

// entryKeys returns the keys by which p gets entry in a marketplace.
func entryKeys(p *plugin, entry map[string]any) (out mapping) {
	rest := maps.Clone(entry)
	delete(rest, "name")
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
	var b bytes.Buffer
	b.WriteString("name: x\nmarketplace: {name: x, owner: {name: x}}\nplugins:")
	writeYAML(&b, []any{append(mapping{{"name", "x"}, {"runtime", "none"}}, m...)}, "")
	parsed, err := decode(ManifestPath, b.Bytes(), nil)
	if err != nil {
		return nil
	}
	return encode(parsed.Plugins[0].hooksJSON())
}

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
	v := object(bytes.TrimPrefix(data, []byte("\ufeff")))
	if v == nil {
		return nil, problem.Input("correct it first", "%q is not a JSON object", name)
	}
	return v, nil
}

// original returns the files of the plugin in dir. The marketplace of a
// repository that is a plugin as well is not part of the plugin.
func (im *importer) original(name, dir string) (tree, error) {
	t := tree{}
	err := fs.WalkDir(im.files, dir, func(p string, d fs.DirEntry, err error) error {
		shown := name + ": " + p
		switch {
		case err != nil:
			return unreadable(p, err)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() || p == marketFile:
			return nil
		}
		info, err := fs.Stat(im.files, p)
		switch {
		case err != nil:
			im.lose("%s: a link that leads nowhere or out of the plugin is left out", shown)
			return nil
		case !info.Mode().IsRegular():
			im.lose("%s: this is no file and is left out", shown)
			return nil
		case info.Size() > maxFile:
			im.lose("%s: it has more than %d MB and is left out", shown, maxFile>>20)
			return nil
		case d.Type() != 0:
			im.lose("%s: this is a link; what it leads to is copied", shown)
		}
		data, err := readFile(im.files, "", p)
		if err != nil {
			return err
		}
		t[strings.TrimPrefix(p, strings.TrimPrefix(dir+"/", "./"))] = file{Data: data, Mode: runBit(info.Mode(), data)}
		return nil
	})
	return t, err
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
