package reload

import (
	"cmp"
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// Several sessions may be over the budget in one project. What the files of
// earlier releases have room for once, the marker and the ladder, belongs to one
// of them at a time; the others have their line in sessionsFile.

const (
	// ladderStep is how many points the occupancy has to rise before the user is
	// told again.
	ladderStep = 10
	// sameStop is how long after a Stop an equal one is taken for the same. A
	// host that has a hook registered twice calls it within milliseconds.
	sameStop = 2 * time.Second
	// maxSessions bounds the file: sessions that ended over the budget leave
	// their line behind.
	maxSessions = 16
	// inLadder says that the last notice of a session stands in ladderFile.
	inLadder = -1
)

// record is what is remembered of a session since it went over the budget.
type record struct {
	client handover.Client // that it runs in
	at     time.Time       // of the newest Stop of its snapshot turn
	// stop is the fingerprint of that Stop, "" before there was one: a session
	// gets no second snapshot turn, whatever flags the host sends (case F03),
	// and a Stop that is delivered twice is told from the one at the end of the
	// snapshot turn (case F44).
	stop   string
	notice int // occupancy of the last notice, inLadder, or 0
}

// parseRecord reads a line's value: "ms client fingerprint notice", ms being
// milliseconds since 1970 and "-" what is not known.
func parseRecord(s string) record {
	f := append(strings.Fields(s), "", "", "", "")
	ms, _ := strconv.ParseInt(f[0], 10, 64)
	notice, _ := strconv.Atoi(f[3])
	return record{handover.ParseClient(f[1]), time.UnixMilli(ms), strings.TrimPrefix(f[2], "-"), notice}
}

func (r record) String() string {
	if r.stop == "" && r.notice == 0 {
		return ""
	}
	return strings.Join([]string{
		strconv.FormatInt(r.at.UnixMilli(), 10), cmp.Or(r.client.String(), "-"), cmp.Or(r.stop, "-"), strconv.Itoa(r.notice),
	}, " ")
}

// sessions are the records of a project, as the session of a hook sees them.
type sessions struct {
	call *host.Call
	self string
	list state.Pairs
}

func readSessions(from state.Reader, call *host.Call) sessions {
	return sessions{call, sessionKey(call.Payload), state.ReadPairs(from, sessionsFile)}
}

// sessionKey returns the id of the payload's session in a form that cannot
// break a line of the file.
func sessionKey(p host.Payload) string { return handover.FileName(p.SessionID) }

func (s sessions) of(id string) record { return parseRecord(s.list.Get(id)) }

// elsewhere reports whether a session with this record runs in another client.
func (s sessions) elsewhere(r record) bool {
	return r.client.PID != 0 && !r.client.Same(handover.Here(s.call.Host)) && r.client.Alive(s.call.Env)
}

// foreignMarker reports whether the snapshot turn that is running is that of
// another live session.
func (s sessions) foreignMarker(from state.Reader) bool {
	data, _ := from.Read(markerFile, maxFile)
	id := handover.FileName(strings.TrimSpace(string(data)))
	return id != "" && id != s.self && s.elsewhere(s.of(id))
}

// foreignLadder reports whether ladderFile is that of another live session.
func (s sessions) foreignLadder() bool {
	return slices.ContainsFunc(s.list.Keys(), func(id string) bool {
		r := s.of(id)
		return id != s.self && r.notice == inLadder && s.elsewhere(r)
	})
}

// nextNotice returns the occupancy in % from which a notice is due: at once
// when there was none since the budget was crossed. A ladder that makes no
// sense is none.
func (s sessions) nextNotice(from state.Reader) int {
	last := s.of(s.self).notice
	if last <= 0 && !s.foreignLadder() {
		data, _ := from.Read(ladderFile, maxFile)
		last, _ = strconv.Atoi(strings.TrimSpace(string(data)))
	}
	if last <= 0 || last > 100 {
		return 0
	}
	return last + ladderStep
}

// recordNotice notes that a notice fires at percent. Without that note nothing
// may be said, or it would be said at every turn from now on.
func (s sessions) recordNotice(tx *state.Tx, percent int) error {
	own := s.of(s.self)
	if own.notice > 0 || s.foreignLadder() {
		own.notice = percent
		return s.write(tx, own)
	}
	own.notice = inLadder
	if err := s.write(tx, own); err != nil {
		return err
	}
	return tx.Write(ladderFile, []byte(strconv.Itoa(percent)+"\n"))
}

// recordStop notes that this Stop belongs to the snapshot turn of its session.
func (s sessions) recordStop(tx *state.Tx) error {
	own := s.of(s.self)
	own.at, own.stop = s.call.Env.Now(), fingerprint(s.call.Payload)
	return s.write(tx, own)
}

// repeated reports whether this Stop has been recorded a moment ago.
func (s sessions) repeated() bool {
	own := s.of(s.self)
	return own.stop == fingerprint(s.call.Payload) && s.call.Env.Now().Sub(own.at).Abs() < sameStop
}

// write replaces the record of the session; no records, no file.
func (s sessions) write(tx *state.Tx, own record) error {
	own.client = handover.Here(s.call.Host)
	list := s.list.Set(s.self, "").Set(s.self, own.String()) // the newest is the last
	for _, id := range list.Keys()[:max(0, len(list.Keys())-maxSessions)] {
		list = list.Set(id, "")
	}
	if len(list.Keys()) == 0 {
		return tx.Remove(sessionsFile)
	}
	return tx.Update(sessionsFile, list.Bytes())
}

// forget takes back that the budget was crossed by this session.
func (s sessions) forget(tx *state.Tx) error {
	var err error
	if !s.foreignLadder() {
		err = tx.Remove(ladderFile)
	}
	return errors.Join(err, s.write(tx, record{}))
}

// begin is for SessionStart with an empty context: what belongs to this session,
// to the one before it in the same client, and to clients that are gone, is over.
func (s sessions) begin(tx *state.Tx) error {
	var err error
	if !s.foreignMarker(tx) {
		err = errors.Join(s.makeUp(tx), tx.Remove(markerFile))
	}
	for _, id := range s.list.Keys() {
		if r := s.of(id); r.client.PID != 0 && !s.elsewhere(r) {
			s.list = s.list.Set(id, "")
		}
	}
	return errors.Join(err, s.forget(tx))
}

// makeUp arms the digest of a snapshot turn whose last Stop never came, or was
// killed.
func (s sessions) makeUp(tx *state.Tx) error {
	kind, marked := tx.Stat(markerFile)
	id, _ := tx.Read(markerFile, maxFile)
	owner := strings.TrimSpace(string(id))
	if kind != state.File || s.of(handover.FileName(owner)).stop == "" {
		return nil
	}
	doc, _, err := readDigest(tx)
	_, wrote := tx.Stat(digestFile)
	if err != nil || notes.FrontValue(doc, keyOwner) != owner || !wrote.After(marked) || blockedBy(tx) != nil {
		return err
	}
	if _, armed := handover.FindArm(tx); armed {
		return nil
	}
	return handover.Arm{Owner: owner}.Put(tx)
}

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
