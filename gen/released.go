package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/ccreload/ccreload/internal/problem"
)

// releases is gen/released.json: plugin → version → the digest (tree.digest)
// it was released with. Users get an update only when the version changes, so
// one version must never stand for two contents (case F19).
type releases map[string]map[string]string

// readReleases returns the record in fsys, the root of a project; without a
// file, an empty one.
func readReleases(fsys fs.FS) (releases, error) {
	r := releases{}
	data, err := readFile(fsys, "", releasedPath)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, problem.Input("restore it from git", "%q is not valid: %w", releasedPath, err)
	}
	return r, nil
}

// conflicts returns a sentence for each plugin in t whose version was
// released with other content.
func (r releases) conflicts(m *manifest, t tree) Problems {
	var ps Problems
	for i := range m.Plugins {
		p := &m.Plugins[i]
		version := m.version(p)
		if was, ok := r[p.Name][version]; ok && was != t.digest(p.Name) {
			at := "/version"
			if p.Version != "" {
				at = fmt.Sprintf("/plugins/%d/version", i)
			}
			ps = append(ps, m.doc.problem(at,
				"%s %s was released with other content: raise the version, or take the change back", p.Name, version))
		}
	}
	return ps
}

// record notes the plugins of t as released, to be written to releasedPath.
func (r releases) record(m *manifest, t tree) {
	for i := range m.Plugins {
		p := &m.Plugins[i]
		if r[p.Name] == nil {
			r[p.Name] = map[string]string{}
		}
		r[p.Name][m.version(p)] = t.digest(p.Name)
	}
}
