package cli_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// servedKey is where a script's server counts its requests.
type servedKey struct{}

// serve DIR VARIABLE: serves DIR on this machine until the script ends, and
// puts the URL into VARIABLE.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve DIR VARIABLE")
	}
	count, _ := ts.Value(servedKey{}).(*atomic.Int64)
	files := http.FileServer(http.Dir(ts.MkAbs(args[0])))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		files.ServeHTTP(w, r)
	}))
	ts.Defer(server.Close)
	ts.Setenv(args[1], server.URL)
}

// served N: the server has been asked N times since the script began.
func served(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: served N")
	}
	count, _ := ts.Value(servedKey{}).(*atomic.Int64)
	if want, err := strconv.ParseInt(args[0], 10, 64); err != nil || count.Load() != want {
		ts.Fatalf("%d requests, want %s", count.Load(), args[0])
	}
}
