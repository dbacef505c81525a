package hook

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	// LogName is the debug log's name in a plugin's data directory.
	LogName = "debug.jsonl"
	// DebugVar, switched on, logs what hooks decide and not only faults.
	DebugVar = "CCRELOAD_DEBUG"

	maxSaid = 300 // characters of a text that are logged

	maxLog = 1 << 20 // bytes; the log before that is kept as debug.jsonl.1
)

// log writes JSON lines to the debug log. It never fails: a log that cannot
// be written must not cost a hook.
type log struct {
	mu      sync.Mutex
	path    string // "" when the host named no data directory
	debug   bool
	now     func() time.Time
	plugin  string
	event   string
	session string
}

func newLog(env host.Env) *log {
	l := &log{debug: On(env.Getenv(DebugVar)), now: env.Now}
	if data := env.Getenv(host.DataVar); data != "" {
		l.path = filepath.Join(data, LogName)
	}
	return l
}

// about says what the lines that follow are about.
func (l *log) about(plugin string, p host.Payload) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.plugin, l.event, l.session = plugin, string(p.Event), p.SessionID
}

// note logs what was decided, when the user asked for it.
func (l *log) note(msg string, args ...any) {
	if l.debug {
		l.write("debug", msg, args)
	}
}

// decided logs what a handler made of a call, in one line: the decision and its
// facts where the handler names them, what it was called with, and what it said.
func (l *log) decided(call *host.Call, out host.Output, decision string, facts any) {
	said := map[string]string{}
	p := call.Payload
	for key, value := range map[string]string{
		"context": out.Context, "message": out.Message, "continue": out.Continue, "ask": out.Ask,
		"source": p.Source, "trigger": p.Trigger, "reason": p.Reason, "tool": p.Tool,
	} {
		if value != "" {
			said[key] = host.Cut(value, maxSaid)
		}
	}
	if decision == "" {
		decision = "answer"
		if out.Silent() {
			decision = "silence"
		}
	}
	args := []any{"decision", decision, "call", said}
	if facts != nil {
		args = append(args, "facts", facts)
	}
	l.note("decided", args...)
}

// fault logs what went wrong.
func (l *log) fault(err error, args ...any) { l.write("error", err.Error(), args) }

func (l *log) write(level, msg string, args []any) {
	if l.path == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	row := map[string]any{"time": l.now().UTC().Format(time.RFC3339Nano), "level": level, "msg": msg}
	for key, value := range map[string]string{"plugin": l.plugin, "event": l.event, "session": l.session} {
		if value != "" {
			row[key] = value
		}
	}
	for i := 0; i+1 < len(args); i += 2 {
		if key, ok := args[i].(string); ok {
			row[key] = args[i+1]
		}
	}
	// Errors of programs that are run quote whatever was given to them.
	for key, value := range row {
		if s, ok := value.(string); ok {
			row[key] = redact.Text(s)
		}
	}
	if line, err := json.Marshal(row); err == nil {
		state.Append(l.path, line, maxLog)
	}
}

// stack is where a panic came from. Package runtime/debug, which has this too,
// is initialized later than a hook begins (package early).
func stack() string {
	b := make([]byte, 16<<10)
	return string(b[:runtime.Stack(b, false)])
}
