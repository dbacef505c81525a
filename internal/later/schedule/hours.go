package schedule

import (
	"fmt"
	"strings"
	"time"
)

// Hours is a part of the day in local time, in minutes since midnight; one whose
// end is before its start goes over midnight.
type Hours struct{ From, To int }

const day = 24 * 60

// ParseHours reads ranges such as "22:00-06:00, 12:30-24:00".
func ParseHours(s string) ([]Hours, error) {
	var list []Hours
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		from, to, ok := strings.Cut(part, "-")
		h := Hours{minutes(from), minutes(to)}
		if !ok || h.From < 0 || h.To < 0 || h.From == day || h.From == h.To {
			return nil, fmt.Errorf("%q is not a range such as 22:00-06:00", part)
		}
		list = append(list, h)
	}
	return list, nil
}

// minutes returns HH:MM as minutes since midnight, -1 for anything else.
func minutes(s string) int {
	s = strings.TrimSpace(s)
	if len(s) != 5 || s[2] != ':' {
		return -1
	}
	for _, i := range [...]int{0, 1, 3, 4} {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
	}
	h, m := int(s[0]-'0')*10+int(s[1]-'0'), int(s[3]-'0')*10+int(s[4]-'0')
	if m > 59 || h*60+m > day {
		return -1
	}
	return h*60 + m
}

// Contains reports whether a moment is in the range, by the clock on the wall
// where t says it is.
func (h Hours) Contains(t time.Time) bool {
	at := t.Hour()*60 + t.Minute()
	if h.From < h.To {
		return at >= h.From && at < h.To
	}
	return at >= h.From || at < h.To
}
