package gen

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

// rules collects what is wrong with a manifest beyond its form.
type rules struct {
	doc *document
	ps  Problems
}

func (r *rules) report(path []any, format string, args ...any) {
	r.ps = append(r.ps, r.doc.problem(path, format, args...))
}

// at returns base extended by steps, in memory of its own.
func at(base []any, steps ...any) []any { return append(slices.Clip(base), steps...) }

// check returns everything that is wrong with a manifest whose form is right.
func (m *Manifest) check() Problems {
	r := &rules{doc: m.doc}
	windows, prices := []string{}, []string{}
	for _, w := range m.Windows {
		windows = append(windows, w.Model)
	}
	for _, p := range m.Prices {
		prices = append(prices, p.Model)
	}
	r.unique([]any{"windows"}, "model", windows, "model")
	r.unique([]any{"prices"}, "model", prices, "model")

	names := make([]string, len(m.Plugins))
	for i := range m.Plugins {
		names[i] = m.Plugins[i].Name
		r.plugin([]any{"plugins", i}, m, &m.Plugins[i])
	}
	r.unique([]any{"plugins"}, "name", names, "plugin")
	return r.ps
}

// unique reports each value of key in the list at path that came before.
func (r *rules) unique(path []any, key string, values []string, what string) {
	seen := map[string]bool{}
	for i, v := range values {
		if seen[v] {
			r.report(at(path, i, key), "the %s %q stands here for the second time", what, v)
		}
		seen[v] = true
	}
}

func (r *rules) plugin(path []any, m *Manifest, p *Plugin) {
	r.body(at(path, "readme"), p.Readme)
	r.network(path, m, p)
	r.options(path, p)
	r.hooks(path, p)

	for i, c := range p.Commands {
		r.body(at(path, "commands", i, "body"), c.Body)
	}
	for i, s := range p.Skills {
		r.body(at(path, "skills", i, "body"), s.Body)
	}

	// Commands and skills are called by the same kind of name: /NAME.
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name)
	}
	r.unique(at(path, "commands"), "name", names, "command")
	for i, s := range p.Skills {
		if slices.Contains(names, s.Name) {
			r.report(at(path, "skills", i, "name"), "the name %q stands here for the second time: commands and skills share one set of names", s.Name)
		}
		names = append(names, s.Name)
	}
}

// body checks the name of a prose file; Emit finds out whether it exists.
func (r *rules) body(path []any, name string) {
	if !fs.ValidPath(name) || strings.Contains(name, `\`) {
		r.report(path, "%q leads out of the plugin's content directory: want a path below it, such as snapshot.md", name)
	}
}

func (r *rules) network(path []any, m *Manifest, p *Plugin) {
	hosts := make([]string, len(p.Network))
	for i, n := range p.Network {
		hosts[i] = n.Host
	}
	r.unique(at(path, "network"), "host", hosts, "host")
	// The launcher downloads the runtime from there.
	if h := hostOf(m.Repository); !slices.Contains(hosts, h) {
		r.report(at(path, "network"), "the host %q of the repository is not declared: the launcher downloads from it", h)
	}
}

func (r *rules) options(path []any, p *Plugin) {
	var keys []string
	user := 0
	for i, o := range p.Options {
		keys = append(keys, o.Key)
		r.option(at(path, "options", i), o)
		if o.HasScope(host.ScopeUser) {
			if user++; user == host.MaxUserConfig+1 {
				r.report(at(path, "options", i, "scopes"), "more than %d options have the scope user: the host reminds the user of each one that is unset", host.MaxUserConfig)
			}
		}
	}
	r.unique(at(path, "options"), "key", keys, "option")
}

func (r *rules) option(path []any, o host.Option) {
	numeric := o.Kind == host.KindInt || o.Kind == host.KindOff
	switch {
	case o.Kind == host.KindChoice && len(o.Choices) == 0:
		r.report(path, "the option %q is a choice and lists no choices", o.Key)
		return // whatever its default is, it is not among them
	case o.Kind != host.KindChoice && len(o.Choices) > 0:
		r.report(at(path, "choices"), "the option %q lists choices, which only the kind choice takes", o.Key)
	case !numeric && (o.Min != 0 || o.Max != 0):
		r.report(at(path, "kind"), "the option %q has min or max, which only the kinds int and int|off take", o.Key)
	case o.Max != 0 && o.Min > o.Max:
		r.report(at(path, "min"), "min %d is above max %d", o.Min, o.Max)
		return
	}
	for alias, word := range o.Aliases {
		if o.Kind != host.KindChoice || !slices.Contains(o.Choices, word) {
			r.report(at(path, "aliases", alias), "the alias %q leads to %q, which is not a choice", alias, word)
		}
		if slices.Contains(o.Choices, alias) {
			r.report(at(path, "aliases", alias), "the alias %q is a choice already", alias)
		}
	}
	if o.Default == "" {
		return // not set
	}
	switch canonical, err := o.Check(o.Default); {
	case err != nil:
		r.report(at(path, "default"), "the default does not fit: %v", err)
	case canonical != o.Default:
		r.report(at(path, "default"), "the default %q is written %q", o.Default, canonical)
	}
}

func (r *rules) hooks(path []any, p *Plugin) {
	first := map[string]int{}
	for i, h := range p.Hooks {
		path := at(path, "hooks", i)
		if !h.Event.Known() {
			words := make([]string, 0, len(host.Events()))
			for _, e := range host.Events() {
				words = append(words, string(e))
			}
			near := cmp.Or(host.Nearest(string(h.Event), words), "one of "+strings.Join(words, ", "))
			r.report(at(path, "event"), "the host has no event %q: want %s", h.Event, near)
			continue
		}
		if h.Matcher != "" && !h.Event.TakesMatcher() {
			r.report(at(path, "matcher"), "the event %s takes no matcher; the host would ignore it", h.Event)
		}
		if h.If != "" && !h.Event.TakesIf() {
			r.report(at(path, "if"), "the event %s takes no if rule", h.Event)
		}
		limit := host.MaxTimeout
		if h.Event == host.SessionEnd {
			limit = host.SessionEndTimeout
		}
		if h.Timeout < 1 || h.Timeout > limit {
			r.report(at(path, "timeout"), "the timeout of %s is %d: want seconds, from 1 to %d", h.Event, h.Timeout, limit)
		}
		// Case F16: the host runs one of two handlers that look the same.
		id := strings.Join([]string{string(h.Event), h.Matcher, h.If}, "\x00")
		if n, ok := first[id]; ok {
			r.report(path, "this hook has the same command line as hook %d of %s: same event, matcher and if rule", n+1, p.Name)
			continue
		}
		first[id] = i
	}
}

// hostOf returns the host of a URL, without port.
func hostOf(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	end := strings.IndexFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-')
	})
	if end >= 0 {
		rest = rest[:end]
	}
	return strings.ToLower(rest)
}
