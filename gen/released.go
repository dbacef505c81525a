package gen

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// Releases is gen/released.json: plugin → version → the digest (Tree.Digest)
// it was released with. Users get an update only when the version changes, so
// one version must never stand for two contents (case F19).
type Releases map[string]map[string]string

// ReadReleases returns the record in fsys, the root of a project; without a
// file, an empty one.
func ReadReleases(fsys fs.FS) (Releases, error) {
	r := Releases{}
	data, err := readFile(fsys, "", ReleasedPath)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("%s is not readable: restore it from git: %w", ReleasedPath, err)
	}
	return r, nil
}

// Conflicts returns a sentence for each plugin in t whose version was
// released with other content.
func (r Releases) Conflicts(m *Manifest, t Tree) Problems {
	var ps Problems
	for _, p := range m.Plugins {
		if was, ok := r[p.Name][m.Version]; ok && was != t.Digest(p.Name) {
			ps = append(ps, m.doc.problem("/version",
				"%s %s was released with other content: raise the version, or take the change back", p.Name, m.Version))
		}
	}
	return ps
}

// Record notes the plugins of t as released, to be written to ReleasedPath.
func (r Releases) Record(m *Manifest, t Tree) {
	for _, p := range m.Plugins {
		if r[p.Name] == nil {
			r[p.Name] = map[string]string{}
		}
		r[p.Name][m.Version] = t.Digest(p.Name)
	}
}
