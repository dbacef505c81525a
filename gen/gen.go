// Package gen is the generator: it turns one typed manifest, the prose beside
// it and a template into every file of every plugin and of the marketplace.
//
// Emit is pure: it maps a manifest to a Tree and touches nothing. Writing,
// comparing and bundling only consume the tree. The package knows no plugin
// by name; a plugin is data.
//
// It never writes before everything is known to be right, never outside the
// project, and never touches a file it has not written itself. What it reads
// may come from anybody: it waits for none of it, and an error shows none of it
// as it is.
package gen

import "embed"

//go:embed manifest.yaml content
var source embed.FS // what a fork starts from

// Where things are, relative to the root of a project, with slashes.
const (
	ManifestPath  = "gen/manifest.yaml"
	ReleasedPath  = "gen/released.json"
	TemplatePath  = "plugin.tmpl"
	InventoryPath = "marketplace/.generated.json"
	OptionsPath   = "docs/options.md"
	ReadmePath    = "README.md"

	contentDir  = "content" // below gen/
	pluginsDir  = "marketplace/plugins"
	checksums   = "checksums.txt" // below gen/, written by a release
	profileFile = "ccreload.json"
	hooksFile   = "hooks/hooks.json"
	pluginFile  = ".claude-plugin/plugin.json"
	marketFile  = ".claude-plugin/marketplace.json"
	iconFile    = ".claude-plugin/icon.png"
	runtimeFile = "bin/ccreload"
)

// PluginDir returns where the tree of a plugin lies.
func PluginDir(plugin string) string { return pluginsDir + "/" + plugin }
