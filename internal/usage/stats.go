package usage

import (
	"cmp"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
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
	days := map[int32]string{}
	prices := priceBook{prices: q.Prices}
	for b, c := range x.buckets {
		day, ok := days[b.slot]
		if !ok {
			day = dayOf(time.Unix(int64(b.slot)*int64(slotLength/time.Second), 0).In(q.Zone))
			days[b.slot] = day
		}
		if day < first {
			continue
		}
		model := models.Undated(x.names.get(modelIDs, uint32(b.model)).text)
		key := day
		switch q.By {
		case ByModel:
			key = model
		case ByProject:
			key = x.names.project(x.names.get(sessions, b.session).of)
		case BySession:
			key = x.names.get(sessions, b.session).text
		}
		if key == "" {
			key = Unknown
		}
		cost, priced := prices.cost(b, c, x.above, model, day)
		of := stats.By[key]
		of.add(c, cost, priced)
		stats.By[key] = of
		stats.Total.add(c, cost, priced)
		if model = cmp.Or(model, Unknown); !priced && !slices.Contains(stats.NoPrice, model) {
			stats.NoPrice = append(stats.NoPrice, model)
		}
	}
	slices.Sort(stats.NoPrice)
	return stats
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

// priceBook remembers the price of each model and day.
type priceBook struct {
	prices models.Prices
	known  map[[2]string]*host.Price
}

func (p *priceBook) of(model, day string) *host.Price {
	key := [2]string{model, day}
	price, ok := p.known[key]
	if !ok {
		if found, ok := p.prices.Of(model, day); ok {
			price = &found
		}
		if p.known == nil {
			p.known = map[[2]string]*host.Price{}
		}
		p.known[key] = price
	}
	return price
}

// cost returns what a bucket cost on its day, false where there is no price.
func (p *priceBook) cost(b bucket, c count, above []uint64, model, day string) (dollars float64, ok bool) {
	price := p.of(model, day)
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
