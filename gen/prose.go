package gen

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/host"
)

// view is what plugin.tmpl sees.
type view struct {
	Toolkit   *manifest
	Plugin    *plugin
	Ours      bool     // whether our runtime answers the hooks
	Runtime   *program // what the launcher starts, nil where there is none
	License   string   // of the plugin
	Readme    string
	Commands  []page
	Skills    []page
	Agents    []page
	Checksums []checksum // of the runtime's release
}

// page is a command, a skill or an agent, its body with the numbers filled in.
type page struct {
	prose
	Text string

	named    bool   // whether its frontmatter has the name
	toolsKey string // what the frontmatter calls the tools
}

// view returns the data of plugin.tmpl for plugin i, nil when a body is
// missing or wrong, which is then among the problems.
func (e *emitter) view(i int) *view {
	p := &e.m.Plugins[i]
	at := fmt.Sprintf("/plugins/%d/", i)
	before := len(e.ps)
	pages := func(key string, list []prose) (out []page) {
		for j, c := range list {
			tools := "allowed-tools"
			if key == "agents" {
				tools = "tools"
			}
			text := e.body(p, c.Body, fmt.Sprintf("%s%s/%d/body", at, key, j))
			// The host calls a command by its file, and ours say it as well.
			out = append(out, page{c, text, key != "commands" || p.ours(), tools})
		}
		return out
	}
	v := &view{
		Toolkit: e.m, Plugin: p, Ours: p.ours(), License: e.m.license(p),
		Commands: pages("commands", p.Commands), Skills: pages("skills", p.Skills), Agents: pages("agents", p.Agents),
	}
	if prog, ok := e.m.program(p); ok {
		v.Runtime, v.Checksums = &prog, e.m.pins(prog, e.sums)
	}
	if p.Readme != "" {
		v.Readme = e.body(p, p.Readme, at+"readme")
	}
	if len(e.ps) > before {
		return nil
	}
	return v
}

// body returns a prose file of p with its numbers filled in. at is where the
// manifest names it.
func (e *emitter) body(p *plugin, name string, at string) string {
	file, prose, err := e.read(p, name)
	if err != nil {
		e.fail(at, err)
		return ""
	}
	e.ps = append(e.ps, proseOptions(p, file, prose)...)
	funcs := e.m.functions(p)
	// A piece that several bodies share; it is taken as it is.
	funcs["include"] = func(name string) (string, error) {
		_, piece, err := e.read(p, name)
		if err != nil {
			err = errors.New(sentence(err))
		}
		return strings.TrimSpace(piece), err
	}
	text, err := execute(file, prose, p, funcs)
	if err != nil {
		e.fail(at, err)
	} else if text = strings.TrimSpace(text); text == "" {
		e.report(at, "the file %s is empty", file)
	}
	return text
}

// read returns the prose file of p called name, and the path by which the user
// knows it.
func (e *emitter) read(p *plugin, name string) (file, prose string, err error) {
	file = path.Join(contentDir, p.Name, name)
	prose, err = readText(e.files, file)
	e.use(file)
	at := 0
	for line := range strings.Lines(prose) {
		if text := strings.TrimSuffix(line, "\n"); len(text) > 5 && strings.HasPrefix(text, "-- ") && strings.HasSuffix(text, " --") {
			err = Problems{place(file, prose, at, "a line like this begins a file in plugin.tmpl; write it another way")}
			break
		}
		at += len(line)
	}
	return file, prose, err
}

// place returns a problem with the text of file at a byte of it.
func place(file, text string, at int, message string) finding {
	begin := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")
	return finding{
		File: file, Line: 1 + strings.Count(text[:at], "\n"), Column: 1 + utf8.RuneCountInString(text[begin:at]),
		Source: line, Message: message,
	}
}

// settings are the commands in prose that get or set an option.
var settings = regexp.MustCompile(`ccreload config [gs]et ([a-z0-9_]+)`)

// proseOptions reports each option that the text tells somebody to get or set
// and that p does not have.
func proseOptions(p *plugin, file, prose string) (ps Problems) {
	for _, at := range settings.FindAllStringSubmatchIndex(prose, -1) {
		if _, err := p.option(prose[at[2]:at[3]]); err != nil {
			ps = append(ps, place(file, prose, at[2], err.Error()))
		}
	}
	return ps
}

// option returns the option of p called key. The error names the nearest one.
func (p *plugin) option(key string) (host.Option, error) {
	words := make([]string, len(p.Options))
	for i, o := range p.Options {
		if o.Key == key {
			return o, nil
		}
		words[i] = o.Key
	}
	return host.Option{}, fmt.Errorf("the plugin %s has no option %q%s", p.Name, key, didYouMean(key, words))
}

// functions are what prose and plugin.tmpl can call to take numbers and words
// from the manifest.
func (m *manifest) functions(p *plugin) template.FuncMap {
	// show makes a function of an option's key.
	show := func(f func(host.Option) string) func(string) (string, error) {
		return func(key string) (string, error) {
			o, err := p.option(key)
			if err != nil {
				return "", err
			}
			return f(o), nil
		}
	}
	return template.FuncMap{
		"opt":        show(defaultOf),
		"range_of":   show(takes),
		"choices":    show(func(o host.Option) string { return host.Either(ticked(o.Choices)) }),
		"options":    p.optionTable,
		"optionsHow": p.optionsHow,
		"cell":       cell,
		"quote":      strconv.Quote, // YAML reads a string in double quotes as Go writes it
		"join":       strings.Join,
		"slug":       m.slug,
	}
}

// execute runs a text/template. The error is Problems, with the place in it.
func execute(file, text string, data any, funcs template.FuncMap) (string, error) {
	t, err := readTemplate(file, text, funcs)
	if err != nil {
		return "", err
	}
	return executed(t, text, data)
}

// readTemplate returns a text/template that may call funcs.
func readTemplate(file, text string, funcs template.FuncMap) (*template.Template, error) {
	t, err := template.New(file).Option("missingkey=error").Funcs(funcs).Parse(text)
	if err != nil {
		return nil, Problems{templateProblem(file, text, err)}
	}
	return t, nil
}

func executed(t *template.Template, text string, data any) (string, error) {
	file := t.Name()
	var out strings.Builder
	out.Grow(2 * len(text))
	err := t.Execute(&out, data)
	if err == nil {
		return out.String(), nil
	}
	return "", Problems{templateProblem(file, text, err)}
}

// templateError has the place and the cause in an error such as
//
//	template: FILE:3:9: executing "FILE" at <opt "x">: error calling opt: CAUSE
var templateError = regexp.MustCompile(`(?s)^template: .*?:(\d+):(?:(\d+):)? (?:.*error calling \w+: )?(.*)$`)

// noField has the name in an error about a field that there is not.
var noField = regexp.MustCompile(`can't evaluate field (\S+) in type`)

func templateProblem(file, text string, err error) finding {
	unread := false // as a template at all
	p := finding{File: file, Line: 1, Column: 1, Message: err.Error()}
	if m := templateError.FindStringSubmatch(p.Message); m != nil {
		p.Line, _ = strconv.Atoi(m[1])
		column, _ := strconv.Atoi(m[2])
		p.Column, p.Message, unread = column+1, m[3], m[2] == "" // text/template counts from 0
	}
	if lines := strings.Split(text, "\n"); p.Line <= len(lines) {
		p.Source = lines[p.Line-1]
	}
	if before, _, ok := strings.Cut(p.Source, "{{"); ok && p.Column == 1 { // text/template does not say
		p.Column = len([]rune(before)) + 1
	}
	field := noField.FindStringSubmatch(p.Message)
	if field != nil && file != templatePath {
		p.Message = fmt.Sprintf("the manifest has no %q for prose", field[1])
	}
	// An option that is misspelt is meant; anything else may be text.
	if file != templatePath && (field != nil || unread) {
		p.Message += "; where {{ is part of the text, write {{\"{{\"}}"
	}
	return p
}
