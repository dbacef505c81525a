package usage

import "encoding/binary"

// The kinds of tokens of a reply, in the order of record.tokens. Cache writes are
// kept as the host says them: in all, and of these by lifetime.
const (
	input = iota
	output
	cacheRead
	cacheWrite
	write5m
	write1h
	kinds
)

// tokens are counts by kind.
type tokens [kinds]uint32

// prompt is how many tokens the request sent.
func (t tokens) prompt() uint64 {
	w5m, w1h := t.writes()
	return uint64(t[input]) + uint64(t[cacheRead]) + w5m + w1h
}

// writes returns the cache writes by lifetime. What the host does not put down to
// either is written for five minutes.
func (t tokens) writes() (for5m, for1h uint64) {
	for5m, for1h = uint64(t[write5m]), uint64(t[write1h])
	if all := uint64(t[cacheWrite]); all > for5m+for1h {
		for5m = all - for1h
	}
	return for5m, for1h
}

// Flags of a record.
const (
	mainThread = 1 << iota // a row outside of a sidechain has it
	batch                  // at half price
	advisor                // not the reply, but what an advisor said within it
	copied                 // its first row is a copy that a fork made
	advised                // an advisor spoke within it
)

// record is a reply, or an advisor's part of one, as far as its rows are known.
type record struct {
	message uint64 // hash of message.id
	scope   uint64 // hash of what tells replies of one message.id apart
	time    int64  // of the first row, in ms since 1970
	flags   uint16
	session uint32 // of the first row, and by it the project
	model   uint16
	tokens  tokens
}

// Cells are what the journal consists of. Each ends in a sum, so that a torn or
// damaged one is seen; what it holds is told by its first byte.
const (
	cellSize = 64
	sumAt    = cellSize - 8
	textSize = sumAt - 8 // bytes of text in a cell

	isReply = 'r'
	isName  = 'n' // the beginning of a name, or all of it
	isMore  = '+' // the rest of the name before
)

// encode fills a cell, less its sum.
func (r *record) encode(cell []byte) {
	le := binary.LittleEndian
	cell[0], cell[1] = isReply, 0
	le.PutUint16(cell[2:], r.flags)
	le.PutUint32(cell[4:], r.session)
	le.PutUint64(cell[8:], r.message)
	le.PutUint64(cell[16:], r.scope)
	le.PutUint64(cell[24:], uint64(r.time)<<16|uint64(r.model))
	for i, n := range r.tokens {
		le.PutUint32(cell[32+4*i:], n)
	}
}

// decode reads the cell of a reply.
func (r *record) decode(cell []byte) {
	le := binary.LittleEndian
	r.flags = le.Uint16(cell[2:])
	r.session = le.Uint32(cell[4:])
	r.message = le.Uint64(cell[8:])
	r.scope = le.Uint64(cell[16:])
	last := le.Uint64(cell[24:])
	r.time, r.model = int64(last>>16), uint16(last)
	for i := range r.tokens {
		r.tokens[i] = le.Uint32(cell[32+4*i:])
	}
}

// seal writes the sum of the cell that stands at a place of the journal of a
// generation.
func seal(cell []byte, generation uint64, at int) {
	binary.LittleEndian.PutUint64(cell[sumAt:], sum(cell[:sumAt], generation+uint64(at)))
}

// sealed reports whether a cell is as it was written, at this place.
func sealed(cell []byte, generation uint64, at int) bool {
	return binary.LittleEndian.Uint64(cell[sumAt:]) == sum(cell[:sumAt], generation+uint64(at))
}
