package gencli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
)

func checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [DIR]",
		Short: "Report generated files that are missing, edited or orphaned",
		Long: `Compare the files on disk with what generate would write, and name every
difference: missing, edited by hand, wrong executable bit, orphaned. It also refuses content that differs from what was released under the
same version (gen/released.json). Exit code 1 means that it found something.`,
		Example: `  ccreload-gen check
  ccreload-gen check -C my-plugins`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := open(cmd, args)
			if err != nil {
				return err
			}
			defer p.Close()
			changes, err := p.Check()
			if err != nil {
				return problem.AsInput(err)
			}
			list(cmd.ErrOrStderr(), changes)
			if len(changes) > 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "run `ccreload-gen generate`, and remove or move what is orphaned")
			}
			var conflicts gen.Problems
			switch err := p.Released(); {
			case errors.As(err, &conflicts):
				fmt.Fprintln(cmd.ErrOrStderr(), conflicts)
				return cmdline.ErrFailed
			case err != nil:
				return problem.AsInput(err)
			case len(changes) > 0:
				return cmdline.ErrFailed
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d files up to date\n", p.Files())
			return err
		},
	}
}
