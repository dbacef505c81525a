package usage

import (
	"math/bits"
	"time"
)

// Window is the window of the account's session limit as far as the logs tell:
// an estimate, since the host counts what other machines use as well.
type Window struct {
	Start     time.Time     // to the minute
	Remaining time.Duration // whole minutes, 0 at least
}

// early is how far ahead of now a row may be dated: clocks differ.
const early = 5 * time.Minute

// Window infers the window from when replies were written, in all projects. Within
// the last duration, the newest pause of at least gap is what begins it; without
// one the oldest reply does. A hint, where it is not zero and not in the future,
// says better when it began. False means that no reply was written for as long as
// gap: no session is going on, and no window is known.
func (x *Index) Window(now time.Time, gap, duration time.Duration, hint time.Time) (Window, bool) {
	from, to := minuteOf(now.Add(-duration)), minuteOf(now.Add(early))
	newest, start := int64(-1), int64(-1)
	x.minutes(from, to, func(minute int64) {
		if start < 0 || minute-newest >= int64(gap/time.Minute) {
			start = minute
		}
		newest = minute
	})
	if newest < 0 || minuteOf(now)-newest >= int64(gap/time.Minute) {
		return Window{}, false
	}
	w := Window{Start: time.Unix(start*60, 0).In(now.Location())}
	if !hint.IsZero() && !hint.After(now) {
		w.Start = hint
	}
	elapsed := max(0, now.Sub(w.Start).Truncate(time.Minute))
	w.Remaining = max(0, duration-elapsed)
	return w, true
}

// minuteOf returns the minute of a time, since 1970.
func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// minutes calls visit for each minute in which a reply was written, from one to
// the other, both included, in their order.
func (x *Index) minutes(from, to int64, visit func(minute int64)) {
	const perSlot = int64(slotLength / time.Minute)
	for slot := from / perSlot; slot <= to/perSlot; slot++ {
		for set := x.activity[int32(slot)]; set != 0; set &= set - 1 {
			if minute := slot*perSlot + int64(bits.TrailingZeros16(set)); minute >= from && minute <= to {
				visit(minute)
			}
		}
	}
}

// Tokens returns how many tokens were used from one time to another: input, cache
// writes and output, and cache reads only if they are to be counted. Both times are
// taken to the quarter of an hour that they are in, which counts.
func (x *Index) Tokens(from, to time.Time, cacheReads bool) int64 {
	first, last := slotOf(from.UnixMilli()), slotOf(to.UnixMilli())
	n := uint64(0)
	for b, c := range x.buckets {
		if b.slot < first || b.slot > last {
			continue
		}
		n += c.input + c.output + c.write5m + c.write1h
		if cacheReads {
			n += c.cacheRead
		}
	}
	return int64(n)
}
