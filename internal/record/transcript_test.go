package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// What is ours and the tools' stays, the host's long texts and this machine's
// directories go, and everything else of a row is as it was.
func TestTranscript(t *testing.T) {
	t.Parallel()
	here := Places{Project: "/tmp/w/home/p", Home: "/tmp/w/home", Tmp: "/tmp/w"}
	there := Places{Project: "/home/dev/p", Home: "/home/dev", Tmp: "/tmp"}
	long := strings.Repeat("the host says ", 30)
	masked := strings.Repeat("x", LongText)
	ours := strings.Repeat("our own words ", 30)
	for name, tt := range map[string]struct{ in, want string }{
		"a prompt": {
			`{"type":"user","message":{"role":"user","content":"look at /tmp/w/home/p/a.go and /tmp/w/home/.x"},"n":1.50}`,
			`{"type":"user","message":{"role":"user","content":"look at /home/dev/p/a.go and /home/dev/.x"},"n":1.50}`,
		},
		"what the model says": {
			`{"type":"assistant","message":{"content":[{"type":"text","text":"` + long + `"}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":"` + long + `"}]}}`,
		},
		"a summary": {
			`{"type":"user","isCompactSummary":true,"message":{"content":"` + long + ours + long + `"}}`,
			`{"type":"user","isCompactSummary":true,"message":{"content":"` + masked + ours + masked + `"}}`,
		},
		"the result of a command": {
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"` + long + `<system-reminder>do this</system-reminder>"}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"` + long + `<system-reminder>xxxxxxx</system-reminder>"}]}}`,
		},
		"what tar prints": {
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"tmp/w/home/p/bin/\ntmp/w/home/.x"}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"home/dev/p/bin/\nhome/dev/.x"}]}}`,
		},
		"the result of an agent": {
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"` + ours + `"},{"text":"` + long + `"}]}}`,
			`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"` + ours + `"},{"text":"` + masked + `"}]}}`,
		},
		"a short word of the host": {
			`{"type":"user","message":{"content":"short"},"file":{"/tmp/w/home/p/a":"-tmp-w-home-p"}}`,
			`{"type":"user","message":{"content":"short"},"file":{"/home/dev/p/a":"-home-dev-p"}}`,
		},
		"an attachment": {
			`{"type":"attachment","attachment":{"type":"model","text":"you are it","cwd":"/tmp/w/home/p"},"uuid":"u1"}`,
			`{"type":"attachment","attachment":{"type":"model","text":"xxxxxxxxxx","cwd":"/home/dev/p"},"uuid":"u1"}`,
		},
		"a prompt typed during a turn": {
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":"wait","origin":{"kind":"human"}}}`,
			`{"type":"attachment","attachment":{"type":"queued_command","prompt":"wait","origin":{"kind":"human"}}}`,
		},
		"a request": {
			`{"type":"api-request-blob","message":{"role":"user","content":"` + long + `"}}`,
			`{"type":"api-request-blob","message":{"role":"user","content":"` + masked + `"}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash"},{"type":"tool_use","id":"t2","name":"Agent"}]}}` + "\n"
			var out bytes.Buffer
			if err := Transcript(strings.NewReader(calls+tt.in), &out, here, there, []string{"our", ours}); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimPrefix(out.String(), calls); got != tt.want+"\n" {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
			if !json.Valid([]byte(tt.in)) {
				t.Error("the test's row is no JSON")
			}
		})
	}
	if err := Transcript(strings.NewReader("{}\n{"), new(bytes.Buffer), here, there, nil); err == nil || !strings.HasPrefix(err.Error(), "row 2") {
		t.Errorf("error %v, want one of row 2", err)
	}
}
