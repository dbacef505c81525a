package reload

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// A session that was killed, or left, without a digest still has its transcript.
// Each session is noted when it starts, so that the end of a turn has nothing to
// write; the next one to start says once what was left, and only a person who asks
// for it is given a digest made of it.

// openFile has a line for each session that was started and not followed by
// another one in the same client.
const openFile = ".sessions"

// maxOpen is how many are remembered.
const maxOpen = 8

// opened is a session that was started.
type opened struct {
	id         string // as sessionKey has it
	client     handover.Client
	began      time.Time
	told       time.Time // when somebody was told that it left no digest, zero for never
	transcript string
}

// wasTold reports whether somebody was told that the session left no digest.
func (o opened) wasTold() bool { return !o.told.IsZero() }

func (o opened) String() string {
	told := "-"
	if o.wasTold() {
		told = toldMark + strconv.FormatInt(o.told.UnixMilli(), 10)
	}
	client := o.client.String()
	if client == "" {
		client = "-"
	}
	return strings.Join([]string{strconv.FormatInt(o.began.UnixMilli(), 10), client, told, o.transcript}, " ")
}

// toldMark goes before the time at which somebody was told.
const toldMark = "told"

// readTold reads that time. An older version noted none.
func readTold(s string) time.Time {
	at, ok := strings.CutPrefix(s, toldMark)
	if !ok {
		return time.Time{}
	}
	ms, _ := strconv.ParseInt(at, 10, 64)
	return time.UnixMilli(ms)
}

// readOpened returns the sessions in the order in which they were noted.
func readOpened(from state.Reader) (list []opened) {
	p := state.ReadPairs(from, openFile)
	for _, id := range p.Keys() {
		f := strings.SplitN(p.Get(id), " ", 4)
		if len(f) < 4 || id != handover.FileName(id) {
			continue
		}
		ms, _ := strconv.ParseInt(f[0], 10, 64)
		list = append(list, opened{id, handover.ParseClient(f[1]), time.UnixMilli(ms), readTold(f[2]), f[3]})
	}
	return list
}

func writeOpened(tx *state.Tx, list []opened) error {
	var p state.Pairs
	for _, o := range list[max(0, len(list)-maxOpen):] {
		p = p.Set(o.id, o.String())
	}
	return tx.Update(openFile, p.Bytes())
}

// over reports whether the session is over, as far as anybody can tell: a client
// that does not name its process is taken for one that is gone.
func (o opened) over(env host.Env) bool { return !o.client.Alive(env) }

// begun returns list with the session of call, which starts, as its newest, and
// without what nobody will ask for: the one before it in the same client, which
// was cleared on purpose, and those that are over. last, the one that somebody is
// told of, stays until that is so of another; "" for none.
func begun(list []opened, call *host.Call, last string) []opened {
	self := opened{
		id: sessionKey(call.Payload), client: handover.Here(call.Host),
		began: call.Env.Now(), transcript: call.Payload.TranscriptPath,
	}
	if i := slices.IndexFunc(list, func(o opened) bool { return o.id == self.id }); i >= 0 {
		self.told = list[i].told
	}
	newest := ""
	if len(list) > 0 {
		newest = list[len(list)-1].id
	}
	list = slices.DeleteFunc(slices.Clone(list), func(o opened) bool {
		switch source := call.Payload.Source; {
		case o.id == self.id:
			return true
		case source == "clear":
			return o.client.Same(self.client) || o.client.PID == 0 && self.client.PID == 0 && o.id == newest
		case !isStartup(source):
			return false
		case o.wasTold():
			return last != ""
		}
		return o.id != last && o.over(call.Env)
	})
	for i := range list {
		if list[i].id == last {
			list[i].told = call.Env.Now()
		}
	}
	if self.id == "" || self.transcript == "" {
		return list
	}
	return append(list, self)
}

// isStartup reports whether a session begins in a client that has just been
// started; an unknown source is one (case F05).
func isStartup(source string) bool {
	return newContext(source) && source != "clear" && source != "compact"
}

// left is what a session left behind without a digest.
type left struct {
	opened
	prompts int
	since   bool      // they came after a digest of that session
	asked   time.Time // the newest of them
	at      time.Time
}

// leftBehind returns what the last session left that is over, if it did.
func leftBehind(call *host.Call, dir state.Dir) (l left, ok bool) {
	if !isStartup(call.Payload.Source) {
		return left{}, false
	}
	for _, o := range slices.Backward(readOpened(dir)) {
		if o.id == sessionKey(call.Payload) || !o.over(call.Env) {
			continue
		}
		l, ok := o.left(dir)
		// One that was gone on with, and left again, is another matter.
		return l, ok && (!o.wasTold() || l.asked.After(o.told))
	}
	return left{}, false
}

// left counts what was asked for since the last digest of the session.
func (o opened) left(dir state.Dir) (l left, ok bool) {
	info, err := os.Stat(o.transcript)
	if err != nil {
		return left{}, false
	}
	path, err := transcript.Own(o.transcript, o.id)
	if err != nil {
		return left{}, false
	}
	wrote := lastDigest(dir, o.id)
	facts, err := transcript.ReadFacts(path, wrote)
	l = left{opened: o, prompts: len(facts.Prompts), since: !wrote.IsZero(), at: info.ModTime()}
	if l.prompts > 0 {
		l.asked = facts.Prompts[0].Time
	}
	return l, err == nil && l.prompts > 0
}

// lastDigest returns when the newest digest of a session was written, the zero
// time for none.
func lastDigest(dir state.Dir, session string) (newest time.Time) {
	look := func(from state.Reader, name string) {
		data, err := from.Read(name, maxFile)
		if err != nil || handover.FileName(notes.FrontValue(string(data), keyOwner)) != session {
			return
		}
		if _, wrote := from.Stat(name); wrote.After(newest) {
			newest = wrote
		}
	}
	look(dir, digestFile)
	history := dir.Sub(historyDir).View()
	defer history.Close()
	for _, name := range keptNames(history.Names()) {
		look(history, name)
	}
	return newest
}

// bothOpen reports whether the sessions that wrote a digest and that armed it run
// side by side.
func (t *thread) bothOpen(from state.Reader, arm handover.Arm, owner string) bool {
	for _, o := range readOpened(from) {
		if o.id == handover.FileName(owner) {
			return o.client.Alive(t.Call.Env) && arm.Client.Alive(t.Call.Env) && !o.client.Same(arm.Client)
		}
	}
	return false
}

// unwritten returns the session that somebody was told of, for which a digest is
// still to be made; one that was resumed since speaks for itself.
func (d Store) unwritten(from state.Reader) (opened, bool) {
	list := readOpened(from)
	i := slices.IndexFunc(list, func(o opened) bool {
		return o.wasTold() && o.id != handover.FileName(d.Session) && o.over(d.Env)
	})
	if i < 0 {
		return opened{}, false
	}
	return list[i], true
}

// build makes the digest of a session that left none. In a session it becomes the
// digest of the project; a person at a terminal only reads it.
func (d Store) build(o opened) (doc string, err error) {
	dir, call := dirOf(d.Project), d.call()
	call.Payload = host.Payload{SessionID: o.id, TranscriptPath: o.transcript, Cwd: d.Project}
	doc = gatherMechanical(call, dir, "").digest()
	if d.Session == "" {
		return doc, nil
	}
	return doc, dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if err := replace(tx, doc, d.Env.Now()); err != nil {
			return err
		}
		if doc, err = setOwner(tx, digestFile, doc, d.Session); err != nil {
			return err
		}
		list := slices.DeleteFunc(readOpened(tx), func(p opened) bool { return p.id == o.id })
		return writeOpened(tx, list)
	})
}
