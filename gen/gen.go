// Package gen is the generator: it turns one typed manifest, the prose beside
// it and a template into every file of every plugin and of the marketplace.
//
// emit is pure: it maps a manifest to a tree and touches nothing. Writing,
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

// releasedSums are the sha256 of the release this program is from, none in
// a build of anything else.
//
//go:embed checksums.txt
var releasedSums string

// Where things are, relative to the root of a project, with slashes.
const (
	ManifestPath  = "gen/manifest.yaml"
	releasedPath  = "gen/released.json"
	checksumsPath = "gen/checksums.txt" // written by a release
	templatePath  = "plugin.tmpl"
	inventoryPath = "marketplace/.generated.json"
	// The catalogue of the newest release, written by a release. It lies in the
	// repository since the client takes an address on github.com for one to clone.
	releasePath = "release/marketplace.json"
	optionsPath = "docs/options.md"
	readmePath  = "README.md"

	contentDir  = "gen/content"
	pluginsDir  = "marketplace/plugins"
	profileFile = "ccreload.json"
	hooksFile   = "hooks/hooks.json"
	pluginFile  = ".claude-plugin/plugin.json"
	marketFile  = ".claude-plugin/marketplace.json"
	iconFile    = ".claude-plugin/icon.png"
	runtimeFile = "bin/ccreload"
)

// pluginDir returns where the tree of a plugin lies.
func pluginDir(plugin string) string { return pluginsDir + "/" + plugin }
