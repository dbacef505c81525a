package later

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/state"
)

// In a session a model, too, can run our commands, and what they queue or trust
// runs unattended. So it counts only after the person's yes to that very call. The
// host asks because the PreToolUse hook has it ask, and tells of a yes by nothing
// but the PostToolUse hook of a call that has run. What the command would have
// noted in the ledger waits in a file until then. A model that runs the command in
// another way (by a script, in the background, after a no) leaves a file that no
// hook comes for.

// questionsName is the directory of the calls that were asked about and of what
// waits for an answer.
const questionsName = "questions"

// questionKeeps is how long a question may stay open.
const questionKeeps = 24 * time.Hour

// question returns the file of a question; words tell one from another.
func question(app, session string, words ...string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%q%q", session, words)
	return filepath.Join(app, questionsName, fmt.Sprintf("%016x", h.Sum64()))
}

// keepQuestion writes the file of a question, and removes those nobody will answer.
func keepQuestion(path string, data []byte, now time.Time) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > questionKeeps {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	return state.WriteFile(path, data, 0o600)
}

// takeQuestion returns what the file of a question holds, and removes it: an answer
// is for one call.
func takeQuestion(path string) ([]byte, bool) {
	data, err := state.ReadFile(path, 16<<20)
	if err != nil {
		return nil, false
	}
	return data, os.Remove(path) == nil
}

// Propose keeps entries for the ledger until it is known that the person has said
// yes to the command with these arguments.
func Propose(app, session string, args []string, now time.Time, entries ...Entry) error {
	for i := range entries {
		entries[i].Time = now
	}
	return keepQuestion(question(app, session, args...), lines(entries), now)
}

// preTool has the person asked before the model queues a text or trusts a
// repository.
func preTool(call *host.Call) (host.Output, error) {
	command := call.Payload.ToolCommand
	ask := asks(command, Root(call.Project))
	if app := AppDir(call.Host, call.Env.Getenv); ask != "" && app != "" {
		if err := keepQuestion(asked(app, call), []byte(command), call.Env.Now()); err != nil {
			call.Env.Log("question", "error", err.Error()) // it is asked, and a yes has no effect
		}
	}
	return host.Output{Ask: ask}, nil
}

// asked is the file that says that the person is asked about a call.
func asked(app string, call *host.Call) string {
	return question(app, call.Payload.SessionID, "call of the tool", call.Payload.ToolUse)
}

// asks returns what a person is asked about a command, "" if nothing.
func asks(command, root string) string {
	if words, ok := shell.Words(command); ok {
		switch {
		case len(words) < 3 || words[1] != "later":
			return ""
		case words[2] == "add":
			return textAsk
		case words[2] != "trust", slices.Contains(words, "--list"), slices.Contains(words, "--revoke"):
			return ""
		}
		return textTrust(root)
	}
	// More than one plain command.
	switch command = strings.Join(strings.Fields(command), " "); {
	case strings.Contains(command, "later trust"):
		return textTrust(root) + textNotAlone
	case strings.Contains(command, "later add"):
		return textAsk + textNotAlone
	}
	return ""
}

// postTool notes in the ledger what the person has said yes to.
func postTool(call *host.Call) (host.Output, error) {
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" || call.Host.Headless {
		return host.Output{}, nil
	}
	command, ok := takeQuestion(asked(app, call))
	// A mode in which the host asks nothing is no yes.
	if !ok || string(command) != call.Payload.ToolCommand || call.Payload.PermissionMode == "bypassPermissions" {
		return host.Output{}, nil
	}
	words, ok := shell.Words(string(command))
	if !ok {
		return host.Output{}, nil
	}
	noted, ok := takeQuestion(question(app, call.Payload.SessionID, words[1:]...))
	if !ok {
		return host.Output{}, nil
	}
	if err := appendLines(app, noted); err != nil {
		return host.Output{Message: textNotNoted(err)}, err
	}
	return host.Output{}, nil
}
