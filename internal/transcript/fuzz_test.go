package transcript

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ccreload/ccreload/internal/host"
)

var farAway = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// FuzzTail holds the backward reader against the promises of Tail, and
// against a reading of the file with encoding/json.
func FuzzTail(f *testing.F) {
	for row := range strings.Lines(recorded(f, "compact-auto.jsonl") + recorded(f, "rate-limit.jsonl")) {
		if strings.Contains(row, `"assistant"`) || strings.Contains(row, "compact") {
			f.Add([]byte(row))
			f.Add([]byte(row[:len(row)*2/3]))
		}
	}
	f.Add([]byte(lines(said(190_000), boundary(`{"postTokens":31000}`), typed("a"))))
	f.Add([]byte(lines(said(20_000), sidechain(said(90_000)), limitRow, synthRow, "\x00{}\x00")))
	f.Add([]byte(`{"type":"assistant","message":{"model":"m","usage":{"iterations":[{"type":"message","input_tokens":5}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readTail(strings.NewReader(string(data)), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		if got.Tokens < 0 || !got.Known && (got.Tokens != 0 || got.Estimate) {
			t.Fatalf("%+v contradicts itself", got)
		}
		if got.Model == synthetic {
			t.Fatalf("%+v names the host's own replies as a model", got)
		}
		// One more row that is no message changes nothing, and a new reply
		// decides everything.
		more := append(append([]byte{}, data...), "\n{\"type\":\"mode\"}\n"...)
		again, _ := readTail(strings.NewReader(string(more)), int64(len(more)))
		got.Incomplete, again.Incomplete = false, false // half a last line is a broken one now
		got.Broken, again.Broken = false, false         // and more of the file may have been looked at
		if again != got {
			t.Fatalf("%+v became %+v", got, again)
		}
		more = append(more, said(77_000)+"\n"...)
		if last, _ := readTail(strings.NewReader(string(more)), int64(len(more))); last.Tokens != 77_000 || !last.Known || last.Incomplete {
			t.Fatalf("after a reply of 77,000: %+v", last)
		}
	})
}

func FuzzFacts(f *testing.F) {
	for row := range strings.Lines(recorded(f, "headless.jsonl") + recorded(f, "compact-manual.jsonl")) {
		if strings.Contains(row, `"message"`) {
			f.Add([]byte(row))
		}
	}
	f.Add([]byte(lines(
		reply(toolUse("c1", "TaskCreate", `{"subject":"a"}`), "{}"), toolResult("c1", "Task #1 created", false),
		reply(toolUse("u1", "TaskUpdate", `{"taskId":1,"status":"deleted"}`), "{}"),
		reply(toolUse("b1", "Bash", `{"command":"ls"}`)+","+toolUse("w1", "Write", `{"file_path":"a"}`), "{}"), toolResult("w1", "no", true))))
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := readFacts(strings.NewReader(string(data)), int64(len(data)), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range got.Prompts {
			if strings.TrimSpace(p.Text) == "" || !IsTyped(p.Text) || host.Len(p.Text) > MaxPromptText || !utf8.ValidString(p.Text) {
				t.Fatalf("prompt %q", p.Text)
			}
		}
		for _, c := range got.Commands {
			if c.Text == "" || !c.Failed && c.Output != "" {
				t.Fatalf("command %+v", c)
			}
		}
		late, _ := readFacts(strings.NewReader(string(data)), int64(len(data)), farAway)
		if len(late.Prompts) > len(got.Prompts) || len(late.Files) > len(got.Files) || late.Answer != got.Answer || len(late.Todo) != len(got.Todo) {
			t.Fatalf("with a limit in time: %+v\nwithout: %+v", late, got)
		}
	})
}
