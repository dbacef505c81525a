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
	for _, slot := range slices.Sorted(maps.Keys(x.activity)) {
		w.uint(uint64(slot))
		w.uint(uint64(x.activity[slot]))
	}
	w.uint(uint64(len(x.buckets)))
	for b, c := range x.buckets {
		for _, n := range [...]uint64{
			uint64(b.slot), uint64(b.session), uint64(b.model), uint64(b.longer)<<1 | one(b.batch),
			uint64(c.replies), uint64(c.calls), c.input, c.output, c.cacheRead, c.write5m, c.write1h,
		} {
			w.uint(n)
		}
	}
	return binary.LittleEndian.AppendUint64(w, sum(w, 0))
}

// nameKinds is the order of the names in the snapshot.
var nameKinds = [...]nameKind{modelIDs, projects, projectPaths, sessions}

// decode reads a snapshot. False means that it is damaged, of another journal, or
// counts apart other lengths of prompts.
func (x *Index) decode(data []byte) bool {
	i := len(data) - 8
	if i < len(snapshotMagic) || string(data[:len(snapshotMagic)]) != snapshotMagic || binary.LittleEndian.Uint64(data[i:]) != sum(data[:i], 0) {
		return false
	}
	r := reader{data: data[len(snapshotMagic):i]}
	generation, cells := r.uint(), int(r.uint())
	if generation != x.journal.generation || cells > x.journal.cells || cells < 1 {
		return false
	}
	if r.uint() != uint64(len(x.above)) {
		return false
	}
	for _, n := range x.above {
		if r.uint() != n {
			return false
		}
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
	for range r.count() {
		slot := int32(r.uint())
		x.activity[slot] = uint16(r.uint())
	}
	n := r.count()
	x.buckets = make(map[bucket]count, n)
	for range n {
		b := bucket{slot: int32(r.uint()), session: uint32(r.uint()), model: uint16(r.uint())}
		flags := r.uint()
		b.longer, b.batch = uint8(flags>>1), flags&1 != 0
		x.buckets[b] = count{uint32(r.uint()), uint32(r.uint()), r.uint(), r.uint(), r.uint(), r.uint(), r.uint()}
	}
	if r.short || len(r.data) > 0 {
		return false
	}
	x.journal.cells = cells
	return true
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
	short bool
}

func (r *reader) uint() uint64 {
	n, size := binary.Uvarint(r.data)
	if size <= 0 {
		r.data, r.short = nil, true
		return 0
	}
	r.data = r.data[size:]
	return n
}

// count reads how many entries follow. Each takes a byte at least.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.data)) {
		r.data, r.short = nil, true
		return 0
	}
	return int(n)
}

func (r *reader) text() string {
	n := r.count()
	s := string(r.data[:n])
	r.data = r.data[n:]
	return s
}
