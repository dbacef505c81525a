package usage

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

var noon = time.Date(2026, 12, 2, 12, 0, 0, 0, time.UTC)

func at(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }

func same(a, b Limit) bool {
	return a.Used == b.Used && a.Resets.Equal(b.Resets) && a.Status == b.Status && a.Seen.Equal(b.Seen) && a.Source == b.Source
}

func wantLimits(t *testing.T, what string, got, want Limits) {
	t.Helper()
	if !same(got.FiveHour, want.FiveHour) || !same(got.SevenDay, want.SevenDay) {
		t.Errorf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// The host's three ways to say how much of a window is used (docs/host.md).
func TestReadTheHostsLimits(t *testing.T) {
	t.Parallel()
	reset := time.Unix(1796212800, 0)
	five := Limit{42, reset, "", noon, FromStatusLine}
	for in, want := range map[string]Limits{
		`{"five_hour":{"used_percentage":42,"resets_at":1796212800},"seven_day":{"used_percentage":7.5,"resets_at":1796212800000}}`: {five, Limit{7.5, reset, "", noon, FromStatusLine}},
		`{"five_hour":{"used_percentage":42,"resets_at":1796212800}}`:                                                               {FiveHour: five},
		`{"five_hour":{"used_percentage":-1,"resets_at":1796212800}}`:                                                               {FiveHour: Limit{-1, reset, "", noon, FromStatusLine}},
		`{"five_hour":{"used_percentage":"42","resets_at":null},"seven_day":null}`:                                                  {},
		`{"five_hour":{"used_percentage":1e99,"resets_at":1e99}}`:                                                                   {},
		``: {}, `null`: {}, `[]`: {}, `{"five_hour":7}`: {}, `{`: {},
	} {
		wantLimits(t, in, StatusLineLimits([]byte(in), noon), want)
	}
	run := func(used float64, status string) Limit { return Limit{used, reset, status, noon, FromRun} }
	for in, want := range map[string]Limits{
		// 2.1.332
		`{"status":"allowed_warning","resetsAt":1796212800,"rateLimitType":"five_hour","utilization":0.93,"surpassedThreshold":0.9,"isUsingOverage":false,
		  "unifiedWindows":{"five_hour":{"utilization":0.93,"resetsAt":1796212800,"status":"allowed_warning"},"seven_day":{"utilization":0.42,"resetsAt":1796212800,"status":"allowed"}}}`: {run(93, "allowed_warning"), run(42, "allowed")},
		// 2.1.197
		`{"status":"allowed","resetsAt":1796212800,"rateLimitType":"five_hour","utilization":0.57,"isUsingOverage":false}`: {FiveHour: run(57, "allowed")},
		`{"status":"rejected","resetsAt":1796212800,"rateLimitType":"seven_day"}`:                                          {SevenDay: run(-1, "rejected")},
		// of one model: nothing about the account
		`{"status":"rejected","resetsAt":1796212800,"rateLimitType":"seven_day_opus"}`:                                                                                        {},
		`{"status":"rejected","resetsAt":1796212800,"rateLimitType":"five_hour","unifiedWindows":{"five_hour":{"utilization":1,"resetsAt":1796212800}}}`:                      {FiveHour: run(100, "rejected")},
		`{"status":"rejected","resetsAt":1796212800,"rateLimitType":"five_hour","unifiedWindows":{"seven_day":{"utilization":0.1,"resetsAt":1796212800,"status":"allowed"}}}`: {run(-1, "rejected"), run(10, "allowed")},
		``: {}, `{}`: {}, `{"rateLimitType":"five_hour"}`: {}, `7`: {},
	} {
		wantLimits(t, in, EventLimits([]byte(in), noon), want)
	}
}

func TestMergeLimits(t *testing.T) {
	t.Parallel()
	first := Limit{40, at(60), "allowed", at(0), FromRun}
	for name, tt := range map[string]struct{ old, said, want Limit }{
		"nothing said":               {first, Limit{}, first},
		"first":                      {Limit{}, first, first},
		"newer":                      {first, Limit{50, at(60), "allowed_warning", at(5), FromRun}, Limit{50, at(60), "allowed_warning", at(5), FromRun}},
		"late":                       {first, Limit{30, at(60), "", at(-5), FromStatusLine}, first},
		"status kept to the reset":   {first, Limit{45, at(61), "", at(5), FromStatusLine}, Limit{45, at(61), "allowed", at(5), FromStatusLine}},
		"refusal without a figure":   {first, Limit{-1, at(60), Rejected, at(5), FromRefusal}, Limit{40, at(60), Rejected, at(5), FromRefusal}},
		"next window":                {first, Limit{-1, at(360), "", at(70), FromStatusLine}, Limit{-1, at(360), "", at(70), FromStatusLine}},
		"clock set back in between":  {Limit{90, at(1000), "", at(900), FromRun}, Limit{10, at(60), "", at(5), FromRun}, Limit{10, at(60), "", at(5), FromRun}},
		"a figure without any reset": {first, Limit{10, time.Time{}, "", at(5), FromRun}, Limit{10, time.Time{}, "", at(5), FromRun}},
	} {
		if got := merge(tt.old, tt.said, at(10)); !same(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestExpiredLimitsAreNotBelieved(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		l    Limit
		want bool
	}{
		"zero":             {Limit{}, false},
		"before the reset": {Limit{5, at(1), "", at(-200), FromRun}, true},
		"at the reset":     {Limit{5, at(0), "", at(-200), FromRun}, false},
		"no reset, new":    {Limit{5, time.Time{}, "", at(-299), FromRun}, true},
		"no reset, old":    {Limit{5, time.Time{}, "", at(-300), FromRun}, false},
		"reset too far":    {Limit{5, at(310), "", at(0), FromRun}, false}, // of no five-hour window
	} {
		if got := tt.l.Believe(noon, FiveHours); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	both := Limits{Limit{5, at(-1), "", at(-2), FromRun}, Limit{5, at(100), "", at(-2), FromRun}}
	wantLimits(t, "current", both.Current(noon), Limits{SevenDay: both.SevenDay})
}

// A status line that is drawn again and again writes once a minute, and what it
// wrote is read back; a directory that is not there is not made.
func TestRecordLimits(t *testing.T) {
	app := filepath.Join(t.TempDir(), "app")
	said := func(used float64, minute int) Limits {
		return Limits{FiveHour: Limit{used, at(200), "", at(minute), FromStatusLine}, SevenDay: Limit{7.25, at(900), `odd "status"`, at(minute), FromRun}}
	}
	if err := RecordLimits(app, said(1, 0), at(0)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(app); err == nil {
		t.Error("a directory was made for one who does not use cc-later")
	}
	if err := os.Mkdir(app, 0o755); err != nil {
		t.Fatal(err)
	}
	writes := 0
	state.Step = func(string) { writes++ }
	defer func() { state.Step = nil }()
	record := func(what string, l Limits, now time.Time, writing bool) {
		t.Helper()
		writes = 0
		if err := RecordLimits(app, l, now); err != nil || (writes > 0) != writing {
			t.Errorf("%s: %v, %d writes", what, err, writes)
		}
	}
	record("nothing", Limits{}, at(0), false)
	record("first", said(40, 0), at(0), true)
	wantLimits(t, "read", ReadLimits(app), said(40, 0))
	record("again", said(40, 0), at(0).Add(59*time.Second), false)
	l := said(40, 0)
	l.FiveHour.Seen = at(0).Add(59 * time.Second)
	record("within the minute", l, l.FiveHour.Seen, false)
	record("a minute later", said(40, 1), at(1), true)
	record("more", said(41, 1), at(1), true)
	record("late", said(2, -30), at(1), false)
	wantLimits(t, "read", ReadLimits(app), said(41, 1))
	if err := os.WriteFile(filepath.Join(app, limitsName), []byte(`{"five_hour":{"used_per`), 0o600); err != nil {
		t.Fatal(err)
	}
	wantLimits(t, "torn", ReadLimits(app), Limits{})
	record("over a torn one", said(50, 2), at(2), true)
	wantLimits(t, "read", ReadLimits(app), said(50, 2))
}

func TestAppDir(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	for value, want := range map[string]string{
		"": filepath.Join(home, ".cc-later"), "relative/x": filepath.Join(home, ".cc-later"), "~/x": filepath.Join(home, "x"), home + "/a/../b": filepath.Join(home, "b"),
	} {
		if got := AppDir(home, func(string) string { return value }); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	if got := AppDir("", func(string) string { return "" }); got != "" {
		t.Errorf("without a home it is %q", got)
	}
}
