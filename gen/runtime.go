package gen

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// stockRuntime is the program that answers the hooks of our plugins.
const stockRuntime = "ccreload"

// release is a release of the stock runtime, where it is not this project's own.
type release struct {
	Repository string `yaml:"repository"` // https://HOST/OWNER/REPO
	Version    string `yaml:"version"`
}

// runs says which program answers the hooks of a plugin: the stock runtime by
// default, with `none` each hook says it itself, and else a program of the
// author's.
type runs struct {
	none bool
	Name string `yaml:"name"`
	// Without these, they are those of the plugin.
	Repository string `yaml:"repository,omitempty"`
	Version    string `yaml:"version,omitempty"`
}

// UnmarshalText takes the word none, the only one the schema has.
func (r *runs) UnmarshalText([]byte) error {
	r.none = true
	return nil
}

// program is what the launcher of a plugin starts. A release of it has one file
// for each platform.
type program struct {
	Name       string
	Repository string
	Version    string
}

// Var is how the names of its environment variables begin.
func (p program) Var() string { return strings.ToUpper(strings.ReplaceAll(p.Name, "-", "_")) }

// String is what people call it.
func (p program) String() string { return p.Name + " " + p.Version }

// program returns what the launcher of p starts. It is not ok where there is no
// launcher.
func (m *manifest) program(p *plugin) (prog program, ok bool) {
	switch {
	case p.Runtime.none || p.elsewhere():
		return program{}, false
	case !p.ours():
		return program{
			Name:       p.Runtime.Name,
			Repository: cmp.Or(p.Runtime.Repository, p.Repository, m.Repository),
			Version:    cmp.Or(p.Runtime.Version, m.version(p)),
		}, true
	case m.Runtime != nil:
		return program{stockRuntime, m.Runtime.Repository, m.Runtime.Version}, true
	}
	return program{stockRuntime, m.Repository, m.Version}, true
}

// launched is a program with the place in the manifest that asks for it.
type launched struct {
	program
	at string
	// released says that the program is not made here: its sums come from the
	// release that the manifest names.
	released bool
}

// programs returns what the launchers of the plugins start, each once.
func (m *manifest) programs() (list []launched) {
	for i := range m.Plugins {
		prog, ok := m.program(&m.Plugins[i])
		if !ok || slices.ContainsFunc(list, func(l launched) bool { return l.Name == prog.Name }) {
			continue
		}
		l := launched{program: prog, at: fmt.Sprintf("/plugins/%d/runtime", i)}
		if m.Plugins[i].ours() {
			l.at, l.released = "/runtime", m.Runtime != nil
		}
		list = append(list, l)
	}
	return list
}

// What is written into the launcher as it is.
var (
	repositoryPattern = regexp.MustCompile(`^https://[A-Za-z0-9.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_-][A-Za-z0-9_.-]*$`)
	versionPattern    = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
)

// program checks what the launcher of p starts.
func (r *rules) program(at string, m *manifest, p *plugin) {
	prog, ok := m.program(p)
	if !ok || p.ours() {
		return
	}
	switch {
	case prog.Name == stockRuntime:
		r.report(at+"/name", "%q is our runtime: without `runtime:` the plugin runs it, and `runtime:` at the top of the manifest says from which release", stockRuntime)
	case len(m.Platforms) == 0:
		r.report(at, "for which platforms is there a program? Add `platforms: [linux/amd64, …]` at the top of the manifest")
	case !repositoryPattern.MatchString(prog.Repository):
		r.report(at+"/repository", "the launcher downloads %s from its repository, and %q is none: want `repository: https://github.com/OWNER/REPO`", prog.Name, prog.Repository)
	case !versionPattern.MatchString(prog.Version):
		r.report(at+"/version", "the launcher downloads a version of %s, and %q is none: want `version: 1.2.0`", prog.Name, prog.Version)
	}
	for i := range m.Plugins {
		if other, ok := m.program(&m.Plugins[i]); ok && other.Name == prog.Name && other != prog {
			r.report(at+"/name", "the plugin %s has another %s, %s of %s: one name is one program", m.Plugins[i].Name, prog.Name, other.Version, other.Repository)
			return
		}
	}
}

// sum returns the sha256 of an asset, "" where none is known.
func sum(sums []checksum, asset string) string {
	for _, s := range sums {
		if s.Name == asset {
			return s.SHA256
		}
	}
	return ""
}

// pins returns those of sums that the launcher of prog needs.
func (m *manifest) pins(prog program, sums []checksum) (out []checksum) {
	for _, p := range m.Platforms {
		if s := sum(sums, p.asset(prog.Name)); s != "" {
			out = append(out, checksum{s, p.asset(prog.Name)})
		}
	}
	return out
}

// Unpinned returns a problem for each program that users cannot get, since no
// sha256 of its release is known, and warnings for platforms without one. Our own
// runtime has none until it is released.
func (p *Project) Unpinned() (warnings Problems, err error) {
	sums, err := readChecksums(p.files)
	if err != nil {
		return nil, err
	}
	var bad Problems
	for _, l := range p.manifest.programs() {
		var missing []string
		for _, platform := range p.manifest.Platforms {
			if sum(sums, platform.asset(l.Name)) == "" {
				missing = append(missing, platform.asset(l.Name))
			}
		}
		explicit := l.released || l.Name != stockRuntime
		switch {
		case len(missing) == 0:
		case len(missing) < len(p.manifest.Platforms):
			warnings = append(warnings, p.manifest.doc.problem(l.at, "no sha256 is known for %s of %s, so users there get no runtime: add it to %s, or take the platform out", strings.Join(missing, ", "), l.Version, checksumsPath))
		case l.released:
			bad = append(bad, p.manifest.doc.problem(l.at, "no sha256 is known for %s, so no user gets a runtime: download %s/releases/download/v%s/checksums.txt to %s", l, l.Repository, l.Version, checksumsPath))
		case explicit:
			bad = append(bad, p.manifest.doc.problem(l.at, "no sha256 is known for %s, so no user gets it: run `ccreload-gen bundle` with your builds of it, which writes %s", l, checksumsPath))
		}
	}
	return warnings, bad.err()
}
