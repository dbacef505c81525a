package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/notify"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/term"
)

func (a *app) laterDashboard() *cobra.Command {
	var noOpen bool
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Write a page with everything there is to see, and open it in the browser",
		Long: `Write a page with everything there is to see, and open it in the browser: the
window, the week, what waits for you, the agents and what they say, the queues,
merges and failures, and what was used. It is one file, dashboard.html in
~/.cc-later, that loads nothing from anywhere. As long as it is there every tick and
a running monitor write it anew, and the open page follows by itself.`,
		Example: "  ccreload later dashboard\n  ccreload later dashboard --no-open",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := a.laterWorld()
			if err != nil {
				return err
			}
			// Of all repositories in which something was queued, and not of the one that
			// somebody is in: ticks are in none.
			w.Asks = true
			v, err := w.View(cmd.Context(), "")
			if err != nil {
				return err
			}
			path, err := page.WriteDashboard(v)
			if err != nil {
				return err
			}
			says := "Open it in a browser."
			if !noOpen && a.open(path) {
				says = "It opens in your browser."
			}
			fmt.Fprintf(a.stdout, "The dashboard is %s\n%s\n", term.Line(path), says)
			return nil
		},
	}
	cmd.Flags().BoolVar(&noOpen, "no-open", false, "only write it")
	return cmd
}

// open has the browser show a page, where somebody sits in front of one.
func (a *app) open(path string) bool {
	if a.host.Headless || hook.On(a.env.Getenv(host.ChildVar)) || hook.On(inherited(host.ChildVar)) {
		return false
	}
	desktop := notify.Desktop{OS: runtime.GOOS, LookPath: exec.LookPath, Environ: host.Outside(os.Environ())}
	opened, err := desktop.Open(path)
	if err != nil {
		a.env.Log("dashboard", "error", err.Error())
	}
	return opened
}

// keepDashboard writes the page anew where somebody once asked for it. What cannot
// be written stops nothing.
func (a *app) keepDashboard(v dispatch.View) {
	if !page.HasDashboard(v.App) {
		return
	}
	if _, err := page.WriteDashboard(v); err != nil {
		a.env.Log("dashboard", "error", err.Error())
	}
}

// lookForDashboard is keepDashboard where nobody has a view that fits.
func (a *app) lookForDashboard(ctx context.Context, w *dispatch.World) {
	if !page.HasDashboard(w.App) {
		return
	}
	if v, err := w.View(ctx, ""); err == nil {
		a.keepDashboard(v)
	}
}
