package statusline

import (
	"encoding/json"
	"strings"
	"testing"
)

// shapes are settings as people have them. Each must come back to the byte.
var shapes = map[string]string{
	"nothing":               "",
	"blank":                 " \n\n",
	"an empty object":       "{}",
	"an empty object, open": "{\n}\n",
	"two spaces":            "{\n  \"model\": \"opus\",\n  \"env\": {\n    \"A\": \"}\\\"{\"\n  }\n}\n",
	"tabs":                  "{\n\t\"model\": \"opus\"\n}\n",
	"no newline at the end": "{\n  \"model\": \"opus\"\n}",
	"CRLF":                  "{\r\n  \"model\": \"opus\",\r\n  \"b\": [1, 2]\r\n}\r\n",
	"byte order mark":       bom + "{\n  \"model\": \"opus\"\n}\n",
	"one line":              `{"model": "opus", "b": true}`,
	"packed":                `{"model":"opus","b":[{"c":"]"}],"n":-1.5e3,"z":null}`,
	"a line of their own":   "{\n  \"statusLine\": {\n    \"type\": \"command\",\n    \"command\": \"printf '%s' \\\"a\\\\b\\\"\",\n    \"padding\": 0\n  },\n  \"b\": 1\n}\n",
	"a key of hooks":        "{\"statusLine\": {\"type\": \"command\", \"shell\": \"powershell\", \"command\": \"x\"}}\n",
	"odd spacing":           "{ \"b\" :1 ,\n\n   \"statusLine\" : { \"command\" : \"x\" , \"type\":\"command\" } }  \n",
	"escaped name":          `{"statusLine":{"type":"command","command":"x"}}`,
	"null":                  "{\n  \"statusLine\": null\n}\n",
	"another kind":          "{\n  \"statusLine\": {\"type\": \"text\", \"text\": \"hi\"},\n  \"b\": 1\n}\n",
	"no command":            "{\"statusLine\": {\"type\": \"command\"}}",
	"twice":                 `{"statusLine":{"type":"command","command":"old"},"statusLine":{"type":"command","command":"x"}}`,
	"unicode":               "{\n  \"é🙂\": \"\\ud83d\\ude42 ]}\"\n}\n",
}

func TestSettingsComeBackToTheByte(t *testing.T) {
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			before, err := parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			during := before.withCommand("~/w")
			if got := during.command(); got != "~/w" {
				t.Fatalf("command %q in %s", got, during)
			}
			if _, err := parse(during); err != nil {
				t.Fatalf("%v in %s", err, during)
			}
			if again := during.withCommand("~/w"); string(again) != string(during) {
				t.Errorf("a second edit changed it to %s", again)
			}
			// Spacing inside an empty object is the one thing that only the
			// copy of the settings brings back (TestUninstallPutsTheSettingsBack).
			if back := during.restored(before); string(back) != string(before) && name != "an empty object, open" {
				t.Errorf("got  %q\nwant %q", back, before)
			}
		})
	}
}

// What the user changes while our line is in stays when it is taken out.
func TestSettingsKeepWhatTheUserChanged(t *testing.T) {
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			before, err := parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			during := before.withCommand("~/w")
			open := during.open()
			edited := during.splice(open+1, open+1, `"added":{"statusLine":{"command":"decoy"}},`)
			back, err := parse(edited.restored(before))
			if err != nil {
				t.Fatalf("%v in %s", err, edited.restored(before))
			}
			if strings.Contains(string(back), "~/w") || !strings.Contains(string(back), "decoy") {
				t.Errorf("got %s", back)
			}
			if got, want := back.command(), before.command(); got != want {
				t.Errorf("command %q, want %q", got, want)
			}
		})
	}
}

func TestSettingsKeepTheLayout(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "{\n  \"statusLine\": {\"type\": \"command\", \"command\": \"w\"}\n}\n",
		`{"a":1}`:              `{"a":1,"statusLine": {"type": "command", "command": "w"}}`,
		"{\n\t\"a\": 1\n}":     "{\n\t\"a\": 1,\n\t\"statusLine\": {\"type\": \"command\", \"command\": \"w\"}\n}",
		"{\r\n  \"a\": 1\r\n}": "{\r\n  \"a\": 1,\r\n  \"statusLine\": {\"type\": \"command\", \"command\": \"w\"}\r\n}",
		`{"statusLine":{"type":"command","command":"x","padding":2}}`: `{"statusLine":{"type":"command","command":"w","padding":2}}`,
	} {
		s, err := parse([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(s.withCommand("w")); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestSettingsRefuse(t *testing.T) {
	for in, want := range map[string]string{
		"{\n  \"a\": 1,\n}":         "line 3",
		"{\n  // note\n  \"a\": 1}": "line 2",
		"[]":                        "object",
		"null":                      "object",
		"7":                         "object",
		`{"a":`:                     "line 1",
		"{} {}":                     "line 1",
	} {
		if _, err := parse([]byte(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", in, err, want)
		}
	}
}

func FuzzSettings(f *testing.F) {
	for _, text := range shapes {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before, err := parse([]byte(text))
		if err != nil {
			return
		}
		during := before.withCommand("~/w")
		var v any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(string(during), bom)), &v); err != nil {
			t.Fatalf("%v in %q", err, during)
		}
		if during.command() != "~/w" {
			t.Fatalf("command %q in %q", during.command(), during)
		}
		back := during.restored(before)
		if len(before.all()) > 0 && string(back) != string(before) {
			t.Fatalf("got %q, want %q", back, before)
		}
	})
}
