package fakeapi

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func start(t *testing.T) *Server {
	t.Helper()
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// body is a message of a client with the given number of tools.
func body(prompt string, tools int, stream bool) string {
	list := make([]map[string]string, tools)
	for i := range list {
		list[i] = map[string]string{"name": fmt.Sprintf("Tool%d", i)}
	}
	data, err := json.Marshal(map[string]any{
		"model": "claude-test-1", "stream": stream, "tools": list,
		"system": []any{map[string]string{"type": "text", "text": "be brief"}},
		"messages": []any{map[string]any{"role": "user", "content": []any{
			map[string]string{"type": "text", "text": "a reminder"},
			map[string]string{"type": "text", "text": prompt},
		}}},
	})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// post sends a body the way the client does and returns status and answer.
func post(t *testing.T, s *Server, path, body string) (*http.Response, []byte) {
	t.Helper()
	resp, err := http.Post(s.URL()+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, data
}

const messages = "/v1/messages?beta=true"

type answer struct {
	Role       string
	Model      string
	StopReason string `json:"stop_reason"`
	Content    []struct {
		Type, Text, Name, ID string
		Input                map[string]any
	}
	Usage Usage
}

func ask(t *testing.T, s *Server, prompt string, tools int) answer {
	t.Helper()
	resp, data := post(t, s, messages, body(prompt, tools, false))
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d: %s", resp.StatusCode, data)
	}
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

func TestScriptAnswersTheConversationOnly(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Script(Say("first").At(100_000), Use("Write", map[string]any{"file_path": "/x"}))
	s.Fallback(Say("nothing left"))
	s.Summary(Say("<summary>short</summary>"))

	if got := ask(t, s, "make a title", 0).Content[0].Text; got != "ok" {
		t.Errorf("a side request got %q from the script", got)
	}
	compaction := ask(t, s, "Write a detailed "+compactionMark+", please", 13)
	if got := compaction.Content[0].Text; got != "<summary>short</summary>" {
		t.Errorf("compaction got %q", got)
	}
	first := ask(t, s, "hello", 13)
	if first.Content[0].Text != "first" || first.StopReason != "end_turn" || first.Model != "claude-test-1" {
		t.Errorf("first turn: %+v", first)
	}
	if u := first.Usage; u.Input+u.CacheRead+u.CacheCreation != 100_000 {
		t.Errorf("usage adds up to %d, want 100000: %+v", u.Input+u.CacheRead+u.CacheCreation, u)
	}
	second := ask(t, s, "go on", 13)
	if c := second.Content[0]; c.Type != "tool_use" || c.Name != "Write" || c.Input["file_path"] != "/x" || c.ID == "" || second.StopReason != "tool_use" {
		t.Errorf("second turn: %+v", second)
	}
	if s.Pending() != 0 {
		t.Errorf("%d turns left", s.Pending())
	}
	if got := ask(t, s, "and now", 13).Content[0].Text; got != "nothing left" {
		t.Errorf("after the script: %q", got)
	}
	var kinds []Kind
	for _, r := range s.Requests() {
		kinds = append(kinds, r.Kind)
	}
	if want := []Kind{Side, Compaction, Main, Main, Main}; !reflect.DeepEqual(kinds, want) {
		t.Errorf("kinds %v, want %v", kinds, want)
	}
}

func TestTurnWaitsForItsRequest(t *testing.T) {
	t.Parallel()
	s := start(t)
	agent := func(r Request) bool { return strings.Contains(r.Opening(), "brief of the agent") }
	s.Script(Say("from the agent").For(agent), Say("from the main thread"))
	if got := ask(t, s, "hello", 13).Content[0].Text; got != "from the main thread" {
		t.Errorf("main thread got %q", got)
	}
	if got := ask(t, s, "brief of the agent", 13).Content[0].Text; got != "from the agent" {
		t.Errorf("agent got %q", got)
	}
}

func TestStream(t *testing.T) {
	t.Parallel()
	s := start(t)
	turn := Use("Bash", map[string]any{"command": "ls \"a b\""}).At(5000)
	turn.Text = "I look: <&>"
	s.Script(turn)
	resp, data := post(t, s, messages, body("hello", 13, true))
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	var names []string
	var text, input string
	var last map[string]any
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			names = append(names, name)
		}
		raw, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var event struct {
			Type    string
			Message answer
			Delta   struct {
				Text        string
				PartialJSON string `json:"partial_json"`
				StopReason  string `json:"stop_reason"`
			}
			Usage Usage
		}
		if err := json.Unmarshal([]byte(raw), &event); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		if event.Type != names[len(names)-1] {
			t.Errorf("data of type %q in event %q", event.Type, names[len(names)-1])
		}
		if event.Type == "message_start" && event.Message.Usage.CacheRead != turn.Usage.CacheRead {
			t.Errorf("message_start reports %+v", event.Message.Usage)
		}
		if event.Type == "message_delta" && (event.Delta.StopReason != "tool_use" || event.Usage != turn.Usage) {
			t.Errorf("message_delta: %+v", event)
		}
		text += event.Delta.Text
		input += event.Delta.PartialJSON
	}
	block := []string{"content_block_start", "content_block_delta", "content_block_stop"}
	want := append([]string{"message_start"}, append(append(block, block...), "message_delta", "message_stop")...)
	if !reflect.DeepEqual(names, want) {
		t.Errorf("events %v, want %v", names, want)
	}
	if text != turn.Text {
		t.Errorf("text %q", text)
	}
	if err := json.Unmarshal([]byte(input), &last); err != nil || last["command"] != `ls "a b"` {
		t.Errorf("input %q: %v", input, err)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	s := start(t)
	again := Overloaded()
	again.Retry = true
	s.Script(RateLimited("limit reached"), Overloaded(), again)
	for _, want := range []struct {
		status int
		kind   string
		retry  string
	}{{429, "rate_limit_error", "false"}, {529, "overloaded_error", "false"}, {529, "overloaded_error", "true"}} {
		resp, data := post(t, s, messages, body("hello", 13, true))
		if resp.StatusCode != want.status || !strings.Contains(string(data), want.kind) || resp.Header.Get("x-should-retry") != want.retry {
			t.Errorf("got %d %s, retry %q, want %+v", resp.StatusCode, data, resp.Header.Get("x-should-retry"), want)
		}
	}
	if resp, data := post(t, s, messages, `{"model":`); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("half a body: %d %s", resp.StatusCode, data)
	}
	if resp, _ := post(t, s, "/v1/nothing", `{}`); resp.StatusCode != http.StatusNotFound {
		t.Errorf("unknown endpoint: %d", resp.StatusCode)
	}
}

func TestOtherEndpoints(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Models(Model{ID: "claude-test-1", Type: "model", DisplayName: "Test", ContextWindow: 300_000})
	if resp, data := post(t, s, "/v1/messages/count_tokens?beta=true", body(strings.Repeat("x", 400), 0, false)); resp.StatusCode != 200 || !strings.Contains(string(data), `"input_tokens":1`) {
		t.Errorf("count_tokens: %d %s", resp.StatusCode, data)
	}
	for path, want := range map[string]string{
		"/v1/models":               `"data":[{"id":"claude-test-1"`,
		"/v1/models?limit=1000":    `"context_window":300000`,
		"/v1/models/claude-test-1": `"display_name":"Test"`,
		"/v1/models/gone":          `not_found_error`,
	} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("GET %s: %s %v, want %s", path, data, err, want)
		}
	}
	resp, err := http.Head(s.URL() + "/")
	if err != nil || resp.StatusCode != 200 {
		t.Errorf("HEAD /: %v %v", resp, err)
	}
	for _, r := range s.Requests() {
		if r.Kind != Other {
			t.Errorf("%s is of kind %s", r, r.Kind)
		}
	}
}

func TestRequestTakesABodyApart(t *testing.T) {
	t.Parallel()
	s := start(t)
	post(t, s, messages, `{"model":"m","system":"be brief","tools":[{"name":"Read"}],"messages":[
		{"role":"user","content":"look into it"},
		{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/secret"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"line one"}]},{"type":"text","text":"a hook's note"}]},
		{"role":"system","content":"late news"}]}`)
	r := s.Requests()[0]
	if r.System != "be brief" || r.Model != "m" || !reflect.DeepEqual(r.Tools, []string{"Read"}) {
		t.Errorf("got %+v", r)
	}
	if r.Opening() != "look into it" || r.Prompt() != "a hook's note" {
		t.Errorf("opening %q, prompt %q", r.Opening(), r.Prompt())
	}
	if !r.Has("line one") || !r.Has("late news") || r.Has("/secret") || r.Has("be brief") {
		t.Errorf("text is %q", r.Text())
	}
	if use := r.Messages[1].Blocks[0]; use.Tool != "Read" || string(use.Input) != `{"file_path":"/secret"}` {
		t.Errorf("tool use %+v", use)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	s := start(t)
	has := func(text string) func(Request) bool { return func(r Request) bool { return r.Has(text) } }

	found := make(chan Request)
	go func() {
		r, err := s.Wait(t.Context(), 0, has("two"))
		if err != nil {
			t.Error(err)
		}
		found <- r
	}()
	ask(t, s, "one", 13)
	ask(t, s, "two", 13)
	if r := <-found; r.N != 1 {
		t.Errorf("found %s", r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := s.Wait(ctx, 0, has("one")); err != nil || r.N != 0 {
		t.Errorf("a request that is there needs no waiting: %s, %v", r, err)
	}
	if _, err := s.Wait(ctx, 1, has("one")); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for an older one ends with %v", err)
	}
	if _, err := s.Wait(ctx, 99, has("one")); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting beyond the end ends with %v", err)
	}
}

func TestHoldEndsWithTheClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	open := make(chan struct{})
	first := func(r Request) bool { return r.Has("first") }
	s.Script(Say("never").For(first).After(make(chan struct{})), Say("later").After(open))

	ctx, hangUp := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.URL()+messages, strings.NewReader(body("first", 13, false)))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		gone <- err
	}()
	if _, err := s.Wait(t.Context(), 0, func(r Request) bool { return r.Kind == Main }); err != nil {
		t.Fatal(err)
	}
	hangUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("a reply that is held was sent: %v", err)
	}
	close(open)
	if got := ask(t, s, "second", 13).Content[0].Text; got != "later" {
		t.Errorf("got %q", got)
	}
}

func TestManyClientsAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t)
	const n = 20
	for i := range n {
		s.Script(Say(fmt.Sprint(i)))
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		seen = map[string]bool{}
	)
	for range n {
		wg.Go(func() {
			resp, err := http.Post(s.URL()+messages, "application/json", strings.NewReader(body("hi", 13, false)))
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var a answer
			if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Content) == 0 {
				t.Error(err)
				return
			}
			mu.Lock()
			seen[a.Content[0].Text] = true
			mu.Unlock()
		})
	}
	wg.Wait()
	if len(seen) != n || len(s.Requests()) != n {
		t.Errorf("%d different turns, %d requests, want %d", len(seen), len(s.Requests()), n)
	}
}

func TestCloseEndsHeldReplies(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Fallback(Say("never").After(make(chan struct{})))
	done := make(chan error)
	go func() {
		resp, err := http.Post(s.URL()+messages, "application/json", strings.NewReader(body("hi", 13, false)))
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	if _, err := s.Wait(t.Context(), 0, func(Request) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a held reply survived Close")
	}
	if resp, err := http.Head(s.URL() + "/"); err == nil {
		resp.Body.Close()
		t.Error("the server still listens")
	}
}
