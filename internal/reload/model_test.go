package reload

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// A switch of the model is noticed at Stop: the host says nothing of it.
func TestStopRestampsOnASwitch(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(20_000, "claude-haiku-4-5-20251001")
	const large = "model: claude-haiku-4-5[1m]\nwindow: 1000000\n"
	w.put(modelFile, large)
	w.silent("the same model")
	if got := w.read(modelFile); got != large {
		t.Errorf("the large window was lost: %q", got)
	}
	w.put(modelFile, "# mine\nmodel: claude-opus-5-5[1m]\nwindow: 1000000\n")
	w.silent("another model")
	if got := w.read(modelFile); got != "# mine\nmodel: claude-haiku-4-5-20251001\nwindow: 200000\n" {
		t.Errorf("not restamped: %q", got)
	}
	// Ids are matched at their borders.
	w.at(20_000, "claude-opus-4-10")
	w.put(modelFile, "model: claude-opus-4-1\nwindow: 200000\n")
	w.silent("another model")
	if got := w.read(modelFile); got != "model: claude-opus-4-10\nwindow: 1000000\n" {
		t.Errorf("not restamped: %q", got)
	}
}

func TestModelAtStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, ok := modelAtStart(w.call()); ok {
		t.Error("no model, yet something to stamp")
	}
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		io.WriteString(rw, `{"data":[{"id":"claude-haiku-4-5","context_window":64000}]}`)
	}))
	defer server.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct {
		model, url string
		window     int
	}{
		{"claude-haiku-4-5", "", 200_000},
		{"claude-haiku-4-5[1m]", "", 1_000_000},
		{"claude-new-9", "", 1_000_000},
		{"claude-haiku-4-5", server.URL, 64_000},
		{"claude-opus-5-5", server.URL, 1_000_000},
		{"claude-haiku-4-5", "http://" + closed.Addr().String(), 200_000},
		{"claude-haiku-4-5", "https://api.example.com", 200_000},
	} {
		w.payload.Model = tt.model
		w.env["ANTHROPIC_BASE_URL"] = tt.url
		stamp, ok := modelAtStart(w.call())
		if !ok || stamp.model != tt.model || stamp.window != tt.window {
			t.Errorf("%s at %q: %+v", tt.model, tt.url, stamp)
		}
		err := dirOf(w.project).WithLock(lockTimeout, func(tx *state.Tx) error { return stamp.write(tx) })
		if want := fmt.Sprintf("model: %s\nwindow: %d\n", tt.model, tt.window); err != nil || w.read(modelFile) != want {
			t.Errorf("error %v, file %q, want %q", err, w.read(modelFile), want)
		}
	}
}

func TestStampHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	f := handover.HostFigure{Session: "s1", Model: opus, Window: 1_000_000, Used: 7}
	stamp := func(f handover.HostFigure) {
		t.Helper()
		if err := StampHost(w.project, f); err != nil {
			t.Fatal(err)
		}
	}
	stamp(f)
	if w.has("") {
		t.Error("the status line created a state directory")
	}
	w.put(".gitignore", "*\n")
	stamp(f)
	if got, ok := handover.ReadHost(dirOf(w.project)); !ok || got != f {
		t.Errorf("%+v, %v", got, ok)
	}
	if got := w.read(modelFile); got != "model: claude-opus-5-5\nwindow: 1000000\n" {
		t.Errorf("model %q", got)
	}
	// Nothing new, nothing written.
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(w.path(".host"), past, past); err != nil {
		t.Fatal(err)
	}
	stamp(f)
	if info, err := os.Stat(w.path(".host")); err != nil || !info.ModTime().Equal(past.Truncate(time.Nanosecond)) {
		t.Errorf("written again: %v %v", info.ModTime(), err)
	}
	f.Used = -1 // right after a compaction
	stamp(f)
	if got, _ := handover.ReadHost(dirOf(w.project)); got != f {
		t.Errorf("%+v", got)
	}
	// case F06: a figure that is too small does not shrink the stamp.
	f.Window = 200_000
	stamp(f)
	if got := w.read(modelFile); got != "model: claude-opus-5-5\nwindow: 1000000\n" {
		t.Errorf("model %q", got)
	}
	stamp(handover.HostFigure{Session: "s1", Model: opus + "[1m]", Window: 200_000, Used: 50})
	f = handover.HostFigure{Session: "s1", Model: opus + "[1m]", Window: 1_000_000, Used: 10}
	if got, _ := handover.ReadHost(dirOf(w.project)); got != f {
		t.Errorf("%+v, want %+v", got, f)
	}
	for _, none := range []handover.HostFigure{{Model: opus, Window: 5000}, {Session: "s", Window: 5000}, {Session: "s", Model: opus, Window: 5}} {
		stamp(none)
	}
	if got, _ := handover.ReadHost(dirOf(w.project)); got != f {
		t.Errorf("a figure that is none was stamped: %+v", got)
	}
}

// The version is written once, and only where a session has been started or
// something is armed.
func TestClientVersion(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ file, want string }{
		"a project with settings": {configFile, ""},
		"a session was started":   {options.StampFile, "2.1.332"},
		"armed by a command":      {armFile, "2.1.332"},
	} {
		w := newWorld(t).at(20_000, opus)
		w.put(tt.file, "\n")
		w.silent(name)
		if got := handover.ClientVersion(dirOf(w.project), handover.Client{}); got != tt.want {
			t.Errorf("%s: version %q, want %q", name, got, tt.want)
		}
		if tt.want == "" {
			continue
		}
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(w.path(clientFile), past, past); err != nil {
			t.Fatal(err)
		}
		w.silent(name)
		if info, err := os.Stat(w.path(clientFile)); err != nil || time.Since(info.ModTime()) < time.Minute {
			t.Errorf("%s: written again", name)
		}
	}
}
