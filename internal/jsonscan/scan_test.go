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
