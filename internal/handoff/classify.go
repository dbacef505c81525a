package handoff

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// signs are what the kind is told from.
type signs struct {
	Plugin bool // there is a plugin's manifest here or above
	Plan   bool // there is a plan, or an artifact of an earlier session
}

func classify(s signs) Kind {
	switch {
	case s.Plugin:
		return PluginWork
	case s.Plan:
		return MultiSession
	}
	return SingleTask
}

// place is where a handoff goes.
type place struct {
	Kind Kind
	Top  string // of the worktree, or of the project without git
	Dir  string // the artifact goes here
}

// survey classifies the work in dir, a directory in or below top.
func survey(top, dir string, s Settings) place {
	plugin := pluginDir(top, dir)
	at := place{Top: top, Dir: top}
	at.Kind = classify(signs{Plugin: plugin != "", Plan: hasPlan(top, s.PlanFile)})
	if plugin != "" {
		at.Dir = plugin
	}
	return at
}

// pluginDir returns the directory of the plugin that dir is in, "" for none.
func pluginDir(top, dir string) string {
	for {
		if isFile(filepath.Join(dir, ".claude-plugin", "plugin.json")) {
			return dir
		}
		up := filepath.Dir(dir)
		if dir == top || up == dir || !inside(top, up) {
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
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	names = slices.DeleteFunc(names, func(n string) bool { return !isArtifact(n) || !isFile(filepath.Join(dir, n)) })
	slices.Sort(names)
	return names
}

func isFile(path string) bool {
	fi, err := os.Lstat(path)
	return err == nil && fi.Mode().IsRegular()
}

func inside(top, dir string) bool {
	rel, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rel)
}

// named returns where the user wants the artifact, a directory below top. It
// is made when it is not there. A link that leads out of top is refused.
func named(top, dir string) (string, error) {
	if !filepath.IsLocal(dir) {
		return "", errors.New(textDirOutside(dir))
	}
	path := filepath.Join(top, dir)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	realTop, err := filepath.EvalSymlinks(top)
	if err != nil {
		return "", err
	}
	if !inside(realTop, real) {
		return "", errors.New(textDirOutside(dir))
	}
	return real, nil
}

// maxSlug is the length of a slug in bytes.
const maxSlug = 40

// Slug makes a word for a file name of what a person typed, false when
// nothing of it can be used.
func Slug(typed string) (string, bool) {
	if strings.TrimSpace(typed) == "" {
		return "", true
	}
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(typed) {
		s := string(r)
		switch r {
		case 'å':
			s = "a"
		case 'æ', 'ä':
			s = "ae"
		case 'ø', 'ö':
			s = "o"
		case 'ü':
			s = "u"
		case 'é', 'è':
			s = "e"
		}
		if r = rune(s[0]); r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteString(s)
		} else {
			dash = true
		}
		if b.Len() >= maxSlug {
			break
		}
	}
	return b.String(), b.Len() > 0
}
