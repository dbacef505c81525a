package reload

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// Every digest that a hook or a command comes across is kept in historyDir, so
// that nobody who writes the file can lose one, whether a guard sees the writer
// or not (case F40). The directory has a lock of its own: what is kept there is
// kept even while another process holds the state directory.

const (
	historyDir = "history"
	maxHistory = 20
	// maxKept is the largest file that is kept, in bytes: larger than any digest,
	// because it may be somebody else's.
	maxKept = 8 << 20
	// historyTimeout is how long a hook waits for historyDir.
	historyTimeout = 500 * time.Millisecond
)

// keptName is the file of the digest with a number. Digests are numbered in the
// order in which they were seen, which no clock can turn around.
func keptName(n int) string { return fmt.Sprintf("%08d.md", n) }

// keptNumber is the number in a name, 0 if it is none of ours.
func keptNumber(name string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(name, ".md"))
	if err != nil || n <= 0 || n > 1<<40 || keptName(n) != name {
		return 0
	}
	return n
}

// keptNames returns those of names that are kept digests, the newest first.
func keptNames(names []string) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return keptNumber(name) == 0 })
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(keptNumber(b), keptNumber(a)) })
	return list
}

// keepDigest keeps the digest as it stands in from.
func keepDigest(history state.Dir, from state.Reader) error {
	data, err := from.Read(digestFile, maxKept)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, state.ErrUnsafe):
		return nil // there is none, or what stands there cannot be replaced either
	case err != nil:
		return err
	case len(bytes.TrimSpace(data)) == 0:
		return nil
	}
	_, wrote := from.Stat(digestFile)
	// Most of the time it is there already, which takes no lock to see.
	view := history.View()
	defer view.Close()
	if names := keptNames(view.Names()); len(names) > 0 {
		if old, err := view.Read(names[0], maxKept); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	return history.WithLock(historyTimeout, func(tx *state.Tx) error {
		names := keptNames(tx.Names())
		next := 1
		if len(names) > 0 {
			next = keptNumber(names[0]) + 1
		}
		var out []string // what makes room
		for i, name := range names {
			old, err := tx.Read(name, maxKept)
			switch {
			case err != nil:
			case i == 0 && bytes.Equal(old, data):
				return nil
			case sameDigest(string(old), string(data)):
				out = append(out, name)
			}
		}
		if err := tx.Write(keptName(next), data); err != nil {
			return err
		}
		err := tx.SetTime(keptName(next), wrote)
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(out, name) })
		out = append(out, names[min(len(names), maxHistory-1):]...)
		for _, name := range out {
			if e := tx.Remove(name); e != nil && !errors.Is(e, state.ErrUnsafe) {
				err = errors.Join(err, e)
			}
		}
		return err
	})
}

// sameDigest reports whether two digests differ in nothing but what a stamp
// says: whose it is, and of when.
func sameDigest(a, b string) bool {
	if notes.Body(a) != notes.Body(b) {
		return false
	}
	unstamped := func(doc string) string {
		if !notes.HasFront(doc) {
			return stampDigest(doc, "", time.Time{})
		}
		doc, _ = notes.SetFront(doc, keyOwner, "")
		doc, _ = notes.SetFront(doc, keyUpdated, "")
		return doc
	}
	return a == b || unstamped(a) == unstamped(b)
}

// seenFile says what was noted of the digest when it was seen last, so that the
// end of an ordinary turn finds with one look that nothing has changed.
const seenFile = ".kept"

// Keys of seenFile.
const (
	keyRevision = "revision"
	keyWrote    = "owner"    // of a page with something to go on with, "" of any other
	keyReplaced = "replaced" // sessions that are to be told that their page is gone
)

// maxReplaced is how many sessions are remembered that never come back to be
// told.
const maxReplaced = 8

// seen is the content of seenFile.
type seen struct {
	revision string
	owner    string
	replaced []string
}

func readSeen(from state.Reader) seen {
	p := state.ReadPairs(from, seenFile)
	return seen{p.Get(keyRevision), p.Get(keyWrote), strings.Fields(p.Get(keyReplaced))}
}

func (s seen) write(tx *state.Tx) error {
	return tx.Update(seenFile, state.Pairs{}.
		Set(keyRevision, s.revision).
		Set(keyWrote, s.owner).
		Set(keyReplaced, strings.Join(s.replaced, " ")).Bytes())
}

// next is what is noted of a digest that another writer has left, and that of a
// session is replaced by if the two are not of the same one.
func (s seen) next(doc, revision string) seen {
	owner := handover.FileName(notes.FrontValue(doc, keyOwner))
	s.revision = revision
	if s.owner != "" && s.owner != owner && !slices.Contains(s.replaced, s.owner) {
		s.replaced = append(slices.Clone(s.replaced), s.owner)
		s.replaced = s.replaced[max(0, len(s.replaced)-maxReplaced):]
	}
	s.replaced = without(s.replaced, owner)
	s.owner = owner
	if isThin(doc) || isMechanical(doc) {
		s.owner = "" // nothing that anybody would miss
	}
	return s
}

func without(list []string, s string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(t string) bool { return t == s })
}

// unseen reports whether there is a digest that was not seen as it stands, or a
// session to be told that its own is gone.
func unseen(from state.Reader, session string) bool {
	revision := from.Revision(digestFile)
	if revision == "" {
		return false
	}
	s := readSeen(from)
	return s.revision != revision || slices.Contains(s.replaced, session)
}

// see keeps the digest, unless it was seen as it stands. Where historyDir does
// not take it, a copy is set aside in its old manner.
func see(tx *state.Tx) error {
	last, revision := readSeen(tx), tx.Revision(digestFile)
	if revision == "" || revision == last.revision {
		return nil
	}
	return last.keep(tx, revision)
}

// keep keeps the digest whatever was noted of it.
func (s seen) keep(tx *state.Tx, revision string) error {
	doc, err := tx.Read(digestFile, maxKept)
	if err == nil && !cameAlong(tx) { // else git has it
		err = keepDigest(tx.Sub(historyDir), tx)
		if err != nil && len(doc) <= maxFile {
			_, wrote := tx.Stat(digestFile)
			if _, _, e := copyAside(tx, string(doc), notes.FrontValue(string(doc), keyOwner), wrote); e == nil {
				err = nil
			}
		}
	}
	if errors.Is(err, state.ErrBusy) {
		return err // the next one who looks tries again
	}
	return errors.Join(err, s.next(string(doc), revision).write(tx))
}

// cameAlong reports whether git has said that the digest came with the repository.
func cameAlong(from state.Reader) bool {
	return slices.Contains(strings.Split(state.ReadPairs(from, trustFile).Get(keyTracked), ","), digestFile)
}

// replace puts doc, written at a time, in the place of the digest. Without a copy
// of what stands there nothing is replaced.
func replace(tx *state.Tx, doc string, wrote time.Time) error {
	if revision := tx.Revision(digestFile); revision != "" {
		if err := readSeen(tx).keep(tx, revision); err != nil {
			return errNotKept{err}
		}
	}
	if err := tx.Write(digestFile, []byte(doc)); err != nil {
		return err
	}
	if err := tx.SetTime(digestFile, wrote); err != nil {
		return err
	}
	_ = see(tx) // if it fails, whoever sees the page next keeps it
	return nil
}

// handedOver notes that the digest has another owner, and nobody has lost it.
func handedOver(tx *state.Tx) error {
	s := readSeen(tx)
	s.owner = ""
	return s.keep(tx, tx.Revision(digestFile))
}

// tell returns the line for a session whose digest another writer has replaced,
// "" where there is none to tell, and notes that it was told.
func tell(tx *state.Tx, session string) (line string, err error) {
	s := readSeen(tx)
	if !slices.Contains(s.replaced, session) {
		return "", nil
	}
	s.replaced = without(s.replaced, session)
	line = textReplaced
	if doc, _, err := readDigest(tx); err == nil && handover.FileName(notes.FrontValue(doc, keyOwner)) == session {
		line = textIsBack
	}
	return line, s.write(tx)
}

// errNotKept is why a digest is not replaced.
type errNotKept struct{ cause error }

func (e errNotKept) Error() string { return textNotKept(e.cause) }
func (e errNotKept) Unwrap() error { return e.cause }

// restoreGood puts the newest digest of session that says something back in the
// place of one that does not, and returns when it was written; the zero time says
// that there is none.
func restoreGood(tx *state.Tx, session string) (wrote time.Time, err error) {
	history := tx.Sub(historyDir).View()
	defer history.Close()
	for _, name := range keptNames(history.Names()) {
		data, err := history.Read(name, maxFile)
		if doc := string(data); err == nil && notes.FrontValue(doc, keyOwner) == session && !isThin(doc) {
			_, wrote := history.Stat(name)
			return wrote, replace(tx, doc, wrote)
		}
	}
	return time.Time{}, nil
}

// Kept is a digest of the history, as a list shows it.
type Kept struct {
	// Number is 1 for the newest that is not the present digest, which is 0.
	Number     int       `json:"number"`
	Written    time.Time `json:"written"`
	AgeSeconds int       `json:"age_seconds"`
	Owner      string    `json:"owner"` // this session, an earlier session, or unknown
	Intent     string    `json:"intent"`
	Thin       bool      `json:"thin"`
	Mechanical bool      `json:"mechanical"`
	Problem    string    `json:"problem,omitempty"` // why it could not be read

	dir  state.Dir
	name string
	doc  string
}

// History lists the present digest and those that were kept before it, the
// newest first. Nothing is shown of what git tracks.
func (d Store) History() ([]Kept, error) {
	dir := dirOf(d.Project)
	all := checkTrust(dir).tracked
	tracked := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name != digestFile && name != historyDir })
	if len(tracked) > 0 {
		return nil, errors.New(textTracked(tracked))
	}
	list := []Kept{}
	if dir.Revision(digestFile) != "" {
		list = append(list, d.kept(dir, digestFile, 0))
	}
	history := dir.Sub(historyDir)
	number := 0
	for _, name := range keptNames(history.Names()) {
		if history.Kind(name) != state.File {
			continue
		}
		k := d.kept(history, name, number+1)
		if len(list) > 0 && list[0].Number == 0 && k.doc != "" && sameDigest(k.doc, list[0].doc) {
			continue
		}
		number++
		list = append(list, k)
	}
	// Where the history takes nothing, copies are set aside beside the digest.
	for _, name := range asides(dir) {
		if slices.Contains(all, name) {
			continue
		}
		k := d.kept(dir, name, number+1)
		if !slices.ContainsFunc(list, func(o Kept) bool { return k.doc != "" && sameDigest(k.doc, o.doc) }) {
			number++
			list = append(list, k)
		}
	}
	return list, nil
}

// asides returns the copies that were set aside beside the digest, the newest
// first.
func asides(dir state.Dir) []string {
	view := dir.View()
	defer view.Close()
	names := slices.DeleteFunc(view.Names(), func(name string) bool {
		return !strings.HasPrefix(name, sidePrefix) || name == digestFile || !owns(name) || view.Kind(name) != state.File
	})
	slices.SortStableFunc(names, func(a, b string) int {
		_, at := view.Stat(a)
		_, bt := view.Stat(b)
		return bt.Compare(at)
	})
	return names
}

// historyProblem returns what keeps the history from taking a digest, nil for
// nothing.
func historyProblem(dir state.Dir) error {
	err := dir.Sub(historyDir).WithLock(historyTimeout, func(*state.Tx) error { return nil })
	if errors.Is(err, state.ErrBusy) {
		return nil
	}
	return err
}

// kept reads one digest for the list.
func (d Store) kept(dir state.Dir, name string, number int) Kept {
	_, wrote := dir.Stat(name)
	k := Kept{Number: number, Written: wrote, AgeSeconds: max(0, int(d.Env.Now().Sub(wrote).Seconds())), Owner: textNoOwner, dir: dir, name: name}
	data, err := dir.Read(name, maxKept)
	if err != nil {
		k.Problem = term.OneLine(err.Error())
		return k
	}
	k.doc = string(data)
	if owner := notes.FrontValue(k.doc, keyOwner); owner != "" {
		k.Owner = textEarlier
		if owner == d.Session {
			k.Owner = textOurs
		}
	}
	k.Intent = notes.Line(notes.FrontValue(k.doc, keyIntent), 200)
	k.Thin, k.Mechanical = isThin(k.doc), isMechanical(k.doc)
	return k
}

// find returns the digest with a number from a list.
func find(list []Kept, number int) (Kept, error) {
	i := slices.IndexFunc(list, func(k Kept) bool { return k.Number == number })
	switch {
	case i < 0:
		return Kept{}, problem.Input("see `ccreload reload list`", "%s", textNoSuch(number))
	case list[i].Problem != "":
		return Kept{}, errors.New(list[i].Problem)
	}
	return list[i], nil
}

// last returns the number of the digest that is meant where none is named: the
// newest of this session, if the present one is not its own; else the newest that
// says something, or the newest; 0 if there is none.
func last(list []Kept) int {
	first := func(ok func(Kept) bool) int {
		for _, k := range list {
			if k.Number > 0 && k.Problem == "" && ok(k) {
				return k.Number
			}
		}
		return 0
	}
	own := func(k Kept) bool { return k.Owner == textOurs && !k.Thin }
	if len(list) > 0 && list[0].Number == 0 && own(list[0]) {
		own = func(Kept) bool { return false }
	}
	any := func(Kept) bool { return true }
	return cmp.Or(first(own), first(func(k Kept) bool { return !k.Thin }), first(any))
}

// Show returns a digest of the history.
func (d Store) Show(number int) (doc string, err error) {
	list, err := d.History()
	if err != nil {
		return "", err
	}
	k, err := find(list, number)
	return k.doc, err
}

// Restored is what became of a digest that was brought back.
type Restored struct {
	Kept
	Armed    bool  // it goes to the next session
	NotArmed error // why it does not, where that was asked for
}

// Restore puts a digest of the history back in its place, byte for byte and with
// the time it was written; what it replaces is kept. With the number 0 it is the
// one that is most likely meant. What is armed stays armed: the arm is for
// whatever digest stands there.
func (d Store) Restore(number int, arm bool) (Restored, error) {
	list, err := d.History()
	if err != nil {
		return Restored{}, err
	}
	if number == 0 {
		if number = last(list); number == 0 {
			return Restored{}, errors.New(textNothingKept)
		}
	}
	k, err := find(list, number)
	if err != nil {
		return Restored{}, err
	}
	dir := dirOf(d.Project)
	answer := checkTrust(dir)
	r := Restored{Kept: k}
	err = dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if err := see(tx); errors.Is(err, state.ErrBusy) {
			return err
		}
		lost := readSeen(tx).replaced
		if err := replace(tx, k.doc, k.Written); err != nil {
			return err
		}
		// Whose page it was is told all the same that it was gone for a while.
		back := readSeen(tx)
		back.replaced = without(lost, handover.FileName(d.Session))
		if err := back.write(tx); err != nil {
			d.Env.Log("nobody is told", "error", err.Error())
		}
		if arm {
			_, answer.wrote = tx.Stat(digestFile)
			r.NotArmed = d.put(tx, answer)
		}
		armed, ok := handover.FindArm(tx)
		r.Armed = ok && pageOf(armed) == digestFile
		return nil
	})
	if err != nil {
		return Restored{}, fmt.Errorf("the digest was not restored: %w", err)
	}
	return r, nil
}
