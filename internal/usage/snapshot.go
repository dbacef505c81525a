package usage

import (
	"encoding/binary"
	"maps"
	"slices"
)

const (
	snapshotName  = "index"
	snapshotMagic = "ccreload index 1"
	maxSnapshot   = 1 << 30 // bytes
)

// encode returns the snapshot: all but the replies themselves, and how many cells
// of the journal it is made of. It is written in one step after those, so that it
// never says more than there is; and with it what was read of the logs counts.
func (x *Index) encode() []byte {
	w := writer(append(make([]byte, 0, 64<<10), snapshotMagic...))
	w.uint(x.journal.generation)
	w.uint(uint64(x.journal.cells))
	w.uint(uint64(len(x.above)))
	for _, n := range x.above {
		w.uint(n)
	}
	for _, kind := range nameKinds {
		w.uint(uint64(len(x.names.lists[kind])))
		for _, n := range x.names.lists[kind] {
			w.uint(uint64(n.of))
			w.text(n.text)
		}
	}
	w.uint(uint64(len(x.logs)))
	for _, path := range slices.Sorted(maps.Keys(x.logs)) {
		l := x.logs[path]
		w.text(path)
		w.uint(uint64(l.size))
		w.uint(uint64(l.mtime))
		w.uint(uint64(l.offset))
		w.uint(l.end)
	}
	w.uint(uint64(len(x.activity)))
	last := int32(0)
	for _, slot := range slices.Sorted(maps.Keys(x.activity)) {
		w.uint(uint64(slot - last))
		w.uint(uint64(x.activity[slot]))
		last = slot
	}
	list := x.sorted()
	w.uint(uint64(len(list)))
	last = 0
	for _, t := range list {
		b, c := t.bucket, t.count
		for _, n := range [...]uint64{
			uint64(b.slot - last), uint64(b.session), uint64(b.model), uint64(b.longer)<<1 | one(b.batch),
			uint64(c.replies), uint64(c.calls), c.input, c.output, c.cacheRead, c.write5m, c.write1h,
		} {
			w.uint(n)
		}
		last = b.slot
	}
	return binary.LittleEndian.AppendUint64(w, sum(w, 0))
}

// nameKinds is the order of the names in the snapshot.
var nameKinds = [...]nameKind{modelIDs, projects, projectPaths, sessions}

// decode reads a snapshot. ok is false where it is damaged or of another journal;
// counted, where it counts apart other lengths of prompts.
func (x *Index) decode(data []byte) (counted, ok bool) {
	i := len(data) - 8
	if i < len(snapshotMagic) || string(data[:len(snapshotMagic)]) != snapshotMagic || binary.LittleEndian.Uint64(data[i:]) != sum(data[:i], 0) {
		return false, false
	}
	r := reader{data: data[:i], at: len(snapshotMagic)}
	generation, cells := r.uint(), int(r.uint())
	if generation != x.journal.generation || cells > x.journal.cells || cells < 1 {
		return false, false
	}
	above := make([]uint64, r.count())
	for i := range above {
		above[i] = r.uint()
	}
	for _, kind := range nameKinds {
		for id := range r.count() {
			x.names.put(name{kind: kind, id: uint32(id), of: uint32(r.uint()), text: r.text()})
		}
	}
	for range r.count() {
		path := r.text()
		x.logs[path] = log{int64(r.uint()), int64(r.uint()), int64(r.uint()), r.uint()}
	}
	// The rest is read when somebody asks: most of the snapshot is it, and touching
	// memory for the first time takes longest.
	x.kept, x.buckets, x.activity = r.data[r.at:], nil, nil
	if r.short {
		return false, false
	}
	x.journal.cells = cells
	return slices.Equal(above, x.above), true
}

// eachActive calls visit for each slot of the snapshot in which a reply was written,
// in their order, and returns what follows them.
func (x *Index) eachActive(visit func(slot int32, minutes uint16)) reader {
	r := reader{data: x.kept}
	slot := int32(0)
	for range r.count() {
		slot += int32(r.uint())
		visit(slot, uint16(r.uint()))
	}
	return r
}

// eachKept calls visit for each bucket of the snapshot, by slot.
func (x *Index) eachKept(visit func(b bucket, c count)) {
	r := x.eachActive(func(int32, uint16) {})
	slot := int32(0)
	for range r.count() {
		slot += int32(r.uint())
		b := bucket{slot: slot, session: uint32(r.uint()), model: uint16(r.uint())}
		flags := r.uint()
		b.longer, b.batch = uint8(flags>>1), flags&1 != 0
		visit(b, count{uint32(r.uint()), uint32(r.uint()), r.uint(), r.uint(), r.uint(), r.uint(), r.uint()})
	}
}

func one(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// writer appends to a snapshot.
type writer []byte

func (w *writer) uint(n uint64) { *w = binary.AppendUvarint(*w, n) }

func (w *writer) text(s string) {
	w.uint(uint64(len(s)))
	*w = append(*w, s...)
}

// reader reads a snapshot. Behind its end everything is 0.
type reader struct {
	data  []byte
	at    int
	short bool
}

// left returns how many bytes follow.
func (r *reader) left() int { return len(r.data) - r.at }

func (r *reader) end() { r.at, r.short = len(r.data), true }

func (r *reader) uint() (n uint64) {
	for shift := 0; r.at < len(r.data) && shift < 64; shift += 7 {
		c := r.data[r.at]
		r.at++
		n |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
	r.end()
	return 0
}

// count reads how many entries follow. Each takes a byte at least.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(r.left()) {
		r.end()
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	r.at += n
	return string(r.data[r.at-n : r.at])
}
