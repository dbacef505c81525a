package handover

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// delivery is one with a payload, called for event in a session of the
// client with process id 71.
func delivery(d state.Dir, event host.Event, session string, p Payload, alive ...int) *Delivery {
	return &Delivery{
		Call: &host.Call{
			Host:    host.Host{PID: 71, Dialect: host.Claude{}},
			Payload: host.Payload{Event: event, SessionID: session, Source: "startup"},
			Env: host.Env{
				Now:   func() time.Time { return noon },
				Alive: func(pid int) bool { return slices.Contains(alive, pid) },
				Log:   func(string, ...any) {},
			},
		},
		Dir:     d,
		Timeout: time.Second,
		Prepare: func(_ *state.Tx, a Arm, _ bool) (Payload, error) { p.Arm = a; return p, nil },
		Left:    func(Arm) string { return "left" },
	}
}

// What a session that begins does about an arm: the first row that holds
// decides.
func TestDeliveryStart(t *testing.T) {
	t.Parallel()
	notes := Payload{Context: "notes", Line: "banner"}
	for name, tt := range map[string]struct {
		armed, left      bool
		payload          Payload
		context, message string
		keeps            bool // the arm
	}{
		"nothing armed":                     {payload: notes},
		"armed":                             {armed: true, payload: notes, context: "notes", message: "banner"},
		"only a line to say":                {armed: true, payload: Payload{Line: "see there"}, message: "see there"},
		"armed by a living client":          {armed: true, left: true, payload: Payload{Keep: true, Line: "no"}, message: "left", keeps: true},
		"armed by one that is yet to write": {armed: true, left: true, message: "left", keeps: true},
		"nothing to hand over":              {armed: true},
		"came with the repository (F61)":    {armed: true, payload: Payload{Keep: true, Line: "no"}, message: "no", keeps: true},
		"not to be told for now":            {armed: true, payload: Payload{Keep: true}, keeps: true},
		"came with it, but is not armed":    {payload: Payload{Keep: true, Line: "no"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDir(t)
			c := delivery(d, host.SessionStart, "s1", tt.payload, 71, 72)
			if tt.armed {
				arm := Arm{Owner: "s0"}
				if tt.left {
					arm.Client = Client{PID: 72}
				}
				do(t, d, arm.Put)
			}
			out, err := c.Start(nil)
			if err != nil || out.Context != tt.context || out.Message != tt.message {
				t.Errorf("%+v, %v", out, err)
			}
			if HasArm(d) != tt.keeps {
				t.Errorf("the arm is there: %v", HasArm(d))
			}
		})
	}
}

// Whether to act at a prompt is asked only if there is something to do.
func TestDeliveryPrompt(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	notes := Payload{Context: "notes", Line: "banner"}
	never := func(bool) bool { t.Error("asked"); return true }
	say := func(answer, claimed bool) func(bool) bool {
		return func(got bool) bool {
			if got != claimed {
				t.Errorf("claimed: %v", got)
			}
			return answer
		}
	}
	prompt := func(session string, ready func(bool) bool) host.Output {
		t.Helper()
		c := delivery(d, host.UserPromptSubmit, session, notes)
		out, err := c.Prompt(ready)
		if err != nil {
			t.Fatal(err)
		}
		c.Call.Answered()
		return out
	}
	if out := prompt("s1", never); !out.Silent() {
		t.Errorf("nothing armed: %+v", out)
	}
	do(t, d, Arm{Owner: "s0"}.Put)
	if out := prompt("s1", say(false, false)); !out.Silent() || !HasArm(d) {
		t.Errorf("not ready: %+v", out)
	}
	if out := prompt("s1", say(true, false)); out.Context != "notes" || HasArm(d) {
		t.Errorf("ready: %+v", out)
	}
	do(t, d, Arm{Owner: "s0"}.Put)
	if out := prompt("s1", never); !out.Silent() || !HasArm(d) {
		t.Errorf("it has been there before: %+v", out)
	}
	do(t, d, Claim{Session: "s2", Time: noon, Delivered: true, Notice: "later"}.Put)
	if out := prompt("s2", say(true, true)); out.Message != "later" {
		t.Errorf("a claim: %+v", out)
	}
}

// A payload is prepared again, and known to be, when the hook that was to deliver it
// was killed.
func TestDeliveryDeliversAgain(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	do(t, d, Claim{Session: "s1", Time: noon.Add(-time.Minute), Armed: true, Arm: Arm{Owner: "s0"}}.Put)
	c := delivery(d, host.UserPromptSubmit, "s1", Payload{})
	ready := func(bool) bool { return true }
	c.Prepare = func(_ *state.Tx, a Arm, again bool) (Payload, error) {
		if !again || a.Owner != "s0" {
			t.Errorf("again: %v, arm %+v", again, a)
		}
		return Payload{Context: "notes", Line: "banner"}, nil
	}
	if out, err := c.Prompt(ready); err != nil || out.Context != "notes" || out.Message != "banner" {
		t.Errorf("%+v, %v", out, err)
	}
	c.Call.Answered()
	if HasClaim(d, "s1") {
		t.Error("the claim is not settled")
	}
	// What cannot be told again is no reason to try for ever.
	do(t, d, Claim{Session: "s1", Time: noon.Add(-time.Minute), Armed: true}.Put)
	c.Prepare = func(*state.Tx, Arm, bool) (Payload, error) { return Payload{}, errors.New("gone") }
	if out, err := c.Prompt(ready); err != nil || !out.Silent() || HasClaim(d, "s1") {
		t.Errorf("%+v, %v", out, err)
	}
}

// A client that is on its way out still has a process for a moment: what it
// armed is for everybody from then on.
func TestDeliveryEndReleases(t *testing.T) {
	t.Parallel()
	for reason, free := range map[string]bool{"prompt_input_exit": true, "": true, "clear": false, "resume": false} {
		d := newDir(t)
		do(t, d, Arm{Owner: "s1", Client: Client{PID: 71}}.Put)
		c := delivery(d, host.SessionEnd, "s1", Payload{})
		c.Call.Payload.Reason = reason
		if err := c.End(); err != nil {
			t.Fatal(err)
		}
		if arm, ok := FindArm(d); !ok || (arm.Client.PID == 0) != free {
			t.Errorf("reason %q: %+v, %v", reason, arm, ok)
		}
	}
}

func TestClientVersion(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	if got := ClientVersion(d, Client{}); got != "" {
		t.Errorf("none noted: %q", got)
	}
	do(t, d, func(tx *state.Tx) error { return NoteClient(tx, Client{}, "2.1.332") })
	if got := ClientVersion(d, Client{}); got != "2.1.332" {
		t.Errorf("%q", got)
	}
}
