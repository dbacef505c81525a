// Package gencli is the command line of ccreload-gen: what its commands are
// called, what they print and how they end. It stands apart from package cli
// so that the runtime does not link the generator.
//
// It never decides what a generated file contains, which is package gen's; it
// never writes into another project than the one that is named or stood in;
// and it never ends in a stack trace, nor prints what a terminal would obey.
package gencli

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
)

// Main runs ccreload-gen with args (without the program's name) and returns
// the exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return cmdline.Run(rootCommand(), args, stdin, stdout, stderr)
}

// Command returns the command tree, for the man page and the completions.
func Command() *cobra.Command { return rootCommand() }

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ccreload-gen",
		Short: "Write every file of the ccreload plugins from one manifest",
		Long: `ccreload-gen writes plugins for Claude Code from gen/manifest.yaml, the prose
in gen/content/ and the template plugin.tmpl. Commands work on the project of
the current directory: the nearest one, here or above, with gen/manifest.yaml.
Another one is named with -C DIR or as the argument; then it has to be there.

The exit code is 0, 1 after a fault or a check that found something, and 2 when
the command line or an input needs correcting.`,
		Example: `  ccreload-gen init my-plugins      begin a fork: manifest, template, prose
  ccreload-gen generate             write marketplace/, .claude-plugin/, docs/options.md
  ccreload-gen check                exit 1 when a generated file is not what it should be
  ccreload-gen validate plugin-dir  hold any plugin or marketplace against the schemas`,
		Version:           ccreload.Version(),
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringP("dir", "C", ".", "work on the project of this directory")
	root.AddCommand(
		initCommand(),
		importCommand(),
		generateCommand(),
		checkCommand(),
		docsCommand(),
		bundleCommand(),
		scaffoldCommand(),
		validateCommand(),
		schemaCommand(),
		versionCommand(),
	)
	return root
}

// onProject returns the action of a command that works on a project.
func onProject(do func(*cobra.Command, *gen.Project) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p, err := open(cmd, args)
		if err != nil {
			return err
		}
		defer p.Close()
		return do(cmd, p)
	}
}

// open opens the project a command is for: that in its argument or in -C. Only
// without both is it looked for upwards, and said where it was found.
func open(cmd *cobra.Command, args []string) (*gen.Project, error) {
	dir, err := directory(cmd, args)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 && !cmd.Flags().Changed("dir") {
		here, err := filepath.Abs(dir)
		if err != nil {
			return nil, err
		}
		if dir, err = gen.Find(here); err != nil {
			return nil, err
		}
		if dir != here {
			fmt.Fprintf(cmd.ErrOrStderr(), "working on the project in %s\n", term.Line(dir))
		}
	}
	return gen.Open(dir)
}

// directory returns the argument, seen from -C, else -C. Neither can be empty,
// as a variable of a script is that was never set.
func directory(cmd *cobra.Command, args []string) (string, error) {
	dir, err := cmd.Flags().GetString("dir")
	if err != nil {
		return "", err
	}
	if dir == "" || len(args) > 0 && args[0] == "" {
		return "", problem.Input(`name one, as in "." for this one`, "the name of the directory is empty")
	}
	if len(args) == 0 {
		return dir, nil
	}
	if filepath.IsAbs(args[0]) {
		return args[0], nil
	}
	return filepath.Join(dir, args[0]), nil
}

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Long:    "Print the version of the toolkit this program was built from.",
		Example: `  ccreload-gen version`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), ccreload.Version())
			return err
		},
	}
}
