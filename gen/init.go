package gen

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ccreload/ccreload/internal/problem"
)

// forkReadme tells somebody with a fresh fork how to go on.
//
//go:embed FORK.md
var forkReadme []byte

const attributes = ".gitattributes"

var attributesFile = file{Data: []byte("# Git may not touch line ends: generated files are compared byte by byte, and\n# the launcher does not start with CR LF.\n* -text\n"), Mode: 0o644}

const otherDir = "choose another directory, new or empty"

// Init writes what a fork starts from into dir, which is created if need be,
// and returns the paths written, sorted. It overwrites nothing: with one of
// the files there, the error says which, and dir is as before. The manifest
// comes last: without one, what an interrupted Init has left is completed.
//
// With bare it is no fork but an empty project, with one plugin of one command to
// be renamed.
func Init(dir, template string, bare bool) ([]string, error) {
	t := tree{
		templatePath: {Data: []byte(template), Mode: 0o644},
		"FORK.md":    {Data: forkReadme, Mode: 0o644},
		attributes:   attributesFile,
	}
	if bare {
		t = bareProject(template)
		if err := start(dir, t); err != nil {
			return nil, err
		}
		return t.paths(), nil
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
	if err := pin(t, releasedSums); err != nil {
		return nil, err
	}
	if err := start(dir, t); err != nil {
		return nil, err
	}
	return t.paths(), nil
}

// pin has the fork t take its runtime from the release with these sums, which is
// ours, and not from one of its own. Without sums it is left to the fork.
func pin(t tree, sums string) error {
	known, err := parseChecksums(sums)
	if err != nil {
		return err
	}
	var m manifest
	text := string(t[ManifestPath].Data)
	if err := yaml.Unmarshal([]byte(text), &m); err != nil {
		return err
	}
	pins := m.pins(program{Name: stockRuntime}, known)
	if len(pins) == 0 {
		return nil
	}
	const before = "\nmarketplace:\n"
	head, tail, ok := strings.Cut(text, before)
	if !ok {
		return fmt.Errorf("%s has no line %q", ManifestPath, strings.TrimSpace(before))
	}
	// The comment above the key stays with it.
	at := strings.LastIndex(head, "\n\n") + 1
	text = fmt.Sprintf(`%s
# Which release of ccreload answers the hooks, whatever the version of these plugins.
# %s has the sha256 of its files.
runtime:
  repository: %s
  version: %s
%s%s%s`, head[:at], checksumsPath, m.Repository, m.Version, head[at:], before, tail)
	t[ManifestPath] = file{Data: []byte(text), Mode: 0o644}
	t[checksumsPath] = file{Data: listed(pins), Mode: 0o644}
	return nil
}

// listed returns sums as the lines of checksums.txt.
func listed(sums []checksum) []byte {
	var b bytes.Buffer
	for _, s := range sums {
		fmt.Fprintf(&b, "%s  %s\n", s.SHA256, s.Name)
	}
	return b.Bytes()
}

// Pinned reports whether Init takes the runtime of a fork from a release.
func Pinned() bool { return strings.Contains(releasedSums, stockRuntime+"-") }

// bareProject is a project that has nothing of ours.
func bareProject(template string) tree {
	text := func(s string) file { return file{Data: []byte(s), Mode: 0o644} }
	return tree{
		templatePath: text(template),
		attributes:   attributesFile,
		ManifestPath: text(`# Everything your plugins are. "ccreload-gen generate" writes marketplace/ and
# .claude-plugin/ from this file and from content/; edit here, never there.
#
# For completion in an editor: "ccreload-gen schema > manifest.schema.json".

name: my-plugins

# The identity under which users add the marketplace: /plugin install X@my-plugins.
marketplace:
  name: my-plugins
  owner: {name: Me}

plugins:
  - name: my-plugin
    runtime: none
    version: 0.1.0
    description: Says hello.
    files: files # content/my-plugin/files/ is copied as it is
`),
		contentDir + "/my-plugin/files/commands/hello.md": text("---\ndescription: Say hello\n---\n\nSay hello to $ARGUMENTS.\n"),
	}
}

// start is begin in a directory that is created if need be.
func start(dir string, t tree) error {
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return problem.Input(otherDir, "%q cannot be a directory: %w", dir, Cause(err))
	}
	err := begin(dir, t)
	if err != nil && missing != nil {
		_ = os.Remove(dir) // if it is empty
	}
	return err
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
	_, err = write(&rootFS{root: root}, t, nil, ManifestPath)
	return err
}
