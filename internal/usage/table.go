package usage

// table finds the cells of a message: a hash table with open addressing. An entry
// is half of the message's hash, which also says where it belongs, and the place
// of the cell; so 900,000 replies take 8 MB. Two messages may share that half:
// the cell tells them apart.
type table struct {
	slots []uint64 // 0 is free: no reply stands in cell 0
	n     int
}

func entry(message uint64, at int) uint64 { return message<<32 | uint64(uint32(at)) }

// reserve makes room for n entries.
func (t *table) reserve(n int) {
	size := max(len(t.slots), 1<<10)
	for 8*n > 7*size {
		size *= 2
	}
	if size == len(t.slots) {
		return
	}
	old := t.slots
	t.slots = make([]uint64, size)
	for _, e := range old {
		if e != 0 {
			t.slots[t.free(e)] = e
		}
	}
}

// home returns the slot where the search for an entry begins.
func (t *table) home(e uint64) int { return int(e >> 32 * uint64(len(t.slots)) >> 32) }

func (t *table) next(i int) int { return (i + 1) & (len(t.slots) - 1) }

func (t *table) free(e uint64) int {
	i := t.home(e)
	for t.slots[i] != 0 {
		i = t.next(i)
	}
	return i
}

// insert adds the place of a cell of a message.
func (t *table) insert(message uint64, at int) {
	t.reserve(t.n + 1)
	e := entry(message, at)
	t.slots[t.free(e)] = e
	t.n++
}

// find returns the next slot from i on, -1 to begin, that may hold a cell of the
// message, and its place; -1 when there is none.
func (t *table) find(message uint64, i int) (slot, at int) {
	if len(t.slots) == 0 {
		return -1, 0
	}
	e := entry(message, 0)
	if i < 0 {
		i = t.home(e)
	} else {
		i = t.next(i)
	}
	for ; t.slots[i] != 0; i = t.next(i) {
		if t.slots[i]>>32 == e>>32 {
			return i, int(uint32(t.slots[i]))
		}
	}
	return -1, 0
}

// place returns the place of the cell in a slot.
func (t *table) place(slot int) int { return int(uint32(t.slots[slot])) }

// move gives the entry in a slot another place.
func (t *table) move(slot, at int) { t.slots[slot] = t.slots[slot]>>32<<32 | uint64(uint32(at)) }
