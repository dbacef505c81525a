package gen

import (
	"bytes"
	"encoding/json"
	"testing"
)

// What encode writes is what encoding/json does for maps, whose keys it sorts.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{
		`null`, `[]`, `{}`, `"<&>\u2028\ud800\t\""`, `[1, 2.50, -1e300, true, [], {}, [[{}]]]`,
		`{"b": {"d": 1, "c": [1, {"z": "}", "a": "]"}]}, "a b": 1, "a": 2, "a\"": 3, "a\\": 4, "": 5, "<": 6, "\u0001": 7, "é": 8}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var v any
		if json.Unmarshal(data, &v) != nil {
			return
		}
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got := encode(v); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s\nwant %s", got, want.Bytes())
		}
		p := pluginFileJSON{Name: "<n>", more: map[string]any{"description": []any{v}, "a": 1, "license": nil}, unchecked: map[string]any{"b": v}}
		want.Reset()
		if err := enc.Encode(map[string]any{"name": "<n>", "description": []any{v}, "a": 1, "b": v}); err != nil {
			t.Fatal(err)
		}
		if got := encode(p); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s\nwant %s", got, want.Bytes())
		}
	})
}
