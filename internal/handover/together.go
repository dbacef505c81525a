package handover

import (
	"path/filepath"

	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// Delivers reports whether the plugin that keeps its state in d hands notes,
// the file named notes, to the session, or is about to. Hooks of one event run
// side by side: a claim is on disk before its arm is gone, so looking for the
// arm first misses neither.
func Delivers(d state.Dir, notes, session string) bool {
	if d.Kind(ArmFile) == state.File && d.Kind(notes) == state.File {
		return true
	}
	claim, ok := FindClaim(d, session)
	return ok && claim.Armed
}

// maxLoop is the most that is read of another plugin's file, in bytes.
const maxLoop = 1 << 20

// LoopActive reports whether the plugin cc-repete is continuing the turns of
// this project: what acts at the end of a turn then leaves it alone, or two
// plugins that both go on would never let it end.
func LoopActive(project string) bool {
	data, err := state.NewDir(filepath.Join(project, ".repete")).Read("loop.local.md", maxLoop)
	return err == nil && notes.FrontValue(string(data), "active") == "true"
}
