package reload

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// every combination of what cannot matter for a branch is left at its zero
// value; what comes earlier in the list is set to prove the order.
func TestDecideStop(t *testing.T) {
	t.Parallel()
	full := stopFacts{Known: true, Over: true, Percent: 46}
	with := func(f stopFacts, change func(*stopFacts)) stopFacts { change(&f); return f }
	for name, tt := range map[string]struct {
		facts stopFacts
		want  action
	}{
		"nothing known":                      {stopFacts{}, silence},
		"a loop owns the turns":              {with(full, func(f *stopFacts) { f.Loop = true }), silence},
		"a loop, even in a snapshot turn":    {stopFacts{Loop: true, Marker: true}, silence},
		"the same Stop again (F44)":          {stopFacts{Repeat: true, Marker: true}, silence},
		"snapshot turn is over":              {stopFacts{Marker: true}, finish},
		"over, whatever else is the matter":  {stopFacts{Marker: true, Active: true, Headless: true, Failed: true, Background: true}, finish},
		"snapshot turn of another session":   {with(full, func(f *stopFacts) { f.Marker, f.Foreign, f.Snapshot = true, true, true }), notify},
		"continued without a marker (F03)":   {with(full, func(f *stopFacts) { f.Active, f.Snapshot = true, true }), silence},
		"nobody is watching":                 {with(full, func(f *stopFacts) { f.Headless, f.Snapshot = true, true }), silence},
		"ended in an API error (F36)":        {with(full, func(f *stopFacts) { f.Failed, f.Snapshot = true, true }), silence},
		"tasks are running (F37)":            {with(full, func(f *stopFacts) { f.Background, f.Snapshot = true, true }), silence},
		"occupancy unknown":                  {stopFacts{Crossed: true, Snapshot: true}, silence},
		"under the budget":                   {stopFacts{Known: true, Percent: 10}, silence},
		"back under the budget":              {stopFacts{Known: true, Percent: 10, Crossed: true}, forget},
		"over, mode snapshot":                {with(full, func(f *stopFacts) { f.Snapshot = true }), snapshot},
		"over, mode snapshot, ladder passed": {with(full, func(f *stopFacts) { f.Snapshot, f.Next = true, 56 }), snapshot},
		"something stands at the arm":        {with(full, func(f *stopFacts) { f.Snapshot, f.Pending = true, true }), notify},
		"the snapshot turn was spent (F03)":  {with(full, func(f *stopFacts) { f.Snapshot, f.Forced = true, true }), notify},
		"over, mode notify":                  {full, notify},
		"a step below the next notice":       {with(full, func(f *stopFacts) { f.Next = 47 }), silence},
		"at the next notice":                 {with(full, func(f *stopFacts) { f.Next = 46 }), notify},
	} {
		if got := decideStop(tt.facts); got != tt.want {
			t.Errorf("%s: action %d, want %d", name, got, tt.want)
		}
	}
}

// world is a project with a session in it.
type world struct {
	*testing.T
	project    string
	transcript string
	env        map[string]string
	alive      map[int]bool
	now        time.Time
	sleep      func(time.Duration) // returns at once, unless a test looks at it
	payload    host.Payload
}

var testProfile = host.Profile{
	Plugin: name,
	Options: []host.Option{
		{Key: keyPercent, Kind: host.KindOff, Default: "45", Max: 95, Scopes: []host.Scope{host.ScopeUser, host.ScopeProject}},
		{Key: keyMode, Kind: host.KindChoice, Default: "notify", Choices: []string{"notify", "snapshot"}, Aliases: map[string]string{"checkpoint": "snapshot"}, Scopes: []host.Scope{host.ScopeUser, host.ScopeProject}},
		{Key: keyTokens, Kind: host.KindOff, Default: "off", Scopes: []host.Scope{host.ScopeUser, host.ScopeProject}},
		{Key: keyWindow, Kind: host.KindInt, Min: 1000, Scopes: []host.Scope{host.ScopeProject}},
		{Key: keyOwnerWindow, Kind: host.KindInt, Default: "14400", Scopes: []host.Scope{host.ScopeProject}},
		{Key: keyHeadless, Kind: host.KindBool, Default: "off", Scopes: []host.Scope{host.ScopeProject}},
		{Key: keyAtEnd, Kind: host.KindBool, Default: "off", Scopes: []host.Scope{host.ScopeProject}},
	},
	Windows: []host.Window{{Model: "claude-opus-5-5", Tokens: 1_000_000}, {Model: "claude-haiku-4-5", Tokens: 200_000}},
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	w := &world{
		T:          t,
		project:    filepath.Join(base, "project"),
		transcript: filepath.Join(base, "s1.jsonl"),
		env:        map[string]string{},
		alive:      map[int]bool{},
		now:        time.Now(),
		sleep:      func(time.Duration) {},
	}
	w.payload = host.Payload{Event: host.Stop, SessionID: "s1", TranscriptPath: w.transcript, Cwd: w.project, LastMessage: "Done."}
	if err := os.Mkdir(w.project, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// at writes a transcript whose newest reply of model fills tokens.
func (w *world) at(tokens int, model string) *world {
	w.Helper()
	rows := []any{
		map[string]any{"type": "user", "version": "2.1.332", "message": map[string]any{"role": "user", "content": "go on"}},
		map[string]any{"type": "assistant", "version": "2.1.332", "message": map[string]any{
			"id": "m1", "role": "assistant", "model": model, "content": []any{map[string]any{"type": "text", "text": "Done."}},
			"usage": map[string]any{"input_tokens": 3, "cache_read_input_tokens": tokens - 3, "output_tokens": 9},
		}},
	}
	w.rows(rows...)
	return w
}

func (w *world) rows(rows ...any) {
	w.Helper()
	var b strings.Builder
	for _, r := range rows {
		line, err := json.Marshal(r)
		if err != nil {
			w.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(w.transcript, []byte(b.String()), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w *world) call() *host.Call {
	getenv := func(name string) string { return w.env[name] }
	return &host.Call{
		Host:    host.FromEnv(getenv),
		Plugin:  name,
		Payload: w.payload,
		Project: w.project,
		Profile: testProfile,
		Env: host.Env{
			Now:    func() time.Time { return w.now },
			Sleep:  w.sleep,
			Getenv: getenv,
			Alive:  func(pid int) bool { return w.alive[pid] },
			Log:    func(msg string, args ...any) { w.Logf("log: %s %v", msg, args) },
		},
	}
}

// stop runs the hook, a minute after the one before.
func (w *world) stop() host.Output {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	out, err := stop(w.call())
	if err != nil {
		w.Fatalf("stop: %v", err)
	}
	return out
}

func (w *world) path(name string) string { return filepath.Join(w.project, ".reload", name) }

func (w *world) put(name, data string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(data), 0o600); err != nil {
		w.Fatal(err)
	}
}

// digest has the model write one, later than whatever is there.
func (w *world) digest() {
	w.Helper()
	w.put(digestFile, "---\nintent: x\n---\n\n## Done this stretch\n- a\n")
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(w.path(digestFile), later, later); err != nil {
		w.Fatal(err)
	}
}

func (w *world) has(name string) bool {
	_, err := os.Lstat(w.path(name))
	return err == nil
}

func (w *world) read(name string) string {
	b, _ := os.ReadFile(w.path(name))
	return string(b)
}

func (w *world) names() []string {
	entries, err := os.ReadDir(w.path(""))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func (w *world) silent(why string) {
	w.Helper()
	if out := w.stop(); !out.Silent() {
		w.Errorf("%s: %+v", why, out)
	}
}

func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in %q", word, text)
		}
	}
}

const opus = "claude-opus-5-5"

func TestStopUnderBudgetWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(102_000, opus)
	w.silent("under the budget")
	if w.has("") {
		t.Errorf("the state directory was created: %q", w.names())
	}
	w.put(configFile, "context_budget_pct: 30\n")
	w.put(modelFile, "model: claude-opus-5-5[1m]\nwindow: 1000000\n")
	w.silent("under the budget of the project")
	if got, want := w.names(), []string{configFile, modelFile}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}

func TestStopClimbsTheLadder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, step := range []struct {
		tokens int
		says   bool
		ladder string
	}{
		{102_000, false, ""},
		{461_000, true, "46\n"},
		{504_000, false, "46\n"},
		{554_999, false, "46\n"},
		{572_000, true, "57\n"},
		{807_000, true, "81\n"},
		{100_000, false, ""},
		{461_000, true, "46\n"},
	} {
		out := w.at(step.tokens, opus).stop()
		if (out.Message != "") != step.says || out.Continue != "" {
			t.Errorf("at %d tokens: %+v", step.tokens, out)
		}
		if got := w.read(ladderFile); got != step.ladder {
			t.Errorf("at %d tokens: ladder %q, want %q", step.tokens, got, step.ladder)
		}
	}
	out := w.at(564_000, opus).stop()
	says(t, out.Message, "56 % full", "564k of 1M", "budget 45 %", "/cc-reload:snapshot", "/clear", "/cc-reload:reload-budget")
}

func TestStopLadderThatMakesNoSenseIsNone(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "soon\n", "-3\n", "1000\n"} {
		w := newWorld(t).at(461_000, opus)
		w.put(ladderFile, content)
		if w.stop().Message == "" || w.read(ladderFile) != "46\n" {
			t.Errorf("ladder %q: now %q", content, w.read(ladderFile))
		}
	}
}

func TestStopIsSilentWhenTheLadderCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(461_000, opus)
	if err := os.MkdirAll(w.path(ladderFile), 0o755); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if out, err := stop(w.call()); !out.Silent() || err == nil {
			t.Errorf("out %+v, error %v", out, err)
		}
	}
}

// A project that cannot be written to is left in peace, in both modes.
func TestStopInAProjectThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"notify", "snapshot"} {
		w := newWorld(t).at(461_000, opus)
		w.env["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE"] = mode
		w.put("x", "")
		if err := os.RemoveAll(w.path("")); err != nil {
			t.Fatal(err)
		}
		// A file where the directory would be stops root as well.
		if err := os.WriteFile(w.path(""), nil, 0o400); err != nil {
			t.Fatal(err)
		}
		if out, err := stop(w.call()); !out.Silent() || err == nil {
			t.Errorf("mode %s: out %+v, error %v", mode, out, err)
		}
	}
}

func TestStopSnapshotCycle(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: checkpoint\n")
	out := w.stop()
	says(t, out.Continue, "46 % full", "45 %", w.path(digestFile), "session_id: s1", "under 30 lines", "Then stop",
		"## Done this stretch", "## In flight", "## Next concrete step", "## Open questions & risks", "intent:", "updated_at:")
	if out.Client != "2.1.332" || out.Message != "" {
		t.Errorf("%+v", out)
	}
	if w.has(armFile) || !w.has(markerFile) {
		t.Fatalf("names %q", w.names())
	}
	w.digest()
	w.payload.StopHookActive, w.payload.LastMessage = true, "Digest written."
	out = w.stop()
	says(t, out.Message, "saved", "/clear")
	if out.Continue != "" || w.has(markerFile) || w.read(armFile) != "s1" {
		t.Errorf("%+v, names %q, arm %q", out, w.names(), w.read(armFile))
	}
	// Armed: from now on only the ladder.
	w.payload.StopHookActive, w.payload.LastMessage = false, "More."
	out = w.stop()
	says(t, out.Message, "armed", "/clear")
	w.silent("the ladder has been climbed")
	if handover.ClientVersion(state.NewDir(w.path("")), handover.Client{}) != "2.1.332" {
		t.Error("the version of the host is not remembered for the banner")
	}
}

// The model reads a digest only if the session wrote it, or git was asked about
// it as it is: it may have come with the repository, in mid-session too.
func TestStopReadsTheOldDigestFirst(t *testing.T) {
	t.Parallel()
	start := func(w *world) { w.on(host.SessionStart, "s1") }
	for name, tt := range map[string]struct {
		prepare []func(w *world)
		reads   bool
	}{
		"there when the session began": {[]func(*world){digestOf("s0"), start}, true},
		"its own":                      {[]func(*world){start, digestOf("s1")}, true},
		"armed by a command":           {[]func(*world){digestOf("s0"), func(w *world) { w.store("").Arm(); os.Remove(w.path(armFile)) }}, true},
		"blank":                        {[]func(*world){start, func(w *world) { w.put(digestFile, "\n") }}, true},
		"came up since":                {[]func(*world){start, digestOf("s0")}, false},
		"replaced since":               {[]func(*world){digestOf("s0"), start, digestOf("s2")}, false},
		"no session has begun":         {[]func(*world){digestOf("s0")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).at(460_000, opus)
			w.put(configFile, "context_budget_mode: snapshot\n")
			for _, prepare := range tt.prepare {
				prepare(w)
			}
			w.payload.Event, w.payload.SessionID = host.Stop, "s1"
			brief := w.stop().Continue
			says(t, brief, w.path(digestFile), sectionNext)
			reads, leaves := strings.Contains(brief, "Read the file that is there"), strings.Contains(brief, "Do not read")
			if reads != tt.reads || leaves == tt.reads {
				t.Errorf("%q", brief)
			}
			if leaves {
				says(t, brief, "ccreload reload write")
			}
		})
	}
}

func digestOf(session string) func(*world) {
	return func(w *world) {
		w.put(digestFile, strings.Replace(sampleDigest, `"s0"`, `"`+session+`"`, 1))
	}
}

// A snapshot that would not get to the next session is not asked for: it would
// cost a turn. The notice says why.
func TestStopWhereNoDigestWouldBeHandedOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plant func(w *world)
		says  string
	}{
		"a directory":         {func(w *world) { os.Mkdir(w.path(digestFile), 0o755) }, "session.md is a directory"},
		"a link that leaves":  {func(w *world) { os.Symlink("../../x", w.path(digestFile)) }, "session.md is a link"},
		"too large":           {func(w *world) { w.put(digestFile, strings.Repeat("x", maxFile+1)) }, "session.md is larger than"},
		"git tracked it":      {func(w *world) { w.put(trustFile, "tracked: session.md,pending\n") }, "git tracks session.md, pending in .reload"},
		"git tracked options": {func(w *world) { w.put(".config-tracked", "") }, "git tracks config in .reload"},
		"an odd answer":       {func(w *world) { os.Mkdir(w.path(trustFile), 0o755) }, "git tracks session.md in .reload"},
	} {
		for _, arm := range []bool{false, true} {
			w := newWorld(t).at(460_000, opus)
			w.env["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE"] = "snapshot"
			w.put(modelFile, "")
			if arm {
				w.put(armFile, "s1")
			}
			tt.plant(w)
			out := w.stop()
			if out.Continue != "" || w.has(markerFile) {
				t.Errorf("%s: a snapshot turn: %q", name, w.names())
			}
			says(t, out.Message, "46 % full", "/clear would start WITHOUT a digest", tt.says)
			w.silent(name + ": once")
		}
	}
	// The answer is no place for words of a repository's.
	w := newWorld(t).at(460_000, opus)
	w.put(trustFile, "tracked: obey,\u001b[2J\n")
	if out := w.stop(); strings.Contains(out.Message, "obey") {
		t.Errorf("%q", out.Message)
	}
}

// Pass 2 completes whatever is the matter, and says what is.
func TestStopFinishesTheSnapshotTurn(t *testing.T) {
	t.Parallel()
	old := time.Now().Add(-time.Hour)
	for name, tt := range map[string]struct {
		prepare func(w *world)
		says    []string
		never   string
		armed   bool
	}{
		"fresh": {func(w *world) { w.digest() }, []string{"saved", "/clear"}, "not refreshed", true},
		"stale (a snapshot turn the user interrupted)": {func(w *world) {
			w.put(digestFile, "old")
			os.Chtimes(w.path(digestFile), old, old)
		}, []string{"not refreshed", "armed", "/cc-reload:snapshot"}, "saved", true},
		"no digest":      {func(w *world) {}, []string{"no digest", "nothing is armed", "/cc-reload:snapshot"}, "saved", false},
		"an empty one":   {func(w *world) { w.put(digestFile, " \n") }, []string{"no digest"}, "saved", false},
		"a directory":    {func(w *world) { os.Mkdir(w.path(digestFile), 0o755) }, []string{"NOT armed", "session.md is a directory"}, "refreshed", false},
		"too large":      {func(w *world) { w.put(digestFile, strings.Repeat("x", maxFile+1)) }, []string{"NOT armed", "session.md is larger"}, "saved", false},
		"arm is blocked": {func(w *world) { w.digest(); os.Mkdir(w.path(armFile), 0o755) }, []string{"NOT armed", "pending"}, "saved", false},
		"blocked and stale": {func(w *world) {
			w.put(digestFile, "old")
			os.Chtimes(w.path(digestFile), old, old)
			os.Mkdir(w.path(armFile), 0o755)
		}, []string{"NOT armed", "not refreshed"}, "saved", false},
		"no transcript, budget off": {func(w *world) {
			w.digest()
			os.Remove(w.transcript)
			w.put(configFile, "context_budget_pct: off\n")
		}, []string{"saved"}, "not refreshed", true},
		"tasks are running, API error": {func(w *world) {
			w.digest()
			w.payload.BackgroundTasks, w.payload.LastMessage = 2, "API Error: 529 overloaded"
		}, []string{"saved"}, "not refreshed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).at(460_000, opus)
			w.put(markerFile, "")
			tt.prepare(w)
			out := w.stop()
			says(t, out.Message, tt.says...)
			if strings.Contains(out.Message, tt.never) {
				t.Errorf("%q in %q", tt.never, out.Message)
			}
			if w.has(markerFile) || (w.read(armFile) != "") != tt.armed {
				t.Errorf("names %q", w.names())
			}
		})
	}
}

// case F03: five Stops in one session, and none of them says that a hook has
// continued the turn: one snapshot for one crossing all the same.
func TestStopForcesOneSnapshotPerCrossing(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	forced := func() (n int) {
		for i := range 5 {
			w.payload.LastMessage = fmt.Sprint("turn ", i)
			if w.stop().Continue != "" {
				n++
			}
		}
		return n
	}
	if n := forced(); n != 1 {
		t.Errorf("%d snapshots without a digest", n)
	}
	w.at(100_000, opus).silent("under the budget")
	if w.has(sessionsFile) || w.has(ladderFile) {
		t.Errorf("names %q", w.names())
	}
	w.at(460_000, opus)
	if n := forced(); n != 1 {
		t.Errorf("%d snapshots in the next crossing", n)
	}
	// Another session has a crossing of its own.
	w.payload.SessionID = "s2"
	if n := forced(); n != 1 {
		t.Errorf("%d snapshots in the next session", n)
	}
}

// case F03: a handshake that lost its marker must not begin again.
func TestStopStandsDownWithoutAMarker(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	w.payload.StopHookActive = true
	w.silent("continued by somebody")
	if w.has(markerFile) {
		t.Error("a snapshot turn was begun")
	}
}

// case F44: the same Stop twice, at once and 30 ms apart.
func TestStopDeliveredTwice(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		prepare func(w *world)
	}{
		"notice": {func(w *world) {}},
		"pass 1": {func(w *world) { w.put(configFile, "context_budget_mode: snapshot\n") }},
		"pass 1, an older digest": {func(w *world) {
			w.put(digestFile, "old")
			old := time.Now().Add(-time.Hour)
			os.Chtimes(w.path(digestFile), old, old)
			w.put(configFile, "context_budget_mode: snapshot\n")
		}},
		"pass 2":             {func(w *world) { w.put(markerFile, ""); w.digest(); w.payload.StopHookActive = true }},
		"pass 2, not active": {func(w *world) { w.put(markerFile, ""); w.digest() }},
		"pass 2, no digest":  {func(w *world) { w.put(markerFile, "") }},
	} {
		for _, apart := range []time.Duration{0, 30 * time.Millisecond} {
			t.Run(fmt.Sprint(name, ", ", apart, " apart"), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t).at(460_000, opus)
				tt.prepare(w)
				var outs [2]host.Output
				calls := [2]*host.Call{w.call(), w.call()}
				later := w.now.Add(apart)
				calls[1].Env.Now = func() time.Time { return later }
				run := func(i int) {
					var err error
					if outs[i], err = stop(calls[i]); err != nil {
						t.Error(err)
					}
				}
				if apart == 0 {
					var wg sync.WaitGroup
					wg.Go(func() { run(0) })
					wg.Go(func() { run(1) })
					wg.Wait()
				} else {
					run(0)
					run(1)
				}
				if outs[0].Silent() == outs[1].Silent() {
					t.Errorf("two effects, or none: %+v", outs)
				}
			})
		}
	}
}

// The end of the snapshot turn may look like the Stop before it on a host that
// sends no flag; what the model wrote in between, or the time, tells them apart.
func TestStopTellsPassTwoFromARepetition(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if w.stop().Continue == "" {
		t.Fatal("no snapshot")
	}
	w.digest()
	out, err := stop(w.call()) // at the same moment, with the same payload
	if err != nil {
		t.Fatal(err)
	}
	says(t, out.Message, "saved")

	w = newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if w.stop().Continue == "" {
		t.Fatal("no snapshot")
	}
	says(t, w.stop().Message, "no digest") // a minute later
}

// case F36, F30, F37: a crossing is not spent on a turn that failed or that
// still has work running.
func TestStopKeepsTheCrossingForLater(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"notify", "snapshot"} {
		w := newWorld(t).at(460_000, opus)
		w.put(configFile, "context_budget_mode: "+mode+"\n")
		for _, message := range []string{
			"API Error: 529 {\"type\":\"error\"}", "Claude AI usage limit reached|1749924000", "5-hour limit reached ∙ resets 12pm",
			"You've hit your limit · resets 4pm (Asia/Kuala_Lumpur)", "You've hit your session limit · resets 3:45pm",
			"You've hit your weekly limit · resets Dec 4, 9am (UTC)", "Opus weekly limit reached ∙ resets Monday 9am",
		} {
			w.payload.LastMessage = message
			w.silent(message)
		}
		w.payload.LastMessage = "Waiting for the helper."
		w.payload.BackgroundTasks = 1
		w.silent("a task is running")
		w.payload.BackgroundTasks = 0
		for _, message := range []string{"I read that the 5-hour limit reached zero. It resets tomorrow, says the page.", "You've hit your stride: all tests pass.", "The rate limit reached zero, and it resets at noon.", "Done.\nAPI Error is handled now.", ""} {
			if w.payload.LastMessage = message; host.IsAPIError(message) {
				t.Errorf("%q is taken for an error of the API", message)
			}
		}
		if w.stop().Silent() {
			t.Errorf("mode %s: the crossing was lost", mode)
		}
	}
}

func TestStopRowSaysAPIError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	usage := map[string]any{"input_tokens": 460_000}
	w.rows(
		map[string]any{"type": "assistant", "message": map[string]any{"model": opus, "usage": usage, "content": []any{}}},
		map[string]any{"type": "assistant", "isApiErrorMessage": true, "message": map[string]any{"model": "<synthetic>", "usage": map[string]any{"input_tokens": 0}, "content": []any{}}},
	)
	w.silent("the newest row is an error of the API")
}

// case F30: the host's own rows carry no usage of the model.
func TestStopIgnoresSyntheticRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows(
		map[string]any{"type": "assistant", "message": map[string]any{"model": "claude-haiku-4-5", "usage": map[string]any{"input_tokens": 180_000}, "content": []any{}}},
		map[string]any{"type": "assistant", "message": map[string]any{"model": "<synthetic>", "usage": map[string]any{"input_tokens": 0}, "content": []any{}}},
	)
	says(t, w.stop().Message, "90 % full", "180k of 200k")
}

func TestStopWithoutFigures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.silent("no transcript")
	w.rows()
	w.silent("an empty transcript")
	w.put(ladderFile, "46\n")
	w.silent("unknown occupancy")
	if !w.has(ladderFile) {
		t.Error("unknown is not under the budget")
	}
}

func TestStopInALoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put("../.repete/loop.local.md", "---\nactive: true\n---\n")
	w.silent("a loop is running")
	w.put("../.repete/loop.local.md", "---\nactive: false\n---\nactive: true\n")
	if w.stop().Silent() {
		t.Error("the loop is over")
	}
}

// In mode snapshot a headless run would have its result replaced by that of
// the snapshot turn.
func TestStopHeadless(t *testing.T) {
	t.Parallel()
	for _, env := range []map[string]string{{"CLAUDE_CODE_SESSION_ATTENDED": "0"}, {"CLAUDE_CODE_ENTRYPOINT": "sdk-py"}} {
		for _, mode := range []string{"notify", "snapshot"} {
			w := newWorld(t).at(460_000, opus)
			w.env = env
			w.put(configFile, "context_budget_mode: "+mode+"\n")
			w.silent("nobody is watching")
			if w.has(ladderFile) || w.has(markerFile) {
				t.Errorf("the crossing was spent on nobody: %q", w.names())
			}
			w.put(configFile, "context_budget_mode: "+mode+"\nheadless: on\n")
			if w.stop().Silent() {
				t.Error("headless: on")
			}
		}
	}
}

// Anything at the arm counts, and nothing at it is touched.
func TestStopArmIsADirectory(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if err := os.Mkdir(w.path(armFile), 0o755); err != nil {
		t.Fatal(err)
	}
	out := w.stop()
	if out.Continue != "" || strings.Contains(out.Message, "armed") {
		t.Errorf("%+v", out)
	}
	says(t, out.Message, "/cc-reload:snapshot")
	if info, err := os.Stat(w.path(armFile)); err != nil || !info.IsDir() {
		t.Error("the directory was touched")
	}
}

// A turn is only continued when the marker that ends the handshake stands.
func TestStopMarkerCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if err := os.Mkdir(w.path(markerFile), 0o755); err != nil {
		t.Fatal(err)
	}
	out := w.stop()
	if out.Continue != "" {
		t.Fatalf("%+v", out)
	}
	says(t, out.Message, "46 % full") // the ladder instead
	w.silent("once")
}

// A snapshot turn that cannot be remembered is not begun, and leaves nothing
// behind: the next Stop tries again.
func TestStopRecordCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if err := os.Mkdir(w.path(sessionsFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := stop(w.call()); err == nil || out.Continue != "" || w.has(markerFile) {
		t.Fatalf("%+v, %v, names %q", out, err, w.names())
	}
	os.Remove(w.path(sessionsFile))
	w.payload.LastMessage = "Another turn."
	if out := w.stop(); out.Continue == "" {
		t.Errorf("not tried again: %+v", out)
	}
}

// The marker of a session that died is completed by whoever comes next; that
// of another session that lives is left to it.
func TestStopMarkerOfAnotherSession(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		alive bool
		pid   string
		want  string
		left  bool
	}{
		"dead":                   {false, "200", "no digest", false},
		"alive":                  {true, "200", "46 % full", true},
		"same client, after all": {true, "100", "no digest", false},
		"client unknown":         {true, "", "46 % full", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t).at(460_000, opus)
			w.put(configFile, "context_budget_mode: snapshot\n")
			w.env["CLAUDE_PID"] = "100"
			if w.stop().Continue == "" {
				t.Fatal("no snapshot")
			}
			w.payload.SessionID, w.payload.LastMessage = "s2", "Another."
			w.env["CLAUDE_PID"], w.alive[100] = tt.pid, tt.alive
			out := w.stop()
			says(t, out.Message, tt.want)
			if out.Continue != "" || w.has(markerFile) != tt.left {
				t.Errorf("%+v, names %q", out, w.names())
			}
		})
	}
}

// case F39: state is the project's, whatever directory the turn ended in.
func TestStopStateIsInTheProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.payload.Cwd = filepath.Join(w.project, "gone", "worktree")
	if w.stop().Message == "" || !w.has(ladderFile) {
		t.Errorf("names %q", w.names())
	}
}

func TestSessionsBegin(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(460_000, opus)
	w.put(configFile, "context_budget_mode: snapshot\n")
	if w.stop().Continue == "" {
		t.Fatal("no snapshot")
	}
	err := state.NewDir(w.path("")).WithLock(lockTimeout, func(tx *state.Tx) error { return readSessions(tx, w.call()).begin(tx) })
	if err != nil || w.has(markerFile) || w.has(sessionsFile) {
		t.Fatalf("error %v, names %q", err, w.names())
	}
	if w.stop().Continue == "" {
		t.Error("after a compaction the budget is crossed anew")
	}
}
