package cli

import (
	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/problem"
)

func (a *app) laterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "later",
		Short: "Queue what can wait, and see what runs unattended",
		Long: `Queue what can wait: it runs, unattended, at the end of a usage window that would
otherwise go to waste. Tasks stand in .claude/LATER.md of each repository, settings
in config.env of ~/.cc-later.`,
		Example: `  ccreload later add "add a test for the retry path"
  ccreload later status
  ccreload later stats --days 7`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		a.laterStatus(), a.laterAdd(), a.laterList(), a.laterShow(), a.laterRetry(), a.laterTrust(), a.laterPause(),
		a.laterResume(), a.laterStop(), a.laterTick(), a.laterLogs(), a.laterStats(), a.laterTimer(), a.laterMonitor(),
		a.laterDashboard(),
	)
	return cmd
}

// laterApp returns the application's directory of the user, and what holds there.
func (a *app) laterApp() (dir string, profile host.Profile, config later.Config, err error) {
	if dir = later.AppDir(a.host, a.env.Getenv); dir == "" {
		return "", host.Profile{}, later.Config{}, problem.Fault("set HOME", "you have no home directory")
	}
	profile, err = a.profile(later.Name)
	return dir, profile, later.ReadConfig(dir, profile), err
}
