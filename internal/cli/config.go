package cli

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/reload"
)

func (rt *runtime) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show and change the settings of a project",
		Long: `Show and change the settings of a project.

A setting of the project (.reload/config) counts before the plugin's option of
the same name, and that before the plugin's default.`,
		Example: `  ccreload config get
  ccreload config get context_budget_pct
  ccreload config set context_budget_pct 30
  ccreload config set context_budget_mode snapshot
  ccreload config unset context_budget_pct`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(rt.configGet(), rt.configSet(), rt.configUnset())
	return cmd
}

func (rt *runtime) configGet() *cobra.Command {
	return &cobra.Command{
		Use:   "get [KEY]",
		Short: "Print the value in force, or all of them with where they come from",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			desk, err := rt.desk()
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if err := reload.KnownKey(desk.Profile, args[0]); err != nil {
					return usageError{err}
				}
			}
			table := tabwriter.NewWriter(rt.stdout, 0, 0, 2, ' ', 0)
			for _, e := range reload.Config(desk.Project, desk.Profile, rt.env.Getenv) {
				if len(args) > 0 && e.Key != args[0] {
					continue
				}
				for _, why := range e.Ignored {
					fmt.Fprintf(rt.stderr, "ccreload: ignored, %s\n", why)
				}
				if len(args) > 0 {
					fmt.Fprintln(table, e.Value)
					continue
				}
				value := e.Value
				if value == "" {
					value = "-"
				}
				fmt.Fprintf(table, "%s\t%s\t%s\n", e.Key, value, e.Source)
			}
			return table.Flush()
		},
	}
}

func (rt *runtime) configSet() *cobra.Command {
	return &cobra.Command{
		Use:   "set KEY VALUE",
		Short: "Set a value for this project",
		Example: `  ccreload config set context_budget_pct 30
  ccreload config set context_budget_mode snapshot`,
		Args: cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			if args[1] == "" {
				return usagef("%s needs a value; `ccreload config unset %s` takes the project's away", args[0], args[0])
			}
			value, err := rt.setConfig(args[0], args[1])
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(rt.stdout, "%s is %s in this project now.\n", args[0], value)
			return err
		},
	}
}

func (rt *runtime) configUnset() *cobra.Command {
	return &cobra.Command{
		Use:   "unset KEY",
		Short: "Take the project's value away",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := rt.setConfig(args[0], ""); err != nil {
				return err
			}
			_, err := fmt.Fprintf(rt.stdout, "%s is not set in this project any more.\n", args[0])
			return err
		},
	}
}

func (rt *runtime) setConfig(key, value string) (string, error) {
	desk, err := rt.desk()
	if err != nil {
		return "", err
	}
	value, err = reload.SetConfig(desk.Project, desk.Profile, key, value)
	if bad, ok := errors.AsType[reload.BadConfig](err); ok {
		return "", usageError{bad}
	}
	return value, err
}
