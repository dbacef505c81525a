package host

import "testing"

func TestHeadless(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		attended, entry string
		want            bool
	}{
		{"", "", false},
		{"1", "cli", false},
		{"0", "", true},
		{"0", "cli", true},
		{"", "sdk-cli", true},
		{"", "sdk-py", true},
		{"", "claude-vscode", false},
	} {
		env := map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": tt.attended, "CLAUDE_CODE_ENTRYPOINT": tt.entry}
		if got := FromEnv(func(k string) string { return env[k] }).Headless; got != tt.want {
			t.Errorf("attended %q, entrypoint %q: %v", tt.attended, tt.entry, got)
		}
	}
}
