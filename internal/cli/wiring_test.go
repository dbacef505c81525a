package cli

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/registry"
)

// What the manifest declares is what the runtime answers, and the other way
// round: a handler nobody calls is as wrong as a hook nobody answers.
func TestEveryDeclaredHookHasItsHandler(t *testing.T) {
	type key struct {
		plugin string
		event  host.Event
	}
	declared := map[key]bool{}
	for _, plugin := range ccreload.Plugins() {
		data, err := os.ReadFile(filepath.Join("../../marketplace/plugins", plugin, "hooks", "hooks.json"))
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Hooks map[host.Event][]struct {
				Hooks []struct{ Args []string }
			}
		}
		if err := json.Unmarshal(data, &file); err != nil {
			t.Fatal(err)
		}
		for event, groups := range file.Hooks {
			declared[key{plugin, event}] = true
			for _, g := range groups {
				for _, h := range g.Hooks {
					if want := []string{"hook", plugin, string(event)}; !slices.Equal(h.Args, want) {
						t.Errorf("%s %s is started with %q, want %q", plugin, event, h.Args, want)
					}
				}
			}
		}
	}
	if names := slices.Sorted(slices.Values(registry.Names())); !slices.Equal(names, ccreload.Plugins()) {
		t.Errorf("%q are registered, %q have a manifest", names, ccreload.Plugins())
	}
	if len(declared) == 0 {
		t.Fatal("no plugin declares a hook")
	}
	for k := range declared {
		if p, ok := registry.Named(k.plugin); !ok || p.Handler(k.event) == nil {
			t.Errorf("%s declares %s, and nothing answers it", k.plugin, k.event)
		}
	}
	for _, p := range registry.Plugins() {
		for _, event := range host.Events() {
			if p.Handler(event) != nil && !declared[key{p.Name, event}] {
				t.Errorf("%s answers %s, which its manifest does not declare", p.Name, event)
			}
		}
	}
}

func TestProjectOf(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	in := func(elem ...string) string { return filepath.Join(append([]string{top}, elem...)...) }
	for _, dir := range []string{
		"main/.git/worktrees/w", "main/.reload", "main/sub/deep",
		"tree/sub", "other/.git", "other/sub/.reload", "other/sub/deep", "other/plain",
		"main/nested/.git", "loose/deep", "handed/.git", "handed/.handoff", "handed/sub",
	} {
		if err := os.MkdirAll(in(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := "gitdir: " + filepath.ToSlash(in("main")) + "/.git/worktrees/w\n"
	if err := os.WriteFile(in("tree", ".git"), []byte(link), 0o644); err != nil {
		t.Fatal(err)
	}
	for cwd, want := range map[string]string{
		"main":            "main",
		"main/sub/deep":   "main",
		"tree/sub":        "main", // case F39
		"other/sub/deep":  "other/sub",
		"other/plain":     "other/plain",
		"main/nested":     "main/nested", // a repository of its own
		"loose/deep":      "loose/deep",
		"handed/sub":      "handed",
		"other/sub":       "other/sub",
		"main/.reload/..": "main",
	} {
		if got := projectOf(in(cwd)); got != in(want) {
			t.Errorf("in %s: %s, want %s", cwd, got, in(want))
		}
	}
}

// heavy are packages that would cost every hook start-up time and the binary
// its size. Only the generator and the tests may link them.
var heavy = []string{
	"net/http", "html/template", "crypto/tls",
	"github.com/goccy/go-yaml",
	"github.com/ccreload/ccreload/gen", "github.com/ccreload/ccreload/internal/fakeapi",
	"github.com/ccreload/ccreload/internal/cli/gencli", "github.com/rogpeppe/go-internal", "testing",
}

func TestTheRuntimeLinksNothingHeavy(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../../cmd/ccreload").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		dep, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, h := range heavy {
			if dep == h || strings.HasPrefix(dep, h+"/") {
				t.Errorf("ccreload links %s", dep)
			}
		}
		// cobra imports text/template for templates that nobody here sets;
		// the linker drops what is not called. Of ours, nothing may call it.
		if strings.HasPrefix(dep, "github.com/ccreload/") && slices.Contains(strings.Fields(imports), "text/template") {
			t.Errorf("%s imports text/template", dep)
		}
	}
}
