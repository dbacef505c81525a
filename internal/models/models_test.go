package models

import (
	"math"
	"os"
	"strings"
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

// The windows that the plugins ship with, for ids as people and providers spell
// them. 0 is a model that nobody knows.
func TestShippedTable(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../marketplace/plugins/cc-reload/ccreload.json")
	if err != nil {
		t.Fatal(err)
	}
	profile, err := host.DecodeProfile(data)
	if err != nil {
		t.Fatal(err)
	}
	const k, m = 1000, 1_000_000
	ids := map[int]string{
		m: `claude-opus-5-5 claude-opus-5.5 anthropic/claude-opus-5.5 claude-opus-5 claude-opus-5-20260401 claude-opus-4-8
			claude-opus-4.8 us.anthropic.claude-opus-4-8-v1:0 claude-opus-4-7 claude-sonnet-5 claude-sonnet-5-5
			openrouter/anthropic/claude-sonnet-5.5:thinking claude-fable-5 claude-fable-5-2 claude-mythos-5.1 claude-haiku-5-5
			claude-opus-4-6[1m] claude-sonnet-4-5[1m] claude-sonnet-4-5-20250929[1M] sonnet[1m] opus[1m] opusplan[1m] anything[1m]
			databricks-claude-opus-4-7 vertex_ai/claude-opus-5@20260401 CLAUDE-OPUS-5-5`,
		200 * k: `claude-opus-4-6 claude-opus-4.6 claude-opus-4-5 claude-opus-4-5-20251101 claude-opus-4.5 anthropic/claude-opus-4.5
			anthropic/claude-opus-4.5:beta databricks-claude-opus-4-5 claude-opus-4-1 claude-opus-4-1-20250805 claude-opus-4.1
			claude-opus-4 claude-opus-4-0 claude-opus-4-20250514 claude-opus-4@20250514 us.anthropic.claude-opus-4-20250514-v1:0
			eu.anthropic.claude-opus-4-1-20250805-v1:0 claude-opus-4-latest claude-opus-4-fast
			claude-sonnet-4-6 claude-sonnet-4.6 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-5@20250929
			claude-sonnet-4.5 anthropic/claude-sonnet-4.5:beta openrouter/anthropic/claude-sonnet-4.5:free
			databricks-claude-sonnet-4-5 databricks-claude-sonnet-4 github_copilot/claude-sonnet-4.5 azure_ai/claude-sonnet-4-5
			global.anthropic.claude-sonnet-4-5-20250929-v1:0 apac.anthropic.claude-sonnet-4-20250514-v1:0
			bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0 bedrock/converse/anthropic.claude-sonnet-4-5-20250929-v1:0
			arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0
			anthropic.claude-sonnet-4-5-20250929-v1:0:200k claude-sonnet-4 claude-sonnet-4-0 claude-sonnet-4-20250514
			claude-haiku-4-5 claude-haiku-4-5-20251001 anthropic/claude-haiku-4.5 Claude-Haiku-4.5 poe/claude-haiku-4.5
			vertex_ai/claude-haiku-4-5@20251001 claude-3-7-sonnet-20250219 claude-3.7-sonnet anthropic/claude-3.7-sonnet:thinking
			claude-3-7-sonnet-latest claude-3-5-sonnet-20241022 anthropic/claude-3.5-sonnet anthropic.claude-3-5-sonnet-20241022-v2:0
			claude-3-5-sonnet-v2@20241022 anthropic/claude-3.5-haiku-20241022 claude-3-opus-20240229 claude-3-haiku@20240307
			glm-4.6 glm-4-6 GLM-4.6 z-ai/glm-4.6 z-ai/glm-4.6:free zai-org/GLM-4.6 zai-glm-4.6 glm-4.6-fp8 glm-4.7 glm-4.7-flash
			glm-5 z-ai/glm-5 glm-5-turbo glm-5.1 openrouter/z-ai/glm-5.1`,
		128 * k: `glm-4.5 glm-4.5-air glm-4-5-air z-ai/glm-4.5 z-ai/glm-4.5-air:free zai-org/GLM-4.5-Air-FP8 databricks-glm-4-5`,
		0: `claude-opus-4-10 claude-opus-4.9 claude-opus-45 claude-sonnet-4-50 claude-opus-6 claude-opus-5-6 claude-haiku-4-6 glm-4
			glm-4.50 glm-5.2 glm-45 gpt-5.1-codex gemini-3-pro qwen3-coder kimi-k2 deepseek-v3.2 opus sonnet haiku default reclaude-opus-4`,
	}
	n := 0
	for want, list := range ids {
		for id := range strings.FieldsSeq(list) {
			n++
			if got, ok := Table(profile.Windows).Window(id); got != want || ok != (want > 0) {
				t.Errorf("%s: %d, %v, want %d", id, got, ok, want)
			}
		}
	}
	t.Logf("%d ids", n)
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
		{"claude-opus-4.1", "claude-opus-4-1-20250805", true},
		{"anthropic/claude-sonnet-4.5:beta", "claude-sonnet-4-5", true},
		{"databricks-claude-sonnet-4-5", "claude-sonnet-4-5-20250929", true},
		{"databricks-glm-4-6", "z-ai/glm-4.6:free", true},
		{"glm-4.5", "glm-4.5-air", false},
		{"claude-opus-4", "claude-opus-4-0", true},
		{"global.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5[1m]", true},
		{"sonnet[1m]", "claude-sonnet-4-5-20250929", true},
		{"opus", "claude-opus-5-5", true},
		{"opus", "us.anthropic.claude-opus-4-1-20250805-v1:0", true},
		{"opus[1m]", "claude-sonnet-5", false},
		{"opusplan", "claude-sonnet-5", true},
		{"haiku", "sonnet", false},
		{"opus", "gpt-5", false},
		{"", "", true},
		{"", "claude-opus-5-5", false},
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
