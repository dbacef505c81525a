package usage

import (
	"math/rand/v2"
	"testing"
	"time"
)

// The calendar says of each quarter of an hour what package time says, in whatever
// order it is asked: also where clocks change, at midnight too.
func TestCalendar(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, time.FixedZone("Nepal", 5*3600+45*60), time.FixedZone("west", -12*3600)}
	for _, name := range []string{"Europe/Oslo", "Africa/Cairo", "America/Havana", "Asia/Beirut", "America/Santiago", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Log(err)
			continue
		}
		zones = append(zones, zone)
	}
	begin := slotOf(time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	end := slotOf(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	r := rand.New(rand.NewPCG(1, 1))
	for _, zone := range zones {
		d := calendar{zone: zone}
		check := func(slot int32) {
			if got, want := d.of(slot), dayOf(time.Unix(int64(slot)*900, 0).In(zone)); got != want {
				t.Fatalf("%s: slot %d is of %s, want %s", zone, slot, got, want)
			}
		}
		for slot := begin; slot < end; slot++ {
			check(slot)
		}
		for range 10_000 {
			check(begin + r.Int32N(end-begin))
		}
	}
}
