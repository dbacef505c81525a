package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

// hooks is a plugin's hooks/hooks.json.
type hooks struct {
	Events map[host.Event][]group `json:"hooks"`
}

type group struct {
	Matcher  string    `json:"matcher"`
	Handlers []handler `json:"hooks"`
}

// handler is one program the host starts.
type handler struct {
	Args    []string `json:"args"`
	If      string   `json:"if"`
	Timeout int      `json:"timeout"` // seconds; 0 means the host's default
}

// hostTimeout is what the host gives a hook that does not ask.
const hostTimeout = 60 * time.Second

// minTimeout is what a replay gives any hook: it is there to show what they
// say, also on a machine that is busy.
const minTimeout = 30 * time.Second

func (h handler) timeout() time.Duration {
	if h.Timeout > 0 {
		return max(time.Duration(h.Timeout)*time.Second, minTimeout)
	}
	return hostTimeout
}

// readHooks reads what the plugin in root asks the host to start.
func readHooks(root string) (hooks, error) {
	data, err := os.ReadFile(filepath.Join(root, "hooks", "hooks.json"))
	if err != nil {
		return hooks{}, err
	}
	var h hooks
	if err := json.Unmarshal(data, &h); err != nil {
		return hooks{}, fmt.Errorf("hooks.json: %w", err)
	}
	if len(h.Events) == 0 {
		return hooks{}, errors.New("hooks.json declares no hook")
	}
	return h, nil
}

// started returns the handlers the host would start for a call: those whose
// matcher and `if` rule, if any, let it pass (docs/host.md, Plugins).
func (h hooks) started(p host.Payload) []handler {
	var out []handler
	for _, g := range h.Events[p.Event] {
		if !matches(g.Matcher, subject(p)) {
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

// subject is what a matcher of the event looks at.
func subject(p host.Payload) string {
	switch p.Event {
	case host.SessionStart:
		return p.Source
	case host.PreCompact, host.PostCompact:
		return p.Trigger
	case host.SessionEnd:
		return p.Reason
	}
	return p.Tool
}

// matches reports whether a matcher, a list of words separated by |, has s.
// No matcher and * match everything.
func matches(matcher, s string) bool {
	return matcher == "" || matcher == "*" || slices.Contains(strings.Split(matcher, "|"), s)
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
