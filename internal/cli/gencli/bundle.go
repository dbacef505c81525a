package gencli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

func bundleCommand() *cobra.Command {
	var binaries, out string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "bundle --binaries DIR --out DIR",
		Short: "Pack each plugin with the runtimes of all platforms, for a release",
		Long: `Write one zip per plugin, with the runtime for every platform of the manifest
inside, and a marketplace.json that names them by URL and sha256. The zips have
the same bytes whenever they are made from the same files.

It also records what this version stands for: the sha256 of each runtime in
gen/checksums.txt, which the launchers hold a download against, and the content
of each plugin in gen/released.json. Other content under the same version is
refused from then on. Commit both files. With --dry-run nothing is recorded.`,
		Example: `  ccreload-gen bundle --binaries dist --out dist/bundles
  ccreload-gen bundle --binaries dist --out /tmp/try --dry-run`,
		Args: cobra.NoArgs,
		RunE: onProject(func(cmd *cobra.Command, p *gen.Project) error {
			// Before anything is recorded.
			if err := os.MkdirAll(out, 0o755); err != nil {
				return unwritable(out, err)
			}
			bundle, err := p.Bundle(binaries, !dryRun)
			if err != nil {
				return err
			}
			for _, name := range slices.Sorted(maps.Keys(bundle)) {
				path := filepath.Join(out, name)
				if err := state.WriteFile(path, bundle[name], 0o644); err != nil {
					return unwritable(path, err)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %d bytes\n", term.Line(path), len(bundle[name]))
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&binaries, "binaries", "", "directory with the built runtimes")
	cmd.Flags().StringVar(&out, "out", "", "directory to write to")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "record nothing in gen/")
	for _, name := range []string{"binaries", "out"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err) // the flag is defined three lines up
		}
	}
	return cmd
}

// unwritable says what to do about a place for bundles that cannot be written.
func unwritable(path string, err error) error {
	return problem.Input("name another directory with --out and run the command again", "%q cannot be written: %w", path, gen.Cause(err))
}
