package transcript

import "strings"

// IsTyped reports whether a prompt is a person's own words. The host also
// sends in the user's name what nobody typed: notes of finished tasks,
// messages of other sessions, reminders, the records of slash and shell
// commands (docs/host.md, Events; case F10). A prompt that is empty, an image
// only, counts as typed.
func IsTyped(prompt string) bool { return strings.TrimSpace(prompt) == "" || Typed(prompt) != "" }

// Typed returns what a person typed of a prompt, "" for nothing. What the host or
// an editor put around it is taken away; of a slash command that the model has to
// answer its name and arguments are left.
func Typed(prompt string) string {
	prompt = strings.TrimSpace(prompt)
	for {
		rest, ok := cutAdded(prompt)
		if !ok {
			break
		}
		prompt = strings.TrimSpace(rest)
	}
	if name, args := slashCommand(prompt); args != "" {
		return name + " " + args
	}
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
			return ""
		}
	}
	return prompt
}

// cutAdded takes the first block out of a prompt that an editor or the host has
// added before or behind what was typed: <ide_selection>, <ide_opened_file>, a
// reminder. A tag in the midst of a sentence is the person's.
func cutAdded(prompt string) (rest string, ok bool) {
	if name, ok := addedTag(prompt); ok {
		end := "</" + name + ">"
		if i := strings.Index(prompt, end); i >= 0 {
			return prompt[i+len(end):], true
		}
	}
	for _, kind := range [...]string{"ide_", "system-reminder"} {
		if !strings.HasSuffix(prompt, ">") {
			break
		}
		i := strings.LastIndex(prompt, "</"+kind)
		if i < 0 {
			continue
		}
		name := strings.TrimSuffix(prompt[i+2:], ">")
		start := strings.LastIndex(prompt[:i], "<"+name+">")
		if start >= 0 && (start == 0 || prompt[start-1] == '\n') && !strings.ContainsAny(name, "<> ") {
			return prompt[:start], true
		}
	}
	return "", false
}

// addedTag returns the name of the tag that s begins with, if an editor or the
// host added it.
func addedTag(s string) (string, bool) {
	if !strings.HasPrefix(s, "<ide_") && !strings.HasPrefix(s, "<system-reminder>") {
		return "", false
	}
	name, _, ok := strings.Cut(s[1:], ">")
	name, _, _ = strings.Cut(name, " ")
	return name, ok
}

// slashCommand reads the record of a slash command that the model has to answer;
// it begins with its message, while the host's own commands begin with the name.
func slashCommand(prompt string) (name, args string) {
	if !strings.HasPrefix(prompt, "<command-message>") {
		return "", ""
	}
	return strings.TrimSpace(between(prompt, "command-name")), strings.TrimSpace(between(prompt, "command-args"))
}

// between returns what stands in the first element of that name.
func between(s, tag string) string {
	_, s, _ = strings.Cut(s, "<"+tag+">")
	s, _, ok := strings.Cut(s, "</"+tag+">")
	if !ok {
		return ""
	}
	return s
}
