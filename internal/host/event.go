// Package host is the contract with the program that runs our hooks: the
// events it fires, the payload each brings, what each accepts as an answer,
// and the limits on both. Handlers speak its neutral types only; one file per
// dialect turns them into what a host reads and writes.
//
// It does no I/O: bytes come in, bytes go out.
package host

import "slices"

// Event names a moment at which the host starts a hook. The names are the
// ones Claude Code uses (docs/host.md, Events).
type Event string

// The events of Claude Code that a plugin may hook.
const (
	SessionStart       Event = "SessionStart"
	UserPromptSubmit   Event = "UserPromptSubmit"
	PreToolUse         Event = "PreToolUse"
	PostToolUse        Event = "PostToolUse"
	PostToolUseFailure Event = "PostToolUseFailure"
	PermissionRequest  Event = "PermissionRequest"
	Notification       Event = "Notification"
	SubagentStart      Event = "SubagentStart"
	SubagentStop       Event = "SubagentStop"
	Stop               Event = "Stop"
	StopFailure        Event = "StopFailure"
	PreCompact         Event = "PreCompact"
	PostCompact        Event = "PostCompact"
	SessionEnd         Event = "SessionEnd"
)

// rule is what the host allows for one event.
type rule struct {
	matcher   bool // hooks.json may narrow it with a matcher
	path      bool // hooks.json may narrow it with an `if` rule
	context   bool // hookSpecificOutput.additionalContext reaches the model
	message   bool // systemMessage is read (and, apart from /clear, shown)
	continues bool // the turn can be continued
	asks      bool // the person can be asked first
}

// takes reports whether texts on c get anywhere.
func (r rule) takes(c Channel) bool {
	return [...]bool{ToModel: r.context, ToPerson: r.message, GoOn: r.continues, Question: r.asks}[c]
}

// rules is the allow-list. An event that is missing here is unknown to us and
// is answered with silence (docs/host.md, Output).
var rules = [...]struct {
	event Event
	rule
}{
	{SessionStart, rule{matcher: true, context: true, message: true}},
	{UserPromptSubmit, rule{context: true, message: true}},
	{PreToolUse, rule{matcher: true, path: true, context: true, message: true, asks: true}},
	{PostToolUse, rule{matcher: true, path: true, context: true, message: true}},
	{PostToolUseFailure, rule{matcher: true, path: true, context: true, message: true}},
	{PermissionRequest, rule{matcher: true, path: true}},
	{Notification, rule{matcher: true}},
	{SubagentStart, rule{matcher: true, context: true}},
	{SubagentStop, rule{matcher: true}},
	{Stop, rule{message: true, continues: true}},
	{StopFailure, rule{matcher: true}},
	{PreCompact, rule{matcher: true}},
	{PostCompact, rule{matcher: true}},
	{SessionEnd, rule{matcher: true}},
}

// ruleOf returns what the host allows for e. A table is looked through, since
// a map would be filled at every start of a hook.
func ruleOf(e Event) (rule, bool) {
	for _, r := range rules {
		if r.event == e {
			return r.rule, true
		}
	}
	return rule{}, false
}

// Known reports whether e is an event of the host.
func (e Event) Known() bool { _, ok := ruleOf(e); return ok }

// TakesMatcher reports whether hooks.json may give e a matcher.
func (e Event) TakesMatcher() bool { r, _ := ruleOf(e); return r.matcher }

// TakesIf reports whether a handler of e may carry an `if` rule, which the
// host checks before it starts a process.
func (e Event) TakesIf() bool { r, _ := ruleOf(e); return r.path }

// Events returns every known event in alphabetical order.
func Events() []Event {
	out := make([]Event, 0, len(rules))
	for _, r := range rules {
		out = append(out, r.event)
	}
	slices.Sort(out)
	return out
}

// Limits of the host (docs/host.md, Output and Plugins).
const (
	// MaxText is the number of characters of context or message the host
	// takes; beyond it the model is shown a preview and a path.
	MaxText = 10_000
	// MaxTimeout is the longest hook timeout hooks.json may ask for, in seconds.
	MaxTimeout = 600
	// SessionEndTimeout is the most a SessionEnd hook may ask for, in
	// seconds: all of them share 1.5 s.
	SessionEndTimeout = 1
	// MaxUserConfig is how many options of user scope one plugin may have:
	// the host reminds the user of each one that is unset.
	MaxUserConfig = 3
)
