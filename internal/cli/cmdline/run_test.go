package cmdline

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/problem"
)

// placed is an error that names a place in a file.
type placed struct{ error }

func (placed) Placed() {}

func TestRun(t *testing.T) {
	t.Parallel()
	paper := errors.New("no paper in \"tray\x1b[2J\"")
	for name, tt := range map[string]struct {
		args string
		err  error
		want string
		code int
	}{
		"well":           {"do", nil, "", ExitOK},
		"a fault":        {"do", paper, "x: no paper in \"tray␛[2J\"\n", ExitFault},
		"an input":       {"do", problem.Input("add \x1b", "no paper"), "x: no paper\nhint: add ␛\n", ExitUsage},
		"without advice": {"do", problem.Input("", "no paper"), "x: no paper\n", ExitUsage},
		"wrapped":        {"do", fmt.Errorf("print: %w", problem.Fault("add some", "no paper")), "x: print: no paper\nhint: add some\n", ExitFault},
		"made an input":  {"do", problem.AsInput(problem.Fault("add some", "no paper")), "x: no paper\nhint: add some\n", ExitUsage},
		"several":        {"do", errors.Join(problem.Fault("add some", "no paper"), errors.New("no ink")), "x: no paper\nhint: add some\nx: no ink\n", ExitFault},
		"said already":   {"do", ErrFailed, "", ExitFault},
		"a place":        {"do", problem.AsInput(placed{errors.New("f:1:2: no paper")}), "f:1:2: no paper\n", ExitUsage},
		"no such word":   {"dod", nil, "x: unknown command \"dod\" for \"x\"\nhint: did you mean x do?\n", ExitUsage},
		"no such flag":   {"do --ink", nil, "x: unknown flag: --ink\nhint: see x do --help\n", ExitUsage},
		"a text":         {"one -[x]", nil, "x: \"-[x]\" is not a flag\nhint: `--` goes before a text that begins with a dash: x one -- '-[x]'\n", ExitUsage},
		"an argument":    {"none x", nil, "x: x none takes no argument, and was given \"x\"\nhint: see x none --help\n", ExitUsage},
		"no argument":    {"one", nil, "x: there is no argument: x one WORD [flags]\nhint: see x one --help\n", ExitUsage},
		"two arguments":  {"one a b", nil, "x: 2 arguments do not fit: x one WORD [flags]\nhint: see x one --help\n", ExitUsage},
		"no number":      {"many -n few", nil, "x: invalid argument \"few\" for \"-n, --lines\" flag\nhint: see x many --help\n", ExitUsage},
		"a panic":        {"panic", nil, "x: internal fault: out of ␛ paper\nhint: report it, with the command and its input\n", ExitFault},
	} {
		root := &cobra.Command{Use: "x"}
		root.AddCommand(
			&cobra.Command{Use: "do", RunE: func(*cobra.Command, []string) error { return tt.err }},
			&cobra.Command{Use: "none", Args: cobra.NoArgs, Run: func(*cobra.Command, []string) {}},
			&cobra.Command{Use: "one WORD", Args: cobra.ExactArgs(1), Run: func(*cobra.Command, []string) {}},
			&cobra.Command{Use: "panic", RunE: func(*cobra.Command, []string) error { panic("out of \x1b paper") }},
		)
		many := &cobra.Command{Use: "many", Run: func(*cobra.Command, []string) {}}
		many.Flags().IntP("lines", "n", 0, "")
		root.AddCommand(many)
		var out, errs bytes.Buffer
		code := Run(root, strings.Fields(tt.args), strings.NewReader(""), &out, &errs)
		if code != tt.code || out.Len() != 0 || errs.String() != tt.want {
			t.Errorf("%s: exit code %d, stdout %q, stderr %q; want %d, %q", name, code, &out, &errs, tt.code, tt.want)
		}
	}
}
