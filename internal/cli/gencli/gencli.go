// Package gencli is the command line of ccreload-gen. It stands apart from
// package cli so that the runtime does not link the generator.
package gencli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Main runs ccreload-gen with args (without the program's name) and returns
// its exit code: 0 done, 1 a check found something, 2 bad input.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:           "ccreload-gen",
		Short:         "Writes every file of the ccreload plugins from one manifest",
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(stderr, "ccreload-gen: %v\n", err)
		return 2
	}
	return 0
}
