// Package cli is the command line of ccreload. It knows every other package
// and wires them together; what a command does lives in theirs.
//
// A hook never reaches the command tree: it is dispatched before a flag is
// looked at, because the host starts one at every turn.
package cli

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/oneproc"
	"github.com/ccreload/ccreload/internal/registry"
)

// Main runs ccreload with args (without the program's name) and returns the
// exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{
		args:     args,
		stdin:    stdin,
		stdout:   stdout,
		stderr:   stderr,
		defaults: ccreload.Defaults,
		env:      registry.Env(),
	}
	a.env.Dial = dial
	if len(args) > 0 && args[0] == "hook" {
		return a.hook(args[1:])
	}
	// Clients that drop a hook's arguments leave only the payload.
	if len(args) == 0 && carriesPayload(stdin) {
		return a.hook(nil)
	}
	oneproc.Done()
	a.host = host.FromEnv(a.env.Getenv)
	return cmdline.Run(a.rootCommand(), valueLast(args), stdin, stdout, stderr)
}

// app is what every command works with.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            host.Env
	host           host.Host
	args           []string // that the program was called with
	// defaults returns the profile compiled in for a plugin.
	defaults func(plugin string) (host.Profile, bool)
}

// hookTimeout is set by tests, whose machine may be busy with something else.
var hookTimeout time.Duration

func (a *app) hook(args []string) int {
	run := registry.Hook(args, a.stdin, a.stdout, a.env)
	run.Timeout = hookTimeout
	run.Do()
	return cmdline.ExitOK
}

// dial opens a connection to this machine.
func dial(ctx context.Context, address string) (io.ReadWriteCloser, error) {
	// DialContext would link a resolver, for addresses that need none.
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	return new(net.Dialer).DialTCP(ctx, "tcp", netip.AddrPort{}, to)
}

// carriesPayload reports whether somebody hands us something on stdin. A
// terminal and the null device do not.
func carriesPayload(stdin io.Reader) bool {
	f, ok := stdin.(*os.File)
	if !ok {
		return stdin != nil
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice == 0
}

// printJSON prints v for programs, and for people who look over their shoulder.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.stdout)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// Command returns the command tree, for the man page and the completions.
func Command() *cobra.Command { return (&app{}).rootCommand() }

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "ccreload",
		Short: "Keep the thread of a Claude Code session across a context reset",
		Long: `ccreload keeps the thread of a Claude Code session across /clear, compaction
and restarts. Claude Code calls it for every hook of the plugins; the commands
below are for you, and for the plugins' own slash commands. They work on the
project of the current directory.

The digest is the page about the work that one session leaves for the next, in
.reload/session.md. It is armed when the next session is to be given it.

CCRELOAD_OFF=1 silences every hook, CCRELOAD_DEBUG=1 has them log what they
decide. The exit code is 0, 1 after a fault or a check that did not pass, and 2
when the command line or an input needs correcting.`,
		Example: `  ccreload doctor                            is everything in order?
  ccreload reload status                     what waits for the next session?
  ccreload config set context_budget_pct 30  be told earlier, in this project
  ccreload statusline install                show how full the context is
  ccreload uninstall --dry-run               what would be removed?`,
		Version:           version(),
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.NoArgs,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.AddCommand(
		a.reloadCommand(),
		a.handoffCommand(),
		a.laterCommand(),
		a.configCommand(),
		a.statuslineCommand(),
		a.doctorCommand(),
		a.setupCommand(),
		a.pluginDirCommand(),
		a.uninstallCommand(),
		a.recordCommand(),
		a.replayCommand(),
		a.versionCommand(),
	)
	return root
}
