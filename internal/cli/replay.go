package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/term"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/record"
)

// How wide a timeline is, in columns: without a terminal to ask, and at most,
// since longer lines are hard to read.
const (
	paperWidth = 100
	maxWidth   = 120
)

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay FILE...",
		Short: "Run recorded sessions through the hooks and show what they say",
		Long: `Run every hook call of a recording through the real binary, in a throw-away
home and project, and print what the person would have seen and what the model
would have been given. FILE may be - for stdin.

Which hooks start for a call is decided as the host does it, by the hooks.json
of the plugin's tree. With --root, that may be any plugin: its own programs are
started, in shell form by a shell, and their exit codes and answers taken as the
host takes them. A client that was recorded is stood in for by a live process
from its first call to its last. Times in the transcript are moved to the
present.`,
		Example: `  ccreload replay testdata/recordings/notify-ladder.jsonl
  ccreload replay --set context_budget_mode=snapshot --full snapshot-cycle.jsonl
  ccreload replay --root my-plugin session.jsonl
  ccreload replay --check tests/*.txtar
  ccreload replay --json session.jsonl | jq '.calls[] | select(.message)'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, files []string) error {
			if f.update && !f.check {
				return problem.Input("add --check", "--update is for cases")
			}
			if f.check {
				return a.checkCases(files, f)
			}
			faults := 0
			for i, file := range files {
				if i > 0 && !f.json {
					fmt.Fprintln(a.stdout)
				}
				n, err := a.replay(file, f)
				if err != nil {
					return err
				}
				faults += n
			}
			if faults > 0 {
				return cmdline.ErrFailed
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.plugin, "plugin", "", "plugin whose hooks run (default: that of --root, else "+registry.Plugins()[0].Name+")")
	flags.StringVar(&f.root, "root", "", "directory of the plugin's tree, any plugin's (default: found)")
	flags.StringArrayVar(&f.set, "set", nil, "set an option of the plugin, as `KEY=VALUE`; may be repeated")
	flags.BoolVar(&f.json, "json", false, "print one JSON object a recording")
	flags.BoolVar(&f.full, "full", false, "print texts whole")
	flags.BoolVar(&f.check, "check", false, "FILE is a case: run its hook and compare (see ccreload-gen scaffold-tests)")
	flags.BoolVar(&f.update, "update", false, "with --check, write what the hooks say now into the cases")
	return cmd
}

type replayFlags struct {
	plugin, root string
	set          []string
	json, full   bool
	// check and update are for cases instead of recordings.
	check, update bool
}

// replay replays one recording and returns how many calls went wrong.
func (a *app) replay(file string, f replayFlags) (faults int, err error) {
	calls, err := a.readRecording(file)
	if err != nil {
		return 0, err
	}
	binary, err := a.ownBinary()
	if err != nil {
		return 0, err
	}
	root, profile, err := a.pluginTree(f, binary)
	if err != nil {
		return 0, err
	}
	f.plugin = profile.Plugin
	set, err := splitOptions(root, profile, f.set)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "ccreload-replay-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	r := record.Replayer{Binary: binary, Root: root, Dir: dir, Env: set.env, Config: set.config, Options: set.given, Matcher: matcher}
	report := record.Report{Recording: strings.TrimSuffix(filepath.Base(file), ".jsonl"), Plugin: f.plugin}
	t := record.Timeline{Out: a.stdout, Paint: term.Palette(a.colored()), Width: paperWidth, Full: f.full, Handover: record.Ours(root)}
	if w := term.Columns(a.stdout); w > 0 {
		t.Width = min(w, maxWidth)
	}
	if !f.json {
		t.Begin(report.Recording, strings.TrimSpace(f.plugin+" "+profile.Version), calls)
	}
	report.Next, err = r.Run(calls, func(s record.Step) error {
		if s.Fault != "" {
			faults++
		}
		report.Calls = append(report.Calls, s)
		if !f.json {
			t.Step(s)
		}
		return nil
	})
	switch {
	case err != nil:
		return faults, err
	case f.json:
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		return faults, enc.Encode(report)
	}
	t.End(report.Next)
	return faults, nil
}

// checkCases runs cases and says of each that fails what is not as it says.
func (a *app) checkCases(files []string, f replayFlags) error {
	binary, err := a.ownBinary()
	if err != nil {
		return err
	}
	failed, updated := 0, 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return problem.AsInput(err)
		}
		faults, now, err := a.checkCase(file, data, binary, f)
		if err != nil {
			return err
		}
		if len(faults) > 0 {
			failed++
		}
		for _, fault := range faults {
			fmt.Fprintln(a.stdout, term.Visible(fault.Error()))
		}
		if f.update && !bytes.Equal(now, data) {
			if err := os.WriteFile(file, now, 0o644); err != nil {
				return err
			}
			updated++
		}
	}
	if failed > 0 {
		fmt.Fprintf(a.stdout, "%d of %s failed\n", failed, term.Count(len(files), "case"))
		return cmdline.ErrFailed
	}
	done := "passed"
	if f.update {
		done = fmt.Sprintf("passed, %d updated", updated)
	}
	fmt.Fprintf(a.stdout, "%s %s\n", term.Count(len(files), "case"), done)
	return nil
}

// checkCase runs one case, and returns it as it is afterwards.
func (a *app) checkCase(file string, data []byte, binary string, f replayFlags) (faults []error, now []byte, err error) {
	c, err := record.ReadCase(file, data)
	if err != nil {
		return nil, nil, problem.AsInput(err)
	}
	if f.root == "" {
		f.root = c.Root
	}
	root, profile, err := a.pluginTree(f, binary)
	if err != nil {
		return nil, nil, err
	}
	set, err := splitOptions(root, profile, append(c.Set, f.set...))
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "ccreload-case-")
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r := record.Replayer{Binary: binary, Root: root, Dir: dir, Env: set.env, Config: set.config, Options: set.given, Matcher: matcher}
	if faults, err = c.Run(r, f.update); err != nil {
		return faults, nil, problem.AsInput(err)
	}
	return faults, c.Format(), nil
}

// readRecording reads the recording at path, or on stdin for "-".
func (a *app) readRecording(path string) ([]record.Call, error) {
	var in io.Reader = a.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, problem.AsInput(err)
		}
		defer f.Close()
		in = f
	}
	calls, err := record.Read(in)
	if err != nil {
		return nil, problem.Input("name a file that `ccreload record export` has written", "%q is not a recording: %w", path, err)
	}
	return calls, nil
}

// ownBinary returns the binary that hooks run: the one CCRELOAD_BIN names, as
// for the launcher, else this one.
func (a *app) ownBinary() (string, error) {
	if bin := a.env.Getenv("CCRELOAD_BIN"); bin != "" {
		return bin, nil
	}
	return os.Executable()
}

// pluginTree finds the tree of the plugin: where the user says, where the host
// runs it from, around this binary, or in the working directory.
func (a *app) pluginTree(f replayFlags, binary string) (string, host.Profile, error) {
	plugin := f.plugin
	if plugin == "" && f.root == "" {
		plugin = registry.Plugins()[0].Name
	}
	var dirs []string
	if f.root != "" {
		dirs = append(dirs, f.root)
	} else {
		if root := a.host.Root; root != "" {
			dirs = append(dirs, root)
		}
		dirs = append(dirs, filepath.Dir(filepath.Dir(binary)))
		if cwd, err := os.Getwd(); err == nil {
			dirs = append(dirs, cwd)
		}
	}
	root, profile, err := record.FindRoot(plugin, dirs...)
	if err != nil {
		return "", host.Profile{}, problem.Input("name one with --root", "%w", err)
	}
	// Hooks run in the throw-away project.
	root, err = filepath.Abs(root)
	return root, profile, err
}

// settings are options by what carries them at run time.
type settings struct {
	env    map[string]string // variables the host sets
	config map[string]string // lines of the project's config file
	given  map[string]string // by their keys, for a plugin without our runtime
}

// splitOptions turns KEY=VALUE pairs into what carries them at run time: the
// variable the host sets, or, for an option that is only the project's, a line
// of the project's config file. Of a plugin without our runtime, only the host
// knows what values an option takes.
func splitOptions(root string, profile host.Profile, pairs []string) (settings, error) {
	s := settings{env: map[string]string{}, config: map[string]string{}, given: map[string]string{}}
	ours := record.Ours(root)
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return settings{}, problem.Input("write it as --set KEY=VALUE", "--set %q is not an option and its value", pair)
		}
		option, ok := profile.Option(key)
		if !ok {
			hint := "`ccreload config get` lists the options"
			if !ours {
				hint = "its options are the userConfig in its plugin.json"
			}
			return settings{}, problem.Input(hint, "%s has no option %q", profile.Plugin, key)
		}
		if !ours {
			s.env[host.OptionVar(key)], s.given[key] = value, value
			continue
		}
		value, err := option.Check(value)
		if err != nil {
			return settings{}, problem.AsInput(err)
		}
		if option.HasScope(host.ScopeUser) {
			s.env[host.OptionVar(key)] = value
		} else {
			s.config[key] = value
		}
	}
	return s, nil
}

// matcher is what a plugin's hooks.json has for a regular expression.
func matcher(expression, s string) bool {
	re, err := regexp.Compile(expression)
	return err == nil && re.MatchString(s)
}
