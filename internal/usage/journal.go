package usage

import (
	"encoding/binary"
	"errors"
	"io"
	"os"

	"github.com/ccreload/ccreload/internal/state"
)

const (
	journalName = "replies"
	// journalMagic begins the first cell; a file of another version is not read.
	journalMagic = "ccreload usage 1"
	// flushAt is how many bytes of cells are held until they are written.
	flushAt = 512 << 10
	// nameText is how many bytes of a name a cell takes, and maxName how many are
	// kept of one.
	nameText = sumAt - 16
	maxName  = 4 << 10
)

// journal is every reply that was ever counted, and the names that they refer to:
// a file to which cells are added and of which none is changed. A reply of which
// more becomes known gets a further cell, and the newest counts.
//
// The snapshot (snapshot.go) says how far the journal is valid. What is behind that
// was written by somebody who was killed; the logs it was read from are read again.
type journal struct {
	generation uint64
	cells      int      // how many are on disk and valid; 0 is the header
	tail       []byte   // the cells that are to follow them
	file       *os.File // nil where none is on disk
	cell       [cellSize]byte
}

// open looks for the journal in a directory.
func (j *journal) open(dir state.View) {
	f, err := dir.Open(journalName)
	if err != nil {
		return
	}
	info, err := f.Stat()
	if err == nil {
		_, err = f.ReadAt(j.cell[:], 0)
	}
	generation := binary.LittleEndian.Uint64(j.cell[16:])
	if err != nil || string(j.cell[:16]) != journalMagic || !sealed(j.cell[:], generation, 0) {
		f.Close()
		return
	}
	j.file, j.generation, j.cells = f, generation, int(info.Size()/cellSize)
}

// begin begins a journal of a new generation.
func (j *journal) begin(generation uint64) {
	j.close()
	*j = journal{generation: generation, tail: make([]byte, cellSize, flushAt)}
	copy(j.tail, journalMagic)
	binary.LittleEndian.PutUint64(j.tail[16:], generation)
}

func (j *journal) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// len returns the number of cells, with those that are to be written.
func (j *journal) len() int { return j.cells + len(j.tail)/cellSize }

// add adds an empty cell.
func (j *journal) add() []byte {
	j.tail = append(j.tail, make([]byte, cellSize)...)
	return j.tail[len(j.tail)-cellSize:]
}

// get reads the reply at a place.
func (j *journal) get(at int, r *record) error {
	if i := at - j.cells; i >= 0 {
		r.decode(j.tail[i*cellSize:])
		return nil
	}
	if _, err := j.file.ReadAt(j.cell[:], int64(at)*cellSize); err != nil {
		return err
	}
	r.decode(j.cell[:])
	return nil
}

// put keeps a reply and returns its place. It is the one it had, was (0 for none), if that
// has not been written yet.
func (j *journal) put(r *record, was int) int {
	if i := was - j.cells; was > 0 && i >= 0 {
		r.encode(j.tail[i*cellSize:])
		return was
	}
	r.encode(j.add())
	return j.len() - 1
}

// putName keeps a name.
func (j *journal) putName(n name) {
	kind, text := byte(isName), n.text
	for {
		cell := j.add()
		cell[0], cell[1] = kind, byte(n.kind)
		binary.LittleEndian.PutUint16(cell[2:], uint16(len(n.text)))
		binary.LittleEndian.PutUint32(cell[4:], n.id)
		binary.LittleEndian.PutUint32(cell[8:], n.of)
		text = text[copy(cell[16:sumAt], text):]
		if text == "" {
			return
		}
		kind = isMore
	}
}

// flush writes the cells that are held.
func (j *journal) flush(tx *state.Tx) error {
	if len(j.tail) == 0 {
		return nil
	}
	for i := 0; i < len(j.tail); i += cellSize {
		seal(j.tail[i:i+cellSize], j.generation, j.cells+i/cellSize)
	}
	if err := tx.Extend(journalName, int64(j.cells)*cellSize, j.tail); err != nil {
		return err
	}
	if j.file == nil {
		f, err := tx.Open(journalName)
		if err != nil {
			return err
		}
		j.file = f
	}
	j.cells = j.len()
	j.tail = j.tail[:0]
	return nil
}

// replay calls reply and name for what the cells on disk hold, in their order. One
// that is damaged is left out.
func (j *journal) replay(reply func(at int, r *record), named func(name)) error {
	buf := make([]byte, 256<<10)
	var r record
	var open name // the name whose cells come
	for at := 0; at < j.cells; {
		n, err := j.file.ReadAt(buf[:min(len(buf), (j.cells-at)*cellSize)], int64(at)*cellSize)
		if err != nil && (!errors.Is(err, io.EOF) || n < cellSize) {
			return err
		}
		for cell := buf[:n]; len(cell) >= cellSize; cell, at = cell[cellSize:], at+1 {
			if !sealed(cell[:cellSize], j.generation, at) {
				open = name{}
				continue
			}
			switch cell[0] {
			case isReply:
				r.decode(cell)
				reply(at, &r)
			case isName:
				le := binary.LittleEndian
				open = name{kind: nameKind(cell[1]), id: le.Uint32(cell[4:]), of: le.Uint32(cell[8:]), size: int(le.Uint16(cell[2:]))}
				fallthrough
			case isMore:
				open.text += string(cell[16:][:min(nameText, open.size-len(open.text))])
				if open.kind != 0 && len(open.text) == open.size {
					named(open)
					open = name{}
				}
			}
		}
	}
	return nil
}
