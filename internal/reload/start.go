package reload

import (
	"context"
	"time"

	"github.com/ccreload/ccreload/internal/continuity"
	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// gitWait is how long git may take to say what it tracks.
const gitWait = 2 * time.Second

// startAction is what a session that begins does about an arm.
type startAction int

const (
	startPlain   startAction = iota // nothing: it starts afresh
	startDisarm                     // nothing is there to be handed over
	startLeave                      // the arm is that of another session, which lives
	startRefuse                     // what is there is not this user's
	startDeliver                    // hand over the digest
)

// startFacts is all that decideStart knows.
type startFacts struct {
	Away    bool // nobody is watching, and the user has not said that it counts
	Armed   bool
	Left    bool // the arm is another living client's
	Digest  bool // there is one to hand over
	Foreign bool // the digest, the arm or the settings came with the repository
}

// decideStart goes down the list once; the first line that holds decides.
// The session's own id has no part in it: /clear gives it a new one each time.
func decideStart(f startFacts) startAction {
	switch {
	case f.Away, !f.Armed:
		return startPlain
	case f.Left:
		return startLeave
	case !f.Digest:
		return startDisarm
	case f.Foreign:
		return startRefuse
	}
	return startDeliver
}

// newContext reports whether the session begins with an empty context, which
// knows nothing of a budget crossed before. An unknown source is a startup
// (case F05).
func newContext(source string) bool { return source != "resume" && source != "fork" }

// thread is a session that may take up what an earlier one left.
type thread struct {
	call   *host.Call
	dir    state.Dir
	begin  continuity.Start
	away   bool   // nobody is watching, and the user has not said that it counts
	asked  bool   // whether to trust the files
	doubt  string // why the files are not to be trusted, "" if they are
	client string // the host's version, "" when not known
}

func newThread(call *host.Call, dir state.Dir) *thread {
	return &thread{
		call:   call,
		dir:    dir,
		begin:  continuity.Begin(call.Payload, call.Env),
		away:   continuity.Headless(call.Env.Getenv) && !settingsFor(call, dir).Headless,
		client: clientVersion(dir),
	}
}

// sessionStart answers the beginning of a session.
func sessionStart(call *host.Call) (host.Output, error) {
	if continuity.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	dir := dirOf(call.Project)
	t := newThread(call, dir)
	if t.away && dir.Kind("") == state.Absent {
		return host.Output{}, nil // a run without a person leaves nothing behind
	}
	model, known := modelAtStart(call)
	t.ask()

	var out host.Output
	err := dir.Do(lockWait, func(tx *state.Tx) error {
		if newContext(call.Payload.Source) && !t.away {
			t.try("the crossing was not forgotten", forgetCrossing(tx, call.Payload))
		}
		if known {
			t.try("the model was not stamped", model.write(tx))
		}
		t.try("the settings were not stamped", stampEffective(tx, call))
		var err error
		out, err = t.takeUp(tx)
		return err
	})
	return out, err
}

// try logs what went wrong with something that must not cost the digest.
func (t *thread) try(what string, err error) {
	if err != nil {
		t.call.Env.Log(what, "error", err.Error())
	}
}

// ask finds out whether git brought the files along, if there is anything to
// hand over. It may start git, so it comes before the lock is taken.
func (t *thread) ask() {
	if t.away || !continuity.HasArm(t.dir) && !continuity.HasClaims(t.dir) || t.dir.Kind(digestFile) == state.Absent {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), gitWait)
	defer cancel()
	t.asked = true
	names, err := git.Tracked(ctx, t.dir.Path(""), digestFile, armFile, configFile)
	switch {
	case err != nil:
		t.doubt = textUnasked(err)
	case len(names) > 0:
		t.doubt = textTracked(names)
	}
}

// takeUp decides on the arm and acts.
func (t *thread) takeUp(tx *state.Tx) (host.Output, error) {
	t.try("the session was not noted", continuity.MarkStarted(tx, t.begin.Session))
	if !t.away {
		t.try("a claim was not given back", t.begin.Recover(t.dir, tx))
	}
	arm, armed := continuity.FindArm(tx)
	doc, present, err := readDigest(tx)
	t.try("the digest was not read", err)
	if present && !t.asked {
		armed = false // it came up a moment ago; the next session asks about it
	}
	switch decideStart(startFacts{
		Away:    t.away,
		Armed:   armed,
		Left:    t.begin.LeftTo(arm),
		Digest:  present || err != nil,
		Foreign: t.doubt != "",
	}) {
	case startDisarm:
		return host.Output{}, continuity.Disarm(tx)
	case startLeave:
		return t.say(tx, textLeft(shortID(arm.Owner)))
	case startRefuse:
		return t.say(tx, t.doubt)
	case startDeliver:
		if err != nil {
			return t.say(tx, textUnreadable(err))
		}
		return t.deliver(tx, arm, doc)
	}
	return host.Output{}, nil
}

// deliver hands the digest over. The claim is written before the arm goes, and
// counts for nothing until the answer is written as well.
func (t *thread) deliver(tx *state.Tx, arm continuity.Arm, doc string) (host.Output, error) {
	owner := continuity.FrontValue(doc, keyOwner)
	agree := arm.Owner == "" || owner == "" || arm.Owner == owner
	owned, err := setOwner(tx, doc, t.begin.Session)
	t.try("the digest kept its owner", err)
	line := banner(owned)
	if !agree {
		line = textDisagree(shortID(arm.Owner), shortID(owner)) + " " + line
	} else if arm.Owner != "" && owned != doc {
		// Should the arm go back, it is this session that arms the digest.
		arm.Owner = t.begin.Session
	}
	claim := continuity.Claim{
		Session: t.begin.Session,
		Client:  t.begin.Client,
		Time:    t.begin.Now,
		Armed:   true,
		Arm:     arm,
	}
	out := host.Output{Context: notes(owned, t.dir.Path(digestFile))}
	out.Message, claim.Notice = t.split(line)
	claim.Sent = out.Message != ""
	if err := claim.Take(tx); err != nil {
		return host.Output{}, err
	}
	t.tell()
	return out, nil
}

// tell records that the host has been told, once it has.
func (t *thread) tell() {
	t.call.AfterAnswer(func() {
		t.try("it was not noted that the digest is told", t.dir.Do(lockWait, func(tx *state.Tx) error {
			return continuity.Tell(tx, t.begin.Session, t.atPrompt())
		}))
	})
}

func (t *thread) atPrompt() bool { return t.call.Payload.Event == host.UserPromptSubmit }

// split decides whether a line is shown now or at the first prompt. A client
// of unknown version gets it both ways; the prompt may know more.
func (t *thread) split(line string) (now, later string) {
	switch {
	case t.atPrompt() || !continuity.HidesMessage(t.call.Payload.Source, t.client):
		return line, ""
	case t.client == "":
		return line, line
	}
	return "", line
}

// say shows a line without taking the arm.
func (t *thread) say(tx *state.Tx, line string) (host.Output, error) {
	now, later := t.split(line)
	if later != "" {
		claim, ok := continuity.FindClaim(tx, t.begin.Session)
		if !ok {
			claim = continuity.Claim{Session: t.begin.Session, Client: t.begin.Client, Time: t.begin.Now}
		}
		claim.Notice, claim.Sent = later, now != ""
		t.try("the notice was not kept", claim.Put(tx))
	}
	return host.Output{Message: now}, nil
}
