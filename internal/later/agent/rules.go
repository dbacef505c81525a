package agent

import (
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/state"
)

const maxSettings = 4 << 20

// OpenRules returns the rules of the user's settings that let an agent with writes
// change files outside its worktree: those that allow a tool as a whole. The
// client obeys them whatever mode it is started in, so the main checkout has to be
// compared after such a run, and the person may want to know.
func OpenRules(h host.Host) []string {
	data, err := state.ReadFile(h.ConfigPath("settings.json"), maxSettings)
	if err != nil {
		return nil
	}
	var open []string
	jsonscan.Array(jsonscan.Member(jsonscan.Member(data, "permissions"), "allow"), func(value []byte) {
		rule := jsonscan.Text(value)
		tool, what, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(rule), ")"), "(")
		whole := what == "" || strings.Trim(what, "*:/") == ""
		if whole && slices.Contains([]string{"Bash", "Write", "Edit", "MultiEdit", "*"}, tool) {
			open = append(open, rule)
		}
	})
	return open
}
