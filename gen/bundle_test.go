package gen

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// built lays out runtimes for every platform of the stock manifest, half as
// goreleaser does and half as release assets.
func built(t *testing.T, platforms []platform) string {
	t.Helper()
	dir := t.TempDir()
	for i, p := range platforms {
		path := filepath.Join(dir, p.asset(stockRuntime))
		if i%2 == 0 {
			name := "ccreload"
			if p.os() == "windows" {
				name += ".exe"
			}
			path = filepath.Join(dir, "ccreload_"+p.os()+"_"+p.arch()+"_v1", name)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("runtime for "+string(p)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// fork returns a directory with the stock project in it.
func fork(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := Init(dir, stockTemplate(t), false); err != nil {
		t.Fatal(err)
	}
	return dir
}

func bundle(t *testing.T, dir string, record bool) (map[string][]byte, error) {
	t.Helper()
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	b, err := p.Bundle(Bundling{Binaries: built(t, p.manifest.Platforms), Record: record})
	if err != nil {
		return nil, err
	}
	return b.Files, nil
}

func TestBundleHoldsEveryPlatform(t *testing.T) {
	dir := fork(t)
	b, err := bundle(t, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := bundle(t, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	var market struct {
		Name    string
		Plugins []struct {
			Name    string
			Source  struct{ Source, URL, SHA256 string }
			Engines map[string]string
		}
	}
	if err := json.Unmarshal(b["marketplace.json"], &market); err != nil {
		t.Fatal(err)
	}
	if len(market.Plugins) == 0 {
		t.Fatal("no plugin is bundled")
	}
	if market.Name != "ccreload-release" {
		t.Errorf("the catalogue is called %q, as another one may be", market.Name)
	}
	for _, p := range market.Plugins {
		file := filepath.Base(p.Source.URL)
		data := b[file]
		if p.Engines["claude-code"] != ">=2.1.224" {
			t.Errorf("%s is for the clients %v", p.Name, p.Engines)
		}
		if p.Source.Source != "archive" || p.Source.SHA256 != hash(data) || !strings.HasPrefix(p.Source.URL, "https://") {
			t.Errorf("%s: source %+v", p.Name, p.Source)
		}
		if !bytes.Equal(data, again[file]) {
			t.Errorf("%s differs from run to run", file)
		}
		r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range r.File {
			names = append(names, f.Name)
			if program := strings.HasPrefix(f.Name, "bin/ccreload"); program != (f.Mode().Perm() == 0o755) {
				t.Errorf("%s has mode %v", f.Name, f.Mode())
			}
		}
		for _, want := range []string{
			"bin/ccreload", "bin/ccreload.exe", "bin/ccreload-windows-arm64.exe", "bin/ccreload-linux-amd64",
			"bin/ccreload-linux-arm64", "bin/ccreload-darwin-amd64", "bin/ccreload-darwin-arm64", "hooks/hooks.json",
		} {
			if !slices.Contains(names, want) {
				t.Errorf("%s lacks %s", file, want)
			}
		}
		if !slices.IsSorted(names) {
			t.Errorf("%s is not sorted", file)
		}
		sums := read(t, r, "bin/checksums.txt")
		if !strings.Contains(sums, hash([]byte("runtime for linux/arm64"))+"  ccreload-linux-arm64") {
			t.Errorf("checksums.txt of %s: %s", file, sums)
		}
	}
	for _, path := range []string{"gen/checksums.txt", releasedPath} {
		if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
			t.Errorf("a dry run wrote %s", path)
		}
	}
}

func read(t *testing.T, r *zip.Reader, name string) string {
	t.Helper()
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Case F19: once bundled, a version stands for one content.
func TestBundleRecordsTheVersion(t *testing.T) {
	dir := fork(t)
	if _, err := bundle(t, dir, true); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle(t, dir, true); err != nil {
		t.Fatalf("the same content again: %v", err)
	}
	p, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	changes, err := p.Check()
	if err != nil || len(changes) > 0 || p.Released() != nil {
		t.Errorf("after bundle: %v, %v, %v", changes, err, p.Released())
	}
	p.Close()

	manifest := filepath.Join(dir, ManifestPath)
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(data), `default: "45"`, `default: "30"`, 1)
	if changed == string(data) {
		t.Fatal("the stock manifest has no budget of 45 any more")
	}
	if err := os.WriteFile(manifest, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := bundle(t, dir, true); err == nil || !strings.Contains(err.Error(), "raise the version") {
		t.Errorf("other content under the same version: %v", err)
	}
}
