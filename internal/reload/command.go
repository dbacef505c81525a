package reload

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// Store is where a person or a slash command works on the digest of a project,
// apart from any hook.
type Store struct {
	Project string
	Session string // the session that runs the command, "" outside of one
	Env     host.Env
	Host    host.Host
	Profile host.Profile
	// Transcript is that of the session, "" when it is not known.
	Transcript string
}

// ErrNoDigest is returned where there is no digest to work on.
var ErrNoDigest = errors.New(textNothingThere)

// Written is what became of a digest that was handed in.
type Written struct {
	Path  string
	Aside string   // the sentence about another session's digest, "" for none
	Lacks []string // intent and sections that are missing or say nothing
	// NotArmed says why the arm that was asked for is not there.
	NotArmed error
	Armed    bool
	// Instead says what was saved in the place of a digest that says nothing, ""
	// for that digest itself.
	Instead string
	// Unkept says why digests are not kept in the history.
	Unkept error
}

// MaxDigest is the largest digest that is taken, in bytes.
const MaxDigest = maxFile

// Write replaces the project's digest by data, stamped with the session and
// the time; intent, if not empty, replaces the one in its frontmatter. What is
// missing is no reason to refuse it. One that says nothing at all does not take
// the place of one that does, and otherwise the transcript is asked for help.
func (d Store) Write(data []byte, intent string, arm bool) (Written, error) {
	doc := strings.ToValidUTF8(string(state.Text(data)), "\ufffd")
	switch {
	case strings.TrimSpace(doc) == "":
		return Written{}, problem.Input("hand it in as Markdown, on standard input or with --from FILE", textEmptyDigest)
	case len(doc) > MaxDigest:
		return Written{}, problem.Input("a digest is a page of under 30 lines", "%s", textLargeDigest(MaxDigest))
	}
	if !strings.HasSuffix(doc, "\n") {
		doc += "\n"
	}
	now := d.Env.Now()
	doc = stampDigest(doc, d.Session, now)
	if intent != "" {
		doc, _ = notes.SetFront(doc, keyIntent, intent)
	}
	dir := dirOf(d.Project)
	w := Written{Path: dir.Path(digestFile), Lacks: missing(doc)}
	owner := Effective(d.Project, d.Profile, d.Host.Option).OwnerWindow
	var answer trust
	if arm {
		answer = checkTrust(dir)
	}
	thin := isThin(doc)
	if thin && !d.keepsGood(dir) {
		call := d.call()
		call.Payload.TranscriptPath, call.Payload.Cwd = d.Transcript, d.Project
		if m := gatherMechanical(call, dir, ""); !m.knowsNothing() {
			doc, w.Instead, w.Lacks, thin = m.digest(), textFromTranscript, nil, false
		}
	}
	err := dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if thin && d.keepsGood(tx) {
			w.Instead, w.Lacks = textKeptOlder, nil
			if arm {
				w.NotArmed = d.put(tx, answer)
				w.Armed = w.NotArmed == nil
			}
			return nil
		}
		w.Aside, _ = setAside(tx, d.begin(), owner)
		if err := replace(tx, doc, now); err != nil {
			return err
		}
		if arm {
			_, answer.wrote = tx.Stat(digestFile)
			w.NotArmed = d.put(tx, answer)
			w.Armed = w.NotArmed == nil
		}
		return nil
	})
	if err != nil {
		return Written{}, fmt.Errorf("the digest was not written: %w", err)
	}
	w.Unkept = historyProblem(dir)
	return w, nil
}

// Draft returns what a file holds for Write. A path that leads to nothing here is one
// in the project: the shell of a session may have moved elsewhere.
func (d Store) Draft(path string) ([]byte, error) {
	data, err := state.ReadFile(d.draftPath(path), MaxDigest)
	if err != nil {
		return nil, problem.AsInput(fmt.Errorf("the digest cannot be read: %w", err))
	}
	return data, nil
}

func (d Store) draftPath(path string) string {
	if here, err := filepath.Abs(path); err == nil {
		if _, err := os.Stat(here); err == nil || filepath.IsAbs(path) {
			return here
		}
	}
	return filepath.Join(d.Project, path)
}

// DropDraft removes the file that Draft has read, where it was made for that.
func (d Store) DropDraft(path string) {
	if path == "" {
		return
	}
	path = d.draftPath(path)
	name := filepath.Base(path)
	if !strings.HasPrefix(name, draftPrefix) || !strings.HasSuffix(name, draftSuffix) ||
		state.RealPath(filepath.Dir(path)) != state.RealPath(dirOf(d.Project).Path("")) {
		return
	}
	if err := os.Remove(path); err != nil {
		d.Env.Log("the draft was not removed", "error", err.Error())
	}
}

// keepsGood reports whether the digest that is there says something, and is not
// another session's.
func (d Store) keepsGood(from state.Reader) bool {
	doc, ok, err := readDigest(from)
	owner := notes.FrontValue(doc, keyOwner)
	return err == nil && ok && !isThin(doc) && (owner == "" || d.Session == "" || owner == d.Session)
}

// put arms for the next session, unless git has something against it.
func (d Store) put(tx *state.Tx, answer trust) error {
	if err := answer.write(tx); err != nil {
		return err
	}
	if err := answer.reason(); err != nil {
		return err
	}
	return d.begin().Arm(tx, "")
}

// call is the command, as if it were a hook of the session that runs it.
func (d Store) call() *host.Call {
	return &host.Call{Payload: host.Payload{SessionID: d.Session}, Project: d.Project, Env: d.Env, Host: d.Host, Profile: d.Profile}
}

func (d Store) begin() handover.Start { return handover.Begin(d.call()) }

// Arm hands the digest that is there to the next session.
func (d Store) Arm() error {
	dir := dirOf(d.Project)
	if dir.Kind("") == state.Absent {
		return ErrNoDigest // and no directory for its sake
	}
	answer := checkTrust(dir)
	return dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if _, ok, err := readDigest(tx); err != nil {
			return err
		} else if !ok {
			return ErrNoDigest
		}
		if err := see(tx); err != nil {
			d.Env.Log("the digest was not kept", "error", err.Error())
		}
		return d.put(tx, answer)
	})
}

// Take returns the digest. In a session other than the one that armed it,
// that is a delivery like any other: the arm is used up, and the digest is
// this session's from now on. It reports whether that was so. A digest that git
// tracks is an error: somebody else may have written it (case F61). Where git
// gives no answer the person who asks has been told, and decides. Where the last
// session left no digest, and somebody was told so, it is made now.
func (d Store) Take() (doc string, taken bool, err error) {
	dir := dirOf(d.Project)
	doc, ok, err := readDigest(dir)
	if err != nil {
		return "", false, err
	}
	tracked := checkTrust(dir).tracked
	last, left := d.unwritten(dir)
	if left && !(ok && notes.FrontValue(doc, keyOwner) == d.Session) && !d.takes(dir) && len(tracked) == 0 {
		doc, err = d.build(last)
		return doc, false, err
	}
	switch {
	case !ok:
		return "", false, ErrNoDigest
	case slices.Contains(tracked, digestFile):
		return "", false, errors.New(textNotRead(dir.Path(digestFile)))
	case !d.takes(dir):
		return doc, false, nil
	}
	err = dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if !d.takes(tx) {
			return nil // another session was faster
		}
		if err := handover.Disarm(tx); err != nil {
			return err
		}
		taken = true
		doc, err = setOwner(tx, digestFile, doc, d.Session)
		return err
	})
	return doc, taken, err
}

// takes reports whether reading the digest uses up the arm.
func (d Store) takes(from state.Reader) bool {
	arm, armed := handover.FindArm(from)
	return armed && d.Session != "" && arm.Owner != d.Session
}
