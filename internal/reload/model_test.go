package reload

import (
	"os"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/options"
)

const modelFile = "model"

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
