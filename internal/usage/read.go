package usage

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	// blockSize is how much of a log is read at once, in bytes.
	blockSize = 512 << 10
	// maxRow is the longest row that is held: a reply is much shorter. Of a longer
	// one only the end is looked for.
	maxRow = 8 << 20
	// endSize is how many bytes before where reading ended tell whether a log is
	// the same one still. The rows of a session end alike.
	endSize = 1 << 10
)

// read reads what was added to a log.
func (x *Index) read(f foundLog, report *Report) error {
	file, err := state.Open(f.path)
	if err != nil {
		return errors.Unwrap(err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("now " + host.FileKind(info.Mode()))
	}
	l := x.logs[f.path]
	if l.offset > info.Size() || l.end != endSum(file, l.offset) {
		l.offset = 0 // cut off, or another log: what it has in common with the old one is known
	}
	rows := rowReader{file: file, buf: x.buf, at: l.offset}
	project := x.names.id(projects, []byte(f.project), 0)
	for rows.next() {
		report.Rows += x.row(rows.row, f, project)
		if len(x.journal.tail) >= flushAt {
			x.keep(report, x.journal.flush)
		}
	}
	x.buf = rows.buf
	report.Read++
	report.Bytes += rows.read
	l = log{size: f.size, mtime: f.mtime, offset: rows.at, end: endSum(file, rows.at)}
	x.logs[f.path] = l
	return rows.err
}

// endSum returns the sum of the bytes before an offset.
func endSum(f *os.File, offset int64) uint64 {
	var end [endSize]byte
	n := min(offset, endSize)
	if _, err := f.ReadAt(end[:n], offset-n); err != nil {
		return 0
	}
	return sum(end[:n], uint64(n))
}

// rowReader reads the lines of a log, each at its turn.
type rowReader struct {
	file *os.File
	at   int64 // what is before has been read, up to the end of a line
	read int64 // bytes
	row  []byte
	err  error

	buf   []byte
	block []byte // of buf: what was read and not given out
	seen  int    // of block: where there is no end of a line
	done  bool
}

// next reads the next line, without its end. It is valid until the call after.
// The last one may not have an end yet: then it comes too, since it may be whole,
// and will come again.
func (r *rowReader) next() bool {
	for {
		if i := bytes.IndexByte(r.block[r.seen:], '\n'); i >= 0 {
			i += r.seen
			r.row, r.block, r.seen = r.block[:i], r.block[i+1:], 0
			r.at += int64(i) + 1
			return true
		}
		r.seen = len(r.block)
		if r.done {
			r.row, r.block, r.seen = r.block, nil, 0
			return len(r.row) > 0
		}
		if r.seen == len(r.buf) && r.seen > 0 && !r.room() {
			continue
		}
		r.fill()
	}
}

// fill reads the next block behind what is held.
func (r *rowReader) fill() {
	if r.buf == nil {
		r.buf = make([]byte, blockSize)
	}
	held := copy(r.buf, r.block)
	n, err := r.file.ReadAt(r.buf[held:], r.at+int64(held))
	r.block = r.buf[:held+n]
	r.read += int64(n)
	if err != nil {
		r.done = true
		if !errors.Is(err, io.EOF) {
			r.err = err
		}
	}
}

// room makes room for a row that is longer than what is held. False means that it
// was skipped, since it is of another kind or longer than any reply.
func (r *rowReader) room() bool {
	if len(r.buf) < maxRow && !ofAnotherKind(r.buf) {
		r.buf = append(r.buf, make([]byte, len(r.buf))...)
		r.block = r.buf[:r.seen]
		return true
	}
	at := r.at + int64(len(r.buf))
	for {
		n, err := r.file.ReadAt(r.buf, at)
		r.read += int64(n)
		if i := bytes.IndexByte(r.buf[:n], '\n'); i >= 0 {
			r.at = at + int64(i) + 1
			r.block, r.seen = r.buf[i+1:n], 0
			return false
		}
		at += int64(n)
		if err != nil { // it has no end yet
			if !errors.Is(err, io.EOF) {
				r.err = err
			}
			r.block, r.seen, r.done = nil, 0, true
			return false
		}
	}
}

// ofAnotherKind reports whether what a row begins with says that it is no reply's.
func ofAnotherKind(head []byte) bool {
	other := false
	jsonscan.Prefix(head, func(key, value []byte) bool {
		if string(key) != "type" {
			return value != nil
		}
		other = value != nil && !jsonscan.Is(value, "assistant")
		return false
	})
	return other
}

// row counts a line of a log, and returns 1 if it is a reply's.
func (x *Index) row(line []byte, f foundLog, project uint32) int {
	r := &x.parsed
	if !r.parse(trim(line)) {
		return 0
	}
	session := r.session
	if len(session) == 0 {
		session = []byte(f.session)
	}
	of := record{time: r.time}
	if len(r.origin) > 0 { // a fork gives its copies a session of their own
		session, of.flags = r.origin, copied
	}
	switch {
	case len(r.id) > 0:
		of.message = sum(r.id, 0)
	case len(r.uuid) > 0:
		of.message = sum(r.uuid, 1)
	default:
		return 0
	}
	if len(r.request) > 0 {
		of.scope = sum(r.request, 0)
	} else {
		of.scope = sum(session, 1)
	}
	if !r.sidechain {
		of.flags |= mainThread
	}
	if r.batch {
		of.flags |= batch
	}
	if r.advised() {
		of.flags |= advised
	}
	x.place(project, r.cwd)
	of.session = x.names.id(sessions, session, project)
	x.active(of.time)
	of.model, of.tokens = x.model(r.model), r.tokens
	n := uint64(0)
	x.note(&of)
	r.advice(func(model []byte, used tokens) {
		n++
		part := of
		part.scope, part.flags = advisorScope(of.scope, n), of.flags|advisor
		part.model, part.tokens = x.model(model), used
		x.note(&part)
	})
	if of.flags&advised != 0 {
		x.follow(&of, n)
	}
	return 1
}

// advisorScope is the scope of what an advisor says within a reply, for the nth
// time.
func advisorScope(scope, n uint64) uint64 { return mix(scope^0x2545f4914f6cdd1d, n) }

// follow has what advisors said within a reply be what the reply is, on its day and
// in its session, from the nth on: the row may be one in which they do not occur.
func (x *Index) follow(of *record, n uint64) {
	for n++; x.fault == nil; n++ {
		part := record{message: of.message, scope: advisorScope(of.scope, n)}
		slot, err := x.same(&part)
		if err == nil && slot >= 0 {
			err = x.journal.get(x.table.place(slot), &part)
		}
		if err != nil {
			x.fault = err
		}
		flags := of.flags | advisor
		if err != nil || slot < 0 || part.time == of.time && part.session == of.session && part.flags == flags {
			return
		}
		part.time, part.session, part.flags = of.time, of.session, flags
		x.note(&part)
	}
}

// place notes that a row of a project names the directory cwd, a JSON string.
func (x *Index) place(project uint32, cwd []byte) {
	if len(cwd) == 0 || x.names.placed(project) || project == x.tried.project && string(cwd) == string(x.tried.cwd) {
		return
	}
	x.tried.project, x.tried.cwd = project, append(x.tried.cwd[:0], cwd...)
	x.names.place(project, jsonscan.Text(cwd))
}

// note counts and keeps a record, and makes it what is known of the reply. What
// cannot be compared with that stops the update.
func (x *Index) note(r *record) {
	if err := x.count(r, -1); err != nil && x.fault == nil {
		x.fault = err
	}
}

// model returns the number of a model.
func (x *Index) model(id []byte) uint16 {
	return uint16(min(x.names.id(modelIDs, id, 0), math.MaxUint16))
}
