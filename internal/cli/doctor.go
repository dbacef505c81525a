package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON, verify bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the installation and suggest fixes",
		Long: `Check the installation and suggest fixes: the plugins and their runtime, the
client, directories and permissions, settings, the status line, the state of
this project, and recent errors. Nothing is changed, but that a runtime which is
missing is fetched, unless CCRELOAD_DOWNLOAD is off.

With --verify it says instead what the plugins run, whether that has the sha256
which came with them, and with which commands a release is checked. Nothing is
fetched.

The exit code is 0 without problems and 1 with at least one.`,
		Example: `  ccreload doctor
  ccreload doctor --verify
  ccreload doctor --json | jq '.findings[] | select(.verdict == "problem")'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			which := checks
			if verify {
				which = []func(*checkup){(*checkup).sums}
			}
			c, err := a.examine(cmd.Context(), which)
			if err != nil {
				return err
			}
			report := report{version(), c.Findings.Problems(), c.Findings, c.commands}
			if asJSON {
				err = a.printJSON(report)
			} else {
				err = report.write(a.stdout, term.Palette(a.colored()))
			}
			if err == nil && report.Problems > 0 {
				err = cmdline.ErrFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&verify, "verify", false, "say how to check that what runs is what was released")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the findings as one JSON object")
	return cmd
}

// colored reports whether stdout is a terminal that may be colored.
func (a *app) colored() bool {
	return term.IsTerminal(a.stdout) && a.env.Getenv("NO_COLOR") == "" && a.env.Getenv("TERM") != "dumb"
}

// report is what doctor prints.
type report struct {
	Version  string           `json:"version"`
	Problems int              `json:"problems"`
	Findings problem.Findings `json:"findings"`
	Commands []string         `json:"commands,omitempty"` // that check a release
}

func (r report) write(w io.Writer, paint term.Palette) error {
	colors := map[problem.Verdict]term.Color{problem.OK: term.Green, problem.Note: term.Yellow, problem.Bad: term.Red}
	column := 0
	for _, f := range r.Findings {
		column = max(column, len(f.Check))
	}
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s  %-*s  %s\n", paint.In(colors[f.Verdict], term.Pad(string(f.Verdict), 7)), column, f.Check, term.Line(f.Says))
		if f.Hint != "" {
			fmt.Fprintf(w, "%*s  hint: %s\n", 9+column, "", term.Line(f.Hint))
		}
	}
	summary := "No problems found."
	if r.Problems > 0 {
		summary = fmt.Sprintf("Problems: %d", r.Problems)
	}
	_, err := fmt.Fprintf(w, "\n%s\n", summary)
	if len(r.Commands) > 0 && err == nil {
		_, err = fmt.Fprintf(w, "\nTo check it against the release itself, its provenance (with gh), or the signature of\nits checksums (with cosign and curl):\n\n  %s\n", strings.Join(r.Commands, "\n  "))
	}
	return err
}
