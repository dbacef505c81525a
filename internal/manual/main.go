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

	"github.com/spf13/cobra"

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

// render returns the files of the programs by path.
func render(programs ...*cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, root := range programs {
		root.InitDefaultHelpCmd()
		name := root.Name()
		files["man/"+name+".1"] = manPage(root)
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
