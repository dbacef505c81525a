package record

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

const call1 = `{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"}}`

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":        {"\n \n", "no hook call"},
		"no JSON":        {call1 + "\nhello\n", "line 2: not a hook call"},
		"an array":       {`[]`, "line 1: not a hook call"},
		"two values":     {call1 + call1, "line 1: more than one value"},
		"unknown key":    {`{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"},"x":1}`, `unknown field "x"`},
		"no event":       {`{"t":0,"env":{},"payload":{"hook_event_name":"Stop"}}`, "no event"},
		"no env":         {`{"t":0,"event":"Stop","payload":{"hook_event_name":"Stop"}}`, "no env"},
		"no payload":     {`{"t":0,"event":"Stop","env":{}}`, "no payload"},
		"payload text":   {`{"t":0,"event":"Stop","env":{},"payload":"x"}`, "payload: "},
		"other event":    {`{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"SessionEnd"}}`, `event is "Stop", the payload says "SessionEnd"`},
		"negative time":  {`{"t":-1,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"}}`, "before the recording began"},
		"row is no line": {`{"t":0,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop"},"transcript_rows":[{},"x"]}`, "transcript row 2 is not an object"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(strings.NewReader(tt.in))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func recordings(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recordings", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	return files
}

// The recordings in the repository name no machine, and come out of Read and
// Write as they went in.
func TestRecordings(t *testing.T) {
	t.Parallel()
	for _, file := range recordings(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{"/home/", "/Users/", "/tmp/", "/opt/", "/usr/", "/mnt/", `C:\\`} {
				if bytes.Contains(data, []byte(path)) {
					t.Errorf("the path %s of a machine is in it", path)
				}
			}
			calls, err := Read(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := Write(&out, calls); err != nil {
				t.Fatal(err)
			}
			again, err := Read(&out)
			if err != nil || len(again) != len(calls) {
				t.Errorf("read again: %d calls of %d, error %v", len(again), len(calls), err)
			}
		})
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	places := Places{Project: "/p/my proj", Home: "/h", Tmp: "/t"}
	for name, tt := range map[string]struct{ in, want string }{
		"places":       {`{"a":"$PROJECT/x","b":"in $HOME","c":"$TMP"}`, `{"a":"/p/my proj/x","b":"in /h","c":"/t"}`},
		"other names":  {`["$PROJECTS","$HOMEBREW/x","$HOME_2","-PROJECT"]`, `["$PROJECTS","$HOMEBREW/x","$HOME_2","-PROJECT"]`},
		"folder":       {`"$HOME/.claude/projects/-PROJECT/s.jsonl"`, `"/h/.claude/projects/-p-my-proj/s.jsonl"`},
		"fill":         {`{"a":{"$fill":3},"b":[{"$fill":0}]}`, `{"a":"xxx","b":[""]}`},
		"not a fill":   {`{"a":{"b":1,"$fill":3}}`, `{"a":{"b":1,"$fill":3}}`},
		"order, forms": {`{"z":1.50,"a":1e3,"é":"<&>","n":null,"t":true,"e":{},"l":[]}`, `{"z":1.50,"a":1e3,"é":"<&>","n":null,"t":true,"e":{},"l":[]}`},
	} {
		t.Run(name, func(t *testing.T) {
			rw := places.expander()
			got, err := rw.rewrite([]byte(tt.in))
			if err != nil || string(got) != tt.want {
				t.Errorf("got %s, %v; want %s", got, err, tt.want)
			}
		})
	}
}

func TestRewriteRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{``, `{`, `{"a":`, `[1`, `{} {}`, `{"$fill":"x"}`, `{"$fill":-1}`, `{"$fill":99999999999}`, `{"$fill":1,"a":2}`, `{"$fill":1`} {
		rw := Places{}.expander()
		if out, err := rw.rewrite([]byte(in)); err == nil {
			t.Errorf("%s became %s", in, out)
		}
	}
}

func TestOutIsTheOppositeOfIn(t *testing.T) {
	t.Parallel()
	places := Places{Project: "/home/ann/code", Home: "/home/ann", Tmp: "/tmp"}
	for _, s := range []string{
		"$PROJECT/a.go and $HOME/b, $TMP/c", "$HOME/.claude/projects/-PROJECT/s.jsonl", "/home/anna is another", "nothing",
	} {
		if got := places.out(places.in(s)); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
	if got := (Places{Project: "/", Home: ""}).out("/a/b"); got != "/a/b" {
		t.Errorf("a root directory became part of %q", got)
	}
}

func TestStarted(t *testing.T) {
	t.Parallel()
	h := hooks{Events: map[host.Event][]group{
		host.SessionStart: {{Matcher: "startup|clear", Handlers: []handler{{Args: []string{"some"}}}}, {Handlers: []handler{{Args: []string{"all"}}}}},
		host.PreToolUse: {
			{Matcher: "Write", Handlers: []handler{{Args: []string{"write"}, If: "Write(**/.reload/session.md)"}}},
			{Matcher: "Edit", Handlers: []handler{{Args: []string{"edit"}, If: "Edit(**/.reload/session.md)"}}},
			{Matcher: "*", Handlers: []handler{{Args: []string{"docs"}, If: "Write(docs/*.md)"}}},
		},
	}}
	for _, tt := range []struct {
		p    host.Payload
		want string
	}{
		{host.Payload{Event: host.SessionStart, Source: "clear"}, "some all"},
		{host.Payload{Event: host.SessionStart, Source: "resume"}, "all"},
		{host.Payload{Event: host.Stop}, ""},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: "/p/.reload/session.md"}, "write"},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: `.reload/session.md`}, "write"},
		{host.Payload{Event: host.PreToolUse, Tool: "Edit", ToolPath: "/p/.reload/session.md"}, "edit"},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: "/p/.reload/notes.md"}, ""},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: "/p/x.reload/session.md"}, ""},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: "docs/a.md"}, "docs"},
		{host.Payload{Event: host.PreToolUse, Tool: "Write", ToolPath: "docs/a/b.md"}, ""},
		{host.Payload{Event: host.PreToolUse, Tool: "Bash"}, ""},
	} {
		var got []string
		for _, h := range h.started(tt.p, nil, nil) {
			got = append(got, h.Args...)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s %s %s started %q, want %q", tt.p.Event, tt.p.Source+tt.p.Tool, tt.p.ToolPath, got, tt.want)
		}
	}
}

// A recording may come from anywhere: nothing it names outside the replay's
// directory may be touched.
func TestReplayStaysInside(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := newWorld(t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	input := func(tool, path string) []byte {
		b, err := json.Marshal(map[string]any{"tool_name": tool, "tool_input": map[string]any{
			"file_path": path, "content": "theirs", "old_string": "mine", "new_string": "theirs",
		}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	up := w.places.Project + "/../../" + filepath.Base(filepath.Dir(outside)) + "/victim"
	git := filepath.Join(w.places.Project, "sub", ".GIT", "config")
	for _, path := range []string{outside, up, w.places.Project, "", git, filepath.Join(w.places.Home, ".gitconfig")} {
		for _, tool := range []string{"Write", "Edit"} {
			if err := w.perform(host.PostToolUse, input(tool, path)); err != nil {
				t.Errorf("%s %s: %v", tool, path, err)
			}
		}
	}
	for _, path := range []string{outside, filepath.Join(w.places.Project, "a.jsonl"), filepath.Join(w.places.Home, "a.jsonl")} {
		if err := w.append(path, []json.RawMessage{[]byte(`{}`)}, true); err == nil {
			t.Errorf("rows were added to %s", path)
		}
	}
	for _, path := range []string{git, filepath.Join(w.places.Home, ".gitconfig")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
	env := w.environ(map[string]string{"LD_PRELOAD": "x", "PATH": "x", "HOME": "x", "CLAUDE_CONFIG_DIR": "x", "CLAUDE_PID": "7"})
	for _, name := range []string{"LD_PRELOAD", "PATH", "HOME", "CLAUDE_CONFIG_DIR"} {
		at := slices.IndexFunc(env, func(v string) bool { return v == name+"=x" })
		last := slices.IndexFunc(env[at+1:], func(v string) bool { return strings.HasPrefix(v, name+"=") })
		if at >= 0 && last < 0 {
			t.Errorf("the recording sets %s", name)
		}
	}
	if !slices.Contains(env, "CLAUDE_PID=7") {
		t.Error("the recording does not set CLAUDE_PID")
	}
	if got, _ := os.ReadFile(outside); string(got) != "mine" {
		t.Errorf("the file outside is %q now", got)
	}
}

func TestPerform(t *testing.T) {
	t.Parallel()
	w, err := newWorld(t.TempDir(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(w.places.Project, "a", "b.txt")
	do := func(event host.Event, format string) string {
		t.Helper()
		payload := strings.ReplaceAll(format, "FILE", strings.ReplaceAll(file, `\`, `\\`))
		if err := w.perform(event, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		got, _ := os.ReadFile(file)
		return string(got)
	}
	for _, step := range []struct {
		event         host.Event
		payload, want string
	}{
		{host.PostToolUse, `{"tool_name":"Edit","tool_input":{"file_path":"FILE","old_string":"a","new_string":"b"}}`, ""},
		{host.PreToolUse, `{"tool_name":"Write","tool_input":{"file_path":"FILE","content":"a a"}}`, ""},
		{host.PostToolUse, `{"tool_name":"Write","tool_input":{"file_path":"FILE","content":"a a"}}`, "a a"},
		{host.PostToolUse, `{"tool_name":"Read","tool_input":{"file_path":"FILE","content":"x"}}`, "a a"},
		{host.PostToolUse, `{"tool_name":"mcp","tool_input":{"file_path":7}}`, "a a"},
		{host.PostToolUse, `{"tool_name":"Edit","tool_input":{"file_path":"FILE","old_string":"a","new_string":"b"}}`, "b a"},
		{host.PostToolUse, `{"tool_name":"Edit","tool_input":{"file_path":"FILE","old_string":"b a","new_string":"b b"}}`, "b b"},
		{host.PostToolUse, `{"tool_name":"Edit","tool_input":{"file_path":"FILE","old_string":"b","new_string":"c","replace_all":true}}`, "c c"},
	} {
		if got := do(step.event, step.payload); got != step.want {
			t.Errorf("after %s the file is %q, want %q", step.payload, got, step.want)
		}
	}
}

// What the host wrote late is given to the Stop it belongs to, and to no other.
func TestLate(t *testing.T) {
	t.Parallel()
	c := func(event host.Event, path string, kinds ...string) Call {
		out := Call{Event: event, Payload: json.RawMessage(`{"transcript_path":"` + path + `"}`)}
		for _, kind := range kinds {
			out.Rows = append(out.Rows, json.RawMessage(`{"type":"`+kind+`"}`))
		}
		return out
	}
	for name, tt := range map[string]struct {
		calls      []Call
		want, left int
	}{
		"answer, then noise": {[]Call{c(host.Stop, "a"), c(host.UserPromptSubmit, "a", "user", "assistant", "system")}, 2, 1},
		"no answer":          {[]Call{c(host.Stop, "a"), c(host.UserPromptSubmit, "a", "system")}, 0, 1},
		"other session":      {[]Call{c(host.Stop, "a"), c(host.SessionEnd, "b", "assistant")}, 0, 1},
		"session between":    {[]Call{c(host.Stop, "a"), c(host.Stop, "b"), c(host.SessionEnd, "a", "assistant")}, 1, 0},
		"turn goes on":       {[]Call{c(host.Stop, "a"), c(host.PreToolUse, "a", "assistant")}, 0, 1},
		"no stop":            {[]Call{c(host.SessionStart, "a"), c(host.UserPromptSubmit, "a", "assistant")}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			got := late(tt.calls, 0)
			if left := len(tt.calls[len(tt.calls)-1].Rows); len(got) != tt.want || left != tt.left {
				t.Errorf("%d rows are late and %d are left, want %d and %d", len(got), left, tt.want, tt.left)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(call1))
	f.Add([]byte(`{"t":1,"event":"PostToolUse","env":{"A":"$HOME"},"payload":{"hook_event_name":"PostToolUse","tool_input":{"file_path":"$PROJECT/a","content":{"$fill":9}}},"transcript_rows":[{"type":"x","y":{"$fill":70000}}],"transcript_rewritten":true}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		calls, err := Read(bytes.NewReader(in))
		if err != nil {
			return
		}
		places := Places{Project: "/p", Home: "/h", Tmp: "/t"}
		e := exporter{places: places}
		for _, c := range calls {
			if x, err := places.expand(c); err == nil && !json.Valid(x.Payload) {
				t.Errorf("payload %s became %s", c.Payload, x.Payload)
			}
			if x, err := e.call(c); err == nil && !json.Valid(x.Payload) {
				t.Errorf("payload %s was redacted to %s", c.Payload, x.Payload)
			}
		}
	})
}
