package reload

import (
	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// thread is what a session may take up from an earlier one, and the courier
// that brings it.
type thread struct {
	*handover.Courier
	asked  bool // whether to trust the files
	answer vetting
	doubt  string // why the files are not to be trusted, "" if they are
}

func newThread(call *host.Call) *thread {
	t := &thread{Courier: &handover.Courier{
		Call: call, Dir: dirOf(call.Project), Wait: lockWait,
		Left: func(a handover.Arm) string { return textLeft(shortID(a.Owner)) },
	}}
	t.Pack = t.pack
	return t
}

// look finds out whether anybody is there to take something up.
func (t *thread) look() {
	t.Away = t.Call.Host.Headless && !settingsFor(t.Call, t.Dir).Headless
}

// newContext reports whether the session begins with an empty context, which
// knows nothing of a budget crossed before. An unknown source is a startup
// (case F05).
func newContext(source string) bool { return source != "resume" && source != "fork" }

// sessionStart answers the beginning of a session.
func sessionStart(call *host.Call) (host.Output, error) {
	if handover.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	t := newThread(call)
	foreign, err := options.Vet(t.Dir)
	t.Try("git did not say whether it tracks the settings", err)
	t.look()
	if t.Away && t.Dir.Kind("") == state.Absent {
		return host.Output{}, nil // a run without a person leaves nothing behind
	}
	model, known := modelAtStart(call)
	t.ask()
	out, err := t.Start(func(tx *state.Tx) {
		if newContext(call.Payload.Source) && !t.Away {
			t.Try("the crossing was not forgotten", forgetCrossing(tx, call.Payload))
		}
		if known {
			t.Try("the model was not stamped", model.write(tx))
		}
		t.Try("the settings were not stamped", stampEffective(tx, call))
		if t.asked {
			t.Try("what git said was not noted", t.answer.write(tx))
		}
	})
	// A compaction arms nothing that cannot be handed on, and cannot say so.
	if out.Silent() && !t.Away && call.Payload.Source == "compact" {
		if why := obstacle(t.Dir); why != nil {
			out.Message = textNotCarried(why)
		}
	}
	if foreign && out.Silent() && !t.Away && (call.Payload.Source == "startup" || call.Payload.Source == "") {
		out.Message = textForeignConfig(t.Dir.Path(configFile))
	}
	return out, err
}

// userPrompt answers a prompt. An arm is only of interest to a session that
// has had no SessionStart (case F05); the one that armed goes on until it is
// cleared.
func userPrompt(call *host.Call) (host.Output, error) {
	t := newThread(call)
	return t.Prompt(func(claimed bool) bool {
		if handover.LoopActive(call.Project) {
			return false
		}
		t.look()
		if !claimed {
			t.ask()
		}
		return true
	})
}

// sessionEnd gives back what the session took and nobody has seen.
func sessionEnd(call *host.Call) (host.Output, error) {
	return host.Output{}, newThread(call).End()
}

// ask finds out whether git brought the files along, if there is a digest or
// was one. It may start git, so it comes before the lock is taken.
func (t *thread) ask() {
	if t.Away || t.Dir.Kind(digestFile) == state.Absent && t.Dir.Kind(vettedFile) == state.Absent {
		return
	}
	t.asked, t.answer = true, vet(t.Dir)
	switch {
	case t.answer.err != nil:
		t.doubt = textUnasked(t.answer.err)
	case len(t.answer.tracked) > 0:
		t.doubt = textTracked(t.answer.tracked)
	}
}

// pack makes the digest ready for this session, which owns it from then on. A
// digest that is told again is its already, and was trusted.
func (t *thread) pack(tx *state.Tx, arm handover.Arm, again bool) (handover.Parcel, error) {
	keep := func(why string) (handover.Parcel, error) { return handover.Parcel{Keep: true, Line: why}, nil }
	doc, present, err := readDigest(tx)
	t.Try("the digest was not read", err)
	switch {
	case !present && err == nil:
		return handover.Parcel{}, nil
	case t.doubt != "" && !again:
		return keep(t.doubt)
	case err != nil:
		return keep(textUnreadable(err))
	case again:
		return handover.Parcel{Context: forContext(doc, t.Dir.Path(digestFile)), Line: banner(doc), Arm: arm}, nil
	case !t.asked:
		return keep("") // it came up a moment ago; the next session asks about it
	}
	owner, session := notes.FrontValue(doc, keyOwner), t.Call.Payload.SessionID
	owned, err := setOwner(tx, doc, session)
	t.Try("the digest kept its owner", err)
	line := banner(owned)
	switch agree := arm.Owner == "" || owner == "" || arm.Owner == owner; {
	case !agree:
		line = textDisagree(shortID(arm.Owner), shortID(owner)) + " " + line
	case arm.Owner != "" && owned != doc:
		// Should the arm go back, it is this session that arms the digest.
		arm.Owner = session
	}
	return handover.Parcel{Context: forContext(owned, t.Dir.Path(digestFile)), Line: line, Arm: arm}, nil
}
