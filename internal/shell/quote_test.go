package shell_test

import (
	"os/exec"
	"runtime"
	"testing"

	"github.com/ccreload/ccreload/internal/shell"
)

func TestQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/home/ann/repo-1.2": "/home/ann/repo-1.2",
		"":                   "''",
		"my repo":            "'my repo'",
		"a; touch b":         "'a; touch b'",
		"$(id)`id`":          "'$(id)`id`'",
		"it's":               `'it'\''s'`,
		"ü~*":                "'ü~*'",
		"a\nb":               "'a\nb'",
	} {
		got := shell.Quote(in)
		if got != want {
			t.Errorf("Quote(%q) = %s, want %s", in, got, want)
		}
		if runtime.GOOS == "windows" {
			continue
		}
		if out, err := exec.Command("sh", "-c", "printf %s "+got).Output(); err != nil || string(out) != in {
			t.Errorf("a shell reads %q from %s: %v", out, got, err)
		}
	}
}
