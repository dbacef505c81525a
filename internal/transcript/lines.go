package transcript

import (
	"bytes"
	"errors"
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
	// firstBlock is how much is read at once at first. It holds the rows that
	// usually follow the newest reply; each further block doubles what has been
	// read, up to lastBlock at once.
	firstBlock = 16 << 10
	lastBlock  = 256 << 10
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
// The buffer is filled from its end: a page of it that is never reached costs
// nothing, and moving what has been read would cost as much as reading it.
type backwards struct {
	r          io.ReaderAt
	pos        int64 // offset in the file of buf[start]; nothing before it has been read
	buf        []byte
	start, end int   // buf[start:end] has been read and not yielded
	total      int64 // bytes read so far
	long       bool  // inside a line that is too long to be held
	done       bool
	err        error
}

func newBackwards(r io.ReaderAt, size int64) *backwards {
	return &backwards{r: r, pos: size}
}

// next returns the line before, without its \n. It is valid until the next
// call. A line of more than maxLine bytes comes as nil. ok is false at the
// start of the file or when reading has failed (err).
func (b *backwards) next() (line []byte, ok bool) {
	if b.done {
		return nil, false
	}
	unsearched := b.buf[b.start:b.end]
	for {
		if i := lastNewline(unsearched); i >= 0 {
			line = b.buf[b.start+i+1 : b.end]
			b.end = b.start + i
			return b.take(line), true
		}
		if b.pos == 0 {
			b.done = true
			return b.take(b.buf[b.start:b.end]), true
		}
		if b.long || b.end-b.start > maxLine {
			b.long, b.start, b.end = true, len(b.buf), len(b.buf)
		}
		n := int(min(max(b.total, firstBlock), lastBlock, b.pos))
		if !b.read(n) {
			b.done = true
			return nil, false
		}
		unsearched = b.buf[b.start : b.start+n]
	}
}

// take returns line, or nil if its end had to be dropped.
func (b *backwards) take(line []byte) []byte {
	if b.long || len(line) > maxLine {
		b.long = false
		return nil
	}
	return line
}

// read puts the n bytes before pos in front of what is there.
func (b *backwards) read(n int) bool {
	if held := b.end - b.start; b.start < n {
		size := len(b.buf)
		if held+n > size {
			size = max(2*size, held+n, lastBlock)
		}
		buf := b.buf
		if size > len(buf) {
			buf = make([]byte, size)
		}
		copy(buf[size-held:], b.buf[b.start:b.end])
		b.buf, b.start, b.end = buf, size-held, size
	}
	b.start -= n
	b.pos -= int64(n)
	b.total += int64(n)
	if _, err := b.r.ReadAt(b.buf[b.start:b.start+n], b.pos); err != nil {
		// The file has become shorter meanwhile, or the disk has failed.
		b.err = err
		return false
	}
	return true
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

// forwards yields the lines of a file from the first to the last.
type forwards struct {
	r          io.Reader
	buf        []byte
	start, end int // buf[start:end] has been read and not yielded
	eof        bool
	err        error
}

func newForwards(r io.Reader) *forwards {
	return &forwards{r: r, buf: make([]byte, lastBlock)}
}

// next is like backwards.next, in the other direction.
func (f *forwards) next() (line []byte, ok bool) {
	long := false
	searched := 0
	for {
		if i := bytes.IndexByte(f.buf[f.start+searched:f.end], '\n'); i >= 0 {
			line = f.buf[f.start : f.start+searched+i]
			f.start += searched + i + 1
			if long || len(line) > maxLine {
				line = nil
			}
			return line, true
		}
		if f.eof {
			if f.start == f.end && !long {
				return nil, false
			}
			line = f.buf[f.start:f.end]
			f.start = f.end
			if long || len(line) > maxLine {
				line = nil
			}
			return line, true
		}
		if long || f.end-f.start > maxLine {
			long, f.start, f.end = true, 0, 0
		}
		searched = f.end - f.start
		f.fill()
	}
}

// fill reads more behind what has not been yielded.
func (f *forwards) fill() {
	if f.start > 0 {
		copy(f.buf, f.buf[f.start:f.end])
		f.start, f.end = 0, f.end-f.start
	}
	if f.end == len(f.buf) {
		buf := make([]byte, 2*len(f.buf))
		copy(buf, f.buf[:f.end])
		f.buf = buf
	}
	n, err := f.r.Read(f.buf[f.end:])
	f.end += n
	if err != nil {
		f.eof = true
		if !errors.Is(err, io.EOF) {
			f.err = err
		}
	}
}
