//go:build acceptance

package fakeapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
	"github.com/ccreload/ccreload/internal/record"
)

const (
	// recordWindow is the context window that the client is told to compact
	// at, in tokens, and recordStart what a conversation has at its beginning.
	recordWindow = 200_000
	recordStart  = 18_000
	// recordPatience is how long one step of a session may take.
	recordPatience = 5 * time.Minute
	// recordHome is the home directory that stands in the transcripts.
	recordHome = "/home/dev"
)

// TestRecordSessions makes the transcripts of testdata/continuity anew, by
// playing their scripts to the real client. RECORD_SESSIONS says which: "all",
// or names separated by commas. Without it nothing is recorded.
func TestRecordSessions(t *testing.T) {
	want := os.Getenv("RECORD_SESSIONS")
	if want == "" {
		t.Skip("RECORD_SESSIONS is not set: make record-sessions")
	}
	scripts, err := filepath.Glob(filepath.Join(setup.root, "testdata", "continuity", "scripts", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if want != "all" && !strings.Contains(","+want+",", ","+name+",") {
			continue
		}
		t.Run(name, func(t *testing.T) { recordSession(t, name, path) })
	}
}

func recordSession(t *testing.T, name, path string) {
	w := newHome(t, filepath.Join("home", name))
	script, err := os.ReadFile(path)
	w.check(err)
	session, err := fakeapi.ParseSession(script, w.project)
	w.check(err)
	if session.Client != setup.version {
		t.Skipf("recorded from %s", session.Client)
	}
	for _, f := range session.Files {
		w.write(filepath.Join(w.project, f.Name), string(f.Data))
		if strings.HasPrefix(string(f.Data), "#!") {
			w.check(os.Chmod(filepath.Join(w.project, f.Name), 0o755))
		}
	}
	w.git("init", "-q")
	w.commit("Import " + name)
	for _, command := range session.Setup {
		if r := w.exec("sh", "-c", command); r.code != 0 {
			t.Fatalf("setup %q: exit %d\n%s%s", command, r.code, r.out, r.err)
		}
	}
	w.write(filepath.Join(w.config, "settings.json"),
		`{"tui":"default","permissions":{"allow":["Bash","Read","Edit","Write","Agent","TodoWrite","TaskCreate","TaskUpdate"]}}`)
	w.env["CLAUDE_CODE_AUTO_COMPACT_WINDOW"] = fmt.Sprint(recordWindow)
	// Newer clients have these tools for some models only.
	w.env["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = "1"
	w.env["CLAUDE_CODE_ENABLE_TASKS"] = map[string]string{"TodoWrite": "0", "TaskCreate": "1"}[session.Todos]
	// Tools from where every machine has them, and what Go has built already.
	w.env["PATH"] = "/usr/local/go/bin:/usr/bin:/bin"
	w.env["npm_config_offline"], w.env["npm_config_update_notifier"] = "true", "false"
	w.env["GOFLAGS"] = os.Getenv("GOFLAGS")
	cache, err := os.UserCacheDir()
	w.check(err)
	w.env["GOCACHE"] = filepath.Join(cache, "go-build")

	player := player{world: w, session: session, tokens: recordStart}
	player.screen = w.open("--permission-mode", "acceptEdits")
	for _, step := range session.Steps {
		player.play(step)
	}
	player.screen.exit()

	files, err := filepath.Glob(filepath.Join(w.config, "projects", "*", "*.jsonl"))
	w.check(err)
	if len(files) != 1 {
		t.Fatalf("the session left %d transcripts", len(files))
	}
	in, err := os.Open(files[0])
	w.check(err)
	defer in.Close()
	player.compare()
	var out strings.Builder
	w.check(record.Transcript(in, &out,
		record.Places{Project: w.project, Home: w.home, Tmp: w.dir},
		record.Places{Project: recordHome + "/" + name, Home: recordHome, Tmp: "/tmp"}, session.Texts()))
	if !t.Failed() {
		w.write(filepath.Join(setup.root, "testdata", "continuity", name+".jsonl"), out.String())
	}
}

// player plays a session to the client.
type player struct {
	*world
	session fakeapi.Session
	screen  *screen
	tokens  int // occupancy of the newest reply
}

func (p *player) play(step fakeapi.Step) {
	p.Helper()
	switch {
	case step.Rewind > 0:
		p.screen.rewind(step.Rewind, step.Code)
		return
	case step.Summary != "":
		p.api.Summary(fakeapi.Say("<summary>\n" + step.Summary + "\n</summary>"))
	}
	if step.Compacts() {
		before := p.compactions()
		p.submit(step.Prompt)
		p.wait(step, "the compaction", func() bool { return p.compactions() > before })
		p.tokens = recordStart
		return
	}
	var briefs []string
	for _, r := range step.Replies {
		if r.Brief != "" {
			briefs = append(briefs, r.Brief)
		}
	}
	for _, r := range step.Replies {
		turn := fakeapi.Turn{Text: r.Text}
		for _, c := range r.Calls {
			turn.Tools = append(turn.Tools, c.ToolUse)
		}
		turn.When = func(req fakeapi.Request) bool {
			opening := req.Opening()
			for _, b := range briefs {
				if strings.Contains(opening, b) {
					return b == r.Brief
				}
			}
			return r.Brief == ""
		}
		p.api.Script(p.occupied(turn, r))
	}
	ended := p.turns()
	p.submit(step.Prompt)
	p.wait(step, "the end of the turn", func() bool { return p.turns() > ended && p.api.Pending() == 0 })
}

// occupied lets the context grow from one reply to the next, as it does.
func (p *player) occupied(t fakeapi.Turn, r fakeapi.Reply) fakeapi.Turn {
	if r.Brief != "" {
		return t.At(recordStart)
	}
	p.tokens += 900 + 400*len(r.Calls) + len(r.Text)/3
	if r.Full {
		defer func() { p.tokens = recordStart }()
		return t.At(recordWindow - 1000)
	}
	return t.At(p.tokens)
}

func (p *player) compactions() int {
	n := 0
	for _, row := range p.transcripts() {
		if row["subtype"] == "compact_boundary" {
			n++
		}
	}
	return n
}

// submit types a line that may be longer than the terminal is wide.
func (p *player) submit(line string) {
	p.Helper()
	s := p.screen
	s.tmux("send-keys", "-l", line)
	want := "❯ " + strings.Join(strings.Fields(line), " ")
	before := strings.Count(s.flat(), want)
	p.until("to see what was typed: "+line, func() bool {
		n := strings.Count(s.flat(), want)
		return n > 0 && n >= before
	})
	s.key("Enter")
}

func (p *player) wait(step fakeapi.Step, what string, ok func() bool) {
	p.Helper()
	for end := time.Now().Add(recordPatience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("line %d, %q: gave up waiting for %s, %d replies left", step.Line, step.Prompt, what, p.api.Pending())
		}
	}
}

// compare holds what the tools did against what the script says they do.
func (p *player) compare() {
	p.Helper()
	type result struct {
		failed bool
		text   string
	}
	results := map[string]result{}
	var calls []string
	for _, row := range p.transcripts() {
		if row["type"] != "assistant" && row["type"] != "user" {
			continue
		}
		var r struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		}
		data, err := json.Marshal(row)
		p.check(err)
		p.check(json.Unmarshal(data, &r))
		var blocks []struct {
			Type    string `json:"type"`
			ID      string `json:"id"`
			Use     string `json:"tool_use_id"`
			Failed  bool   `json:"is_error"`
			Content any    `json:"content"`
		}
		if json.Unmarshal(r.Message.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				calls = append(calls, b.ID)
			case "tool_result":
				results[b.Use] = result{b.Failed, fmt.Sprint(b.Content)}
			}
		}
	}
	var want []fakeapi.Call
	for _, step := range p.session.Steps {
		for _, r := range step.Replies {
			if r.Brief == "" {
				want = append(want, r.Calls...)
			}
		}
	}
	if len(calls) != len(want) {
		p.Errorf("the transcript has %d calls, the script %d", len(calls), len(want))
	}
	for i := range min(len(calls), len(want)) {
		if got := results[calls[i]]; got.failed != want[i].Fails {
			p.Errorf("line %d: %s %v: failed is %v, not as the script says:\n%s", want[i].Line, want[i].Name, want[i].Input, got.failed, got.text)
		}
	}
}
