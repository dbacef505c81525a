// Package ccreload holds what is compiled into the programs from the top of
// the repository, where go:embed of an inner package cannot reach.
//
// It never holds logic, and never imports more than package host: every program
// links it, and a hook starts one at each turn. Nothing in it runs before it is
// asked.
package ccreload

import (
	"embed"

	"github.com/ccreload/ccreload/internal/host"
)

// PluginTemplate is plugin.tmpl, the shape of a plugin tree. Only the
// generator refers to it, so that it is not linked into the runtime.
//
//go:embed plugin.tmpl
var PluginTemplate string

//go:embed marketplace/plugins/*/ccreload.json
var profiles embed.FS

// Files are the plugins as they are generated, at marketplace/plugins/NAME, less
// the sums of the runtimes: those are known only when this program is built. Only
// `ccreload plugin-dir` refers to them.
//
//go:embed marketplace/plugins/*/ccreload.json
//go:embed marketplace/plugins/*/README.md
//go:embed marketplace/plugins/*/LICENSE
//go:embed marketplace/plugins/*/.claude-plugin
//go:embed marketplace/plugins/*/bin/ccreload
//go:embed marketplace/plugins/*/hooks
//go:embed marketplace/plugins/*/commands
//go:embed marketplace/plugins/*/skills
var Files embed.FS

// Defaults returns the profile of a plugin as it was when the program was
// built, for when the plugin's own ccreload.json cannot be read.
func Defaults(plugin string) (host.Profile, bool) {
	data, err := profiles.ReadFile("marketplace/plugins/" + plugin + "/ccreload.json")
	if err != nil {
		return host.Profile{}, false
	}
	p, err := host.DecodeProfile(data)
	return p, err == nil
}

// Plugins returns the names of the plugins that were compiled in, sorted.
func Plugins() []string {
	entries, err := profiles.ReadDir("marketplace/plugins")
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Version returns the version of the toolkit the program was built from.
func Version() string {
	for _, name := range Plugins() {
		if p, ok := Defaults(name); ok {
			return p.Version
		}
	}
	return ""
}
