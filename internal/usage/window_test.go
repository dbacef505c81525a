package usage

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
	const duration = 300 * time.Minute
	none := time.Time{}
	for name, tt := range map[string]struct {
		minutes []int // ago
		anchor  time.Time
		start   int // minutes ago
		ok      bool
	}{
		"nothing":                {nil, none, 0, false},
		"one session":            {[]int{60, 50, 31, 20, 1}, none, 60, true},
		"a pause ends no window": {[]int{200, 190, 90, 25}, none, 200, true},
		"idle for hours":         {[]int{280}, none, 280, true},
		"over":                   {[]int{300}, none, 0, false},
		"the next one":           {[]int{310, 9}, none, 9, true},
		"work without a pause":   {[]int{900, 700, 601, 599, 500, 400, 302, 299, 200, 100, 1}, none, 299, true},
		"an anchor":              {[]int{200, 20}, at(-250), 250, true},
		"one window after it":    {[]int{200, 20}, at(-450), 20, true}, // 450 to 150 minutes ago
		"an anchor that is old":  {[]int{200, 20}, at(-700), 200, true},
		"an anchor of weeks ago": {[]int{200, 20}, at(-60 * 24 * 60), 200, true},
		"one in the future":      {[]int{60, 45, 20}, at(1), 60, true},
		"clocks that differ":     {[]int{20, -4}, none, 20, true},
		"a clock set back":       {[]int{20, -500}, none, 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newWorld(t).activity(tt.minutes...)
			got, ok := x.Window(noon, duration, tt.anchor)
			if ok != tt.ok || ok && (!got.Start.Equal(at(-tt.start)) || got.End.Sub(got.Start) != duration) {
				t.Errorf("%v, %t, want from %v, %t", got, ok, at(-tt.start), tt.ok)
			}
		})
	}
}

// An account whose windows are known: the first reply begins one, and the first
// after its end the next. Once the logs reach back to a night, the estimate is the
// truth at every minute, whatever the pauses; and looking moves nothing.
func TestWindowIsTheAccounts(t *testing.T) {
	t.Parallel()
	const duration = 300 * time.Minute
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 4))
		var minutes []int
		truth := map[int]int{} // the beginning of the window that is open, by minute
		begin, open := 0, false
		for m := -4000; m < 0; m++ {
			if day := (m + 4000) % 1440; day < 960 && r.IntN(40) == 0 {
				minutes = append(minutes, -m)
				if !open || m >= begin+300 {
					begin, open = m, true
				}
			}
			if open && m < begin+300 {
				truth[m] = begin
			}
		}
		x := newWorld(t).activity(minutes...)
		for m := -2500; m < -5; m += 3 {
			// What is written later must not be known yet.
			past := &Index{activity: map[int32]uint16{}}
			maps.Copy(past.activity, x.activity)
			w, ok := past.Window(at(m), duration, time.Time{})
			begin, open := truth[m]
			if soon := slices.ContainsFunc(minutes, func(x int) bool { return -x > m && -x <= m+5 }); soon {
				continue // a reply that is dated a little ahead counts already
			}
			if ok != open || ok && !w.Start.Equal(at(begin)) {
				t.Fatalf("account %d, %d minutes ago: %v, %v, want %v, %v", seed, -m, w, ok, at(begin), open)
			}
		}
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
