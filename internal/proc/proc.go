// Package proc knows processes: whether one is alive, whether it is still the
// one that was started, how to start one that outlives us, and how to end one
// together with everything it started.
//
// It never signals a process that it cannot identify: a process id alone says
// nothing, since the system hands it out again.
package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// ID identifies one process for good: the process id, the moment it started
// in the system's own units, and the boot it belongs to. The zero ID is no
// process.
type ID struct {
	PID   int
	Start uint64 // Linux: clock ticks since boot; macOS: µs, Windows: 100 ns since the epoch of the system
	Boot  string // "" where Start is absolute time
}

// ErrGone means that there is no such process.
var ErrGone = errors.New("no such process")

// status is what the system says of a process.
type status struct {
	start   uint64
	ppid    int
	stopped bool // by a signal or a debugger; it can be woken
	ended   bool // a zombie: only its entry is left
	// cpu is the processor time it and the children it has waited for have had;
	// on macOS it is not read (see cpu), on Windows it is its own.
	cpu time.Duration
}

// Alive reports whether there is a process of this id, whoever it belongs to.
// A zombie counts: use an ID to ask whether it can still do anything.
func Alive(pid int) bool { return pid > 0 && alive(pid) }

// Identify returns the identity of the process that has the id pid now, or
// ErrGone.
func Identify(pid int) (ID, error) {
	if pid <= 0 {
		return ID{}, ErrGone
	}
	s, err := stat(pid)
	if err != nil {
		return ID{}, err
	}
	boot, err := bootID()
	if err != nil {
		return ID{}, fmt.Errorf("boot id: %w", err)
	}
	return ID{PID: pid, Start: s.start, Boot: boot}, nil
}

// Alive reports whether this very process still runs. One that took over its
// process id is somebody else; a zombie or stopped one does no work any more.
func (id ID) Alive() bool {
	s, ok := id.current()
	return ok && !s.stopped && !s.ended
}

// Ended reports whether the process is over for certain: no process has its id
// any more, another one has, or only its entry is left. A stopped one can go on.
func (id ID) Ended() bool {
	s, err := stat(id.PID)
	if err != nil {
		return errors.Is(err, ErrGone)
	}
	boot, err := bootID()
	return s.ended || s.start != id.Start || err == nil && boot != id.Boot
}

// current returns the status of the process if it is still the same one, in
// whatever state.
func (id ID) current() (status, bool) {
	if id.PID <= 0 {
		return status{}, false
	}
	s, err := stat(id.PID)
	if err != nil || s.start != id.Start {
		return status{}, false
	}
	boot, err := bootID()
	return s, err == nil && boot == id.Boot
}

// String returns the identity as one word, which ParseID reads back.
func (id ID) String() string {
	return strconv.Itoa(id.PID) + ":" + strconv.FormatUint(id.Start, 10) + ":" + id.Boot
}

// MarshalText is String.
func (id ID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// UnmarshalText is ParseID; no process is read as the zero ID.
func (id *ID) UnmarshalText(text []byte) (err error) {
	if string(text) == (ID{}).String() {
		*id = ID{}
		return nil
	}
	*id, err = ParseID(string(text))
	return err
}

// ParseID reads what ID.String wrote.
func ParseID(s string) (ID, error) {
	pid, rest, ok := strings.Cut(strings.TrimSpace(s), ":")
	start, boot, ok2 := strings.Cut(rest, ":")
	n, err := strconv.Atoi(pid)
	t, err2 := strconv.ParseUint(start, 10, 64)
	if !ok || !ok2 || err != nil || err2 != nil || n <= 0 {
		return ID{}, fmt.Errorf("%q is no process identity", s)
	}
	return ID{PID: n, Start: t, Boot: boot}, nil
}

// pipeGrace is how long a finished command's output is still waited for when
// something it left behind holds the pipe open.
const pipeGrace = time.Second

// Run runs cmd in a process group of its own and waits for it. When ctx ends
// first, the command and everything it started are interrupted as by ^C at a
// terminal, so that they can put back what they have moved aside, and killed
// if they are still there after killDelay; the error is then that of ctx. What
// the command leaves behind when it ends by itself is not touched, and not
// waited for even if it holds the output pipe open.
func Run(ctx context.Context, cmd *exec.Cmd, killDelay time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ownGroup(cmd)
	cmd.WaitDelay = pipeGrace
	if err := cmd.Start(); err != nil {
		return err
	}
	// Not yet waited for, so the entry is there even if it has ended.
	id, err := Identify(cmd.Process.Pid)
	if err != nil {
		return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	err = end(id, killDelay)
	<-done
	return errors.Join(ctx.Err(), err)
}

// Start starts cmd detached: in a session of its own, without a terminal, so
// that it outlives this process and the host that started us. Standard
// streams that cmd leaves nil are the null device; others must be files, for
// nobody would copy a pipe. The process is not waited for.
func Start(cmd *exec.Cmd) (ID, error) {
	for _, w := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if _, file := w.(*os.File); w != nil && !file {
			return ID{}, errors.New("a detached process needs files as its streams")
		}
	}
	ownSession(cmd)
	if err := cmd.Start(); err != nil {
		return ID{}, err
	}
	// It may have ended before it could be looked at; as long as it has not
	// been waited for, its entry is kept on Unix.
	id, err := Identify(cmd.Process.Pid)
	return id, errors.Join(err, cmd.Process.Release())
}

// descendants returns the processes below pid, children before grandchildren.
// What cannot be listed is left out.
func descendants(pid int) []ID {
	id, err := Identify(pid)
	if err != nil {
		return nil
	}
	below := grow([]ID{id})
	return below[min(1, len(below)):]
}
