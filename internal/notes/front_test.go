package notes

import (
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/term"
)

func TestFrontValue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ doc, want string }{
		"quoted":                         {"---\nsession_id: \"S_A\"\n---\n", "S_A"},
		"single quotes":                  {"---\nsession_id: 'it''s'\n---\n", "it's"},
		"bare":                           {"---\nsession_id: S_A\n---\n", "S_A"},
		"escaped":                        {"---\nsession_id: \"a \\\"b\\\" \\\\\"\n---\n", `a "b" \`},
		"CRLF":                           {"---\r\nsession_id: \"S_A\"\r\n---\r\nx", "S_A"},
		"byte order mark":                {"\ufeff---\nsession_id: S_A\n---\n", "S_A"},
		"fence without a line end":       {"---\nsession_id: S_A\n---", "S_A"},
		"empty":                          {"---\nsession_id: \"\"\n---\n", ""},
		"none at all":                    {"## Done\nsession_id: S_A\n", ""},
		"the body does not speak":        {"---\nintent: x\n---\nsession_id: S_A\n", ""},
		"never closed":                   {"---\nintent: x\nsession_id: S_A\n", ""},
		"not on the first line":          {"\n---\nsession_id: S_A\n---\n", ""},
		"not the whole line":             {"--- x\nsession_id: S_A\n---\n", ""},
		"nothing":                        {"", ""},
		"a key that only begins with it": {"---\nsession_id_old: S_A\n---\n", ""},
		"within another value":           {"---\nintent: |\n  session_id: x\n---\n", ""},
		"below another key":              {"---\nnotes:\n  session_id: x\nsession_id: S_A\n---\n", "S_A"},
		"in a list of another key":       {"---\nnotes:\n- session_id: x\n---\n", ""},
		"in a comment":                   {"---\n# session_id: x\nsession_id: S_A\n---\n", "S_A"},
		"a comment behind it":            {"---\nsession_id: \"S_A\" # mine\n---\n", "S_A"},
		"a comment behind a bare one":    {"---\nsession_id: S_A # mine\n---\n", "S_A"},
		"the number of an issue":         {"---\nsession_id: fix #12\n---\n", "fix #12"},
		"a quoted key":                   {"---\n\"session_id\": S_A\n---\n", "S_A"},
		"literal block":                  {"---\nsession_id: |\n  one\n\n  two\n---\n", "one\n\ntwo"},
		"folded block":                   {"---\nsession_id: >-\n  one\n  two\nx: y\n---\n", "one two"},
		"quoted over two lines":          {"---\nsession_id: \"one\n  two\"\n---\n", "one two"},
	} {
		if got := FrontValue(tt.doc, "session_id"); got != tt.want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestSetFront(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		doc, want string
		ok        bool
	}{
		"replaced":       {"---\na: 1\nsession_id: \"x\"\nb: 2\n---\nbody\n", "---\na: 1\nsession_id: \"new\"\nb: 2\n---\nbody\n", true},
		"added":          {"---\na: 1\n---\nbody", "---\na: 1\nsession_id: \"new\"\n---\nbody", true},
		"named twice":    {"---\nsession_id: x\nsession_id: y\n---\n", "---\nsession_id: \"new\"\n---\n", true},
		"CRLF":           {"---\r\nsession_id: x\r\n---\r\nbody\r\nx\n", "---\r\nsession_id: \"new\"\r\n---\r\nbody\r\nx\n", true},
		"body untouched": {"---\nsession_id: x\n---\nsession_id: x\n\xff\x00---\n", "---\nsession_id: \"new\"\n---\nsession_id: x\n\xff\x00---\n", true},
		"never closed":   {"---\nsession_id: x\nbody\n", "---\nsession_id: x\nbody\n", false},
		"none":           {"body\n", "body\n", false},
		"block scalar":   {"---\nsession_id: |\n  x\n  y\n\nb: 2\n---\n", "---\nsession_id: \"new\"\nb: 2\n---\n", true},
		"like another value's lines": {
			"---\nintent: |\n  change:\n  session_id: becomes a uuid\n\n  x\nnotes:\n- a\n  session_id: keep\nsession_id: x\n---\n",
			"---\nintent: |\n  change:\n  session_id: becomes a uuid\n\n  x\nnotes:\n- a\n  session_id: keep\nsession_id: \"new\"\n---\n", true,
		},
		"comment kept": {"---\nsession_id: x\n# why\n---\n", "---\nsession_id: \"new\"\n# why\n---\n", true},
		"empty block":  {"---\n---\nbody", "---\nsession_id: \"new\"\n---\nbody", true},
	} {
		got, ok := SetFront(tt.doc, "session_id", "new")
		if got != tt.want || ok != tt.ok {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	if got := WithFront("body", "k", "a\"b\\c\nd"); got != "---\nk: \"a\\\"b\\\\c d\"\n---\nbody" || FrontValue(got, "k") != `a"b\c d` {
		t.Errorf("%q", got)
	}
}

func FuzzFront(f *testing.F) {
	for _, s := range []string{
		"", "---", "---\n---", "---\nsession_id: \"S\"\n---\nbody", "---\r\nsession_id: x\r\n---\r\nb", "\ufeff---\na: b\n---\n",
		"---\nintent: |\n  session_id: x\n\n  y\nsession_id: >-\n  a\n# c\n---\n", "---\n- session_id: x\n\"session_id\": 'a''b' # c\n---\n",
		"---\nopen\n", "--- \nsession_id : x\n--- \n", "---\nsession_id: \"\\\n---\n", "---\n\x00:\xff\n---\n\n---\n",
	} {
		f.Add(s, "value")
	}
	f.Add("---\n---\n", "a: \"b\"\n---\nevil: 1\\")
	f.Fuzz(func(t *testing.T, doc, value string) {
		got, ok := SetFront(doc, "session_id", value)
		if ok != HasFront(doc) || !ok && got != doc {
			t.Fatalf("%q: %v, %q", doc, ok, got)
		}
		if !ok {
			return
		}
		if Body(got) != Body(doc) {
			t.Fatalf("the body changed: %q", got)
		}
		if v := FrontValue(got, "session_id"); v != term.OneLine(value) {
			t.Fatalf("set %q, got %q", value, v)
		}
		if kept := FrontValue(doc, "intent"); kept != FrontValue(got, "intent") {
			t.Fatalf("intent was %q: %q", kept, got)
		}
		if again, _ := SetFront(got, "session_id", value); again != got {
			t.Fatalf("not stable: %q, %q", got, again)
		}
		if strings.Count(got, "\n") > strings.Count(doc, "\n")+1 {
			t.Fatalf("a value broke the line: %q", got)
		}
	})
}
