package statusline

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/plugin"
)

func TestContext(t *testing.T) {
	table := models.Table{{Model: "claude-small", Tokens: 200_000}}
	for name, tt := range map[string]struct {
		payload string
		known   occupancy.Sources
		budget  plugin.Budget
		want    string
		level   plugin.Level
	}{
		"as the host says": {
			payload: `{"model":{"id":"m"},"context_window":{"context_window_size":1000000,"used_percentage":7,"current_usage":{"input_tokens":4,"cache_creation_input_tokens":3500,"cache_read_input_tokens":66496,"output_tokens":12}}}`,
			budget:  plugin.Budget{Percent: 45}, want: "ctx[1M] 7%·45",
		},
		"before the first reply":    {payload: `{"context_window":{"context_window_size":200000,"used_percentage":null}}`, budget: plugin.Budget{Percent: 45}},
		"no window at all":          {payload: `{"model":{"id":"m"}}`},
		"nothing":                   {payload: `{}`},
		"odd types":                 {payload: `{"context_window":{"context_window_size":"large","used_percentage":"7"}}`},
		"below two thirds":          {payload: `{"context_window":{"context_window_size":200000,"used_percentage":29.4}}`, budget: plugin.Budget{Percent: 45}, want: "ctx[200k] 29%·45"},
		"two thirds":                {payload: `{"context_window":{"context_window_size":200000,"used_percentage":30}}`, budget: plugin.Budget{Percent: 45}, want: "ctx[200k] 30%·45", level: plugin.Near},
		"just below the budget":     {payload: `{"context_window":{"context_window_size":200000,"used_percentage":44.4}}`, budget: plugin.Budget{Percent: 45}, want: "ctx[200k] 44%·45", level: plugin.Near},
		"at the budget":             {payload: `{"context_window":{"context_window_size":200000,"used_percentage":45}}`, budget: plugin.Budget{Percent: 45}, want: "ctx[200k] 45%·45", level: plugin.Over},
		"tokens come first":         {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":10}}`, budget: plugin.Budget{Percent: 45, Tokens: 100_000}, want: "ctx[1M] 10%·45", level: plugin.Over},
		"tokens in two thirds":      {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":7}}`, budget: plugin.Budget{Percent: 45, Tokens: 100_000}, want: "ctx[1M] 7%·45", level: plugin.Near},
		"off":                       {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":59}}`, want: "ctx[1M] 59%"},
		"off, from 60":              {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":60}}`, want: "ctx[1M] 60%", level: plugin.Near},
		"off, from 85":              {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":85}}`, want: "ctx[1M] 85%", level: plugin.Over},
		"no size, a known model":    {payload: `{"model":{"id":"claude-small"},"context_window":{"used_percentage":50,"current_usage":{"input_tokens":100000}}}`, known: occupancy.Sources{Table: table}, want: "ctx[200k] 50%"},
		"pinned":                    {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":10,"current_usage":{"input_tokens":100000}}}`, known: occupancy.Sources{Pinned: 128_000}, want: "ctx[128k] 78%", level: plugin.Near},
		"compacted early, case F06": {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":10,"current_usage":{"input_tokens":100000}}}`, known: occupancy.Sources{Limit: 400_000}, want: "ctx[400k] 25%"},
		"more than there is room for, case F06": {
			payload: `{"context_window":{"context_window_size":200000,"used_percentage":109.6,"current_usage":{"cache_read_input_tokens":219313}},"exceeds_200k_tokens":true}`,
			want:    "ctx[1M] 22%",
		},
		"the host's word only, case F06": {
			payload: `{"context_window":{"context_window_size":200000,"used_percentage":100},"exceeds_200k_tokens":true}`,
			want:    "ctx[1M] 20%",
		},
		"a large window by its name, case F06": {
			payload: `{"model":{"id":"claude-small[1m]"},"context_window":{"context_window_size":200000,"used_percentage":50,"current_usage":{"input_tokens":100000}}}`,
			known:   occupancy.Sources{Table: table}, want: "ctx[1M] 10%",
		},
		"never above 100, case F06": {payload: `{"context_window":{"context_window_size":1000000,"used_percentage":250}}`, budget: plugin.Budget{Percent: 45}, want: "ctx[1M] 100%·45", level: plugin.Over},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Decode([]byte(tt.payload))
			if err != nil {
				t.Fatal(err)
			}
			part := plugin.Context(p.Occupancy(tt.known, time.Now()), tt.budget)
			if got := Line([]plugin.Segment{part}, false); got != tt.want || part.Level != tt.level {
				t.Errorf("got %q at level %d, want %q at %d", got, part.Level, tt.want, tt.level)
			}
		})
	}
}

func TestLineColorsTheFigureOnly(t *testing.T) {
	parts := []plugin.Segment{{Label: "a ", Value: "1%", Note: "·2"}, {}, {Value: "2%", Level: plugin.Near}, {Value: "3%", Note: "!", Level: plugin.Over}}
	if got, want := Line(parts, true), "a 1%·2 | \x1b[33m2%\x1b[0m | \x1b[31m3%\x1b[0m!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Line(parts, false), "a 1%·2 | 2% | 3%!"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ first, line, want string }{
		{"", "", ""},
		{"a\n", "", "a"},
		{"", "b", "b"},
		{"a\n", "b", "a | b"},
		{"a\r\nc\r\n\r\n", "b", "a\r\nc | b"},
		{"\x1b[31ma", "b", "\x1b[31ma\x1b[0m | b"},
	} {
		if got := Append(tt.first, tt.line); got != tt.want {
			t.Errorf("Append(%q, %q) = %q, want %q", tt.first, tt.line, got, tt.want)
		}
	}
}

func TestFirst(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	t.Setenv(nestedVar, "")
	limitFirst(t, time.Minute)
	for command, want := range map[string]string{
		"":                           "",
		"cat":                        "payload",
		"echo out; echo err >&2":     "out\n",
		"echo out; exit 3":           "out\n",
		"no-such-command-here":       "",
		"printf '%s' $" + nestedVar:  "1",
		"head -c 1000000 /dev/zero":  strings.Repeat("\x00", maxFirst),
		"exec <&-; echo still there": "still there\n",
	} {
		if got := First(command, []byte("payload"), host.ShellFinder{}); got != want {
			t.Errorf("First(%q) = %.80q, want %.80q", command, got, want)
		}
	}
	t.Setenv(nestedVar, "1")
	if got := First("cat", []byte("payload"), host.ShellFinder{}); got != "" {
		t.Errorf("inside our own line it ran all the same: %q", got)
	}
}

// A command that hangs must not take the rest of the line with it, nor what
// it has started.
func TestFirstGivesUp(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is for a Unix shell")
	}
	t.Setenv(nestedVar, "")
	limitFirst(t, 50*time.Millisecond)
	// It returns while both would still sleep, or the test does not end.
	if got := First("echo early; sleep 600 & sleep 600", nil, host.ShellFinder{}); got != "" {
		t.Errorf("got %q", got)
	}
}

// limitFirst gives the other command another time for this test.
func limitFirst(t *testing.T, limit time.Duration) {
	usual := FirstTimeout
	FirstTimeout = limit
	t.Cleanup(func() { FirstTimeout = usual })
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"context_window":{"context_window_size":200000,"used_percentage":109.6,"current_usage":{"cache_read_input_tokens":219313}},"exceeds_200k_tokens":true}`))
	f.Add([]byte(bom + `{"model":7,"context_window":{"context_window_size":-1,"used_percentage":-5}}`))
	f.Add([]byte(`{"context_window":{"context_window_size":9223372036854775807,"used_percentage":99,"current_usage":{"input_tokens":9223372036854775807,"cache_read_input_tokens":9223372036854775807}}}`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			return
		}
		fill := p.Occupancy(occupancy.Sources{Table: []host.Window{{Model: "m", Tokens: 1}}}, time.Now())
		if n := fill.Percent(); n < 0 || n > 100 || fill.Known && fill.Window.Tokens <= 0 {
			t.Fatalf("%+v from %s", fill, data)
		}
		if line := Line([]plugin.Segment{plugin.Context(fill, plugin.Budget{Percent: 45, Tokens: 1000})}, true); strings.ContainsAny(line, "\r\n") {
			t.Fatalf("line %q", line)
		}
	})
}
