package cli

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/term"

	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/hook"
)

func (a *app) handoffCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "handoff",
		Short: "End a session so that the next one starts informed",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.handoffRun(), a.handoffCommit(), a.handoffList(), a.handoffShow())
	return cmd
}

func (a *app) handoffRun() *cobra.Command {
	var o handoff.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "run [SLUG]",
		Short: "Write the handoff document of this session, and commit it if you say so",
		Long: `Run writes NEXT-SESSION.local.md (or NEXT-SESSION-SLUG.local.md) from what git
and the transcript of the session say, and asks whether to commit it. Only that
file, and REMEMBER.md and TODO.md beside it, go into the commit; your index and
everything else stay as they are. Nothing is pushed unless --push is given and
you confirm it.

What goes wrong on the way is listed, and the exit code is 0 all the same.`,
		Example: `  ccreload handoff run                     write it, ask before committing
  ccreload handoff run parser --no-commit  NEXT-SESSION-parser.local.md, uncommitted
  ccreload handoff run --dry-run           only say what would be done
  ccreload handoff run --json --non-interactive | jq .artifact_path`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				o.Slug = args[0]
			}
			if err := a.handoffWorld(&o); err != nil {
				return err
			}
			result, err := handoff.Run(cmd.Context(), o)
			return a.handoffResult(result, err, asJSON)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.DryRun, "dry-run", false, "write nothing, only say what would be done")
	flags.BoolVar(&o.NoCommit, "no-commit", false, "leave the document uncommitted")
	flags.BoolVar(&o.Push, "push", false, "ask whether to push after committing")
	flags.Bool("no-push", false, "")
	flags.MarkHidden("no-push") // nothing is pushed without --push anyway; fails only for an unknown flag
	flags.BoolVar(&o.NonInteractive, "non-interactive", false, "ask nothing: commit, and do not push")
	flags.BoolVar(&o.Auto, "auto", false, "at most once a session, as the Stop hook does")
	flags.DurationVar(&o.CommitTime, "commit-timeout", 0, "what commit hooks and signing may take (default 25s)")
	flags.StringVar(&o.Kind, "type", "", "what is handed over: `KIND` is plugin-work, multi-session or single-task (default: found out)")
	flags.BoolVar(&asJSON, "json", false, "print the result as JSON")
	handoffFlags(cmd, &o)
	return cmd
}

func (a *app) handoffCommit() *cobra.Command {
	var o handoff.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "commit",
		Short: "Commit the newest handoff document, and nothing else",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.handoffWorld(&o); err != nil {
				return err
			}
			result, err := handoff.Commit(cmd.Context(), o)
			return a.handoffResult(result, err, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the result as JSON")
	handoffFlags(cmd, &o)
	return cmd
}

func (a *app) handoffList() *cobra.Command {
	var o handoff.Options
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the handoff document and those in the archive",
		Long: `List the handoff document of this project and those in the archive, the newest
first: how old each is, its branch, and what was asked for last.`,
		Example: `  ccreload handoff list
  ccreload handoff list --json | jq -r '.[].path'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := a.handoffWorld(&o); err != nil {
				return err
			}
			list, err := handoff.List(o)
			if err != nil {
				return err
			}
			return printList(a, list, asJSON, "No handoff document of this project is kept.")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) handoffShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [N]",
		Short: "Print a handoff document",
		Long: `Print a handoff document: N is its number in the list. Without one it is that of
the project, else the newest in the archive.`,
		Example: `  ccreload handoff show
  ccreload handoff show 2`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			number, err := listNumber(args, "handoff")
			if err != nil {
				return err
			}
			var o handoff.Options
			if err := a.handoffWorld(&o); err != nil {
				return err
			}
			doc, err := handoff.Show(o, number)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, term.Visible(doc))
			return err
		},
	}
}

// handoffFlags are for the Stop hook, which knows more than the environment
// of a command says.
func handoffFlags(cmd *cobra.Command, o *handoff.Options) {
	flags := cmd.Flags()
	for name, at := range map[string]*string{"dir": &o.Dir, "project": &o.Project, "session": &o.Session, "transcript": &o.Transcript} {
		flags.StringVar(at, name, "", "")
		flags.MarkHidden(name) // fails only for an unknown flag
	}
}

// handoffWorld fills in what no flag has said.
func (a *app) handoffWorld(o *handoff.Options) error {
	var err error
	if o.Dir == "" {
		if o.Dir, err = os.Getwd(); err != nil {
			return err
		}
	}
	if o.Project == "" {
		o.Project = a.host.Project
	}
	if o.Session == "" {
		o.Session = a.host.Session
	}
	if o.Transcript == "" {
		o.Transcript = a.transcript(o.Session)
	}
	o.Projects = a.host.ConfigPath("projects")
	at, err := a.at(&handoff.Plugin, cmp.Or(o.Project, o.Dir))
	if err != nil {
		return err
	}
	o.Home, o.Env, o.Host, o.Data = a.host.Home, a.env, at.Host, at.Data
	o.Settings = handoff.Effective(at.Project, at.Data, at.Profile, at.Host.Option)
	if !o.NonInteractive && !o.Auto {
		lines := bufio.NewReader(a.stdin)
		o.Ask = func(question string) (yes, answered bool) {
			fmt.Fprintf(a.stderr, "%s [y/N] ", term.Visible(question))
			line, err := lines.ReadString('\n')
			if err != nil && line == "" {
				fmt.Fprintln(a.stderr)
				return false, false
			}
			switch strings.ToLower(strings.TrimSpace(line)) {
			case "y", "yes", "j", "ja":
				return true, true
			}
			return false, true
		}
	}
	return nil
}

// dataOf returns the data directories of a plugin: the one the host has named
// to a hook of it, else all it has. A plugin that was loaded for one
// session or from two marketplaces has more than one, and a command is not
// told which of them is in use.
func (a *app) dataOf(plugin string) []string {
	if data := a.host.Data; data != "" {
		if p, err := hook.Profile(a.host.Root, "", nobody); err == nil && p.Plugin == plugin {
			return []string{data}
		}
	}
	return slices.DeleteFunc(a.ourDataDirs(), func(dir string) bool {
		return !strings.HasPrefix(filepath.Base(dir), plugin+"-")
	})
}

// handoffResult prints what a run did.
func (a *app) handoffResult(r handoff.Result, err error, asJSON bool) error {
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(r)
	}
	list := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(a.stdout, "%s\n  %s\n", title, term.Visible(strings.Join(lines, "\n  ")))
		}
	}
	list("Done:", r.Actions)
	list("Not as it should be:", r.Errors)
	list("Next:", r.NextSteps)
	title := "Prompt for the next session:"
	if r.Armed {
		title = "Prompt for any other session:"
	}
	fmt.Fprintf(a.stdout, "\n%s\n\n%s\n", title, term.Visible(r.Prompt))
	return nil
}
