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
	"cmp"
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
	man, completions := filepath.Join(dir, "man"), filepath.Join(dir, "completions")
	if err := cmp.Or(os.MkdirAll(man, 0o755), os.MkdirAll(completions, 0o755)); err != nil {
		return err
	}
	for _, root := range []*cobra.Command{cli.Command(), gencli.Command()} {
		path := func(before, after string) string { return filepath.Join(completions, before+root.Name()+after) }
		if err := cmp.Or(
			manPages(root, man),
			root.GenBashCompletionFileV2(path("", ".bash"), true),
			root.GenZshCompletionFile(path("_", "")),
			root.GenFishCompletionFile(path("", ".fish"), true),
			root.GenPowerShellCompletionFileWithDesc(path("", ".ps1")),
		); err != nil {
			return err
		}
	}
	return nil
}

// manPages writes a page for cmd and one for each command below it. A page has
// no date: two builds of one version are the same.
func manPages(cmd *cobra.Command, dir string) error {
	cmd.DisableAutoGenTag = true
	var page bytes.Buffer
	header := doc.GenManHeader{Source: "ccreload " + ccreload.Version(), Manual: "User Commands", Date: &time.Time{}}
	if err := doc.GenMan(cmd, &header, &page); err != nil {
		return err
	}
	text := bytes.Replace(page.Bytes(), []byte(header.Date.Format("Jan 2006")), nil, 1)
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		if err := manPages(sub, dir); err != nil {
			return err
		}
	}
	return nil
}
