package cli

import "github.com/spf13/cobra"

func (a *app) laterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "later",
		Short: "See what your sessions use",
		Long:  `See what your sessions use.`,
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.laterStats())
	return cmd
}
