package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/registry"
)

// installed is a plugin of ours that the host has installed.
type installed struct {
	ID      string // name@marketplace
	Name    string
	Root    string
	Data    string // survives updates; need not exist yet
	Version string // of the plugin as installed
	Profile host.Profile
}

// runtime returns the version of the runtime that answers its hooks.
func (p installed) runtime() string { return cmp.Or(p.Profile.Runtime, p.Version) }

// installedPlugins lists the plugins of ours in the host's own record, and the
// one whose root the host has named to us, by id. A plugin of that name which
// is not served by this runtime has no ccreload.json and is left out.
func (a *app) installedPlugins() []installed {
	dir := a.host.ConfigPath("plugins")
	var record struct {
		Plugins map[string][]struct {
			Path string `json:"installPath"`
		} `json:"plugins"`
	}
	if data, err := os.ReadFile(a.host.ConfigPath("plugins", "installed_plugins.json")); err == nil {
		json.Unmarshal(data, &record) // what cannot be read lists nothing
	}
	var list []installed
	add := func(id, root, data string) {
		data0, err := os.ReadFile(filepath.Join(root, "ccreload.json"))
		if err != nil {
			return
		}
		profile, err := host.DecodeProfile(data0)
		if err != nil || !slices.Contains(registry.Names(), profile.Plugin) {
			return
		}
		list = append(list, installed{
			ID: id, Name: profile.Plugin, Root: root, Data: data,
			Version: profile.Version, Profile: profile,
		})
	}
	for id, places := range record.Plugins {
		for _, at := range places {
			add(id, at.Path, filepath.Join(dir, "data", dataName(id)))
		}
	}
	if root := a.host.Root; root != "" {
		known := func(p installed) bool { return filepath.Clean(p.Root) == filepath.Clean(root) }
		if !slices.ContainsFunc(list, known) {
			add("", root, a.host.Data)
		}
	}
	slices.SortFunc(list, func(a, b installed) int {
		return strings.Compare(a.ID+a.Root, b.ID+b.Root)
	})
	return list
}

// dataName is the host's name for a plugin's data directory: its id with
// everything but letters, digits, - and _ made a dash.
func dataName(id string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, id)
}

// settingsFiles are the host's settings for a project, the one that wins first.
func (a *app) settingsFiles(project string) []string {
	return append(a.projectSettings(project), a.host.ConfigPath("settings.json"))
}

// projectSettings are those of them that belong to the project.
func (a *app) projectSettings(project string) []string {
	return []string{
		filepath.Join(project, ".claude", "settings.local.json"),
		filepath.Join(project, ".claude", "settings.json"),
	}
}

// hostSettings is what we read of such a file.
type hostSettings struct {
	Enabled map[string]any `json:"enabledPlugins"`
	NoHooks bool           `json:"disableAllHooks"`
	Plugins map[string]struct {
		Options map[string]any `json:"options"`
	} `json:"pluginConfigs"`
}

// readSettings reads a file of settings; one that is not there is empty.
func readSettings(path string) (hostSettings, error) {
	// A pipe would be waited for.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return hostSettings{}, errors.New("it is not a regular file")
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return hostSettings{}, nil
	}
	var s hostSettings
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		err = json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &s)
	}
	return s, err
}

// enabled reports whether the host runs plugin in a project. The settings
// nearest to the project decide; where none names it, as with --plugin-dir, we
// were called for it or a data directory shows that it has been at work.
func (a *app) enabled(plugin, project string) bool {
	for _, path := range a.settingsFiles(project) {
		s, err := readSettings(path)
		if err != nil {
			continue
		}
		named := false
		for id, on := range s.Enabled {
			if name, _, _ := strings.Cut(id, "@"); name == plugin {
				if on != false {
					return true
				}
				named = true
			}
		}
		if named {
			return false
		}
	}
	if p, err := hook.Profile(a.host.Root, plugin, nobody); err == nil && p.Plugin == plugin {
		return true
	}
	return slices.ContainsFunc(a.ourDataDirs(), func(dir string) bool {
		return strings.HasPrefix(filepath.Base(dir), plugin+"-")
	})
}

// ourDataDirs lists the data directories of our plugins: name-marketplace, or
// name-inline with --plugin-dir, and the one the host has named to us.
func (a *app) ourDataDirs() []string {
	var dirs []string
	all := a.host.ConfigPath("plugins", "data")
	entries, _ := os.ReadDir(all) // none when it cannot be read
	for _, e := range entries {
		ours := func(plugin string) bool { return strings.HasPrefix(e.Name(), plugin+"-") }
		if e.IsDir() && slices.ContainsFunc(registry.Names(), ours) {
			dirs = append(dirs, filepath.Join(all, e.Name()))
		}
	}
	if dir := a.host.Data; dir != "" && !slices.Contains(dirs, filepath.Clean(dir)) {
		dirs = append(dirs, dir)
	}
	return dirs
}

// profile returns what is known of plugin: the file in the plugin root the
// host named, else that of the installed one, else what is compiled in.
func (a *app) profile(plugin string) (host.Profile, error) {
	if root := a.host.Root; root != "" {
		if p, err := hook.Profile(root, plugin, nobody); err == nil {
			return p, nil
		}
	}
	for _, p := range a.installedPlugins() {
		if p.Name == plugin {
			return p.Profile, nil
		}
	}
	return hook.Profile("", plugin, a.defaults)
}

func nobody(string) (host.Profile, bool) { return host.Profile{}, false }
