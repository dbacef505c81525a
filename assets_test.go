package ccreload_test

import (
	"os"
	"reflect"
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
