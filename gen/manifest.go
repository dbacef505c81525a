package gen

import (
	"bytes"
	"cmp"
	"reflect"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

// manifest is gen/manifest.yaml: everything the plugins of one marketplace are.
// What a key takes beyond its type is in fields.yaml; one that may be left out
// has omitempty.
type manifest struct {
	Name           string        `yaml:"name"`
	Version        string        `yaml:"version,omitempty"`
	Description    string        `yaml:"description,omitempty"`
	Repository     string        `yaml:"repository,omitempty"` // https://HOST/OWNER/REPO
	License        string        `yaml:"license,omitempty"`    // an SPDX id
	Author         string        `yaml:"author,omitempty"`
	Marketplace    marketplace   `yaml:"marketplace"`
	Runtime        *release      `yaml:"runtime,omitempty"` // without one, of this project and version
	MinHostVersion string        `yaml:"min-host-version,omitempty"`
	Platforms      []platform    `yaml:"platforms,omitempty"`
	Windows        []host.Window `yaml:"windows,omitempty"`
	Prices         []host.Price  `yaml:"prices,omitempty"`
	Plugins        []plugin      `yaml:"plugins"`

	doc *document // where each value stands, for errors
}

// marketplace is how users name the collection: /plugin install X@NAME.
type marketplace struct {
	Name        string         `yaml:"name"`
	Description string         `yaml:"description,omitempty"`
	Owner       *personJSON    `yaml:"owner,omitempty"` // without one, the author
	Host        map[string]any `yaml:"host,omitempty"`  // further keys of marketplace.json
}

// platform is an operating system and a CPU, as GOOS/GOARCH.
type platform string

// os returns the operating system as Go names it.
func (p platform) os() string { os, _, _ := strings.Cut(string(p), "/"); return os }

// arch returns the CPU as Go names it.
func (p platform) arch() string { _, arch, _ := strings.Cut(string(p), "/"); return arch }

// asset returns what the file of program for p is called, in a release and in a
// plugin's bin.
func (p platform) asset(program string) string {
	return program + "-" + p.os() + "-" + p.arch() + p.exe()
}

// exe returns what the name of a program ends in.
func (p platform) exe() string {
	if p.os() == "windows" {
		return ".exe"
	}
	return ""
}

// plugin is one plugin of the marketplace. Ours, those without `runtime:`, are
// answered by the stock runtime and have to keep its house rules.
type plugin struct {
	Name        string `yaml:"name"`
	Title       string `yaml:"title,omitempty"`
	Description string `yaml:"description,omitempty"`
	Runtime     runs   `yaml:"runtime,omitempty"`
	// Source is where the host fetches a plugin from that is only listed here.
	Source map[string]any `yaml:"source,omitempty"`

	// What a plugin does not say itself is that of the toolkit.
	Version    string      `yaml:"version,omitempty"`
	License    string      `yaml:"license,omitempty"`
	Author     *personJSON `yaml:"author,omitempty"`
	Homepage   string      `yaml:"homepage,omitempty"`
	Repository string      `yaml:"repository,omitempty"`

	Keywords []string      `yaml:"keywords,omitempty"`
	Category string        `yaml:"category,omitempty"`
	Tags     []string      `yaml:"tags,omitempty"`
	Readme   string        `yaml:"readme,omitempty"` // body of the README, below content/NAME
	Icon     string        `yaml:"icon,omitempty"`   // a PNG below content/NAME
	Files    string        `yaml:"files,omitempty"`  // a directory below content/NAME, copied as it is
	Network  []access      `yaml:"network,omitempty"`
	Options  []host.Option `yaml:"options,omitempty"`
	Hooks    []hook        `yaml:"hooks,omitempty"`
	Commands []prose       `yaml:"commands,omitempty"`
	Skills   []prose       `yaml:"skills,omitempty"`
	Agents   []prose       `yaml:"agents,omitempty"`
	// HooksDescription is that of hooks.json where it is not the plugin's.
	HooksDescription string `yaml:"hooks-description,omitempty"`
	// Host has further keys of plugin.json, Entry of the entry in marketplace.json,
	// where they win over what plugin.json has. Null takes out what would be there.
	Host  map[string]any `yaml:"host,omitempty"`
	Entry map[string]any `yaml:"entry,omitempty"`
	// Unchecked has keys of plugin.json that are not held against anything, as
	// they are.
	Unchecked map[string]any `yaml:"unchecked,omitempty"`
	// Prices has the runtime told what the models cost.
	Prices bool `yaml:"prices,omitempty"`
}

// ours reports whether the runtime of this project answers the hooks of p.
func (p *plugin) ours() bool { return p.Runtime == runs{} && !p.elsewhere() }

// elsewhere reports whether p is only listed here: nothing is generated but its
// entry in the marketplace.
func (p *plugin) elsewhere() bool { return p.Source != nil }

// access is a host the plugin may reach, with the reason.
type access struct {
	Host string `yaml:"host"`
	Why  string `yaml:"why"`
}

// hook is one handler of one event.
type hook struct {
	Event   host.Event `yaml:"event"`
	Matcher string     `yaml:"matcher,omitempty"`
	If      string     `yaml:"if,omitempty"`
	Timeout int        `yaml:"timeout,omitempty"` // seconds
	Status  string     `yaml:"status,omitempty"`  // what the host shows while it runs
	Async   bool       `yaml:"async,omitempty"`
	// Run is the handler in the words of the host, where our runtime is not it.
	// It has none of the keys above.
	Run map[string]any `yaml:"run,omitempty"`
}

// downloads reports whether the launcher begins a download at h.
func (h hook) downloads() bool {
	return h.Run == nil && (h.Event == host.SessionStart || h.Event == host.UserPromptSubmit)
}

// prose is a command or a skill: Markdown that the host gives to the model.
// The keys are those of the host's frontmatter.
type prose struct {
	Name         string   `yaml:"name"`
	Description  string   `yaml:"description"`
	ArgumentHint string   `yaml:"argument-hint,omitempty"`
	AllowedTools []string `yaml:"allowed-tools,omitempty"`
	// PersonOnly keeps the model from invoking it; it then costs no tokens
	// until a person types its name.
	PersonOnly bool   `yaml:"disable-model-invocation,omitempty"`
	Model      string `yaml:"model,omitempty"`
	Body       string `yaml:"body"` // Markdown below content/PLUGIN
	// Files is a directory below content/PLUGIN whose files go beside a skill.
	Files string `yaml:"files,omitempty"`
	// Extra has further keys of the frontmatter. Its name wins, and null takes out what
	// would be there.
	Extra map[string]any `yaml:"extra,omitempty"`
}

// decode reads a manifest. file names it in errors. The error is Problems:
// all that is wrong, each with its line, as far as one run can tell. answered are
// the events the runtime answers, by plugin; nil holds the hooks against nothing.
func decode(file string, data []byte, answered func() events) (*manifest, error) {
	if own, err := source.ReadFile("manifest.yaml"); err == nil && bytes.Equal(own, data) {
		answered = nil // it is itself what the runtime answers
	}
	doc, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	value, err := doc.value()
	if err != nil {
		return nil, err
	}
	if ps := doc.conformAt("", value, schemas["manifest"]); len(ps) > 0 {
		return nil, ps.err()
	}
	m := &manifest{doc: doc}
	fill(reflect.ValueOf(m).Elem(), value)
	if err := m.check(answered).err(); err != nil {
		return nil, err
	}
	return m, nil
}

// plugin returns the plugin called name.
func (m *manifest) plugin(name string) (*plugin, bool) {
	for i := range m.Plugins {
		if m.Plugins[i].Name == name {
			return &m.Plugins[i], true
		}
	}
	return nil, false
}

// version returns the version of p.
func (m *manifest) version(p *plugin) string {
	if p.elsewhere() {
		return p.Version
	}
	return cmp.Or(p.Version, m.Version)
}

// license returns the license of p.
func (m *manifest) license(p *plugin) string { return cmp.Or(p.License, m.License) }

// owner returns whose marketplace it is.
func (m *manifest) owner() personJSON {
	if m.Marketplace.Owner != nil {
		return *m.Marketplace.Owner
	}
	return personJSON{Name: m.Author, URL: m.Repository}
}

// slug returns OWNER/REPO of the repository.
func (m *manifest) slug() string {
	_, rest, _ := strings.Cut(m.Repository, "://")
	_, slug, _ := strings.Cut(rest, "/")
	return slug
}

// profile is what the runtime is told of p.
func (m *manifest) profile(p *plugin) host.Profile {
	profile := host.Profile{
		Plugin:         p.Name,
		Version:        m.version(p),
		MinHostVersion: m.MinHostVersion,
		Options:        p.Options,
		Windows:        m.Windows,
	}
	if prog, ok := m.program(p); ok && prog.Version != profile.Version {
		profile.Runtime = prog.Version
	}
	if p.Prices {
		profile.Prices = encode(m.Prices)
	}
	return profile
}
