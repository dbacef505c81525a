package gen

import (
	"bytes"
	_ "embed"
	"io/fs"
	"os"

	"github.com/ccreload/ccreload/internal/problem"
)

// forkReadme tells somebody with a fresh fork how to go on.
//
//go:embed FORK.md
var forkReadme []byte

const attributes = ".gitattributes"

const otherDir = "choose another directory, new or empty"

// Init writes what a fork starts from into dir, which is created if need be,
// and returns the paths written, sorted. It overwrites nothing: with one of
// the files there, the error says which, and dir is as before. The manifest
// comes last: without one, what an interrupted Init has left is completed.
func Init(dir, template string) ([]string, error) {
	t := tree{
		templatePath: {Data: []byte(template), Mode: 0o644},
		"FORK.md":    {Data: forkReadme, Mode: 0o644},
		attributes:   {Data: []byte("# Git may not touch line ends: generated files are compared byte by byte, and\n# the launcher does not start with CR LF.\n* -text\n"), Mode: 0o644},
	}
	err := fs.WalkDir(source, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		}
		data, err := fs.ReadFile(source, p)
		t["gen/"+p] = file{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		return nil, err
	}
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, problem.Input(otherDir, "%q cannot be a directory: %w", dir, Cause(err))
	}
	if err := begin(dir, t); err != nil {
		if missing != nil {
			_ = os.Remove(dir) // if it is empty
		}
		return nil, err
	}
	return t.paths(), nil
}

// begin writes the files of t into dir, none of which may be there; but a
// .gitattributes stays and leaves t, and of a project without a manifest they may, as an interrupted Init leaves them.
func begin(dir string, t tree) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return problem.Input(otherDir, "%q cannot be opened: %w", dir, Cause(err))
	}
	defer root.Close()
	for _, p := range t.paths() {
		if _, err := root.Lstat(p); err != nil {
			continue // missing, or write will say why not
		}
		data, err := readFile(root.FS(), "", p)
		if p == attributes && !bytes.Equal(data, t[p].Data) {
			delete(t, p) // a repository's own; check says so if it lacks ours
			continue
		}
		if p == ManifestPath || err != nil || !bytes.Equal(data, t[p].Data) {
			return problem.Input(otherDir, "%q has a file %q already", dir, p)
		}
	}
	_, err = write(root, t, nil, ManifestPath)
	return err
}
