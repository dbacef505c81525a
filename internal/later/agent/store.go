package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// Store is the directory that knows every agent.
type Store struct{ dir state.Dir }

// Open returns the store of an app directory, which must exist.
func Open(app state.Dir) Store { return Store{app.Sub("agents")} }

// Record is what is known of one run.
type Record struct {
	ID       string
	Session  string
	Started  time.Time
	Process  proc.ID // zero where it never started
	Dir      string
	Out, Err string
	Pulse    Pulse
	Tree     []proc.ID // it and what it had started, when last looked at
}

// ErrUnknown means that there is no record: Start was not called, or ended before
// it did anything.
var ErrUnknown = errors.New("no such agent")

const (
	promptSuffix = ".prompt"
	maxRecord    = 1 << 20
)

// Start starts an agent that outlives us, and records who it is.
//
// A run that is killed on the way loses no agent: the record with the session
// stands before the process is started, and as long as it names no process, Load
// finds one by its command line. Both hold the lock of the directory, which the
// system releases only when the child, a copy of this process until then, has
// become the client: there is no moment at which a process is neither.
func (s Store) Start(spec Spec, now time.Time) (Record, error) {
	if !isID(spec.ID) || !isID(spec.Session) {
		return Record{}, fmt.Errorf("%q or %q is no name of a run", spec.ID, spec.Session)
	}
	r := Record{ID: spec.ID, Session: spec.Session, Started: now, Dir: spec.Dir, Out: spec.Out, Err: spec.Err, Pulse: Pulse{Seen: now, Progress: now}}
	err := s.dir.WithLock(lockWait, func(tx *state.Tx) error {
		if tx.Kind(spec.ID) != state.Absent {
			return fmt.Errorf("agent %s was started already", spec.ID)
		}
		if err := tx.Write(spec.ID+promptSuffix, []byte(spec.Prompt)); err != nil {
			return err
		}
		if err := tx.Write(spec.ID, r.bytes()); err != nil {
			return err
		}
		id, err := start(spec, s.dir.Path(spec.ID+promptSuffix))
		if err != nil && search(r).PID == 0 {
			return errors.Join(err, tx.Remove(spec.ID), tx.Remove(spec.ID+promptSuffix))
		}
		started("process")
		r.Process, r.Tree = id, []proc.ID{id}
		return tx.Write(spec.ID, r.bytes())
	})
	return r, err
}

// started, where a test has set afterStart, is called between a start and its
// record.
func started(what string) {
	if afterStart != nil {
		afterStart(what)
	}
}

var afterStart func(what string)

// start opens the files and starts the client.
func start(spec Spec, prompt string) (id proc.ID, err error) {
	in, err := os.Open(prompt)
	if err != nil {
		return id, err
	}
	defer in.Close()
	out, err := create(spec.Out)
	if err != nil {
		return id, err
	}
	defer out.Close()
	errs, err := create(spec.Err)
	if err != nil {
		return id, err
	}
	defer errs.Close()
	cmd := exec.Command(spec.Client.Path, Args(spec)...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = spec.Dir, in, out, errs
	cmd.Env = append(append([]string{}, spec.Environ...), mark(spec.ID))
	return proc.Start(cmd)
}

// create makes a new file that only this user can read. One that is there, or a
// link, is somebody else's.
func create(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
}

func mark(id string) string { return MarkVar + "=" + id }

// Load returns what is known of a run. Where whoever started it was killed before
// it could say which process that is, the process is looked for now.
func (s Store) Load(id string) (Record, error) {
	var r Record
	err := s.dir.WithLock(lockWait, func(tx *state.Tx) (err error) {
		r, err = s.load(tx, id)
		return err
	})
	return r, err
}

func (s Store) load(tx *state.Tx, id string) (Record, error) {
	if !isID(id) {
		return Record{}, fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	data, err := tx.Read(id, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, fmt.Errorf("%s: %w", id, ErrUnknown)
	}
	if err != nil {
		return Record{}, err
	}
	r := Record{ID: id}
	if err := json.Unmarshal(data, &r); err != nil || r.ID != id {
		return r, problem.Fault("look for its process, and delete the file", "%s cannot be read", s.dir.Path(id))
	}
	if r.Process.PID == 0 {
		if r.Process = search(r); r.Process.PID != 0 {
			r.Tree = r.Process.Tree()
			return r, tx.Write(id, r.bytes())
		}
	}
	return r, nil
}

// search finds the process of a run whose start was not recorded. Where variables
// can be read, one without the mark is somebody else's who goes on with the
// session. A program that starts another one with its own arguments is the older
// of the two.
func search(r Record) proc.ID {
	marked := proc.Marked(mark(r.ID))
	for _, id := range proc.Find(func(args []string) bool { return isRunOf(args, r.Session) }) {
		if len(marked) == 0 || slices.Contains(marked, id) {
			return id
		}
	}
	return proc.ID{}
}

// All returns every record that can be read, as Load does. The error tells of
// those that cannot.
func (s Store) All() ([]Record, error) {
	if len(s.dir.Names()) == 0 {
		return nil, nil
	}
	var all []Record
	var bad error
	err := s.dir.WithLock(lockWait, func(tx *state.Tx) error {
		for _, name := range tx.Names() {
			if !isID(name) {
				continue
			}
			if r, err := s.load(tx, name); err != nil {
				bad = errors.Join(bad, err)
			} else {
				all = append(all, r)
			}
		}
		return nil
	})
	return all, errors.Join(err, bad)
}

// Forget removes the record of a run that is over and dealt with. What it said
// stays.
func (s Store) Forget(id string) error {
	if !isID(id) {
		return fmt.Errorf("%q: %w", id, ErrUnknown)
	}
	return s.dir.WithLock(lockWait, func(tx *state.Tx) error {
		return errors.Join(tx.Remove(id+promptSuffix), tx.Remove(id))
	})
}

// Phase is how far a run has come.
type Phase string

// The phases of a run.
const (
	// NeverStarted is a run that was killed before its agent was there: nothing
	// was done.
	NeverStarted Phase = "never started"
	Running      Phase = "running"
	Over         Phase = "over" // ReadOutcome tells how
)

// Phase tells how far the run has come. A process that took over the id of the
// agent's is none of it.
func (r Record) Phase() Phase {
	switch {
	case r.Process.PID == 0 && empty(r.Out) && empty(r.Err):
		return NeverStarted
	case r.Process.PID == 0 || r.Process.Ended():
		return Over
	}
	return Running
}

func empty(path string) bool {
	info, err := os.Stat(path)
	return err != nil || info.Size() == 0
}

func (r Record) bytes() []byte {
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // a time after the year 9999
	}
	return append(data, '\n')
}
