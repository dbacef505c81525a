package agent

import (
	"strings"
	"time"
)

// resetIn reads when a limit ends from the client's sentence about it, such as
// "You've hit your session limit · resets 3:45pm (Europe/Oslo)" or "… resets Jan 2,
// 2027, 3am (UTC)": the first such moment after at, the zero time where there is
// none. The client writes in the zone of the machine, so one that nothing is known
// of, as on Windows, is that of at.
func resetIn(sentence string, at time.Time) time.Time {
	_, when, ok := strings.Cut(sentence, "resets ")
	if !ok {
		return time.Time{}
	}
	zone := at.Location()
	if clock, name, ok := strings.Cut(when, "("); ok {
		name, _, _ = strings.Cut(name, ")")
		if z, err := time.LoadLocation(strings.TrimSpace(name)); err == nil {
			zone = z
		}
		when = clock
	}
	when = strings.ToUpper(strings.TrimRight(strings.TrimSpace(when), "."))
	when = strings.ReplaceAll(when, " AT ", ", ")
	at = at.In(zone)
	for _, layout := range []string{"3PM", "3:04PM", "15:04"} {
		if t, err := time.Parse(layout, when); err == nil {
			t = time.Date(at.Year(), at.Month(), at.Day(), t.Hour(), t.Minute(), 0, 0, zone)
			if !t.After(at) {
				t = t.AddDate(0, 0, 1)
			}
			return t.UTC()
		}
		if t, err := time.Parse("Jan 2, 2006, "+layout, when); err == nil {
			return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, zone).UTC()
		}
		if t, err := time.Parse("Jan 2, "+layout, when); err == nil {
			t = time.Date(at.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, zone)
			if !t.After(at) {
				t = t.AddDate(1, 0, 0)
			}
			return t.UTC()
		}
	}
	return time.Time{}
}
