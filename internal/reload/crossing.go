package reload

import (
	"errors"
	"hash/fnv"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// crossing is the record of one session that has had its snapshot turn since
// it went over the budget: it gets no second one, whatever flags the host
// sends (case F03). It also tells a Stop that was delivered twice from the
// Stop at the end of the snapshot turn (case F44).
type crossing struct {
	session string
	pid     int       // of the host's process, 0 when not known
	at      time.Time // of the newest Stop of the handshake
	stop    string    // fingerprint of that Stop
}

const (
	// sameStop is how long after a Stop an equal one is taken for the same. A
	// host that has a hook registered twice calls it within milliseconds.
	sameStop = 2 * time.Second
	// maxCrossings bounds the file: sessions that ended over the budget leave
	// their line behind.
	maxCrossings = 16
)

// fingerprint tells one Stop from the next. It is no secret and no proof: two
// turns that end in the same words have the same one.
func fingerprint(p host.Payload) string {
	h := fnv.New64a()
	for _, s := range []string{p.SessionID, p.TranscriptPath, p.LastMessage, strconv.FormatBool(p.StopHookActive)} {
		h.Write([]byte(s))
		h.Write([]byte{0})
	}
	return strconv.FormatUint(h.Sum64(), 16)
}

// crossings are the records of crossingFile, oldest first: a line
// "session: ms pid fingerprint" each, ms being milliseconds since 1970.
type crossings []crossing

func readCrossings(from state.Reader) crossings {
	data, err := from.Read(crossingFile, maxFile)
	if err != nil {
		return nil
	}
	var list crossings
	for line := range strings.Lines(string(data)) {
		session, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		f := strings.Fields(rest)
		if len(f) != 3 {
			continue
		}
		ms, err1 := strconv.ParseInt(f[0], 10, 64)
		pid, err2 := strconv.Atoi(f[1])
		if err1 != nil || err2 != nil {
			continue
		}
		list = append(list, crossing{session, pid, time.UnixMilli(ms), f[2]})
	}
	return list
}

// of returns the record of a session.
func (list crossings) of(session string) (crossing, bool) {
	for _, c := range list {
		if c.session == session {
			return c, true
		}
	}
	return crossing{}, false
}

// newest returns the record of the session that runs or ran the newest
// snapshot turn.
func (list crossings) newest() (crossing, bool) {
	if len(list) == 0 {
		return crossing{}, false
	}
	return list[len(list)-1], true
}

// without returns the records of the other sessions.
func (list crossings) without(session string) crossings {
	var out crossings
	for _, c := range list {
		if c.session != session {
			out = append(out, c)
		}
	}
	return out
}

// write replaces the file; no record, no file.
func (list crossings) write(tx *state.Tx) error {
	if len(list) == 0 {
		return tx.Remove(crossingFile)
	}
	list = list[max(0, len(list)-maxCrossings):]
	var b strings.Builder
	for _, c := range list {
		b.WriteString(c.session + ": " + strconv.FormatInt(c.at.UnixMilli(), 10) + " " + strconv.Itoa(c.pid) + " " + c.stop + "\n")
	}
	return tx.Write(crossingFile, []byte(b.String()))
}

// note records that this Stop is part of the handshake of its session.
func (list crossings) note(tx *state.Tx, call *host.Call) error {
	id := sessionKey(call.Payload)
	c := crossing{id, handover.Here(call.Host).PID, call.Env.Now(), fingerprint(call.Payload)}
	return append(list.without(id), c).write(tx)
}

// sessionKey returns the id of the payload's session in a form that cannot
// break a line of the file.
func sessionKey(p host.Payload) string { return handover.FileName(p.SessionID) }

// forgetCrossing takes back what Stop knows of the budget being crossed: the
// context is a new one. For SessionStart with source startup, clear and
// compact.
func forgetCrossing(tx *state.Tx, p host.Payload) error {
	return errors.Join(
		tx.Remove(markerFile),
		tx.Remove(ladderFile),
		readCrossings(tx).without(sessionKey(p)).write(tx),
	)
}
