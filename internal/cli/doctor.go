package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/term"
)

// finding is what a check has to say.
type finding = plugin.Finding

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and say how to mend it",
		Long: `Check the installation and say how to mend it: the plugins and their runtime,
the client, directories and rights, settings, the status line, the state of this
project, and what went wrong lately. Nothing is changed.

The exit code is 0 when nothing is wrong and 1 when something is.`,
		Example: `  ccreload doctor
  ccreload doctor --json | jq '.findings[] | select(.verdict == "problem")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings, err := a.examine(cmd.Context())
			if err != nil {
				return err
			}
			report := newReport(findings)
			if asJSON {
				err = a.printJSON(report)
			} else {
				err = report.write(a.stdout, a.colored())
			}
			if err == nil && report.Problems > 0 {
				err = cmdline.ErrFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as one JSON object")
	return cmd
}

// colored reports whether stdout is a terminal that may be colored.
func (a *app) colored() bool {
	return term.IsTerminal(a.stdout) && a.env.Getenv("NO_COLOR") == "" && a.env.Getenv("TERM") != "dumb"
}

// report is what doctor prints.
type report struct {
	Version  string    `json:"version"`
	Problems int       `json:"problems"`
	Findings []finding `json:"findings"`
}

func newReport(findings []finding) report {
	r := report{Version: version(), Findings: findings}
	for _, f := range findings {
		if f.Verdict == plugin.IsProblem {
			r.Problems++
		}
	}
	return r
}

// colorOf returns the terminal sequence for v.
func colorOf(v plugin.Verdict) string {
	switch v {
	case plugin.IsProblem:
		return "\x1b[31m"
	case plugin.IsNote:
		return "\x1b[33m"
	}
	return "\x1b[32m"
}

func (r report) write(w io.Writer, color bool) error {
	for _, f := range r.Findings {
		mark := fmt.Sprintf("%-7s", f.Verdict)
		if color {
			mark = colorOf(f.Verdict) + mark + "\x1b[0m"
		}
		if _, err := fmt.Fprintf(w, "%s  %-11s  %s\n", mark, f.Check, term.Visible(f.Says)); err != nil {
			return err
		}
		if f.Fix != "" {
			if _, err := fmt.Fprintf(w, "%22s  → %s\n", "", term.Visible(f.Fix)); err != nil {
				return err
			}
		}
	}
	summary := "Nothing is wrong."
	switch {
	case r.Problems == 1:
		summary = "One thing is wrong."
	case r.Problems > 1:
		summary = fmt.Sprintf("%d things are wrong.", r.Problems)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", summary)
	return err
}
