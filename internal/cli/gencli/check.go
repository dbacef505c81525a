package gencli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/cli/cmdline"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [DIR]",
		Short: "Report generated files that are missing, edited or orphaned",
		Long: `Compare the files on disk with what generate would write, and name every
difference: missing, edited by hand, wrong executable bit, orphaned. It also refuses content that differs from what was released under the
same version (gen/released.json), and a runtime of which no sha256 is known, since
no user would get it. Exit code 1 means that it found something.`,
		Example: `  ccreload-gen check
  ccreload-gen check -C my-plugins`,
		Args: cobra.MaximumNArgs(1),
		RunE: onProject(func(cmd *cobra.Command, p *gen.Project) error {
			note(cmd, p.Warnings())
			ignored(cmd, p.Dir(), p.Has)
			changes, err := p.Check()
			if err != nil {
				return err
			}
			list(cmd.ErrOrStderr(), changes)
			if gone := slices.ContainsFunc(changes, func(c gen.Change) bool { return c.What == "gone" }); gone {
				fmt.Fprintln(cmd.ErrOrStderr(), "hint: where it should still be there, commit its source in gen/ as well, with `git add -f` where git ignores it; else run `ccreload-gen generate`")
			} else if len(changes) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "hint: run `ccreload-gen generate`, and remove or move what is orphaned")
			}
			if err := failed(cmd, p.Released()); err != nil {
				return err
			}
			warnings, err := p.Unpinned()
			warn(cmd, warnings)
			if err := failed(cmd, err); err != nil {
				return err
			}
			if len(changes) > 0 {
				return cmdline.ErrFailed
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files up to date\n", p.Files())
			return err
		}),
	}
}

// failed prints problems as what a check has found: that is no fault of its
// command line.
func failed(cmd *cobra.Command, err error) error {
	if found, ok := errors.AsType[gen.Problems](err); ok {
		fmt.Fprintln(cmd.ErrOrStderr(), found)
		return cmdline.ErrFailed
	}
	return err
}
