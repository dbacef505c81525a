package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/record"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

func (a *app) recordCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "record",
		Short: "Record the hook calls of this project, to replay or to attach to a report",
		Long: `Record the hook calls of this project, with the rows the transcript gained in
between, in a file of yours outside the project. Nothing leaves this machine:
"ccreload record export" writes a copy without prompts, answers, file contents,
names of files, and secrets, and says what it keeps.

Without a command it says whether a recording is on, and where it goes.`,
		Example: `  ccreload record on                    then do again what went wrong
  ccreload record off
  ccreload record export session.jsonl  a copy to look at and to give away
  ccreload replay session.jsonl         see what the hooks said`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return a.recordStatus() },
	}
	cmd.AddCommand(
		a.recordVerb("on", "Begin a recording; the one before it is dropped", func(s record.Store) (string, error) {
			if begun, err := s.Start(); !begun {
				return "Recording is on already.", err
			}
			return "Recording is on for this project, in " + s.Ongoing() + "\nEnd it with: ccreload record off", nil
		}),
		a.recordVerb("off", "End the recording and keep it", func(s record.Store) (string, error) {
			if ended, err := s.Stop(); !ended {
				return "Recording is off already.", err
			}
			return "Recording is off. Write a copy to give away with: ccreload record export FILE", nil
		}),
		a.recordVerb("drop", "Delete what has been recorded", func(s record.Store) (string, error) {
			return "The recordings of this project are deleted.", s.Drop()
		}),
		a.recordExportCommand(),
	)
	return cmd
}

// recordVerb is a command on the recordings of this project; it prints what run
// returns.
func (a *app) recordVerb(name, short string, run func(record.Store) (string, error)) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			store, err := a.recordStore()
			if err != nil {
				return err
			}
			said, err := run(store)
			if err == nil {
				fmt.Fprintln(a.stdout, term.Visible(said))
			}
			return err
		},
	}
}

// recordStore returns where the recordings of this project lie. The host names a
// project by its path without links.
func (a *app) recordStore() (record.Store, error) {
	project, err := a.project()
	if err != nil {
		return record.Store{}, err
	}
	store := record.StoreFor(state.RealPath(project), a.env.Getenv)
	return store, store.Err()
}

func (a *app) recordStatus() error {
	store, err := a.recordStore()
	if err != nil {
		return err
	}
	f, err := store.Open()
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintln(a.stdout, "Recording is off, and there is no recording of this project.")
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	sum, err := record.Summary(f)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	state := "off"
	if f.Name() == store.Ongoing() {
		state = "on"
	}
	since := ""
	if sum.Calls > 0 {
		since = " since " + sum.Since.Local().Format(time.DateTime)
	}
	fmt.Fprintf(a.stdout, "Recording is %s: %d hook calls%s, %d KB in %s\n", state, sum.Calls, since, (sum.Bytes+1023)/1024, term.Line(f.Name()))
	return nil
}

func (a *app) recordExportCommand() *cobra.Command {
	var text bool
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write the recording without what is private",
		Long: `Write the recording to FILE, which must not exist, or to stdout (also as -), in
the form that replay reads. It keeps:

  - ` + strings.Join(record.Kept, "\n  - ") + `

With --text, texts stay too, less known kinds of secrets and the paths of this
machine: read the file before you give it away.`,
		Example: `  ccreload record export session.jsonl
  ccreload record export --text full.jsonl`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] == "-" {
				return a.recordExport(a.stdout, text)
			}
			f, err := create(args[0])
			if err != nil {
				return err
			}
			err = errors.Join(a.recordExport(f, text), f.Close())
			if err != nil {
				os.Remove(args[0])
			}
			return err
		},
	}
	cmd.Flags().BoolVar(&text, "text", false, "keep texts, less secrets and paths")
	return cmd
}

// create makes a file that must not exist.
func create(path string) (*os.File, error) {
	if path == "" {
		return nil, problem.Input("name one, or - for standard output", "the name of the file is empty")
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return f, nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, problem.Input("name a file in it", "%q is a directory", path)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, problem.Input("name another file", "%q exists", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, problem.Input("make it, or name a file elsewhere", "there is no directory %q", filepath.Dir(path))
	}
	return nil, problem.Input("name a file elsewhere", "%w", err)
}

// recordExport writes the recording to out and says on stderr what is in it.
func (a *app) recordExport(out io.Writer, text bool) error {
	store, err := a.recordStore()
	if err != nil {
		return err
	}
	f, err := store.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return problem.Input("begin with `ccreload record on`", "there is no recording of this project")
	}
	if err != nil {
		return err
	}
	defer f.Close()
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	done, err := record.Export(f, out, record.Places{Home: home, Tmp: os.TempDir()}, text)
	if errors.Is(err, record.ErrEmpty) {
		return problem.AsInput(err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	fmt.Fprintf(a.stderr, "Exported: hook calls %d, transcript rows %d.\n", done.Calls, done.Rows)
	if text {
		fmt.Fprintf(a.stderr, "Taken out: secrets %d, and the paths of this machine. Texts are in it: read it before you give it away.\n", done.Secrets)
		return nil
	}
	fmt.Fprintf(a.stderr, "Taken out: texts %d, among them secrets %d. Kept:\n", done.Texts, done.Secrets)
	for _, what := range record.Kept {
		fmt.Fprintf(a.stderr, "- %s\n", what)
	}
	return nil
}
