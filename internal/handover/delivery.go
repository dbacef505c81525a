package handover

import (
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// endTimeout is how long the end of a session waits for a state directory: all
// hooks of it share 1.5 s (docs/host.md, Output).
const endTimeout = 500 * time.Millisecond

// Payload is what a plugin makes of an arm.
type Payload struct {
	Context string // for the model
	Line    string // for the person
	// Keep leaves the arm where it is; Line says why, "" says nothing. Otherwise
	// a payload with neither Context nor Line takes the arm away: nothing is
	// there.
	Keep bool
	// Arm is what goes back when the session comes to nothing.
	Arm Arm
}

func (p Payload) empty() bool { return p.Context == "" && p.Line == "" }

// Delivery hands what is armed to a session, in three steps. Start or Prompt
// has the plugin prepare a payload and turns the arm into a claim; once the
// answer is written, the claim is marked as delivered; and the next sign of life
// of the session, Prompt or Stop, confirms it. The functions are called with
// the lock of Dir held.
type Delivery struct {
	Call    *host.Call
	Dir     state.Dir
	Timeout time.Duration // for the lock of Dir

	// Prepare decides what the session gets. again says that it has the arm,
	// but that the hook which took it was killed before it had answered.
	Prepare   func(tx *state.Tx, a Arm, again bool) (Payload, error)
	Left      func(Arm) string           // the line for an arm that another live session has
	Confirmed func(*state.Tx, Arm) error // the session has the payload; nil: nothing to do

	// Doubtful says, in Prepare, that a session of a client which does not name its
	// process has been given the same before and has shown no sign of life since.
	Doubtful bool

	start   Start
	version string // of the host, "" when it is not known
}

// locked runs step with the lock of the directory held.
func (d *Delivery) locked(step func(*state.Tx) (host.Output, error)) (out host.Output, err error) {
	d.start = Begin(d.Call)
	err = d.Dir.WithLock(d.Timeout, func(tx *state.Tx) error {
		d.version = ClientVersion(tx, d.start.Client)
		out, err = step(tx)
		return err
	})
	return out, err
}

// Waiting reports whether Start could have anything to do, at the price of a
// look at the disk.
func (d *Delivery) Waiting() bool { return HasArms(d.Dir) || HasClaims(d.Dir) }

// Start is for SessionStart. first, which may be nil, runs under the same lock
// before the arm is looked at.
func (d *Delivery) Start(first func(*state.Tx)) (host.Output, error) {
	return d.locked(func(tx *state.Tx) (host.Output, error) {
		if first != nil {
			first(tx)
		}
		return d.take(tx)
	})
}

// Prompt is for UserPromptSubmit: it proves that somebody is there, and is the
// first sign of a session whose client fired no SessionStart (case F05). An
// ordinary prompt costs two looks at the disk and writes nothing. Only if there
// is something to do, ready is asked whether to, before the lock is taken:
// claimed tells a session that has the arm from one that may take it.
func (d *Delivery) Prompt(ready func(claimed bool) bool) (host.Output, error) {
	session := d.Call.Payload.SessionID
	claimed := HasClaim(d.Dir, session)
	if !claimed && (!HasArm(d.Dir) || Started(d.Dir, session)) {
		return host.Output{}, nil
	}
	d.Call.Slow()
	if !ready(claimed) {
		return host.Output{}, nil
	}
	return d.locked(func(tx *state.Tx) (host.Output, error) {
		if claimed {
			return d.confirm(tx)
		}
		arm, armed := FindArm(tx)
		switch {
		case Started(tx, session):
			return host.Output{}, nil // a twin of this hook was faster (case F44)
		case armed && arm.Owner == session:
			// The plugin came into a running session, and this is the one that armed.
			return host.Output{}, MarkStarted(tx, session)
		}
		return d.take(tx)
	})
}

// Stop is for the end of a turn, which proves that somebody was there.
func (d *Delivery) Stop() error {
	session := d.Call.Payload.SessionID
	if !HasClaim(d.Dir, session) {
		return nil
	}
	d.Call.Slow()
	return d.Dir.WithLock(d.Timeout, func(tx *state.Tx) error {
		claim, at, err := Confirm(tx, session, d.Call.Env.Now())
		if err == nil && at == Delivered && claim.Armed {
			err = d.confirmed(tx, claim.Arm)
		}
		return err
	})
}

// End is for SessionEnd: what the session took and nobody has seen goes back,
// and a client that is about to leave keeps no arm to itself.
func (d *Delivery) End() error {
	session, client := d.Call.Payload.SessionID, Here(d.Call.Host)
	// After /clear, and when another session is resumed in its place, the client
	// goes on.
	reason := d.Call.Payload.Reason
	leaves := reason != "clear" && reason != "resume"
	if !HasClaim(d.Dir, session) && !(leaves && client.PID != 0 && HasArms(d.Dir)) {
		return nil
	}
	return d.Dir.WithLock(min(d.Timeout, endTimeout), func(tx *state.Tx) error {
		if claim, ok := FindClaim(tx, session); ok {
			if err := claim.GiveBack(tx); err != nil {
				return err
			}
		}
		if !leaves {
			return nil
		}
		return Release(tx, client)
	})
}

// Say shows a line to the session that starts, now or at its first prompt,
// whichever the host lets be seen.
func (d *Delivery) Say(line string) (host.Output, error) {
	d.version = ClientVersion(d.Dir, Here(d.Call.Host))
	if now, later := d.split(line); later == "" {
		return host.Output{Message: now}, nil // and no files for it
	}
	return d.locked(func(tx *state.Tx) (host.Output, error) { return d.say(tx, line), nil })
}

// Try logs what went wrong with something that must not cost the payload.
func (d *Delivery) Try(what string, err error) {
	if err != nil {
		d.Call.Env.Log(what, "error", err.Error())
	}
}

// take has the session take the arm that is meant for it.
func (d *Delivery) take(tx *state.Tx) (host.Output, error) {
	d.Try("the session was not noted", MarkStarted(tx, d.start.Session))
	doubtful, err := d.start.Recover(tx)
	d.Try("a claim was not given back", err)
	d.Doubtful = doubtful
	arm, file := d.start.find(tx)
	switch {
	case file == "":
		return host.Output{}, nil
	case file == ArmFile && d.start.LeftTo(arm):
		return d.say(tx, d.Left(arm)), nil
	}
	p, err := d.Prepare(tx, arm, false)
	switch {
	case err != nil:
		return host.Output{}, err
	case p.Keep:
		return d.say(tx, p.Line), nil
	case p.empty():
		return host.Output{}, disarm(tx, file)
	}
	claim := d.claim()
	claim.Armed, claim.Arm = true, p.Arm
	out := host.Output{Context: p.Context}
	out.Message, claim.Notice = d.split(p.Line)
	return d.deliver(tx, out, func(tx *state.Tx) error { return claim.Take(tx, file) }, p.Arm)
}

// confirm ends the claim of this session, or delivers once more what a hook
// that was killed had not.
func (d *Delivery) confirm(tx *state.Tx) (host.Output, error) {
	claim, at, err := Confirm(tx, d.start.Session, d.start.Now)
	switch {
	case err != nil || at == NoClaim || at == InFlight:
		return host.Output{}, err
	case at == Delivered:
		if claim.Armed {
			d.Try("what follows the delivery failed", d.confirmed(tx, claim.Arm))
		}
		return host.Output{Message: claim.Notice}, nil
	}
	p, err := d.Prepare(tx, claim.Arm, true)
	if err != nil || p.Keep || p.empty() {
		d.Try("the payload cannot be delivered again", err)
		return host.Output{}, claim.Drop(tx)
	}
	claim.Time = d.start.Now // keeps a twin of this hook quiet
	return d.deliver(tx, host.Output{Context: p.Context, Message: p.Line}, claim.Put, p.Arm)
}

// deliver puts the claim on disk, which counts for nothing until the answer is
// written as well.
func (d *Delivery) deliver(tx *state.Tx, out host.Output, claim func(*state.Tx) error, arm Arm) (host.Output, error) {
	if err := claim(tx); err != nil {
		return host.Output{}, err
	}
	d.Call.AfterAnswer(func() {
		d.Try("the delivery was not marked", d.Dir.WithLock(d.Timeout, func(tx *state.Tx) error {
			err := MarkDelivered(tx, d.start.Session, d.atPrompt())
			if err == nil && d.atPrompt() {
				err = d.confirmed(tx, arm)
			}
			return err
		}))
	})
	return out, nil
}

func (d *Delivery) confirmed(tx *state.Tx, arm Arm) error {
	if d.Confirmed == nil {
		return nil
	}
	return d.Confirmed(tx, arm)
}

func (d *Delivery) atPrompt() bool { return d.Call.Payload.Event == host.UserPromptSubmit }

// split decides whether a line is shown now or at the first prompt.
func (d *Delivery) split(line string) (now, later string) {
	if p := d.Call.Payload; d.Call.Host.Dialect.When(p, host.ToPerson, d.version) == p.Event {
		return line, ""
	}
	return "", line
}

// claim is the beginning of a claim of this session.
func (d *Delivery) claim() Claim {
	return Claim{Session: d.start.Session, Client: d.start.Client, Time: d.start.Now}
}

// say shows a line without taking the arm.
func (d *Delivery) say(tx *state.Tx, line string) host.Output {
	now, later := d.split(line)
	if later != "" {
		claim, ok := FindClaim(tx, d.start.Session)
		if !ok {
			claim = d.claim()
		}
		claim.Notice = later
		d.Try("the notice was not kept", claim.Put(tx))
	}
	return host.Output{Message: now}
}
