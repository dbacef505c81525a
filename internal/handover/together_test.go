package handover

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
