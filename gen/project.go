package gen

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Project is a directory with gen/manifest.yaml in it, and what is to be
// generated there.
type Project struct {
	Dir      string
	Manifest *Manifest
	Tree     Tree

	root *os.Root
}

// Find returns dir, or the nearest directory above it, that holds
// gen/manifest.yaml.
func Find(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := abs; ; at = filepath.Dir(at) {
		if info, err := os.Stat(filepath.Join(at, filepath.FromSlash(ManifestPath))); err == nil && info.Mode().IsRegular() {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("there is no %s in %s or above it: begin one with `ccreload-gen init DIR`", ManifestPath, abs)
		}
	}
}

// Open finds the project that dir is in and emits its tree, without writing
// anything. The error is Problems, or that of reading a file. Close it.
func Open(dir string) (*Project, error) {
	dir, err := Find(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	p := &Project{Dir: dir, root: root}
	if err := p.emit(); err != nil {
		root.Close()
		return nil, err
	}
	return p, nil
}

// Close releases the directory.
func (p *Project) Close() error { return p.root.Close() }

func (p *Project) emit() error {
	data, err := p.root.ReadFile(ManifestPath)
	if err != nil {
		return err
	}
	template, err := p.root.ReadFile(TemplatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no %s beside gen: take it from where the project came from, or run `ccreload-gen init` in a new directory", TemplatePath)
	} else if err != nil {
		return err
	}
	content, err := fs.Sub(p.root.FS(), "gen")
	if err != nil {
		return err
	}
	if p.Manifest, err = Decode(ManifestPath, data); err != nil {
		return err
	}
	p.Tree, err = Emit(p.Manifest, content, string(template))
	return err
}

// Released returns a Problem for each plugin that was released in this
// version with other content (case F19).
func (p *Project) Released() error {
	releases, err := ReadReleases(p.root.FS())
	if err != nil {
		return err
	}
	return releases.Conflicts(p.Manifest, p.Tree).err()
}

// Generate writes the tree and the tables of README.md, and returns what
// changed. It refuses content that differs from what was released.
func (p *Project) Generate() ([]Change, error) {
	if err := p.Released(); err != nil {
		return nil, err
	}
	return p.write(p.Tree)
}

// Docs writes only docs/options.md and the tables of README.md.
func (p *Project) Docs() ([]Change, error) {
	// The inventory stays as it is: it already has the page, or gets it with
	// the next Generate.
	w := &writer{root: p.root}
	defer w.discard()
	if err := w.stage(OptionsPath, p.Tree[OptionsPath]); err != nil {
		return nil, err
	}
	if err := p.stageReadme(w); err != nil {
		return nil, err
	}
	err := w.commit()
	return w.done, err
}

func (p *Project) write(t Tree) ([]Change, error) {
	readme, err := p.readme()
	if err != nil {
		return nil, err
	}
	changes, err := Write(p.root, t)
	if err != nil || readme == nil {
		return changes, err
	}
	w := &writer{root: p.root}
	defer w.discard()
	if err := w.stage(ReadmePath, *readme); err != nil {
		return changes, err
	}
	err = w.commit()
	return append(changes, w.done...), err
}

func (p *Project) stageReadme(w *writer) error {
	readme, err := p.readme()
	if err != nil || readme == nil {
		return err
	}
	return w.stage(ReadmePath, *readme)
}

// readme returns README.md with the tables it should have, nil when there is
// no README.
func (p *Project) readme() (*File, error) {
	data, err := p.root.ReadFile(ReadmePath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	text, err := p.Manifest.SpliceReadme(string(data))
	if err != nil {
		return nil, err
	}
	return &File{Data: []byte(text), Mode: 0o644}, nil
}

// Check returns how the files on disk differ from what Generate would write.
func (p *Project) Check() ([]Change, error) {
	changes, err := Compare(p.root.FS(), p.Tree)
	if err != nil {
		return nil, err
	}
	readme, err := p.readme()
	if err != nil || readme == nil {
		return changes, err
	}
	if data, err := p.root.ReadFile(ReadmePath); err == nil && string(data) != string(readme.Data) {
		changes = append(changes, Change{ReadmePath, "changed"})
	}
	return changes, nil
}
