// Package fakeapi is a Messages API on the loopback interface, good enough for
// the real Claude Code to hold a conversation with. The acceptance tests put
// it in the place of the model: what the model "says", which tools it calls
// and how full it reports its context are scripted, and every request body is
// kept, so that a test can assert on what really reached the model.
//
// It speaks to 127.0.0.1 only, needs no key and never forwards anything. It is
// linked by tests alone; the runtime must not import it (it pulls in net/http).
package fakeapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody bounds one request body. A conversation at the end of a context
// window of one million tokens is about 4 MB.
const maxBody = 64 << 20

// Model is one entry of the answer to GET /v1/models.
type Model struct {
	ID            string `json:"id"`
	Type          string `json:"type"`
	DisplayName   string `json:"display_name"`
	ContextWindow int    `json:"context_window,omitempty"` // tokens; left out when 0
}

// Server is a running loopback API. Its methods may be called from any
// goroutine, also while a client is talking to it.
type Server struct {
	listener net.Listener
	http     *http.Server

	mu       sync.Mutex
	queue    []Turn
	fallback Turn
	summary  Turn
	models   []Model
	requests []Request
	grown    chan struct{} // closed and renewed whenever requests grows
	replies  int
}

// Start listens on a free port of 127.0.0.1. Until a script says otherwise a
// conversation is answered with "ok", a compaction with a one-line summary,
// and the model list is empty.
func Start() (*Server, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("loopback api: %w", err)
	}
	s := &Server{
		listener: l,
		fallback: Say("ok"),
		summary:  Say("<summary>The conversation so far was about nothing in particular.</summary>"),
		grown:    make(chan struct{}),
	}
	s.http = &http.Server{Handler: s.routes(), ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(l) // ends with ErrServerClosed when Close is called
	return s, nil
}

// URL is the base address, for ANTHROPIC_BASE_URL. It has no final slash.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close stops listening and cuts running replies off.
func (s *Server) Close() error { return s.http.Close() }

// Script appends turns. Each answers one request of the conversation: the
// first turn in the queue whose When accepts the request is taken and removed.
func (s *Server) Script(turns ...Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, turns...)
}

// Fallback sets the turn that answers when no scripted one fits.
func (s *Server) Fallback(t Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fallback = t
}

// Summary sets the turn that answers requests to compact the conversation.
func (s *Server) Summary(t Turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.summary = t
}

// Models sets the answer to GET /v1/models.
func (s *Server) Models(m ...Model) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = m
}

// Pending returns how many scripted turns have not been asked for yet.
func (s *Server) Pending() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Requests returns all requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Wait returns the first request numbered from or later that match accepts,
// waiting for it until ctx ends. Use Request.N+1 of one answer as the next
// from.
func (s *Server) Wait(ctx context.Context, from int, match func(Request) bool) (Request, error) {
	seen := from
	for {
		s.mu.Lock()
		all, grown := s.requests, s.grown
		s.mu.Unlock()
		for ; seen < len(all); seen++ {
			if match(all[seen]) {
				return all[seen], nil
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return Request{}, fmt.Errorf("no such request among %d: %w", len(all)-min(from, len(all)), ctx.Err())
		}
	}
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", s.countTokens)
	mux.HandleFunc("GET /v1/models", s.listModels)
	mux.HandleFunc("GET /v1/models/{id}", s.oneModel)
	mux.HandleFunc("HEAD /{$}", func(w http.ResponseWriter, r *http.Request) { s.record(r, nil) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.record(r, nil)
		writeError(w, http.StatusNotFound, "not_found_error", "no such endpoint: "+r.Method+" "+r.URL.Path)
	})
	return mux
}

// record keeps the request, wakes those who wait, and returns it.
func (s *Server) record(r *http.Request, body []byte) Request {
	req := Request{Time: time.Now(), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Raw: body}
	req.decode()
	s.mu.Lock()
	defer s.mu.Unlock()
	req.N = len(s.requests)
	s.requests = append(s.requests, req)
	close(s.grown)
	s.grown = make(chan struct{})
	return req
}

// read takes in a request body and records it. It answers bodies that are too
// long or not JSON itself and returns false.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (Request, bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeError(w, http.StatusRequestEntityTooLarge, "request_too_large", err.Error())
		return Request{}, false
	}
	req := s.record(r, body)
	if req.Err != nil {
		writeError(w, http.StatusBadRequest, "invalid_request_error", req.Err.Error())
		return Request{}, false
	}
	return req, true
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	req, ok := s.read(w, r)
	if !ok {
		return
	}
	turn, n := s.pick(req)
	if turn.Hold != nil {
		select {
		case <-turn.Hold:
		case <-r.Context().Done():
			return
		}
	}
	for name, value := range turn.Header {
		w.Header().Set(name, value)
	}
	if turn.Status != 0 {
		// Without this header the client tries again for minutes.
		w.Header().Set("x-should-retry", strconv.FormatBool(turn.Retry))
		writeError(w, turn.Status, turn.ErrorType, turn.Text)
		return
	}
	turn.reply(req, n).write(w, req.Stream)
}

// pick chooses the turn for req and numbers the reply.
func (s *Server) pick(req Request) (Turn, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies++
	switch req.Kind {
	case Side:
		return Say("ok"), s.replies
	case Compaction:
		return s.summary, s.replies
	}
	for i, t := range s.queue {
		if t.When == nil || t.When(req) {
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
			return t, s.replies
		}
	}
	return s.fallback, s.replies
}

// countTokens answers with a quarter of the body's bytes: the client only
// wants a figure that grows with the text.
func (s *Server) countTokens(w http.ResponseWriter, r *http.Request) {
	req, ok := s.read(w, r)
	if !ok {
		return
	}
	writeJSON(w, http.StatusOK, map[string]int{"input_tokens": len(req.Raw) / 4})
}

func (s *Server) listModels(w http.ResponseWriter, r *http.Request) {
	s.record(r, nil)
	s.mu.Lock()
	list := append([]Model{}, s.models...)
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"data": list, "has_more": false})
}

func (s *Server) oneModel(w http.ResponseWriter, r *http.Request) {
	s.record(r, nil)
	s.mu.Lock()
	list := s.models
	s.mu.Unlock()
	for _, m := range list {
		if m.ID == r.PathValue("id") {
			writeJSON(w, http.StatusOK, m)
			return
		}
	}
	writeError(w, http.StatusNotFound, "not_found_error", "model: "+r.PathValue("id"))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // our own types: net/http logs it and cuts the connection
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(data) // a client that has gone away is no concern of ours
}

func writeError(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{
		"type":  "error",
		"error": map[string]string{"type": kind, "message": strings.TrimSpace(message)},
	})
}
