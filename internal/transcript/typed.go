package transcript

import "strings"

// IsTyped reports whether a prompt is a person's own words. The host also
// sends in the user's name what nobody typed: notes of finished tasks,
// messages of other sessions, reminders, the records of slash and shell
// commands (docs/host.md, Events; case F10). A prompt that is empty, an image
// only, counts as typed.
func IsTyped(prompt string) bool {
	prompt = strings.TrimSpace(prompt)
	for _, start := range [...]string{
		"<task-notification>",
		"<system-reminder>",
		"[SYSTEM NOTIFICATION",
		"<cross-session-message",
		"<teammate-message",
		"<local-command",
		"<command-name>",
		"<command-message>",
		"<bash-input>",
		"<bash-stdout>",
		"<bash-stderr>",
		"[Request interrupted by user",
	} {
		if strings.HasPrefix(prompt, start) {
			return false
		}
	}
	return true
}
