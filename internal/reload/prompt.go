package reload

import (
	"github.com/ccreload/ccreload/internal/continuity"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// userPrompt answers a prompt: it proves that somebody is there. An ordinary
// one costs two looks at the disk and writes nothing.
func userPrompt(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	session := continuity.SessionID(call.Payload)
	claimed := continuity.HasClaim(dir, session)
	// An arm is only of interest to a session that has had no SessionStart
	// (case F05); the one that armed goes on until it is cleared.
	fresh := !claimed && continuity.HasArm(dir) && !continuity.Started(dir, session)
	if !claimed && !fresh || continuity.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	t := newThread(call, dir)
	if fresh {
		t.ask()
	}
	var out host.Output
	err := dir.Do(lockWait, func(tx *state.Tx) error {
		var err error
		if claimed {
			out, err = t.confirm(tx)
		} else {
			out, err = t.arrive(tx)
		}
		return err
	})
	return out, err
}

// confirm settles the claim of this session.
func (t *thread) confirm(tx *state.Tx) (host.Output, error) {
	claim, standing, err := continuity.Confirm(tx, t.begin.Session, t.begin.Now)
	if err != nil {
		return host.Output{}, err
	}
	switch standing {
	case continuity.Confirmed:
		if claim.Sent && t.shown() {
			claim.Notice = ""
		}
		return host.Output{Message: claim.Notice}, nil
	case continuity.Untold:
		doc, ok, err := readDigest(tx)
		if !ok {
			t.try("the digest was not read", err)
			return host.Output{}, claim.Drop(tx)
		}
		claim.Time = t.begin.Now // keeps a twin of this hook quiet
		if err := claim.Put(tx); err != nil {
			return host.Output{}, err
		}
		t.tell()
		return host.Output{Context: notes(doc, t.dir.Path(digestFile)), Message: banner(doc)}, nil
	}
	return host.Output{}, nil
}

// shown reports whether a notice that was sent at the start has been seen: the
// client was not known then, and turns out to be one that hides nothing after
// /clear.
func (t *thread) shown() bool {
	version := t.client
	if tail, err := transcript.ReadTail(t.call.Payload.TranscriptPath); err == nil && tail.Version != "" {
		version = tail.Version
	}
	return !continuity.HidesMessage("clear", version)
}

// arrive is the first sign of a session that had no SessionStart.
func (t *thread) arrive(tx *state.Tx) (host.Output, error) {
	if continuity.Started(tx, t.begin.Session) {
		return host.Output{}, nil // a twin of this hook was faster (case F44)
	}
	if arm, ok := continuity.FindArm(tx); ok && arm.Owner == t.begin.Session {
		// The plugin came into a running session, and this is the one that armed.
		return host.Output{}, continuity.MarkStarted(tx, t.begin.Session)
	}
	return t.takeUp(tx)
}
