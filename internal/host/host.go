package host

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Variables by which Claude Code tells a hook, a status line or a command what
// they run in (docs/host.md, Plugins). No other package spells one.
const (
	RootVar    = "CLAUDE_PLUGIN_ROOT"
	DataVar    = "CLAUDE_PLUGIN_DATA"
	ProjectVar = "CLAUDE_PROJECT_DIR"
	ConfigVar  = "CLAUDE_CONFIG_DIR"
	SessionVar = "CLAUDE_CODE_SESSION_ID"
	PIDVar     = "CLAUDE_PID"

	attendedVar    = "CLAUDE_CODE_SESSION_ATTENDED"
	entrypointVar  = "CLAUDE_CODE_ENTRYPOINT"
	autoCompactVar = "CLAUDE_CODE_AUTO_COMPACT_WINDOW"
	no1MVar        = "CLAUDE_CODE_DISABLE_1M_CONTEXT"
	executableVar  = "CLAUDE_CODE_EXECPATH"
	shellVar       = "CLAUDE_CODE_GIT_BASH_PATH"
	policyVar      = "CLAUDE_CODE_POWERSHELL_RESPECT_EXECUTION_POLICY"
	effortVar      = "CLAUDE_EFFORT"
	apiVar         = "ANTHROPIC_BASE_URL"
	optionPrefix   = "CLAUDE_PLUGIN_OPTION_"
)

// Host is who runs us: what the environment says, read once. What it does not
// say is the zero value.
type Host struct {
	// Name is what people call the client, "" for one that is not known, and
	// Dialect how it is spoken to, nil for one that we cannot answer (Caller).
	Name    string
	Dialect Dialect

	Root    string // the plugin's root
	Data    string // the plugin's data directory; it survives updates
	Project string // the project directory: state lives below it
	Home    string // the user's, an absolute path
	Config  string // where the host keeps the user's settings and plugins
	Session string // the session a command is run in
	PID     int    // the client's process
	// Headless says that nobody sits in front of the session. A host that says
	// neither way is taken to be interactive.
	Headless bool

	ProxyURL          string // the API's address, when it is not the usual one
	AutoCompactWindow int    // tokens at which the host compacts, whatever the model could take
	No1M              bool   // the user does without the large window
	Executable        string // the client's program

	// Option returns what the user has set for an option of the plugin, "" for
	// nothing. The host tells only hooks.
	Option UserOption
}

// UserOption returns the user's value for the option called key, "" for none.
type UserOption func(key string) string

// Get is u(key); a nil UserOption knows none.
func (u UserOption) Get(key string) string {
	if u == nil {
		return ""
	}
	return u(key)
}

// FromEnv reads the environment of a hook or a command.
func FromEnv(getenv func(string) string) Host {
	h := Host{
		Name:       "Claude Code",
		Dialect:    Claude{},
		Root:       getenv(RootVar),
		Data:       getenv(DataVar),
		Project:    getenv(ProjectVar),
		Home:       home(getenv),
		Config:     getenv(ConfigVar),
		Session:    getenv(SessionVar),
		Headless:   getenv(attendedVar) == "0" || strings.HasPrefix(getenv(entrypointVar), "sdk-"),
		ProxyURL:   getenv(apiVar),
		No1M:       truthy(getenv(no1MVar)),
		Executable: getenv(executableVar),
		Option:     func(key string) string { return getenv(OptionVar(key)) },
	}
	h.PID = max(0, number(getenv(PIDVar)))
	h.AutoCompactWindow = max(0, number(getenv(autoCompactVar)))
	if h.Config == "" && h.Home != "" {
		h.Config = filepath.Join(h.Home, ".claude")
	}
	return h
}

// ConfigPath returns a path below Config, "" for a user without one: a relative
// path would be one in whatever directory we happen to be in.
func (h Host) ConfigPath(elem ...string) string {
	if h.Config == "" {
		return ""
	}
	return filepath.Join(append([]string{h.Config}, elem...)...)
}

// Vars are the variables that tell a plugin's program its root and its data
// directory, as the host sets them.
func (h Host) Vars() []string { return []string{RootVar + "=" + h.Root, DataVar + "=" + h.Data} }

// OptionVar is the variable the host sets for an option of user scope.
func OptionVar(key string) string { return optionPrefix + strings.ToUpper(key) }

// IsVar reports whether the variable is one of the host's.
func IsVar(name string) bool { return strings.HasPrefix(name, "CLAUDE_") }

// SessionVars are the variables that say what a hook call was made in, less the
// plugin's own.
func SessionVars() []string {
	return []string{SessionVar, PIDVar, attendedVar, entrypointVar, ProjectVar, effortVar, autoCompactVar}
}

// Interactive is the environment of a hook in a session at a terminal.
func Interactive(session, pid, project string) map[string]string {
	return map[string]string{SessionVar: session, PIDVar: pid, ProjectVar: project, entrypointVar: "cli", attendedVar: "1"}
}

// home returns the user's home as the system names it, "" when there is none:
// a relative one would lead into whatever directory we happen to be in.
func home(getenv func(string) string) string {
	name := "HOME"
	if runtime.GOOS == "windows" {
		name = "USERPROFILE"
	}
	if dir := getenv(name); filepath.IsAbs(dir) {
		return dir
	}
	return ""
}

// number reads a whole number; anything else is 0, since an invalid value must
// behave exactly like none.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return 0
	}
	return n
}

// truthy reads a switch as the host does.
func truthy(s string) bool {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// messaging begins the names of the variables that let a process speak with the
// session it was started in.
const messaging = "CLAUDE_CODE_MESSAGING_"

// Outside returns an environment for what goes on without the session: it can no
// longer speak with it.
func Outside(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, messaging) })
}
