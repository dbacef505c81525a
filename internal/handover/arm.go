package handover

import (
	"errors"
	"io/fs"
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
	arm := Arm{Owner: term.OneLine(first)}
	// A stamp that another writer's arm has outlived says nothing about it.
	if data, err := r.Read(stampFile, maxRecord); err == nil {
		if p := state.ParsePairs(data); p.Get("owner") == arm.Owner {
			arm.Client, arm.Item = parseClient(p.Get("client")), p.Get("item")
		}
	}
	return arm, true
}

// Put arms. After a nil error a regular file is there for certain; whatever
// else stands in its place is left alone and is the error.
func (a Arm) Put(tx *state.Tx) error {
	if err := tx.NotRegular(ArmFile); err != nil {
		return err
	}
	a.Owner, a.Item = term.OneLine(a.Owner), term.OneLine(a.Item)
	stamp := state.Pairs{}.Set("owner", a.Owner).Set("client", a.Client.String()).Set("item", a.Item)
	if err := tx.Write(stampFile, stamp.Bytes()); err != nil {
		return err
	}
	if err := tx.Write(ArmFile, []byte(a.Owner)); err != nil {
		return err
	}
	return tx.NotRegular(ArmFile)
}

// HoldsArm reports whether the arm is kept for c.
func HoldsArm(r state.Reader, c Client) bool {
	arm, ok := FindArm(r)
	return ok && arm.Client.Same(c)
}

// Release opens an arm that is kept for a client to everybody: when it leaves,
// its process still looks alive for a moment to the one that comes next.
func Release(tx *state.Tx, leaving Client) error {
	if !HoldsArm(tx, leaving) {
		return nil
	}
	arm, _ := FindArm(tx)
	arm.Client = Client{}
	return arm.Put(tx)
}

// Disarm removes the arm.
func Disarm(tx *state.Tx) error {
	if err := tx.Remove(ArmFile); err != nil {
		return err
	}
	return tx.Remove(stampFile)
}
