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
		"claude-opus-4-100":                          0,
		"claude-opus-4-0":                            200_000,
		"claude-opus-45":                             0,
		"claude-opus-4.1":                            210_000,
		"claude-opus-4[1m]":                          1_000_000,
		"some-model[1M]":                             1_000_000,
		"claude-opus-4[beta]":                        200_000,
		"us.anthropic.claude-opus-4-1-20250805-v1:0": 210_000,
		"anthropic/claude-opus-4-1":                  210_000,
		"claude-opus-4-1@20250805":                   210_000,
		"arn:aws:bedrock:eu-west-1:1:model/eu.anthropic.claude-opus-4-1-v1:0": 210_000,
		" CLAUDE-OPUS-4-1 ": 210_000,
		"big-model":         500_000,
		"not-claude-opus-4": 200_000,
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
