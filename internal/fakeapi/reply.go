package fakeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// reply is a message on its way to the client.
type reply struct {
	ID         string  `json:"id"`
	Type       string  `json:"type"`
	Role       string  `json:"role"`
	Model      string  `json:"model"`
	Content    []any   `json:"content"`
	StopReason *string `json:"stop_reason"`
	StopSeq    *string `json:"stop_sequence"`
	Usage      Usage   `json:"usage"`
}

type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

type toolBlock struct {
	Type  string         `json:"type"`
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Input map[string]any `json:"input"`
}

// reply is the n-th answer of the server, to req.
func (t Turn) reply(req Request, n int) reply {
	r := reply{
		ID: fmt.Sprintf("msg_%06d", n), Type: "message", Role: "assistant",
		Model: req.Model, Content: []any{}, Usage: t.Usage,
	}
	if r.Usage == (Usage{}) {
		r.Usage = Occupied(1000)
	}
	if t.Text != "" {
		r.Content = append(r.Content, textBlock{"text", t.Text})
	}
	for i, use := range t.Tools {
		input := use.Input
		if input == nil {
			input = map[string]any{}
		}
		r.Content = append(r.Content, toolBlock{"tool_use", fmt.Sprintf("toolu_%06d_%d", n, i), use.Name, input})
	}
	stop := "end_turn"
	if len(t.Tools) > 0 {
		stop = "tool_use"
	}
	r.StopReason = &stop
	return r
}

// write sends the reply: as server-sent events when the client asked for a
// stream, else as one JSON object.
func (r reply) write(w http.ResponseWriter, stream bool) {
	w.Header().Set("request-id", "req_"+r.ID)
	if !stream {
		writeJSON(w, http.StatusOK, r)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")

	type object = map[string]any
	open := r
	open.Content, open.StopReason = []any{}, nil
	open.Usage.Output = 1
	event(w, "message_start", object{"message": open})
	for i, block := range r.Content {
		var start, delta any
		switch b := block.(type) {
		case textBlock:
			start = textBlock{b.Type, ""}
			delta = object{"type": "text_delta", "text": b.Text}
		case toolBlock:
			input, err := json.Marshal(b.Input)
			if err != nil {
				panic(err) // a script that cannot be sent: net/http logs it and cuts the connection
			}
			b.Input = map[string]any{}
			start = b
			delta = object{"type": "input_json_delta", "partial_json": string(input)}
		}
		event(w, "content_block_start", object{"index": i, "content_block": start})
		event(w, "content_block_delta", object{"index": i, "delta": delta})
		event(w, "content_block_stop", object{"index": i})
	}
	event(w, "message_delta", object{
		"delta": object{"stop_reason": r.StopReason, "stop_sequence": nil},
		"usage": r.Usage,
	})
	event(w, "message_stop", object{})
}

// event sends one server-sent event. Its type stands in the event line and in
// the data, as clients look at either.
func event(w http.ResponseWriter, name string, data map[string]any) {
	data["type"] = name
	body, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, body)
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}
