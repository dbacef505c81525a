package gen

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

// rules collects what is wrong with a manifest beyond its form.
type rules struct {
	doc      *document
	answered func() events
	ps       Problems
}

// events are what the runtime answers, by plugin.
type events map[string][]host.Event

// eventsJSON is which events the manifest of this program has hooks for. Reading the
// manifest itself would take as long as reading a fork's. `make fields` writes it.
//
//go:embed events.json
var eventsJSON []byte

// stockEvents returns what the manifest declares that this program was built
// with. The runtime of the same version answers just that, as a test of package
// cli proves.
var stockEvents = sync.OnceValue(func() (answered events) {
	if err := json.Unmarshal(eventsJSON, &answered); err != nil {
		panic(err) // compiled in
	}
	return answered
})

func (r *rules) report(path, format string, args ...any) {
	r.ps = append(r.ps, r.doc.problem(path, format, args...))
}

// check returns everything that is wrong with a manifest whose form is right.
func (m *manifest) check(answered func() events) Problems {
	r := &rules{doc: m.doc, answered: answered}
	unique(r, "/windows", "model", m.Windows, func(w host.Window) string { return w.Model })
	r.prices("/prices", m.Prices)
	unique(r, "/plugins", "name", m.Plugins, func(p plugin) string { return p.Name })
	if m.owner().Name == "" {
		r.report("/marketplace", "the marketplace has no owner: add `owner: {name: …}`, or an `author:` at the top")
	}
	r.twice("/marketplace/host", m.Marketplace.Host, said{"description": {"description", m.Marketplace.Description != ""}, "plugins": {"plugins", true}})
	for i := range m.Plugins {
		r.plugin(fmt.Sprintf("/plugins/%d", i), m, &m.Plugins[i])
	}
	return r.ps
}

// unique reports each value of key in the list at path that came before.
func unique[T any](r *rules, path, key string, list []T, value func(T) string) {
	seen := map[string]bool{}
	for i, entry := range list {
		v := value(entry)
		if seen[v] {
			what := key
			if key == "name" || key == "key" {
				what = strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], "s")
			}
			r.report(fmt.Sprintf("%s/%d/%s", path, i, key), "duplicate %s %q", what, v)
		}
		seen[v] = true
	}
}

// prices checks that the rows of one model can be told apart by their days.
func (r *rules) prices(path string, prices []host.Price) {
	seen := map[[2]string]bool{}
	for i, p := range prices {
		at := fmt.Sprintf("%s/%d/", path, i)
		if _, err := time.Parse(time.DateOnly, p.From); p.From != "" && err != nil {
			r.report(at+"from", "%q is no day of the calendar", p.From)
		}
		key := [2]string{p.Model, p.From}
		if seen[key] {
			r.report(at+"model", "duplicate model %q: a second price needs a `from:` of its own", p.Model)
		}
		seen[key] = true
	}
}

func (r *rules) plugin(path string, m *manifest, p *plugin) {
	if p.elsewhere() {
		for _, key := range []string{"title", "runtime", "license", "author", "repository", "readme", "icon", "files", "network", "options", "hooks", "hooks-description", "commands", "skills", "agents", "host", "unchecked", "prices"} {
			if r.doc.place(path+"/"+key) != nil {
				r.report(path+"/"+key+keySuffix, "%q is for a plugin that is generated here; with a source, the plugin is fetched from there: what its entry in the marketplace has goes into `entry:`", key)
			}
		}
		return
	}
	r.file(path+"/readme", p.Readme)
	r.file(path+"/icon", p.Icon)
	r.file(path+"/files", p.Files)
	if p.ours() {
		r.network(path+"/network", m, p)
	}
	r.options(path+"/options", p)
	r.program(path+"/runtime", m, p)
	r.hooks(path+"/hooks", p)
	r.again(path, p)
	commands := map[string]bool{}
	for i, c := range p.Commands {
		r.file(fmt.Sprintf("%s/commands/%d/body", path, i), c.Body)
		commands[c.Name] = true
	}
	for i, s := range p.Skills {
		at := fmt.Sprintf("%s/skills/%d/", path, i)
		r.file(at+"body", s.Body)
		r.file(at+"files", s.Files)
		if commands[s.Name] {
			r.report(at+"name", "duplicate name %q: a command has it, and both are called by /NAME", s.Name)
		}
	}
	name := func(p prose) string { return p.Name }
	unique(r, path+"/commands", "name", p.Commands, name)
	unique(r, path+"/skills", "name", p.Skills, name)
	unique(r, path+"/agents", "name", p.Agents, name)
	for i, a := range p.Agents {
		r.file(fmt.Sprintf("%s/agents/%d/body", path, i), a.Body)
	}
	for key, list := range map[string][]prose{"commands": p.Commands, "agents": p.Agents} {
		for i, c := range list {
			if c.Files != "" {
				r.report(fmt.Sprintf("%s/%s/%d/files", path, key, i), "only a skill has files of its own: use the `files:` of the plugin")
			}
		}
	}
}

// again checks that nothing is said twice: by a key of the manifest, and by the same
// of the host in host:, entry:, extra: or run:, where one of the two would be lost.
func (r *rules) again(path string, p *plugin) {
	user := slices.ContainsFunc(p.Options, func(o host.Option) bool { return o.HasScope(host.ScopeUser) })
	own := said{
		"displayName": {"title", p.Title != ""}, "description": {"description", p.Description != ""}, "version": {"version", p.Version != ""},
		"license": {"license", p.License != ""}, "author": {"author", p.Author != nil}, "homepage": {"homepage", p.Homepage != ""},
		"repository": {"repository", p.Repository != ""}, "keywords": {"keywords", p.Keywords != nil},
		"network": {"network", p.Network != nil}, "userConfig": {"options", user},
	}
	r.twice(path+"/host", p.Host, own)
	for key, value := range p.Host {
		if value != nil {
			own[key] = saidAs{"host: {" + key + ": …}", true}
		}
	}
	r.twice(path+"/unchecked", p.Unchecked, own)
	r.twice(path+"/entry", p.Entry, said{"category": {"category", p.Category != ""}, "tags": {"tags", p.Tags != nil}})
	for i, h := range p.Hooks {
		r.twice(fmt.Sprintf("%s/hooks/%d/run", path, i), h.Run, said{
			"if": {"if", h.If != ""}, "timeout": {"timeout", h.Timeout != 0}, "statusMessage": {"status", h.Status != ""}, "async": {"async", h.Async},
		})
	}
	for key, list := range map[string][]prose{"commands": p.Commands, "skills": p.Skills, "agents": p.Agents} {
		for i, c := range list {
			own := said{
				"description": {"description", true}, "argument-hint": {"argument-hint", c.ArgumentHint != ""}, "model": {"model", c.Model != ""},
				"allowed-tools": {"allowed-tools", c.AllowedTools != nil}, "disable-model-invocation": {"disable-model-invocation", c.PersonOnly},
			}
			if key == "agents" {
				own["tools"] = own["allowed-tools"]
			}
			r.twice(fmt.Sprintf("%s/%s/%d/extra", path, key, i), c.Extra, own)
		}
	}
}

// said is which keys of the host the manifest has said something about.
type said map[string]saidAs

// saidAs is the key of the manifest that does, and whether it is there.
type saidAs struct {
	key string
	set bool
}

// twice reports what the keys at path say again. Null is not said: it takes a key out.
func (r *rules) twice(path string, more map[string]any, own said) {
	for _, key := range slices.Sorted(maps.Keys(more)) {
		if own[key].set && more[key] != nil {
			r.report(path+"/"+key+keySuffix, "%q is said twice, here and by `%s`: keep one of the two", key, own[key].key)
		}
	}
}

// file checks the name of a file of the plugin; emit finds out whether it exists.
func (r *rules) file(path, name string) {
	if name != "" && (!fs.ValidPath(name) || name == ".") || strings.Contains(name, `\`) {
		r.report(path, "%q leads out of the plugin's content directory: want a path below it, such as snapshot.md", name)
	}
}

func (r *rules) network(path string, m *manifest, p *plugin) {
	unique(r, path, "host", p.Network, func(a access) string { return a.Host })
	// The launcher downloads the runtime from there.
	prog, _ := m.program(p)
	h := strings.ToLower(urlPattern.FindStringSubmatch(prog.Repository)[1])
	if !slices.ContainsFunc(p.Network, func(a access) bool { return a.Host == h }) {
		r.report(path, "the host %q of the repository is not declared: the launcher downloads from it", h)
	}
}

func (r *rules) options(path string, p *plugin) {
	unique(r, path, "key", p.Options, func(o host.Option) string { return o.Key })
	if len(p.Options) > 0 && !p.ours() {
		r.report(path, "options are what our runtime reads: a plugin without it has `host: {userConfig: …}`")
	}
	user := 0
	for i, o := range p.Options {
		at := fmt.Sprintf("%s/%d", path, i)
		r.option(at, o)
		if o.HasScope(host.ScopeUser) {
			if user++; user == host.MaxUserConfig+1 {
				r.report(at+"/scopes", "more than %d options have the scope user: the host reminds the user of each one that is unset", host.MaxUserConfig)
			}
		}
	}
}

func (r *rules) option(path string, o host.Option) {
	numeric := o.Kind == host.KindInt || o.Kind == host.KindOff
	switch {
	case o.Kind == host.KindChoice && len(o.Choices) == 0:
		r.report(path, "the option %q is a choice and lists no choices", o.Key)
		return // whatever its default is, it is not among them
	case o.Kind != host.KindChoice && len(o.Choices) > 0:
		r.report(path+"/choices", "the option %q lists choices, which only the kind choice takes", o.Key)
	case !numeric && (o.Min != 0 || o.Max != 0):
		r.report(path+"/kind", "the option %q has min or max, which only the kinds int and int|off take", o.Key)
	case o.Max != 0 && o.Min > o.Max:
		r.report(path+"/min", "min %d is above max %d", o.Min, o.Max)
		return
	}
	for alias, word := range o.Aliases {
		if o.Kind != host.KindChoice || !slices.Contains(o.Choices, word) {
			r.report(path+"/aliases/"+alias, "the alias %q stands for %q, which is not a choice", alias, word)
		}
		if slices.Contains(o.Choices, alias) {
			r.report(path+"/aliases/"+alias, "the alias %q is a choice itself", alias)
		}
	}
	if o.Default == "" {
		return // not set
	}
	switch canonical, err := o.Check(o.Default); {
	case err != nil:
		r.report(path+"/default", "the default does not fit: %v", err)
	case canonical != o.Default:
		r.report(path+"/default", "the default %q is written %q", o.Default, canonical)
	}
}

func (r *rules) hooks(path string, p *plugin) {
	var known []host.Event
	ok := false
	if r.answered != nil && p.ours() && slices.ContainsFunc(p.Hooks, func(h hook) bool { return h.Run == nil }) {
		all := r.answered()
		if known, ok = all[p.Name]; !ok {
			r.report(path, "the runtime has no plugin %q, so these hooks would start a process each time and do nothing%s", p.Name, didYouMean(p.Name, slices.Sorted(maps.Keys(all))))
		}
	}
	first := map[string]int{}
	for i, h := range p.Hooks {
		at := fmt.Sprintf("%s/%d", path, i)
		switch {
		case h.Run == nil && p.Runtime.none:
			r.report(at, "the hook says nothing to run, and the plugin has no runtime: add `run: {command: …}`")
		case h.Run == nil && h.Async && p.ours():
			r.report(at+"/async", "our runtime answers at once; async is for a hook with `run:`")
		}
		handler := h
		if handler.Run == nil && !p.ours() {
			handler.Run = map[string]any{} // the program of its author
		}
		handler.check(func(key, format string, args ...any) { r.report(at+"/"+key, format, args...) })
		if ok && h.Run == nil && h.Event.Known() && !slices.Contains(known, h.Event) {
			r.report(at+"/event", "the runtime does not answer the event %s of %s, so this hook would start a process each time and do nothing; take it out of hooks:", h.Event, p.Name)
		}
		// Case F16: the host runs one of two handlers that look the same.
		id := string(encode([]any{h.Event, h.Matcher, h.If, h.Run}))
		if n, ok := first[id]; ok {
			r.report(at, "duplicate hook: same event, matcher and if rule as hook %d of %s", n+1, p.Name)
			continue
		}
		first[id] = i
	}
}

// check reports what the host would refuse or ignore, each with the key at
// fault. The schema has bounded the timeout.
func (h hook) check(report func(key, format string, args ...any)) {
	known := words(allEvents())
	switch {
	case !slices.Contains(known, string(h.Event)):
		hint := didYouMean(string(h.Event), known)
		if hint == "" {
			hint = ": want one of " + strings.Join(known, ", ")
		}
		report("event", "the host has no event %q%s", h.Event, hint)
		return
	case h.Run != nil:
		return // the host takes more from others than we ask of ourselves
	case !h.Event.Known():
		report("event", "our runtime does not answer the event %s: give the hook a program with `run: {command: …}`", h.Event)
		return
	}
	if h.Matcher != "" && !h.Event.TakesMatcher() {
		report("matcher", "the event %s takes no matcher; the host would ignore it", h.Event)
	}
	if h.If != "" && !h.Event.TakesIf() {
		report("if", "the event %s takes no if rule", h.Event)
	}
	if h.Event == host.SessionEnd && h.Timeout > host.SessionEndTimeout {
		report("timeout", "the timeout of SessionEnd is %d: want at most %d second", h.Timeout, host.SessionEndTimeout)
	}
}
