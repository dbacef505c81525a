package proc

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"time"
)

// Clock is the time that waiting goes by. The zero Clock is the real one.
type Clock struct {
	Now   func() time.Time
	Sleep func(time.Duration)
}

func (c Clock) real() Clock {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = time.Sleep
	}
	return c
}

// Tree returns the process, unless it is over, and every process below it. What
// left the tree because its parent ended is not in it.
func (id ID) Tree() []ID {
	return grow([]ID{id})
}

// CPU returns the processor time that the processes have had together, with
// that of children they have waited for. It falls when one of them is gone.
func CPU(ids []ID) time.Duration {
	var sum time.Duration
	for _, t := range cpuOf(ids) {
		sum += t
	}
	return sum
}

// Find returns the processes whose command line match accepts, oldest first.
// Those of other users cannot be asked.
func Find(match func(args []string) bool) []ID {
	return find(func(pid int) bool { args := arguments(pid); return len(args) > 0 && match(args) })
}

// Marked returns the processes that were started with the variable, given as
// NAME=VALUE, whoever their parent is by now. macOS does not tell of programs of
// its own.
func Marked(variable string) []ID {
	return find(func(pid int) bool { return slices.Contains(environment(pid), variable) })
}

func find(match func(pid int) bool) []ID {
	all, err := processes()
	if err != nil {
		return nil
	}
	boot, _ := bootID()
	var found []ID
	for pid, s := range all {
		if s.ended || !match(pid) {
			continue
		}
		// Whose command line was read may be another process by now.
		if id := (ID{PID: pid, Start: s.start, Boot: boot}); !id.Ended() {
			found = append(found, id)
		}
	}
	slices.SortFunc(found, func(a, b ID) int { return cmp.Or(cmp.Compare(a.Start, b.Start), a.PID-b.PID) })
	return found
}

// Parent returns the process that started id, or that has taken it over.
func (id ID) Parent() (ID, error) {
	all, err := processes()
	if err != nil {
		return ID{}, err
	}
	s, ok := all[id.PID]
	if !ok || s.start != id.Start {
		return ID{}, ErrGone
	}
	return Identify(s.ppid)
}

// maxAbove is how many processes above this one are looked at.
const maxAbove = 64

// Inherited returns what the variable was where the nearest process above this one
// was started that had it, "" for none: what a program takes out of its
// environment, those above it still have.
func Inherited(name string) string {
	all, err := processes()
	if err != nil {
		return ""
	}
	for pid, n := all[os.Getpid()].ppid, 0; pid > 0 && n < maxAbove; pid, n = all[pid].ppid, n+1 {
		for _, entry := range environment(pid) {
			if key, value, ok := strings.Cut(entry, "="); ok && key == name && value != "" {
				return value
			}
		}
	}
	return ""
}

// Stop ends processes and everything below them: asks each by SIGTERM, together
// with what has stayed in its group, waits at most grace for all of them to be
// gone, and kills what is left of those that were there before or that they have
// started meanwhile. A process whose id belongs to another one by now is left
// alone; that there is none any more is no error.
func Stop(ids []ID, grace time.Duration, clock Clock) error {
	return stop(ids, terminate, grace, clock)
}

// end is Stop with interrupts, which reach the whole tree, in real time.
func end(id ID, killDelay time.Duration) error {
	return stop([]ID{id}, interruptTree, killDelay, Clock{})
}

// The pause between two looks at processes that were asked to end grows from
// pollFirst to pollLast: a look reads the whole process table.
const (
	pollFirst = 20 * time.Millisecond
	pollLast  = 400 * time.Millisecond
)

func stop(ids []ID, ask func(pid int) error, grace time.Duration, clock Clock) error {
	clock = clock.real()
	tree := grow(ids)
	if len(tree) == 0 {
		return nil
	}
	if grace > 0 && askAll(ids, ask) {
		pause := pollFirst
		for deadline := clock.Now().Add(grace); clock.Now().Before(deadline); clock.Sleep(pause) {
			// Before its parent is gone, or nothing tells whose child it was.
			if tree = grow(tree); len(tree) == 0 {
				return nil
			}
			pause = min(2*pause, pollLast)
		}
	}
	return killAll(ids, tree)
}

// askAll asks each process that is still the same, and reports whether any
// could be asked.
func askAll(ids []ID, ask func(pid int) error) bool {
	asked := false
	for _, id := range ids {
		if _, same := id.current(); same && ask(id.PID) == nil {
			asked = true
		}
	}
	return asked
}

// killRounds is how often it is looked for children that were born while their
// parents were being killed.
const killRounds = 5

// killAll kills tree, and of its roots the groups as well.
func killAll(roots, tree []ID) error {
	var err error
	for _, id := range roots {
		if _, same := id.current(); same {
			err = errors.Join(err, killTree(id.PID))
		}
	}
	for round := 0; len(tree) > 0 && round < killRounds; round++ {
		for _, id := range tree {
			if _, same := id.current(); same {
				err = errors.Join(err, killOne(id.PID))
			}
		}
		left := grow(tree)
		if !slices.ContainsFunc(left, func(id ID) bool { return !slices.Contains(tree, id) }) {
			break
		}
		tree = left
	}
	return err
}

// grow returns those of the processes that are not over, and all that is below
// any of them.
func grow(ids []ID) []ID {
	var out []ID
	for _, id := range ids {
		if s, same := id.current(); same && !s.ended && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	if len(out) == 0 {
		return nil
	}
	all, err := processes()
	if err != nil {
		return out
	}
	boot, _ := bootID()
	for i := 0; i < len(out); i++ { // out grows meanwhile
		for pid, s := range all {
			id := ID{PID: pid, Start: s.start, Boot: boot}
			if s.ppid == out[i].PID && !s.ended && !slices.Contains(out, id) {
				out = append(out, id)
			}
		}
	}
	return out
}

// cpuByStat asks for the processor time of each process by itself.
func cpuByStat(ids []ID) []time.Duration {
	var out []time.Duration
	for _, id := range ids {
		if s, same := id.current(); same {
			out = append(out, s.cpu)
		}
	}
	return out
}
