package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
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

// There is a page for every command, the same in every build.
func TestManPagesAreReproducibleAndComplete(t *testing.T) {
	pages, again := t.TempDir(), t.TempDir()
	if err := errors.Join(write(pages), write(again)); err != nil {
		t.Fatal(err)
	}
	read := func(dir, path string) string {
		data, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Error(err)
		}
		return string(data)
	}
	err := fs.WalkDir(os.DirFS(pages), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && read(pages, path) != read(again, path) {
			t.Errorf("two runs differ in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page := read(pages, "man/"+name+".1")
		head, _, _ := strings.Cut(page, "\n.SH")
		if want := ` "" "ccreload ` + ccreload.Version() + `" "User Commands"`; !strings.Contains(head, want) {
			t.Errorf("the page of %s begins with %q", name, head)
		}
		if !strings.Contains(page, ".SH DESCRIPTION") || strings.Contains(page, "Auto generated") {
			t.Errorf("the page of %s is\n%s", name, page)
		}
		// A page is Markdown on its way, which knows other marks than we mean.
		plain := strings.NewReplacer(`\fB`, "", `\fR`, "", `\`, "").Replace(page)
		for _, word := range strings.Fields(strings.ReplaceAll(cmd.Long, "`", "")) {
			if !strings.Contains(plain, word) {
				t.Errorf("the page of %s lost %q", name, word)
			}
		}
		for _, sub := range cmd.Commands() {
			if !sub.Hidden && sub.Name() != "help" {
				look(sub)
			}
		}
	}
	look(cli.Command())
	look(gencli.Command())
}
