package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	// installedMarket is the catalogue of the plugins that an installed program
	// serves itself. The one in git and that of a release have other names: a client
	// refuses a second catalogue of one name.
	installedMarket = "ccreload-installed"

	longestCommand = 500 // characters; the client refuses longer ones
	setupTimeout   = 5 * time.Minute
)

func (a *app) setupCommand() *cobra.Command {
	var yes bool
	var profile string
	cmd := &cobra.Command{
		Use:   "setup [PLUGIN...]",
		Short: "Have Claude Code take the plugins from this program",
		Long: `Write a catalogue whose plugins come from this program, and print the commands
with which Claude Code installs them from it (cc-reload without PLUGIN). Whoever
then upgrades the program, with a package manager say, has the new hooks with the
next sessions, and nothing is downloaded by a launcher.

Claude Code runs "ccreload plugin-dir PLUGIN" when it installs the plugin and when a
session starts. It shows you this command first and asks whether it may; it asks
again only if the command changes. With --yes the commands are run for you, and
that one is agreed to.`,
		Example: `  ccreload setup
  ccreload setup cc-reload cc-later --yes`,
		ValidArgs: ccreload.Plugins(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"cc-reload"}
			}
			return a.setup(cmd.Context(), args, profile, yes)
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "run the commands, and agree to what Claude Code would ask")
	cmd.Flags().StringVar(&profile, "profile", "", "the ccreload.json of a fork")
	return cmd
}

func (a *app) setup(ctx context.Context, plugins []string, profile string, yes bool) error {
	if ctx == nil {
		ctx = context.Background()
	}
	self := a.lastingRuntime()
	if self == "" {
		return problem.Input("install ccreload with a package manager or `make install`, and run that one", "this ccreload came with a plugin and goes with its next update")
	}
	if profile != "" {
		var err error
		if profile, err = filepath.Abs(profile); err != nil {
			return err
		}
	}
	for _, name := range plugins {
		if _, err := a.pluginDir(name, profile); err != nil {
			return err
		}
	}
	for _, p := range a.installedPlugins() {
		_, market, _ := strings.Cut(p.ID, "@")
		for _, name := range plugins {
			if p.Name == name && market != "" && market != installedMarket {
				return problem.Input("claude plugin uninstall "+p.ID+", then run this again", "%s is installed from elsewhere: with both, each hook would run twice", p.ID)
			}
		}
	}
	catalogue, err := a.writeCatalogue(self, profile)
	if err != nil {
		return err
	}
	steps := [][]string{{"plugin", "marketplace", "add", catalogue}}
	for _, name := range plugins {
		steps = append(steps, []string{"plugin", "install", name + "@" + installedMarket})
	}
	if !yes {
		fmt.Fprint(a.stdout, "Run these. Claude Code then asks whether it may run\n\n")
		for _, name := range plugins {
			fmt.Fprintf(a.stdout, "  %s\n", term.Line(a.serving(self, name, profile)))
		}
		fmt.Fprint(a.stdout, "\nwhen a session starts, which says where the plugin is; it has no other use.\n\n")
		for _, step := range steps {
			words := make([]string, len(step))
			for i, word := range step {
				words[i] = shell.Quote(word)
			}
			fmt.Fprintf(a.stdout, "  claude %s\n", term.Line(strings.Join(words, " ")))
		}
		_, err := fmt.Fprint(a.stdout, "\nOr `ccreload setup --yes` runs them, and agrees for you. Older clients than 2.1.332 may\nnot know plugins from a command; `claude update` helps.\n")
		return err
	}
	client, err := agent.Find(a.host, exec.LookPath)
	if err != nil {
		return err
	}
	help, err := a.runClient(ctx, client, "plugin", "install", "--help")
	if err != nil {
		return err
	}
	if !strings.Contains(help, "--accept-command") {
		return problem.Input("claude update; or take them from git: claude plugin marketplace add ccreload/ccreload, then claude plugin install cc-reload@ccreload",
			"this Claude Code does not know plugins that come from a command")
	}
	for i, step := range steps {
		if i > 0 {
			step = append(step, "--yes")
		}
		said, err := a.runClient(ctx, client, step...)
		fmt.Fprintln(a.stdout, strings.TrimSpace(said))
		if err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(a.stdout, "Restart Claude Code, or type /reload-plugins in a session: until then no hook runs.")
	return err
}

// runClient runs a command of the client and returns what it prints.
func (a *app) runClient(ctx context.Context, client string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, setupTimeout)
	defer cancel()
	cmd := exec.Command(client, args...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := proc.Run(ctx, cmd, askGrace); err != nil {
		return out.String(), problem.Fault("run it yourself to see more", "claude %s: %w", strings.Join(args, " "), errors.Join(err))
	}
	return out.String(), nil
}

// serving is the command that says where a plugin is.
func (a *app) serving(self, plugin, profile string) string {
	quote := shell.Quote
	if runtime.GOOS == "windows" {
		quote = func(s string) string { return `"` + s + `"` } // for cmd.exe
	}
	line := quote(self) + " plugin-dir " + plugin
	if profile != "" {
		line += " --profile " + quote(profile)
	}
	return line
}

// writeCatalogue writes the catalogue of what this program serves and returns its
// directory.
func (a *app) writeCatalogue(self, profile string) (string, error) {
	type source struct {
		Source  string `json:"source"`
		Command string `json:"command"`
	}
	type entry struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Source      source `json:"source"`
	}
	type owner struct {
		Name string `json:"name"`
	}
	catalogue := struct {
		Name        string  `json:"name"`
		Description string  `json:"description"`
		Owner       owner   `json:"owner"`
		Plugins     []entry `json:"plugins"`
	}{Name: installedMarket, Description: "The plugins of the ccreload that is installed on this machine.", Owner: owner{"ccreload"}}
	for _, name := range ccreload.Plugins() {
		line := a.serving(self, name, profile)
		if len(line) > longestCommand || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			return "", problem.Input("install ccreload where the path is short and has plain letters only", "Claude Code takes no command like %s", line)
		}
		var manifest struct {
			Description string `json:"description"`
		}
		data, err := ccreload.Files.ReadFile("marketplace/plugins/" + name + "/.claude-plugin/plugin.json")
		if err == nil {
			err = json.Unmarshal(data, &manifest)
		}
		if err != nil {
			return "", err
		}
		catalogue.Plugins = append(catalogue.Plugins, entry{name, manifest.Description, source{"command", line}})
	}
	data, err := json.MarshalIndent(catalogue, "", "  ")
	if err != nil {
		return "", err
	}
	base, err := a.dataDir()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(base, "marketplace")
	path := filepath.Join(dir, ".claude-plugin", "marketplace.json")
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), state.WriteFile(path, append(data, '\n'), 0o644)); err != nil {
		return "", problem.Fault("make it writable for you", "%q cannot be written: %w", path, err)
	}
	return dir, nil
}
