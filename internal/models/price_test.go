package models

import (
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

func TestPriceOfTheDay(t *testing.T) {
	t.Parallel()
	cost := func(model, from string, input float64) host.Price {
		return host.Price{Model: model, From: from, Rates: host.Rates{Input: input}}
	}
	table := Prices{
		cost("claude-sonnet-5", "", 5),
		cost("claude-sonnet-5-5", "2026-10-07", 2), // the order of the rows says nothing
		cost("claude-sonnet-5-5", "", 1),
		cost("claude-sonnet-5-5", "2026-12-01", 3),
		cost("claude-haiku-5-5", "2026-10-07", 4),
		cost("", "", 9),
	}
	for _, tt := range []struct {
		id, day string
		want    float64
	}{
		{"claude-sonnet-5-5", "2026-10-06", 1},
		{"claude-sonnet-5-5", "2026-10-07", 2},
		{"claude-sonnet-5-5", "2026-11-30", 2},
		{"claude-sonnet-5-5", "2026-12-01", 3},
		{"claude-sonnet-5-5", "2030-01-01", 3},
		{"us.anthropic.claude-sonnet-5.5-20260928-v1:0", "2026-10-08", 2},
		{"claude-sonnet-5-5[1m]", "2026-10-08", 2},
		{"claude-sonnet-5", "2026-10-08", 5},
		{"claude-haiku-5-5", "2026-10-06", 0}, // no price yet
		{"claude-haiku-5-5", "2026-10-07", 4},
		{"claude-sonnet-5-6", "2026-10-08", 0},
		{"gpt", "2026-10-08", 0},
		{"", "2026-10-08", 0},
	} {
		got, ok := table.Of(tt.id, tt.day)
		if got.Input != tt.want || ok != (tt.want > 0) {
			t.Errorf("%s on %s: %v, %t, want %v", tt.id, tt.day, got.Input, ok, tt.want)
		}
	}
}

func TestUndated(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"claude-haiku-4-5-20251001": "claude-haiku-4-5", "claude-opus-5@20260401": "claude-opus-5", "claude-opus-5-5": "claude-opus-5-5",
		"20251001": "20251001", "-20251001": "-20251001", "glm-4.6": "glm-4.6", "": "",
	} {
		if got := Undated(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
}
