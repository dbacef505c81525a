package options

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

var (
	both    = []host.Scope{host.ScopeUser, host.ScopeProject}
	project = []host.Scope{host.ScopeProject}

	budgets = host.Profile{Plugin: "budgets", Options: []host.Option{
		{Key: "context_budget_pct", Kind: host.KindOff, Default: "45", Max: 95, Scopes: both},
		{Key: "context_budget_mode", Kind: host.KindChoice, Default: "notify", Choices: []string{"notify", "snapshot"}, Aliases: map[string]string{"checkpoint": "snapshot"}, Scopes: both},
		{Key: "context_window", Kind: host.KindInt, Min: 1000, Scopes: project},
		{Key: "headless", Kind: host.KindBool, Default: "off", Scopes: project},
		{Key: "color", Kind: host.KindText, Scopes: []host.Scope{host.ScopeUser}},
	}}
	farewells = host.Profile{Plugin: "farewells", Options: []host.Option{
		{Key: "auto_pct", Kind: host.KindOff, Default: "70", Max: 95, Scopes: both},
		{Key: "headless", Kind: host.KindBool, Default: "off", Scopes: project},
	}}
)

func none(string) string { return "" }

// in returns the options of budgets in a new project, whose file has content;
// "" is no file.
func in(t *testing.T, content string) Plugin {
	t.Helper()
	p := Plugin{Dir: state.NewDir(filepath.Join(t.TempDir(), ".budgets")), Profile: budgets, User: none}
	if content != "" {
		put(t, p, ConfigFile, content)
	}
	return p
}

func put(t *testing.T, p Plugin, name, content string) {
	t.Helper()
	if err := os.MkdirAll(p.Dir.Path(""), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(p.Dir.Path(name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(p Plugin) string {
	data, _ := os.ReadFile(p.Dir.Path(ConfigFile))
	return string(data)
}

func TestSet(t *testing.T) {
	t.Parallel()
	const before = "# mine\ncontext_budget_pct: 60\nsize: blue\n"
	for _, tt := range []struct {
		key, value string
		want       string // the file afterwards
		err        string
	}{
		{"context_budget_pct", "30%", "# mine\ncontext_budget_pct: 30\nsize: blue\n", ""},
		{"context_budget_pct", "OFF", "# mine\ncontext_budget_pct: 0\nsize: blue\n", ""},
		{"context_budget_mode", "checkpoint", before + "context_budget_mode: snapshot\n", ""},
		{"context_budget_pct", "", "# mine\nsize: blue\n", ""},
		{"context_budget_pct", "96", before, "from 0 to 95, or off"},
		{"context_budget_pct", "4 5", before, "from 0 to 95, or off"},
		{"context_window", "999", before, "at least 1000"},
		{"context_budget_mode", "loud", before, "notify or snapshot"},
		{"context_budget", "30", before, "did you mean context_budget_pct?"},
		{"context-budget-pct", "30", before, "did you mean context_budget_pct?"},
		{"headles", "on", before, "did you mean headless?"},
		{"size", "red", before, "the settings are context_budget_pct, context_budget_mode"},
		{"", "red", before, "the settings are"},
		{"color", "red", before, "cannot be set for a project"},
	} {
		p := in(t, before)
		_, err := p.Set(tt.key, tt.value)
		bad := problem.IsInput(err)
		switch {
		case tt.err == "" && err != nil, tt.err != "" && !bad:
			t.Errorf("%s=%q: error %v", tt.key, tt.value, err)
		case tt.err != "" && !strings.Contains(err.Error()+"\n"+problem.Hint(err), tt.err):
			t.Errorf("%s=%q: %q does not say %q", tt.key, tt.value, err, tt.err)
		}
		if got := read(p); got != tt.want {
			t.Errorf("%s=%q: file %q, want %q", tt.key, tt.value, got, tt.want)
		}
	}
}

func TestSetInANewProject(t *testing.T) {
	t.Parallel()
	p := in(t, "")
	if _, err := p.Set("context_budget_pct", "97"); err == nil || p.Dir.Kind("") != state.Absent {
		t.Errorf("error %v, state directory: %v", err, p.Dir.Kind(""))
	}
	if v, err := p.Set("context_budget_pct", "30"); err != nil || v != "30" || read(p) != "context_budget_pct: 30\n" {
		t.Errorf("value %q, error %v, file %q", v, err, read(p))
	}
	if data, err := os.ReadFile(p.Dir.Path(".gitignore")); err != nil || string(data) != "*\n" {
		t.Error("the directory does not ignore itself")
	}
}

// What stands where the file should be is neither followed nor replaced.
func TestSetWhereSomethingElseStands(t *testing.T) {
	t.Parallel()
	p := in(t, "")
	if err := os.MkdirAll(p.Dir.Path(ConfigFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Set("context_budget_pct", "30"); err == nil {
		t.Error("written")
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	list := []Plugin{{Profile: budgets}, {Profile: farewells}}
	for key, want := range map[string]struct{ plugin, err string }{
		"context_window": {"budgets", ""},
		"auto_pct":       {"farewells", ""},
		"headless":       {"", "budgets and farewells have a setting \"headless\"\nsay which one you mean, as in --plugin budgets"},
		"auto":           {"", "there is no setting \"auto\"\ndid you mean auto_pct? the settings are context_budget_pct, context_budget_mode, context_window, headless, color, auto_pct"},
		"zzz":            {"", "there is no setting \"zzz\"\nthe settings are"},
	} {
		p, err := Find(list, key)
		bad := problem.IsInput(err)
		if p.Name() != want.plugin || bad != (want.err != "") || bad && !strings.HasPrefix(err.Error()+"\n"+problem.Hint(err), want.err) {
			t.Errorf("%s: %q, %v", key, p.Name(), err)
		}
	}
}

// case F61: settings that came with the repository are not the user's.
func TestTrackedFileIsNotObeyed(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	const shipped = "context_budget_pct: 1\nheadless: on\n"
	p := in(t, shipped)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir = filepath.Dir(p.Dir.Path(""))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	vet := func(want bool) {
		t.Helper()
		if got, err := Vet(p.Dir); err != nil || got != want {
			t.Errorf("ignored: %v, %v", got, err)
		}
		v := p.Values()
		if percent := v.Number("context_budget_pct"); (percent == 45) != want || v.On("headless") == want || (len(v.Ignored) == 2) != want {
			t.Errorf("in force: %d %%, ignored %q", percent, v.Ignored)
		}
	}
	git("init", "-q")
	vet(false)
	git("add", "-f", ".budgets/config")
	vet(true)
	vet(true)
	if list := p.Entries(); list[0].Value != "45" || list[0].Source != host.FromPlugin || len(list[0].Ignored) != 1 || len(list[1].Ignored) != 0 {
		t.Errorf("listed: %+v", list)
	}
	if _, err := p.Set("context_budget_pct", "30"); err == nil || !strings.Contains(problem.Hint(err), "git rm --cached") || read(p) != shipped {
		t.Errorf("error %v, file %q", err, read(p))
	}
	git("rm", "-q", "--cached", ".budgets/config")
	vet(false)

	// What a person sets after that counts at once.
	git("add", "-f", ".budgets/config")
	vet(true)
	git("rm", "-q", "--cached", ".budgets/config")
	if _, err := p.Set("context_budget_pct", "30"); err != nil || p.Values().Number("context_budget_pct") != 30 {
		t.Errorf("error %v, %d %% in force", err, p.Values().Number("context_budget_pct"))
	}
}

// A repository cannot keep the mark from being set by what it ships in its place.
func TestOddMarkCounts(t *testing.T) {
	t.Parallel()
	p := in(t, "context_budget_pct: 1\n")
	if err := os.Mkdir(p.Dir.Path(trackedMark), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := p.Values().Number("context_budget_pct"); got != 45 {
		t.Errorf("%d %%", got)
	}
}

func TestVetWithoutAFile(t *testing.T) {
	t.Parallel()
	p := in(t, "")
	if got, err := Vet(p.Dir); got || err != nil || p.Dir.Kind("") != state.Absent {
		t.Errorf("%v, %v", got, err)
	}
}

// The project's file goes before the user's option, that before the stamp of
// the newest session, and that before what the plugin has by default. A value
// that is not valid counts for nothing.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const key = "context_budget_pct"
	for _, tt := range []struct {
		file, user, stamped, stampedDefault string
		want                                string
		source                              host.Source
	}{
		{"10", "20", "30", "40", "10", host.FromProject},
		{"", "20", "30", "40", "20", host.FromUser},
		{"", "", "30", "40", "30", host.FromUser},
		{"", "", "", "40", "40", host.FromPlugin},
		{"", "", "", "", "45", host.FromPlugin},
		{"many", "20", "30", "40", "20", host.FromUser},
		{"", "many", "30", "40", "40", host.FromPlugin}, // what hooks are told, they are told alone
		{"", "", "many", "40", "40", host.FromPlugin},
		{"", "", "", "many", "45", host.FromPlugin},
		{"0", "20", "", "", "off", host.FromProject},
	} {
		for _, where := range []string{"state", "data"} {
			p, data := in(t, ""), t.TempDir()
			if tt.file != "" {
				put(t, p, ConfigFile, key+": "+tt.file+"\n")
			}
			stamp := state.Pairs{}.Set(optionPrefix+key, tt.stamped).Set(defaultPrefix+key, tt.stampedDefault).Bytes()
			if where == "state" {
				put(t, p, StampFile, string(stamp))
			} else if err := os.WriteFile(filepath.Join(data, StampFile), stamp, 0o600); err != nil {
				t.Fatal(err)
			}
			user := func(string) string { return "" }
			if tt.user != "" {
				user = func(k string) string { return map[string]string{key: tt.user}[k] }
			}
			v := ForCommand(p.Dir, []string{data}, budgets, user).Values()
			if got := v.Setting(key); got.Value != tt.want || got.Source != tt.source {
				t.Errorf("%+v, stamped in %s: %q from %q", tt, where, got.Value, got.Source)
			}
		}
	}
}

func TestUnknownKeysAreNamed(t *testing.T) {
	t.Parallel()
	p := in(t, "# mine\ncontext_budgt_pct: 20\nheadless: on\nzzz: 1\n")
	want := []string{
		`project file: there is no setting "context_budgt_pct"; did you mean context_budget_pct?`,
		`project file: there is no setting "zzz"`,
	}
	if got := p.Unknown(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
