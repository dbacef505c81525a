package transcript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The rows below have the shape of the recorded ones (testdata/*.jsonl), less
// the members that nobody reads.

const common = `"uuid":"735348af-a493-4e46-8222-76efee646088","timestamp":"2026-11-30T21:40:40.433Z","userType":"external","entrypoint":"cli","cwd":"/home/ann/proj","sessionId":"6622c39f","version":"2.1.332","gitBranch":"main"`

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// reply is an assistant row with content (a list of blocks) and usage.
func reply(content, usage string) string {
	return fmt.Sprintf(`{"parentUuid":"e8478276","isSidechain":false,"message":{"id":"msg_0001","type":"message","role":"assistant","model":"claude-opus-5-5","content":[%s],"stop_reason":"end_turn","usage":%s},"requestId":"req_1","type":"assistant",%s}`, content, usage, common)
}

// said is a reply of tokens tokens.
func said(tokens int) string { return reply(textBlock("Big read."), usage(tokens)) }

func usage(tokens int) string {
	return fmt.Sprintf(`{"input_tokens":3,"cache_creation_input_tokens":1000,"cache_read_input_tokens":%d,"output_tokens":20,"cache_creation":{"ephemeral_1h_input_tokens":77},"iterations":[]}`, tokens-1003)
}

func textBlock(s string) string { return `{"type":"text","text":` + quote(s) + `}` }

func toolUse(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

// asked is a user row with content, which is JSON.
func asked(content, more string) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":%s},%s%s}`, content, more, common)
}

func typed(s string) string { return asked(quote(s), `"origin":{"kind":"human"},`) }

func toolResult(id, content string, failed bool) string {
	return asked(fmt.Sprintf(`[{"tool_use_id":%q,"type":"tool_result","content":%s,"is_error":%t}]`, id, quote(content), failed), "")
}

func boundary(metadata string) string {
	return `{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":` + metadata + `,` + common + `}`
}

func attachment(size int) string {
	return `{"parentUuid":"e","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":[` + quote(strings.Repeat(`say "user" or "assistant" \n`, size/26)) + `]},"type":"attachment",` + common + `}`
}

const (
	summaryFlag = `"isVisibleInTranscriptOnly":true,"isCompactSummary":true,`
	synthRow    = `{"isSidechain":false,"type":"assistant","message":{"id":"13f0c17e","model":"<synthetic>","role":"assistant","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"iterations":null},"content":[{"type":"text","text":"No response requested."}]},` + common + `}`
	limitRow    = `{"isSidechain":false,"type":"assistant","message":{"id":"13f0c17e","model":"<synthetic>","role":"assistant","type":"message","usage":{"input_tokens":0,"output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0},"content":[{"type":"text","text":"API Error: Request rejected (429)"}]},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429,` + common + `}`
)

func sidechain(row string) string {
	return strings.Replace(row, `"isSidechain":false`, `"isSidechain":true`, 1)
}

// lines joins rows as the host writes them.
func lines(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

func recorded(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// written puts content in a file.
func written(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
