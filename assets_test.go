package ccreload_test

import (
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
)

// What is compiled in is what the plugin's own file says.
func TestDefaults(t *testing.T) {
	t.Parallel()
	names := ccreload.Plugins()
	if len(names) == 0 {
		t.Fatal("no plugin is compiled in")
	}
	for _, name := range names {
		data, err := os.ReadFile("marketplace/plugins/" + name + "/ccreload.json")
		if err != nil {
			t.Fatal(err)
		}
		want, err := host.DecodeProfile(data)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := ccreload.Defaults(name)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
		if got.Version != ccreload.Version() {
			t.Errorf("%s is version %s, the toolkit %s", name, got.Version, ccreload.Version())
		}
	}
	for _, name := range []string{"", "nobody", "../cc-reload"} {
		if _, ok := ccreload.Defaults(name); ok {
			t.Errorf("there is a plugin %q", name)
		}
	}
	if !strings.Contains(ccreload.PluginTemplate, "\n-- bin/{{.Runtime.Name}} --\n") {
		t.Error("plugin.tmpl has no launcher")
	}
}

// A plugin that the program writes itself has every file but the sums.
func TestFiles(t *testing.T) {
	t.Parallel()
	list := func(fsys fs.FS) (files []string) {
		err := fs.WalkDir(fsys, "marketplace/plugins", func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !strings.HasSuffix(path, "/bin/checksums.txt") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if got, want := list(ccreload.Files), list(os.DirFS(".")); !slices.Equal(got, want) {
		t.Errorf("compiled in are\n%q, want\n%q", got, want)
	}
}
