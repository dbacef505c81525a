package usage

import (
	"math/bits"
	"time"
)

// Window is a window of the account's session limit as far as the logs tell: an
// estimate, since the host counts what other machines use as well.
type Window struct{ Start, End time.Time }

const (
	// early is how far ahead of now a row may be dated: clocks differ.
	early = 5 * time.Minute
	// lookBack is how far back windows are counted from.
	lookBack = 8 * 24 * time.Hour
)

// Window infers the window that is open at now from when replies were written, in
// all projects: one begins with a reply and is over after the duration, and the
// first reply after that begins the next. A pause ends none, and looking moves
// none. The anchor, where it is not zero, is when a window is known to have begun.
// False means that none is open: the next request begins one.
func (x *Index) Window(now time.Time, duration time.Duration, anchor time.Time) (Window, bool) {
	oldest, newest := minuteOf(now.Add(-lookBack)), minuteOf(now.Add(early))
	length := int64(duration / time.Minute)
	start := int64(-1)
	if at := minuteOf(anchor); !anchor.IsZero() && at >= oldest && !anchor.After(now) {
		start, oldest = at, at
	}
	x.minutes(oldest, newest, func(minute int64) {
		if start < 0 || minute >= start+length {
			start = minute
		}
	})
	w := Window{time.Unix(start*60, 0).In(now.Location()), time.Unix((start+length)*60, 0).In(now.Location())}
	if start < 0 || !now.Before(w.End) {
		return Window{}, false
	}
	if w.Start.After(now) {
		w.Start = now // the clock of who wrote it is ahead
	}
	return w, true
}

// minuteOf returns the minute of a time, since 1970.
func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// minutes calls visit for each minute in which a reply was written, from one to
// the other, both included, in their order.
func (x *Index) minutes(from, to int64, visit func(minute int64)) {
	const perSlot = int64(SlotLength / time.Minute)
	in := func(slot int32, set uint16) {
		for ; set != 0; set &= set - 1 {
			if minute := int64(slot)*perSlot + int64(bits.TrailingZeros16(set)); minute >= from && minute <= to {
				visit(minute)
			}
		}
	}
	x.eachActive(in)
	for slot := int32(from / perSlot); slot <= int32(to/perSlot); slot++ {
		in(slot, x.activity[slot])
	}
}

// Tokens returns how many tokens were used from one time to another: input, cache
// writes and output, and cache reads only if they are to be counted. Both times are
// taken to the quarter of an hour that they are in, which counts.
func (x *Index) Tokens(from, to time.Time, cacheReads bool) int64 {
	n := int64(0)
	for _, slot := range x.Quarters(from, to, cacheReads) {
		n += slot
	}
	return n
}

// Quarters returns what Tokens counts by quarters of an hour (SlotLength), the one
// that from is in first; nothing where to is before from.
func (x *Index) Quarters(from, to time.Time, cacheReads bool) []int64 {
	first, last := slotOf(from.UnixMilli()), slotOf(to.UnixMilli())
	if last < first {
		return nil
	}
	list := make([]int64, last-first+1)
	x.each(func(b bucket, c count) {
		if b.slot < first || b.slot > last {
			return
		}
		n := c.input + c.output + c.write5m + c.write1h
		if cacheReads {
			n += c.cacheRead
		}
		list[b.slot-first] += int64(n)
	})
	return list
}
