package measure

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/transcript"
)

// log writes a transcript row by row.
type log struct {
	rows []string
	n    int
}

func (l *log) asks(text string) {
	l.rows = append(l.rows, fmt.Sprintf(`{"type":"user","sessionId":"s","cwd":"/p","message":{"role":"user","content":%q}}`, text))
}

func (l *log) calls(tool, input string, failed bool) {
	l.n++
	l.rows = append(l.rows,
		fmt.Sprintf(`{"type":"assistant","sessionId":"s","message":{"id":"m%d","role":"assistant","model":"claude-opus-5-5","content":[{"type":"tool_use","id":"t%d","name":%q,"input":%s}]}}`, l.n, l.n, tool, input),
		fmt.Sprintf(`{"type":"user","sessionId":"s","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"ok","is_error":%t}]}}`, l.n, failed))
}

func (l *log) file(tool, path string) { l.calls(tool, fmt.Sprintf(`{"file_path":%q}`, path), false) }

func (l *log) runs(line string, failed bool) {
	l.calls("Bash", fmt.Sprintf(`{"command":%q}`, line), failed)
}

func (l *log) todo(list string) { l.calls("TodoWrite", `{"todos":[`+list+`]}`, false) }

func (l *log) compacts() {
	l.rows = append(l.rows, `{"type":"system","subtype":"compact_boundary","sessionId":"s","compactMetadata":{}}`)
}

func (l *log) reads(n int) {
	for i := range n {
		l.file("Read", fmt.Sprintf("/p/filler%d.txt", i))
	}
}

func (l *log) data() []byte { return []byte(strings.Join(l.rows, "\n") + "\n") }

// One compaction in a session of which all that was needed is counted by hand.
func TestCutAtACompaction(t *testing.T) {
	t.Parallel()
	l := &log{}
	l.asks("fix `parseRow` in src/a.go with --max-wait")
	l.file("Read", "/p/src/a.go")
	l.file("Edit", "/p/one/main.go")
	l.file("Edit", "/p/two/main.go")
	l.runs("cd /p && go test ./... | tail", true)
	l.runs("make lint", true)
	l.runs("make lint", false)
	l.runs("npm run build", false)
	l.todo(`{"content":"write the docs","status":"pending"},{"content":"never done","status":"pending"}`)
	l.reads(3)
	l.compacts()
	l.asks("now parseRow and newName in src/a.go")
	l.file("Edit", "/p/src/a.go")
	l.file("Edit", "/p/two/main.go")
	l.file("Write", "/p/new.go")
	l.runs("git status && go test ./...", false)
	l.runs("npm run build && docker build .", false)
	l.todo(`{"content":"write the docs","status":"completed"}`)

	var asked []transcript.Facts
	page := func(text string) Page {
		return func(f transcript.Facts) string { asked = append(asked, f); return text }
	}
	for text, want := range map[string]map[string]string{
		"":                     {"files": "2 /p/src/a.go /p/two/main.go", "commands": "2 go test npm run build", "todos": "1 write the docs", "terms": "2 parseRow src/a.go", "errors": "1 go test"},
		"a.go, one/main.go":    {"files": "2 /p/two/main.go", "commands": "2 go test npm run build", "todos": "1 write the docs", "terms": "2 parseRow src/a.go", "errors": "1 go test"},
		"extra.go two/main.go": {"files": "2 /p/src/a.go", "commands": "2 go test npm run build", "todos": "1 write the docs", "terms": "2 parseRow src/a.go", "errors": "1 go test"},
		"src/a.go, two/main.go, go test ./..., npm run build, write the docs, parseRow": {"files": "2", "commands": "2", "todos": "1", "terms": "2", "errors": "1"},
	} {
		cuts, err := Session(l.data(), page(text))
		if err != nil || len(cuts) != 2 || !cuts[0].Compaction || cuts[0].Calls != 11 {
			t.Fatalf("%+v, %v", cuts, err)
		}
		got := map[string]string{}
		for class, tally := range cuts[0].Tallies {
			got[Names[class]] = strings.TrimSpace(fmt.Sprint(tally.Needed, " ", strings.Join(tally.Missed, " ")))
		}
		if !maps.Equal(got, want) {
			t.Errorf("%q:\ngot  %v\nwant %v", text, got, want)
		}
	}
	if f := asked[0]; f.Prompts[0].Text != "fix `parseRow` in src/a.go with --max-wait" || len(f.Prompts) != 1 {
		t.Errorf("the page was made of what came later: %+v", f.Prompts)
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string // p: prompt, c: call, |: compaction
		want   string // calls before each cut
	}{
		"too short":                       {"pcccccccccccc", ""},
		"by calls with few prompts":       {"pcccccccccccccccccccccccc", "12 18"},
		"by prompts":                      {"pcccccpcccccpcccccpccccc", "10 15"},
		"not without ten before":          {"pcpcpcccccccccpccccc", "11"},
		"not without three after":         {"pcccccpcccccpcccccpcc", "10"},
		"at three compactions at most":    {"pcccccccccc|ccc|ccc|ccc|cccccc", "10 12 13 16 18"},
		"at a prompt behind a compaction": {"pccccccccccp|ccccpccccpcccc", "10 14 18"},
	} {
		l := &log{}
		for _, c := range tt.script {
			switch c {
			case 'p':
				l.asks("do it")
			case 'c':
				l.runs("make all", false)
			case '|':
				l.compacts()
			}
		}
		cuts, _ := Session(l.data(), func(transcript.Facts) string { return "" })
		var got []string
		for _, c := range cuts {
			got = append(got, fmt.Sprint(c.Calls))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: cuts after %q calls, want %q", name, s, tt.want)
		}
	}
}

func TestSum(t *testing.T) {
	t.Parallel()
	cut := func(needed int, missed ...string) Cut {
		c := Cut{Characters: 1000 * needed, Listed: 10, SoonUsed: 1, LaterUsed: 4}
		c.Tallies[Files] = Tally{needed, missed}
		return c
	}
	both := cut(2, "a")
	both.Tallies[Todos] = Tally{1, nil}
	r := Sum([]Result{
		{Path: "one", Cuts: []Cut{cut(2, "a"), cut(4)}}, // 50, 100
		{Path: "two", Cuts: []Cut{both}},                // (50 + 100) / 2
		{Path: "three", Err: ErrShort},
	})
	if r.Sessions != 2 || r.Cuts != 3 || r.Overall != 75 || r.Classes["files"] != 66.7 || r.Classes["todos"] != 100 || r.Characters != 2667 || r.Soon != 10 || r.Later != 40 {
		t.Errorf("%+v", r)
	}
	if len(r.Worst) != 2 || r.Worst[0].Path != "one" || !slices.Equal(r.Worst[0].Missing["files"], []string{"a"}) {
		t.Errorf("worst %+v", r.Worst)
	}
	if len(r.Skipped) != 1 || r.Skipped[0].Path != "three" {
		t.Errorf("skipped %+v", r.Skipped)
	}
	if r := Sum(nil); r.Sessions != 0 || r.Overall != 0 {
		t.Errorf("of nothing: %+v", r)
	}
}

func TestWhatIsNoTranscript(t *testing.T) {
	t.Parallel()
	none := func(transcript.Facts) string { return "" }
	for text, want := range map[string]error{"": ErrForeign, "{\"a\":1}\n": ErrForeign, "{\"type\":\"us": ErrForeign, `{"type":"user","sessionId":"s","message":{"content":"hi"}}` + "\n": ErrShort} {
		if _, err := Session([]byte(text), none); err != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
