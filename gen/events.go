package gen

import (
	"slices"

	"github.com/ccreload/ccreload/internal/host"
)

// otherEvents are the events of the host beside those the runtime knows
// (host.Events): a plugin may have a program of its own for them (docs/host.md,
// Events).
var otherEvents = []host.Event{
	"ConfigChange", "CwdChanged", "DirectoryAdded", "Elicitation", "ElicitationResult", "FileChanged", "InstructionsLoaded",
	"MessageDisplay", "PermissionDenied", "PostModelSwitch", "PostToolBatch", "PreModelSwitch", "PreSkillShellCommand",
	"Setup", "TaskCompleted", "TaskCreated", "TeammateIdle", "UserPromptExpansion", "WorktreeCreate", "WorktreeRemove",
}

// allEvents returns every event of the host in alphabetical order.
func allEvents() []host.Event {
	out := append(host.Events(), otherEvents...)
	slices.Sort(out)
	return out
}

// words returns events as strings.
func words(events []host.Event) []string {
	out := make([]string, len(events))
	for i, e := range events {
		out[i] = string(e)
	}
	return out
}
