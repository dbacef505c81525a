package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
// the files there, the error says which, and dir is as before.
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
	for _, p := range t.Paths() {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(p))); err == nil {
			return nil, fmt.Errorf("%s exists in %s already: choose an empty directory", p, dir)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	_, err = Write(root, t)
	return t.Paths(), err
}
