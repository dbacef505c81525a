package models

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"time"
)

const (
	proxyTimeout = time.Second // for the whole look-up
	proxyMax     = 1 << 20     // bytes of an answer that are read
)

// Dial opens a connection to an IP address and port.
type Dial = func(ctx context.Context, address string) (io.ReadWriteCloser, error)

// ProxyWindow asks a proxy on this machine for the window of the model called
// id, in tokens. It sends one GET of v1/models below baseURL, which must be
// http on 127.0.0.1, localhost or [::1], and takes one second at most. False
// means that there is no usable answer, for whatever reason.
//
// It speaks the little HTTP it needs by itself, through what dial opens:
// net/http would double the size and the start-up time of every hook, and most
// hooks run without package net.
func ProxyWindow(ctx context.Context, dial Dial, baseURL, id string) (int, bool) {
	at, err := parseLoopback(baseURL)
	if err != nil {
		return 0, false
	}
	ctx, cancel := context.WithTimeout(ctx, proxyTimeout)
	defer cancel()
	body, err := at.get(ctx, dial, "/v1/models")
	if err != nil {
		return 0, false
	}
	return listedWindow(body, id)
}

// loopback is a base URL that stays on this machine.
type loopback struct {
	host   string   // as written, for the Host header
	addrs  []string // addresses to try, in order
	prefix string   // path, without a slash at the end
}

var errNotLoopback = errors.New("not an http URL of this machine")

// parseLoopback accepts exactly the URLs that cannot leave this machine. The
// name localhost is not looked up, so no resolver can send it elsewhere.
func parseLoopback(s string) (loopback, error) {
	const scheme = "http://"
	s = strings.TrimSpace(s)
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return loopback{}, errNotLoopback
	}
	s = s[len(scheme):]
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == '@' || s[i] == '?' || s[i] == '#' {
			return loopback{}, errNotLoopback
		}
	}
	authority, path := s, ""
	if i := strings.IndexByte(s, '/'); i >= 0 {
		authority, path = s[:i], s[i:]
	}
	name, port := authority, "80"
	if i := strings.LastIndexByte(authority, ':'); i >= 0 && !strings.HasSuffix(authority, "]") {
		name, port = authority[:i], authority[i+1:]
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return loopback{}, errNotLoopback
	}
	port = strconv.FormatUint(n, 10)
	v4, v6 := "127.0.0.1:"+port, "[::1]:"+port
	at := loopback{host: authority, prefix: strings.TrimRight(path, "/")}
	switch strings.ToLower(name) {
	case "127.0.0.1":
		at.addrs = []string{v4}
	case "[::1]":
		at.addrs = []string{v6}
	case "localhost":
		at.addrs = []string{v4, v6}
	default:
		return loopback{}, errNotLoopback
	}
	return at, nil
}

// get returns the body of a 200 answer. It follows no redirect.
func (at loopback) get(ctx context.Context, dial Dial, path string) ([]byte, error) {
	var conn io.ReadWriteCloser
	var err error
	for _, addr := range at.addrs {
		if conn, err = dial(ctx, addr); err == nil {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// Closing the connection is what ends a read when ctx ends early.
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	request := "GET " + at.prefix + path + " HTTP/1.1\r\n" +
		"Host: " + at.host + "\r\n" +
		"User-Agent: ccreload\r\n" +
		"Accept: application/json\r\n" +
		"Accept-Encoding: identity\r\n" +
		"Connection: close\r\n\r\n"
	if _, err := io.WriteString(conn, request); err != nil {
		return nil, err
	}
	return readResponse(io.LimitReader(conn, proxyMax))
}

var errResponse = errors.New("not a usable answer")

// readResponse returns the body of one HTTP/1 answer with status 200.
func readResponse(r io.Reader) ([]byte, error) {
	br := bufio.NewReader(r)
	status, err := readLine(br)
	if err != nil {
		return nil, err
	}
	version, rest, _ := strings.Cut(status, " ")
	code, _, _ := strings.Cut(rest, " ")
	if version != "HTTP/1.0" && version != "HTTP/1.1" || code != "200" {
		return nil, errResponse
	}
	length, chunked := int64(-1), false
	for {
		line, err := readLine(br)
		if err != nil {
			return nil, err
		}
		if line == "" {
			break
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case strings.EqualFold(key, "Content-Length"):
			if length, err = strconv.ParseInt(value, 10, 64); err != nil || length < 0 || length > proxyMax {
				return nil, errResponse
			}
		case strings.EqualFold(key, "Transfer-Encoding"):
			if !strings.EqualFold(value, "chunked") {
				return nil, errResponse
			}
			chunked = true
		}
	}
	switch {
	case chunked:
		return readChunks(br)
	case length >= 0:
		body := make([]byte, length)
		_, err := io.ReadFull(br, body)
		return body, err
	}
	return io.ReadAll(br)
}

// readChunks joins the parts of a chunked body.
func readChunks(br *bufio.Reader) ([]byte, error) {
	var body []byte
	for {
		line, err := readLine(br)
		if err != nil {
			return nil, err
		}
		size, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 32)
		if err != nil || n > proxyMax {
			return nil, errResponse
		}
		if n == 0 {
			return body, nil
		}
		from := len(body)
		body = append(body, make([]byte, n)...)
		if _, err := io.ReadFull(br, body[from:]); err != nil {
			return nil, err
		}
		if line, err = readLine(br); err != nil || line != "" {
			return nil, errResponse
		}
	}
}

// readLine returns a line without its end. One that does not fit in the
// reader's buffer is no header of ours.
func readLine(br *bufio.Reader) (string, error) {
	line, err := br.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	return strings.TrimRight(string(line), "\r\n"), nil
}

// listedModel is a model as a list of /v1/models shows it. Proxies do not
// agree on the names; the first one given counts.
type listedModel struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Model string `json:"model"`

	ContextWindow    int `json:"context_window"`
	ContextLength    int `json:"context_length"`
	ContextSize      int `json:"context_size"`
	MaxContextWindow int `json:"max_context_window"`
	MaxContextLength int `json:"max_context_length"`
	MaxContextTokens int `json:"max_context_tokens"`
	MaxModelLen      int `json:"max_model_len"`
	MaxInputTokens   int `json:"max_input_tokens"`
}

func (m listedModel) window() int {
	for _, n := range []int{
		m.ContextWindow, m.ContextLength, m.ContextSize, m.MaxContextWindow,
		m.MaxContextLength, m.MaxContextTokens, m.MaxModelLen, m.MaxInputTokens,
	} {
		if n >= MinWindow {
			return n
		}
	}
	return 0
}

// listedWindow finds the window of the model called id in a list of models:
// the one of exactly that name, else one that is the same model.
func listedWindow(body []byte, id string) (int, bool) {
	var list struct {
		Data   []json.RawMessage `json:"data"`
		Models []json.RawMessage `json:"models"`
	}
	if json.Unmarshal(body, &list) != nil {
		if json.Unmarshal(body, &list.Data) != nil {
			return 0, false
		}
	}
	near := 0
	for _, raw := range append(list.Data, list.Models...) {
		var m listedModel
		// One odd field must not cost the others: what was readable is used.
		var typed *json.UnmarshalTypeError
		if err := json.Unmarshal(raw, &m); err != nil && !errors.As(err, &typed) {
			continue
		}
		window := m.window()
		if window == 0 {
			continue
		}
		for _, name := range []string{m.ID, m.Name, m.Model} {
			switch {
			case name == "":
			case name == id:
				return window, true
			case near == 0 && Same(name, id):
				near = window
			}
		}
	}
	return near, near != 0
}
