//go:build unix

package reload

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

// A pipe in the place of any of the files is neither read nor replaced, and no
// hook waits for it.
func TestPipesStay(t *testing.T) {
	t.Parallel()
	for _, name := range []string{digestFile, armFile, configFile, markerFile, trustFile, ladderFile, seenFile, historyDir, historyDir + "/" + keptName(1)} {
		w := newWorld(t).at(460_000, opus)
		w.env["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE"] = "snapshot"
		if name != digestFile {
			w.put(digestFile, sampleDigest)
		}
		w.put(modelFile, "")
		os.MkdirAll(filepath.Dir(w.path(name)), 0o755)
		if err := syscall.Mkfifo(w.path(name), 0o600); err != nil {
			t.Skip(err)
		}
		for _, event := range []host.Event{host.SessionStart, host.UserPromptSubmit, host.PreToolUse, host.PostToolUse, host.Stop, host.Stop, host.PreCompact, host.SessionEnd} {
			w.payload = host.Payload{Event: event, SessionID: "s1", TranscriptPath: w.transcript, Cwd: w.project, Tool: "Write", ToolPath: w.path(digestFile)}
			// An error is a line in the log.
			if _, err := handler(event)(w.call()); err != nil {
				t.Logf("%s: %s: %v", name, event, err)
			}
		}
		d := w.store("s1")
		d.Arm()
		d.Take()
		d.Show(1)
		d.Restore(0, true)
		d.Write([]byte(page), "", true)
		d.Status(w.transcript)
		if info, err := os.Lstat(w.path(name)); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
