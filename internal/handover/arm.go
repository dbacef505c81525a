package handover

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// ArmFile is the arm: there or not. Its content is the id of the session that
// armed, when known.
const ArmFile = "pending"

// stampFile says who armed; beside the arm, whose format is fixed.
const stampFile = ".arm"

// Arm is what waits for the next session.
type Arm struct {
	Owner  string // id of the session that armed, "" when unknown
	Client Client
	Item   string // what was armed, for a plugin with more than one thing to hand over
	// Returned says that its owner did not arm, but took it and gave it back unseen.
	Returned bool
}

// pairs returns p with the arm in it, each key after prefix.
func (a Arm) pairs(p state.Pairs, prefix string) state.Pairs {
	returned := ""
	if a.Returned {
		returned = "yes"
	}
	return p.Set(prefix+"owner", a.Owner).Set(prefix+"client", a.Client.String()).Set(prefix+"item", a.Item).Set(prefix+"returned", returned)
}

// armIn is the arm that pairs has put into p.
func armIn(p state.Pairs, prefix string) Arm {
	return Arm{p.Get(prefix + "owner"), ParseClient(p.Get(prefix + "client")), p.Get(prefix + "item"), p.Get(prefix+"returned") == "yes"}
}

// FindArm returns the arm. What is not a regular file is no arm; one that
// cannot be read, or holds more than an id, is an arm of nobody in particular.
func FindArm(r state.Reader) (Arm, bool) {
	if r.Kind(ArmFile) != state.File {
		return Arm{}, false
	}
	data, err := r.Read(ArmFile, maxRecord)
	if err != nil {
		return Arm{}, !errors.Is(err, fs.ErrNotExist)
	}
	first, _, _ := strings.Cut(string(data), "\n")
	owner := term.OneLine(first)
	// A stamp that another writer's arm has outlived says nothing about it.
	if stamp := armIn(state.ReadPairs(r, stampFile), ""); stamp.Owner == owner {
		return stamp, true
	}
	return Arm{Owner: owner}, true
}

// Put arms. After a nil error a regular file is there for certain; whatever
// else stands in its place is left alone and is the error.
func (a Arm) Put(tx *state.Tx) error {
	if err := tx.NotRegular(ArmFile); err != nil {
		return err
	}
	if err := tx.Write(stampFile, a.pairs(state.Pairs{}, "").Bytes()); err != nil {
		return err
	}
	if err := tx.Write(ArmFile, []byte(term.OneLine(a.Owner))); err != nil {
		return err
	}
	return tx.NotRegular(ArmFile)
}

// Several clients may each have armed something of their own. The newest stands
// in ArmFile; what another client that lives has armed is parked beside it, in a
// file of its own, until one of that client's next sessions takes it or the
// client is gone.
const parkedPrefix = stampFile + "."

func (a Arm) parkedName() string { return parkedPrefix + cmp.Or(FileName(a.Owner), "unknown") }

func (a Arm) park(tx *state.Tx) error {
	return tx.Write(a.parkedName(), a.pairs(state.Pairs{}, "").Bytes())
}

// HasParked reports whether an arm of the session is parked, at the price of one
// look at the disk.
func HasParked(d state.Dir, session string) bool {
	_, err := os.Lstat(d.Path(Arm{Owner: session}.parkedName()))
	return err == nil
}

// parked returns the arms that are parked, by the names of their files, in
// their order.
func parked(tx *state.Tx) (arms []Arm) {
	for _, name := range tx.Names() {
		if strings.HasPrefix(name, parkedPrefix) && tx.Kind(name) == state.File {
			if a := armIn(state.ReadPairs(tx, name), ""); a.parkedName() == name {
				arms = append(arms, a)
			}
		}
	}
	return arms
}

// Release opens what is kept for a client to everybody: when it leaves, its
// process still looks alive for a moment to the one that comes next.
func Release(tx *state.Tx, leaving Client) error {
	for _, a := range parked(tx) {
		if a.Client.Same(leaving) {
			a.Client = Client{}
			if err := a.park(tx); err != nil {
				return err
			}
		}
	}
	arm, ok := FindArm(tx)
	if !ok || !arm.Client.Same(leaving) {
		return nil
	}
	arm.Client = Client{}
	return arm.Put(tx)
}

// Arm arms item for the next session. What another client that lives has armed
// stays armed for it; only where it has nothing but the item "", which this
// session has taken over, is it replaced.
func (s Start) Arm(tx *state.Tx, item string) error {
	a := Arm{Owner: s.Session, Client: s.Client, Item: item}
	if other, ok := FindArm(tx); ok && s.LeftTo(other) {
		switch {
		case other.Item != "":
			if err := other.park(tx); err != nil {
				return err
			}
			if err := Disarm(tx); err != nil {
				return err
			}
		case item != "":
			return a.park(tx)
		}
	}
	if err := a.Put(tx); err != nil {
		return err
	}
	return a.replace(tx)
}

// Keep is for a session that is about to replace the item "": what other clients
// that live have armed of it, or are being given, is from then on the copy that
// save makes. Without such an arm nothing is saved.
func (s Start) Keep(tx *state.Tx, save func() (item string, err error)) error {
	arm, armed := FindArm(tx)
	armed = armed && arm.Item == "" && s.LeftTo(arm)
	held := slices.DeleteFunc(claims(tx), func(c Claim) bool {
		return !c.Armed || c.Arm.Item != "" || c.Client.PID == 0 || c.Client.Same(s.Client) || !s.Alive(c.Client)
	})
	if !armed && len(held) == 0 {
		return nil
	}
	item, err := save()
	if err != nil {
		return err
	}
	for _, c := range held {
		c.Arm.Item = item
		if err := c.Put(tx); err != nil {
			return err
		}
	}
	if !armed {
		return nil
	}
	arm.Item = item
	return arm.Put(tx)
}

// find returns the arm that is meant for a session that begins, and the file it
// stands in: its client's own, the one in ArmFile unless that is left to another
// client, or one that was parked for a client that is gone.
func (s Start) find(tx *state.Tx) (arm Arm, file string) {
	arm, armed := FindArm(tx)
	list := parked(tx)
	for _, p := range list {
		if p.Client.Same(s.Client) && !(armed && arm.Client.Same(s.Client)) {
			return p, p.parkedName()
		}
	}
	if armed && !s.LeftTo(arm) {
		return arm, ArmFile
	}
	for _, p := range list {
		if !s.Alive(p.Client) {
			return p, p.parkedName()
		}
	}
	if armed {
		return arm, ArmFile
	}
	return Arm{}, ""
}

// replace removes what was parked before for the same session or client.
func (a Arm) replace(tx *state.Tx) error {
	for _, p := range parked(tx) {
		if p.Owner == a.Owner || p.Client.Same(a.Client) {
			if err := tx.Remove(p.parkedName()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Disarm removes the arm that stands in ArmFile.
func Disarm(tx *state.Tx) error {
	if err := tx.Remove(ArmFile); err != nil {
		return err
	}
	return tx.Remove(stampFile)
}

// disarm removes the arm that stands in file.
func disarm(tx *state.Tx, file string) error {
	if file == ArmFile {
		return Disarm(tx)
	}
	return tx.Remove(file)
}
