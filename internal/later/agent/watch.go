package agent

import (
	"bytes"
	"io"
	"os"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// Pulse is what an agent was last seen to do.
type Pulse struct {
	Seen     time.Time     // when it was looked at
	Progress time.Time     // when it last did something
	Bytes    int64         // of output by then
	CPU      time.Duration // of its whole tree by then
	OpenTool bool          // a tool it called has not answered
}

const (
	// busyShare is the part of the time, as one in so many, that an agent's tree
	// has to compute to count as working. A client that only waits for a reply
	// takes about 2 % of a processor, and 5 % in its first seconds.
	busyShare = 10
	// toolPatience is how many times as long an agent may do nothing while a tool
	// of its runs: the client ends commands by itself, after ten minutes at most
	// unless it is told otherwise.
	toolPatience = 3
	// tailLen is how much of the end of the output is looked at for open calls.
	// What is before it was followed by a megabyte of progress.
	tailLen = 1 << 20
	// stopGrace is what a client gets to end its tools and to say goodbye.
	stopGrace = 10 * time.Second
)

// Look notes what a running agent has done since it was looked at last, and which
// processes belong to it.
func (s Store) Look(id string, now time.Time) (Record, error) {
	var r Record
	err := s.dir.WithLock(lockWait, func(tx *state.Tx) (err error) {
		if r, err = s.load(tx, id); err != nil || r.Phase() != Running {
			return err
		}
		tree := r.Process.Tree()
		r.Pulse = r.Pulse.next(now, observe(r, tree), !slices.Equal(tree, r.Tree))
		r.Tree = tree
		return tx.Write(id, r.bytes())
	})
	return r, err
}

// observe returns what can be seen of an agent now. Seen is when its output grew.
func observe(r Record, tree []proc.ID) Pulse {
	p := Pulse{CPU: proc.CPU(tree), OpenTool: openTool(r.Out)}
	if info, err := os.Stat(r.Out); err == nil {
		p.Bytes, p.Seen = info.Size(), info.ModTime()
	}
	return p
}

// next returns the pulse at now, from the one before and what is seen. Output,
// computing and other processes than before are progress. A clock that was set
// back makes all of it new.
func (p Pulse) next(now time.Time, seen Pulse, others bool) Pulse {
	progress := p.Progress
	switch passed := now.Sub(p.Seen); {
	case passed < 0, others, (seen.CPU-p.CPU)*busyShare > passed:
		progress = now
	case seen.Bytes != p.Bytes && seen.Seen.After(progress):
		progress = seen.Seen
	}
	if progress.After(now) {
		progress = now
	}
	seen.Seen, seen.Progress = now, progress
	return seen
}

// Stale reports whether the agent, as it was last looked at, has done nothing for
// the limit. One that waits for a tool gets three times as long.
func (p Pulse) Stale(limit time.Duration) bool {
	if p.OpenTool {
		limit *= toolPatience
	}
	return p.Seen.Sub(p.Progress) >= limit
}

// Stop ends an agent and everything that it started, even if the agent itself is
// gone: each command of a client has a session of its own and outlives it. They
// are asked, and killed after 10 seconds.
func (s Store) Stop(id string, clock proc.Clock) error {
	r, err := s.Load(id)
	if err != nil {
		return err
	}
	return proc.Stop(r.left(), stopGrace, clock)
}

// Ended reports whether the run is known to be over.
func (s Store) Ended(id string) bool {
	r, err := s.Load(id)
	return err == nil && r.Phase() == Over
}

// Left returns the processes of a run that are still there, the agent's own first.
func (s Store) Left(id string) ([]proc.ID, error) {
	r, err := s.Load(id)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(r.left(), proc.ID.Ended), nil
}

func (r Record) left() []proc.ID {
	ids := append([]proc.ID{r.Process}, r.Tree...)
	ids = append(ids, r.Process.Tree()...)
	ids = append(ids, proc.Marked(mark(r.ID))...)
	var out []proc.ID
	for _, id := range ids {
		if !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// openTool reports whether the output ends in a call that has no answer.
func openTool(path string) bool {
	open := map[string]bool{}
	for line := range bytes.Lines(tail(path)) {
		kind, message, _ := rowParts(line)
		if kind != "assistant" && kind != "user" {
			continue
		}
		blocks(message, func(b block) {
			switch b.kind {
			case "tool_use":
				open[b.id] = true
			case "tool_result":
				delete(open, b.id)
			}
		})
	}
	return len(open) > 0
}

// tail returns the end of a file.
func tail(path string) []byte {
	f, err := state.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil
	}
	from := max(0, info.Size()-tailLen)
	data, _ := io.ReadAll(io.NewSectionReader(f, from, tailLen))
	return data
}

// rowParts returns the type of a row, its message and whether the row is whole.
func rowParts(line []byte) (kind string, message []byte, ok bool) {
	ok = jsonscan.Object(line, func(key, value []byte) {
		switch string(key) {
		case "type":
			kind = jsonscan.Plain(value)
		case "message":
			message = value
		}
	})
	return kind, message, ok
}
