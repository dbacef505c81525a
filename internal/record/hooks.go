package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

// hooks are what a plugin asks the host to start: its hooks/hooks.json, and what
// its plugin.json names or has itself.
type hooks struct {
	Events map[host.Event][]group `json:"hooks"`
}

type group struct {
	Matcher  string    `json:"matcher"`
	Handlers []handler `json:"hooks"`
}

// handler is one program the host starts, or something else it asks: a model, a
// server.
type handler struct {
	Type    string   `json:"type"`
	Command string   `json:"command"`
	Args    []string `json:"args"` // nil in shell form
	If      string   `json:"if"`
	Timeout float64  `json:"timeout"` // seconds; 0 means the host's default
}

// ourCommand is what the host starts where our runtime answers.
const ourCommand = "${" + host.RootVar + "}/bin/ccreload"

// ours reports whether our runtime is started.
func (h handler) ours() bool { return h.Command == ourCommand && len(h.Args) > 0 }

// program reports whether the host starts a program at all.
func (h handler) program() bool { return h.Type == "command" || h.Type == "" }

// line is what a person knows the handler by.
func (h handler) line() string {
	if !h.program() {
		return "a hook of the type " + h.Type
	}
	return strings.Join(append([]string{h.Command}, h.Args...), " ")
}

// hostTimeout is what the host gives a hook that does not ask.
const hostTimeout = 60 * time.Second

// minTimeout is what a replay gives any hook: it is there to show what they
// say, also on a machine that is busy.
const minTimeout = 30 * time.Second

func (h handler) timeout() time.Duration {
	if h.Timeout > 0 {
		return max(time.Duration(h.Timeout*float64(time.Second)), minTimeout)
	}
	return hostTimeout
}

// readHooks reads what the plugin in root asks the host to start.
func readHooks(root string) (hooks, error) {
	all := hooks{Events: map[host.Event][]group{}}
	add := func(name string, data []byte) error {
		var h hooks
		if err := json.Unmarshal(data, &h); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for event, groups := range h.Events {
			all.Events[event] = append(all.Events[event], groups...)
		}
		return nil
	}
	file := func(name string) error {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		return add(name, data)
	}
	const own = "hooks/hooks.json"
	if err := file(own); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hooks{}, err
	}
	about, err := readPlugin(root)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return hooks{}, err
	}
	named := []json.RawMessage{about.Hooks}
	if bytes.HasPrefix(about.Hooks, []byte("[")) {
		if err := json.Unmarshal(about.Hooks, &named); err != nil {
			return hooks{}, fmt.Errorf("plugin.json: %w", err)
		}
	}
	for _, value := range named {
		var name string
		switch {
		case len(value) == 0:
		case json.Unmarshal(value, &name) == nil:
			if path.Clean(name) != own { // which the host has found by itself
				err = file(name)
			}
		default:
			err = add("plugin.json", append(append([]byte(`{"hooks":`), value...), '}'))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return hooks{}, err
		}
	}
	if len(all.Events) == 0 {
		return hooks{}, errors.New("the plugin declares no hook")
	}
	return all, nil
}

// about is what of plugin.json a replay needs.
type about struct {
	Name    string                     `json:"name"`
	Version string                     `json:"version"`
	Hooks   json.RawMessage            `json:"hooks"`
	Options map[string]json.RawMessage `json:"userConfig"`
}

func readPlugin(root string) (about, error) {
	var a about
	data, err := os.ReadFile(filepath.Join(root, ".claude-plugin", "plugin.json"))
	if err == nil {
		if err = json.Unmarshal(data, &a); err != nil {
			err = fmt.Errorf("plugin.json: %w", err)
		}
	}
	return a, err
}

// started returns the handlers the host would start for a call: those whose
// matcher and `if` rule, if any, let it pass (docs/host.md, Plugins).
func (h hooks) started(p host.Payload, payload []byte, m Matcher) []handler {
	var out []handler
	for _, g := range h.Events[p.Event] {
		if !m.matches(g.Matcher, subject(p, payload)) {
			continue
		}
		for _, h := range g.Handlers {
			if allows(h.If, p) {
				out = append(out, h)
			}
		}
	}
	return out
}

// handlers returns all of an event, each with the group it is in.
func (h hooks) handlers(event host.Event) (out []handler, of []group) {
	for _, g := range h.Events[event] {
		for _, handler := range g.Handlers {
			out, of = append(out, handler), append(of, g)
		}
	}
	return out, of
}

// subject is what a matcher of the event looks at.
func subject(p host.Payload, payload []byte) string {
	key := ""
	switch p.Event {
	case host.SessionStart:
		return p.Source
	case host.PreCompact, host.PostCompact, "Setup":
		return p.Trigger
	case host.SessionEnd:
		return p.Reason
	case host.StopFailure:
		return p.Failure
	case host.SubagentStart, host.SubagentStop:
		key = "agent_type"
	case "Notification":
		key = "notification_type"
	case "ConfigChange":
		key = "source"
	case "InstructionsLoaded":
		key = "load_reason"
	case "UserPromptExpansion":
		key = "command_name"
	case "Elicitation", "ElicitationResult":
		key = "mcp_server_name"
	case "FileChanged":
		key = "file_path"
	default:
		return p.Tool
	}
	var all map[string]any
	json.Unmarshal(payload, &all) // a payload has been decoded before
	text, _ := all[key].(string)
	if key == "file_path" {
		text = path.Base(filepath.ToSlash(text))
	}
	return text
}

// Matcher reports whether a regular expression, as JavaScript has them, is in s.
// This package has none of its own, since hooks link it.
type Matcher func(expression, s string) bool

// matches reports whether a matcher has s. No matcher and * match everything, and
// a list of words separated by | what is one of them; any other is a regular
// expression.
func (has Matcher) matches(matcher, s string) bool {
	word := func(r rune) bool {
		return r == '_' || r == '|' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	switch {
	case matcher == "" || matcher == "*":
		return true
	case strings.IndexFunc(matcher, func(r rune) bool { return !word(r) }) < 0:
		return slices.Contains(strings.Split(matcher, "|"), s)
	}
	return has != nil && has(matcher, s)
}

// allows reports whether a rule such as Write(**/notes/*.md) lets a call pass.
func allows(rule string, p host.Payload) bool {
	if rule == "" {
		return true
	}
	tool, pattern, ok := strings.Cut(rule, "(")
	if tool != p.Tool {
		return false
	}
	return !ok || glob(
		strings.Split(strings.TrimSuffix(pattern, ")"), "/"),
		strings.Split(filepath.ToSlash(p.ToolPath), "/"),
	)
}

// glob matches a path against a pattern, both in elements; ** stands for any
// number of them.
func glob(pattern, elems []string) bool {
	if len(pattern) == 0 {
		return len(elems) == 0
	}
	if pattern[0] == "**" {
		for i := range len(elems) + 1 {
			if glob(pattern[1:], elems[i:]) {
				return true
			}
		}
		return false
	}
	if len(elems) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], elems[0])
	return err == nil && ok && glob(pattern[1:], elems[1:])
}
