package handover

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Delivers reports whether the plugin that keeps its state in d hands notes,
// the file named notes, to the session, or is about to. Hooks of one event run
// side by side: a claim is on disk before its arm is gone, so looking for the
// arm first misses neither.
func Delivers(d state.Dir, notes, session string) bool {
	if d.Kind(ArmFile) == state.File && d.Kind(notes) == state.File {
		return true
	}
	claim, ok := FindClaim(d, session)
	return ok && claim.Armed
}

// maxLoop is the most that is read of another plugin's file, in bytes.
const maxLoop = 1 << 20

// LoopActive reports whether the plugin cc-repete is continuing the turns of
// this project: what acts at the end of a turn then leaves it alone, or two
// plugins that both go on would never let it end.
func LoopActive(project string) bool {
	data, err := state.NewDir(filepath.Join(project, ".repete")).Read("loop.local.md", maxLoop)
	return err == nil && notes.FrontValue(string(data), "active") == "true"
}

const (
	// tailWait is the longest SettledTail waits, and tailPoll how often it
	// looks. The clients of 2026 are late at more than half of all turns, by up
	// to 240 ms; with what takes much longer the figure of the reply before has
	// to do.
	tailWait = 700 * time.Millisecond
	tailPoll = 20 * time.Millisecond
)

// SettledTail reads the end of a transcript at the end of the turn whose last
// message is given. The host writes it late (case F02): while the file is not
// there yet, or ends inside a turn or before this one, it is read again, since
// the figure of the turn before would put every notice off by one.
func SettledTail(path, message string, sleep func(time.Duration)) (transcript.Tail, error) {
	tail, err := transcript.ReadTail(path)
	for waited := time.Duration(0); late(tail, err, message) && waited < tailWait; waited += tailPoll {
		sleep(tailPoll)
		tail, err = transcript.ReadTail(path)
	}
	return tail, err
}

// late reports whether the turn that ends with message is still to be written.
// A transcript with something broken near its end is not waited for: no later
// row mends it, and the host writes whole rows.
func late(tail transcript.Tail, err error, message string) bool {
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return !tail.Broken && (tail.Incomplete || tail.Ended || !says(tail.Reply, message))
}

// says reports whether reply is the end of the turn that the host says ended
// with message. A message of several blocks is put together by the host and
// comes in several rows.
func says(reply, message string) bool {
	reply, message = strings.TrimSpace(reply), strings.TrimSpace(message)
	if message == "" {
		return true
	}
	return reply != "" && (strings.Contains(message, reply) || strings.Contains(reply, message))
}
