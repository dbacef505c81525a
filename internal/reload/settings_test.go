package reload

import (
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

func TestSettingsPrecedence(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config, option string
		want           int
		ignored        int
	}{
		"default":                         {"", "", 45, 0},
		"option":                          {"", "30", 30, 0},
		"project over option":             {"context_budget_pct: 60", "30", 60, 0},
		"percent sign":                    {"context_budget_pct: 60%", "", 60, 0},
		"off":                             {"context_budget_pct: off", "30", 0, 0},
		"zero":                            {"context_budget_pct: 0", "30", 0, 0},
		"an invalid one is none":          {"context_budget_pct: 96", "30", 30, 1},
		"two invalid ones are none":       {"context_budget_pct: much", "-1", 45, 2},
		"the last line wins":              {"context_budget_pct: 10\ncontext_budget_pct: 20", "", 20, 0},
		"comments and CRLF":               {"# context_budget_pct: 10\r\ncontext_budget_pct: 20\r\n", "", 20, 0},
		"a key that nobody knows is kept": {"color: blue", "", 45, 0},
	} {
		w := newWorld(t)
		w.put(configFile, tt.config+"\n")
		w.env["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_PCT"] = tt.option
		got := settingsFor(w.call(), dirOf(w.project))
		if got.BudgetPct != tt.want || len(got.Ignored) != tt.ignored {
			t.Errorf("%s: budget %d, ignored %q", name, got.BudgetPct, got.Ignored)
		}
	}
	w := newWorld(t)
	w.put(configFile, "context_budget_mode: Checkpoint\ncontext_budget_tokens: 300000\ncontext_window: 400000\ncontext_owner_window: 60\nheadless: yes\n")
	got := settingsFor(w.call(), dirOf(w.project))
	if !got.Snapshot || got.BudgetTokens != 300_000 || got.Window != 400_000 || got.OwnerWindow != time.Minute || !got.Headless {
		t.Errorf("%+v", got)
	}
}

// Commands and the status line see what the hooks saw: the option the user
// set, and the default of the plugin in use, which may be a fork's.
func TestEffective(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "" }
	w := newWorld(t)
	if got := Effective(w.project, testProfile, none); got.BudgetPct != 45 {
		t.Errorf("nothing stamped: %+v", got)
	}
	call := w.call()
	call.Profile.Options = append([]host.Option(nil), testProfile.Options...)
	call.Profile.Options[0].Default = "33"
	call.Host.Option = func(key string) string {
		return map[string]string{keyMode: "checkpoint", keyTokens: "many"}[key]
	}
	stamp := func() {
		t.Helper()
		if err := dirOf(w.project).WithLock(lockTimeout, func(tx *state.Tx) error { return stampEffective(tx, call) }); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	if got := Effective(w.project, testProfile, none); got.BudgetPct != 33 || !got.Snapshot || got.BudgetTokens != 0 {
		t.Errorf("stamped: %+v", got)
	}
	sources := map[string]host.Source{}
	w.put(configFile, "context_budget_pct: 20\n")
	for _, e := range options.ForCommand(dirOf(w.project), nil, testProfile, none).Entries() {
		sources[e.Key+"="+e.Value] = e.Source
	}
	for entry, want := range map[string]host.Source{
		"context_budget_pct=20": host.FromProject, "context_budget_mode=snapshot": host.FromUser,
		"context_budget_tokens=off": host.FromPlugin, "context_window=": host.FromPlugin,
	} {
		if sources[entry] != want {
			t.Errorf("%s from %q, want %q in %v", entry, sources[entry], want, sources)
		}
	}
	// The option is taken back.
	call.Host.Option = none
	stamp()
	if got := Effective(w.project, testProfile, none); got.Snapshot || got.BudgetPct != 20 {
		t.Errorf("stamped again: %+v", got)
	}
}

// A record that came with a repository cannot get past what an option takes.
func TestEffectiveChecksTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(options.StampFile, "default.context_budget_pct: 4000\noption.context_budget_mode: loud\n")
	if got := Effective(w.project, testProfile, func(string) string { return "" }); got.BudgetPct != 45 || got.Snapshot {
		t.Errorf("%+v", got)
	}
}

// file is a state directory in which there is only a project's file.
type file string

func (file) Kind(string) state.Kind               { return state.Absent }
func (file) Stat(string) (state.Kind, time.Time)  { return state.Absent, time.Time{} }
func (file) Revision(string) string               { return "" }
func (file) NotRegular(string) error              { return nil }
func (f file) Read(string, int64) ([]byte, error) { return []byte(f), nil }

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "context_budget_pct: 30\n", "context_budget_pct: 60%\r\ncontext_budget_mode: checkpoint\r\n", "\ufeffcontext_window: 400000",
		"context_budget_tokens: 99999999999999999999\n", "headless: on\nheadless\n: :\n# x\n", "context_budget_pct: 3\x000\n", "context_owner_window: -1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, config string) {
		none := func(string) string { return "" }
		s := settle(options.In(file(config), testProfile, none))
		if s.BudgetPct < 0 || s.BudgetPct > 95 || s.BudgetTokens < 0 || s.Window != 0 && s.Window < 1000 || s.OwnerWindow < 0 {
			t.Errorf("%q: %+v", config, s)
		}
		// What is written over it is read back, and the rest stays in force.
		written := state.ParsePairs([]byte(config)).Set(keyPercent, "12").Bytes()
		again := settle(options.In(file(written), testProfile, none))
		if again.BudgetPct != 12 || again.Snapshot != s.Snapshot || again.Window != s.Window || again.Headless != s.Headless {
			t.Errorf("%q: %+v became %+v", config, s, again)
		}
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pct, absolute, tokens, window int
		over                          bool
		text                          string
	}{
		{45, 0, 449_999, 1_000_000, false, "45 %"},
		{45, 0, 450_000, 1_000_000, true, "45 %"},
		{0, 0, 990_000, 1_000_000, false, ""},
		{0, 300_000, 990_000, 1_000_000, false, ""},
		{45, 300_000, 299_999, 1_000_000, false, "300k tokens"},
		{45, 300_000, 300_000, 1_000_000, true, "300k tokens"},
		{45, 300_000, 90_000, 200_000, true, "45 %"},
		{45, 300_000, 80_000, 200_000, false, "45 %"},
	} {
		s := Settings{BudgetPct: tt.pct, BudgetTokens: tt.absolute, Window: tt.window}
		o := occupancy.Sources{Pinned: tt.window}.Of(transcript.Tail{Known: true, Tokens: tt.tokens})
		if got := s.over(o); got != tt.over {
			t.Errorf("%+v: over %v", tt, got)
		}
		if got := budget(o, s); tt.text != "" && got != tt.text {
			t.Errorf("%+v: text %q", tt, got)
		}
	}
}
