package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/later/timer"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	tickEvery    = 5 * time.Minute
	timerTimeout = 20 * time.Second // for a program of the system
)

// timerPlace is where the timer of this user is.
func (a *app) timerPlace() (p timer.Place, withheld []string) {
	p = timer.Place{
		OS: runtime.GOOS, App: later.AppDir(a.host, a.env.Getenv), Config: a.host.Config,
		Runtime: a.lastingRuntime(), UID: os.Getuid(), Run: systemProgram,
	}
	switch dir := a.env.Getenv("XDG_CONFIG_HOME"); {
	case a.host.Home == "":
	case runtime.GOOS == "darwin":
		p.Units = filepath.Join(a.host.Home, "Library", "LaunchAgents")
	case filepath.IsAbs(dir):
		p.Units = filepath.Join(dir, "systemd", "user")
	default:
		p.Units = filepath.Join(a.host.Home, ".config", "systemd", "user")
	}
	p.Environ, withheld = host.Lasting(os.Environ())
	if dir := a.env.Getenv("CC_LATER_APP_DIR"); dir != "" {
		p.Environ = append(p.Environ, "CC_LATER_APP_DIR="+p.App)
	}
	return p, withheld
}

// lastingRuntime is this program where no update of a plugin takes it away, by the
// name under which it is found; else "".
func (a *app) lastingRuntime() string {
	self, err := os.Executable()
	if err != nil || a.host.Config != "" && state.Within(state.RealPath(a.host.ConfigPath("plugins")), self) {
		return ""
	}
	// A package manager's name for it stays when what it leads to is replaced.
	if path, err := exec.LookPath("ccreload"); err == nil && filepath.IsAbs(path) && sameFile(path, self) {
		return path
	}
	return self
}

// systemProgram runs a program of the system and returns what it prints.
func systemProgram(ctx context.Context, name string, args ...string) (string, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, timerTimeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := proc.Run(ctx, cmd, askGrace)
	return out.String(), err
}

func (a *app) laterTimer() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timer",
		Short: "Have the system look after the queue while no session is open",
		Long: `Have the system look after the queue while no session is open: by a user unit of
systemd, an agent of launchd, or a task of the Windows Task Scheduler. Each starts
"ccreload later tick" every few minutes, with the newest ccreload of the plugins.`,
		Example: `  ccreload later timer install
  ccreload later timer status
  ccreload later timer uninstall`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.timerInstall(), a.timerUninstall(), a.timerStatus())
	return cmd
}

func (a *app) timerInstall() *cobra.Command {
	every := tickEvery
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Start ticks every few minutes from now on",
		Long: `Start ticks every few minutes from now on. What is written is listed. The script
among it keeps what agents need of your environment: where programs are, proxies,
and where settings are, but no secret.`,
		Example: "  ccreload later timer install\n  ccreload later timer install --every 10m",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			p, withheld := a.timerPlace()
			c, err := p.Install(cmd.Context(), every)
			if err != nil {
				return err
			}
			if !c.Done {
				fmt.Fprintln(a.stdout, "The timer is installed already.")
				return nil
			}
			fmt.Fprintf(a.stdout, "The queue is looked after every %s from now on. `ccreload later timer uninstall` takes this back.\n", page.Span(every))
			a.list(c.Paths)
			for _, name := range withheld {
				fmt.Fprintf(a.stdout, "%s is not written down, so the agents of the timer go without it.\n", term.Line(name))
			}
			if p.OS == "linux" {
				fmt.Fprintln(a.stdout, "It runs while you are logged in; `loginctl enable-linger` has it run always.")
			}
			return w.Prepare()
		},
	}
	cmd.Flags().DurationVar(&every, "every", every, "how often")
	return cmd
}

func (a *app) timerUninstall() *cobra.Command {
	return &cobra.Command{
		Use:     "uninstall",
		Short:   "Take back what `install` did",
		Example: "  ccreload later timer uninstall",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _ := a.timerPlace()
			c, err := p.Uninstall(cmd.Context())
			if err != nil {
				return err
			}
			if !c.Done {
				fmt.Fprintln(a.stdout, "There is no timer of ours.")
				return nil
			}
			fmt.Fprintln(a.stdout, "The timer is removed. The end of a turn still looks after the queue.")
			a.list(c.Paths)
			return nil
		},
	}
}

func (a *app) timerStatus() *cobra.Command {
	return &cobra.Command{
		Use:     "status",
		Short:   "Say whether there is a timer, and when it last ran",
		Example: "  ccreload later timer status",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, _ := a.timerPlace()
			s := p.Status(cmd.Context())
			fmt.Fprintln(a.stdout, a.timerSays(s))
			a.list(s.Files)
			return nil
		},
	}
}

// timerSays is a sentence about the timer.
func (a *app) timerSays(s timer.Status) string {
	switch {
	case len(s.Files) == 0:
		return "There is no timer; the end of a turn looks after the queue."
	case !s.Whole:
		return "Files of the timer are missing; `ccreload later timer install` writes them anew."
	case !s.Active:
		return "The timer is installed, and " + s.System + " does not start it; `ccreload later timer install` has it do so."
	}
	says := "The timer is active"
	if s.Every > 0 {
		says += ", every " + page.Span(s.Every)
	}
	if s.Last.IsZero() {
		return says + "; it has not run yet."
	}
	now := a.env.Now()
	return strings.TrimSpace(fmt.Sprintf("%s; it last ran %s ago, at %s.", says, page.Span(now.Sub(s.Last)), page.Clock(s.Last, now)))
}
