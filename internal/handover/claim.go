package handover

import (
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
	// quiet is when a session of a client that does not tell its process is
	// taken to be gone: nobody starts one and says nothing for so long.
	quiet = time.Hour
)

// Claim is an arm in the hands of a session that has not yet shown that
// somebody is there, or a notice that waits for the first prompt, or both.
type Claim struct {
	Session string
	Client  Client
	Time    time.Time
	Armed   bool // Arm goes back when the session comes to nothing
	Arm     Arm
	Told    bool   // the notes have reached the host
	Notice  string // for the person, at the first prompt; one line
}

func claimName(session string) string {
	if s := FileName(session); s != "" {
		return claimPrefix + s
	}
	return claimPrefix + "unknown"
}

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
	return Claim{
		Session: p.Get("session"),
		Client:  parseClient(p.Get("client")),
		Time:    parseTime(p.Get("time")),
		Armed:   p.Get("armed") == "yes",
		Arm: Arm{
			Owner:  p.Get("arm_owner"),
			Client: parseClient(p.Get("arm_client")),
			Item:   p.Get("arm_item"),
		},
		Told:   p.Get("told") == "yes",
		Notice: p.Get("notice"),
	}, true
}

// Put writes the claim.
func (c Claim) Put(tx *state.Tx) error {
	p := state.Pairs{}.
		Set("session", term.OneLine(c.Session)).
		Set("client", c.Client.String()).
		Set("time", c.Time.UTC().Format(time.RFC3339Nano)).
		Set("armed", yes(c.Armed)).
		Set("arm_owner", term.OneLine(c.Arm.Owner)).
		Set("arm_client", c.Arm.Client.String()).
		Set("arm_item", term.OneLine(c.Arm.Item)).
		Set("told", yes(c.Told)).
		Set("notice", term.OneLine(c.Notice))
	return tx.Write(claimName(c.Session), p.Bytes())
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// Take turns the arm into c. The claim is on disk before the arm is gone.
func (c Claim) Take(tx *state.Tx) error {
	if err := c.Put(tx); err != nil {
		return err
	}
	return Disarm(tx)
}

// Drop removes the claim: the session has what it was to have.
func (c Claim) Drop(tx *state.Tx) error { return tx.Remove(claimName(c.Session)) }

// GiveBack turns the claim into an arm again. An arm that has come up in the
// meantime is the newer one and stays.
func (c Claim) GiveBack(tx *state.Tx) error {
	if c.Armed && tx.Kind(ArmFile) == state.Absent {
		if err := c.Arm.Put(tx); err != nil {
			return err
		}
	}
	return c.Drop(tx)
}

// Tell records that the notes of the session's claim have reached the host.
// At a prompt that is all there is to wait for, and the claim is dropped.
func Tell(tx *state.Tx, session string, atPrompt bool) error {
	c, ok := FindClaim(tx, session)
	if !ok {
		return nil
	}
	c.Told = true
	if atPrompt || !c.Armed && c.Notice == "" {
		return c.Drop(tx)
	}
	return c.Put(tx)
}

// Standing says how a claim stands when its session shows a sign of life.
type Standing int

const (
	// None: there is no claim.
	None Standing = iota
	// Confirmed: the session has the notes; the claim is gone.
	Confirmed
	// Untold: the hook that should have told the notes was killed. The claim
	// stays, and they have to be told again.
	Untold
	// Underway: another hook is about to tell them.
	Underway
)

// Confirm is called at a prompt or the end of a turn of the session. The claim
// it returns holds the notice that is still to be shown.
func Confirm(tx *state.Tx, session string, now time.Time) (Claim, Standing, error) {
	c, ok := FindClaim(tx, session)
	switch {
	case !ok:
		return Claim{}, None, nil
	case c.Told || !c.Armed:
		return c, Confirmed, c.Drop(tx)
	case now.Sub(c.Time).Abs() < answering:
		return c, Underway, nil
	}
	return c, Untold, nil
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
		return age > quiet
	case c.Client.Same(s.Client):
		// One client has one session at a time: the other one is over.
		return c.Session != s.Session
	}
	return !s.Alive(c.Client)
}

// Recover gives back the claims of sessions that have come to nothing, d being
// the directory that tx has locked. It goes on after an error and returns the
// last one.
func (s Start) Recover(d state.Dir, tx *state.Tx) error {
	var last error
	for _, name := range d.Names() {
		if !strings.HasPrefix(name, claimPrefix) {
			continue
		}
		if c, ok := readClaim(tx, name); ok && claimName(c.Session) == name && s.lost(c) {
			if err := c.GiveBack(tx); err != nil {
				last = err
			}
		}
	}
	return last
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
