package reload

import "testing"

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
		run := stopRun{call: w.call()}
		run.gather(dir)
		o := run.full
		if o.Percent() != tt.percent || o.Window.Tokens != tt.wants {
			t.Errorf("%s: %d %% of %d, want %d %% of %d", name, o.Percent(), o.Window.Tokens, tt.percent, tt.wants)
		}
	}
}
