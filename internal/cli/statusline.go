package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/statusline"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

// maxLinePayload is the most that is read of a status line's payload, in bytes.
const maxLinePayload = 1 << 20

func (a *app) statuslineCommand() *cobra.Command {
	var segment string
	cmd := &cobra.Command{
		Use:   "statusline",
		Short: "Show the context window in the host's status line",
		Long: `Show the context window in the host's status line.

The host hands the figures in on stdin; what comes out is one line such as
ctx[1M] 7%·45: the window, how full it is, and the budget. The figure is
yellow from two thirds of the budget and red at it.`,
		Example: `  ccreload statusline install                     add it to your settings
  ccreload statusline uninstall                   put your settings back
  ccreload statusline --segment cc-reload < FILE  one plugin's part, for a script of yours`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if segment != "" && !slices.Contains(registry.Names(), segment) {
				return noPlugin(segment)
			}
			if !carriesPayload(a.stdin) {
				return problem.Input("use `ccreload statusline install`, and Claude Code will call this", "there is nothing on standard input: Claude Code is to hand in the figures")
			}
			a.statusLine(segment)
			return nil
		},
	}
	cmd.Flags().StringVar(&segment, "segment", "", "only the part of this plugin")
	cmd.AddCommand(a.statuslineInstall(), a.statuslineUninstall())
	return cmd
}

// statusLine writes the line: the parts of the plugins the host runs, or of
// only the one that is named. Whatever goes wrong, it writes what it can.
func (a *app) statusLine(only string) {
	stdin, _ := io.ReadAll(io.LimitReader(a.stdin, maxLinePayload))
	first := ""
	if only == "" {
		place := a.place()
		first = statusline.First(place.First(), stdin, place.Shells)
	}
	p, err := statusline.Decode(stdin)
	if err == nil && p.Project == "" {
		p.Project, err = a.project()
	}
	line := ""
	var places []placed
	if err == nil {
		a.keepLimits(p) // the line shows them
		places = a.places(p.Project)
		line = statusline.Line(a.segments(p, places, only), term.Palette(a.env.Getenv("NO_COLOR") == ""))
	}
	if out := statusline.Append(first, line); out != "" {
		fmt.Fprintln(a.stdout, out)
	}
	if err == nil {
		a.showHost(p, places)
	}
}

// keepLimits keeps what the host says of the account's limits, for cc-later. A
// line that cannot keep it is drawn all the same.
func (a *app) keepLimits(p statusline.Payload) {
	dir := usage.AppDir(a.host.Home, a.env.Getenv)
	if now := a.env.Now(); dir != "" {
		_ = usage.RecordLimits(dir, usage.StatusLineLimits(p.RateLimits, now), now)
	}
}

// placed is a plugin at the place where the status line looks at it.
type placed struct {
	*plugin.Plugin
	at plugin.Place
}

// places are the plugins that can be looked at in a project.
func (a *app) places(project string) []placed {
	var list []placed
	for _, of := range registry.Plugins() {
		if at, err := a.at(of, project); err == nil {
			list = append(list, placed{of, at})
		}
	}
	return list
}

// segments are what the plugins have to show.
func (a *app) segments(p statusline.Payload, places []placed, only string) []plugin.Segment {
	var list []plugin.Segment
	full := a.occupancy(p, places)
	for _, of := range places {
		shown := only == of.Name || only == "" && a.enabled(of.Name, p.Project)
		if shown && !of.Off(of.at) {
			list = append(list, of.Segment(of.at, full))
		}
	}
	return list
}

// occupancy returns how full the context is, with the window that the hooks go
// by.
func (a *app) occupancy(p statusline.Payload, places []placed) occupancy.Occupancy {
	var table models.Table
	var dirs []state.Reader
	pinned := 0
	for _, of := range places {
		if table == nil {
			table = of.at.Profile.Windows
		}
		if pinned == 0 && of.Window != nil {
			pinned = of.Window(of.at)
		}
		for _, dir := range of.Figures(of.at) {
			dirs = append(dirs, dir)
		}
	}
	return p.Occupancy(occupancy.SourcesOf(a.host, p.SessionID, table, pinned, dirs...), a.env.Now())
}

// showHost keeps for the hooks what the host says, without the user's
// settings: those hold only as long as they stand. The hooks do without when
// it cannot be kept.
func (a *app) showHost(p statusline.Payload, places []placed) {
	for _, of := range places {
		for _, dir := range of.Figures(of.at) {
			_ = p.Figure(a.env.Now()).Show(dir, dir == of.State(p.Project))
		}
	}
}

// place is where this user's settings are.
func (a *app) place() statusline.Place {
	return statusline.Place{Config: a.host.Config, Home: a.host.Home, Shells: host.ShellFinder{
		Windows: runtime.GOOS == "windows",
		Getenv:  a.env.Getenv,
		IsFile: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && !info.IsDir() // what the Store installs is no regular file
		},
		LookPath: func(program string) string {
			path, err := exec.LookPath(program)
			if err != nil {
				return ""
			}
			return path
		},
	}}
}

func (a *app) statuslineInstall() *cobra.Command {
	return &cobra.Command{
		Use:   "install",
		Short: "Add the status line to your settings",
		Long: `Add the status line to your settings.json.

A status line command that stands there already keeps its place: it runs first,
with the same input, and its output comes before ours. What else the settings
say stays byte for byte, and uninstall puts back what was there.

The settings are those in CLAUDE_CONFIG_DIR, or else in ~/.claude.`,
		Example: `  ccreload statusline install`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			if state.Within(state.RealPath(a.host.ConfigPath("plugins")), self) {
				self = "" // it goes with the plugin, and the wrapper finds the next
			}
			c, err := a.place().Install(self)
			if err != nil {
				return err
			}
			if !c.Done {
				fmt.Fprintln(a.stdout, "The status line is installed already.")
			} else {
				fmt.Fprintln(a.stdout, "The status line is installed; it appears after the next prompt.")
				if c.Kept != "" {
					fmt.Fprintf(a.stdout, "Your own command stays as its first part: %s\n", term.Line(c.Kept))
				}
				a.list(c.Paths)
			}
			project, err := a.project()
			if by := a.lineHiddenBy(project); err == nil && by != "" {
				fmt.Fprintf(a.stdout, "In this project it is not shown: %s has a status line of its own.\n", term.Line(by))
			}
			return err
		},
	}
}

func (a *app) statuslineUninstall() *cobra.Command {
	return &cobra.Command{
		Use:   "uninstall",
		Short: "Put your settings back as they were",
		Long: `Put your settings back as they were before "ccreload statusline install". What
you have changed in them since, and a status line you have chosen since, stay.`,
		Example: `  ccreload statusline uninstall`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c, err := a.place().Uninstall()
			if err != nil {
				return err
			}
			if !c.Done {
				fmt.Fprintln(a.stdout, "There is no status line of ours.")
				return nil
			}
			fmt.Fprintln(a.stdout, "The status line is removed and your settings are as before.")
			a.list(c.Paths)
			return nil
		},
	}
}

// lineHiddenBy returns the settings of a project whose status line is shown in
// place of the user's, "" for none.
func (a *app) lineHiddenBy(project string) string {
	for _, path := range a.projectSettings(project) {
		if a.place().Hides(path) {
			return path
		}
	}
	return ""
}

// list prints paths, one a line.
func (a *app) list(paths []string) {
	for _, path := range paths {
		fmt.Fprintf(a.stdout, "  %s\n", term.Line(path))
	}
}
