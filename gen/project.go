package gen

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/ccreload/ccreload/internal/problem"
)

// Project is a directory with gen/manifest.yaml in it, and what is to be
// generated there.
type Project struct {
	dir      string
	root     *os.Root
	files    *rootFS // in root
	manifest *manifest
	tree     tree
	warnings Problems
}

// Files returns how many files are generated.
func (p *Project) Files() int { return len(p.tree) }

// Dir returns where the project is.
func (p *Project) Dir() string { return p.dir }

// Has reports whether a file is generated.
func (p *Project) Has(path string) bool { return p.tree.hasFile(path) }

// Warnings returns what a person should know about the project that keeps
// nothing from being generated.
func (p *Project) Warnings() Problems { return p.warnings }

const nameProject = "name the directory of a project, or begin one with `ccreload-gen init DIR`"

// Find returns dir, or the nearest directory above it, that has something
// called gen/manifest.yaml.
func Find(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, filepath.FromSlash(ManifestPath))); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", problem.Input("begin a project with `ccreload-gen init DIR`", "there is no %s in %q or above it", ManifestPath, abs)
		}
	}
}

// Open reads the project in dir and emits its tree, without writing anything.
// The error is Problems, or says which file cannot be read. Close it.
func Open(dir string) (*Project, error) { return open(dir, stockEvents) }

func open(dir string, answered func() events) (*Project, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, problem.Input(nameProject, "%q cannot be opened: %w", dir, Cause(err))
	}
	p := &Project{dir: dir, root: root, files: &rootFS{root: root}}
	if err := p.emit(answered); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Close releases the directory.
func (p *Project) Close() error {
	p.files.Close()
	return p.root.Close()
}

func (p *Project) emit(answered func() events) error {
	data, err := readFile(p.files, "", ManifestPath)
	if errors.Is(err, fs.ErrNotExist) {
		return problem.Input(nameProject, "there is no %s in %q", ManifestPath, p.dir)
	} else if err != nil {
		return err
	}
	if p.manifest, err = decode(ManifestPath, data, answered); err != nil {
		return err
	}
	p.tree, p.warnings, err = emit(p.manifest, p.files, nil)
	return err
}

// Released returns a Problem for each plugin that was released in this
// version with other content (case F19).
func (p *Project) Released() error {
	releases, err := readReleases(p.files)
	if err != nil {
		return err
	}
	return releases.conflicts(p.manifest, p.tree).err()
}

// Generate writes the tree and the tables of README.md, and returns what
// changed. It refuses content that differs from what was released.
func (p *Project) Generate() ([]Change, error) {
	if err := p.Released(); err != nil {
		return nil, err
	}
	files, err := p.withReadme(p.tree)
	if err != nil {
		return nil, err
	}
	inv, err := readInventory(p.files)
	if err != nil {
		return nil, err
	}
	return write(p.files, files, inv.Files, inventoryPath)
}

// Docs writes only docs/options.md and the tables of README.md. The inventory
// has the page already, or gets it with the next Generate.
func (p *Project) Docs() ([]Change, error) {
	docs := tree{}
	if page, ok := p.tree[optionsPath]; ok {
		docs[optionsPath] = page
	}
	files, err := p.withReadme(docs)
	if err != nil {
		return nil, err
	}
	return write(p.files, files, nil, "")
}

// Check returns how the files on disk differ from what Generate would write.
func (p *Project) Check() ([]Change, error) {
	files, err := p.withReadme(p.tree)
	if err != nil {
		return nil, err
	}
	return compare(p.files, files)
}

// withReadme returns t with README.md when its tables are out of date.
func (p *Project) withReadme(t tree) (tree, error) {
	data, err := readFile(p.files, "", readmePath)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	} else if err != nil {
		return nil, err
	}
	text, err := p.manifest.spliceReadme(string(data))
	if err != nil || text == string(data) {
		return t, err
	}
	// A link may be shared with others: it is not replaced.
	if info, err := p.root.Lstat(readmePath); err != nil || !info.Mode().IsRegular() {
		return nil, problem.Input("put the file itself there, or the table marks elsewhere", "%q is a link", readmePath)
	}
	t = maps.Clone(t)
	t[readmePath] = file{Data: []byte(text), Mode: 0o644}
	return t, nil
}
