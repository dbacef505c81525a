package reload

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// action is what a Stop does.
type action int

const (
	silence  action = iota // nothing
	finish                 // the snapshot turn is over: arm what it wrote
	forget                 // back under the budget: a next crossing starts anew
	snapshot               // have the model write a digest in one more turn
	notify                 // tell the user where the budget stands
)

func (a action) String() string {
	return [...]string{silence: "silence", finish: "finish the snapshot", forget: "forget the crossing", snapshot: "snapshot", notify: "notify"}[a]
}

// stopFacts is all that decideStop knows.
type stopFacts struct {
	Loop       bool // another plugin continues the turns of this project
	Marker     bool // a snapshot turn is running
	Foreign    bool // Marker, but it is that of another live session
	Repeat     bool // this very Stop was answered a moment ago
	Active     bool // a hook has continued this turn already
	Headless   bool // nobody is watching, and the user has not said that it counts
	Failed     bool // the turn ended in an error of the API
	Background bool // tasks are still running
	Known      bool // the occupancy is
	Over       bool // at or above the budget
	Crossed    bool // there are notes of a crossing to forget
	Snapshot   bool // mode snapshot
	Pending    bool // something stands at the arm, whatever it is
	Forced     bool // this session has had its snapshot turn for this crossing
	Percent    int  // occupancy
	Next       int  // the occupancy from which a notice is due
}

// decideStop goes down the list once; the first line that holds decides.
func decideStop(f stopFacts) action {
	switch {
	case f.Loop, f.Repeat:
		return silence
	case f.Marker && !f.Foreign:
		return finish // before every other gate, so that it always completes
	case f.Active, f.Headless:
		return silence
	case f.Failed, f.Background:
		return silence // nothing is noted, so the crossing is met again later
	case !f.Known:
		return silence
	case !f.Over && f.Crossed:
		return forget
	case !f.Over:
		return silence
	case f.Snapshot && !f.Marker && !f.Pending && !f.Forced:
		return snapshot
	case f.Percent >= f.Next:
		return notify
	}
	return silence
}

// stopRun is one Stop.
type stopRun struct {
	call     *host.Call
	settings Settings
	full     occupancy.Occupancy
	facts    stopFacts
}

// stop answers the end of a turn. In an ordinary turn, under the budget, it
// reads a handful of small files and the end of the transcript and writes
// nothing at all.
func stop(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	s := stopRun{call: call}
	view := dir.View()
	defer view.Close()
	s.gather(view)
	if call.Decided != nil {
		defer func() { call.Decided(decideStop(s.facts).String(), s.facts) }()
	}
	session := call.Payload.SessionID
	claimed := handover.HasClaim(dir, session)
	if decideStop(s.facts) == silence && !claimed && !s.stampsDue(view) && !s.unseen(view) {
		return host.Output{}, nil
	}
	call.Slow()
	var out host.Output
	err := dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		// Another hook may have acted on the same event in the meantime.
		s.look(tx)
		changed := s.unseen(tx)
		if changed {
			s.log("the digest was not kept", see(tx)) // before anything arms or replaces it
		}
		var err error
		if out, err = s.act(tx); err != nil {
			return err
		}
		if changed {
			line, err := tell(tx, sessionKey(call.Payload))
			s.log("nobody was told", err)
			out.Message = strings.TrimSpace(out.Message + "\n" + line)
		}
		// What follows is for later: it must not cost the answer.
		s.log("not stamped", s.stamp(tx))
		if claimed {
			// A turn has ended, so somebody was there.
			_, _, err := handover.Confirm(tx, session, call.Env.Now())
			s.log("claim not confirmed", err)
		}
		return nil
	})
	if err != nil && decideStop(s.facts) == finish {
		// The next Stop makes up for it; until then /clear starts without a digest.
		call.Env.Log("not armed", "error", err.Error())
		return host.Output{Message: textNotArmed(dir.Kind(digestFile) == state.File, true, err)}, nil
	}
	return out, err
}

// log notes what went wrong with something that must not cost the answer.
func (s *stopRun) log(what string, err error) {
	if err != nil {
		s.call.Env.Log(what, "error", err.Error())
	}
}

// unseen reports whether the digest is another one than at the last look. Where
// another plugin continues the turns, or nobody is there, none is taken.
func (s *stopRun) unseen(from state.Reader) bool {
	return !s.facts.Loop && !s.facts.Headless && unseen(from, sessionKey(s.call.Payload))
}

// gather collects the facts. The transcript is left alone at the end of a
// snapshot turn, which completes whatever stands there.
func (s *stopRun) gather(from state.Reader) {
	p := s.call.Payload
	s.settings = settingsFor(s.call, from)
	for _, why := range s.settings.Ignored {
		s.call.Env.Log("setting ignored", "why", why)
	}
	s.facts = stopFacts{
		Loop:       handover.LoopActive(s.call.Project),
		Active:     p.StopHookActive,
		Headless:   s.call.Host.Headless && !s.settings.Headless,
		Background: p.BackgroundTasks > 0,
		Snapshot:   s.settings.Snapshot,
	}
	s.look(from)
	if s.facts.Loop || s.facts.Marker && !s.facts.Foreign {
		return
	}
	// Where there is no budget, or nobody to tell, nothing is waited for: the
	// figure decides nothing then.
	s.full = occupancy.Measure(s.call, s.settings.sources(s.call.Host, p.SessionID, s.call.Profile, from),
		s.settings.BudgetPct > 0 && !s.facts.Headless)
	s.facts.Failed = s.full.Tail.APIError || host.IsAPIError(p.LastMessage)
	s.facts.Known = s.full.Known
	s.facts.Percent = s.full.Percent()
	s.facts.Over = s.full.Known && s.settings.over(s.full)
}

// look reads the facts that another process may change.
func (s *stopRun) look(from state.Reader) {
	f := &s.facts
	kind, marked := from.Stat(markerFile)
	f.Marker = kind == state.File
	f.Pending = s.pending(from)
	sessions := readSessions(from, s.call)
	f.Next = sessions.nextNotice(from)
	f.Forced = sessions.of(sessions.self).stop != ""
	f.Crossed = f.Next > 0 || f.Forced
	f.Repeat = f.Forced && sessions.repeated()
	f.Foreign = false
	if f.Marker {
		if _, wrote := from.Stat(digestFile); wrote.After(marked) {
			f.Repeat = false // the model has been at work in between
		}
		f.Foreign = sessions.foreignMarker(from)
	}
}

// pending reports whether something of this session's waits for the next one, or
// stands in the way of it. What another client that lives has armed does not: it
// is kept for that client.
func (s *stopRun) pending(from state.Reader) bool {
	if from.Kind(armFile) == state.Absent {
		return handover.HasParked(dirOf(s.call.Project), s.call.Payload.SessionID)
	}
	arm, armed := handover.FindArm(from)
	return !armed || arm.Client.PID == 0 || !handover.Begin(s.call).LeftTo(arm)
}

// act does what the facts ask for, under the lock.
func (s *stopRun) act(tx *state.Tx) (host.Output, error) {
	switch decideStop(s.facts) {
	case finish:
		return s.finish(tx)
	case forget:
		return host.Output{}, readSessions(tx, s.call).forget(tx)
	case snapshot:
		return s.snapshot(tx)
	case notify:
		return s.notify(tx)
	}
	return host.Output{}, nil
}

// snapshot is pass 1. The marker and the record of this Stop are both written
// before the turn is continued: a snapshot turn that nobody remembers would be
// begun again at its own end. What cannot be written is taken back, so that the
// next Stop tries again.
func (s *stopRun) snapshot(tx *state.Tx) (host.Output, error) {
	if why := blockedBy(tx); why != nil {
		s.call.Env.Log("no snapshot: it would not be handed on", "why", why.Error())
		return s.notifyIfDue(tx)
	}
	begin := handover.Begin(s.call)
	_, err := setAside(tx, begin, 0)
	if err == nil {
		err = tx.Write(markerFile, []byte(begin.Session+"\n"))
	}
	if err == nil {
		err = errors.Join(tx.NotRegular(markerFile), readSessions(tx, s.call).recordStop(tx))
	}
	if err != nil {
		s.call.Env.Log("no snapshot", "error", errors.Join(err, tx.Remove(markerFile)).Error())
		return s.notifyIfDue(tx)
	}
	client := s.full.Tail.Version
	if client == "" {
		client = handover.ClientVersion(tx, begin.Client)
	}
	how, old := writeNew, ""
	switch exists := tx.Kind(digestFile) == state.File; {
	case exists && trusted(tx, begin.Session):
		how = readFirst
		old, _, _ = readDigest(tx) // none where it cannot be read
	case exists:
		how = leaveUnread
	}
	return host.Output{
		Continue: textBrief(s.full, s.settings, how, dirOf(s.call.Project).Path(digestFile), reminder(s.call, tx, old), begin.Session, begin.Now),
		Client:   client,
	}, nil
}

// reminder is what the model is told of the session when it is to write the digest.
func reminder(call *host.Call, from state.Reader, old string) string {
	text := gatherFacts(call, from, old).reminder()
	if text != "" {
		text = "\n\n" + text
	}
	return text
}

// manner is how the model is to write the digest. The host's tool replaces only
// what the model has read, so what nobody has vouched for is replaced by ours.
type manner int

const (
	writeNew    manner = iota // there is none
	readFirst                 // there is one
	leaveUnread               // there is one that somebody else may have written
)

// finish is pass 2. The marker goes last: a hook that is killed before that is
// made up for by the next Stop.
func (s *stopRun) finish(tx *state.Tx) (host.Output, error) {
	begin := handover.Begin(s.call)
	facts, page, err := s.pages(tx, begin)
	out := host.Output{}
	var better time.Time // when the page was written that takes the place of one that says nothing
	gone := !facts.Present && tx.Kind(digestFile) == state.Absent
	if err == nil && (gone || facts.Thin && facts.Fresh) {
		if better, err = restoreGood(tx, begin.Session); !better.IsZero() {
			facts.Present = true
		}
	}
	switch decide := decideArm(facts); {
	case err == nil && !decide:
		out.Message = textNoDigest(facts.Present)
	default:
		if err == nil {
			err = blockedBy(tx)
		}
		if err == nil {
			err = begin.Arm(tx, strings.TrimPrefix(page, digestFile))
		}
		if err != nil {
			s.call.Env.Log("not armed", "error", err.Error())
			out.Message = textNotArmed(facts.Present, facts.Fresh, err)
		} else {
			out.Message = textArmed(facts)
			if !better.IsZero() {
				out.Message = textKeptGood(gone, begin.Now.Sub(better))
			}
		}
	}
	s.log("the snapshot was not noted", readSessions(tx, s.call).recordStop(tx))
	return out, tx.Remove(markerFile)
}

// armFacts is all that decideArm knows of the page that a snapshot turn leaves.
type armFacts struct {
	Present bool
	Thin    bool // it says nothing to go on with
	Fresh   bool // written since the snapshot turn began
	Foreign bool // it names another session as its owner
	Theirs  bool // which has armed it, and lives
	Used    bool // the page has been handed on before
}

// decideArm reports whether the page is armed. An old page is better than none;
// but what another session has been given is not handed on once more, and what it has
// armed is its own.
func decideArm(f armFacts) bool {
	switch {
	case !f.Present, f.Foreign && f.Theirs:
		return false
	case f.Fresh:
		return true
	}
	return !(f.Foreign && f.Used)
}

// pages finds the page that the snapshot turn has written: the digest, or, where
// another session has replaced that since, the copy that was set aside.
func (s *stopRun) pages(tx *state.Tx, begin handover.Start) (f armFacts, page string, err error) {
	_, marked := tx.Stat(markerFile)
	own := asideName(begin.Session)
	doc, present, err := readDigest(tx)
	owner := notes.FrontValue(doc, keyOwner)
	f.Foreign = owner != "" && begin.Session != "" && owner != begin.Session
	f.Thin = !f.Foreign && tx.Kind(digestFile) == state.File && isThin(doc)
	if _, wrote := tx.Stat(own); f.Foreign && wrote.After(marked) {
		return armFacts{Present: true, Fresh: true}, own, nil
	}
	_, wrote := tx.Stat(digestFile)
	f.Present, f.Fresh = present, wrote.After(marked)
	if f.Foreign {
		arm, armed := handover.FindArm(tx)
		f.Theirs = armed && arm.Owner == owner && begin.LeftTo(arm)
		f.Used = isSpent(tx, doc, begin.Session)
	}
	return f, digestFile, err
}

// notifyIfDue takes the place of a snapshot.
func (s *stopRun) notifyIfDue(tx *state.Tx) (host.Output, error) {
	if s.facts.Percent < s.facts.Next {
		return host.Output{}, nil
	}
	return s.notify(tx)
}

// notify is one step of the ladder.
func (s *stopRun) notify(tx *state.Tx) (host.Output, error) {
	if err := readSessions(tx, s.call).recordNotice(tx, s.full.Percent()); err != nil {
		return host.Output{}, fmt.Errorf("no notice: %w", err)
	}
	if why := blockedBy(tx); why != nil {
		return host.Output{Message: textBlocked(s.full, s.settings, why)}, nil
	}
	armed := s.facts.Pending && tx.Kind(digestFile) == state.File
	return host.Output{Message: textNotice(s.full, s.settings, armed)}, nil
}

// stampsDue reports whether there is something to remember even though there
// is nothing to say: after a switch of the model, and once for each version of
// the host, which decides who shows the banner after /clear. A project that no
// session has been started in is left as it is.
func (s *stopRun) stampsDue(from state.Reader) bool {
	return !s.facts.Headless && (s.full.Window.Switched || s.newClient(from) && (s.facts.Pending || from.Kind(options.StampFile) == state.File))
}

// newClient reports whether this turn has seen a version of the host that is
// not remembered yet.
func (s *stopRun) newClient(from state.Reader) bool {
	v := s.full.Tail.Version
	return v != "" && v != handover.ClientVersion(from, handover.Here(s.call.Host))
}

// stamp remembers what this turn has shown about model and host.
func (s *stopRun) stamp(tx *state.Tx) error {
	var errs []error
	if w := s.full.Window; w.Switched {
		errs = append(errs, w.Stamp.Write(tx))
	}
	if s.newClient(tx) {
		errs = append(errs, handover.NoteClient(tx, handover.Here(s.call.Host), s.full.Tail.Version))
	}
	return errors.Join(errs...)
}
