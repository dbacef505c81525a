package gen

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ccreload/ccreload/internal/host"
)

// forkReadme tells somebody with a fresh fork how to go on.
const forkReadme = `# Your own ccreload plugins

Everything these plugins are stands in gen/manifest.yaml, their prose in
gen/content/, and the shape of a plugin in plugin.tmpl. No Go is needed: the
stock runtime reads what is generated here.

1. In gen/manifest.yaml, make it yours: repository, author, marketplace.name,
   version. Declare the host of the repository under network if it is not
   github.com.
2. Change what you came for, such as the default of an option. Numbers in the
   prose and in the tables follow, since they are taken from there.
3. Run ` + "`ccreload-gen generate`" + `. It writes marketplace/, .claude-plugin/ and
   docs/options.md; never edit those. ` + "`ccreload-gen check`" + ` finds out if
   somebody did.
4. Try it: ` + "`claude --plugin-dir marketplace/plugins/cc-reload`" + `. The launcher needs
   a runtime: put ccreload on disk and its path into CCRELOAD_BIN, or copy it to
   bin/ccreload-OS-ARCH in the plugin.
5. Commit all of it and push. ` + "`/plugin marketplace add OWNER/REPO`" + ` works on the
   repository as it is. Raise the version with every change you publish: users
   get an update only then.

` + "`ccreload-gen schema > manifest.schema.json`" + ` gives an editor completion for the
manifest, ` + "`ccreload-gen --help`" + ` the rest.
`

// Init writes what a fork starts from into dir, which is created if need be,
// and returns the paths written, sorted. It overwrites nothing: with one of
// the files there, the error says which, and dir is as before. The manifest
// comes last: without one, what an interrupted Init has left is completed.
func Init(dir, template string) ([]string, error) {
	t := Tree{
		TemplatePath: {Data: []byte(template), Mode: 0o644},
		"FORK.md":    {Data: []byte(forkReadme), Mode: 0o644},
	}
	err := fs.WalkDir(source, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case p == "schema":
			return fs.SkipDir // compiled in
		case d.IsDir():
			return nil
		}
		data, err := fs.ReadFile(source, p)
		t["gen/"+p] = File{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		return nil, err
	}
	made, err := makeDir(dir)
	if err != nil {
		return nil, err
	}
	if err := begin(dir, t); err != nil {
		if made {
			_ = os.Remove(dir) // if it is empty
		}
		return nil, err
	}
	return t.Paths(), nil
}

// makeDir makes dir unless it is there, and reports whether it did.
func makeDir(dir string) (made bool, err error) {
	const other = "choose another directory, new or empty"
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return false, nil
	case err == nil:
		return false, fmt.Errorf("%s is %s: "+other, dir, host.FileKind(info.Mode()))
	}
	if _, err := os.Lstat(dir); err == nil {
		return false, fmt.Errorf("%s is a link that leads nowhere: "+other, dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false, fmt.Errorf("%s cannot be made: %w: "+other, dir, Cause(err))
	}
	return true, nil
}

// begin writes the files of t into dir, none of which may be there.
func begin(dir string, t Tree) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("%s cannot be read: %w: choose another directory", dir, Cause(err))
	}
	defer root.Close()
	_, err = root.Lstat(ManifestPath)
	complete := err == nil
	w, manifest := &writer{root: root}, &writer{root: root}
	defer w.discard()
	defer manifest.discard()
	for _, p := range t.Paths() {
		switch info, err := root.Lstat(p); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return w.unwritable(p, err)
		default:
			ours := !complete && info.Mode().IsRegular()
			if ours {
				data, err := root.ReadFile(p)
				ours = err == nil && bytes.Equal(data, t[p].Data)
			}
			if !ours {
				return fmt.Errorf("%s exists in %s already: choose an empty directory", p, dir)
			}
		}
		into := w
		if p == ManifestPath {
			into = manifest
		}
		if err := into.stage(p, t[p]); err != nil {
			return err
		}
	}
	if err := w.commit(); err != nil {
		return err
	}
	return manifest.commit()
}
