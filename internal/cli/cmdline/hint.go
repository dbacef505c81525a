// Package cmdline is what the command lines of both programs have in common.
// It must never know what a command does.
package cmdline

import (
	"slices"

	"github.com/spf13/cobra"
)

// Hint says what a command line that made no sense may have been meant to be,
// or where its words are explained.
func Hint(root *cobra.Command, args []string) string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		cmd = root
	}
	if len(rest) > 0 && rest[0] != "" {
		cmd.SuggestionsMinimumDistance = 2 // letters
		if near := cmd.SuggestionsFor(rest[0]); len(near) > 0 {
			// People seldom mistype the first letter.
			same := func(name string) bool { return name[0] == rest[0][0] }
			best := near[max(slices.IndexFunc(near, same), 0)]
			return "did you mean " + cmd.CommandPath() + " " + best + "?"
		}
	}
	return "see " + cmd.CommandPath() + " --help"
}
