package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestDebianChangelog(t *testing.T) {
	const markdown = `# Changelog

What is above the first version is left out.

## 0.2.0 (unreleased)

- One thing, with a line that is so long that it does not fit into one line of the
  changelog and goes on in a second.
- Another.

## 0.1.0 (2026-12-03)

First release.
`
	const want = `ccreload (0.2.0) unstable; urgency=medium

  * One thing, with a line that is so long that it does not fit into one line
    of the changelog and goes on in a second.
  * Another.

 -- ccreload authors <ccreload@users.noreply.github.com>  Sat, 05 Dec 2026 10:00:00 +0000

ccreload (0.1.0) unstable; urgency=medium

  * First release.

 -- ccreload authors <ccreload@users.noreply.github.com>  Thu, 03 Dec 2026 00:00:00 +0000
`
	got, err := debianChangelog(markdown, time.Date(2026, time.December, 5, 10, 0, 0, 0, time.UTC))
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, bad := range []string{"# Changelog\n", "## 0.1.0 (soon)\n\n- A\n"} {
		if got, err := debianChangelog(bad, time.Time{}); err == nil {
			t.Errorf("%q gives %q", bad, got)
		}
	}
}

// What is linked may not be shipped without its license.
func TestModuleWithoutLicense(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	write(t, filepath.Join(with, "LICENSE.md"), "do what you want\n")
	write(t, filepath.Join(without, "NOTICE"), "a notice\n")
	if text, err := moduleLicenses([]module{{"example.test/a", "v1.2.3", with}}); err != nil || !strings.Contains(text, "example.test/a v1.2.3\n\ndo what you want\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := moduleLicenses([]module{{"example.test/b", "v1.0.0", without}}); err == nil || !strings.Contains(err.Error(), "example.test/b") {
		t.Errorf("a module without a license: %v", err)
	}
}

func TestLinked(t *testing.T) {
	t.Chdir("../..")
	modules, err := linked()
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range modules {
		paths = append(paths, m.path)
	}
	// mousetrap is linked on Windows only, go-md2man by neither program.
	for path, want := range map[string]bool{"github.com/inconshreveable/mousetrap": true, "Go": true, "github.com/cpuguy83/go-md2man/v2": false} {
		if slices.Contains(paths, path) != want {
			t.Errorf("%s among %q: %v", path, paths, !want)
		}
	}
}

// The root package asks for exactly what is packed beside it.
func TestNPMPackages(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "LICENSE", "license")
	write(t, "dist-extra/MODULES.txt", "modules")
	write(t, "dist/metadata.json", `{"version":"1.2.3"}`)
	write(t, "dist/artifacts.json", `[
		{"name":"ccreload","path":"dist/l/ccreload","goos":"linux","goarch":"amd64","type":"Binary"},
		{"name":"ccreload-gen","path":"dist/l/ccreload-gen","goos":"linux","goarch":"amd64","type":"Binary"},
		{"name":"ccreload-linux-amd64","path":"dist/l/ccreload","goos":"linux","goarch":"amd64","type":"Binary"},
		{"name":"ccreload.exe","path":"dist/w/ccreload.exe","goos":"windows","goarch":"arm64","type":"Binary"},
		{"name":"ccreload_1.2.3_linux_amd64.tar.gz","path":"dist/a.tar.gz","goos":"linux","goarch":"amd64","type":"Archive"}]`)
	for _, path := range []string{"l/ccreload", "l/ccreload-gen", "w/ccreload.exe"} {
		write(t, filepath.Join("dist", path), path)
	}
	for _, out := range []string{"one", "two"} {
		if err := writeNPM("dist", out); err != nil {
			t.Fatal(err)
		}
	}

	want := map[string][]string{
		"ccreload-1.2.3.tgz":             {"LICENSE", "README.md", "bin/ccreload-gen.js", "bin/ccreload.js", "package.json", "run.js"},
		"ccreload-linux-x64-1.2.3.tgz":   {"LICENSE", "MODULES.txt", "README.md", "bin/ccreload", "bin/ccreload-gen", "package.json"},
		"ccreload-win32-arm64-1.2.3.tgz": {"LICENSE", "MODULES.txt", "README.md", "bin/ccreload.exe", "package.json"},
	}
	entries, err := os.ReadDir("one")
	if err != nil || len(entries) != len(want) {
		t.Errorf("%v, %d packages", err, len(entries))
	}
	packed := map[string]string{} // version by name, of the packages of systems
	var root struct {
		Version              string
		OptionalDependencies map[string]string
	}
	for name, files := range want {
		one, err := os.ReadFile(filepath.Join("one", name))
		if err != nil {
			t.Fatal(err)
		}
		if two, err := os.ReadFile(filepath.Join("two", name)); err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s differs the second time (%v)", name, err)
		}
		got := unpack(t, one)
		if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, files) {
			t.Errorf("%s has %q", name, names)
		}
		for path, f := range got {
			if executable := strings.HasPrefix(path, "bin/"); (f.mode == 0o755) != executable {
				t.Errorf("%s: mode of %s: %o", name, path, f.mode)
			}
		}
		var manifest struct {
			Name, Version string
			OS, CPU       []string
		}
		if err := json.Unmarshal(got["package.json"].data, &manifest); err != nil {
			t.Fatal(err)
		}
		if manifest.Name != "ccreload" {
			packed[manifest.Name] = manifest.Version
			if full := "@ccreload/" + strings.Join(append(manifest.OS, manifest.CPU...), "-"); full != manifest.Name {
				t.Errorf("%s is for %s", manifest.Name, full)
			}
		} else if err := json.Unmarshal(got["package.json"].data, &root); err != nil {
			t.Fatal(err)
		}
	}
	if !maps.Equal(root.OptionalDependencies, packed) || root.Version != "1.2.3" {
		t.Errorf("the root is %s and asks for %q, and there are %q", root.Version, root.OptionalDependencies, packed)
	}

	if err := os.WriteFile("dist/artifacts.json", []byte("[]"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := writeNPM("dist", "three"); err == nil {
		t.Error("packages of nothing")
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unpack returns the files of a package, by their path in it.
func unpack(t *testing.T, archive []byte) map[string]file {
	t.Helper()
	compressed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]file{}
	for r := tar.NewReader(compressed); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[strings.TrimPrefix(header.Name, "package/")] = file{data, header.Mode}
	}
}
