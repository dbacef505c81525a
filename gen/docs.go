package gen

import (
	"fmt"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

// defaultOf returns an option's default as people read it.
func defaultOf(o host.Option) string {
	switch {
	case o.Default != "":
		return o.Default
	case o.Kind == host.KindText:
		return "nothing"
	}
	return "automatic"
}

// takes returns what an option accepts as people read it.
func takes(o host.Option) string {
	switch o.Kind {
	case host.KindBool:
		return "`on` or `off`"
	case host.KindChoice:
		return host.Either(ticked(o.Choices))
	case host.KindText:
		return "one line of text"
	}
	s := fmt.Sprintf("%d to %d", o.Min, o.Max)
	if o.Max == 0 {
		s = fmt.Sprintf("%d or more", o.Min)
	}
	if o.Kind == host.KindOff {
		s += ", or `off`"
	}
	return s
}

func ticked(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = "`" + w + "`"
	}
	return out
}

// cell returns text as it may stand in a Markdown table.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

// optionTable returns the options of p as a Markdown table without a final
// newline, "" when it has none.
func (p *plugin) optionTable() string {
	if len(p.Options) == 0 {
		return ""
	}
	rows := []string{
		"| Option | Default | Takes | Set in | What it does |",
		"|---|---|---|---|---|",
	}
	for _, o := range p.Options {
		var where []string
		for _, s := range o.Scopes {
			where = append(where, map[host.Scope]string{
				host.ScopeUser:    "`/plugin` settings",
				host.ScopeProject: "project",
				host.ScopeApp:     "`" + strings.ToUpper(o.Key) + "` in `config.env`",
			}[s])
		}
		cells := []string{"`" + o.Key + "`", defaultOf(o), takes(o), strings.Join(where, ", "), cell(o.Help)}
		rows = append(rows, "| "+strings.Join(cells, " | ")+" |")
	}
	return strings.Join(rows, "\n")
}

// optionsHow says in a sentence for each scope how an option of p is set there.
func (p *plugin) optionsHow() string {
	has := map[host.Scope]bool{}
	for _, o := range p.Options {
		for _, s := range o.Scopes {
			has[s] = true
		}
	}
	var says []string
	switch {
	case has[host.ScopeProject] && has[host.ScopeUser]:
		says = append(says, "Set one for a project with `ccreload config set KEY VALUE`. The project's value wins over the one in the `/plugin` settings.")
	case has[host.ScopeProject]:
		says = append(says, "`ccreload config set KEY VALUE` sets what is set in the project.")
	}
	if has[host.ScopeApp] {
		says = append(says, "`config.env` has a line `KEY=VALUE` for each of the others.")
	}
	return strings.Join(says, " ")
}

// optionsPage returns docs/options.md.
func (m *manifest) optionsPage() string {
	var b strings.Builder
	b.WriteString(`# Options

Generated from gen/manifest.yaml: edit that and run ` + "`" + `ccreload-gen generate` + "`" + `.

An option set in a *project* holds there and wins: ` + "`" + `ccreload config set KEY VALUE` + "`" + `.
One in the *` + "`" + `/plugin` + "`" + ` settings* holds for all projects. A value that does not
fit counts as none, and ` + "`" + `ccreload doctor` + "`" + ` names it.
`)
	for i := range m.Plugins {
		if table := m.Plugins[i].optionTable(); table != "" {
			fmt.Fprintf(&b, "\n## %s\n\n%s\n", m.Plugins[i].Title, table)
		}
	}
	return b.String()
}

// The marks between which a README has the generated tables.
const (
	optionsBegin = "<!-- options:begin -->"
	optionsEnd   = "<!-- options:end -->"
)

// spliceReadme returns readme with the option tables between its marks. A
// text without marks comes back as it is; one mark without the other is an
// error.
func (m *manifest) spliceReadme(readme string) (string, error) {
	head, rest, begun := strings.Cut(readme, optionsBegin)
	_, tail, ended := strings.Cut(rest, optionsEnd)
	switch {
	case !begun && !strings.Contains(readme, optionsEnd):
		return readme, nil
	case !begun || !ended:
		return "", problem.Input("put in both, in this order", "%q has one of the marks %s and %s without the other", readmePath, optionsBegin, optionsEnd)
	}
	var b strings.Builder
	b.WriteString(head + optionsBegin + "\n")
	for i := range m.Plugins {
		table := m.Plugins[i].optionTable()
		if table == "" {
			continue
		}
		if len(m.Plugins) > 1 {
			fmt.Fprintf(&b, "\n**%s**\n\n", m.Plugins[i].Title)
		}
		b.WriteString(table + "\n")
	}
	b.WriteString(optionsEnd + tail)
	return b.String(), nil
}
