package reload

import (
	"errors"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/transcript"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// thread is the delivery of a digest to the session of a hook.
type thread struct {
	*handover.Delivery
	trust trust
}

func newThread(call *host.Call) *thread {
	t := &thread{Delivery: &handover.Delivery{
		Call: call, Dir: dirOf(call.Project), Timeout: lockTimeout,
		Left: func(handover.Arm) string { return textLeft },
	}}
	t.Prepare = t.prepare
	return t
}

// away reports whether nobody sits in front of the session, and the user has not
// said that it counts all the same.
func away(call *host.Call, from state.Reader) bool {
	return call.Host.Headless && !settingsFor(call, from).Headless
}

// newContext reports whether the session begins with an empty context, which
// knows nothing of a budget crossed before. An unknown source is a startup
// (case F05).
func newContext(source string) bool { return source != "resume" && source != "fork" }

// sessionStart answers the beginning of a session. What may take a while is
// asked first; all the rest happens under one lock.
func sessionStart(call *host.Call) (host.Output, error) {
	if handover.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	t := newThread(call)
	foreign, err := options.Vet(t.Dir)
	t.Try("git did not say whether it tracks the settings", err)
	if away(call, t.Dir) {
		return host.Output{}, nil // a run without a person leaves nothing behind
	}
	figure, model := occupancy.AtStart(call, t.Dir)
	t.checkTrust()
	last, isLeft := leftBehind(call, t.Dir)
	if isLeft && !t.trust.asked {
		t.trust = checkTrust(t.Dir)
	}
	if slices.Contains(t.trust.tracked, openFile) {
		last, isLeft = left{}, false // a repository's word
	}
	noted := false
	out, err := t.Start(func(tx *state.Tx) {
		t.Try("the session was not noted", func() error {
			list := readOpened(tx)
			noted = slices.ContainsFunc(list, func(o opened) bool { return o.id == last.id && o.told.Equal(last.told) })
			return writeOpened(tx, begun(list, call, last.id))
		}())
		if newContext(call.Payload.Source) {
			t.Try("the crossing was not forgotten", readSessions(tx, call).begin(tx))
		}
		t.Try("the model was not stamped", errors.Join(figure.Write(tx), model.Write(tx)))
		t.Try("the settings were not stamped", stampEffective(tx, call))
		t.Try("what git said was not noted", t.trust.write(tx))
		t.Try("the digest was not kept", see(tx))
	})
	if !out.Silent() {
		return out, err
	}
	if _, armed := handover.FindArm(t.Dir); armed && err != nil {
		t.Try("the session was not begun", err)
		return host.Output{Message: textNotLoaded(err)}, nil
	}
	switch call.Payload.Source {
	case "compact":
		// A compaction arms nothing that cannot be handed on, and cannot say so.
		if why := blockedBy(t.Dir); why != nil {
			out.Message = textNotCarried(why)
		}
	case "startup", "":
		if foreign {
			out.Message = textForeignConfig(t.Dir.Path(configFile))
		} else if isLeft && noted {
			out.Message = textLeftBehind(last, call.Env.Now())
		}
	}
	return out, err
}

// userPrompt answers a prompt. An arm is only of interest to a session that
// has had no SessionStart (case F05); the one that armed goes on until it is
// cleared.
func userPrompt(call *host.Call) (host.Output, error) {
	t := newThread(call)
	given := false
	out, err := t.Prompt(func(claimed bool) bool {
		if handover.LoopActive(call.Project) {
			return false
		}
		if given = claimed; claimed {
			return true
		}
		t.checkTrust()
		return !away(call, t.Dir)
	})
	if given {
		out.Context = strings.TrimSpace(out.Context + "\n\n" + t.corrected())
	}
	if asksForSnapshot(call.Payload.Prompt) && !away(call, t.Dir) {
		old := ""
		if trusted(t.Dir, call.Payload.SessionID) {
			old, _, _ = readDigest(t.Dir) // none where it cannot be read
		}
		out.Context = strings.TrimSpace(out.Context + "\n\n" + gatherFacts(call, t.Dir, old).reminder())
	}
	return out, err
}

// corrected looks once more at the mechanical digest that this session was given
// after a compaction. When a turn was taken back right before it, only now can that
// be seen (docs/host.md, Transcripts). The digest is then written anew, and what is
// to take the place of the old one is returned; "" when it is right.
func (t *thread) corrected() string {
	old, _, err := readDigest(t.Dir)
	_, wrote := t.Dir.Stat(digestFile)
	session, request := t.Call.Payload.SessionID, requested(old)
	if err != nil || request == "" || !isMechanical(old) || authorOf(t.Dir, old, wrote) != session {
		return ""
	}
	asked := gatherFacts(t.Call, t.Dir, old).Facts.Prompts
	if len(asked) == 0 || slices.ContainsFunc(asked, func(p transcript.Prompt) bool { return notes.Line(p.Text, mechPrompt) == request }) {
		return ""
	}
	doc := gatherMechanical(t.Call, t.Dir, old).digest()
	err = t.Dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if now, _, err := readDigest(tx); err != nil || now != old {
			return err
		}
		return replace(tx, doc, t.Call.Env.Now())
	})
	t.Try("the digest was not corrected", err)
	return textCorrected + "\n\n" + forContext(doc, t.Dir.Path(digestFile))
}

// asksForSnapshot reports whether a prompt is the command that has the model write
// the digest: it is given the facts for it.
func asksForSnapshot(prompt string) bool {
	word, _, _ := strings.Cut(prompt, " ")
	return strings.HasPrefix(word, "/") && (word == "/snapshot" || strings.HasSuffix(word, ":snapshot"))
}

// sessionEnd gives back what the session took and nobody has seen. Before that a
// session that is left for good has its digest written, if the user wants that of
// every session.
func sessionEnd(call *host.Call) (host.Output, error) {
	t := newThread(call)
	if reason := call.Payload.Reason; reason != "clear" && reason != "resume" && settingsFor(call, t.Dir).AtEnd {
		o := opened{id: sessionKey(call.Payload), transcript: call.Payload.TranscriptPath}
		if _, ok := o.left(t.Dir); ok {
			_, err := preCompact(call)
			t.Try("no digest at the end", err)
		}
	}
	return host.Output{}, t.End()
}

// checkTrust finds out whether git brought the files along, if there is a digest
// or was one. It may start git, so it comes before the lock is taken.
func (t *thread) checkTrust() {
	if t.Dir.Kind(digestFile) != state.Absent || t.Dir.Kind(trustFile) != state.Absent {
		t.trust = checkTrust(t.Dir)
	}
}

// prepare makes the digest ready for this session, which owns it from then on.
// One that is delivered again is its already, and was trusted.
func (t *thread) prepare(tx *state.Tx, arm handover.Arm, again bool) (handover.Payload, error) {
	page := pageOf(arm)
	session, compacted := t.Call.Payload.SessionID, t.Call.Payload.Source == "compact"
	if !again && t.Call.Payload.Source == "resume" && arm.Owner == session && session != "" && !arm.Returned {
		return handover.Payload{Keep: true}, nil // it armed for the session after it (case F89)
	}
	doc, present, err := readPage(tx, page)
	t.Try("the digest was not read", err)
	if err == nil && !again && present {
		err = t.trust.reason()
	}
	switch {
	case err != nil:
		return handover.Payload{Keep: true, Line: textNotLoaded(err)}, nil
	case !present:
		return handover.Payload{}, nil
	case !again && !t.trust.asked:
		return handover.Payload{Keep: true}, nil // it came up a moment ago; the next session asks about it
	case compacted && page == digestFile && isSpent(tx, doc, session):
		return handover.Payload{Keep: true}, nil // another thread, which somebody else went on with
	}
	_, wrote := tx.Stat(page)
	line := banner(doc, t.Call.Env.Now().Sub(written(doc, wrote)))
	if !again {
		owner := notes.FrontValue(doc, keyOwner)
		// A copy that was set aside may be of the page that still stands there.
		standing, _, _ := readDigest(tx)
		owned, err := setOwner(tx, page, doc, session)
		t.Try("the digest kept its owner", err)
		if _, wrote := tx.Stat(digestFile); page == digestFile || standing == doc {
			author := authorOf(tx, doc, wrote)
			t.Try("the digest was not noted as used", tx.Update(usedFile, state.Pairs{}.Set(keyUsed, nanoseconds(wrote)).Set(keyAuthor, author).Bytes()))
		}
		switch agree := arm.Owner == "" || owner == "" || arm.Owner == owner; {
		case !agree && t.bothOpen(tx, arm, owner):
			line = textDisagree + " " + line
		case !agree:
		case arm.Owner != "" && owned != doc:
			// Should the arm go back, it is this session that arms the digest.
			arm.Owner = session
		}
		if t.Doubtful {
			line = textTwice + " " + line
		}
		doc = owned
	}
	show := forContext
	if compacted {
		show = afterCompact
	}
	return handover.Payload{Context: show(doc, t.Dir.Path(page)), Line: line, Arm: arm}, nil
}
