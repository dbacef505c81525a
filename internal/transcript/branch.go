package transcript

import (
	"io"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// branch yields the rows of a transcript from the newest to the oldest and says
// which are live: those that led to where the session is now. Turns that a person
// has taken back stay in the file and are not (case F75).
//
// A row names the one before it. Where it does not (older clients) or where that
// one is not in the file, the rows from there on all count: rather a turn too many
// than a session lost.
type branch struct {
	r     io.ReaderAt
	lines *backwards

	last   []byte // uuid of the live row that came last
	want   []byte // uuid of the next live row; nil: the next row that may be one
	from   int64  // where the rows begin of which want was not found yet
	behind bool   // the row behind this one in the file is the one that wants it
	root   bool   // what is left has been taken back
	linear bool   // every row counts
}

func newBranch(r io.ReaderAt, size int64) *branch {
	return &branch{r: r, lines: newBackwards(r, size, func([]byte) bool { return false })}
}

// next returns the next row that can be read. Subagents' are none. The row is
// valid until the next call. A row may come a second time, then live, when it
// turns out that the one before a live row is missing.
func (b *branch) next() (r row, live, ok bool) {
	for {
		line, ok := b.lines.next()
		if !ok {
			if b.want == nil || b.root || b.lines.tired || b.lines.err != nil {
				return row{}, false, false
			}
			b.lines = newBackwards(b.r, b.from, b.lines.skip)
			b.want, b.linear = nil, true
			continue
		}
		if line == nil {
			b.tooLong()
			continue
		}
		r, ok := parseRow(line)
		switch {
		case !ok || r.sidechain:
		case len(r.uuid) == 0:
			return r, !b.root, true // the host's own notes, and clients of old
		case string(r.uuid) == string(b.last) && !b.linear:
			b.want, b.root, b.linear = nil, false, true // they tell nothing here
			return r, true, true
		case b.root:
			return r, false, true
		case b.linear:
			return r, true, true
		case b.want == nil && !r.inThread(), b.want != nil && string(r.uuid) != string(b.want):
			b.behind = false
			return r, false, true
		default:
			b.follow(r)
			return r, true, true
		}
	}
}

// follow takes the row that r says came before it for the next live one.
func (b *branch) follow(r row) {
	parent := r.parent
	if r.boundary() {
		parent = r.logicalParent
	}
	b.from, b.behind = b.lines.offset(), true
	b.last = append(b.last[:0], r.uuid...)
	if len(parent) > 0 && parent[0] == '"' {
		b.want = append(b.want[:0], parent...)
		return
	}
	// The first prompt has none before it. One further back is the first prompt
	// of a session that was taken back as a whole.
	b.want = nil
	b.root = jsonscan.Is(r.kind, "user") && !r.meta && !r.summary && string(parent) == "null"
}

// tooLong deals with a row that is too long to be read, of which the uuid is not
// known. In a session without a turn taken back a row stands behind the one it
// follows.
func (b *branch) tooLong() {
	if b.want == nil || !b.behind {
		return
	}
	var r row
	jsonscan.Prefix(b.lines.head, func(key, value []byte) bool {
		switch string(key) {
		case "parentUuid":
			r.parent = value
		case "isSidechain":
			r.sidechain = jsonscan.True(value)
		}
		return value != nil
	})
	if !r.sidechain {
		r.kind = nil
		b.follow(r)
	}
}
