package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

// tapped is a project whose hooks are tapped.
type tapped struct {
	store      Store
	home       string
	project    string
	transcript string
	now        time.Time
	vars       map[string]string
}

func newTapped(t *testing.T) *tapped {
	t.Helper()
	home := t.TempDir()
	p := &tapped{
		home:    home,
		project: filepath.Join(home, "secret-project"),
		now:     time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC),
	}
	p.transcript = filepath.Join(home, ".claude", "projects", slug(p.project), "s.jsonl")
	p.vars = map[string]string{
		"XDG_STATE_HOME": filepath.Join(home, "state"), "CLAUDE_PROJECT_DIR": p.project, "CLAUDE_CODE_ENTRYPOINT": "cli",
		"ANTHROPIC_API_KEY": "sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa", "CLAUDE_PLUGIN_OPTION_PCT": "30",
	}
	p.store = StoreFor(p.project, p.getenv)
	for _, dir := range []string{p.project, filepath.Dir(p.transcript)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *tapped) getenv(key string) string { return p.vars[key] }

// on switches recording on.
func (p *tapped) on(t *testing.T) *tapped {
	t.Helper()
	if begun, err := p.store.Start(); !begun || err != nil {
		t.Fatalf("Start: %v, %v", begun, err)
	}
	return p
}

// hook makes a call with the given fields in its payload.
func (p *tapped) hook(t *testing.T, plugin string, event host.Event, fields map[string]any) {
	t.Helper()
	payload := map[string]any{"hook_event_name": string(event), "session_id": "s", "transcript_path": p.transcript, "cwd": p.project}
	for key, v := range fields {
		payload[key] = v
	}
	stdin, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := host.Claude{}.Decode(stdin)
	if err != nil {
		t.Fatal(err)
	}
	now := p.now
	p.now = p.now.Add(1500 * time.Millisecond)
	if err := Tap(&host.Call{
		Plugin: plugin, Payload: decoded, Project: p.project,
		Env:     host.Env{Now: func() time.Time { return now }, Getenv: p.getenv},
		Profile: host.Profile{Options: []host.Option{{Key: "pct", Scopes: []host.Scope{host.ScopeUser}}}},
	}, stdin); err != nil {
		t.Fatal(err)
	}
}

// write adds text to the transcript, as it is.
func (p *tapped) write(t *testing.T, text string) {
	t.Helper()
	f, err := os.OpenFile(p.transcript, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// export returns the recording, as calls and as it is written.
func (p *tapped) export(t *testing.T, text bool) ([]Call, string, Redaction) {
	t.Helper()
	f, err := p.store.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out bytes.Buffer
	done, err := Export(f, &out, Places{Home: p.home, Tmp: os.TempDir()}, text)
	if err != nil {
		t.Fatal(err)
	}
	written := out.String()
	calls, err := Read(&out)
	if err != nil {
		t.Fatal(err)
	}
	return calls, written, done
}

func TestTapIsOffUntilSwitchedOn(t *testing.T) {
	t.Parallel()
	p := newTapped(t)
	p.hook(t, "cc-reload", host.Stop, nil)
	if _, err := os.Stat(p.vars["XDG_STATE_HOME"]); !os.IsNotExist(err) {
		t.Errorf("something was written: %v", err)
	}
	p.on(t)
	if begun, err := p.store.Start(); begun || err != nil {
		t.Errorf("started twice: %v, %v", begun, err)
	}
	p.hook(t, "cc-reload", host.Stop, nil)
	if ended, err := p.store.Stop(); !ended || err != nil {
		t.Errorf("Stop: %v, %v", ended, err)
	}
	if ended, err := p.store.Stop(); ended || err != nil {
		t.Errorf("stopped twice: %v, %v", ended, err)
	}
	p.hook(t, "cc-reload", host.Stop, nil)
	if calls, _, _ := p.export(t, false); len(calls) != 1 {
		t.Errorf("%d calls, want the one while it was on", len(calls))
	}
	info, err := os.Stat(p.store.Finished())
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read it: %v, %v", info.Mode(), err)
	}
	if err := p.store.Drop(); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(p.vars["XDG_STATE_HOME"]); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestTapFollowsTheTranscript(t *testing.T) {
	t.Parallel()
	p := newTapped(t).on(t)
	types := func(rows []json.RawMessage) string {
		var out []string
		for _, row := range rows {
			var r struct {
				Type string `json:"type"`
			}
			if err := json.Unmarshal(row, &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r.Type)
		}
		return strings.Join(out, " ")
	}
	p.hook(t, "cc-reload", host.SessionStart, nil) // no transcript yet
	p.write(t, `{"type":"a"}`+"\n"+`broken`+"\n"+`{"type":"b"}`+"\n"+`{"type":"half`)
	p.hook(t, "cc-reload", host.UserPromptSubmit, nil)
	p.write(t, `way"}`+"\n")
	p.hook(t, "cc-reload", host.Stop, nil)
	p.hook(t, "cc-reload", host.Stop, nil) // nothing new
	if err := os.Truncate(p.transcript, 0); err != nil {
		t.Fatal(err)
	}
	p.write(t, `{"type":"anew"}`+"\n")
	p.hook(t, "cc-reload", host.SessionStart, nil)
	p.write(t, `{"type":"big","x":"`+strings.Repeat("y", maxRow)+`"}`+"\n")
	p.hook(t, "cc-reload", host.Stop, nil)
	p.write(t, strings.Repeat(`{"type":"many","x":"`+strings.Repeat("y", maxRow/2)+`"}`+"\n", 20))
	p.hook(t, "cc-reload", host.Stop, nil)

	calls, _, done := p.export(t, false)
	want := []struct {
		types string
		anew  bool
	}{{"", false}, {"a b", false}, {"halfway", false}, {"", false}, {"anew", true}, {"oversized", false}, {"many many many many many many many", true}}
	if len(calls) != len(want) || done.Calls != len(want) {
		t.Fatalf("%d calls, want %d", len(calls), len(want))
	}
	for i, w := range want {
		if got := types(calls[i].Rows); got != w.types || calls[i].Rewritten != w.anew {
			t.Errorf("call %d: rows %q, anew %v; want %q, %v", i+1, got, calls[i].Rewritten, w.types, w.anew)
		}
		if at := 1.5 * float64(i); calls[i].T != at {
			t.Errorf("call %d is at %v s, want %v", i+1, calls[i].T, at)
		}
	}
}

// Two plugins are called for one moment, at once: it counts once.
func TestTapMergesPlugins(t *testing.T) {
	t.Parallel()
	p := newTapped(t).on(t)
	p.write(t, `{"type":"a"}`+"\n")
	p.hook(t, "cc-reload", host.Stop, map[string]any{"last_assistant_message": "x"})
	p.hook(t, "cc-other", host.Stop, map[string]any{"last_assistant_message": "x"})
	p.hook(t, "cc-other", host.Stop, map[string]any{"last_assistant_message": "x"}) // the same words again
	p.hook(t, "cc-reload", host.Stop, map[string]any{"last_assistant_message": "x"})
	calls, _, _ := p.export(t, false)
	if len(calls) != 2 || len(calls[0].Rows) != 1 || len(calls[1].Rows) != 0 {
		t.Errorf("calls %+v, want two, the row with the first", calls)
	}
}

func TestTapTakesManyAtOnce(t *testing.T) {
	t.Parallel()
	p := newTapped(t).on(t)
	p.write(t, `{"type":"a"}`+"\n")
	const n = 20
	var wg sync.WaitGroup
	for i := range n {
		call := &host.Call{
			Plugin: "cc-reload", Project: p.project,
			Payload: host.Payload{Event: host.Stop, TranscriptPath: p.transcript},
			Env:     host.Env{Now: time.Now, Getenv: p.getenv},
		}
		wg.Go(func() {
			stdin := fmt.Sprintf(`{"hook_event_name":"Stop","n":%d,"pad":%q}`, i, strings.Repeat("z", 100_000))
			if err := tap(call, []byte(stdin), time.Hour); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	calls, _, done := p.export(t, false)
	if len(calls) != n || done.Rows != 1 {
		t.Errorf("%d calls with %d rows, want %d with the one row once", len(calls), done.Rows, n)
	}
}

const digest = "---\nsession_id: \"s\"\nintent: \"sell the company\"\n---\n## Done this stretch\n- rang Bob at 555\n\n## Next concrete step\nring Alice\n"

// sensitive fills a recording with everything that must not get out.
func sensitive(t *testing.T) *tapped {
	t.Helper()
	p := newTapped(t).on(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	row := map[string]any{
		"type": "user", "uuid": "1b6e2af7-8935-4002-82f3-56b053bad2c2", "cwd": p.project, "version": "2.1.332",
		"message": map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "please use " + secret},
			map[string]any{"type": "tool_use", "name": "Bash", "input": map[string]any{"name": "Alice", "id": "Bob", "command": "cat /etc/passwd"}},
		}},
		"backups":   map[string]any{p.project + "/src/merger.go": 1, "merger.go": 2},
		"model":     "a name that is a sentence about Carol",
		"sessionId": secret,
		"usage":     map[string]any{"input_tokens": 461003},
	}
	line, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	p.write(t, string(line)+"\n")
	p.hook(t, "cc-reload", host.UserPromptSubmit, map[string]any{"prompt": "sell it to Alice"})
	p.hook(t, "cc-reload", host.UserPromptSubmit, map[string]any{"prompt": "<task-notification>\nBob is done</task-notification>"})
	p.hook(t, "cc-reload", host.PostToolUse, map[string]any{
		"tool_name": "Write", "tool_input": map[string]any{"file_path": p.project + "/.reload/session.md", "content": digest},
	})
	p.hook(t, "cc-reload", host.PostToolUse, map[string]any{
		"tool_name": "Write", "tool_input": map[string]any{"file_path": p.project + "/src/merger.go", "content": "package merger // Carol"},
	})
	p.hook(t, "cc-reload", host.Stop, map[string]any{"last_assistant_message": "API Error: 500 for Alice", "stop_hook_active": true})
	return p
}

// Case F62 and more: nothing of what a person wrote, or of how this machine is
// laid out, is in an export.
func TestExportKeepsNothingPrivate(t *testing.T) {
	t.Parallel()
	p := sensitive(t)
	calls, written, done := p.export(t, false)
	for _, word := range []string{
		"Alice", "Bob", "Carol", "sell", "555", "merger", "ghp_", "sk-ant", "passwd", "secret-project", filepath.Base(p.home), slug(p.project),
	} {
		if strings.Contains(written, word) {
			t.Errorf("%q is in the export", word)
		}
	}
	if done.Secrets < 2 || done.Texts < 6 || done.Rows != 1 || done.Calls != 5 {
		t.Errorf("said to have taken out %+v", done)
	}
	// What a replay depends on is still there.
	for _, word := range []string{
		`"input_tokens":461003`, `"version":"2.1.332"`, `"cwd":"$PROJECT"`, `"role":"user"`, `"name":"Bash"`,
		`"transcript_path":"$HOME/.claude/projects/-PROJECT/s.jsonl"`, `"file_path":"$PROJECT/.reload/session.md"`, `"file_path":"$PROJECT/xxx/xxxxxx.xx"`,
		`"stop_hook_active":true`, `"prompt":"<task-notification>xxx`, `"last_assistant_message":"API Errorxxx`,
		`"content":"---\nsession_id: \"x\"\nintent: \"xxxx xxx xxxxxxx\"\n---\n## Done this stretch\n- xxxx xxx xx 000\n\n## Next concrete step\nxxxx xxxxx\n"`,
		`"CLAUDE_PLUGIN_OPTION_PCT":"30"`, `"CLAUDE_PROJECT_DIR":"$PROJECT"`,
	} {
		if !strings.Contains(written, word) {
			t.Errorf("%s is not in the export:\n%s", word, written)
		}
	}
	if prompt := `"prompt":` + string(fillOf(len("sell it to Alice"))); !strings.Contains(string(calls[0].Payload), prompt) {
		t.Errorf("the length of the prompt is lost: %s", calls[0].Payload)
	}
}

// A configuration directory of one's own is no reason not to find the
// transcript again.
func TestExportPutsTranscriptsInTheirPlace(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"/home/ann/.claude/projects/-home-ann-x/0f-1.jsonl":                "$HOME/.claude/projects/-PROJECT/0f-1.jsonl",
		"/srv/projects/cfg/projects/-srv-x/0f-1/subagents/agent-a.jsonl":   "$HOME/.claude/projects/-PROJECT/0f-1/subagents/agent-a.jsonl",
		`C:\Users\ann\.claude\projects\C--x\0f-1.jsonl`:                    "$HOME/.claude/projects/-PROJECT/0f-1.jsonl",
		"/home/ann/.claude/projects/-x/a name that says something é.jsonl": "$HOME/.claude/projects/-PROJECT/x xxxx xxxx xxxx xxxxxxxxx x.xxxxx",
		"/somewhere/else.jsonl":                                            "/xxxxxxxxx/xxxx.xxxxx",
	} {
		e := exporter{places: Places{Project: "/home/ann/x", Home: "/home/ann"}}
		if got := e.transcript(in); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}

func TestExportWithText(t *testing.T) {
	t.Parallel()
	p := sensitive(t)
	_, written, done := p.export(t, true)
	for _, word := range []string{"ghp_", "sk-ant", "secret-project", filepath.Base(p.home)} {
		if strings.Contains(written, word) {
			t.Errorf("%q is in the export", word)
		}
	}
	for _, word := range []string{"sell it to Alice", "$PROJECT/src/merger.go", "package merger // Carol"} {
		if !strings.Contains(written, word) {
			t.Errorf("%q is not in the export", word)
		}
	}
	if done.Secrets != 2 || done.Texts != 0 {
		t.Errorf("said to have taken out %+v", done)
	}
}
