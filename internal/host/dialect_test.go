package host

import (
	"maps"
	"testing"
)

// Who calls is told by the variables and the payload together.
func TestCaller(t *testing.T) {
	t.Parallel()
	const (
		ours    = `{"hook_event_name":"Stop","session_id":"s","transcript_path":"/h/.claude/projects/p/s.jsonl"}`
		codex   = `{"hook_event_name":"Stop","session_id":"s","turn_id":"t","transcript_path":"/h/.codex/sessions/2026/12/01/rollout-1-s.jsonl"}`
		begins  = `{"hook_event_name":"SessionStart","session_id":"s","transcript_path":"/h/.codex/sessions/rollout-1-s.jsonl","source":"startup"}`
		noFile  = `{"hook_event_name":"SessionStart","session_id":"s","transcript_path":null,"source":"startup"}`
		copilot = `{"hook_event_name":"SessionStart","session_id":"s","timestamp":"2026-12-01T20:48:09.584Z","source":"new"}`
		asks    = `{"hookName":"permissionRequest","sessionId":"s","timestamp":1796158099061,"toolName":"bash"}`
		ends    = `{"hook_event_name":"Stop","session_id":"s","timestamp":"t","transcript_path":"/h/.copilot/session-state/s/events.jsonl"}`
		gemini  = `{"hook_event_name":"SessionStart","session_id":"s","timestamp":"t","transcript_path":"/h/.gemini/tmp/p/chats/session-1-s.jsonl"}`
		bare    = `{"hook_event_name":"Stop","session_id":"s"}`
		claude  = "Claude Code"
	)
	type env = map[string]string
	inCodex := env{"PLUGIN_ROOT": "/p", "PLUGIN_DATA": "/d"}
	inCopilot := env{"COPILOT_CLI": "1", "PLUGIN_ROOT": "/p", "CLAUDE_PROJECT_DIR": "/p"}
	inGemini := env{"GEMINI_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/p"}
	inClaude := env{"CLAUDE_PROJECT_DIR": "/p", "CLAUDE_CODE_ENTRYPOINT": "cli"}
	below := func(outer, inner env) env {
		all := maps.Clone(outer)
		maps.Copy(all, inner)
		return all
	}
	for name, tt := range map[string]struct {
		env  env
		in   string
		want string
	}{
		"Claude":                              {inClaude, ours, claude},
		"Claude, before it named its process": {env{"CLAUDE_PROJECT_DIR": "/p"}, ours, claude},
		"nothing but a payload":               {env{}, ours, claude},
		"no transcript":                       {env{}, bare, claude},
		"Codex":                               {inCodex, codex, "Codex"},
		"Codex begins":                        {inCodex, begins, "Codex"},
		"Codex keeps no transcript":           {inCodex, noFile, "Codex"},
		"Copilot":                             {inCopilot, copilot, "Copilot CLI"},
		"Copilot ends a turn":                 {inCopilot, ends, "Copilot CLI"},
		"Copilot asks":                        {inCopilot, asks, "Copilot CLI"},
		"Gemini":                              {inGemini, gemini, "Gemini CLI"},
		"Codex below Claude":                  {below(inClaude, inCodex), codex, "Codex"},
		"Copilot below Claude":                {below(inClaude, inCopilot), copilot, "Copilot CLI"},
		"Copilot below Gemini":                {below(env{"GEMINI_CLI": "1"}, inCopilot), asks, "Copilot CLI"},
		"Claude below Codex":                  {below(inCodex, inClaude), ours, claude},
		"Claude below Copilot":                {below(inCopilot, inClaude), ours, claude},
		"Claude below Gemini":                 {below(inGemini, inClaude), ours, claude},
		"an old Claude below Copilot":         {inCopilot, bare, claude},
		"a payload of Codex alone":            {inClaude, codex, claude},
		"a payload of Copilot alone":          {inClaude, copilot, claude},
		"a newer Claude that counts turns":    {below(inCodex, inClaude), ours[:len(ours)-1] + `,"turn_id":"t","timestamp":"t"}`, claude},
		"nobody we know":                      {env{"CLAUDE_PROJECT_DIR": "/p"}, copilot, ""},
		"nobody we know, with a conversation": {env{}, `{"hook_event_name":"stop","conversation_id":"c","workspace_roots":["/p"]}`, ""},
	} {
		h, _, err := Caller(func(k string) string { return tt.env[k] }, []byte(tt.in))
		if err != nil || h.Name != tt.want || (h.Dialect != nil) != (tt.want == claude) {
			t.Errorf("%s: %q, %v, %v; want %q", name, h.Name, h.Dialect, err, tt.want)
		}
	}
}
