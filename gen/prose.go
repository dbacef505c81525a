package gen

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/host"
)

// view is what plugin.tmpl sees.
type view struct {
	Toolkit   *Manifest
	Plugin    *Plugin
	Readme    string
	Commands  []page
	Skills    []page
	Checksums []checksum
}

// page is a command or a skill, its body with the numbers filled in.
type page struct {
	Prose
	Text string
}

// view returns the data of plugin.tmpl for plugin i, nil when a body is
// missing or wrong, which is then among the problems.
func (e *emitter) view(i int) *view {
	p := &e.m.Plugins[i]
	before := len(e.ps)
	v := &view{Toolkit: e.m, Plugin: p, Checksums: e.sums}
	v.Readme = e.body(p, p.Readme, []any{"plugins", i, "readme"})
	for j, c := range p.Commands {
		v.Commands = append(v.Commands, page{c, e.body(p, c.Body, []any{"plugins", i, "commands", j, "body"})})
	}
	for j, s := range p.Skills {
		v.Skills = append(v.Skills, page{s, e.body(p, s.Body, []any{"plugins", i, "skills", j, "body"})})
	}
	if len(e.ps) > before {
		return nil
	}
	return v
}

// body returns a prose file of p with its numbers filled in. at is where the
// manifest names it.
func (e *emitter) body(p *Plugin, name string, at []any) string {
	file := proseFile(p, name)
	prose, err := e.read(p, name)
	if bad, ok := errors.AsType[Problems](err); ok {
		e.ps = append(e.ps, bad...)
		return ""
	} else if err != nil {
		e.ps = append(e.ps, e.m.doc.problem(at, "%v", err))
		return ""
	}
	if problem := proseMarks(file, prose); problem != nil {
		e.ps = append(e.ps, *problem)
		return ""
	}
	e.ps = append(e.ps, proseOptions(p, file, prose)...)
	funcs := e.m.functions(p)
	// A piece that several bodies share; it is taken as it is.
	funcs["include"] = func(name string) (string, error) {
		piece, err := e.read(p, name)
		if bad, ok := errors.AsType[Problems](err); ok {
			return "", errors.New(bad[0].sentence())
		} else if err != nil {
			return "", err
		}
		if problem := proseMarks(proseFile(p, name), piece); problem != nil {
			return "", errors.New(problem.sentence())
		}
		return strings.TrimSpace(piece), nil
	}
	text, problem := execute(file, prose, p, funcs)
	if problem != nil {
		e.ps = append(e.ps, *problem)
		return ""
	}
	if text = strings.TrimSpace(text); text == "" {
		e.ps = append(e.ps, e.m.doc.problem(at, "the file %s is empty", file))
	}
	return text
}

// proseFile returns the path of a prose file of p as the user knows it.
func proseFile(p *Plugin, name string) string {
	return "gen/" + contentDir + "/" + p.Name + "/" + name
}

// read returns the prose file of p called name. The error is Problems when
// it is no text.
func (e *emitter) read(p *Plugin, name string) (string, error) {
	return readText(e.content, "gen", path.Join(contentDir, p.Name, name))
}

// proseMarks reports a line that would not survive the template.
func proseMarks(file, prose string) *Problem {
	n := 0
	for line := range strings.Lines(prose) {
		n++
		line = strings.TrimRight(line, "\n")
		message := ""
		switch {
		case strings.HasSuffix(line, "\r"):
			message = "the line ends in CR LF; generated files have LF only"
		case strings.HasPrefix(line, "-- ") && strings.HasSuffix(line, " --"):
			message = "a line like this begins a file in plugin.tmpl; write it another way"
		}
		if message != "" {
			return &Problem{File: file, Line: n, Column: 1, Source: strings.TrimRight(line, "\r"), Message: message}
		}
	}
	return nil
}

// proseOptions reports each option that the text tells somebody to get or set
// and that p does not have.
func proseOptions(p *Plugin, file, prose string) Problems {
	var ps Problems
	n := 0
	for line := range strings.Lines(prose) {
		n++
		for _, command := range []string{"ccreload config get ", "ccreload config set "} {
			for rest, at := line, 0; ; {
				i := strings.Index(rest, command)
				if i < 0 {
					break
				}
				at += i + len(command)
				rest = line[at:]
				key := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz0123456789_"))]
				if key == "" {
					continue // KEY, or an action of the template
				}
				if _, err := p.option(key); err != nil {
					ps = append(ps, Problem{File: file, Line: n, Column: utf8.RuneCountInString(line[:at]) + 1, Source: strings.TrimRight(line, "\n"), Message: err.Error()})
				}
			}
		}
	}
	return ps
}

// option returns the option of p called key. The error names the nearest one.
func (p *Plugin) option(key string) (host.Option, error) {
	words := make([]string, len(p.Options))
	for i, o := range p.Options {
		if o.Key == key {
			return o, nil
		}
		words[i] = o.Key
	}
	if near := host.Nearest(key, words); near != "" {
		return host.Option{}, fmt.Errorf("the plugin %s has no option %q; did you mean %q?", p.Name, key, near)
	}
	return host.Option{}, fmt.Errorf("the plugin %s has no option %q", p.Name, key)
}

// functions are what prose and plugin.tmpl can call to take numbers and words
// from the manifest.
func (m *Manifest) functions(p *Plugin) template.FuncMap {
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
		"opt":      show(defaultOf),
		"range_of": show(takes),
		"choices":  show(func(o host.Option) string { return host.Either(ticked(o.Choices)) }),
		"options":  p.optionTable,
		"cell":     cell,
		"quote":    strconv.Quote, // YAML reads a string in double quotes as Go writes it
		"join":     strings.Join,
		"slug":     m.Slug,
	}
}

// execute runs a text/template. A problem has the place in the template.
func execute(file, text string, data any, funcs template.FuncMap) (string, *Problem) {
	t, err := template.New(file).Option("missingkey=error").Funcs(funcs).Parse(text)
	var out strings.Builder
	if err == nil {
		err = t.Execute(&out, data)
	}
	if err == nil {
		return out.String(), nil
	}
	return "", templateProblem(file, text, err)
}

// templateProblem reads the place and the cause out of an error such as
//
//	template: FILE:3:9: executing "FILE" at <opt "x">: error calling opt: CAUSE
func templateProblem(file, text string, err error) *Problem {
	p := &Problem{File: file, Line: 1, Column: 1}
	message := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), file+":")
	if n, rest, ok := strings.Cut(message, ":"); ok {
		if line, err := strconv.Atoi(n); err == nil {
			p.Line, message = line, strings.TrimSpace(rest)
		}
	}
	if n, rest, ok := strings.Cut(message, ":"); ok {
		if column, err := strconv.Atoi(n); err == nil {
			p.Column, message = column+1, strings.TrimSpace(rest) // text/template counts from 0
		}
	}
	if _, cause, ok := strings.Cut(message, "error calling "); ok {
		_, message, _ = strings.Cut(cause, ": ")
	}
	p.Message, p.Source = message, lineOf(text, p.Line)
	return p
}

// lineOf returns line n of text, counted from 1, or "".
func lineOf(text string, n int) string {
	i := 0
	for line := range strings.Lines(text) {
		if i++; i == n {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}
