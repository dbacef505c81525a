// Package cmdline is what the command lines of both programs have in common:
// how they run, how they print an error, and with which code they end. It must
// never know what a command does.
package cmdline

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/term"
)

// Exit codes. A hook always ends with ExitOK.
const (
	ExitOK    = 0
	ExitFault = 1 // an internal fault, or a check that did not pass
	ExitUsage = 2 // a command line or an input that needs correcting
)

// ErrFailed ends a command with ExitFault when it has said already what did
// not pass.
var ErrFailed = errors.New("failed")

// Placed is an error whose lines begin with a place in a file, as editors want
// them: it is printed as it is, and the file needs correcting.
type Placed interface {
	error
	Placed()
}

// Run executes the command tree root with args and returns the exit code. What
// went wrong stands on stderr then.
func Run(root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		if fault := recover(); fault != nil {
			printError(stderr, root.Name(), problem.Fault("report it, with the command and its input", "internal fault: %v", fault))
			code = ExitFault
		}
	}()
	started := false
	root.PersistentPreRun = func(*cobra.Command, []string) { started = true }
	// Errors are worded and printed here.
	root.SilenceErrors, root.SilenceUsage, root.DisableSuggestions = true, true, true
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		says, _, _ := strings.Cut(err.Error(), ": strconv.")
		if text, ok := dashed(args); ok && cmd.Args != nil && cmd.Args(cmd, []string{text}) == nil {
			return problem.Input(fmt.Sprintf("`--` goes before a text that begins with a dash: %s -- %s", cmd.CommandPath(), shell.Quote(text)), "%q is not a flag", text)
		}
		return errors.New(says)
	})
	countArgs(root)
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	switch placed, ok := errors.AsType[Placed](err); {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrFailed):
		return ExitFault
	case ok:
		fmt.Fprintln(stderr, placed)
		return ExitUsage
	case !started && problem.Hint(err) == "": // only the command line can be wrong
		err = problem.Input(hint(root, args), "%w", err)
	}
	printError(stderr, root.Name(), err)
	if problem.IsInput(err) {
		return ExitUsage
	}
	return ExitFault
}

// dashed returns the first of args that begins with a dash and cannot be meant as a
// flag: it is a text.
func dashed(args []string) (text string, ok bool) {
	for _, arg := range args {
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case arg == "--":
			return "", false
		case len(name) > 1 && name[0] == '-' && strings.ContainsAny(name, " \t\n[](){}*"):
			return arg, true
		}
	}
	return "", false
}

// countArgs words what the commands say to arguments that are too many or too few.
func countArgs(cmd *cobra.Command) {
	for _, sub := range cmd.Commands() {
		countArgs(sub)
	}
	check := cmd.Args
	if check == nil || cmd.HasSubCommands() { // an argument is a misspelt command there
		return
	}
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch err := check(cmd, args); {
		case err == nil:
			return nil
		case len(args) == 0:
			return fmt.Errorf("there is no argument: %s", cmd.UseLine())
		case check(cmd, nil) == nil && check(cmd, args[:1]) != nil:
			return fmt.Errorf("%s takes no argument, and was given %q", cmd.CommandPath(), args[0])
		default:
			return fmt.Errorf("%d arguments do not fit: %s", len(args), cmd.UseLine())
		}
	}
}

// printError says what failed, and on a line of its own what to do. Of several
// errors each has its lines.
func printError(w io.Writer, program string, err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range several.Unwrap() {
			printError(w, program, e)
		}
		return
	}
	fmt.Fprintf(w, "%s: %s\n", program, term.Line(err.Error()))
	if h := problem.Hint(err); h != "" {
		fmt.Fprintf(w, "hint: %s\n", term.Line(h))
	}
}

// hint says what a command line that made no sense may have been meant to be,
// or where its words are explained.
func hint(root *cobra.Command, args []string) string {
	cmd, rest, err := root.Find(args)
	if err != nil {
		cmd = root
	}
	if len(rest) > 0 && rest[0] != "" {
		cmd.SuggestionsMinimumDistance = 2 // letters
		if near := cmd.SuggestionsFor(rest[0]); len(near) > 0 {
			// People seldom mistype the first letter.
			same := func(name string) bool { return name[0] == rest[0][0] }
			best := near[max(slices.IndexFunc(near, same), 0)]
			return "did you mean " + cmd.CommandPath() + " " + best + "?"
		}
	}
	return "see " + cmd.CommandPath() + " --help"
}
