package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Emit returns every file the manifest stands for, checked against the
// schemas. content is the directory of the manifest, with the prose in
// content/PLUGIN and, in a release, checksums.txt; template is plugin.tmpl.
// Nothing is read but content, nothing is written. The error is Problems.
func Emit(m *Manifest, content fs.FS, template string) (Tree, error) {
	e := &emitter{m: m, content: content, template: template, tree: Tree{}}
	e.checksums()
	return e.emit()
}

func (e *emitter) emit() (Tree, error) {
	m := e.m
	for i := range m.Plugins {
		e.plugin(i)
	}
	e.json("marketplace/"+marketFile, m.market("./plugins/"))
	e.json(marketFile, m.market("./"+pluginsDir+"/"))
	e.add(OptionsPath, []byte(m.optionsPage()), 0o644)
	if err := e.ps.err(); err != nil {
		return nil, err
	}
	if err := e.tree.Validate(); err != nil {
		return nil, err
	}
	inventory := encode(e.tree.inventory())
	e.add(InventoryPath, inventory, 0o644)
	return e.tree, nil
}

type emitter struct {
	m        *Manifest
	content  fs.FS
	template string
	sums     []checksum
	tree     Tree
	ps       Problems
}

func (e *emitter) add(path string, data []byte, mode fs.FileMode) {
	e.tree[path] = File{Data: data, Mode: mode}
}

func (e *emitter) json(path string, v any) { e.add(path, encode(v), 0o644) }

// plugin adds the tree of plugin i.
func (e *emitter) plugin(i int) {
	p := &e.m.Plugins[i]
	dir := PluginDir(p.Name) + "/"
	e.json(dir+pluginFile, e.m.pluginJSON(p))
	e.json(dir+hooksFile, p.hooksJSON())
	e.json(dir+profileFile, e.m.profile(p))
	icon, err := p.Icon.draw()
	if err != nil {
		e.ps = append(e.ps, e.m.doc.problem([]any{"plugins", i, "icon"}, "%v", err))
		return
	}
	e.add(dir+iconFile, icon, 0o644)
	e.sections(i, dir)
	e.hosts(i, e.tree.Sub(PluginDir(p.Name)))
}

// sections adds the files the template has for plugin i.
func (e *emitter) sections(i int, dir string) {
	p := &e.m.Plugins[i]
	view := e.view(i)
	if view == nil {
		return // a body is missing or wrong: said already
	}
	text, problem := execute(TemplatePath, e.template, view, e.m.functions(p))
	if problem != nil {
		e.ps = append(e.ps, *problem)
		return
	}
	archive := txtar.Parse([]byte(text))
	if len(archive.Files) == 0 {
		e.ps = append(e.ps, Problem{File: TemplatePath, Message: "no section found: a file begins with a line such as -- README.md --"})
	}
	for _, f := range archive.Files {
		path := dir + f.Name
		_, taken := e.tree[path]
		switch {
		case !fs.ValidPath(f.Name):
			e.ps = append(e.ps, Problem{File: TemplatePath, Message: fmt.Sprintf("the section %q is no path inside a plugin", f.Name)})
			continue
		case taken:
			e.ps = append(e.ps, Problem{File: TemplatePath, Message: fmt.Sprintf("the section %q of %s is generated already, or stands there twice", f.Name, p.Name)})
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(f.Name, "bin/") && strings.HasPrefix(string(f.Data), "#!") {
			mode = 0o755
		}
		// A condition or a list that came out empty leaves blank lines behind.
		data := strings.TrimRight(string(f.Data), "\n") + "\n"
		e.add(path, []byte(data), mode)
	}
}

// hosts reports every host that a program or a prose file of the plugin names
// in a URL and that the manifest does not declare. README and LICENSE are for
// people: what they link to is not reached by the plugin.
func (e *emitter) hosts(i int, tree Tree) {
	declared := map[string]bool{}
	for _, n := range e.m.Plugins[i].Network {
		declared[n.Host] = true
	}
	for _, path := range tree.Paths() {
		if !strings.HasPrefix(path, "bin/") && !strings.HasPrefix(path, "commands/") && !strings.HasPrefix(path, "skills/") {
			continue
		}
		for _, h := range urlHosts(string(tree[path].Data)) {
			if !declared[h] {
				e.ps = append(e.ps, e.m.doc.problem([]any{"plugins", i, "network"},
					"%s reaches the host %q, which is not declared here", path, h))
				declared[h] = true
			}
		}
	}
}

// urlHosts returns the hosts of the http and https URLs in text.
func urlHosts(text string) []string {
	var hosts []string
	for {
		i := strings.Index(text, "://")
		if i < 0 {
			return hosts
		}
		if strings.HasSuffix(text[:i], "http") || strings.HasSuffix(text[:i], "https") {
			if h := hostOf(text[i:]); h != "" {
				hosts = append(hosts, h)
			}
		}
		text = text[i+len("://"):]
	}
}

// checksum is one line of checksums.txt.
type checksum struct{ SHA256, Name string }

// checksums reads the hashes of the release assets, if a release wrote them.
func (e *emitter) checksums() {
	const file = "gen/" + checksums
	text, err := readText(e.content, "gen", checksums)
	if errors.Is(err, fs.ErrNotExist) {
		return
	} else if bad, ok := errors.AsType[Problems](err); ok {
		e.ps = append(e.ps, bad...)
		return
	} else if err != nil {
		e.ps = append(e.ps, Problem{File: file, Message: strings.TrimPrefix(err.Error(), file+" ")})
		return
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		sum, name, ok := strings.Cut(line, " ")
		name = strings.TrimPrefix(strings.TrimSpace(name), "*")
		if !ok || len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" || name == "" || strings.ContainsAny(name, " /\\") {
			e.ps = append(e.ps, Problem{File: file, Line: n, Column: 1, Source: line, Message: "want a sha256 in lower case, two spaces and the name of a release asset"})
			continue
		}
		e.sums = append(e.sums, checksum{sum, name})
	}
}
