package usage

import (
	"cmp"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

// Roots returns the directories in which the host keeps its logs: those given, else
// the one of its configuration. A user who has not named that has it in one of two
// places of the home, or in both.
func Roots(h host.Host, given []string) []string {
	var roots []string
	add := func(dir string) {
		if filepath.IsAbs(dir) && !slices.Contains(roots, filepath.Clean(dir)) {
			roots = append(roots, filepath.Clean(dir))
		}
	}
	for _, dir := range given {
		add(dir)
	}
	if len(given) == 0 {
		add(h.ConfigPath("projects"))
		if h.Home != "" && h.Config == filepath.Join(h.Home, ".claude") {
			add(filepath.Join(h.Home, ".config", "claude", "projects"))
		}
	}
	return roots
}

// Index is what the logs in some directories say was used. It is kept in a
// directory of its own, so that a log is read once: later only what was added to
// it. What was counted stays counted when a log is gone.
//
// An Index is good for one goroutine.
type Index struct {
	// Progress, if any, is told how many of the logs that have to be read have
	// been.
	Progress func(done, total int)
	// ReadOnly has nothing kept: the next call counts anew.
	ReadOnly bool

	dir   state.Dir
	roots []string
	above []uint64 // the lengths of a prompt from which a model costs more

	names    names
	logs     map[string]log
	kept     []byte           // activity and buckets as they stand in the snapshot
	buckets  map[bucket]count // all of them, once rows are counted; nil before that
	activity map[int32]uint16 // by slot, the minutes in which a reply was written; the same

	tx      *state.Tx // of the update that runs; nil when nothing can be written
	journal journal
	table   table
	whole   bool // the table has every reply of the journal

	buf    []byte // for blocks of logs
	parsed row
	tried  struct { // the directory that was last taken for a project's
		project uint32
		cwd     []byte
	}
	fault error // the journal could not be read
}

// log is how far a log has been read.
type log struct {
	size, mtime int64  // when it was looked at; mtime in ns
	offset      int64  // what is before it has been read
	end         uint64 // the sum of the bytes before offset
}

// SlotLength is how finely replies are counted by time: a day begins at a quarter
// of an hour in every zone there is.
const SlotLength = 15 * time.Minute

// bucket is what replies are counted together by.
type bucket struct {
	slot    int32 // of SlotLength since 1970
	session uint32
	model   uint16
	batch   bool
	longer  uint8 // than how many of Index.above the prompt is
}

// count is what was used in a bucket.
type count struct {
	replies, calls           uint32 // calls are those of an advisor within a reply
	input, output, cacheRead uint64
	write5m, write1h         uint64
}

// tally is a bucket and what is in it.
type tally struct {
	bucket
	count
}

// each calls visit for each bucket.
func (x *Index) each(visit func(b bucket, c count)) {
	x.eachKept(visit)
	for b, c := range x.buckets {
		visit(b, c)
	}
}

// sorted returns the buckets by slot.
func (x *Index) sorted() []tally {
	list := make([]tally, 0, len(x.buckets))
	x.each(func(b bucket, c count) { list = append(list, tally{b, c}) })
	slices.SortFunc(list, func(a, b tally) int {
		return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.session, b.session), cmp.Compare(a.model, b.model), cmp.Compare(a.longer, b.longer))
	})
	return list
}

// Open returns the index of the logs below roots, one of those in dir: whoever has
// two configurations has two accounts. Nothing is read until Update, and no file
// made. The prices say from which length on prompts are counted apart.
func Open(dir string, roots []string, prices models.Prices) *Index {
	of := sum([]byte(strings.Join(roots, "\x00")), 0)
	x := &Index{dir: state.NewDir(filepath.Join(dir, strconv.FormatUint(of, 36))), roots: roots}
	for _, p := range prices {
		if p.LongPrompt != nil {
			x.above = append(x.above, uint64(p.LongPrompt.Above))
		}
	}
	slices.Sort(x.above)
	x.above = slices.Compact(x.above)
	x.clear()
	return x
}

// clear forgets everything.
func (x *Index) clear() {
	x.names.clear()
	x.names.fresh = x.journal.putName
	x.fault = nil
	x.logs, x.kept, x.buckets, x.activity = map[string]log{}, nil, nil, nil
	x.table, x.whole = table{}, false
}

// Unread is a log, or a directory of them, that could not be read.
type Unread struct {
	Path string
	Err  error
}

// Report is what an Update did.
type Report struct {
	Logs   int   // below the roots
	Read   int   // of these, those in which something new stood
	Bytes  int64 // that were read
	Rows   int   // of replies among them
	Unread []Unread
	// NotKept is why the index could not be written; what it knows is right all
	// the same, and is found out again the next time.
	NotKept error
}

// lockWait is how long an Update waits for another. It may be one that reads
// gigabytes for the first time.
const lockWait = 30 * time.Second

// Update reads what was added to the logs. The error is one of the index itself,
// state.ErrBusy when another process is at it.
func (x *Index) Update() (Report, error) {
	var report Report
	if x.ReadOnly {
		return x.update(nil, x.dir.View())
	}
	locked := false
	_ = os.MkdirAll(filepath.Dir(x.dir.Path("")), 0o755) // else the lock says why not
	err := x.dir.WithLock(lockWait, func(tx *state.Tx) error {
		locked = true
		var err error
		report, err = x.update(tx, x.dir.View())
		return err
	})
	if locked || errors.Is(err, state.ErrBusy) {
		return report, err
	}
	report, err2 := x.update(nil, x.dir.View())
	report.NotKept = err
	return report, err2
}

// update is Update; without a tx nothing can be written.
func (x *Index) update(tx *state.Tx, dir state.View) (report Report, err error) {
	defer dir.Close()
	defer x.journal.close()
	x.tx = tx
	defer func() { x.tx = nil }()
	kept, err := x.load(dir)
	if err != nil {
		return report, err
	}
	found, unread := x.find()
	report.Logs, report.Unread = len(found), unread
	var changed []foundLog
	for _, f := range found {
		if was, ok := x.logs[f.path]; !ok || was.size != f.size || was.mtime != f.mtime {
			changed = append(changed, f)
		}
	}
	if len(changed) == 0 && kept {
		return report, nil
	}
	if err := x.fill(); err != nil {
		return report, err
	}
	for i, f := range changed {
		if err := x.read(f, &report); err != nil {
			report.Unread = append(report.Unread, Unread{f.path, err})
		}
		if x.fault != nil {
			return report, x.fault
		}
		if x.Progress != nil {
			x.Progress(i+1, len(changed))
		}
	}
	x.forget(found)
	x.keep(&report, x.journal.flush)
	x.keep(&report, func(tx *state.Tx) error { return tx.Write(snapshotName, x.encode()) })
	return report, nil
}

// keep writes a part of the index. Once that has failed, on a full disk say, nothing
// more is written: what is counted stands in memory then.
func (x *Index) keep(report *Report, write func(*state.Tx) error) {
	if x.tx == nil {
		return
	}
	if err := write(x.tx); err != nil {
		x.tx, report.NotKept = nil, err
	}
}

// forget drops the logs that are gone, so that one of the same name is a new one.
func (x *Index) forget(found []foundLog) {
	there := make(map[string]bool, len(found))
	for _, f := range found {
		there[f.path] = true
	}
	for path := range x.logs {
		if !there[path] {
			delete(x.logs, path)
		}
	}
}

// load brings the index to what the directory says, and reports whether its
// snapshot says all of it.
func (x *Index) load(dir state.View) (kept bool, err error) {
	x.clear()
	x.journal.open(dir)
	data, err := dir.Read(snapshotName, maxSnapshot)
	if err != nil || x.journal.file == nil {
		return false, x.rebuild()
	}
	counted, ok := x.decode(data)
	if ok && counted {
		return true, nil
	}
	if !ok {
		return false, x.rebuild()
	}
	// The replies are counted anew, and no log is read.
	logs, activity := x.logs, map[int32]uint16{}
	x.eachActive(func(slot int32, minutes uint16) { activity[slot] = minutes })
	err = x.rebuild()
	x.logs, x.activity = logs, activity
	return false, err
}

// rebuild counts anew what the journal has. All logs are read again.
func (x *Index) rebuild() error {
	x.clear()
	x.whole, x.buckets, x.activity = true, map[bucket]count{}, map[int32]uint16{}
	defer x.names.byText()
	if x.journal.file == nil {
		x.journal.begin(rand.Uint64())
		return nil
	}
	x.table.reserve(x.journal.cells)
	var fault error
	err := x.journal.replay(func(at int, r *record) {
		fault = cmp.Or(fault, x.count(r, at))
		x.active(r.time)
	}, x.names.put)
	return errors.Join(err, fault)
}

// fill makes the index ready for rows: it fills the table with the replies of the
// journal, which takes time and is only needed to tell whether a row is of a reply
// that was counted before.
func (x *Index) fill() error {
	if x.whole {
		return nil
	}
	x.whole = true
	x.names.byText()
	x.buckets, x.activity = map[bucket]count{}, map[int32]uint16{}
	x.eachActive(func(slot int32, minutes uint16) { x.activity[slot] = minutes })
	x.eachKept(func(b bucket, c count) { x.buckets[b] = c })
	x.kept = nil
	x.table.reserve(x.journal.cells)
	var fault error
	err := x.journal.replay(func(at int, r *record) {
		slot, err := x.same(r)
		switch {
		case err != nil:
			fault = err
		case slot >= 0:
			x.table.move(slot, at)
		default:
			x.table.insert(r.message, at)
		}
	}, func(name) {})
	return errors.Join(err, fault)
}

// same returns the slot of a reply that is known already, -1 for a new one.
func (x *Index) same(r *record) (int, error) {
	var old record
	for slot, at := x.table.find(r.message, -1); slot >= 0; slot, at = x.table.find(r.message, slot) {
		if err := x.journal.get(at, &old); err != nil {
			return -1, err
		}
		if old.message == r.message && old.scope == r.scope {
			return slot, nil
		}
	}
	return -1, nil
}

// count counts what a row says of a reply, and makes r all that is known of it. at
// is the cell that says so already, -1 when it is to be kept.
//
// A reply that a sidechain repeats has the message of the main thread's, and
// another request: of the replies of one message, those that only stand in
// sidechains count as long as there is no other.
func (x *Index) count(r *record, at int) error {
	slot, was, main := -1, 0, false
	var known, other record
	var only [8]record // the replies of the message that count until there is another
	sidechain := only[:0]
	for i, place := x.table.find(r.message, -1); i >= 0; i, place = x.table.find(r.message, i) {
		if err := x.journal.get(place, &other); err != nil {
			return err
		}
		switch {
		case other.message != r.message:
			continue
		case other.scope == r.scope:
			slot, was, known = i, place, other
		case other.flags&mainThread == 0:
			sidechain = append(sidechain, other)
		}
		main = main || other.flags&mainThread != 0
	}
	if slot >= 0 {
		join := x.join(&known, r)
		*r = join
		if join == known && at < 0 {
			return nil
		}
		if known.flags&mainThread != 0 || !main {
			x.sum(&known, -1)
		}
	}
	if r.flags&mainThread != 0 || !main {
		x.sum(r, 1)
	}
	if r.flags&mainThread != 0 && !main {
		for i := range sidechain {
			x.sum(&sidechain[i], -1)
		}
	}
	if at < 0 {
		at = x.journal.put(r, was)
	}
	if slot < 0 {
		x.table.insert(r.message, at)
	} else if at != was {
		x.table.move(slot, at)
	}
	return nil
}

// join returns what two rows say of a reply: the maximum of each kind of tokens,
// and where and when from the first of them.
func (x *Index) join(a, b *record) record {
	now := *a
	if x.before(b, a) {
		now = *b
	}
	now.flags = now.flags&copied | (a.flags|b.flags)&^copied
	for i := range now.tokens {
		now.tokens[i] = max(a.tokens[i], b.tokens[i])
	}
	return now
}

// before reports whether a was before b. The copies of a row have its time; which
// of them is read first must make no difference.
func (x *Index) before(a, b *record) bool {
	return cmp.Or(
		cmp.Compare(a.time, b.time),
		cmp.Compare(a.flags&copied, b.flags&copied),
		x.names.compare(sessions, a.session, b.session),
		x.names.compare(modelIDs, uint32(a.model), uint32(b.model)),
	) < 0
}

// sum adds a reply to its bucket, or takes it away.
func (x *Index) sum(r *record, sign int) {
	b := bucket{slot: slotOf(r.time), session: r.session, model: r.model, batch: r.flags&batch != 0}
	for _, n := range x.above {
		if r.tokens.prompt() > n {
			b.longer++
		}
	}
	c := x.buckets[b]
	if n := uint32(sign); r.flags&advisor != 0 {
		c.calls += n
	} else {
		c.replies += n
	}
	n := uint64(sign)
	w5m, w1h := r.tokens.writes()
	c.input += n * uint64(r.tokens[input])
	c.output += n * uint64(r.tokens[output])
	c.cacheRead += n * uint64(r.tokens[cacheRead])
	c.write5m += n * w5m
	c.write1h += n * w1h
	if c.replies == 0 && c.calls == 0 {
		delete(x.buckets, b)
		return
	}
	x.buckets[b] = c
}

// slotOf returns the slot of a time in ms since 1970.
func slotOf(ms int64) int32 { return int32(ms / SlotLength.Milliseconds()) }

// active notes that a row of a reply was written at a time in ms since 1970.
func (x *Index) active(ms int64) {
	minute := ms / time.Minute.Milliseconds() % int64(SlotLength/time.Minute)
	x.activity[slotOf(ms)] |= 1 << minute
}

// foundLog is a log below a root.
type foundLog struct {
	path, project, session string // project and session as the names on the way say
	size, mtime            int64
}

// find returns the logs below the roots. A root that is absent has none.
func (x *Index) find() (logs []foundLog, unread []Unread) {
	var seen []string
	for _, root := range x.roots {
		root = state.RealPath(root) // people have links to where their logs are
		if slices.Contains(seen, root) {
			continue
		}
		seen = append(seen, root)
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				if !errors.Is(err, fs.ErrNotExist) {
					unread = append(unread, Unread{path, err})
				}
				return nil
			}
			if !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl" {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil // deleted meanwhile
			}
			logs = append(logs, named(root, path, info))
			return nil
		})
		if err != nil {
			unread = append(unread, Unread{root, err})
		}
	}
	return logs, unread
}

// named says whose log a file is by the names on its way: PROJECT/SESSION.jsonl, or
// PROJECT/SESSION/subagents/agent-ID.jsonl.
func named(root, path string, info fs.FileInfo) foundLog {
	f := foundLog{path: path, size: info.Size(), mtime: info.ModTime().UnixNano()}
	rel, _ := state.Below(root, path)
	way := strings.Split(filepath.ToSlash(rel), "/")
	if len(way) > 1 {
		f.project, way = way[0], way[1:]
	}
	f.session = strings.TrimSuffix(way[0], ".jsonl")
	return f
}

// Empty reports whether nothing was ever counted.
func (x *Index) Empty() bool {
	empty := true
	x.each(func(bucket, count) { empty = false })
	return empty
}
