//go:build acceptance

package fakeapi_test

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/goccy/go-yaml"
)

// The client refuses what testdata/verdicts.yaml says it does; a test of gen holds
// our own validate to the same file.
func TestVerdicts(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(setup.root, "testdata", "verdicts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var verdicts struct {
		Base, Market map[string]string
		Rows         []struct {
			Name    string
			Market  bool
			Refused bool
			Older   *bool
			Files   map[string]string
		}
	}
	if err := yaml.UnmarshalWithOptions(data, &verdicts, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	for i, row := range verdicts.Rows {
		files := map[string]string{}
		for name, text := range verdicts.Base {
			if row.Market {
				name = path.Join("tools", name)
			}
			files[name] = text
		}
		if row.Market {
			for name, text := range verdicts.Market {
				files[name] = text
			}
		}
		for name, text := range row.Files {
			files[name] = text
		}
		dir := filepath.Join(w.dir, "verdicts", string(rune('a'+i%26))+string(rune('a'+i/26)))
		for name, text := range files {
			if text != "-" {
				w.write(filepath.Join(dir, filepath.FromSlash(name)), text)
			}
		}
		want := row.Refused
		if row.Older != nil && setup.version != defaultClient {
			want = *row.Older
		}
		if r := w.claude("plugin", "validate", dir); (r.code != 0) != want {
			t.Errorf("%s: exit %d\n%s%s", row.Name, r.code, r.out, r.err)
		}
	}
}
