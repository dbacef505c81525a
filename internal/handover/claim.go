package handover

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	claimPrefix = ".claim."
	startedFile = ".started"

	// maxStarted is how many session ids are remembered.
	maxStarted = 32
	// answering is how long a hook may be busy with an answer that its twin
	// must not repeat (case F44). The runner gives up at this age.
	answering = 5 * time.Second
)

// Claim is an arm in the hands of a session that has not yet shown that
// somebody is there, or a notice that waits for the first prompt, or both.
type Claim struct {
	Session   string
	Client    Client
	Time      time.Time
	Armed     bool // Arm goes back when the session comes to nothing
	Arm       Arm
	Delivered bool   // the payload has reached the host
	Notice    string // for the person, at the first prompt; one line

	// The file that the arm was taken from, and when that was written: as long as
	// it stands there like that, the arm has not been taken away yet.
	from  string
	since time.Time
}

func claimName(session string) string { return claimPrefix + cmp.Or(FileName(session), "unknown") }

// HasClaim reports whether the session holds a claim. It costs one look at
// the disk, so it may stand at the head of every turn.
func HasClaim(d state.Dir, session string) bool {
	_, err := os.Lstat(d.Path(claimName(session)))
	return err == nil
}

// HasArm reports whether something stands where the arm would be, at the
// price of one look at the disk.
func HasArm(d state.Dir) bool {
	_, err := os.Lstat(d.Path(ArmFile))
	return err == nil
}

// HasArms is HasArm that counts what is parked, too.
func HasArms(d state.Dir) bool {
	return HasArm(d) || slices.ContainsFunc(d.Names(), func(name string) bool { return strings.HasPrefix(name, parkedPrefix) })
}

// HasClaims reports whether any session holds a claim.
func HasClaims(d state.Dir) bool {
	return slices.ContainsFunc(d.Names(), func(name string) bool { return strings.HasPrefix(name, claimPrefix) })
}

// FindClaim returns the session's claim.
func FindClaim(r state.Reader, session string) (Claim, bool) {
	c, ok := readClaim(r, claimName(session))
	return c, ok && c.Session == term.OneLine(session)
}

func readClaim(r state.Reader, name string) (Claim, bool) {
	data, err := r.Read(name, maxRecord)
	if err != nil {
		return Claim{}, false
	}
	p := state.ParsePairs(data)
	when, _ := time.Parse(time.RFC3339Nano, p.Get("time"))
	since, _ := time.Parse(time.RFC3339Nano, p.Get("since"))
	return Claim{
		Session:   p.Get("session"),
		Client:    ParseClient(p.Get("client")),
		Time:      when,
		Armed:     p.Get("armed") == "yes",
		Arm:       armIn(p, "arm_"),
		Delivered: p.Get("delivered") == "yes",
		Notice:    p.Get("notice"),
		from:      p.Get("from"),
		since:     since,
	}, true
}

// Put writes the claim.
func (c Claim) Put(tx *state.Tx) error {
	yes := map[bool]string{true: "yes"}
	p := state.Pairs{}.
		Set("session", c.Session).
		Set("client", c.Client.String()).
		Set("time", c.Time.UTC().Format(time.RFC3339Nano)).
		Set("armed", yes[c.Armed]).
		Set("delivered", yes[c.Delivered]).
		Set("notice", c.Notice).
		Set("from", c.from)
	if !c.since.IsZero() {
		p = p.Set("since", c.since.UTC().Format(time.RFC3339Nano))
	}
	return tx.Write(claimName(c.Session), c.Arm.pairs(p, "arm_").Bytes())
}

// Take turns the arm that stands in file into c. The claim is on disk before
// the arm is gone.
func (c Claim) Take(tx *state.Tx, file string) error {
	c.from = file
	_, c.since = tx.Stat(file)
	if err := c.Put(tx); err != nil {
		return err
	}
	return c.finish(tx)
}

// half reports whether the hook that took the arm was killed before it was gone.
func (c Claim) half(tx *state.Tx) bool {
	kind, wrote := tx.Stat(c.from)
	return c.from != "" && kind == state.File && wrote.Equal(c.since)
}

// finish removes the arm that c has been made of.
func (c Claim) finish(tx *state.Tx) error {
	if !c.half(tx) {
		return nil
	}
	if err := disarm(tx, c.from); err != nil {
		return err
	}
	return c.Arm.replace(tx)
}

// Drop removes the claim: the session has what it was to have.
func (c Claim) Drop(tx *state.Tx) error { return tx.Remove(claimName(c.Session)) }

// GiveBack turns the claim into an arm again. An arm that has come up in the
// meantime is the newer one and stays; what another client has armed is no
// reason to lose this one.
func (c Claim) GiveBack(tx *state.Tx) error {
	if c.Armed && !c.half(tx) {
		c.Arm.Returned = c.Arm.Returned || c.Arm.Owner == c.Session
		put := c.Arm.Put
		if other, armed := FindArm(tx); armed {
			put = c.Arm.park
			if c.Arm.Item == "" || other.Client.PID == 0 || other.Client.Same(c.Client) {
				return c.Drop(tx)
			}
		} else if tx.Kind(ArmFile) != state.Absent {
			return c.Drop(tx)
		}
		if err := put(tx); err != nil {
			return err
		}
	}
	return c.Drop(tx)
}

// MarkDelivered records that the payload of the session's claim has reached
// the host. At a prompt that is all there is to wait for, and the claim is
// dropped.
func MarkDelivered(tx *state.Tx, session string, atPrompt bool) error {
	c, ok := FindClaim(tx, session)
	if !ok {
		return nil
	}
	c.Delivered = true
	if atPrompt || !c.Armed && c.Notice == "" {
		return c.Drop(tx)
	}
	return c.Put(tx)
}

// State is how far the delivery of a claim has come.
type State int

const (
	// NoClaim: the session has none.
	NoClaim State = iota
	// Delivered: the session has the payload.
	Delivered
	// InFlight: another hook is about to deliver it.
	InFlight
	// Undelivered: the hook that should have done so was killed.
	Undelivered
)

// Confirm is called at a prompt or the end of a turn of the session. A claim
// whose payload was delivered is dropped, any other stays. The claim it returns
// holds the notice that is still to be shown.
func Confirm(tx *state.Tx, session string, now time.Time) (Claim, State, error) {
	c, ok := FindClaim(tx, session)
	switch {
	case !ok:
		return Claim{}, NoClaim, nil
	case c.Delivered || !c.Armed:
		if err := c.finish(tx); err != nil {
			return c, Delivered, err
		}
		return c, Delivered, c.Drop(tx)
	case now.Sub(c.Time).Abs() < answering:
		return c, InFlight, nil
	}
	return c, Undelivered, c.finish(tx)
}

// Start is a session that begins, as far as the claims of others depend on it.
type Start struct {
	Session string
	Resumed bool // the session has been there before
	Client  Client
	Now     time.Time
	Alive   func(Client) bool
}

// lost reports whether the claim's session has come to nothing. A claim from
// the future is an old one: a clock was wrong.
func (s Start) lost(c Claim) bool {
	age := s.Now.Sub(c.Time).Abs()
	switch {
	case c.Client.PID == 0 && c.Session == s.Session:
		return s.Resumed && age > answering
	case c.Client.PID == 0:
		// Nobody can tell whether it is still there. It has shown no sign of life,
		// and a digest that two have is better than one that nobody has (case F14).
		return age > answering
	case c.Client.Same(s.Client):
		// One client has one session at a time: the other one is over.
		return c.Session != s.Session
	}
	return !s.Alive(c.Client)
}

// claims returns the claims of all sessions.
func claims(tx *state.Tx) (list []Claim) {
	for _, name := range tx.Names() {
		if !strings.HasPrefix(name, claimPrefix) {
			continue
		}
		if c, ok := readClaim(tx, name); ok && claimName(c.Session) == name {
			list = append(list, c)
		}
	}
	return list
}

// Recover finishes what hooks that were killed have begun, and gives back the
// claims of sessions that have come to nothing; doubtful says that this is not
// certain of one of them. It goes on after an error and returns the last one.
func (s Start) Recover(tx *state.Tx) (doubtful bool, last error) {
	for _, c := range claims(tx) {
		var err error
		switch {
		case s.lost(c):
			err = c.GiveBack(tx)
			doubtful = doubtful || c.Client.PID == 0 && c.Armed && c.Delivered && c.Session != s.Session
		case c.Session != s.Session:
			err = c.finish(tx)
		}
		if err != nil {
			last = err
		}
	}
	return doubtful, last
}

// LeftTo reports whether the arm belongs to another client that still runs.
func (s Start) LeftTo(a Arm) bool {
	return a.Client.PID != 0 && s.Client.PID != 0 && !a.Client.Same(s.Client) && s.Alive(a.Client)
}

// Begin returns the session of call as a Start. It never compares the session's
// id with the arm's: /clear gives every session a new one.
func Begin(call *host.Call) Start {
	p, env := call.Payload, call.Env
	return Start{
		Session: p.SessionID,
		Resumed: p.Source == "resume",
		Client:  Here(call.Host),
		Now:     env.Now(),
		Alive:   func(c Client) bool { return c.Alive(env) },
	}
}

// Started reports whether a SessionStart of the session has been seen.
func Started(r state.Reader, session string) bool {
	data, _ := r.Read(startedFile, maxRecord)
	return slices.Contains(strings.Fields(string(data)), FileName(session))
}

// MarkStarted remembers that the session has been started, so that its first
// prompt is not taken for the first sign of it (case F05).
func MarkStarted(tx *state.Tx, session string) error {
	id := FileName(session)
	data, _ := tx.Read(startedFile, maxRecord)
	ids := strings.Fields(string(data))
	if id == "" || slices.Contains(ids, id) {
		return nil
	}
	ids = append(ids, id)
	ids = ids[max(0, len(ids)-maxStarted):]
	return tx.Write(startedFile, []byte(strings.Join(ids, "\n")+"\n"))
}
