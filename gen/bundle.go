package gen

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
)

// zipTime is the date of every file in a bundle, the earliest a zip can hold:
// a build that is repeated has the same bytes.
var zipTime = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// windowsPlatform is the one whose program has the name under which exec form
// finds it on Windows. The arm64 systems can run it as well.
const windowsPlatform = platform("windows/amd64")

const (
	// releaseSuffix sets the catalogue of a release apart from the one in git: of two
	// with one name the client refuses the second, or an older one drops the first.
	releaseSuffix = "-release"

	// archiveClient is the first client that fetches a plugin as an archive.
	archiveClient = "2.1.224"
)

// Bundling says where the programs of a bundle come from.
type Bundling struct {
	// Binaries is the directory of builds, "" for none.
	Binaries string
	// Fetch downloads what is not there, nil for nothing.
	Fetch  func(url string) ([]byte, error)
	Getenv func(string) string
	// Record notes what the version now stands for.
	Record bool
}

// Bundle is what a release publishes beside its archives.
type Bundle struct {
	Files   map[string][]byte // by name
	Missing []string          // programs that are in no zip, by the name of their asset
	// Releases says what is to be attached to which.
	Releases []Release
	// Again has zips that the last bundle had for the same release in another version.
	Again []string
}

// Release is the address of one and the names of files it is to have.
type Release struct {
	Repository, Tag string
	Files           []string
}

// tag returns that of the release which has the zip of p: one for all plugins, where
// the manifest has a version for all.
func (m *manifest) tag(p *plugin) string { return "v" + cmp.Or(m.Version, p.Version) }

// releases returns where a bundle of m is to be attached, with the programs that are
// made here.
func (m *manifest) releases(found builds) (list []Release) {
	add := func(repository, tag, file string) {
		i := slices.IndexFunc(list, func(r Release) bool { return r.Repository == repository && r.Tag == tag })
		if i < 0 {
			i = len(list)
			list = append(list, Release{repository, tag, nil})
		}
		list[i].Files = append(list[i].Files, file)
	}
	for i := range m.Plugins {
		if p := &m.Plugins[i]; !p.elsewhere() {
			add(m.Repository, m.tag(p), m.zip(p))
		}
	}
	if len(list) > 0 {
		add(m.Repository, list[0].Tag, "marketplace.json")
	}
	for _, l := range m.programs() {
		for _, platform := range m.Platforms {
			if asset := platform.asset(l.Name); !l.released && found[asset] != nil {
				add(l.Repository, "v"+l.Version, asset)
			}
		}
	}
	return list
}

// zip returns what the bundle of p is called.
func (m *manifest) zip(p *plugin) string { return fmt.Sprintf("%s-%s.zip", p.Name, m.version(p)) }

// again returns the zips that the catalogue of the last bundle, if there was one, has
// at the release of another version of theirs now.
func again(last, now []byte) (out []string) {
	address := func(catalogue []byte) map[string]string {
		var market struct {
			Plugins []struct {
				Name   string      `json:"name"`
				Source archiveJSON `json:"source"`
			} `json:"plugins"`
		}
		_ = json.Unmarshal(catalogue, &market) // a plugin kept elsewhere may have text there
		out := map[string]string{}
		for _, p := range market.Plugins {
			out[p.Name] = p.Source.URL
		}
		return out
	}
	before := address(last)
	for name, url := range address(now) {
		if was := before[name]; was != "" && was != url && path.Dir(was) == path.Dir(url) {
			out = append(out, path.Base(was))
		}
	}
	slices.Sort(out)
	return out
}

// builds are the programs of a bundle, by the name of their asset.
type builds map[string][]byte

// collect finds the programs that the launchers of p start: a build in a directory,
// or a download. What the release of another project is held to has its pinned
// sums, wherever it comes from.
func (p *Project) collect(from Bundling) (found builds, sums []checksum, missing []string, err error) {
	pinned, err := readChecksums(p.files)
	if err != nil {
		return nil, nil, nil, err
	}
	found = builds{}
	for _, l := range p.manifest.programs() {
		some := false
		for _, platform := range p.manifest.Platforms {
			asset := platform.asset(l.Name)
			want := sum(pinned, asset)
			data, err := readBuild(from.Binaries, l.Name, platform)
			if err == nil && data == nil && from.Fetch != nil {
				data, err = l.fetch(from, asset, want)
			}
			if err != nil {
				return nil, nil, nil, err
			}
			switch {
			case data != nil && l.released && want != "" && hash(data) != want:
				return nil, nil, nil, problem.Input("take the one from the release, or have it fetched with --fetch", "%s in %q is not that of %s: its sha256 is %s, not %s", asset, from.Binaries, l, hash(data), want)
			case data != nil:
				some, found[asset], want = true, data, hash(data)
			case !l.released:
				want = "" // of what was built before
			}
			if data == nil {
				missing = append(missing, asset)
			}
			if want != "" {
				sums = append(sums, checksum{want, asset})
			}
		}
		if !some {
			return nil, nil, nil, problem.Input("build it first, for the platforms of the manifest, or have what is released fetched with --fetch", "there is no %s for any platform in %q", l.Name, from.Binaries)
		}
	}
	return found, sums, missing, nil
}

// readBuild finds a program in dir, as goreleaser lays its builds out
// (NAME_OS_ARCH…/NAME) or as release assets are named (NAME-OS-ARCH); nil where
// it is not there.
func readBuild(dir, name string, p platform) ([]byte, error) {
	if dir == "" {
		return nil, nil
	}
	for _, pattern := range []string{
		p.asset(name),
		fmt.Sprintf("%s_%s_%s*/%s", name, p.os(), p.arch(), name+p.exe()),
	} {
		found, err := fs.Glob(os.DirFS(dir), pattern)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return readFile(os.DirFS(dir), filepath.ToSlash(dir), found[0])
		}
	}
	return nil, nil
}

// fetch downloads an asset of the release, whose sha256 has to be known.
func (l launched) fetch(from Bundling, asset, want string) ([]byte, error) {
	if want == "" {
		return nil, problem.Input(fmt.Sprintf("put the checksums.txt of the release there: %s/releases/download/v%s/checksums.txt", l.Repository, l.Version),
			"%s cannot be fetched: %s has no sha256 for it", asset, checksumsPath)
	}
	base := cmp.Or(from.Getenv(l.Var()+"_DOWNLOAD_BASE"), l.Repository+"/releases/download")
	url := fmt.Sprintf("%s/v%s/%s", base, l.Version, asset)
	data, err := from.Fetch(url)
	if err != nil {
		return nil, problem.Input("try again, or put it into the directory of --binaries", "%s cannot be fetched: %w", url, err)
	}
	if got := hash(data); got != want {
		return nil, problem.Input("ask the publisher what it is; it was thrown away", "%s is not what was released: its sha256 is %s, not %s", url, got, want)
	}
	return data, nil
}

// bundle returns a zip for each plugin of t, the tree of m, with its program for
// each platform inside, and a marketplace.json that names them by URL and sha256.
func (m *manifest) bundle(t tree, found builds) (map[string][]byte, error) {
	out := map[string][]byte{}
	market := m.market("")
	market.Name += releaseSuffix
	for i := range m.Plugins {
		p := &m.Plugins[i]
		if p.elsewhere() {
			continue
		}
		files := t.sub(pluginDir(p.Name))
		prog, launches := m.program(p)
		for _, platform := range m.Platforms {
			data := found[platform.asset(prog.Name)]
			if !launches || data == nil {
				continue
			}
			name := platform.asset(prog.Name)
			if platform == windowsPlatform {
				name = prog.Name + platform.exe()
			}
			files["bin/"+name] = file{Data: data, Mode: 0o755}
		}
		data, err := pack(files)
		if err != nil {
			return nil, fmt.Errorf("bundle of %s: %w", p.Name, err)
		}
		name := m.zip(p)
		out[name] = data
		market.Plugins[i].Source = archiveJSON{
			Source: "archive",
			URL:    fmt.Sprintf("%s/releases/download/%s/%s", m.Repository, m.tag(p), name),
			SHA256: hash(data),
		}
		more := map[string]any{"engines": map[string]any{"claude-code": ">=" + archiveClient}}
		maps.Copy(more, p.Entry) // what the author says is as strict, or wrong
		market.Plugins[i].more = more
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

// CanBundle reports what keeps the project from being bundled: the addresses in
// marketplace.json need a repository and versions, and programs have to come from
// somewhere.
func (p *Project) CanBundle(programs bool) error {
	m := p.manifest
	if m.Repository == "" {
		return problem.Input("add `repository: https://github.com/OWNER/REPO` at the top of "+ManifestPath, "the release has no address: a bundle is downloaded from REPOSITORY/releases/download/vVERSION")
	}
	for i := range m.Plugins {
		if p := &m.Plugins[i]; !p.elsewhere() && m.version(p) == "" {
			return problem.Input("add one to "+ManifestPath+", to the plugin or at the top", "%s has no version, and a release needs one", p.Name)
		}
	}
	if len(m.programs()) > 0 && !programs {
		return problem.Input("name the directory with --binaries, or have what is released fetched with --fetch", "where do the programs come from?")
	}
	return nil
}

// Bundle packs the plugins with their programs and, with Record, notes the
// checksums (gen/checksums.txt) and contents (gen/released.json), so that the
// version can never again stand for anything else, and the catalogue of the
// release (release/marketplace.json). Content that differs from
// what was released under this version is refused. So is a bundle without any
// build of a program; one for some of the platforms is not.
func (p *Project) Bundle(from Bundling) (*Bundle, error) {
	found, sums, missing, err := p.collect(from)
	if err != nil {
		return nil, err
	}
	if p.tree, p.warnings, err = emit(p.manifest, p.files, append([]checksum{}, sums...)); err != nil {
		return nil, err
	}
	if err := p.Released(); err != nil {
		return nil, err
	}
	files, err := p.manifest.bundle(p.tree, found)
	if err != nil {
		return nil, err
	}
	b := &Bundle{Files: files, Missing: missing, Releases: p.manifest.releases(found)}
	if last, err := readFile(p.files, "", releasePath); err == nil {
		b.Again = again(last, files["marketplace.json"])
	}
	if !from.Record {
		return b, nil
	}
	releases, err := readReleases(p.files)
	if err != nil {
		return nil, err
	}
	releases.record(p.manifest, p.tree)
	notes := tree{
		releasedPath: {Data: encode(releases), Mode: 0o644},
		releasePath:  {Data: files["marketplace.json"], Mode: 0o644},
	}
	if len(sums) > 0 {
		notes[checksumsPath] = file{Data: listed(sums), Mode: 0o644}
	}
	if _, err = write(p.files, notes, nil, ""); err != nil {
		return nil, err
	}
	_, err = p.Generate()
	return b, err
}
