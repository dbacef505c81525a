package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"

	"github.com/ccreload/ccreload/internal/reload"
)

func (a *app) reloadCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reload",
		Short: "Write, arm, show and restore the digest of a project",
		Long: `Write, arm, show and restore the digest of a project.

The digest is the page in .reload/session.md that survives a reset of the
context. Once armed, it is handed to the next session, and to no other. The
newest 20 are kept, whoever replaced them.`,
		Example: `  ccreload reload status              how things stand
  ccreload reload write --arm < FILE  a new digest, for the next session
  ccreload reload show                read it
  ccreload reload restore             bring back the one that was replaced`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.reloadWrite(), a.reloadArm(), a.reloadShow(), a.reloadList(), a.reloadRestore(), a.reloadMeasure(), a.reloadStatus(), a.reloadClaim())
	return cmd
}

// store returns where the commands of cc-reload work.
func (a *app) digestStore() (reload.Store, error) {
	project, err := a.project()
	if err != nil {
		return reload.Store{}, err
	}
	at, err := a.at(&reload.Plugin, project)
	return reload.Store{Project: project, Session: a.host.Session, Env: a.env, Host: at.Host, Profile: at.Profile}, err
}

func (a *app) reloadWrite() *cobra.Command {
	var arm bool
	var intent, from string
	cmd := &cobra.Command{
		Use:   "write",
		Short: "Write the digest that comes in on standard input or in a file",
		Long: `Write the digest that comes in on standard input, or in a file, as Markdown.

It has four sections: Done this stretch, In flight, Next concrete step, Open
questions & risks. The session and the time are filled in. What is missing is
named, and no reason to refuse it. A digest that another session wrote not long
ago is kept aside first. One that says nothing at all replaces none that does.

A file that is not below this directory is looked for in the project, and a draft
in its .reload (draft-NAME.md) is removed once the digest is saved.`,
		Example: `  ccreload reload write --arm --from digest.md

  ccreload reload write --arm <<'DIGEST'
  ---
  intent: move the token refresh out of the client
  ---

  ## Done this stretch
  - auth/refresh.go, commit 1f2e3d4

  ## In flight
  - tests for expiry: two of five written

  ## Next concrete step
  - go test ./auth, then fix TestExpiry

  ## Open questions & risks
  - a fake clock did not work with the HTTP client
  DIGEST`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if from == "" && !carriesPayload(a.stdin) {
				return problem.Input("see `ccreload reload write --help`", "there is no digest on standard input")
			}
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			var data []byte
			if from != "" {
				data, err = store.Draft(from)
			} else {
				data, err = io.ReadAll(io.LimitReader(a.stdin, reload.MaxDigest+1))
			}
			if err != nil {
				return err
			}
			store.Transcript = a.transcript(store.Session)
			w, err := store.Write(data, intent, arm)
			if err != nil {
				return err
			}
			store.DropDraft(from)
			_, err = fmt.Fprint(a.stdout, w)
			if w.NotArmed != nil {
				return cmdline.ErrFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&arm, "arm", false, "hand it to the next session")
	cmd.Flags().StringVar(&intent, "intent", "", "what all of this is for, in one line")
	cmd.Flags().StringVar(&from, "from", "", "the file that holds the digest (default: standard input)")
	return cmd
}

func (a *app) reloadArm() *cobra.Command {
	return &cobra.Command{
		Use:     "arm",
		Short:   "Hand the digest to the next session",
		Example: `  ccreload reload arm`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			if err := store.Arm(); err != nil {
				return fmt.Errorf("NOT armed: %w", err)
			}
			_, err = fmt.Fprintln(a.stdout, "Armed: the next session starts with the digest.")
			return err
		},
	}
}

func (a *app) reloadShow() *cobra.Command {
	return &cobra.Command{
		Use:   "show [N]",
		Short: "Print the digest, or one of those before it",
		Long: `Print the digest, or one of those before it: N is its number in the list.

Inside a session that takes it: a digest which another session has armed counts
as delivered. In a terminal of your own, in the session that armed it, and with a
number nothing changes.`,
		Example: `  ccreload reload show
  ccreload reload show 1   the one before`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			number, err := listNumber(args, "reload")
			if err != nil {
				return err
			}
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			var doc string
			if len(args) > 0 {
				doc, err = store.Show(number)
			} else {
				doc, _, err = store.Take()
			}
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, term.Visible(doc))
			return err
		},
	}
}

// listNumber reads the argument that names an entry of the list of command, 0
// without one.
func listNumber(args []string, command string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 0 {
		return 0, problem.Input("see `ccreload "+command+" list`", "%q is not a valid number", args[0])
	}
	return n, nil
}

// printList prints what is kept, a line each.
func printList[T fmt.Stringer](a *app, list []T, asJSON bool, none string) error {
	if asJSON {
		return a.printJSON(list)
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(a.stdout, none)
		return err
	}
	for _, k := range list {
		if _, err := fmt.Fprint(a.stdout, term.Visible(k.String())); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) reloadList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the digest and those that were kept before it",
		Long: `List the digest and those that were kept before it, the newest first: how old
each is, whose it is, and what it is for. Its number is what show and restore
take. One that says nothing to go on with, or was written without a model, is
marked.`,
		Example: `  ccreload reload list
  ccreload reload list --json | jq -r '.[].intent'`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			list, err := store.History()
			if err != nil {
				return err
			}
			return printList(a, list, asJSON, "No digest of this project is kept.")
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

func (a *app) reloadRestore() *cobra.Command {
	var arm bool
	cmd := &cobra.Command{
		Use:   "restore [N]",
		Short: "Bring back a digest that was replaced",
		Long: `Bring back a digest that was replaced, byte for byte: N is its number in the
list. Without one it is the last of this session, if another page has taken its
place, else the newest that says something. The digest that is there is kept.

If a digest is armed, the next session is given the one that was brought back.`,
		Example: `  ccreload reload restore
  ccreload reload restore 3 --arm`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			number, err := listNumber(args, "reload")
			if err != nil {
				return err
			}
			if number == 0 && len(args) > 0 {
				return problem.Input("see `ccreload reload list`", "number 0 is the digest that is there")
			}
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			r, err := store.Restore(number, arm)
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, term.Visible(r.String()))
			if r.NotArmed != nil {
				return cmdline.ErrFailed
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&arm, "arm", false, "hand it to the next session")
	return cmd
}

func (a *app) reloadStatus() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say how full the context is, and what is saved and armed",
		Example: `  ccreload reload status
  ccreload reload status --json | jq .context.percent`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.digestStore()
			if err != nil {
				return err
			}
			status := store.Status(a.transcript(store.Session))
			if !asJSON {
				_, err = fmt.Fprint(a.stdout, term.Visible(status.String()))
				return err
			}
			return a.printJSON(status)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

// transcript returns where the host keeps the transcript of a session, "" when
// it is not there. The host's name for the project's folder cannot be computed
// for certain, so every folder is looked at (case F47).
func (a *app) transcript(session string) string {
	if session == "" || strings.ContainsAny(session, `*?[\/`) {
		return ""
	}
	found, err := filepath.Glob(a.host.ConfigPath("projects", "*", session+".jsonl"))
	if err != nil || len(found) == 0 {
		return ""
	}
	return found[0]
}

func (a *app) reloadClaim() *cobra.Command {
	return &cobra.Command{
		Use:   "claim [WRITER-ID]",
		Short: "Keep another session's digest aside before WRITER-ID replaces it",
		Long: `Keep another session's digest aside before WRITER-ID replaces it.

For scripts that write .reload/session.md themselves. It prints a line when a
copy was made, and always ends with 0: a guard must not stop the writer.`,
		Example: `  ccreload reload claim "$CLAUDE_CODE_SESSION_ID" && cp digest.md .reload/session.md`,
		Args:    cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			store, err := a.digestStore()
			if err != nil {
				return nil
			}
			writer := store.Session
			if len(args) > 0 {
				writer = args[0]
			}
			if said, _ := store.Claim(writer); said != "" {
				fmt.Fprintln(a.stdout, said)
			}
			return nil
		},
	}
}
