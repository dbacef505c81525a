package reload

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
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
		"a key that nobody knows is kept": {"colour: blue", "", 45, 0},
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

func TestSetConfig(t *testing.T) {
	t.Parallel()
	const before = "# mine\ncontext_budget_pct: 60\ncolour: blue\n"
	for _, tt := range []struct {
		key, value string
		want       string // the file afterwards
		err        string
	}{
		{"context_budget_pct", "30%", "# mine\ncontext_budget_pct: 30\ncolour: blue\n", ""},
		{"context_budget_pct", "OFF", "# mine\ncontext_budget_pct: off\ncolour: blue\n", ""},
		{"context_budget_mode", "checkpoint", before + "context_budget_mode: snapshot\n", ""},
		{"context_budget_pct", "", "# mine\ncolour: blue\n", ""},
		{"context_budget_pct", "96", before, "from 0 to 95, or off"},
		{"context_budget_pct", "4 5", before, "from 0 to 95, or off"},
		{"context_window", "999", before, "at least 1000"},
		{"context_budget_mode", "loud", before, "notify or snapshot"},
		{"context_budget", "30", before, "Did you mean context_budget_pct?"},
		{"context-budget-pct", "30", before, "Did you mean context_budget_pct?"},
		{"headles", "on", before, "Did you mean headless?"},
		{"colour", "red", before, "The settings are context_budget_pct, context_budget_mode"},
		{"", "red", before, "The settings are"},
	} {
		w := newWorld(t)
		w.put(configFile, before)
		_, err := SetConfig(w.project, testProfile, tt.key, tt.value)
		var bad BadConfig
		switch {
		case tt.err == "" && err != nil, tt.err != "" && !errors.As(err, &bad):
			t.Errorf("%s=%q: error %v", tt.key, tt.value, err)
		case tt.err != "" && !strings.Contains(err.Error(), tt.err):
			t.Errorf("%s=%q: %q does not say %q", tt.key, tt.value, err, tt.err)
		}
		if got := w.read(configFile); got != tt.want {
			t.Errorf("%s=%q: file %q, want %q", tt.key, tt.value, got, tt.want)
		}
	}
}

func TestSetConfigInANewProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := SetConfig(w.project, testProfile, keyPercent, "97"); err == nil || w.has("") {
		t.Errorf("error %v, state directory there: %v", err, w.has(""))
	}
	if v, err := SetConfig(w.project, testProfile, keyPercent, "30"); err != nil || v != "30" || w.read(configFile) != "context_budget_pct: 30\n" {
		t.Errorf("value %q, error %v, file %q", v, err, w.read(configFile))
	}
	if w.read(".gitignore") != "*\n" {
		t.Error("the directory does not ignore itself")
	}
}

// What stands where the file should be is neither followed nor replaced.
func TestSetConfigOddFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".gitignore", "*\n")
	if err := os.Mkdir(w.path(configFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := SetConfig(w.project, testProfile, keyPercent, "30"); err == nil {
		t.Error("written")
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
	call.Env.Getenv = func(name string) string {
		return map[string]string{"CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE": "checkpoint", "CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_TOKENS": "many"}[name]
	}
	stamp := func() {
		t.Helper()
		if err := dirOf(w.project).Do(lockWait, func(tx *state.Tx) error { return stampEffective(tx, call) }); err != nil {
			t.Fatal(err)
		}
	}
	stamp()
	if got := Effective(w.project, testProfile, none); got.BudgetPct != 33 || !got.Snapshot || got.BudgetTokens != 0 {
		t.Errorf("stamped: %+v", got)
	}
	sources := map[string]host.Source{}
	w.put(configFile, "context_budget_pct: 20\n")
	for _, e := range Config(w.project, testProfile, none) {
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
	call.Env.Getenv = none
	stamp()
	if got := Effective(w.project, testProfile, none); got.Snapshot || got.BudgetPct != 20 {
		t.Errorf("stamped again: %+v", got)
	}
}

// A record that came with a repository cannot get past what an option takes.
func TestEffectiveChecksTheRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(effectiveFile, "default.context_budget_pct: 4000\noption.context_budget_mode: loud\n")
	if got := Effective(w.project, testProfile, func(string) string { return "" }); got.BudgetPct != 45 || got.Snapshot {
		t.Errorf("%+v", got)
	}
}

func FuzzConfig(f *testing.F) {
	for _, seed := range []string{
		"", "context_budget_pct: 30\n", "context_budget_pct: 60%\r\ncontext_budget_mode: checkpoint\r\n", "\ufeffcontext_window: 400000",
		"context_budget_tokens: 99999999999999999999\n", "headless: on\nheadless\n: :\n# x\n", "context_budget_pct: 3\x000\n", "context_owner_window: -1\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, config string) {
		p := state.ParsePairs([]byte(config))
		s := settle(testProfile, p, func(string) string { return "" })
		if s.BudgetPct < 0 || s.BudgetPct > 95 || s.BudgetTokens < 0 || s.Window != 0 && s.Window < 1000 || s.OwnerWindow < 0 {
			t.Errorf("%q: %+v", config, s)
		}
		// What is written over it is read back, and the rest stays in force.
		again := settle(testProfile, state.ParsePairs(p.Set(keyPercent, "12").Bytes()), func(string) string { return "" })
		if again.BudgetPct != 12 || again.Snapshot != s.Snapshot || again.Window != s.Window || again.Headless != s.Headless {
			t.Errorf("%q: %+v became %+v", config, s, again)
		}
	})
}
