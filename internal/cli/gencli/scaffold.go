package gencli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/record"
	"github.com/ccreload/ccreload/internal/term"
)

func scaffoldCommand() *cobra.Command {
	var root, out string
	cmd := &cobra.Command{
		Use:   "scaffold-tests RECORDING...",
		Short: "Write a test for each hook of a plugin from recorded calls",
		Long: `Write a case for each hook of the plugin in --root, with the first recorded call
for which the host starts it, into --out. A case is a text file: commands above,
the call below. "ccreload replay --check" runs cases, and with --update has them
say what the hooks say now; then it is yours to change. Needs no Go.

Recordings come from "ccreload record export". A hook that none of the calls
starts is named, and a file that is there already is kept.`,
		Example: `  ccreload-gen scaffold-tests --root marketplace/plugins/my-plugin session.jsonl
  ccreload replay --check --update tests/*.txtar`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			var calls []record.Call
			for _, file := range files {
				f, err := os.Open(file)
				if err != nil {
					return problem.AsInput(err)
				}
				more, err := record.Read(f)
				f.Close()
				if err != nil {
					return problem.Input("name a file that `ccreload record export` has written", "%q is not a recording: %w", file, err)
				}
				calls = append(calls, more...)
			}
			return scaffold(cmd, root, out, calls)
		},
	}
	cmd.Flags().StringVar(&root, "root", ".", "directory of the plugin's tree")
	cmd.Flags().StringVar(&out, "out", "tests", "directory of the cases")
	return cmd
}

// scaffold writes the cases of the plugin in root to out.
func scaffold(cmd *cobra.Command, root, out string, calls []record.Call) error {
	found, _, err := record.FindRoot("", root)
	if err != nil {
		return problem.Input("name one with --root", "%w", err)
	}
	from, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if found, err = filepath.Abs(found); err != nil {
		return err
	}
	way, err := filepath.Rel(from, found)
	if err != nil {
		return err
	}
	drafts, missing, err := record.Scaffold(found, filepath.ToSlash(way), calls, func(expression, s string) bool {
		re, err := regexp.Compile(expression)
		return err == nil && re.MatchString(s)
	})
	if err != nil {
		return problem.AsInput(err)
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	written := 0
	for _, d := range drafts {
		file := filepath.Join(out, d.Name)
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s is there already and kept\n", term.Line(file))
			continue
		} else if err != nil {
			return err
		}
		_, err = f.Write(d.Data)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
		written++
	}
	for _, m := range missing {
		fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", term.Line(m))
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s written to %s\nnext: ccreload replay --check --update %s\n",
		term.Count(written, "case"), term.Line(out), term.Line(filepath.Join(out, "*.txtar")))
	return err
}
