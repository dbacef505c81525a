// Command manual writes the man pages and shell completions of both programs,
// for the release:
//
//	go run ./internal/manual DIR
//
// makes DIR/man and DIR/completions. It is a program of its own so that
// neither of the two links what only the release needs.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/cli"
	"github.com/ccreload/ccreload/internal/cli/gencli"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: manual DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

// write makes both directories below dir.
func write(dir string) error {
	files, err := render(cli.Command(), gencli.Command())
	if err != nil {
		return err
	}
	for path, data := range files {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manPages adds a page for cmd and one for each command below it. A page has no
// date: two builds of one version are the same.
func manPages(cmd *cobra.Command, files map[string][]byte) error {
	cmd.DisableAutoGenTag = true
	var page bytes.Buffer
	header := doc.GenManHeader{Source: "ccreload " + ccreload.Version(), Manual: "User Commands", Date: &time.Time{}}
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return err
	}
	never := header.Date.Format("Jan 2006")
	files["man/"+strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"] = bytes.Replace(page.Bytes(), []byte(never), nil, 1)
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := manPages(sub, files); err != nil {
			return err
		}
	}
	return nil
}

// render returns the files of the programs by path.
func render(programs ...*cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, root := range programs {
		root.InitDefaultHelpCmd()
		name := root.Name()
		if err := manPages(root, files); err != nil {
			return nil, err
		}
		for path, generate := range map[string]func(*bytes.Buffer) error{
			name + ".bash": func(b *bytes.Buffer) error { return root.GenBashCompletionV2(b, true) },
			"_" + name:     func(b *bytes.Buffer) error { return root.GenZshCompletion(b) },
			name + ".fish": func(b *bytes.Buffer) error { return root.GenFishCompletion(b, true) },
			name + ".ps1":  func(b *bytes.Buffer) error { return root.GenPowerShellCompletionWithDesc(b) },
		} {
			var b bytes.Buffer
			if err := generate(&b); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			files["completions/"+path] = b.Bytes()
		}
	}
	return files, nil
}
