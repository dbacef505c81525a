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

// sessionEnd gives back what the session took and nobody has seen. A client
// that is about to leave keeps no arm to itself.
func sessionEnd(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	session := continuity.SessionID(call.Payload)
	client, leaves := continuity.Here(call.Env), leaving(call.Payload.Reason)
	if !continuity.HasClaim(dir, session) && !(leaves && continuity.HoldsArm(dir, client)) {
		return host.Output{}, nil
	}
	return host.Output{}, dir.Do(endWait, func(tx *state.Tx) error {
		if claim, ok := continuity.FindClaim(tx, session); ok {
			if err := claim.GiveBack(tx); err != nil {
				return err
			}
		}
		if !leaves {
			return nil
		}
		return continuity.Release(tx, client)
	})
}

// leaving reports whether the client ends with the session. After /clear, and
// when another session is resumed in its place, it goes on.
func leaving(reason string) bool { return reason != "clear" && reason != "resume" }
