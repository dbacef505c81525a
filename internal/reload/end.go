package reload

import (
	"time"

	"github.com/ccreload/ccreload/internal/continuity"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// endWait is how long the end of a session waits for the state directory: all
// hooks of it share 1.5 s (docs/host.md, Output).
const endWait = 500 * time.Millisecond

// sessionEnd gives back what the session took and nobody has seen.
func sessionEnd(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	session := continuity.SessionID(call.Payload)
	if !continuity.HasClaim(dir, session) {
		return host.Output{}, nil
	}
	return host.Output{}, dir.Do(endWait, func(tx *state.Tx) error {
		claim, ok := continuity.FindClaim(tx, session)
		if !ok {
			return nil
		}
		return claim.GiveBack(tx)
	})
}
