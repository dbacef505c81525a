package gencli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/term"
)

func importCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR [OUT]",
		Short: "Begin a project from a plugin or marketplace that exists",
		Long: `Write a project into OUT, or into a directory of its name, from which generate
writes the plugin or the marketplace in DIR again: plugin.json, hooks.json and
marketplace.json become gen/manifest.yaml, every other file is copied to
gen/content/. DIR is only read, and nothing is overwritten.

What generates from the project is compared with what was there: JSON by value,
all else by bytes and run bits. Whatever is not the same is named.`,
		Example: `  ccreload-gen import my-plugin
  ccreload-gen import ~/src/marketplace plugins && ccreload-gen generate plugins`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := directory(cmd, args[:1])
			if err != nil {
				return err
			}
			out := ""
			if len(args) == 2 {
				if out, err = directory(cmd, args[1:]); err != nil {
					return err
				}
			}
			done, err := gen.Import(dir, out, ccreload.PluginTemplate)
			if err != nil {
				return err
			}
			for _, lost := range done.Lost {
				fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", term.Line(lost))
			}
			what := term.Count(len(done.Plugins), "plugin")
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s with %s imported into %s\nnext: ccreload-gen generate %s\n",
				what, term.Count(done.Files, "file"), term.Line(done.Dir), term.Line(done.Dir))
			return err
		},
	}
}
