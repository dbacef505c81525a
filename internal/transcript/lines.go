package transcript

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/ccreload/ccreload/internal/state"
)

const (
	// maxLine is the longest row that is read, in bytes. A longer one (a file
	// of megabytes that a tool printed, say) is skipped without ever being
	// held, so that memory stays bounded whatever the transcript holds (case
	// F28). The rows that matter are a few kilobytes.
	maxLine = 1 << 20
	// firstBlock is how much is read at once at first, in bytes. Once
	// smallBlocks have been read that did not do, it is lastBlock.
	firstBlock  = 16 << 10
	smallBlocks = 16
	lastBlock   = 256 << 10
	// headSize is how much of a long row is looked at before it is read.
	headSize = 512
	// A reader looks no further back than this: behind a turn of a hundred
	// large outputs there still is a reply, and a file in which there is none
	// must not keep the session waiting.
	maxReach = 128 << 20 // bytes
	maxRows  = 200_000
)

// open opens a transcript and returns its size in bytes. Only a regular file
// is opened: a FIFO or a device could keep the session waiting for ever.
func open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("transcript %q is not a regular file", path)
	}
	f, err := state.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// backwards yields the lines of a file from the last to the first. Lines end
// with \n and nothing else: U+2028 and \r are part of a row.
//
// One block is held at a time, and the same memory is used for each: a fresh
// page costs more than what is read into it. Of a line that does not lie within
// a block only the ends are looked for. Then it is read by itself, unless skip
// says from its first bytes that it is of no interest.
type backwards struct {
	r    io.ReaderAt
	skip func(head []byte) bool

	size   int64
	rows   int   // how many have been yielded
	tired  bool  // the reader gave up before the start of the file
	pos    int64 // offset in the file of buf[0]; nothing before it has been read
	buf    []byte
	end    int   // buf[:end] has not been yielded
	tail   int64 // how much of the line that ends there lies behind buf[:end]
	blocks int   // how many have been read
	row    []byte
	head   []byte // the first bytes of a row that was too long
	done   bool
	err    error
}

func newBackwards(r io.ReaderAt, size int64, skip func(head []byte) bool) *backwards {
	return &backwards{r: r, size: size, pos: size, skip: skip}
}

// next returns the line before, without its \n. It is valid until the next
// call. A line of more than maxLine bytes, or one that skip has no use for,
// comes as nil. ok is false at the start of the file, when it is too far away
// (tired) or when reading has failed (err).
func (b *backwards) next() (line []byte, ok bool) {
	for !b.done {
		if b.tired = b.rows == maxRows || b.size-b.pos > maxReach; b.tired {
			break
		}
		i := lastNewline(b.buf[:b.end])
		if i < 0 && b.pos > 0 {
			if !b.block() {
				break
			}
			continue
		}
		b.done = i < 0
		begin, length := i+1, int64(b.end-i-1)+b.tail
		if b.tail == 0 {
			line = b.buf[begin:b.end]
		} else if line, ok = b.long(begin, length); !ok {
			break
		}
		b.end, b.tail = max(i, 0), 0
		b.rows++
		return line, true
	}
	b.done = true
	return nil, false
}

// offset returns where in the file what has not been yielded ends.
func (b *backwards) offset() int64 { return b.pos + int64(b.end) }

// start returns where in the file the line begins that was yielded last.
func (b *backwards) start() int64 {
	if b.done {
		return 0
	}
	return b.offset() + 1
}

// long returns a line that begins at buf[begin] and goes on behind the block.
func (b *backwards) long(begin int, length int64) (line []byte, ok bool) {
	at := b.pos + int64(begin)
	head := b.buf[begin:b.end]
	if len(head) < headSize {
		head = make([]byte, min(headSize, length))
		if !b.read(head, at) {
			return nil, false
		}
	}
	b.head = head[:min(len(head), headSize)]
	if length > maxLine || b.skip(b.head) {
		return nil, true
	}
	if int64(cap(b.row)) < length {
		b.row = make([]byte, length)
	}
	line = b.row[:length]
	return line, b.read(line, at)
}

// block reads the block before pos.
func (b *backwards) block() bool {
	size := firstBlock
	if b.blocks++; b.blocks > smallBlocks {
		size = lastBlock
	}
	if len(b.buf) < size {
		b.buf = make([]byte, size)
	}
	n := int(min(int64(size), b.pos))
	b.tail += int64(b.end)
	b.pos -= int64(n)
	b.end = n
	return b.read(b.buf[:n], b.pos)
}

// read fills p from the file. It fails when the file has become shorter
// meanwhile, or the disk is at fault.
func (b *backwards) read(p []byte, at int64) bool {
	_, b.err = b.r.ReadAt(p, at)
	return b.err == nil
}

// lastNewline is bytes.LastIndexByte with a fast answer for a block that has
// none, which is what the inside of a huge row consists of: only the search
// forwards is vectorised.
func lastNewline(p []byte) int {
	first := bytes.IndexByte(p, '\n')
	if first < 0 {
		return -1
	}
	return first + bytes.LastIndexByte(p[first:], '\n')
}
