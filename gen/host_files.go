package gen

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"

	"github.com/ccreload/ccreload/internal/host"
)

// The JSON files of a plugin and of a marketplace. encode sorts the keys, so
// the order of fields here does not matter.

type handlerJSON struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
	If      string   `json:"if,omitempty"`
	Timeout int      `json:"timeout"` // seconds
	Status  string   `json:"statusMessage,omitempty"`
}

// hostHooksJSON is hooks/hooks.json as the host takes it; hooksFileJSON is what
// our own plugins keep to.
type hostHooksJSON struct {
	Description string                     `json:"description,omitempty"`
	Hooks       map[string][]hostGroupJSON `json:"hooks,omitempty"`
	Modules     any                        `json:"modules,omitempty"`
}

type hostGroupJSON struct {
	Matcher string           `json:"matcher,omitempty"`
	Hooks   []map[string]any `json:"hooks"`
}

// merge returns v as JSON with the keys of more put in or, with null, taken out,
// and then those of asIs put in.
func merge(v any, more, asIs map[string]any) ([]byte, error) {
	raw, err := marshal(v)
	if err != nil || len(more)+len(asIs) == 0 {
		return raw, err
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	put := func(key string, value any) error {
		out[key], err = marshal(value)
		return err
	}
	for key, value := range more {
		if err := put(key, value); err != nil {
			return nil, err
		}
		if value == nil {
			delete(out, key)
		}
	}
	for key, value := range asIs {
		if err := put(key, value); err != nil {
			return nil, err
		}
	}
	return marshal(out)
}

type groupJSON struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []handlerJSON `json:"hooks"`
}

type hooksFileJSON struct {
	Description string                     `json:"description"`
	Hooks       map[host.Event][]groupJSON `json:"hooks"`
}

// hooksJSON returns hooks/hooks.json. Our handlers are in exec form, without a
// shell, and have nothing in the command line that changes from release to
// release, since hosts key their trust on it (docs/host.md, Plugins).
func (p *plugin) hooksJSON() any {
	type group struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []any  `json:"hooks"`
	}
	out := map[host.Event][]group{}
	for _, h := range p.Hooks {
		groups := out[h.Event]
		i := 0
		for i < len(groups) && groups[i].Matcher != h.Matcher {
			i++
		}
		if i == len(groups) {
			groups = append(groups, group{Matcher: h.Matcher})
		}
		groups[i].Hooks = append(groups[i].Hooks, p.handler(h))
		out[h.Event] = groups
	}
	description := p.HooksDescription
	if p.ours() {
		description = cmp.Or(description, p.Description)
	}
	return struct {
		Description string                 `json:"description,omitempty"`
		Hooks       map[host.Event][]group `json:"hooks"`
	}{description, out}
}

// handler returns what the host is told to do at h.
func (p *plugin) handler(h hook) any {
	args := []string{"hook", p.Name, string(h.Event)}
	switch {
	case h.Run != nil:
		return h.handler()
	case p.ours():
		return handlerJSON{
			Type:    "command",
			Command: "${CLAUDE_PLUGIN_ROOT}/" + runtimeFile,
			Args:    args,
			If:      h.If,
			Timeout: h.Timeout,
			Status:  h.Status,
		}
	}
	h.Run = map[string]any{"command": "${CLAUDE_PLUGIN_ROOT}/bin/" + p.Runtime.Name, "args": args}
	return h.handler()
}

// handler returns the handler that h.Run describes.
func (h hook) handler() map[string]any {
	out := map[string]any{"type": "command"}
	if h.If != "" {
		out["if"] = h.If
	}
	if h.Timeout != 0 {
		out["timeout"] = h.Timeout
	}
	if h.Status != "" {
		out["statusMessage"] = h.Status
	}
	if h.Async {
		out["async"] = true
	}
	maps.Copy(out, h.Run)
	return out
}

type personJSON struct {
	Name  string `json:"name" yaml:"name"`
	Email string `json:"email,omitempty" yaml:"email,omitempty"`
	URL   string `json:"url,omitempty" yaml:"url,omitempty"`
}

type networkJSON struct {
	Hosts []string `json:"hosts"`
}

// userOptionJSON is a field of the host's dialog for a plugin's options.
type userOptionJSON struct {
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Default     any    `json:"default,omitempty"`
	Min         *int   `json:"min,omitempty"`
	Max         *int   `json:"max,omitempty"`
}

type pluginFileJSON struct {
	Name        string                    `json:"name"`
	DisplayName string                    `json:"displayName,omitempty"`
	Version     string                    `json:"version,omitempty"`
	Description string                    `json:"description,omitempty"`
	Author      *personJSON               `json:"author,omitempty"`
	Homepage    string                    `json:"homepage,omitempty"`
	Repository  string                    `json:"repository,omitempty"`
	License     string                    `json:"license,omitempty"`
	Keywords    []string                  `json:"keywords,omitempty"`
	Network     *networkJSON              `json:"network,omitempty"`
	UserConfig  map[string]userOptionJSON `json:"userConfig,omitempty"`

	more      map[string]any
	unchecked map[string]any
}

func (p pluginFileJSON) MarshalJSON() ([]byte, error) {
	type plain pluginFileJSON
	return merge(plain(p), p.more, p.unchecked)
}

// pluginJSON returns .claude-plugin/plugin.json. It names no hooks, commands
// or skills: the host finds them where they are, and would load what is named
// here as well a second time (case F20).
func (m *manifest) pluginJSON(p *plugin) pluginFileJSON {
	out := pluginFileJSON{
		Name:        p.Name,
		Version:     m.version(p),
		Description: p.Description,
		Author:      p.Author,
		Homepage:    p.Homepage,
		Repository:  cmp.Or(p.Repository, m.Repository),
		License:     m.license(p),
		Keywords:    p.Keywords,
		more:        p.Host,
		unchecked:   p.Unchecked,
	}
	if out.Author == nil && m.Author != "" {
		out.Author = &personJSON{Name: m.Author}
	}
	if p.ours() {
		out.Homepage = cmp.Or(out.Homepage, m.Repository)
	}
	if p.Title != p.Name {
		out.DisplayName = p.Title
	}
	if len(p.Network) > 0 {
		out.Network = &networkJSON{}
		for _, n := range p.Network {
			out.Network.Hosts = append(out.Network.Hosts, n.Host)
		}
	}
	for _, o := range p.Options {
		if !o.HasScope(host.ScopeUser) {
			continue
		}
		if out.UserConfig == nil {
			out.UserConfig = map[string]userOptionJSON{}
		}
		out.UserConfig[o.Key] = userOption(o)
	}
	return out
}

// userOption returns the dialog field of an option. A number that may be off
// is a plain number when 0 is in its range, since 0 is off then; the dialog
// can check that, and a word it could not.
func userOption(o host.Option) userOptionJSON {
	out := userOptionJSON{Type: "string", Title: o.Title, Description: o.Help}
	if o.Default != "" {
		out.Default = o.Default
	}
	switch {
	case o.Kind == host.KindBool:
		out.Type, out.Default = "boolean", o.Default == "on"
	case o.Kind == host.KindInt, o.Kind == host.KindOff && o.Min == 0:
		out.Type, out.Min = "number", &o.Min
		if o.Max != 0 {
			out.Max = &o.Max
		}
		if n, err := strconv.Atoi(o.Default); err == nil {
			out.Default = n
		} else if o.Default == "off" {
			out.Default = 0
		}
	}
	return out
}

type marketFileJSON struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Owner       personJSON     `json:"owner"`
	Plugins     []marketPlugin `json:"plugins"`

	more map[string]any
}

func (f marketFileJSON) MarshalJSON() ([]byte, error) {
	type plain marketFileJSON
	return merge(plain(f), f.more, nil)
}

type marketPlugin struct {
	Name        string   `json:"name"`
	Source      any      `json:"source"`
	Description string   `json:"description,omitempty"`
	Version     string   `json:"version,omitempty"`
	Keywords    []string `json:"keywords,omitempty"`
	Category    string   `json:"category,omitempty"`
	Tags        []string `json:"tags,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`

	more map[string]any
}

func (p marketPlugin) MarshalJSON() ([]byte, error) {
	type plain marketPlugin
	return merge(plain(p), p.more, nil)
}

// market returns a marketplace.json whose sources are paths below prefix,
// which begins with ./ (case F45).
func (m *manifest) market(prefix string) marketFileJSON {
	out := marketFileJSON{
		Name:        m.Marketplace.Name,
		Description: m.Marketplace.Description,
		Owner:       m.owner(),
		more:        m.Marketplace.Host,
	}
	for i := range m.Plugins {
		p := &m.Plugins[i]
		var source any = prefix + p.Name
		if p.elsewhere() {
			source = p.Source
		}
		out.Plugins = append(out.Plugins, marketPlugin{
			Name:        p.Name,
			Source:      source,
			Description: p.Description,
			Version:     m.version(p),
			Keywords:    p.Keywords,
			Category:    p.Category,
			Tags:        p.Tags,
			Homepage:    p.Homepage,
			more:        p.Entry,
		})
	}
	return out
}
