package models

import (
	"math"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

var table = Table{
	{Model: "claude-opus-4", Tokens: 200_000},
	{Model: "claude-opus-4-1", Tokens: 210_000},
	{Model: "claude-opus-4-10", Tokens: 220_000},
	{Model: "claude-opus-5-5", Tokens: 1_000_000},
	{Model: "claude-haiku-5-5", Tokens: 200_000},
	{Model: "Big-Model", Tokens: 500_000},
	{Model: "", Tokens: 1},
}

func TestTable(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]int{
		"claude-opus-4":                              200_000,
		"claude-opus-4-20250514":                     200_000,
		"claude-opus-4-1":                            210_000,
		"claude-opus-4-1-20250805":                   210_000,
		"claude-opus-4-10":                           220_000,
		"claude-opus-4-100":                          200_000,
		"claude-opus-45":                             0,
		"claude-opus-4.1":                            0,
		"claude-opus-4[1m]":                          1_000_000,
		"some-model[1M]":                             1_000_000,
		"claude-opus-4[beta]":                        200_000,
		"us.anthropic.claude-opus-4-1-20250805-v1:0": 210_000,
		"anthropic/claude-opus-4-1":                  210_000,
		"claude-opus-4-1@20250805":                   210_000,
		"arn:aws:bedrock:eu-west-1:1:model/eu.anthropic.claude-opus-4-1-v1:0": 210_000,
		" CLAUDE-OPUS-4-1 ": 210_000,
		"big-model":         500_000,
		"not-claude-opus-4": 0,
		"notclaude-opus-4 anthropic.claude-opus-4": 200_000,
		"":    0,
		"gpt": 0,
	} {
		got, ok := table.Window(id)
		if got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %t, want %d", id, got, ok, want)
		}
	}
	if n, ok := Table(nil).Window("claude-opus-4"); ok {
		t.Errorf("an empty table says %d", n)
	}
}

func TestBare(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"claude-opus-5-5[1m]": "claude-opus-5-5", "claude-opus-5-5": "claude-opus-5-5", " a [x] ": "a", "": "", "]": "]"} {
		if got := Bare(id); got != want {
			t.Errorf("Bare(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"claude-opus-5-5[1m]", "claude-opus-5-5", true},
		{"claude-opus-4-1-20250805", "claude-opus-4-1", true},
		{"us.anthropic.claude-opus-4-1-20250805-v1:0", "claude-opus-4-1", true},
		{"claude-opus-4-1@20250805", "Claude-Opus-4-1", true},
		{"anthropic/claude-opus-4-1", "claude-opus-4-1-latest", true},
		{"claude-opus-4-1", "claude-opus-4-10", false},
		{"claude-opus-4-1", "claude-opus-4", false},
		{"claude-opus-5-5", "claude-haiku-5-5", false},
		{"qwen:7b", "qwen:14b", false},
	} {
		if got := Same(tt.a, tt.b); got != tt.want {
			t.Errorf("Same(%q, %q) = %t", tt.a, tt.b, got)
		}
	}
}

func TestParseTokens(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int{"200000": 200_000, " 1000 ": 1000, "999": 0, "0": 0, "-5000": 0, "200k": 0, "2e5": 0, "": 0, "99999999999999999999": 0} {
		if got := ParseTokens(s); got != want {
			t.Errorf("ParseTokens(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tokens, window, want int }{
		{0, 200_000, 0},
		{1, 200_000, 0},
		{58, 200, 29},
		{98_999, 200_000, 49},
		{99_000, 200_000, 50},
		{100_000, 200_000, 50},
		{200_000, 200_000, 100},
		{219_313, 200_000, 100},
		{-5, 200_000, 0},
		{5, 0, 0},
		{5, -1, 0},
		{math.MaxInt, 5, 100},
		{math.MaxInt / 2, math.MaxInt, 50},
		{5, math.MaxInt, 0},
	} {
		if got := Percent(tt.tokens, tt.window); got != tt.want {
			t.Errorf("Percent(%d, %d) = %d, want %d", tt.tokens, tt.window, got, tt.want)
		}
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	const opus, haiku = "claude-opus-5-5", "claude-haiku-5-5"
	for name, tt := range map[string]struct {
		in   Inputs
		want Window
	}{
		"nothing is known":     {Inputs{}, Window{Tokens: Unknown, Source: FromNothing}},
		"unknown model":        {Inputs{LiveModel: "x"}, Window{Tokens: Unknown, Source: FromNothing, Model: "x"}},
		"table":                {Inputs{LiveModel: haiku}, Window{Tokens: 200_000, Source: FromTable, Model: haiku}},
		"stamp":                {Inputs{StampModel: haiku, StampWindow: 300_000, LiveModel: haiku}, Window{Tokens: 300_000, Source: FromStamp, Model: haiku}},
		"host":                 {Inputs{HostSize: 400_000, StampModel: haiku, StampWindow: 300_000}, Window{Tokens: 400_000, Source: FromHost, Model: haiku}},
		"config":               {Inputs{Pinned: 50_000, HostSize: 400_000, StampModel: haiku, StampWindow: 300_000}, Window{Tokens: 50_000, Source: FromConfig, Model: haiku}},
		"invalid figures":      {Inputs{Pinned: 999, HostSize: -1, StampModel: haiku, StampWindow: 5, AutoCompactWindow: 10}, Window{Tokens: 200_000, Source: FromTable, Model: haiku}},
		"stamp without window": {Inputs{StampModel: haiku + "[1m]", LiveModel: haiku}, Window{Tokens: 1_000_000, Source: FromTable, Model: haiku + "[1m]"}},
		"a bare id does not downgrade a [1m] stamp": {
			Inputs{StampModel: haiku + "[1m]", StampWindow: 1_000_000, LiveModel: haiku, Seen: 150_000},
			Window{Tokens: 1_000_000, Source: FromStamp, Model: haiku + "[1m]"},
		},
		"a dated id is no switch": {
			Inputs{StampModel: haiku, StampWindow: 300_000, LiveModel: haiku + "-20260101"},
			Window{Tokens: 300_000, Source: FromStamp, Model: haiku},
		},
		"a switch restamps": {
			Inputs{StampModel: opus + "[1m]", StampWindow: 1_000_000, LiveModel: haiku, Seen: 120_003},
			Window{Tokens: 200_000, Source: FromTable, Restamp: true, Model: haiku, Stamp: 200_000},
		},
		"a switch to an unknown model": {
			Inputs{StampModel: haiku, StampWindow: 200_000, LiveModel: "x"},
			Window{Tokens: Unknown, Source: FromNothing, Restamp: true, Model: "x", Stamp: Unknown},
		},
		"a switch while pinned": {
			Inputs{Pinned: 50_000, StampModel: opus, StampWindow: 1_000_000, LiveModel: haiku},
			Window{Tokens: 50_000, Source: FromConfig, Restamp: true, Model: haiku, Stamp: 200_000},
		},
		"case F06: more seen than the table says": {
			Inputs{LiveModel: haiku, Seen: 219_313}, Window{Tokens: 1_000_000, Source: FromTable, Raised: true, Model: haiku},
		},
		"case F06: more seen than the host says": {
			Inputs{HostSize: 200_000, LiveModel: haiku, Seen: 219_313}, Window{Tokens: 1_000_000, Source: FromHost, Raised: true, Model: haiku},
		},
		"raised to the next size":      {Inputs{HostSize: 128_000, Seen: 150_000}, Window{Tokens: 200_000, Source: FromHost, Raised: true}},
		"raised beyond all sizes":      {Inputs{HostSize: 1_000_000, Seen: 1_200_000}, Window{Tokens: 1_200_000, Source: FromHost, Raised: true}},
		"exactly full is not too much": {Inputs{HostSize: 200_000, Seen: 200_000}, Window{Tokens: 200_000, Source: FromHost}},
		"pinned is never raised":       {Inputs{Pinned: 200_000, Seen: 219_313}, Window{Tokens: 200_000, Source: FromConfig}},
		"case F06: auto-compact caps":  {Inputs{LiveModel: opus, AutoCompactWindow: 300_000}, Window{Tokens: 300_000, Source: FromTable, Capped: true, Model: opus}},
		"a larger one does not":        {Inputs{LiveModel: haiku, AutoCompactWindow: 300_000}, Window{Tokens: 200_000, Source: FromTable, Model: haiku}},
		"it caps what was raised":      {Inputs{LiveModel: haiku, Seen: 219_313, AutoCompactWindow: 300_000}, Window{Tokens: 300_000, Source: FromTable, Raised: true, Capped: true, Model: haiku}},
		"it caps what is pinned":       {Inputs{Pinned: 500_000, AutoCompactWindow: 300_000}, Window{Tokens: 300_000, Source: FromConfig, Capped: true}},
		"a stamp keeps the real size":  {Inputs{StampModel: haiku, LiveModel: opus, AutoCompactWindow: 300_000}, Window{Tokens: 300_000, Source: FromTable, Capped: true, Restamp: true, Model: opus, Stamp: 1_000_000}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.in.Table = table
			got := Resolve(tt.in)
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if p := Percent(tt.in.Seen, got.Tokens); p < 0 || p > 100 {
				t.Errorf("%d %%", p)
			}
		})
	}
}

func FuzzTable(f *testing.F) {
	for _, id := range []string{"claude-opus-4-1", "us.anthropic.claude-opus-4-1-20250805-v1:0", "a[1m]", "x@1:2/3", "-v1:0"} {
		f.Add(id, "claude-opus-4")
	}
	f.Fuzz(func(t *testing.T, id, model string) {
		if !Same(id, id) || !Same(Bare(id), id) {
			t.Fatalf("%q is not itself", id)
		}
		one := Table{host.Window{Model: model, Tokens: 5000}}
		if n, ok := one.Window(id); ok && n != 5000 && n != Unknown || !ok && n != 0 {
			t.Fatalf("%d, %t", n, ok)
		}
	})
}
