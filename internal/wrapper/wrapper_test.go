package wrapper

import (
	"strings"
	"testing"
)

// Nothing that stands for something else is left in a script, and each line ends as
// the system wants it.
func TestScript(t *testing.T) {
	t.Parallel()
	for _, windows := range []bool{false, true} {
		for _, plugin := range []string{"", "cc-later"} {
			s := Script{Text: "one\n@FIND@\n@ROOT@ @DATA@ @RUNTIME@\n", Plugin: plugin, Runtime: "/a b/100%'s", Windows: windows}
			got := s.String()
			if strings.Contains(got, "@FIND@") || strings.Contains(got, "@PLUGIN@") || !strings.Contains(got, "CLAUDE_PLUGIN_ROOT CLAUDE_PLUGIN_DATA ") {
				t.Errorf("windows %v: %s", windows, got)
			}
			if windows != strings.Contains(got, "\r\n") || strings.Contains(strings.ReplaceAll(got, "\r\n", ""), "\r") {
				t.Errorf("windows %v: line ends of %q", windows, got)
			}
			end := `'/a b/100%'\''s'`
			if windows {
				end = `"/a b/100%%'s"`
			}
			if !strings.HasSuffix(strings.TrimSpace(got), end) {
				t.Errorf("windows %v: %s", windows, got)
			}
			want := "*"
			if plugin != "" {
				want = plugin
			}
			if !windows && !strings.Contains(got, "/cache/*/"+want+"/*; do") || windows && !strings.Contains(got, `if not "`+want+`"=="*"`) {
				t.Errorf("windows %v, plugin %q: %s", windows, plugin, got)
			}
		}
	}
}
