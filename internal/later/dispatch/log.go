package dispatch

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// LogFile has a line for everything that happened, as the original writes it.
const LogFile = "run_log.jsonl"

// maxLog is how large it gets before it is moved to run_log.jsonl.1, in bytes.
const maxLog = 1_000_000

// fields are what a line of the log has beside its time and event.
type fields map[string]any

// log notes an event. A log that cannot be written stops nothing.
func (w *World) log(event string, f fields) {
	line := map[string]any{"ts": w.Env.Now().UTC().Format(time.RFC3339), "event": event}
	for k, v := range f {
		line[k] = v
	}
	data, err := json.Marshal(line)
	if err == nil {
		err = state.Append(filepath.Join(w.App, LogFile), data, maxLog)
	}
	if err != nil {
		w.Env.Log("run log", "error", err.Error())
	}
}
