package usage

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestMilliseconds(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"2026-12-02T02:22:22.825Z": "2026-12-02T02:22:22.825Z", "2024-02-29T00:00:00.000Z": "2024-02-29T00:00:00Z", "2026-12-02T02:22:22Z": "2026-12-02T02:22:22Z",
		"2026-12-02T02:22:22.825999+02:00": "2026-12-02T00:22:22.825Z", "2026-12-31T23:59:59.999Z": "2026-12-31T23:59:59.999Z",
	} {
		when, err := time.Parse(time.RFC3339Nano, want)
		if got := milliseconds([]byte(`"` + in + `"`)); err != nil || got != when.UnixMilli() {
			t.Errorf("%s is %d, want %d", in, got, when.UnixMilli())
		}
	}
	for _, in := range []string{
		"", "2026", "2026-02-29T00:00:00.000Z", "2026-13-01T00:00:00.000Z", "2026-12-00T00:00:00.000Z", "2026-12-02T24:00:00.000Z", "2026-12-02T02:60:22.825Z",
		"2026-12-02T02:22:61.825Z", "1969-12-31T23:59:59.999Z", "2026-12-02T02:22:2a.825Z", "2026-12-02 02:22:22.825Z", "99999-12-02T02:22:22Z",
	} {
		if got := milliseconds([]byte(`"` + in + `"`)); got != -1 {
			t.Errorf("%s is %d", in, got)
		}
	}
	if got := milliseconds([]byte("17")); got != -1 {
		t.Errorf("a number is %d", got)
	}
}

// FuzzRow holds the row reader against encoding/json: for whatever that decodes, both
// agree on whether it is a reply's, and on what it says.
func FuzzRow(f *testing.F) {
	usage := `"input_tokens":1,"output_tokens":2,"cache_read_input_tokens":3,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":4,"ephemeral_1h_input_tokens":5},"service_tier":"batch"`
	for _, s := range []string{
		reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", "", usage),
		reply("2026-11-30T10:00:00.000Z", `m\"é`, "r1", "s1", `"isSidechain":true,"forkedFrom":{"sessionId":"s0"},`, usage+`,"iterations":[{"type":"advisor_message","model":"x","input_tokens":7},{"type":"message"},3]`),
		reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", `"isApiErrorMessage":true,`, usage),
		`{"type":"assistant","message":{"usage":{}},"timestamp":"2026-11-30T10:00:00Z"}`,
	} {
		f.Add([]byte(strings.TrimSpace(s)))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var r row
		got := r.parse(line)
		r.advice(func([]byte, tokens) {})
		var want struct {
			Type      string `json:"type"`
			Request   string `json:"requestId"`
			Session   string `json:"sessionId"`
			Time      string `json:"timestamp"`
			Sidechain bool   `json:"isSidechain"`
			Failed    bool   `json:"isApiErrorMessage"`
			Error     any    `json:"error"`
			Message   struct {
				ID    string                     `json:"id"`
				Model string                     `json:"model"`
				Usage map[string]json.RawMessage `json:"usage"`
			} `json:"message"`
		}
		keys := map[string]int{}
		if json.Unmarshal(line, &want) != nil || !plainKeys(line, keys) {
			return
		}
		when, err := time.Parse(time.RFC3339Nano, want.Time)
		is := want.Type == "assistant" && !want.Failed && want.Error == nil && len(want.Message.Usage) > 0 && want.Message.Model != "<synthetic>" &&
			err == nil && when.Unix() >= 0 && when.Year() <= 9999
		if got != is {
			t.Fatalf("%q is a reply's: %t, want %t", line, got, is)
		}
		var in uint32
		known := json.Unmarshal(want.Message.Usage["input_tokens"], &in) == nil
		if is && (string(r.request) != want.Request || string(r.session) != want.Session || string(r.id) != want.Message.ID || string(r.model) != want.Message.Model ||
			known && r.tokens[input] != in || r.time != when.UnixMilli() || r.sidechain != want.Sidechain) {
			t.Fatalf("%q: %+v", line, r)
		}
	})
}

// plainKeys reports whether no object of a JSON text has a key twice, in another
// case, or with an escape: there encoding/json has ways of its own.
func plainKeys(data []byte, keys map[string]int) bool {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		if s, ok := token.(string); ok {
			keys[strings.ToLower(s)]++
		}
	}
	text := string(data)
	for _, key := range []string{"type", "requestId", "sessionId", "timestamp", "isSidechain", "isApiErrorMessage", "error", "message", "id", "model", "usage", "input_tokens"} {
		if keys[strings.ToLower(key)] > 1 || keys[strings.ToLower(key)] != strings.Count(text, `"`+key+`"`) {
			return false
		}
	}
	return true
}
