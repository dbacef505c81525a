package record

import (
	"reflect"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"":                      nil,
		"  # words":             nil,
		"hook Stop # here":      {"hook", "Stop"},
		`stdout 'a b' "c d"`:    {"stdout", "a b", `"c`, `d"`},
		`set k='it''s' 'x'y ''`: {"set", "k=it's", "xy", ""},
		"a#b\tc\r":              {"a#b", "c"},
	} {
		if got, err := fields(line); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %q, %v, want %q", line, got, err, want)
		}
	}
	for _, word := range []string{"", "a b", "it's", "#", "$x", "a\\.b", "!"} {
		if got, err := fields(quote1(word)); err != nil || len(got) != 1 || got[0] != word {
			t.Errorf("%q is written %q and read as %q, %v", word, quote1(word), got, err)
		}
	}
	if _, err := fields("a 'b"); err == nil {
		t.Error("a quote may stay open")
	}
}

func FuzzReadCase(f *testing.F) {
	for _, seed := range []string{
		"root .\nhook Stop\nexits 0\n! stderr .\ncmp stdout want\n\n-- call.jsonl --\n{}\n-- want --\n",
		"!", "! root x", "hook", "set 'a", "-- x --", "-- --\n", "exists ''\n# é",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ReadCase("c.txtar", []byte(text))
		if err != nil {
			if !strings.HasPrefix(err.Error(), "c.txtar:") {
				t.Errorf("the error names no line: %v", err)
			}
			return
		}
		// A case is written as it was read, and then stays as it is.
		again, err := ReadCase("c.txtar", c.Format())
		if err != nil || string(again.Format()) != string(c.Format()) {
			t.Errorf("%q is written as %q, %v", text, c.Format(), err)
		}
	})
}
