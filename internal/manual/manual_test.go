package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli"
	"github.com/ccreload/ccreload/internal/cli/gencli"
)

func TestEveryProgramHasItsFiles(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ccreload", "ccreload-gen"} {
		for _, path := range []string{"man/" + name + ".1", "completions/" + name + ".bash", "completions/_" + name, "completions/" + name + ".fish", "completions/" + name + ".ps1"} {
			data, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil || !bytes.Contains(bytes.ReplaceAll(data, []byte(`\`), nil), []byte(name)) {
				t.Errorf("%s: %v, %d bytes", path, err, len(data))
			}
		}
	}
}

func TestManPagesAreReproducibleAndComplete(t *testing.T) {
	for _, command := range []func() *cobra.Command{cli.Command, gencli.Command} {
		page := string(manPage(command()))
		if again := string(manPage(command())); again != page {
			t.Errorf("two pages of one program differ")
		}
		var look func(*cobra.Command)
		look = func(cmd *cobra.Command) {
			for _, sub := range cmd.Commands() {
				if !sub.Hidden && !strings.Contains(page, `.SS "`+escape(sub.CommandPath())) {
					t.Errorf("%s is not in the page", sub.CommandPath())
				}
				look(sub)
			}
		}
		look(command())
		// Every line that begins as a request is one we meant.
		known := []string{".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi"}
		for line := range strings.Lines(page) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !slices.Contains(known, word) {
				t.Errorf("stray request %q", line)
			}
		}
	}
}

func TestPageEscapes(t *testing.T) {
	var p page
	p.line(".hidden --flag\n'quoted' a\\b")
	p.macro("B", `say "hi"`)
	if got, want := p.String(), "\\&.hidden \\-\\-flag\n\\&'quoted' a\\eb\n.B \"say \\(dqhi\\(dq\"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
