package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Claude is the dialect of Claude Code (docs/host.md).
type Claude struct{}

// continueSince is the first client that continues a turn on
// hookSpecificOutput.additionalContext, which it shows as "Stop hook says".
// Older ones need decision: block, shown as a problem (docs/host.md, Output).
const continueSince = "2.1.163"

// claudePayload names the fields as Claude Code writes them. Fields whose
// type has changed between versions are decoded on their own, so that one odd
// field does not cost the whole payload.
type claudePayload struct {
	Event          string          `json:"hook_event_name"`
	SessionID      string          `json:"session_id"`
	TranscriptPath string          `json:"transcript_path"`
	Cwd            string          `json:"cwd"`
	AgentID        string          `json:"agent_id"`
	PermissionMode string          `json:"permission_mode"`
	Source         string          `json:"source"`
	Model          json.RawMessage `json:"model"`
	Prompt         string          `json:"prompt"`
	StopHookActive bool            `json:"stop_hook_active"`
	LastMessage    string          `json:"last_assistant_message"`
	Background     json.RawMessage `json:"background_tasks"`
	Failure        json.RawMessage `json:"error"`
	Tool           string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input"`
	Trigger        string          `json:"trigger"`
	Summary        string          `json:"compact_summary"`
	Reason         string          `json:"reason"`
}

// Decode reads the JSON object a hook gets on stdin. A UTF-8 byte order mark
// is skipped. An error means that nothing in it can be trusted.
func (Claude) Decode(stdin []byte) (Payload, error) {
	stdin = bytes.TrimPrefix(stdin, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(stdin)) == 0 {
		return Payload{}, errors.New("payload is empty")
	}
	var c claudePayload
	if err := json.Unmarshal(stdin, &c); err != nil {
		// A field of an unexpected type leaves the others readable.
		var typed *json.UnmarshalTypeError
		if !errors.As(err, &typed) || typed.Field == "" {
			return Payload{}, fmt.Errorf("payload is not readable: %w", err)
		}
	}
	p := Payload{
		Event:          Event(c.Event),
		SessionID:      c.SessionID,
		TranscriptPath: c.TranscriptPath,
		Cwd:            c.Cwd,
		AgentID:        c.AgentID,
		PermissionMode: c.PermissionMode,
		Source:         c.Source,
		Model:          modelID(c.Model),
		Prompt:         c.Prompt,
		StopHookActive: c.StopHookActive,
		LastMessage:    c.LastMessage,
		Failure:        text(c.Failure),
		Tool:           c.Tool,
		Trigger:        c.Trigger,
		Summary:        c.Summary,
		Reason:         c.Reason,
	}
	var tasks []json.RawMessage
	if len(c.Background) > 0 && json.Unmarshal(c.Background, &tasks) == nil {
		p.BackgroundTasks = len(tasks)
	}
	var input struct {
		Path string `json:"file_path"`
	}
	if len(c.ToolInput) > 0 && json.Unmarshal(c.ToolInput, &input) == nil {
		p.ToolPath = input.Path
	}
	return p, nil
}

// modelID reads a model that is either an id or an object with one.
func modelID(raw json.RawMessage) string {
	if s := text(raw); s != "" {
		return s
	}
	var m struct {
		ID string `json:"id"`
	}
	if len(raw) > 0 && json.Unmarshal(raw, &m) == nil {
		return m.ID
	}
	return ""
}

// text returns raw as a string, or "" when it is something else.
func text(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// claudeOutput is what Claude Code reads from a hook's stdout.
type claudeOutput struct {
	Decision string          `json:"decision,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Message  string          `json:"systemMessage,omitempty"`
	Specific *claudeSpecific `json:"hookSpecificOutput,omitempty"`
}

type claudeSpecific struct {
	Event   Event  `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
}

// Encode returns the bytes to write to stdout for out, nil for silence. A
// text above MaxText is cut. What e does not accept is an error: the host
// would reject the whole output, so nothing of it may be written (case F18).
func (Claude) Encode(e Event, out Output) ([]byte, error) {
	if out.Silent() {
		return nil, nil
	}
	r, ok := rules[e]
	switch {
	case !ok:
		return nil, fmt.Errorf("event %q is not known", e)
	case out.Context != "" && !r.context:
		return nil, fmt.Errorf("event %s takes no context", e)
	case out.Message != "" && !r.message:
		return nil, fmt.Errorf("event %s takes no message", e)
	case out.Continue != "" && !r.continues:
		return nil, fmt.Errorf("event %s cannot continue the turn", e)
	}
	c := claudeOutput{Message: Cut(out.Message, MaxText)}
	switch {
	case out.Context != "":
		c.Specific = &claudeSpecific{Event: e, Context: Cut(out.Context, MaxText)}
	case out.Continue != "" && AtLeast(out.Client, continueSince):
		c.Specific = &claudeSpecific{Event: e, Context: Cut(out.Continue, MaxText)}
	case out.Continue != "":
		c.Decision, c.Reason = "block", Cut("Not an error: "+out.Continue, MaxText)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(c); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Len returns the length of s as the host counts it: UTF-16 units, of which
// an emoji takes two.
func Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// Cut returns s if it has at most n characters (Len), else its longest
// beginning that, with an ellipsis, has n. It never splits a character.
func Cut(s string, n int) string {
	if len(s) <= n || Len(s) <= n {
		return s
	}
	used := 0
	for i, r := range s {
		w := max(utf16.RuneLen(r), 1)
		if used+w > n-1 {
			return s[:i] + "…"
		}
		used += w
	}
	return s
}

// Parse returns what stdout says to Claude Code at e. An error means that the
// client would not accept it: it is no single JSON object, has a field that e
// does not allow, says nothing (silence is zero bytes) or exceeds the cap.
func (Claude) Parse(e Event, stdout []byte) (Output, error) {
	if len(stdout) == 0 {
		return Output{}, nil
	}
	if !utf8.Valid(stdout) {
		return Output{}, errors.New("output is not UTF-8")
	}
	var c claudeOutput
	dec := json.NewDecoder(bytes.NewReader(stdout))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Output{}, fmt.Errorf("output is not what the host reads: %w", err)
	}
	if dec.More() {
		return Output{}, errors.New("output is more than one object")
	}
	out := Output{Message: c.Message, Client: continueSince}
	if c.Decision != "" {
		if c.Decision != "block" || c.Reason == "" {
			return Output{}, fmt.Errorf("decision %q needs the value block and a reason", c.Decision)
		}
		out.Continue = c.Reason
	}
	if s := c.Specific; s != nil {
		if s.Event != e {
			return Output{}, fmt.Errorf("output is for %q, the event is %s", s.Event, e)
		}
		if e == Stop {
			out.Continue = s.Context
		} else {
			out.Context = s.Context
		}
	}
	if out.Silent() {
		return Output{}, errors.New("output says nothing: silence is zero bytes")
	}
	for _, s := range []string{out.Context, out.Message, out.Continue} {
		if Len(s) > MaxText {
			return Output{}, fmt.Errorf("text has %d characters, the host takes %d", Len(s), MaxText)
		}
	}
	if _, err := (Claude{}).Encode(e, out); err != nil {
		return Output{}, err
	}
	out.Client = ""
	return out, nil
}

// Valid reports whether stdout is something Claude Code accepts for e:
// nothing at all, or what Parse can read. Tests hold every answer of ours
// against it.
func (Claude) Valid(e Event, stdout []byte) error {
	_, err := Claude{}.Parse(e, stdout)
	return err
}
