package schedule

import (
	"strings"
	"testing"
	"time"
)

var (
	noon     = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	standard = Settings{
		Enabled: true, Mode: WindowAware, Duration: 5 * time.Hour, Trigger: 30 * time.Minute, IdleGrace: 10 * time.Minute, Backoff: 80,
		MaxAgents: 3, PerWindow: 12, PerSection: 3, MaxAttempts: 3, MaxRetries: 2, Resume: true, ResumeRemaining: 4 * time.Hour,
	}
)

// ending is a window with that much left at noon.
func ending(left time.Duration, from Source) Window {
	return Window{Start: noon.Add(left - 5*time.Hour), End: noon.Add(left), Source: from}
}

func queued(keys ...string) []Section {
	var list []Section
	for i, key := range keys {
		list = append(list, Section{Repo: "/r", Name: key, Tasks: []Task{{Key: key, Priority: 1, Line: i, Trusted: true}}})
	}
	return list
}

func TestGates(t *testing.T) {
	t.Parallel()
	late := Facts{Now: noon, Window: ending(20*time.Minute, Server), Activity: noon.Add(-time.Hour), Sections: queued("a")}
	for name, tt := range map[string]struct {
		change func(*Settings, *Facts)
		want   string
	}{
		"the end of a window":        {func(*Settings, *Facts) {}, ""},
		"switched off":               {func(s *Settings, _ *Facts) { s.Enabled = false }, Disabled},
		"off until resumed":          {func(_ *Settings, f *Facts) { f.Off = "not logged in" }, SwitchedOff},
		"paused":                     {func(_ *Settings, f *Facts) { f.Paused = true }, Paused},
		"a person at work":           {func(_ *Settings, f *Facts) { f.Activity = noon.Add(-9 * time.Minute) }, Idle},
		"idle just long enough":      {func(_ *Settings, f *Facts) { f.Activity = noon.Add(-10 * time.Minute) }, ""},
		"a clock that was set back":  {func(_ *Settings, f *Facts) { f.Activity = noon.Add(time.Hour) }, ""},
		"budget used":                {func(_ *Settings, f *Facts) { f.Spent = 80 }, Budget},
		"budget almost used":         {func(_ *Settings, f *Facts) { f.Spent = 79.9 }, ""},
		"limit":                      {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(time.Minute) }, LimitPause},
		"limit over, not the margin": {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(-ResetMargin + time.Second) }, LimitPause},
		"limit and margin over":      {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(-ResetMargin) }, ""},
		"a limit of seven days":      {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(7 * 24 * time.Hour) }, LimitPause},
		"a limit of a wrong clock":   {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(30 * 24 * time.Hour) }, ""},
		"31 minutes left":            {func(_ *Settings, f *Facts) { f.Window = ending(31*time.Minute, Server) }, ModeClosed},
		"2 minutes left":             {func(_ *Settings, f *Facts) { f.Window = ending(2*time.Minute, Server) }, ""},
		"window over":                {func(_ *Settings, f *Facts) { f.Window = ending(0, Server) }, ModeClosed},
		"no window":                  {func(_ *Settings, f *Facts) { f.Window = Window{} }, ModeClosed},
		"estimate, 9 minutes left":   {func(_ *Settings, f *Facts) { f.Window = ending(9*time.Minute, Estimate) }, ModeClosed},
		"estimate, 41 minutes left":  {func(_ *Settings, f *Facts) { f.Window = ending(41*time.Minute, Estimate) }, ModeClosed},
		"estimate, 40 minutes left":  {func(_ *Settings, f *Facts) { f.Window = ending(40*time.Minute, Estimate) }, ""},
		"estimate, 10 minutes left":  {func(_ *Settings, f *Facts) { f.Window = ending(10*time.Minute, Estimate) }, ModeClosed},
		"estimate, 20 minutes left":  {func(_ *Settings, f *Facts) { f.Window = ending(20*time.Minute, Estimate) }, ""},
		"always":                     {func(s *Settings, f *Facts) { s.Mode, f.Window = Always, Window{} }, ""},
		"in the hours": {func(s *Settings, f *Facts) {
			s.Mode, s.Hours, f.Window = TimeBased, []Hours{{11 * 60, 13 * 60}}, Window{}
		}, ""},
		"outside the hours":            {func(s *Settings, f *Facts) { s.Mode, s.Hours = TimeBased, []Hours{{13 * 60, 14 * 60}} }, ModeClosed},
		"by hand, whatever the window": {func(_ *Settings, f *Facts) { f.Manual, f.Window, f.Activity = true, Window{}, noon }, ""},
		"by hand, but limited":         {func(_ *Settings, f *Facts) { f.Manual, f.LimitUntil = true, noon.Add(time.Hour) }, LimitPause},
		"all agents busy":              {func(_ *Settings, f *Facts) { f.Running = 3 }, AgentsBusy},
		"12 in this window":            {func(_ *Settings, f *Facts) { f.Starts = at(12, noon.Add(-time.Hour)) }, WindowFull},
		"12 in the last window":        {func(_ *Settings, f *Facts) { f.Starts = at(12, noon.Add(-6*time.Hour)) }, ""},
		"nothing queued":               {func(_ *Settings, f *Facts) { f.Sections = nil }, NothingDue},
		"not trusted":                  {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Trusted = false }, NothingDue},
		"running":                      {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Running = true }, NothingDue},
		"section has an agent":         {func(_ *Settings, f *Facts) { f.Sections[0].Running = true }, NothingDue},
		"waits for the person":         {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Held = HeldAsked }, NothingDue},
		"tried in this window":         {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Started = noon.Add(-time.Minute) }, NothingDue},
		"tried in the last window":     {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Started = noon.Add(-6 * time.Hour) }, ""},
		"did not count":                {func(_ *Settings, f *Facts) { x := &f.Sections[0].Tasks[0]; x.Started, x.Again = noon, true }, ""},
		"not before later":             {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].NotBefore = noon.Add(time.Second) }, NothingDue},
	} {
		s, f := standard, late
		f.Sections = queued("a")
		tt.change(&s, &f)
		d := Decide(s, f)
		if d.Reason != tt.want || (len(d.Starts) == 0) != (tt.want != "") {
			t.Errorf("%s: %q, %d agents, want %q", name, d.Reason, len(d.Starts), tt.want)
		}
		if len(d.Gates) != 8 {
			t.Errorf("%s: %d gates", name, len(d.Gates))
		}
	}
}

func at(n int, when time.Time) []time.Time {
	list := make([]time.Time, n)
	for i := range list {
		list[i] = when
	}
	return list
}

func TestResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Settings, *Facts)
		want   bool
	}{
		"fresh window":                      {func(*Settings, *Facts) {}, true},
		"right after the reset":             {func(_ *Settings, f *Facts) { f.Window = ending(5*time.Hour-4*time.Minute, Server) }, false},
		"too little left":                   {func(_ *Settings, f *Facts) { f.Window = ending(3*time.Hour, Server) }, false},
		"too little left, another mode":     {func(s *Settings, f *Facts) { s.Mode, f.Window = TimeBased, ending(3*time.Hour, Server) }, true},
		"switched off":                      {func(s *Settings, _ *Facts) { s.Resume = false }, false},
		"no window yet":                     {func(_ *Settings, f *Facts) { f.Window = Window{} }, true},
		"an estimated end just passed":      {func(_ *Settings, f *Facts) { f.Window = ending(-9*time.Minute, Estimate) }, false},
		"an estimated end passed long ago":  {func(_ *Settings, f *Facts) { f.Window = ending(-10*time.Minute, Estimate) }, true},
		"limit not over":                    {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(-time.Minute) }, false},
		"resumed in this window":            {func(_ *Settings, f *Facts) { f.Resumed = noon.Add(-10 * time.Minute) }, false},
		"resumed in the last window":        {func(_ *Settings, f *Facts) { f.Resumed = noon.Add(-time.Hour) }, true},
		"the text was edited, so it is new": {func(_ *Settings, f *Facts) { f.Sections[0].Tasks[0].Resume = false }, false},
	} {
		s := standard
		f := Facts{Now: noon, Window: ending(4*time.Hour+30*time.Minute, Server), Activity: noon.Add(-time.Hour), Sections: queued("a", "b")}
		f.Sections[0].Tasks[0].Resume = true
		tt.change(&s, &f)
		d := Decide(s, f)
		got := len(d.Starts) > 0 && d.Starts[0].Resume
		if got != tt.want {
			t.Errorf("%s: resumed %v (%s)", name, got, d.Reason)
		}
		if got && (len(d.Starts) != 1 || d.Starts[0].Tasks[0].Key != "a") {
			t.Errorf("%s: %+v", name, d.Starts)
		}
	}
}

func TestOrder(t *testing.T) {
	t.Parallel()
	f := Facts{Now: noon, Manual: true, Sections: queued("old", "urgent", "new", "never")}
	f.Sections[0].Tasks[0].Started = noon.Add(-50 * time.Hour)
	f.Sections[1].Tasks[0].Priority = 0
	f.Sections[2].Tasks[0].Started = noon.Add(-40 * time.Hour)
	var got []string
	for _, s := range Decide(standard, f).Starts {
		got = append(got, s.Section)
	}
	if s := strings.Join(got, " "); s != "urgent never old" {
		t.Errorf("started %s", s)
	}
	tasks := []Task{{Key: "c", Priority: 2, Trusted: true}, {Key: "b", Priority: 1, Line: 3, Trusted: true}, {Key: "a", Priority: 1, Line: 1, Trusted: true}, {Key: "d", Line: 9, Trusted: true}}
	got = nil
	for _, task := range Decide(standard, Facts{Now: noon, Manual: true, Sections: []Section{{Tasks: tasks}}}).Starts[0].Tasks {
		got = append(got, task.Key)
	}
	if s := strings.Join(got, " "); s != "d a b" {
		t.Errorf("picked %s", s)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	run := func(list ...Verdict) State {
		var s State
		now := noon
		for _, v := range list {
			now = now.Add(time.Hour)
			s = s.Start(now).End(v, now, standard)
		}
		return s
	}
	for name, tt := range map[string]struct {
		got      State
		attempts int
		held     string
		again    bool
	}{
		"failed":             {run(Failed), 1, "", false},
		"failed three times": {run(Failed, Failed, Failed), 3, HeldAttempts, false},
		"skipped each time":  {run(Skipped, Skipped, Skipped), 3, HeldAttempts, false},
		"asks":               {run(NeedsHuman), 1, HeldAsked, false},
		"limit never counts": {run(Limited, Limited, Limited, Limited), 0, "", false},
		"nobody pays":        {run(Refused, Refused, Refused), 0, "", false},
		"killed":             {run(Ended), 0, "", true},
		"killed twice":       {run(Ended, Ended), 0, "", true},
		"abandoned":          {run(Ended, Ended, Ended), 1, "", false},
		"throttled":          {run(Throttled, Throttled, Throttled, Throttled, Throttled, Throttled), 0, "", true},
		"a retry by hand":    {run(Failed, Failed, Failed).Retry(), 0, "", true},
	} {
		if tt.got.Attempts != tt.attempts || tt.got.Held != tt.held || tt.got.Again != tt.again {
			t.Errorf("%s: %+v", name, tt.got)
		}
	}
	if !run(Limited).Resume || run(Limited, Failed).Resume {
		t.Error("what a limit ended is to be resumed, and only that")
	}
	if s := run(Throttled, Throttled); s.NotBefore.Sub(noon.Add(2*time.Hour)) != 10*time.Minute {
		t.Errorf("second delay ends at %s", s.NotBefore)
	}
}

func TestHours(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"22:00", "8:00-9:00", "22:00-25:00", "24:00-06:00", "10:60-11:00", "10:00-10:00", "22.00-23.00", "a"} {
		if h, err := ParseHours(bad); err == nil {
			t.Errorf("%q is %v", bad, h)
		}
	}
	for _, tt := range []struct {
		hours, at string
		want      bool
	}{
		{"09:00-17:00", "09:00", true},
		{"09:00-17:00", "17:00", false},
		{"09:00-17:00", "16:59", true},
		{"22:00-06:00", "23:30", true},
		{"22:00-06:00", "05:59", true},
		{"22:00-06:00", "06:00", false},
		{"18:00-24:00", "23:59", true},
		{"18:00-24:00", "00:00", false},
		{"00:00-24:00", "00:00", true},
		{" 01:00-02:00 , 03:00-04:00,", "03:30", true},
		{"", "03:30", false},
	} {
		list, err := ParseHours(tt.hours)
		if err != nil {
			t.Errorf("%q: %v", tt.hours, err)
		}
		when, _ := time.Parse("15:04", tt.at)
		got := false
		for _, h := range list {
			got = got || h.Contains(when)
		}
		if got != tt.want {
			t.Errorf("%q at %s: %v", tt.hours, tt.at, got)
		}
	}
}

// In the night in which clocks are set back, an hour comes twice; in the other one
// it does not come at all. Neither makes an open range close for a day.
func TestHoursWhereClocksChange(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	list, _ := ParseHours("02:30-03:30")
	for _, tt := range []struct {
		midnight time.Time
		minutes  int
	}{
		{time.Date(2026, 10, 25, 0, 0, 0, 0, berlin), 90}, // 02:30 to 03:00 comes twice
		{time.Date(2026, 3, 29, 0, 0, 0, 0, berlin), 30},  // there is no 02:30
		{time.Date(2026, 6, 1, 0, 0, 0, 0, berlin), 60},
	} {
		open := 0
		for m := range 6 * 60 {
			if list[0].Contains(tt.midnight.Add(time.Duration(m) * time.Minute)) {
				open++
			}
		}
		if open != tt.minutes {
			t.Errorf("%s: open for %d minutes, want %d", tt.midnight.Format(time.DateOnly), open, tt.minutes)
		}
	}
}

// Whoever waits is told until when: the gate says it, or the task that is due first.
func TestUntil(t *testing.T) {
	task := func(f *Facts) *Task { return &f.Sections[0].Tasks[0] }
	for name, tt := range map[string]struct {
		set  func(*Settings, *Facts)
		want time.Duration // from noon; 0: nobody knows
	}{
		"the API had no room":  {func(_ *Settings, f *Facts) { task(f).Again, task(f).NotBefore = true, noon.Add(5*time.Minute) }, 5 * time.Minute},
		"tried in this window": {func(_ *Settings, f *Facts) { task(f).Started = noon.Add(-time.Minute) }, 20 * time.Minute},
		"tried, no window": {func(s *Settings, f *Facts) {
			s.Mode, f.Window, task(f).Started = Always, Window{}, noon.Add(-time.Hour)
		}, 4 * time.Hour},
		"for the person": {func(_ *Settings, f *Facts) { task(f).Held, task(f).NotBefore = HeldAsked, noon.Add(time.Hour) }, 0},
		"runs":           {func(_ *Settings, f *Facts) { task(f).Running = true }, 0},
		"a limit":        {func(_ *Settings, f *Facts) { f.LimitUntil = noon.Add(time.Hour) }, time.Hour + ResetMargin},
		"at work":        {func(_ *Settings, f *Facts) { f.Activity = noon.Add(-time.Minute) }, 9 * time.Minute},
		"the window":     {func(_ *Settings, f *Facts) { f.Window = ending(2*time.Hour, Server) }, 90 * time.Minute},
		"an estimate":    {func(_ *Settings, f *Facts) { f.Window = ending(2*time.Hour, Estimate) }, 80 * time.Minute},
		"paused":         {func(_ *Settings, f *Facts) { f.Paused = true }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := standard
			f := Facts{Now: noon, Window: ending(20*time.Minute, Server), Activity: noon.Add(-time.Hour), Sections: queued("a")}
			tt.set(&s, &f)
			d := Decide(s, f)
			if got := d.Until; d.Reason == "" || (tt.want == 0) != got.IsZero() || tt.want != 0 && got.Sub(noon) != tt.want {
				t.Errorf("%q until %s, want %s after noon", d.Reason, got, tt.want)
			}
			if (d.Reason == NothingDue && tt.want != 0) != (d.Key != "") {
				t.Errorf("task %q", d.Key)
			}
		})
	}
}
