package handover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/state"
)

func TestLoopActive(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		file string
		want bool
	}{
		"running":                  {"---\nactive: true\niteration: 3\n---\ngo on\n", true},
		"quoted":                   {"---\r\nactive: \"true\"\r\n---\r\n", true},
		"a prompt of many pages":   {"---\nactive: true\n---\n" + strings.Repeat("do it well\n", 20_000), true},
		"over":                     {"---\nactive: false\n---\nactive: true\n", false},
		"only the prompt says so":  {"---\niteration: 3\n---\nactive: true\n", false},
		"nothing that it would be": {"active: true\n", false},
	} {
		project := t.TempDir()
		if LoopActive(project) {
			t.Errorf("%s: without a file", name)
		}
		if err := os.Mkdir(filepath.Join(project, ".repete"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, ".repete", "loop.local.md"), []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := LoopActive(project); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// case F06: whoever is handed a figure gets the window the model was chosen
// with.
func TestStampHostCorrects(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want HostFigure }{
		"as the host says":      {HostFigure{"s", "claude-opus-5-5", 200_000, 50}, HostFigure{"s", "claude-opus-5-5", 200_000, 50}},
		"the large one":         {HostFigure{"s", "claude-opus-5-5[1m]", 1_000_000, 50}, HostFigure{"s", "claude-opus-5-5[1m]", 1_000_000, 50}},
		"the large one is lost": {HostFigure{"s", "claude-opus-5-5[1m]", 200_000, 50}, HostFigure{"s", "claude-opus-5-5[1m]", 1_000_000, 10}},
		"and no percentage yet": {HostFigure{"s", "claude-opus-5-5[1m]", 200_000, -1}, HostFigure{"s", "claude-opus-5-5[1m]", 1_000_000, -1}},
	} {
		d := newDir(t)
		if err := StampHost(d, tt.in); err != nil {
			t.Fatal(err)
		}
		if got, ok := ReadHost(d); !ok || got != tt.want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
	none := state.NewDir(filepath.Join(t.TempDir(), "none"))
	if err := StampHost(none, HostFigure{"s", "m", 200_000, 1}); err != nil || none.Kind("") != state.Absent {
		t.Errorf("a directory was made: %v", err)
	}
}
