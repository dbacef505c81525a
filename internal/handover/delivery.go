package handover

import (
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// endWait is how long the end of a session waits for a state directory: all
// hooks of it share 1.5 s (docs/host.md, Output).
const endWait = 500 * time.Millisecond

// Parcel is what a plugin makes of an arm.
type Parcel struct {
	Context string // for the model
	Line    string // for the person
	// Keep leaves the arm where it is; Line says why, "" says nothing. Otherwise
	// a parcel with neither Context nor Line takes the arm away: nothing is
	// there.
	Keep bool
	// Arm is what goes back when the session comes to nothing.
	Arm Arm
}

// Courier carries a plugin's notes to a session: it takes the arm, tells the
// notes, and waits for proof that somebody has them. The functions are called
// with the lock of Dir held.
type Courier struct {
	Call *host.Call
	Dir  state.Dir
	Wait time.Duration // for the lock of Dir
	// Away says that nobody sits in front of the session: it takes nothing.
	Away bool

	// Pack decides what the session gets. again says that it has the arm, but
	// that the hook which took it did not live to tell the notes.
	Pack  func(tx *state.Tx, a Arm, again bool) (Parcel, error)
	Left  func(Arm) string           // the line for an arm that another live session has
	Taken func(*state.Tx, Arm) error // the notes have arrived; nil: nothing to do

	begin  Start
	client string // version of the host, "" when it is not known
}

// start fills in what every errand needs.
func (c *Courier) start() {
	c.begin = Begin(c.Call)
	c.client = ClientVersion(c.Dir)
}

// Waiting reports whether Start could have anything to do, at the price of a
// look at the disk.
func (c *Courier) Waiting() bool { return HasArm(c.Dir) || HasClaims(c.Dir) }

// Start is for SessionStart. first, which may be nil, runs under the same lock
// before the arm is looked at.
func (c *Courier) Start(first func(*state.Tx)) (host.Output, error) {
	c.start()
	var out host.Output
	err := c.Dir.WithLock(c.Wait, func(tx *state.Tx) error {
		if first != nil {
			first(tx)
		}
		var err error
		out, err = c.takeUp(tx)
		return err
	})
	return out, err
}

// Prompt is for UserPromptSubmit: it proves that somebody is there, and is the
// first sign of a session whose client fired no SessionStart (case F05). An
// ordinary prompt costs two looks at the disk and writes nothing. Only if there
// is something to do, ready is asked whether to, before the lock is taken:
// claimed tells a session that has the arm from one that may take it.
func (c *Courier) Prompt(ready func(claimed bool) bool) (host.Output, error) {
	session := c.Call.Payload.SessionID
	claimed := HasClaim(c.Dir, session)
	if !claimed && (!HasArm(c.Dir) || Started(c.Dir, session)) {
		return host.Output{}, nil
	}
	c.Call.Slow()
	if !ready(claimed) {
		return host.Output{}, nil
	}
	c.start()
	var out host.Output
	err := c.Dir.WithLock(c.Wait, func(tx *state.Tx) error {
		var err error
		if claimed {
			out, err = c.confirm(tx)
		} else {
			out, err = c.arrive(tx)
		}
		return err
	})
	return out, err
}

// Stop is for the end of a turn, which proves that somebody was there.
func (c *Courier) Stop() error {
	session := c.Call.Payload.SessionID
	if !HasClaim(c.Dir, session) {
		return nil
	}
	c.Call.Slow()
	return c.Dir.WithLock(c.Wait, func(tx *state.Tx) error {
		claim, standing, err := Confirm(tx, session, c.Call.Env.Now())
		if err == nil && standing == Confirmed {
			err = c.taken(tx, claim)
		}
		return err
	})
}

// End is for SessionEnd: what the session took and nobody has seen goes back,
// and a client that is about to leave keeps no arm to itself.
func (c *Courier) End() error {
	session := c.Call.Payload.SessionID
	client, leaves := Here(c.Call.Host), leaving(c.Call.Payload.Reason)
	if !HasClaim(c.Dir, session) && !(leaves && HoldsArm(c.Dir, client)) {
		return nil
	}
	return c.Dir.WithLock(min(c.Wait, endWait), func(tx *state.Tx) error {
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

// leaving reports whether the client ends with the session. After /clear, and
// when another session is resumed in its place, it goes on.
func leaving(reason string) bool { return reason != "clear" && reason != "resume" }

// Try logs what went wrong with something that must not cost the notes.
func (c *Courier) Try(what string, err error) {
	if err != nil {
		c.Call.Env.Log(what, "error", err.Error())
	}
}

func (c *Courier) takeUp(tx *state.Tx) (host.Output, error) {
	c.Try("the session was not noted", MarkStarted(tx, c.begin.Session))
	if c.Away {
		return host.Output{}, nil
	}
	c.Try("a claim was not given back", c.begin.Recover(c.Dir, tx))
	arm, armed := FindArm(tx)
	switch {
	case !armed:
		return host.Output{}, nil
	case c.begin.LeftTo(arm):
		return c.say(tx, c.Left(arm))
	}
	p, err := c.Pack(tx, arm, false)
	switch {
	case err != nil:
		return host.Output{}, err
	case p.Keep:
		return c.say(tx, p.Line)
	case p.Context == "" && p.Line == "":
		return host.Output{}, Disarm(tx)
	}
	return c.deliver(tx, p)
}

// deliver hands a parcel over. The claim is written before the arm goes, and
// counts for nothing until the answer is written as well.
func (c *Courier) deliver(tx *state.Tx, p Parcel) (host.Output, error) {
	claim := Claim{
		Session: c.begin.Session,
		Client:  c.begin.Client,
		Time:    c.begin.Now,
		Armed:   true,
		Arm:     p.Arm,
	}
	out := host.Output{Context: p.Context}
	out.Message, claim.Notice = c.split(p.Line)
	if err := claim.Take(tx); err != nil {
		return host.Output{}, err
	}
	c.tell(p.Arm)
	return out, nil
}

// tell records that the host has been told, once it has.
func (c *Courier) tell(arm Arm) {
	c.Call.AfterAnswer(func() {
		c.Try("it was not noted that the notes are told", c.Dir.WithLock(c.Wait, func(tx *state.Tx) error {
			if err := Tell(tx, c.begin.Session, c.atPrompt()); err != nil || !c.atPrompt() {
				return err
			}
			return c.taken(tx, Claim{Armed: true, Arm: arm})
		}))
	})
}

func (c *Courier) taken(tx *state.Tx, claim Claim) error {
	if !claim.Armed || c.Taken == nil {
		return nil
	}
	return c.Taken(tx, claim.Arm)
}

func (c *Courier) atPrompt() bool { return c.Call.Payload.Event == host.UserPromptSubmit }

// split decides whether a line is shown now or at the first prompt.
func (c *Courier) split(line string) (now, later string) {
	if c.atPrompt() || !host.HidesMessage(c.Call.Payload.Source, c.client) {
		return line, ""
	}
	return "", line
}

// say shows a line without taking the arm.
func (c *Courier) say(tx *state.Tx, line string) (host.Output, error) {
	now, later := c.split(line)
	if later != "" {
		claim, ok := FindClaim(tx, c.begin.Session)
		if !ok {
			claim = Claim{Session: c.begin.Session, Client: c.begin.Client, Time: c.begin.Now}
		}
		claim.Notice = later
		c.Try("the notice was not kept", claim.Put(tx))
	}
	return host.Output{Message: now}, nil
}

// Say shows a line to the session that starts, now or at its first prompt,
// whichever the host lets be seen.
func (c *Courier) Say(line string) (host.Output, error) {
	c.start()
	if now, later := c.split(line); later == "" {
		return host.Output{Message: now}, nil // and no files for it
	}
	var out host.Output
	err := c.Dir.WithLock(c.Wait, func(tx *state.Tx) error {
		var err error
		out, err = c.say(tx, line)
		return err
	})
	return out, err
}

// confirm settles the claim of this session.
func (c *Courier) confirm(tx *state.Tx) (host.Output, error) {
	claim, standing, err := Confirm(tx, c.begin.Session, c.begin.Now)
	if err != nil {
		return host.Output{}, err
	}
	switch standing {
	case Confirmed:
		c.Try("what follows the arrival failed", c.taken(tx, claim))
		return host.Output{Message: claim.Notice}, nil
	case Untold:
		p, err := c.Pack(tx, claim.Arm, true)
		if err != nil || p.Keep || p.Context == "" && p.Line == "" {
			c.Try("the notes cannot be told again", err)
			return host.Output{}, claim.Drop(tx)
		}
		claim.Time = c.begin.Now // keeps a twin of this hook quiet
		if err := claim.Put(tx); err != nil {
			return host.Output{}, err
		}
		c.tell(p.Arm)
		return host.Output{Context: p.Context, Message: p.Line}, nil
	}
	return host.Output{}, nil
}

// arrive is the first sign of a session that had no SessionStart.
func (c *Courier) arrive(tx *state.Tx) (host.Output, error) {
	if Started(tx, c.begin.Session) {
		return host.Output{}, nil // a twin of this hook was faster (case F44)
	}
	if arm, ok := FindArm(tx); ok && arm.Owner == c.begin.Session {
		// The plugin came into a running session, and this is the one that armed.
		return host.Output{}, MarkStarted(tx, c.begin.Session)
	}
	return c.takeUp(tx)
}
