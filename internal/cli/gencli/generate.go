package gencli

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/gen"
	"github.com/ccreload/ccreload/internal/term"
)

func generateCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "generate [DIR]",
		Short: "Write everything the manifest stands for",
		Long: `Write marketplace/, .claude-plugin/marketplace.json, docs/options.md
and, between its marks, the option tables of README.md. Everything is checked
first; with an error nothing is written. Files of an earlier run that are not
needed any more are removed, unless they were edited. A run that was
interrupted is made good by the next one.`,
		Example: `  ccreload-gen generate
  ccreload-gen generate my-plugins`,
		Args: cobra.MaximumNArgs(1),
		RunE: onProject(func(cmd *cobra.Command, p *gen.Project) error {
			note(cmd, p.Warnings())
			return report(cmd, p.Generate)
		}),
	}
}

func docsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "docs [DIR]",
		Short: "Write only the option tables",
		Long: `Write docs/options.md and, where README.md has the lines
` + "`<!-- options:begin -->` and `<!-- options:end -->`" + `, the tables between them.
generate does the same and more.`,
		Example: `  ccreload-gen docs
  ccreload-gen docs my-plugins`,
		Args: cobra.MaximumNArgs(1),
		RunE: onProject(func(cmd *cobra.Command, p *gen.Project) error { return report(cmd, p.Docs) }),
	}
}

// report lists what a function that brings a project's files up to date has
// changed, also when it stopped half-way.
func report(cmd *cobra.Command, do func() ([]gen.Change, error)) error {
	changes, err := do()
	list(cmd.OutOrStdout(), changes)
	if err == nil && len(changes) == 0 {
		fmt.Fprintln(cmd.OutOrStdout(), "everything is up to date")
	}
	return err
}

// said is how a change is put to a person, after the path.
var said = map[string]string{
	"added":    ": added",
	"updated":  ": updated",
	"removed":  ": removed",
	"kept":     ": kept, since it was edited; nothing generates it anymore",
	"missing":  " is missing",
	"changed":  " differs from what the manifest says",
	"crlf":     " has CR LF line ends: git may have put them there on checkout, which `* -text` in .gitattributes forbids",
	"mode":     " has the wrong executable bit",
	"gone":     " is gone, and so is what it was generated from",
	"orphaned": " is orphaned: nothing generates it",
}

// maxListed is how many files are named that are only written or removed.
const maxListed = 40

func list(out io.Writer, changes []gen.Change) {
	usual := []string{"added", "updated", "removed"}
	n := map[string]int{}
	for _, c := range changes {
		if n[c.What]++; n[c.What] <= maxListed || !slices.Contains(usual, c.What) {
			fmt.Fprintln(out, term.Line(c.Path)+said[c.What])
		}
	}
	for _, what := range usual {
		if more := n[what] - maxListed; more > 0 {
			fmt.Fprintf(out, "%s%s\n", term.Count(more, "more file"), said[what])
		}
	}
}
