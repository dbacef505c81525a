package main

import (
	"archive/tar"
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The root package is a script that finds the programs of this system in the
// package that npm installed for it. It is for command lines; hooks run the
// program itself, by their launcher.
//
//go:embed npm/run.js
var runScript string

//go:embed npm/README.md
var npmReadme string

var programs = []string{"ccreload", "ccreload-gen"}

// artifact is what goreleaser writes of a file in artifacts.json.
type artifact struct {
	Name, Path, Type string
	GOOS, GOARCH     string
}

// file is a file of an npm package.
type file struct {
	data []byte
	mode int64
}

// writeNPM packs the programs that goreleaser built in dist into out: a package
// for each system, and the root package, which depends on exactly these.
func writeNPM(dist, out string) error {
	var meta struct{ Version string }
	var artifacts []artifact
	for name, into := range map[string]any{"metadata.json": &meta, "artifacts.json": &artifacts} {
		data, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	shared := map[string]file{}
	for name, path := range map[string]string{"LICENSE": "LICENSE", "MODULES.txt": "dist-extra/MODULES.txt"} {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		shared[name] = file{data, 0o644}
	}

	platforms := map[string]map[string]file{} // by name, such as linux-x64
	for _, a := range artifacts {
		program := strings.TrimSuffix(a.Name, ".exe")
		// Each program is listed a second time, as a file of the release.
		if a.Type != "Binary" || !slices.Contains(programs, program) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dist, "..", filepath.FromSlash(a.Path)))
		if err != nil {
			return err
		}
		name := nodeSystem(a.GOOS) + "-" + nodeCPU(a.GOARCH)
		if platforms[name] == nil {
			platforms[name] = maps.Clone(shared)
		}
		platforms[name]["bin/"+a.Name] = file{data, 0o755}
	}
	if len(platforms) == 0 {
		return fmt.Errorf("no programs in %q", dist)
	}

	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	dependencies := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(platforms)) {
		system, cpu, _ := strings.Cut(name, "-")
		full := "@ccreload/" + name
		// An exact version: the parts of one release belong together.
		dependencies[full] = meta.Version
		files := platforms[name]
		files["README.md"] = file{fmt.Appendf(nil, "# %s\n\nThe programs of [ccreload](https://www.npmjs.com/package/ccreload) for %s on %s.\nInstall `ccreload`, which brings this package where it fits.\n", full, system, cpu), 0o644}
		if err := writePackage(filepath.Join(out, "ccreload-"+name+"-"+meta.Version+".tgz"), files, map[string]any{
			"name":            full,
			"version":         meta.Version,
			"description":     "The programs of ccreload for " + system + " on " + cpu,
			"os":              []string{system},
			"cpu":             []string{cpu},
			"preferUnplugged": true,
		}); err != nil {
			return err
		}
	}
	root := maps.Clone(shared)
	delete(root, "MODULES.txt") // which links nothing
	root["README.md"] = file{[]byte(npmReadme), 0o644}
	root["run.js"] = file{[]byte(runScript), 0o644}
	bin := map[string]string{}
	for _, program := range programs {
		bin[program] = "bin/" + program + ".js"
		root[bin[program]] = file{[]byte("#!/usr/bin/env node\nrequire(\"../run.js\")(\"" + program + "\");\n"), 0o755}
	}
	return writePackage(filepath.Join(out, "ccreload-"+meta.Version+".tgz"), root, map[string]any{
		"name":                 "ccreload",
		"version":              meta.Version,
		"description":          "The command lines of ccreload: plugins for Claude Code that keep the working thread, and their generator",
		"keywords":             []string{"claude-code", "context", "handoff", "hooks"},
		"bin":                  bin,
		"engines":              map[string]string{"node": ">=18"},
		"optionalDependencies": dependencies,
	})
}

// nodeSystem is what process.platform says where Go says system.
func nodeSystem(system string) string {
	if system == "windows" {
		return "win32"
	}
	return system
}

// nodeCPU is what process.arch says where Go says arch.
func nodeCPU(arch string) string {
	if arch == "amd64" {
		return "x64"
	}
	return arch
}

// packed is the date of every file in a package of npm, the one that npm pack
// itself gives them.
var packed = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

// writePackage writes a package as npm pack does. manifest becomes its
// package.json, with what all packages of ours have in common.
func writePackage(path string, files map[string]file, manifest map[string]any) error {
	manifest["license"] = "MIT"
	manifest["author"] = "ccreload authors"
	manifest["homepage"] = "https://github.com/ccreload/ccreload"
	manifest["repository"] = map[string]string{"type": "git", "url": "git+https://github.com/ccreload/ccreload.git"}
	text, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return err
	}
	files["package.json"] = file{append(text, '\n'), 0o644}

	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		if err := w.WriteHeader(&tar.Header{
			Name: "package/" + name, Mode: f.mode, Size: int64(len(f.data)), ModTime: packed, Format: tar.FormatUSTAR,
		}); err != nil {
			return err
		}
		if _, err := w.Write(f.data); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	data, err := compress(archive.Bytes())
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
