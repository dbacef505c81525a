package gencli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/git"
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
all else by bytes and run bits. Whatever is not the same is named, and so is what
is no part of a plugin and what git would not keep of the project.`,
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
			for _, left := range done.Left {
				fmt.Fprintf(cmd.ErrOrStderr(), "left out: %s\n", term.Line(left))
			}
			ignored(cmd, done.Dir, func(path string) bool { return strings.HasPrefix(path, "gen/") })
			what := fmt.Sprintf("%s with %s", term.Count(len(done.Plugins), "plugin"), term.Count(done.Files, "file"))
			if done.Listed > 0 {
				what += fmt.Sprintf(", and the entries of %d from elsewhere,", done.Listed)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s imported into %s\nnext: ccreload-gen generate %s\n",
				what, term.Line(done.Dir), term.Line(done.Dir))
			return err
		},
	}
}

// ignored warns of files of the project in dir that are needed, and that git would
// leave out of a commit: a clone would generate something else. Without git nobody
// commits.
func ignored(cmd *cobra.Command, dir string, needed func(path string) bool) {
	paths, err := git.IgnoredFiles(cmd.Context(), dir, "gen", "marketplace", ".claude-plugin")
	paths = slices.DeleteFunc(paths, func(path string) bool { return !needed(path) })
	if err != nil || len(paths) == 0 {
		return
	}
	which := fmt.Sprintf("%s, so a clone would lack it", term.Line(paths[0]))
	if len(paths) > 1 {
		which = fmt.Sprintf("%s of the project, such as %s, so a clone would lack them", term.Count(len(paths), "file"), term.Line(paths[0]))
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "warning: git ignores %s\nhint: keep what is ignored with `git add -f gen marketplace`, after generate, or take the line out of the .gitignore that `git check-ignore -v FILE` names\n", which)
}
