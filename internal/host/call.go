package host

import (
	"context"
	"io"
	"time"
)

// Payload is what a hook is told, in neutral form. A field the host did not
// send is its zero value; fields this type does not name are ignored, since
// hosts add new ones all the time.
type Payload struct {
	Event          Event
	SessionID      string
	TranscriptPath string
	Cwd            string
	AgentID        string // set inside a subagent
	PermissionMode string

	Source string // SessionStart: startup, resume, clear, compact, fork
	Model  string // SessionStart: the model's id, absent after /clear and on resume

	Prompt string // UserPromptSubmit

	StopHookActive  bool   // Stop: a hook has continued this turn already
	LastMessage     string // Stop, StopFailure: the last answer, or the API error
	BackgroundTasks int    // Stop: how many are still running
	Failure         string // StopFailure: the kind, e.g. rate_limit

	Tool        string // PreToolUse, PostToolUse: the tool's name
	ToolPath    string // PreToolUse, PostToolUse: tool_input.file_path
	ToolCommand string // PreToolUse, PostToolUse: tool_input.command
	ToolUse     string // PreToolUse, PostToolUse: the id of this call

	Trigger string // PreCompact, PostCompact: manual or auto
	Summary string // PostCompact: the host's own summary
	Reason  string // SessionEnd: clear, prompt_input_exit, other…

	marks mark // what tells the host
}

// Output is what a handler has to say. The zero value is silence, and silence
// is zero bytes on stdout.
type Output struct {
	Context  string // for the model; SessionStart, UserPromptSubmit, PreToolUse, PostToolUse
	Message  string // for the person in front of the screen
	Continue string // Stop only: the model goes on, with this instruction
	// Ask has the host ask the person before the tool runs, for this reason and
	// in every permission mode. PreToolUse only.
	Ask string
	// Client is the version of the host as far as it is known ("2.1.332"), for
	// the outputs that differ from version to version. Empty means unknown.
	Client string
}

// Silent reports whether o says nothing.
func (o Output) Silent() bool {
	return o.Context == "" && o.Message == "" && o.Continue == "" && o.Ask == ""
}

// Env is the world outside a handler. Tests put in their own clock,
// environment and process table, so that no decision has to be slept for.
type Env struct {
	Now    func() time.Time
	Sleep  func(time.Duration)
	Getenv func(string) string           // "" when unset
	Alive  func(pid int) bool            // is there a live process of this id?
	Log    func(msg string, args ...any) // debug log: key, value pairs; never nil
	// Dial opens a connection to an IP address and port of this machine. Nil where
	// nobody is to be asked.
	Dial func(ctx context.Context, address string) (io.ReadWriteCloser, error)
}

// Call is one run of a hook: who was called, with what, in which world.
type Call struct {
	Host    Host    // who called
	Plugin  string  // e.g. "cc-reload"
	Payload Payload // with what
	Project string  // the project directory: state lives below it
	Profile Profile // what the manifest says of the plugin
	Env     Env
	// OnSlow, if any, is what Slow calls.
	OnSlow func()
	// Decided, if any, is told what the handler made of which facts. It is nil
	// unless somebody reads that (CCRELOAD_DEBUG), so that facts cost nothing.
	Decided func(decision string, facts any)

	answered []func()
}

// Slow says that what follows may block: a lock, a write, another program. The
// events of every turn are not timed before that, because a timer alone costs
// a tenth of what an empty program does. It may be called more than once.
func (c *Call) Slow() {
	if c.OnSlow != nil {
		c.OnSlow()
	}
}

// AfterAnswer has fn run once the answer of this run is written. A run that
// is killed or late before that never calls it, so fn may record that the
// host has been told.
func (c *Call) AfterAnswer(fn func()) { c.answered = append(c.answered, fn) }

// Answered runs what AfterAnswer was given, in that order. It is for the
// runner, and for tests that stand in for it.
func (c *Call) Answered() {
	for _, fn := range c.answered {
		fn()
	}
	c.answered = nil
}

// Handler answers one event of one plugin. An error goes to the debug log and
// the host hears nothing.
type Handler func(*Call) (Output, error)
