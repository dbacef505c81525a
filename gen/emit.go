package gen

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// emit returns every file the manifest stands for, checked against the
// schemas. files is the project: plugin.tmpl, the prose in gen/content and, with
// sums nil, gen/checksums.txt are read from it. Nothing else is read, nothing is
// written. The error is Problems, or says that there is no template.
//
// The warnings are for people and keep nothing from being written.
func emit(m *manifest, files fs.FS, sums []checksum) (t tree, warnings Problems, err error) {
	template, err := readText(files, templatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, problem.Input("take it from where the project came from, or run `ccreload-gen init` in a new directory", "there is no %q beside gen", templatePath)
	} else if err != nil {
		return nil, nil, err
	}
	e := &emitter{m: m, files: files, template: template, sums: sums, tree: tree{}, used: map[string]bool{}, copies: map[string]bool{}}
	if sums == nil {
		if e.sums, err = readChecksums(files); err != nil {
			e.fail("", err)
		}
	}
	for i := range m.Plugins {
		e.plugin(i)
	}
	e.strangers()
	e.json("marketplace/"+marketFile, m.market("./plugins/"))
	e.json(marketFile, m.market("./"+pluginsDir+"/"))
	if slices.ContainsFunc(m.Plugins, func(p plugin) bool { return len(p.Options) > 0 }) {
		e.add(optionsPath, []byte(m.optionsPage()), 0o644)
	}
	if err := e.ps.err(); err != nil {
		return nil, nil, err
	}
	ours := map[string]bool{}
	for _, p := range m.Plugins {
		ours[pluginDir(p.Name)+"/"] = p.ours()
	}
	refused, warned := e.tree.validate(false, func(dir string) bool { return ours[dir] })
	if theirs := e.refused(refused); len(theirs) == len(refused) {
		e.warnings = append(e.warnings, theirs...)
	} else {
		return nil, nil, refused.err()
	}
	e.json(inventoryPath, e.tree.inventory())
	return e.tree, once(append(e.warnings, warned...)), nil
}

// once returns warnings without those about the second marketplace.json that the
// first has as well: they differ in where their plugins lie.
func once(warnings Problems) Problems {
	first := map[string]bool{}
	for _, w := range warnings {
		first[w.File+"\n"+w.Message] = true
	}
	return slices.DeleteFunc(warnings, func(w finding) bool {
		return w.File == "marketplace/"+marketFile && first[marketFile+"\n"+w.Message]
	})
}

// refused returns, as warnings, what of refused stands in a plugin without our
// runtime: what its author has written is generated as it is, whatever a host
// makes of it. A marketplace with a plugin of ours is ours.
func (e *emitter) refused(refused Problems) (theirs Problems) {
	ours := slices.ContainsFunc(e.m.Plugins, func(p plugin) bool { return p.ours() })
	for _, f := range refused {
		if f.theirs && !(ours && path.Base(f.File) == path.Base(marketFile)) {
			f.Message = "the host refuses this: " + f.Message
			theirs = append(theirs, f)
		}
	}
	return theirs
}

type emitter struct {
	m        *manifest
	files    fs.FS
	template string
	parsed   *template.Template // of it
	sums     []checksum
	tree     tree
	ps       Problems
	warnings Problems
	used     map[string]bool // files of gen/content that are in the tree
	copies   map[string]bool // files of the tree that are copies
}

func (e *emitter) add(path string, data []byte, mode fs.FileMode) {
	e.tree[path] = file{Data: data, Mode: mode}
}

func (e *emitter) json(path string, v any) { e.add(path, encode(v), 0o644) }

// plugin adds the tree of plugin i.
func (e *emitter) plugin(i int) {
	p := &e.m.Plugins[i]
	if p.elsewhere() {
		e.unused(i)
		return
	}
	dir := pluginDir(p.Name) + "/"
	// Without a key, even the name, the entry of the marketplace stands for it.
	if data := encode(e.m.pluginJSON(p)); string(data) != "{}\n" {
		e.add(dir+pluginFile, data, 0o644)
	}
	if p.ours() || len(p.Hooks) > 0 {
		e.json(dir+hooksFile, p.hooksJSON())
	}
	if p.ours() {
		e.json(dir+profileFile, e.m.profile(p))
	}
	if p.ours() || p.Icon != "" {
		e.add(dir+iconFile, e.icon(i), 0o644)
	}
	at := fmt.Sprintf("/plugins/%d/", i)
	e.copied(i, p.Files, "", at+"files")
	for j, s := range p.Skills {
		e.copied(i, s.Files, "skills/"+s.Name, fmt.Sprintf("%sskills/%d/files", at, j))
	}
	e.sections(i, dir)
	if p.ours() {
		e.hosts(i, e.tree.sub(pluginDir(p.Name)))
	}
	if _, ok := e.m.program(p); ok && !slices.ContainsFunc(p.Hooks, hook.downloads) {
		e.warnings = append(e.warnings, e.m.doc.problem(at+"hooks", "nothing downloads the runtime of %s: only a hook without `run:` on %s or %s does", p.Name, host.SessionStart, host.UserPromptSubmit))
	}
	e.unused(i)
}

//go:embed icon.png
var defaultIcon []byte

// icon returns the icon of plugin i.
func (e *emitter) icon(i int) []byte {
	p := &e.m.Plugins[i]
	if p.Icon == "" {
		return defaultIcon
	}
	file := path.Join(contentDir, p.Name, p.Icon)
	e.use(file)
	data, err := readFile(e.files, "", file)
	if err == nil {
		if err = checkIcon(data); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	if err != nil {
		e.fail(fmt.Sprintf("/plugins/%d/icon", i), err)
	}
	return data
}

// fail notes an error: where it says itself, else at path in the manifest.
func (e *emitter) fail(path string, err error) {
	if ps := problems(err); ps != nil {
		e.ps = append(e.ps, ps...)
	} else {
		e.report(path, "%s", sentence(err))
	}
}

// report notes what is wrong with the value at path in the manifest.
func (e *emitter) report(path, format string, args ...any) {
	e.ps = append(e.ps, e.m.doc.problem(path, format, args...))
}

// sections adds the files the template has for plugin i.
func (e *emitter) sections(i int, dir string) {
	p := &e.m.Plugins[i]
	view := e.view(i)
	if view == nil {
		return // a body is missing or wrong: said already
	}
	text, err := e.fill(view, e.m.functions(p))
	if err != nil {
		e.fail("", err)
		return
	}
	refuse := func(format string, args ...any) {
		e.ps = append(e.ps, finding{File: templatePath, Message: fmt.Sprintf(format, args...)})
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "-- --" {
			refuse("a section has no name: it begins with a line such as -- README.md --")
			return // the parser does not survive it
		}
	}
	archive := txtar.Parse([]byte(text))
	if len(archive.Files) == 0 && p.ours() {
		refuse("no section found: a file begins with a line such as -- README.md --")
	}
	for _, f := range archive.Files {
		file := dir + f.Name
		if e.copies[file] && (f.Name == "README.md" || f.Name == "LICENSE") {
			continue // its own
		}
		if _, taken := e.tree[file]; taken {
			if at := p.proseAt(f.Name); at != "" {
				e.report(fmt.Sprintf("/plugins/%d/%s/name", i, at), "%q comes from `files:` already: take it out of one of the two", f.Name)
			} else {
				refuse("duplicate section %q: %s has this file already", f.Name, p.Name)
			}
			continue
		} else if !fs.ValidPath(f.Name) {
			refuse("the section %q is not a path inside a plugin", f.Name)
			continue
		}
		mode := fs.FileMode(0o644)
		if strings.HasPrefix(f.Name, "bin/") && bytes.HasPrefix(f.Data, []byte("#!")) {
			mode = 0o755
		}
		// A condition or a list that came out empty leaves blank lines behind.
		text := bytes.TrimRight(f.Data, "\n")
		e.add(file, append(slices.Clip(text), '\n'), mode)
	}
}

// proseAt returns what in the manifest the section of plugin.tmpl is for, such as
// commands/0; nothing where it is for none of them.
func (p *plugin) proseAt(section string) string {
	for _, kind := range []struct {
		key, file string
		list      []prose
	}{{"commands", ".md", p.Commands}, {"agents", ".md", p.Agents}, {"skills", "/SKILL.md", p.Skills}} {
		for i, one := range kind.list {
			if section == kind.key+"/"+one.Name+kind.file {
				return fmt.Sprintf("%s/%d", kind.key, i)
			}
		}
	}
	return ""
}

// fill returns plugin.tmpl as it is for one plugin. It is read once for all, since
// that takes longer than filling it in.
func (e *emitter) fill(view any, funcs template.FuncMap) (string, error) {
	if e.parsed == nil {
		t, err := readTemplate(templatePath, e.template, funcs)
		if err != nil {
			return "", err
		}
		e.parsed = t
	}
	return executed(e.parsed.Funcs(funcs), e.template, view)
}

// urlPattern finds the hosts of URLs.
var urlPattern = regexp.MustCompile(`https?://([A-Za-z0-9.-]+)`)

// hosts reports every host that a program or a prose file of the plugin names
// in a URL and that the manifest does not declare. README and LICENSE are for
// people: what they link to is not reached by the plugin.
func (e *emitter) hosts(i int, tree tree) {
	declared := map[string]bool{}
	for _, n := range e.m.Plugins[i].Network {
		declared[n.Host] = true
	}
	for _, path := range tree.paths() {
		if !strings.HasPrefix(path, "bin/") && !strings.HasPrefix(path, "commands/") && !strings.HasPrefix(path, "skills/") {
			continue
		}
		for _, url := range urlPattern.FindAllStringSubmatch(string(tree[path].Data), -1) {
			if h := strings.ToLower(url[1]); !declared[h] {
				e.report(fmt.Sprintf("/plugins/%d/network", i), "%s reaches the host %q, which is not declared here", path, h)
				declared[h] = true
			}
		}
	}
}

// checksum is one line of checksums.txt.
type checksum struct{ SHA256, Name string }

// checksumLine is what sha256sum prints, with a name that is no path.
var checksumLine = regexp.MustCompile(`^([0-9a-f]{64}) [ *]([^ /\\]+)$`)

// readChecksums returns the hashes of release assets that a project knows, none
// before the first release. The error is Problems.
func readChecksums(files fs.FS) ([]checksum, error) {
	text, err := readText(files, checksumsPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		if problems(err) == nil {
			err = Problems{{File: checksumsPath, Message: sentence(err)}}
		}
		return nil, err
	}
	return parseChecksums(text)
}

func parseChecksums(text string) (sums []checksum, err error) {
	var ps Problems
	for at, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		m := checksumLine.FindStringSubmatch(line)
		if m == nil {
			ps = append(ps, finding{File: checksumsPath, Line: at + 1, Column: 1, Source: line, Message: "want a sha256 in lower case, two spaces and the name of a release asset"})
			continue
		}
		sums = append(sums, checksum{m[1], m[2]})
	}
	return sums, ps.err()
}
