package models

import "github.com/ccreload/ccreload/internal/host"

// Prices is the manifest's list of prices.
type Prices []host.Price

// Of returns what the model called id cost on a day, as YYYY-MM-DD. The rows are
// matched as Table's are; of those for the same model the newest that is not after
// the day counts. False means that nobody has told us.
func (p Prices) Of(id, day string) (price host.Price, ok bool) {
	id = plain(id)
	longest := 0
	for _, row := range p {
		if row.From > day || len(row.Model) < longest || !holds(id, plain(row.Model)) {
			continue
		}
		if len(row.Model) > longest || row.From >= price.From {
			longest, price, ok = len(row.Model), row, true
		}
	}
	return price, ok
}

// Undated returns id without the date at its end: claude-haiku-4-5-20251001 is
// claude-haiku-4-5.
func Undated(id string) string {
	if i := len(id) - len("-20251001"); i > 0 && (id[i] == '-' || id[i] == '@') && isDate(id[i+1:]) {
		return id[:i]
	}
	return id
}
