package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Kind says what a request is for.
type Kind string

// The kinds of requests. Only Main is answered from the script.
const (
	Main       Kind = "main"       // the conversation itself or an agent's
	Side       Kind = "side"       // titles, topic detection, quota probes: few tools or none
	Compaction Kind = "compaction" // asks for a summary of the conversation
	Other      Kind = "other"      // not a message: model list, token count, probe
)

// sideTools is the largest number of tools a request carries that is not the
// conversation (docs/host.md, Running the real client without an account). One
// that was started with few tools has at least that which reads files.
const (
	sideTools = 3
	readTool  = "Read"
)

// compactionMark is in the last prompt of a request to compact, of every
// client version tried.
const compactionMark = "summary of the conversation so far"

// shown is how many characters of a prompt the log of a failed test gets.
const shown = 160

// Request is one call of the client.
type Request struct {
	N      int // position in Server.Requests
	Time   time.Time
	Method string
	Path   string
	Header http.Header
	Raw    []byte // body as received
	Err    error  // why the body could not be decoded
	Kind   Kind

	// From the body of a message.
	Model    string
	Stream   bool
	Tools    []string
	System   string // all blocks of the system prompt, one a line
	Messages []Message
}

// Message is one entry of a conversation.
type Message struct {
	Role   string
	Blocks []Block
}

// Block is one piece of a message. Text is the text of a text block, the
// output of a tool_result, or empty.
type Block struct {
	Type  string
	Text  string
	Tool  string          // tool_use: name
	Input json.RawMessage // tool_use: input
}

// Text returns all text of the conversation after the system prompt: what
// people, hooks and tools have said.
func (r Request) Text() string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, block := range m.Blocks {
			b.WriteString(block.Text)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Opening returns the text of the first user message: reminders of the client
// and the prompt that began the conversation, or the brief of an agent.
func (r Request) Opening() string {
	for _, m := range r.Messages {
		if m.Role == "user" {
			return joinText(m.Blocks)
		}
	}
	return ""
}

// Latest returns the text of the newest user message, reminders and hook
// output in it included.
func (r Request) Latest() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == "user" {
			return joinText(m.Blocks)
		}
	}
	return ""
}

// Prompt returns the last text of the last user message. The client puts its
// reminders into blocks before it, and old clients into blocks after it: it is
// what the person typed as long as no hook and no tool has added anything.
func (r Request) Prompt() string {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if m := r.Messages[i]; m.Role == "user" {
			for j := len(m.Blocks) - 1; j >= 0; j-- {
				if m.Blocks[j].Text != "" {
					return m.Blocks[j].Text
				}
			}
		}
	}
	return ""
}

// Has reports whether the conversation contains text, after the system prompt.
func (r Request) Has(text string) bool { return strings.Contains(r.Text(), text) }

// String is one line for the log of a failed test.
func (r Request) String() string {
	s := fmt.Sprintf("#%d %s %s %s", r.N, r.Time.Format("15:04:05.000"), r.Method, r.Path)
	if r.Kind == Other {
		return s
	}
	prompt := []rune(strings.Join(strings.Fields(r.Prompt()), " "))
	if len(prompt) > shown {
		prompt = append([]rune("…"), prompt[len(prompt)-shown:]...)
	}
	return fmt.Sprintf("%s %s: %s, %d tools, %d messages, last %q", s, r.Kind, r.Model, len(r.Tools), len(r.Messages), string(prompt))
}

func (r *Request) decode() {
	r.Kind = Other
	if r.Raw == nil {
		return
	}
	var body struct {
		Model    string                  `json:"model"`
		Stream   bool                    `json:"stream"`
		Tools    []struct{ Name string } `json:"tools"`
		System   json.RawMessage         `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Raw, &body); err != nil {
		r.Err = fmt.Errorf("body is not a message: %w", err)
		return
	}
	r.Model, r.Stream = body.Model, body.Stream
	for _, t := range body.Tools {
		r.Tools = append(r.Tools, t.Name)
	}
	r.System = joinText(blocks(body.System))
	for _, m := range body.Messages {
		r.Messages = append(r.Messages, Message{Role: m.Role, Blocks: blocks(m.Content)})
	}
	if r.Path != "/v1/messages" {
		return
	}
	switch {
	case strings.Contains(r.Prompt(), compactionMark):
		r.Kind = Compaction
	case len(r.Tools) > sideTools || slices.Contains(r.Tools, readTool):
		r.Kind = Main
	default:
		r.Kind = Side
	}
}

// blocks reads content, which is a string or a list of blocks; the output of
// a tool is content again.
func blocks(raw json.RawMessage) []Block {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []Block{{Type: "text", Text: text}}
	}
	var list []struct {
		Type    string          `json:"type"`
		Text    string          `json:"text"`
		Name    string          `json:"name"`
		Input   json.RawMessage `json:"input"`
		Content json.RawMessage `json:"content"`
	}
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	out := make([]Block, len(list))
	for i, b := range list {
		out[i] = Block{Type: b.Type, Text: b.Text, Tool: b.Name, Input: b.Input}
		if b.Type == "tool_result" {
			out[i].Text = joinText(blocks(b.Content))
		}
	}
	return out
}

func joinText(list []Block) string {
	var parts []string
	for _, b := range list {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
