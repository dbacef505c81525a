package usage

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/state"
)

// Source says who told us of a limit.
type Source string

// Who can tell.
const (
	FromStatusLine Source = "statusline" // the host, drawing its status line
	FromRun        Source = "run"        // a rate_limit_event of a run of ours
	FromRefusal    Source = "refusal"    // a request that was refused
)

// Rejected is the status of a window whose limit is reached.
const Rejected = "rejected"

// Limit is what the host has said of one window of the account. The zero Limit
// says nothing.
type Limit struct {
	Used   float64   // percent, -1 when not said
	Resets time.Time // when the window ends; zero when not said
	Status string    // allowed, allowed_warning or rejected; "" when not said
	Seen   time.Time // when the host said it
	Source Source
}

// Limits are the two windows that limit an account.
type Limits struct{ FiveHour, SevenDay Limit }

// Lengths of the windows.
const (
	FiveHours = 5 * time.Hour
	SevenDays = 7 * 24 * time.Hour
)

// Believe reports whether the statement still holds at now for a window of a
// length: once the window has been reset, it does not, nor does one without a
// reset that is older than the window is long.
func (l Limit) Believe(now time.Time, length time.Duration) bool {
	switch {
	case l.Seen.IsZero():
		return false
	case l.Resets.IsZero():
		return now.Sub(l.Seen) < length
	}
	return now.Before(l.Resets) && l.Resets.Sub(now) <= length+sameReset
}

// Current returns the statements that hold at now; the others are zero.
func (l Limits) Current(now time.Time) Limits {
	if !l.FiveHour.Believe(now, FiveHours) {
		l.FiveHour = Limit{}
	}
	if !l.SevenDay.Believe(now, SevenDays) {
		l.SevenDay = Limit{}
	}
	return l
}

// sameReset is by how much two statements of one reset may differ: the host
// rounds.
const sameReset = 2 * time.Minute

// merge returns what is known after said was heard at or before now.
func merge(old, said Limit, now time.Time) Limit {
	switch {
	case said.Seen.IsZero():
		return old
	case old.Seen.After(said.Seen) && !old.Seen.After(now):
		return old // an older statement that comes late; and a clock set back is no newer one
	}
	if d := old.Resets.Sub(said.Resets); !old.Seen.IsZero() && !said.Resets.IsZero() && d.Abs() <= sameReset {
		if said.Used < 0 {
			said.Used = old.Used
		}
		if said.Status == "" {
			said.Status = old.Status
		}
	}
	return said
}

// Merge returns l with what was said later, at now at the latest.
func (l Limits) Merge(said Limits, now time.Time) Limits {
	return Limits{merge(l.FiveHour, said.FiveHour, now), merge(l.SevenDay, said.SevenDay, now)}
}

// StatusLineLimits reads the member rate_limits of a status line's payload, which
// the host handed in at now. What is not there or no number is not said.
func StatusLineLimits(rateLimits []byte, now time.Time) Limits {
	return windows(rateLimits, FromStatusLine, now)
}

// EventLimits reads the member rate_limit_info of a row rate_limit_event that the
// host wrote at seen. A newer client tells of both windows, an older one only of
// the window that comes first to its end.
func EventLimits(info []byte, seen time.Time) Limits {
	var l Limits
	if unified := jsonscan.Member(info, "unifiedWindows"); unified != nil {
		l = windows(unified, FromRun, seen)
	}
	of := l.window(jsonscan.Member(info, "rateLimitType"))
	if of == nil {
		return l
	}
	whole := limit(info, FromRun, seen)
	switch {
	case whole.Seen.IsZero():
	case of.Seen.IsZero():
		*of = whole
	case whole.Status == Rejected:
		of.Status = Rejected
	}
	return l
}

// window returns the window that a JSON string names, nil for others: those of
// single models say nothing of the account.
func (l *Limits) window(name []byte) *Limit {
	switch {
	case jsonscan.Is(name, "five_hour"):
		return &l.FiveHour
	case jsonscan.Is(name, "seven_day"):
		return &l.SevenDay
	}
	return nil
}

func windows(object []byte, from Source, seen time.Time) Limits {
	return Limits{
		limit(jsonscan.Member(object, "five_hour"), from, seen),
		limit(jsonscan.Member(object, "seven_day"), from, seen),
	}
}

// limit reads a window in either of the host's spellings, and in ours.
func limit(object []byte, from Source, seen time.Time) Limit {
	l := Limit{Used: -1, Seen: seen, Source: from}
	jsonscan.Object(object, func(key, value []byte) {
		switch string(key) {
		case "used_percentage":
			l.Used = percent(value, 1)
		case "utilization":
			l.Used = percent(value, 100)
		case "resets_at", "resetsAt":
			l.Resets = epoch(value)
		case "status":
			l.Status = jsonscan.Text(value)
		case "seen":
			l.Seen = epoch(value)
		case "source":
			l.Source = Source(jsonscan.Text(value))
		}
	})
	if l.Used < 0 && l.Resets.IsZero() && l.Status == "" || l.Seen.IsZero() {
		return Limit{}
	}
	return l
}

func percent(value []byte, factor float64) float64 {
	n, err := strconv.ParseFloat(string(value), 64)
	if n *= factor; err != nil || !(n >= 0 && n <= 1e6) {
		return -1
	}
	return math.Round(n*100) / 100
}

// epoch reads a time in seconds since 1970, or in milliseconds.
func epoch(value []byte) time.Time {
	n, err := strconv.ParseFloat(string(value), 64)
	if n > 1e11 {
		n /= 1000
	}
	if err != nil || !(n > 0 && n < 1e11) {
		return time.Time{}
	}
	return time.Unix(int64(n), 0)
}

const (
	limitsName = "limits.json"
	maxLimits  = 16 << 10 // bytes
	// limitsWait is how long a status line waits for the lock.
	limitsWait = 50 * time.Millisecond
	// refreshLimits is after how long a statement that says nothing new is kept
	// again: the host draws its status line several times a second.
	refreshLimits = time.Minute
)

// ReadLimits returns what the host has said, as kept in the application's
// directory; nothing where that cannot be read.
func ReadLimits(app string) Limits { return readLimits(state.NewDir(app)) }

func readLimits(r state.Reader) Limits {
	data, err := r.Read(limitsName, maxLimits)
	if err != nil {
		return Limits{}
	}
	return windows(data, "", time.Time{})
}

// RecordLimits keeps what the host has said, at now at the latest, in the
// application's directory; a user without one does not use cc-later, and nothing
// is kept. It writes only what is new, or is said again a minute later.
func RecordLimits(app string, said Limits, now time.Time) error {
	if info, err := os.Stat(app); err != nil || !info.IsDir() {
		return nil
	}
	dir := state.NewDir(app)
	old := readLimits(dir)
	if !news(old, old.Merge(said, now)) {
		return nil
	}
	return dir.WithLock(limitsWait, func(tx *state.Tx) error {
		old := readLimits(tx)
		merged := old.Merge(said, now)
		if !news(old, merged) {
			return nil
		}
		return tx.Write(limitsName, merged.encode())
	})
}

func news(old, merged Limits) bool {
	return newer(old.FiveHour, merged.FiveHour) || newer(old.SevenDay, merged.SevenDay)
}

func newer(old, l Limit) bool {
	age := l.Seen.Sub(old.Seen).Abs()
	old.Seen, old.Source = l.Seen, l.Source
	return !old.Resets.Equal(l.Resets) || old.Used != l.Used || old.Status != l.Status || age >= refreshLimits
}

func (l Limits) encode() []byte {
	var b strings.Builder
	b.WriteString("{\n")
	for i, w := range [...]struct {
		name string
		Limit
	}{{"five_hour", l.FiveHour}, {"seven_day", l.SevenDay}} {
		if w.Seen.IsZero() {
			continue
		}
		if i > 0 && b.Len() > 2 {
			b.WriteString(",\n")
		}
		b.WriteString("  \"" + w.name + `": {`)
		if w.Used >= 0 {
			b.WriteString(`"used_percentage": ` + strconv.FormatFloat(w.Used, 'f', -1, 64) + ", ")
		}
		if !w.Resets.IsZero() {
			b.WriteString(`"resets_at": ` + strconv.FormatInt(w.Resets.Unix(), 10) + ", ")
		}
		if w.Status != "" {
			b.WriteString(`"status": ` + jsonscan.Quote(w.Status) + ", ")
		}
		b.WriteString(`"seen": ` + strconv.FormatInt(w.Seen.Unix(), 10) + `, "source": ` + jsonscan.Quote(string(w.Source)) + "}")
	}
	b.WriteString("\n}\n")
	return []byte(b.String())
}

// AppDir returns the directory in which cc-later keeps what it knows of an account:
// $CC_LATER_APP_DIR, which may begin with ~/, else ~/.cc-later; "" for a user
// without a home.
func AppDir(home string, getenv func(string) string) string {
	dir := getenv("CC_LATER_APP_DIR")
	if rest, ok := strings.CutPrefix(dir, "~/"); ok && home != "" {
		dir = filepath.Join(home, rest)
	}
	switch {
	case filepath.IsAbs(dir):
		return filepath.Clean(dir)
	case home == "":
		return ""
	}
	return filepath.Join(home, ".cc-later")
}
