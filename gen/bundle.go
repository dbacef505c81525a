package gen

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// zipTime is the date of every file in a bundle, the earliest a zip can hold:
// a build that is repeated has the same bytes.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// windowsRuntime is the name under which exec form finds a program on
// Windows. It is the amd64 one, which the arm64 systems can run as well.
const (
	windowsRuntime  = runtimeFile + ".exe"
	windowsPlatform = Platform("windows/amd64")
)

// Runtimes are release binaries of the runtime by platform.
type Runtimes map[Platform][]byte

// ReadRuntimes finds the runtime of each platform in dir, as goreleaser lays
// its builds out (ccreload_OS_ARCH…/ccreload) or as release assets are named
// (ccreload-OS-ARCH). Windows names end in .exe.
func ReadRuntimes(dir string, platforms []Platform) (Runtimes, error) {
	out := Runtimes{}
	for _, p := range platforms {
		program := path.Base(runtimeFile)
		if p.OS() == "windows" {
			program += ".exe"
		}
		var found []string
		for _, pattern := range []string{
			path.Base(p.Binary()),
			fmt.Sprintf("ccreload_%s_%s*/%s", p.OS(), p.Arch(), program),
		} {
			names, err := fs.Glob(os.DirFS(dir), pattern)
			if err != nil {
				return nil, err
			}
			found = append(found, names...)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("there is no runtime for %s in %q: build it first, for all platforms of the manifest", p, dir)
		}
		data, err := readFile(os.DirFS(dir), filepath.ToSlash(dir), found[0])
		if err != nil {
			return nil, err
		}
		out[p] = data
	}
	return out, nil
}

// checksums returns what the launchers hold a download against.
func (r Runtimes) checksums(platforms []Platform) []checksum {
	var sums []checksum
	for _, p := range platforms {
		sums = append(sums, checksum{hash(r[p]), path.Base(p.Binary())})
	}
	return sums
}

// Bundle is what a release publishes beside the archives: a zip for each
// plugin with the runtimes of all platforms inside, and a marketplace.json
// that names them by URL and sha256. Keys are file names.
type Bundle map[string][]byte

// Bundle packs the plugins of t, the tree of m, with the runtimes.
func (m *Manifest) Bundle(t Tree, runtimes Runtimes) (Bundle, error) {
	out := Bundle{}
	market := m.market("")
	for i, p := range m.Plugins {
		files := t.Sub(PluginDir(p.Name))
		for platform, data := range runtimes {
			name := platform.Binary()
			if platform == windowsPlatform {
				name = windowsRuntime
			}
			files[name] = File{Data: data, Mode: 0o755}
		}
		data, err := pack(files)
		if err != nil {
			return nil, fmt.Errorf("bundle of %s: %w", p.Name, err)
		}
		name := fmt.Sprintf("%s-%s.zip", p.Name, m.Version)
		out[name] = data
		market.Plugins[i].Source = archiveJSON{
			Source: "archive",
			URL:    fmt.Sprintf("%s/releases/download/v%s/%s", m.Repository, m.Version, name),
			SHA256: hash(data),
		}
	}
	data := encode(market)
	if ps := conformJSON("marketplace.json", data, "marketplace"); len(ps) > 0 {
		return nil, ps
	}
	out["marketplace.json"] = data
	return out, nil
}

type archiveJSON struct {
	Source string `json:"source"`
	URL    string `json:"url"`
	SHA256 string `json:"sha256"`
}

// pack returns a zip of t that depends on nothing but t.
func pack(t Tree) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, name := range t.Paths() {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: zipTime}
		h.SetMode(t[name].Mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(t[name].Data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// Bundle packs the plugins with the runtimes and, with record, notes their
// checksums (gen/checksums.txt) and contents (gen/released.json), so that the
// version can never again stand for anything else. Content that differs from
// what was released under this version is refused.
func (p *Project) Bundle(runtimes Runtimes, record bool) (Bundle, error) {
	sums := runtimes.checksums(p.Manifest.Platforms)
	template, err := p.template()
	if err != nil {
		return nil, err
	}
	e := &emitter{m: p.Manifest, content: p.content(), template: template, sums: sums, tree: Tree{}}
	tree, err := e.emit()
	if err != nil {
		return nil, err
	}
	p.Tree = tree
	if err := p.Released(); err != nil {
		return nil, err
	}
	bundle, err := p.Manifest.Bundle(tree, runtimes)
	if err != nil || !record {
		return bundle, err
	}
	releases, err := ReadReleases(p.root.FS())
	if err != nil {
		return nil, err
	}
	releases.Record(p.Manifest, tree)
	var list bytes.Buffer
	for _, sum := range sums {
		fmt.Fprintf(&list, "%s  %s\n", sum.SHA256, sum.Name)
	}
	_, err = write(p.root, Tree{
		"gen/" + checksums: {Data: list.Bytes(), Mode: 0o644},
		ReleasedPath:       {Data: encode(releases), Mode: 0o644},
	}, nil, "")
	if err != nil {
		return nil, err
	}
	_, err = p.Generate()
	return bundle, err
}
