package occupancy

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/transcript"
)

const (
	// tailWait is the longest Measure waits, and tailPoll how often it looks.
	// The clients of 2026 are late at more than half of all turns, by up to
	// 240 ms; with what takes much longer the figure of the reply before has to
	// do.
	tailWait = 700 * time.Millisecond
	tailPoll = 20 * time.Millisecond
)

// Measure returns the occupancy at the end of a turn. The host writes the
// transcript late (case F02): with wait it is read again while it is not there
// yet, or ends inside a turn or before this one, since the figure of the turn
// before would put every notice off by one.
func Measure(call *host.Call, s Sources, wait bool) Occupancy {
	path, err := transcript.Own(call.Payload.TranscriptPath, call.Payload.SessionID)
	wait = wait && path != ""
	var tail transcript.Tail
	var read fs.FileInfo
	// A clock that stands still must not keep the session waiting.
	for began, looks := call.Env.Now(), tailWait/tailPoll; path != ""; looks-- {
		// A file that has not changed says nothing new.
		if now, statErr := os.Stat(path); statErr != nil {
			err = statErr
		} else if read == nil || now.Size() != read.Size() || !now.ModTime().Equal(read.ModTime()) {
			read = now
			tail, err = transcript.ReadTail(path)
		}
		if !wait || looks == 0 || !late(tail, err, call.Payload.LastMessage) || call.Env.Now().Sub(began) >= tailWait {
			break
		}
		call.Slow()
		call.Env.Sleep(tailPoll)
	}
	if err != nil {
		call.Env.Log("transcript is not readable", "error", err.Error())
	}
	o := s.Of(tail)
	call.Env.Log("occupancy", "known", o.Known, "tokens", o.Tokens, "estimate", tail.Estimate, "of the host", o.FromHost,
		"window", o.Window.Tokens, "from", o.Window.Source)
	return o
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
