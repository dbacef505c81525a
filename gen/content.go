package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

// copied adds the files below content/PLUGIN/from of plugin i to its tree, below
// to: bytes and run bits as they are. at is where the manifest names from.
func (e *emitter) copied(i int, from, to, at string) {
	if from == "" {
		return
	}
	p := &e.m.Plugins[i]
	dir := path.Join(contentDir, p.Name, from)
	e.use(dir)
	err := fs.WalkDir(e.files, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(name, err)
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case d.IsDir() || d.Name() == ".git":
			return nil // git takes nothing of that name
		case name == dir:
			e.report(at, "%q is %s: want the directory whose files are copied", name, host.FileKind(d.Type()))
			return nil
		case !d.Type().IsRegular():
			e.report(at, "%q is %s: put a file there", name, host.FileKind(d.Type()))
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return unreadable(name, err)
		}
		data, err := readRegular(e.files, name, name, info)
		if err != nil {
			return err
		}
		e.use(name)
		file := path.Join(pluginDir(p.Name), to, strings.TrimPrefix(name, dir+"/"))
		if _, taken := e.tree[file]; taken {
			e.report(at, "%q would be a file that comes from the manifest already: take it out of one of the two", name)
			return nil
		}
		e.add(file, data, runBit(info.Mode(), data))
		e.copies[file] = true
		return nil
	})
	if err != nil {
		e.fail(at, err)
	}
}

// runBit returns the mode of a file that is copied. Windows has no run bits: a
// script is one that begins with #! there.
func runBit(mode fs.FileMode, data []byte) fs.FileMode {
	if mode&0o111 != 0 || runtime.GOOS == "windows" && bytes.HasPrefix(data, []byte("#!")) {
		return 0o755
	}
	return 0o644
}

// use notes that a file of gen/content has got into the tree.
func (e *emitter) use(name string) { e.used[path.Clean(name)] = true }

// unused warns of the content of plugin i that nothing takes in.
func (e *emitter) unused(i int) {
	dir := path.Join(contentDir, e.m.Plugins[i].Name)
	err := fs.WalkDir(e.files, dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && e.used[name] {
			return fs.SkipDir // copied whole
		}
		if err == nil && !d.IsDir() && !e.used[name] {
			e.warnings = append(e.warnings, finding{File: name, Message: "nothing in the manifest uses this file: name it there, move it below `files:`, or remove it"})
		}
		return nil // what cannot be read and is needed has been said
	})
	if err != nil {
		e.fail("", err)
	}
}

// strangers warns of what lies in gen/content and belongs to no plugin.
func (e *emitter) strangers() {
	names := make([]string, len(e.m.Plugins))
	for i, p := range e.m.Plugins {
		names[i] = p.Name
	}
	entries, err := fs.ReadDir(e.files, contentDir)
	if err != nil {
		return // what is needed of it has been missed
	}
	for _, d := range entries {
		if !slices.Contains(names, d.Name()) && d.Name() != ".gitkeep" {
			e.warnings = append(e.warnings, finding{File: path.Join(contentDir, d.Name()), Message: fmt.Sprintf("no plugin in the manifest is called %q, so nothing uses this%s", d.Name(), didYouMean(d.Name(), names))})
		}
	}
}

// pair is a key of a frontmatter with its value as YAML.
type pair struct{ Key, Value string }

// Frontmatter returns what stands above the text of p, for plugin.tmpl. A key of
// `extra:` wins, and null takes one out.
func (p page) Frontmatter() []pair {
	var out []pair
	put := func(key, value string) {
		if _, ok := p.Extra[key]; !ok && value != "" {
			out = append(out, pair{key, value})
		}
	}
	quoted := func(s string) string {
		if s == "" {
			return ""
		}
		return strconv.Quote(s) // YAML reads a string in double quotes as Go writes it
	}
	if p.named {
		put("name", p.Name)
	}
	put("description", quoted(p.Description))
	put("argument-hint", quoted(p.ArgumentHint))
	put(p.toolsKey, strings.Join(p.AllowedTools, ", "))
	put("model", p.Model)
	if p.PersonOnly {
		put("disable-model-invocation", "true")
	}
	for _, key := range slices.Sorted(maps.Keys(p.Extra)) {
		if value := p.Extra[key]; value != nil {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(value); err != nil {
				panic(fmt.Sprintf("%s: %v", key, err)) // decoded from YAML
			}
			out = append(out, pair{key, strings.TrimSuffix(b.String(), "\n")})
		}
	}
	return out
}
