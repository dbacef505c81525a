package reload

import (
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/transcript"
)

// case F02: the reply of the turn is not written yet.
func TestMeasureWaitsForTheReply(t *testing.T) {
	t.Parallel()
	prompt := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "go on"}}
	reply := func(tokens int, text string) map[string]any {
		return map[string]any{"type": "assistant", "message": map[string]any{
			"model": opus, "content": []any{map[string]any{"type": "text", "text": text}}, "usage": map[string]any{"input_tokens": tokens},
		}}
	}
	const most = 700 * time.Millisecond
	for name, tt := range map[string]struct {
		rows    []any
		config  string
		message string
		waits   time.Duration
	}{
		"complete":                       {[]any{prompt, reply(440_000, "All done. ")}, "", "All done.", 0},
		"complete, in several rows":      {[]any{prompt, reply(440_000, "Part one."), reply(440_000, "Part two.")}, "", "Part one.Part two.", 0},
		"the host names no message":      {[]any{prompt, reply(440_000, "Done.")}, "", "", 0},
		"the reply is missing":           {[]any{reply(440_000, "Before."), prompt}, "", "Done.", most},
		"missing, with the same words":   {[]any{reply(440_000, "Done."), prompt}, "", "Done.", most},
		"the whole turn is missing":      {[]any{prompt, reply(440_000, "Before.")}, "", "Done.", most},
		"missing, after equal words":     {[]any{prompt, reply(440_000, "Done."), map[string]any{"type": "system", "subtype": "turn_duration"}}, "", "Done.", most},
		"missing, over already":          {[]any{reply(460_000, "Before."), prompt}, "", "Done.", most},
		"missing, budget off":            {[]any{reply(440_000, "Before."), prompt}, "context_budget_pct: off", "Done.", 0},
		"missing, first turn":            {[]any{prompt}, "", "Done.", most},
		"there is no transcript yet":     {nil, "", "Done.", most},
		"after a compaction, then a row": {[]any{reply(440_000, "Before."), map[string]any{"type": "system", "subtype": "compact_boundary"}}, "", "Before.", most},
	} {
		w := newWorld(t)
		if tt.rows != nil {
			w.rows(tt.rows...)
		}
		w.put(configFile, tt.config+"\n")
		w.payload.LastMessage = tt.message
		slept := time.Duration(0)
		dir := dirOf(w.project)
		w.sleep = func(d time.Duration) { slept += d }
		measure(w.call(), dir, settingsFor(w.call(), dir))
		if slept != tt.waits {
			t.Errorf("%s: waited %s, want %s", name, slept, tt.waits)
		}
	}
	// The reply comes after 180 ms.
	w := newWorld(t)
	w.rows(reply(440_000, "Before."), prompt)
	dir := dirOf(w.project)
	slept := time.Duration(0)
	w.sleep = func(d time.Duration) {
		if slept += d; slept == 180*time.Millisecond {
			w.rows(reply(440_000, "Before."), prompt, reply(461_000, "Done."))
		}
	}
	o := measure(w.call(), dir, settingsFor(w.call(), dir))
	if o.Tokens != 461_000 || slept != 180*time.Millisecond {
		t.Errorf("%d tokens after %s", o.Tokens, slept)
	}
}

func TestMeasureWindow(t *testing.T) {
	t.Parallel()
	const haiku = "claude-haiku-4-5-20251001"
	for name, tt := range map[string]struct {
		model          string
		tokens         int
		files          map[string]string
		env            string // CLAUDE_CODE_AUTO_COMPACT_WINDOW
		percent, wants int
	}{
		"table":                    {haiku, 100_000, nil, "", 50, 200_000},
		"unknown is large":         {"claude-new-9", 100_000, nil, "", 10, 1_000_000},
		"pinned":                   {haiku, 100_000, map[string]string{configFile: "context_window: 400000"}, "", 25, 400_000},
		"an invalid pin is none":   {haiku, 100_000, map[string]string{configFile: "context_window: 10"}, "", 50, 200_000},
		"stamp of the large model": {haiku, 100_000, map[string]string{modelFile: "model: claude-haiku-4-5[1m]\nwindow: 1000000"}, "", 10, 1_000_000},
		"stamp of another model":   {haiku, 100_000, map[string]string{modelFile: "model: claude-opus-5-5\nwindow: 1000000"}, "", 50, 200_000},
		"host":                     {haiku, 100_000, map[string]string{".host": "session: s1\nmodel: claude-haiku-4-5\nwindow: 500000\nused_percentage: 20"}, "", 20, 500_000},
		"host, another session":    {haiku, 100_000, map[string]string{".host": "session: s2\nmodel: claude-haiku-4-5\nwindow: 500000"}, "", 50, 200_000},
		"host, another model":      {haiku, 100_000, map[string]string{".host": "session: s1\nmodel: claude-opus-5-5\nwindow: 500000"}, "", 50, 200_000},
		"host forgets [1m] (F06)": {haiku, 100_000, map[string]string{
			".host":   "session: s1\nmodel: claude-haiku-4-5\nwindow: 200000",
			modelFile: "model: claude-haiku-4-5[1m]\nwindow: 1000000",
		}, "", 10, 1_000_000},
		"host is wrong (F06)":    {haiku, 219_313, map[string]string{".host": "session: s1\nmodel: claude-haiku-4-5\nwindow: 200000"}, "", 22, 1_000_000},
		"pinned and outgrown":    {haiku, 219_313, map[string]string{configFile: "context_window: 200000"}, "", 100, 200_000},
		"compacts earlier (F06)": {opus, 100_000, nil, "400000", 25, 400_000},
		"compacts later":         {haiku, 100_000, nil, "400000", 50, 200_000},
		"compacts at nonsense":   {haiku, 100_000, nil, "soon", 50, 200_000},
	} {
		w := newWorld(t).at(tt.tokens, tt.model)
		for file, data := range tt.files {
			w.put(file, data+"\n")
		}
		w.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = tt.env
		dir := dirOf(w.project)
		o := measure(w.call(), dir, settingsFor(w.call(), dir))
		if o.Percent != tt.percent || o.Window.Tokens != tt.wants {
			t.Errorf("%s: %d %% of %d, want %d %% of %d", name, o.Percent, o.Window.Tokens, tt.percent, tt.wants)
		}
	}
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
		o := occupy(transcript.Tail{Known: true, Tokens: tt.tokens}, windowOf(tt.window))
		if got := s.over(o); got != tt.over {
			t.Errorf("%+v: over %v", tt, got)
		}
		if got := budget(o, s); tt.text != "" && got != tt.text {
			t.Errorf("%+v: text %q", tt, got)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1k", 461_999: "461k", 1_000_000: "1M", 1_048_576: "1.04M", 2_000_000: "2M"} {
		if got := tokens(n); got != want {
			t.Errorf("tokens(%d) = %q, want %q", n, got, want)
		}
	}
}

func windowOf(n int) func(transcript.Tail) models.Inputs {
	return func(transcript.Tail) models.Inputs { return models.Inputs{Pinned: n} }
}
