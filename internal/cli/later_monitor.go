package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/notify"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
)

func (a *app) laterMonitor() *cobra.Command {
	var once bool
	interval := 5 * time.Second
	cmd := &cobra.Command{
		Use:   "monitor",
		Short: "Watch the window, the agents and the queues",
		Long: `Watch the window, the agents and the queues until ^C. It notifies you, by the bell
of the terminal and on the desktop, when an agent ends, when something waits for
you, when the limit is met or over, and when the window or the week's budget ends
soon; MONITOR_NOTIFY_ENABLED=false in config.env switches that off. Where it does
not write to a terminal, it writes what changes.`,
		Example: "  ccreload later monitor\n  ccreload later monitor --once",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if interval < time.Second {
				return problem.Input("such as 5s", "%s is too short between two looks: it takes a second or more", interval)
			}
			look, err := a.laterLook()
			if err != nil {
				return err
			}
			if once {
				v, err := look(cmd.Context())
				if err != nil {
					return err
				}
				a.printMonitor(v)
				return nil
			}
			ctx := cmd.Context()
			if ctx == nil {
				ctx = context.Background()
			}
			return a.monitor(ctx, look, interval)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "look once and end")
	cmd.Flags().DurationVar(&interval, "interval", interval, "how often to look")
	return cmd
}

// tellTime is how long the desktop may take for all there is to tell at once.
const tellTime = 10 * time.Second

// printMonitor writes what the monitor shows below what stands there.
func (a *app) printMonitor(v dispatch.View) {
	for _, l := range page.Monitor(v, term.Columns(a.stdout), 0, term.Palette(a.colored() && term.Obeys(a.stdout))) {
		fmt.Fprintln(a.stdout, l)
	}
}

// monitor looks every so often until it is told to end.
func (a *app) monitor(ctx context.Context, look func(context.Context) (dispatch.View, error), interval time.Duration) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	resized, forget := resizes()
	defer forget()
	l := looker{look: look, ticks: ticker.C, resized: resized}
	var said *notify.Memory // by this terminal
	if !term.Obeys(a.stdout) || a.env.Getenv("TERM") == "dumb" {
		last := ""
		l.show = func(v dispatch.View) {
			if gist := page.Gist(v); gist != last {
				if last != "" {
					fmt.Fprintln(a.stdout)
				}
				last = gist
				a.printMonitor(v)
			}
		}
	} else {
		screen := &term.Screen{W: a.stdout}
		defer screen.Close()
		l.show = func(v dispatch.View) {
			columns, rows := term.Size(a.stdout)
			screen.Show(page.Monitor(v, columns, rows, term.Palette(a.colored())))
		}
		l.alert = func(v dispatch.View) {
			notes, now := said.Next(v)
			said = &now
			for _, n := range notes {
				if v.Config.Notify {
					notify.Terminal(a.stdout, n)
				}
			}
		}
	}
	l.tell = func(v dispatch.View) {
		go func() {
			if _, err := os.Stat(v.App); err != nil {
				return // nothing was ever queued
			}
			a.tell(ctx, v)
			if w, err := a.laterReader(); err == nil {
				a.lookForDashboard(ctx, w)
			}
		}()
	}
	return l.run(ctx)
}

// looker is the loop of the monitor.
type looker struct {
	look        func(context.Context) (dispatch.View, error)
	show        func(dispatch.View)
	alert, tell func(dispatch.View) // by the terminal, and on the desktop; nil for not
	ticks       <-chan time.Time
	resized     <-chan os.Signal
}

// run looks at each tick, and draws anew when the terminal has another size. The end
// of ctx is no error.
func (l looker) run(ctx context.Context) error {
	for {
		v, err := l.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		l.show(v)
		for _, f := range []func(dispatch.View){l.alert, l.tell} {
			if f != nil {
				f(v)
			}
		}
		if !l.wait(ctx, v) {
			return nil
		}
	}
}

// wait returns at the next tick, false at the end.
func (l looker) wait(ctx context.Context, v dispatch.View) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-l.resized:
			l.show(v)
		case <-l.ticks:
			return true
		}
	}
}

// tell notifies the desktop of what is new in a view, once for all processes that
// look. What cannot be told stops nothing.
func (a *app) tell(ctx context.Context, v dispatch.View) {
	notes, err := notify.News(v)
	if err != nil {
		a.env.Log("notify", "error", err.Error())
	}
	if !v.Config.Notify {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellTime)
	defer cancel()
	desktop := notify.Desktop{OS: runtime.GOOS, LookPath: exec.LookPath, Environ: os.Environ()}
	for _, n := range notes {
		if err := desktop.Show(ctx, n); err != nil {
			a.env.Log("notify", "error", err.Error())
		}
	}
}

// tellTick is tell after a tick nobody looks at; the dashboard has the same.
func (a *app) tellTick(ctx context.Context, w *dispatch.World) {
	v, err := w.View(ctx, "")
	if err != nil {
		return
	}
	a.keepDashboard(v)
	a.tell(ctx, v)
}
