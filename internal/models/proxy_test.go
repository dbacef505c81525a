package models

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const listing = `{"object":"list","data":[
	{"id":"other","context_window":1},
	{"id":"odd","context_window":"many","context_length":64000},
	"not a model",
	{"id":"claude-haiku-5-5","context_window":321000},
	{"id":"by-length","context_length":131072},
	{"id":"by-tokens","max_context_tokens":65536},
	{"id":"by-len","max_model_len":32768},
	{"id":"by-input","max_input_tokens":180000},
	{"id":"claude-opus-4-1-20250805","context_window":111000},
	{"id":"none"}],"has_more":false}`

func TestProxyWindow(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, listing) })
	mux.HandleFunc("GET /a/b/v1/models", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `[{"name":"m","context_window":77000}]`)
	})
	mux.HandleFunc("GET /chunked/v1/models", func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(listing); i += 100 {
			io.WriteString(w, listing[i:min(i+100, len(listing))])
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("GET /moved/v1/models", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/v1/models", http.StatusFound)
	})
	mux.HandleFunc("GET /large/v1/models", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Repeat(" ", 2<<20)+listing)
	})
	mux.HandleFunc("GET /html/v1/models", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "<html>") })
	server := httptest.NewServer(mux)
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		base, id string
		want     int
	}{
		{server.URL, "claude-haiku-5-5", 321_000},
		{server.URL + "/", "claude-haiku-5-5[1m]", 321_000},
		{" HTTP://localhost:" + port, "by-length", 131_072},
		{server.URL, "by-tokens", 65_536},
		{server.URL, "by-len", 32_768},
		{server.URL, "by-input", 180_000},
		{server.URL, "odd", 64_000},
		{server.URL, "claude-opus-4-1", 111_000},
		{server.URL, "claude-opus-4-10", 0},
		{server.URL, "other", 0},
		{server.URL, "none", 0},
		{server.URL, "missing", 0},
		{server.URL, "", 0},
		{server.URL + "/a/b/", "m", 77_000},
		{server.URL + "/chunked", "claude-haiku-5-5", 321_000},
		{server.URL + "/moved", "claude-haiku-5-5", 0},
		{server.URL + "/large", "claude-haiku-5-5", 0},
		{server.URL + "/html", "claude-haiku-5-5", 0},
		{server.URL + "/nothing/here", "claude-haiku-5-5", 0},
	} {
		got, ok := ProxyWindow(t.Context(), dial, tt.base, tt.id)
		if got != tt.want || ok != (tt.want != 0) {
			t.Errorf("%s for %q: %d, %t, want %d", tt.base, tt.id, got, ok, tt.want)
		}
	}
}

func TestOnlyLoopbackIsAsked(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"", "127.0.0.1:80", "https://127.0.0.1", "http://127.0.0.2", "http://127.0.0.1.example.com", "http://localhost.example.com", "http://example.com",
		"http://user@127.0.0.1", "http://127.0.0.1@example.com", "http://127.0.0.1:0", "http://127.0.0.1:99999", "http://127.0.0.1:port", "http://::1", "http://[::2]",
		"http://127.0.0.1/a b", "http://127.0.0.1/\r\nHost: x", "http://127.0.0.1/?x=1", "http://127.0.0.1#x", "http://0.0.0.0", "http://", "http:///v1",
	} {
		if at, err := parseLoopback(s); err == nil {
			t.Errorf("%q is accepted: %+v", s, at)
		}
	}
	for s, want := range map[string]string{
		"http://127.0.0.1":         "127.0.0.1:80",
		"http://127.0.0.1:8080/a/": "127.0.0.1:8080",
		"http://LOCALHOST:1":       "127.0.0.1:1",
		"http://[::1]:8080":        "[::1]:8080",
		"http://[::1]/v":           "[::1]:80",
	} {
		at, err := parseLoopback(s)
		if err != nil || at.addrs[0] != want {
			t.Errorf("%q: %+v, %v, want %s", s, at, err, want)
		}
	}
}

func TestASilentProxyIsGivenUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if n, ok := ProxyWindow(ctx, dial, "http://"+l.Addr().String(), "m"); ok {
		t.Errorf("it said %d", n)
	}
	if d := time.Since(start); d > proxyTimeout {
		t.Errorf("that took %v", d)
	}
}

func TestReadResponse(t *testing.T) {
	t.Parallel()
	const ok = "HTTP/1.1 200 OK\r\n"
	for name, tt := range map[string]struct {
		in, want string
		fail     bool
	}{
		"length":          {in: ok + "Content-Length: 3\r\n\r\nabcdef", want: "abc"},
		"to the end":      {in: "HTTP/1.0 200 OK\n\nabc", want: "abc"},
		"no reason":       {in: "HTTP/1.1 200\r\n\r\nabc", want: "abc"},
		"chunks":          {in: ok + "transfer-encoding: Chunked\r\n\r\n2;x=y\r\nab\r\nA\r\ncdefghijkl\r\n0\r\nX: y\r\n\r\n", want: "abcdefghijkl"},
		"too short":       {in: ok + "Content-Length: 9\r\n\r\nabc", fail: true},
		"negative length": {in: ok + "Content-Length: -1\r\n\r\nabc", fail: true},
		"absurd length":   {in: ok + "Content-Length: 99999999999\r\n\r\nabc", fail: true},
		"half a chunk":    {in: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nab", fail: true},
		"absurd chunk":    {in: ok + "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\nab", fail: true},
		"no chunk":        {in: ok + "Transfer-Encoding: chunked\r\n\r\nzz\r\nab", fail: true},
		"unmarked end":    {in: ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", fail: true},
		"compressed":      {in: ok + "Transfer-Encoding: gzip\r\n\r\nabc", fail: true},
		"not found":       {in: "HTTP/1.1 404 Not Found\r\n\r\nabc", fail: true},
		"2000":            {in: "HTTP/1.1 2000\r\n\r\nabc", fail: true},
		"HTTP/2":          {in: "HTTP/2 200\r\n\r\nabc", fail: true},
		"something else":  {in: "SSH-2.0-OpenSSH\r\n", fail: true},
		"nothing":         {in: "", fail: true},
		"endless header":  {in: ok + strings.Repeat("x", 1<<20), fail: true},
	} {
		got, err := readResponse(strings.NewReader(tt.in))
		if tt.fail != (err != nil) || !tt.fail && string(got) != tt.want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func FuzzReadResponse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"))
	f.Add([]byte("HTTP/1.1 200 OK\r\n\r\n" + listing))
	f.Fuzz(func(t *testing.T, data []byte) {
		body, err := readResponse(strings.NewReader(string(data)))
		if err != nil {
			return
		}
		if len(body) > len(data) {
			t.Fatalf("%d bytes of body from %d bytes", len(body), len(data))
		}
		if n, ok := listedWindow(body, "claude-haiku-5-5"); ok != (n >= MinWindow) {
			t.Fatalf("%d, %t", n, ok)
		}
	})
}

func dial(ctx context.Context, address string) (io.ReadWriteCloser, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
