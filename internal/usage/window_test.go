package usage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// activity writes a reply at each of some minutes before noon.
func (w world) activity(minutes ...int) *Index {
	w.Helper()
	var b strings.Builder
	for i, m := range minutes {
		id := fmt.Sprint(i)
		b.WriteString(reply(at(-m).Add(30*time.Second).Format("2006-01-02T15:04:05.000Z"), "m"+id, "r"+id, "s1", "", `"input_tokens":1`))
	}
	w.append("-w-one/s1.jsonl", b.String())
	x, _ := w.update()
	return x
}

func TestWindow(t *testing.T) {
	t.Parallel()
	const gap, duration = 30 * time.Minute, 300 * time.Minute
	none := time.Time{}
	for name, tt := range map[string]struct {
		minutes []int // ago
		hint    time.Time
		start   int // minutes ago
		left    int
		ok      bool
	}{
		"nothing":              {nil, none, 0, 0, false},
		"one session":          {[]int{60, 50, 31, 20, 1}, none, 60, 240, true},
		"a pause":              {[]int{200, 190, 90, 70, 50, 25}, none, 90, 210, true},
		"a pause of the gap":   {[]int{60, 30, 10}, none, 30, 270, true},
		"less than the gap":    {[]int{59, 30, 10}, none, 59, 241, true},
		"the newest pause":     {[]int{250, 210, 170, 160, 100, 95, 80, 70, 60, 45, 20}, none, 100, 200, true},
		"older than a window":  {[]int{900, 320, 310, 299, 280, 260, 240, 220, 200, 180, 160, 140, 120, 100, 80, 60, 40, 20}, none, 299, 1, true},
		"idle for the gap":     {[]int{60, 45, 30}, none, 0, 0, false},
		"idle for nearly so":   {[]int{60, 45, 29}, none, 60, 240, true},
		"a hint":               {[]int{60, 45, 20}, at(-100), 100, 200, true},
		"a hint that is over":  {[]int{60, 45, 20}, at(-400), 400, 0, true},
		"a hint in the future": {[]int{60, 45, 20}, at(1), 60, 240, true},
		"a hint, but idle":     {[]int{60}, at(-100), 0, 0, false},
		"clocks that differ":   {[]int{20, -4}, none, 20, 280, true},
		"a clock set back":     {[]int{20, -500}, none, 20, 280, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newWorld(t).activity(tt.minutes...)
			got, ok := x.Window(noon, gap, duration, tt.hint)
			want := Window{}
			if tt.ok {
				want = Window{at(-tt.start), time.Duration(tt.left) * time.Minute}
			}
			if ok != tt.ok || !got.Start.Equal(want.Start) || got.Remaining != want.Remaining {
				t.Errorf("%v, %t, want %v, %t", got, ok, want, tt.ok)
			}
		})
	}
}

// What is left of a window is never more than it is long, nor less than nothing,
// and does not grow while the same session goes on.
func TestWindowProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	var minutes []int
	for m := 3000; m > 0; m -= r.IntN(45) {
		minutes = append(minutes, m)
	}
	x := newWorld(t).activity(minutes...)
	var last Window
	for m := -3000; m < 100; m++ {
		now := at(m)
		w, ok := x.Window(now, 30*time.Minute, 300*time.Minute, time.Time{})
		if !ok {
			last = Window{}
			continue
		}
		if w.Remaining < 0 || w.Remaining > 300*time.Minute || w.Start.After(now.Add(early)) || now.Sub(w.Start) > 300*time.Minute {
			t.Fatalf("at %v: %+v", now, w)
		}
		if w.Start.Equal(last.Start) && w.Remaining > last.Remaining {
			t.Fatalf("at %v: %+v after %+v", now, w, last)
		}
		last = w
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := history{rand.New(rand.NewPCG(8, 8))}
	for range 400 {
		log, session := h.log()
		w.append(log, h.row(session))
	}
	x, _ := w.update()
	replies := naiveReplies(t, w.root)
	quarter := func(t time.Time) int64 { return t.Unix() / 900 }
	for range 50 {
		from := noon.Add(-time.Duration(h.IntN(60*24*60)) * time.Minute)
		to := from.Add(time.Duration(h.IntN(10*24*60)) * time.Minute)
		for _, reads := range []bool{false, true} {
			want := int64(0)
			for _, r := range replies {
				if q := quarter(r.time); q >= quarter(from) && q <= quarter(to) {
					want += r.used.Input + r.used.Output + max(r.used.Creation, r.used.Split.M5+r.used.Split.H1)
					if reads {
						want += r.used.CacheRead
					}
				}
			}
			if got := x.Tokens(from, to, reads); got != want {
				t.Errorf("%v to %v, %t: %d, want %d", from, to, reads, got, want)
			}
		}
	}
}
