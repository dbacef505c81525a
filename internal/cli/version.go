package cli

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release is set by the release build: -ldflags "-X …/internal/cli.release=1.2.3".
var release string

// version returns the version of this binary: that of the release, else what
// the Go toolchain recorded, else "devel".
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

func (a *app) versionCommand() *cobra.Command {
	var path bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Example: `  ccreload version
  ccreload version --path  which program is it, too`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			line := version()
			if path {
				self, err := os.Executable()
				if err != nil {
					return err
				}
				line += " " + self
			}
			_, err := fmt.Fprintln(a.stdout, line)
			return err
		},
	}
	cmd.Flags().BoolVar(&path, "path", false, "print where the program is, too")
	return cmd
}
