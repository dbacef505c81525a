package agent

// Spec is one run to start.
type Spec struct {
	// ID names the run (NewID). Note it with the tasks before Start: whatever is
	// killed, Load tells then what became of it.
	ID      string
	Client  Client
	Session string // a UUID; of a new session, NewID
	Resume  bool   // the session exists and goes on
	Model   string // an alias or an id
	// Writes lets the agent change files below Dir, which is a worktree of its own
	// then; without it, it can only read.
	Writes bool
	// BudgetUSD is the most the session may cost, "" for no limit. The client looks
	// after each reply, so the last one exceeds it.
	BudgetUSD string
	// SkipPermissions has the client ask and refuse nothing. As root it does not
	// start then.
	SkipPermissions bool
	Dir             string   // where it works
	Prompt          string   // what it is told, on stdin
	Environ         []string // host.AgentEnviron
	Out, Err        string   // files for what it says, outside the repository
}

// Args returns the command line, without the program. Settings and servers of the
// repository are left out (docs/host.md, Headless runs). No tool is allowed as a
// whole: such a rule would let an agent write outside its worktree.
func Args(s Spec) []string {
	args := []string{"-p", "--output-format", "stream-json", "--verbose"}
	if s.Resume { // with --session-id as well the client wants a fork
		args = append(args, "--resume", s.Session)
	} else {
		args = append(args, "--session-id", s.Session)
	}
	args = append(args, "--model", s.Model, "--setting-sources", "user", "--strict-mcp-config")
	if s.Client.Prompts {
		args = append(args, promptsFlag, "none")
	}
	if s.BudgetUSD != "" {
		args = append(args, "--max-budget-usd", s.BudgetUSD)
	}
	if !s.Writes {
		return append(args, "--permission-mode", "dontAsk", "--tools", "Read,Grep,Glob")
	}
	if s.SkipPermissions {
		args = append(args, "--dangerously-skip-permissions")
	} else {
		args = append(args, "--permission-mode", "acceptEdits")
	}
	return append(args, "--tools", "Read,Grep,Glob,Edit,Write,Bash")
}

// isRunOf reports whether a command line is that of a run in the session.
func isRunOf(args []string, session string) bool {
	print, named := false, false
	for i, a := range args {
		print = print || a == "-p"
		named = named || i > 0 && a == session && (args[i-1] == "--session-id" || args[i-1] == "--resume")
	}
	return print && named
}
