package gen

import (
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

type groupJSON struct {
	Matcher string        `json:"matcher,omitempty"`
	Hooks   []handlerJSON `json:"hooks"`
}

type hooksFileJSON struct {
	Description string                     `json:"description"`
	Hooks       map[host.Event][]groupJSON `json:"hooks"`
}

// hooksJSON returns hooks/hooks.json: exec form, no shell, and nothing in a
// command line that changes from release to release, since hosts key their
// trust on it (docs/host.md, Plugins).
func (p *plugin) hooksJSON() hooksFileJSON {
	out := hooksFileJSON{Description: p.Description, Hooks: map[host.Event][]groupJSON{}}
	for _, h := range p.Hooks {
		groups := out.Hooks[h.Event]
		i := 0
		for i < len(groups) && groups[i].Matcher != h.Matcher {
			i++
		}
		if i == len(groups) {
			groups = append(groups, groupJSON{Matcher: h.Matcher})
		}
		groups[i].Hooks = append(groups[i].Hooks, handlerJSON{
			Type:    "command",
			Command: "${CLAUDE_PLUGIN_ROOT}/" + runtimeFile,
			Args:    []string{"hook", p.Name, string(h.Event)},
			If:      h.If,
			Timeout: h.Timeout,
			Status:  h.Status,
		})
		out.Hooks[h.Event] = groups
	}
	return out
}

type personJSON struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
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
	Version     string                    `json:"version"`
	Description string                    `json:"description"`
	Author      personJSON                `json:"author"`
	Homepage    string                    `json:"homepage,omitempty"`
	Repository  string                    `json:"repository"`
	License     string                    `json:"license"`
	Keywords    []string                  `json:"keywords,omitempty"`
	Network     *networkJSON              `json:"network,omitempty"`
	UserConfig  map[string]userOptionJSON `json:"userConfig,omitempty"`
}

// pluginJSON returns .claude-plugin/plugin.json. It names no hooks, commands
// or skills: the host finds them where they are, and would load what is named
// here as well a second time (case F20).
func (m *manifest) pluginJSON(p *plugin) pluginFileJSON {
	out := pluginFileJSON{
		Name:        p.Name,
		Version:     m.Version,
		Description: p.Description,
		Author:      personJSON{Name: m.Author},
		Homepage:    m.Repository,
		Repository:  m.Repository,
		License:     m.License,
		Keywords:    p.Keywords,
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
	Description string         `json:"description"`
	Owner       personJSON     `json:"owner"`
	Plugins     []marketPlugin `json:"plugins"`
}

type marketPlugin struct {
	Name        string   `json:"name"`
	Source      any      `json:"source"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Keywords    []string `json:"keywords,omitempty"`
}

// market returns a marketplace.json whose sources are paths below prefix,
// which begins with ./ (case F45).
func (m *manifest) market(prefix string) marketFileJSON {
	out := marketFileJSON{
		Name:        m.Marketplace.Name,
		Description: m.Marketplace.Description,
		Owner:       personJSON{Name: m.Author, URL: m.Repository},
	}
	for _, p := range m.Plugins {
		out.Plugins = append(out.Plugins, marketPlugin{
			Name:        p.Name,
			Source:      prefix + p.Name,
			Description: p.Description,
			Version:     m.Version,
			Keywords:    p.Keywords,
		})
	}
	return out
}
