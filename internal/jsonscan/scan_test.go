package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzScan holds the scanner against encoding/json: what that accepts as an
// object or a string is read to the same members and the same text.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, ` { "a" : [1, {"b": "]}"}, "\\"] , "c":null} `, `{"a":"x","a":1.5e3}`, `{"a":`, `{"a":1,}`, `{"a" 1}`,
		`"plain"`, `"\"\\\/\b\f\n\r\t"`, `"\u00e9\ud83d\ude42"`, `"\ud800"`, `"\ud800\u0041"`, `"\x"`, "\"a\xffb\"", `"` + strings.Repeat(`\\`, 40) + `"`,
		`"` + strings.Repeat("x", 15) + `\"` + strings.Repeat("y", 20) + `"`, "{\"a\":\"\u2028\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var object map[string]json.RawMessage
		if json.Unmarshal(data, &object) == nil && object != nil {
			got := map[string]string{}
			if !Object(data, func(k, v []byte) {
				key := make([]byte, 0, len(k)+2)
				key = append(append(append(key, '"'), k...), '"')
				got[Text(key)] = string(v)
			}) {
				t.Fatalf("%q is an object", data)
			}
			for k, v := range object {
				if got[k] != string(v) {
					t.Fatalf("member %q is %q, want %q", k, got[k], v)
				}
			}
			if len(got) != len(object) {
				t.Fatalf("%d members, want %d", len(got), len(object))
			}
		}
		findsLikeMember(t, data, object)
		withinLikeObject(t, data, object)
		var list []json.RawMessage
		if json.Unmarshal(data, &list) == nil && list != nil {
			n := 0
			if !Array(data, func(v []byte) {
				if n < len(list) && string(v) != string(list[n]) {
					t.Fatalf("element %d is %q, want %q", n, v, list[n])
				}
				n++
			}) || n != len(list) {
				t.Fatalf("%q: %d elements, want %d", data, n, len(list))
			}
		}
		trimmed := []byte(strings.Trim(string(data), " \t\r\n"))
		var text string
		if json.Unmarshal(trimmed, &text) == nil && string(trimmed) != "null" {
			if got := Text(trimmed); got != text {
				t.Fatalf("text of %q is %q, want %q", trimmed, got, text)
			}
		}
	})
}

// findsLikeMember holds Find against Member, for each member of an object and for
// one that it has not. Of a key that is there twice, either may be found.
func findsLikeMember(t *testing.T, data []byte, object map[string]json.RawMessage) {
	t.Helper()
	if object == nil {
		Find(data, "type") // does not panic
		return
	}
	keys := map[string]int{"no such key": 1}
	Object(data, func(k, _ []byte) { keys[string(k)]++ })
	for key, n := range keys {
		if got, want := Find(data, key), Member(data, key); n == 1 && string(got) != string(want) {
			t.Fatalf("%q of %q is %q, want %q", key, data, got, want)
		}
	}
}

// withinLikeObject holds Within against encoding/json: all members, and those of the
// members that are objects, at every depth.
func withinLikeObject(t *testing.T, data []byte, object map[string]json.RawMessage) {
	t.Helper()
	got := ""
	everything := func(_, _ []byte) bool { return true }
	ok := Within(data, everything, func(in, key, value []byte) { got += string(in) + "." + string(key) + "=" + string(value) + "\n" })
	if object == nil {
		return
	}
	var walk func(in string, data []byte) string
	walk = func(in string, data []byte) (all string) {
		if !Object(data, func(key, value []byte) {
			if value[0] == '{' {
				all += walk(string(key), value)
				return
			}
			all += in + "." + string(key) + "=" + string(value) + "\n"
		}) {
			t.Fatalf("%q is an object", data)
		}
		return all
	}
	if want := walk("", data); !ok || got != want {
		t.Fatalf("%q: %t\n%s\nwant\n%s", data, ok, got, want)
	}
	flat := 0
	Within(data, func(_, _ []byte) bool { return false }, func(in, _, _ []byte) {
		if flat++; in != nil {
			t.Fatalf("a member of %q, which was to be stepped over", in)
		}
	})
	if flat < len(object) {
		t.Fatalf("%d members, want %d", flat, len(object))
	}
}

// Find comes to a member from either end, past what only looks like one.
func TestFind(t *testing.T) {
	deep := `{"type":"inner","a":["type\\",{"type":1}]}`
	long := `[` + strings.Repeat(`"x",`, maxBack) + `1]`
	for _, s := range []string{
		`{"type":"t"}`, ` { "type" : "t" } `, `{"a":1,"type":"t","b":` + deep + `}`, `{"b":` + deep + `,"type":"t"}`, `{"b":` + deep + `,"type":"t","c":` + deep + `}`,
		`{"b":` + deep + `,"type":"t","c":` + long + `}`, `{"b":` + long + `,"type":"t","c":` + long + `,"d":"e"}`, `{"b":` + long + `,"type":"t","c":"\\\"\\","d":-1.5e3,"e":{},"f":[]}`,
		`{"b":{},"type":"t","c":"\",\"type\":\"u\""}`, `{"b":"\"type\":\"u\"","c":{},"type":"t"}`,
	} {
		if !json.Valid([]byte(s)) {
			t.Fatalf("%s is no JSON", s)
		}
		if got := Find([]byte(s), "type"); string(got) != `"t"` {
			t.Errorf("%s: %q", s, got)
		}
		if got := Find([]byte(s), "none"); got != nil {
			t.Errorf("%s has none: %q", s, got)
		}
	}
	for _, s := range []string{"", "{", "}", "{}", `{"a"}`, `{"a":}`, `{:}`, `"}`, `{"`, `{"a":1,}`, `{,}`, `{"a":"b}`, `{a:1}`, "\x00"} {
		if got := Find([]byte(s), "type"); got != nil {
			t.Errorf("%q: %q", s, got)
		}
	}
}

func TestPrefix(t *testing.T) {
	for data, want := range map[string]string{
		`{"a":1,"b":"x","c":[1,{`: `a=1 b="x" c=`,
		`{"a":1`:                  `a=`,
		`{"a":true`:               `a=`,
		`{"a":"x`:                 `a=`,
		`{"a":"x"`:                `a="x" `,
		`{"a":{} , "b`:            `a={} `,
		`{"a" `:                   ``,
		`{`:                       ``,
		`[1,2`:                    ``,
		``:                        ``,
	} {
		got := ""
		Prefix([]byte(data), func(key, value []byte) bool {
			got += string(key) + "=" + string(value)
			if value != nil {
				got += " "
			}
			return true
		})
		if got != want {
			t.Errorf("%s: got %q, want %q", data, got, want)
		}
	}
	Prefix([]byte(`{"a":1,"b":2}`), func(key, _ []byte) bool {
		if string(key) != "a" {
			t.Errorf("visited %s after it was enough", key)
		}
		return false
	})
}

func TestScanRefuses(t *testing.T) {
	ignore := func(_, _ []byte) {}
	for _, s := range []string{"", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":"`, `{"a":[1}`, `[]`, `{} x`, `{"a":}`, `x`, `{"a":{"b":1}`} {
		if Object([]byte(s), ignore) {
			t.Errorf("%q is taken for an object", s)
		}
	}
}

func TestValues(t *testing.T) {
	if n, ok := Count([]byte("12")); n != 12 || !ok {
		t.Errorf("12 is %d, %v", n, ok)
	}
	for _, s := range []string{"", "-1", "1.0", "1e3", `"1"`, "99999999999999999999"} {
		if n, ok := Count([]byte(s)); ok {
			t.Errorf("%s is %d", s, n)
		}
	}
	if !Is([]byte(`"a"`), "a") || Is([]byte(`"ab"`), "a") || Is([]byte(`a`), "a") {
		t.Error("Is")
	}
	if Plain([]byte(`"a\n"`)) != "" || Plain([]byte(`"ab"`)) != "ab" || Plain([]byte(`1`)) != "" {
		t.Error("Plain")
	}
}
