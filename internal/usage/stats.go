package usage

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

// By says what statistics are broken down by.
type By string

// The ways to break them down.
const (
	ByDay     By = "day"
	ByModel   By = "model"
	ByProject By = "project"
	BySession By = "session"
)

// Query asks for statistics.
type Query struct {
	Days   int // of Zone, today included; 0 for all there are
	By     By
	Zone   *time.Location // says which day a reply is of
	Now    time.Time
	Prices models.Prices
	// Worktrees is a directory whose projects count as one, "" for none: agents work
	// there, each in a directory that is soon gone.
	Worktrees string
}

// Total is what was used, in tokens and US dollars.
type Total struct {
	// Replies are of messages and requests; what an advisor said within one is
	// counted with its model, and is no reply of its own.
	Replies                  int64
	Input, Output, CacheRead int64
	Write5m, Write1h         int64 // cache writes by lifetime
	// Cost is what the parts with a price cost. Unpriced are the replies, and the
	// parts of advisors, of models that have none; when there is nothing else,
	// Priced is false and Cost says nothing.
	Cost     float64
	Priced   bool
	Unpriced int64
}

// Stats are statistics: of all, and by key.
type Stats struct {
	Total   Total
	By      map[string]Total
	NoPrice []string // the models whose price is not known, sorted
}

// Unknown is the key of replies that do not say what they are of.
const Unknown = "unknown"

// Stats returns what the index has for a query.
func (x *Index) Stats(q Query) Stats {
	stats := Stats{By: map[string]Total{}}
	first := ""
	if q.Days > 0 {
		year, month, day := q.Now.In(q.Zone).Date()
		first = dayOf(time.Date(year, month, day-q.Days+1, 12, 0, 0, 0, q.Zone))
	}
	days := calendar{zone: q.Zone}
	prices := priceBook{prices: q.Prices, known: map[uint16]dayPrice{}}
	by := map[string]*Total{}
	x.each(func(b bucket, c count) {
		day := days.of(b.slot)
		if day < first {
			return
		}
		model := cmp.Or(models.Undated(x.names.get(modelIDs, uint32(b.model)).text), Unknown)
		key := day
		switch q.By {
		case ByModel:
			key = model
		case ByProject:
			key = x.names.project(x.names.get(sessions, b.session).of)
			if q.Worktrees != "" && (state.Within(q.Worktrees, key) || strings.HasPrefix(key, logsOf(q.Worktrees)+"-")) {
				key = q.Worktrees
			}
		case BySession:
			key = x.names.get(sessions, b.session).text
		}
		key = cmp.Or(key, Unknown)
		of := by[key]
		if of == nil {
			of = new(Total)
			by[key] = of
		}
		cost, priced := cost(b, c, x.above, prices.of(b.model, model, day))
		of.add(c, cost, priced)
		stats.Total.add(c, cost, priced)
		if !priced && !slices.Contains(stats.NoPrice, model) {
			stats.NoPrice = append(stats.NoPrice, model)
		}
	})
	for key, of := range by {
		stats.By[key] = *of
	}
	slices.Sort(stats.NoPrice)
	return stats
}

// calendar says which day a slot is of. Slots mostly come in their order, and a date
// takes long to find out: it is kept with the seconds since 1970 it lasts from and to.
type calendar struct {
	zone     *time.Location
	from, to int64
	day      string
}

func (d *calendar) of(slot int32) string {
	second := int64(slot) * int64(SlotLength/time.Second)
	if second >= d.from && second < d.to {
		return d.day
	}
	t := time.Unix(second, 0).In(d.zone)
	year, month, day := t.Date()
	d.from = time.Date(year, month, day, 0, 0, 0, 0, d.zone).Unix()
	d.to = time.Date(year, month, day+1, 0, 0, 0, 0, d.zone).Unix()
	d.day = dayOf(t)
	// Where clocks change at midnight that may be another day's hour.
	if dayOf(time.Unix(d.from, 0).In(d.zone)) != d.day || dayOf(time.Unix(d.to-1, 0).In(d.zone)) != d.day {
		d.from, d.to = second, second+1
	}
	return d.day
}

func dayOf(t time.Time) string { return t.Format(time.DateOnly) }

func (t *Total) add(c count, cost float64, priced bool) {
	t.Replies += int64(c.replies)
	t.Input += int64(c.input)
	t.Output += int64(c.output)
	t.CacheRead += int64(c.cacheRead)
	t.Write5m += int64(c.write5m)
	t.Write1h += int64(c.write1h)
	if priced {
		t.Cost += cost
		t.Priced = true
	} else {
		t.Unpriced += int64(c.replies) + int64(c.calls)
	}
}

// priceBook remembers the price of each model on the day that was last asked for.
type priceBook struct {
	prices models.Prices
	known  map[uint16]dayPrice
}

type dayPrice struct {
	day   string
	price *host.Price
}

// of returns what a model cost on a day, nil when nobody knows.
func (p *priceBook) of(id uint16, model, day string) *host.Price {
	known, ok := p.known[id]
	if ok && known.day == day {
		return known.price
	}
	known = dayPrice{day: day}
	if price, ok := p.prices.Of(model, day); ok {
		known.price = &price
	}
	p.known[id] = known
	return known.price
}

// cost returns what a bucket cost, false where there is no price.
func cost(b bucket, c count, above []uint64, price *host.Price) (dollars float64, ok bool) {
	if price == nil {
		return 0, false
	}
	rates := price.Rates
	if long := price.LongPrompt; long != nil && b.longer > 0 && above[b.longer-1] >= uint64(long.Above) {
		rates = long.Rates
	}
	dollars = (float64(c.input)*rates.Input + float64(c.output)*rates.Output + float64(c.cacheRead)*rates.CacheRead +
		float64(c.write5m)*rates.CacheWrite5m + float64(c.write1h)*rates.CacheWrite1h) / 1e6
	if b.batch {
		dollars /= 2
	}
	return dollars, true
}
