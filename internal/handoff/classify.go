package handoff

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/state"
)

// Kind is what sort of work is handed over.
type Kind string

// The kinds.
const (
	PluginWork   Kind = "plugin-work"   // inside the tree of a plugin
	MultiSession Kind = "multi-session" // a plan goes on over several sessions
	SingleTask   Kind = "single-task"   // anything else
)

// ParseKind reads the name of a kind; those of the plugin's Norwegian
// predecessor are accepted.
func ParseKind(name string) (Kind, bool) {
	word := strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(strings.TrimSpace(name)))
	for kind, names := range map[Kind][]string{
		PluginWork:   {"plugin", "plugin-arbeid", "pluginarbeid", "tillegg", "tilleggsarbeid"},
		MultiSession: {"multi", "multisesjon", "multi-sesjon", "flersesjon", "fler-sesjon", "flere-sesjoner", "prosjekt"},
		SingleTask:   {"single", "enkeltoppgave", "enkelt-oppgave", "enkel-oppgave", "enkel", "oppgave"},
	} {
		if word == string(kind) || slices.Contains(names, word) {
			return kind, true
		}
	}
	return "", false
}

// place is where a handoff goes.
type place struct {
	Kind Kind
	Top  string // of the worktree, or of the project without git
	Dir  string // the artifact goes here
}

// locate classifies the work in dir, a directory in or below top.
func locate(top, dir string, s Settings) place {
	plugin := pluginDir(top, dir)
	switch {
	case plugin != "":
		return place{PluginWork, top, plugin}
	case hasPlan(top, s.PlanFile):
		return place{MultiSession, top, top}
	}
	return place{SingleTask, top, top}
}

// pluginDir returns the directory of the plugin that dir is in, "" for none.
func pluginDir(top, dir string) string {
	for {
		if isFile(filepath.Join(dir, ".claude-plugin", "plugin.json")) {
			return dir
		}
		up := filepath.Dir(dir)
		if dir == top || up == dir {
			return ""
		}
		dir = up
	}
}

func hasPlan(top, named string) bool {
	if isFile(filepath.Join(top, "PLAN.md")) || named != "" && filepath.IsLocal(named) && isFile(filepath.Join(top, named)) {
		return true
	}
	plans, _ := os.ReadDir(filepath.Join(top, "docs", "plans"))
	if slices.ContainsFunc(plans, func(e fs.DirEntry) bool { return e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") }) {
		return true
	}
	return len(artifactsIn(top)) > 0
}

// artifactsIn returns the names of the artifacts in a directory.
func artifactsIn(dir string) []string {
	entries, _ := os.ReadDir(dir) // none where it cannot be read
	var names []string
	for _, e := range entries {
		if isArtifact(e.Name()) && e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

// documentDir returns where the user wants the artifact, a directory below top. It
// is made when it is not there. A link that leads out of top is refused.
func documentDir(top, dir string) (string, error) {
	if !filepath.IsLocal(dir) {
		return "", fmt.Errorf(errDirOutside, dir)
	}
	path := filepath.Join(top, dir)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	path = state.RealPath(path)
	if _, ok := state.Below(state.RealPath(top), path); !ok {
		return "", fmt.Errorf(errDirOutside, dir)
	}
	return path, nil
}

// maxSlug is the length of a slug in bytes.
const maxSlug = 40

// Slug makes a word for a file name of what a person typed, false when
// nothing of it can be used.
func Slug(typed string) (string, bool) {
	// Letters of the neighborhood, spelled as in file names.
	plain := strings.NewReplacer("å", "a", "æ", "ae", "ä", "ae", "ø", "o", "ö", "o", "ü", "u", "é", "e", "è", "e")
	slug := strings.Join(words(plain.Replace(strings.ToLower(typed))), "-")
	slug = strings.TrimRight(slug[:min(len(slug), maxSlug)], "-")
	return slug, slug != "" || strings.TrimSpace(typed) == ""
}

// words returns the runs of letters and digits of ASCII in a text of lower case.
func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
}
