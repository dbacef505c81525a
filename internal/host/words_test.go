package host

import "testing"

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"allowed-tools", "context_budget_mode", "context_budget_pct", "headless", "max", "min", "SessionStart"}
	for word, want := range map[string]string{
		"context_budget_percent": "context_budget_pct",
		"context-budget-pct":     "context_budget_pct",
		"budget_pct":             "context_budget_pct",
		"headles":                "headless",
		"HEADLESS":               "headless",
		"mon":                    "min",
		"allowed_tool":           "allowed-tools",
		"sesionstart":            "SessionStart",
		"color":                  "",
		"mxa":                    "max",
		"m":                      "", // part of most
		"foo":                    "",
		"maxwell":                "",
		"header":                 "",
		"":                       "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Nearest("x", nil); got != "" {
		t.Errorf("of no words: %q", got)
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"min", "mni", 1}, {"ab", "bca", 3}} {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestEither(t *testing.T) {
	t.Parallel()
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := Either(words); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
