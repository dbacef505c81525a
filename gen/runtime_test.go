package gen

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pinnedFork returns a directory with a fork whose runtime comes from our release,
// with the fork's own name, repository and version, and what is released.
func pinnedFork(t *testing.T) (dir string, released map[string][]byte) {
	t.Helper()
	released = map[string][]byte{}
	var sums []checksum
	tr := tree{ManifestPath: {Data: stockManifest(t), Mode: 0o644}}
	for _, p := range []platform{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"} {
		asset := p.asset(stockRuntime)
		released[asset] = []byte("the runtime for " + p)
		sums = append(sums, checksum{hash(released[asset]), asset})
	}
	dir = fork(t)
	if err := pin(tr, string(listed(append(sums, checksum{sums[0].SHA256, "ccreload_0.1.0.tar.gz"})))); err != nil {
		t.Fatal(err)
	}
	text := string(tr[ManifestPath].Data)
	for old, changed := range map[string]string{
		"\nversion: 0.1.0\n": "\nversion: 3.0.0\n",
		"\nrepository: https://github.com/ccreload/ccreload\n": "\nrepository: https://git.example/me/mine\n",
		"\n  name: ccreload\n":                                 "\n  name: mine\n",
	} {
		if strings.Count(text, old) != 1 {
			t.Fatalf("%q stands %d times in the manifest of a fork", old, strings.Count(text, old))
		}
		text = strings.Replace(text, old, changed, 1)
	}
	for file, data := range map[string][]byte{ManifestPath: []byte(text), checksumsPath: tr[checksumsPath].Data} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, released
}

func stockManifest(t *testing.T) []byte {
	t.Helper()
	data, err := source.ReadFile("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func opened(t *testing.T, dir string) *Project {
	t.Helper()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// A fork has its own name and version, and the runtime of our release.
func TestForkTakesOurRuntime(t *testing.T) {
	t.Parallel()
	dir, released := pinnedFork(t)
	p := opened(t, dir)
	if len(p.warnings) > 0 {
		t.Errorf("warnings %v", p.warnings)
	}
	root := pluginDir("cc-reload")
	for file, want := range map[string]string{
		root + "/bin/ccreload":      "\nversion=0.1.0\n",
		root + "/bin/ccreload ":     "\nreleases=https://github.com/ccreload/ccreload/releases\n",
		root + "/" + pluginFile:     `"version": "3.0.0"`,
		root + "/" + profileFile:    "\"runtime\": \"0.1.0\",\n  \"version\": \"3.0.0\"",
		root + "/bin/checksums.txt": fmt.Sprintf("\n%s  ccreload-windows-arm64.exe\n", hash(released["ccreload-windows-arm64.exe"])),
		root + "/README.md":         "/plugin marketplace add me/mine\n",
	} {
		if got := string(p.tree[strings.TrimSuffix(file, " ")].Data); !strings.Contains(got, want) {
			t.Errorf("%s has no %q:\n%s", file, want, got)
		}
	}
	if text := string(p.tree[root+"/bin/checksums.txt"].Data); strings.Contains(text, "tar.gz") {
		t.Errorf("the launcher is given sums of more than it fetches:\n%s", text)
	}
	if warnings, err := p.Unpinned(); len(warnings) > 0 || err != nil {
		t.Errorf("Unpinned: %v, %v", warnings, err)
	}

	sums, err := os.ReadFile(filepath.Join(dir, checksumsPath))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"": "no sha256 is known for ccreload 0.1.0, so no user gets a runtime: download https://github.com/ccreload/ccreload/releases/download/v0.1.0/checksums.txt to gen/checksums.txt",
		string(sums[bytes.IndexByte(sums, '\n')+1:]): "no sha256 is known for ccreload-linux-amd64 of 0.1.0",
	} {
		if err := os.WriteFile(filepath.Join(dir, checksumsPath), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		warnings, err := opened(t, dir).Unpinned()
		if (text == "") != (err != nil) || !strings.Contains(fmt.Sprint(warnings, err), want) {
			t.Errorf("with the sums %q: %v, %v, want %s", text, warnings, err, want)
		}
	}
}

// says checks an error that is about more than the manifest.
func says(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("error is %v, want %s", err, text)
	}
}

// What a fork bundles is what is released: fetched and held against the sums, or
// built, and then the same.
func TestBundleFetches(t *testing.T) {
	t.Parallel()
	dir, released := pinnedFork(t)
	p := opened(t, dir)
	if _, err := p.Generate(); err != nil {
		t.Fatal(err)
	}
	base := "https://mirror.example"
	var asked []string
	from := Bundling{
		Record: true,
		Getenv: func(name string) string {
			if name != "CCRELOAD_DOWNLOAD_BASE" {
				return ""
			}
			return base
		},
		Fetch: func(url string) ([]byte, error) {
			asked = append(asked, url)
			data, ok := released[path.Base(url)]
			if !ok {
				return nil, errors.New("the server answers 404")
			}
			return data, nil
		},
		Binaries: t.TempDir(),
	}
	put := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(from.Binaries, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("ccreload-linux-amd64", released["ccreload-linux-amd64"])
	b, err := p.Bundle(from)
	if err != nil {
		t.Fatal(err)
	}
	if len(asked) != 5 || asked[0] != base+"/v0.1.0/ccreload-linux-arm64" || len(b.Missing) > 0 {
		t.Errorf("asked for %v, missing %v", asked, b.Missing)
	}
	if got := zipped(t, b.Files["cc-reload-3.0.0.zip"]); !slices.Contains(got, "bin/ccreload.exe") || !slices.Contains(got, "bin/ccreload-darwin-arm64") {
		t.Errorf("the zip has %v", got)
	}
	if !strings.Contains(string(b.Files["marketplace.json"]), "https://git.example/me/mine/releases/download/v3.0.0/cc-reload-3.0.0.zip") {
		t.Errorf("the catalogue is %s", b.Files["marketplace.json"])
	}
	if data, err := os.ReadFile(filepath.Join(dir, releasePath)); err != nil || !bytes.Equal(data, b.Files["marketplace.json"]) {
		t.Errorf("%s: %v, %s", releasePath, err, data)
	}
	if changes, err := opened(t, dir).Check(); err != nil || len(changes) > 0 {
		t.Errorf("after it: %v, %v", changes, err)
	}

	put("ccreload-linux-amd64", []byte("another build"))
	_, err = p.Bundle(from)
	says(t, err, "is not that of ccreload 0.1.0")
	put("ccreload-linux-amd64", released["ccreload-linux-amd64"])
	released["ccreload-darwin-arm64"] = []byte("something else")
	_, err = p.Bundle(from)
	says(t, err, "https://mirror.example/v0.1.0/ccreload-darwin-arm64 is not what was released: its sha256 is "+hash([]byte("something else")))
	delete(released, "ccreload-darwin-arm64")
	base = ""
	_, err = p.Bundle(from)
	says(t, err, "https://github.com/ccreload/ccreload/releases/download/v0.1.0/ccreload-darwin-arm64 cannot be fetched: the server answers 404")
	if err := os.Remove(filepath.Join(dir, checksumsPath)); err != nil {
		t.Fatal(err)
	}
	_, err = opened(t, dir).Bundle(from)
	says(t, err, "ccreload-linux-arm64 cannot be fetched: gen/checksums.txt has no sha256 for it")
}

func zipped(t *testing.T, data []byte) (names []string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names
}

const ownProgram = `
name: theirs
repository: https://github.com/o/theirs
marketplace: {name: theirs, owner: {name: O}}
platforms: [linux/amd64, windows/amd64, darwin/arm64]
plugins:
  - name: watch
    version: 1.2.0
    runtime: {name: my-hook}
    hooks:
      - {event: Stop, timeout: 10}
      - {event: UserPromptSubmit, timeout: 20}
      - {event: WorktreeCreate, timeout: 5, async: true}
      - {event: SessionStart, run: {command: ./other}}
  - name: plain
    version: "1"
    runtime: none
`

// A program of the author's own has our launcher, and nothing else of ours.
func TestOwnProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for file, text := range map[string]string{ManifestPath: ownProgram, templatePath: stockTemplate(t)} {
		path := filepath.Join(dir, file)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	p := opened(t, dir)
	if text := p.warnings.Error(); strings.Contains(text, "nothing downloads") {
		t.Errorf("warnings %s", text)
	}
	sub := p.tree.sub(pluginDir("watch"))
	if got, want := sub.paths(), []string{pluginFile, "bin/checksums.txt", "bin/my-hook", hooksFile}; !slices.Equal(got, want) {
		t.Errorf("the plugin has %v, want %v", got, want)
	}
	sameJSON(t, hooksFile, sub[hooksFile].Data, `{"hooks":{
		"Stop":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/bin/my-hook","args":["hook","watch","Stop"],"timeout":10}]}],
		"UserPromptSubmit":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/bin/my-hook","args":["hook","watch","UserPromptSubmit"],"timeout":20}]}],
		"WorktreeCreate":[{"hooks":[{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/bin/my-hook","args":["hook","watch","WorktreeCreate"],"timeout":5,"async":true}]}],
		"SessionStart":[{"hooks":[{"type":"command","command":"./other"}]}]}}`)
	launcher := string(sub["bin/my-hook"].Data)
	for _, want := range []string{"\nnamed=${MY_HOOK_BIN-}\n", "\nprogram=my-hook\nversion=1.2.0\n", "\nreleases=https://github.com/o/theirs/releases\n", "! MY_HOOK_DOWNLOAD=now $program version"} {
		if !strings.Contains(launcher, want) {
			t.Errorf("the launcher has no %q", want)
		}
	}
	for _, ours := range []string{"ccreload", "CCRELOAD", "GOMAXPROCS"} {
		if strings.Contains(launcher, ours) {
			t.Errorf("the launcher has our %s", ours)
		}
	}
	if sub["bin/my-hook"].Mode != 0o755 {
		t.Errorf("the launcher has the mode %o", sub["bin/my-hook"].Mode)
	}
	_, err := p.Unpinned()
	wants(t, err, "no sha256 is known for my-hook 1.2.0, so no user gets it: run `ccreload-gen bundle`")

	// Built for two of three platforms.
	builds := t.TempDir()
	_, err = p.Bundle(Bundling{Binaries: builds})
	says(t, err, "there is no my-hook for any platform in")
	for _, name := range []string{"my-hook_linux_amd64_v1/my-hook", "my-hook-windows-amd64.exe"} {
		path := filepath.Join(builds, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(name), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	b, err := p.Bundle(Bundling{Binaries: builds, Record: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Missing, []string{"my-hook-darwin-arm64"}) {
		t.Errorf("missing %v", b.Missing)
	}
	if got := zipped(t, b.Files["watch-1.2.0.zip"]); !slices.Contains(got, "bin/my-hook.exe") || !slices.Contains(got, "bin/my-hook-linux-amd64") {
		t.Errorf("the zip has %v", got)
	}
	if got := zipped(t, b.Files["plain-1.zip"]); len(got) != 1 {
		t.Errorf("that of a plugin without a runtime has %v", got)
	}
	p = opened(t, dir)
	if got := string(p.tree.sub(pluginDir("watch"))["bin/checksums.txt"].Data); !strings.HasSuffix(got, "\n"+hash([]byte("my-hook_linux_amd64_v1/my-hook"))+"  my-hook-linux-amd64\n"+hash([]byte("my-hook-windows-amd64.exe"))+"  my-hook-windows-amd64.exe\n") {
		t.Errorf("the sums are %s", got)
	}
	warnings, err := p.Unpinned()
	if err != nil || !strings.Contains(warnings.Error(), "no sha256 is known for my-hook-darwin-arm64 of 1.2.0") {
		t.Errorf("Unpinned: %v, %v", warnings, err)
	}
}

func TestOwnProgramRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ old, changed, want string }{
		"word":          {"{name: my-hook}", "ours", `"ours" does not fit: want none, or a program of your own`},
		"no name":       {"{name: my-hook}", "{version: 1.0.0}", `"name" is missing`},
		"odd name":      {"my-hook", `"my hook"`, `"my hook" does not fit: want a program, such as my-hook`},
		"our name":      {"my-hook", "ccreload", `"ccreload" is our runtime`},
		"unknown key":   {"my-hook}", "my-hook, repo: x}", `unknown key "repo"`},
		"no platforms":  {"platforms: [linux/amd64, windows/amd64, darwin/arm64]\n", "", "for which platforms"},
		"no repository": {"repository: https://github.com/o/theirs\n", "", "the launcher downloads my-hook from its repository"},
		"odd version":   {"version: 1.2.0", `version: "1.2"`, `"1.2" is none: want`},
		"two of a name": {"runtime: none", "runtime: {name: my-hook, version: 1.0.0}", "has another my-hook, 1.2.0 of https://github.com/o/theirs"},
		"no program":    {"runtime: {name: my-hook}", "runtime: none", "the hook says nothing to run, and the plugin has no runtime"},
		"options":       {"runtime: {name: my-hook}", "runtime: {name: my-hook}\n    options: [{key: a, kind: bool, default: \"on\", scopes: [user], title: T, help: H}]", "options are what our runtime reads"},
		"our release":   {"plugins:", "runtime: {repository: x, version: 0.1.0}\nplugins:", `"x" does not fit: want the address of a repository`},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Count(ownProgram, tt.old) == 0 {
				t.Fatalf("the manifest has no %q", tt.old)
			}
			_, err := decode(ManifestPath, []byte(strings.Replace(ownProgram, tt.old, tt.changed, 1)), nil)
			wants(t, err, tt.want)
		})
	}
}

// Without a hook that downloads it, the program would never come.
func TestOwnProgramThatNobodyFetches(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(strings.Replace(ownProgram, "UserPromptSubmit", "PreToolUse", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	content := smallContent(t)
	content[templatePath].Data = []byte(stockTemplate(t))
	_, warnings, err := emit(m, content, nil)
	if err != nil || !strings.Contains(warnings.Error(), "gen/manifest.yaml:10:5: nothing downloads the runtime of watch: only a hook without `run:` on SessionStart or UserPromptSubmit does") {
		t.Errorf("%v, %v", warnings, err)
	}
}
