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

	"github.com/ccreload/ccreload/internal/problem"
)

// zipTime is the date of every file in a bundle, the earliest a zip can hold:
// a build that is repeated has the same bytes.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// windowsRuntime is the name under which exec form finds a program on
// Windows. It is the amd64 one, which the arm64 systems can run as well.
const (
	windowsRuntime  = runtimeFile + ".exe"
	windowsPlatform = platform("windows/amd64")
)

// readRuntimes finds the runtime of each platform in dir, as goreleaser lays
// its builds out (ccreload_OS_ARCH…/ccreload) or as release assets are named
// (ccreload-OS-ARCH). Windows names end in .exe.
func readRuntimes(dir string, platforms []platform) (map[platform][]byte, error) {
	out := map[platform][]byte{}
	for _, p := range platforms {
		program := path.Base(runtimeFile)
		if p.os() == "windows" {
			program += ".exe"
		}
		var found []string
		for _, pattern := range []string{
			path.Base(p.binary()),
			fmt.Sprintf("ccreload_%s_%s*/%s", p.os(), p.arch(), program),
		} {
			names, err := fs.Glob(os.DirFS(dir), pattern)
			if err != nil {
				return nil, err
			}
			found = append(found, names...)
		}
		if len(found) == 0 {
			return nil, problem.Input("build it first, for all platforms of the manifest", "there is no runtime for %s in %q", p, dir)
		}
		data, err := readFile(os.DirFS(dir), filepath.ToSlash(dir), found[0])
		if err != nil {
			return nil, err
		}
		out[p] = data
	}
	return out, nil
}

// bundle returns what a release publishes beside the archives, by file name: a
// zip for each plugin of t, the tree of m, with the runtimes of all platforms
// inside, and a marketplace.json that names them by URL and sha256.
func (m *manifest) bundle(t tree, runtimes map[platform][]byte) (map[string][]byte, error) {
	out := map[string][]byte{}
	market := m.market("")
	for i := range m.Plugins {
		p := &m.Plugins[i]
		if p.elsewhere() {
			continue
		}
		files := t.sub(pluginDir(p.Name))
		for platform, data := range runtimes {
			if !p.ours() {
				break
			}
			name := platform.binary()
			if platform == windowsPlatform {
				name = windowsRuntime
			}
			files[name] = file{Data: data, Mode: 0o755}
		}
		data, err := pack(files)
		if err != nil {
			return nil, fmt.Errorf("bundle of %s: %w", p.Name, err)
		}
		name := fmt.Sprintf("%s-%s.zip", p.Name, m.version(p))
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
func pack(t tree) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, name := range t.paths() {
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
//
// binaries is the directory of the runtimes. The keys of the result are file
// names.
func (p *Project) Bundle(binaries string, record bool) (map[string][]byte, error) {
	runtimes, err := readRuntimes(binaries, p.manifest.Platforms)
	if err != nil {
		return nil, err
	}
	var sums []checksum
	var list bytes.Buffer
	for _, platform := range p.manifest.Platforms {
		sum := checksum{hash(runtimes[platform]), path.Base(platform.binary())}
		sums = append(sums, sum)
		fmt.Fprintf(&list, "%s  %s\n", sum.SHA256, sum.Name)
	}
	p.tree, p.warnings, err = emit(p.manifest, p.root.FS(), sums)
	if err != nil {
		return nil, err
	}
	if err := p.Released(); err != nil {
		return nil, err
	}
	bundle, err := p.manifest.bundle(p.tree, runtimes)
	if err != nil || !record {
		return bundle, err
	}
	releases, err := readReleases(p.root.FS())
	if err != nil {
		return nil, err
	}
	releases.record(p.manifest, p.tree)
	_, err = write(p.root, tree{
		checksumsPath: {Data: list.Bytes(), Mode: 0o644},
		releasedPath:  {Data: encode(releases), Mode: 0o644},
	}, nil, "")
	if err != nil {
		return nil, err
	}
	_, err = p.Generate()
	return bundle, err
}
