package transcript

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Session is a transcript among others.
type Session struct {
	Path string
	Time time.Time // when it was last written to
}

// Sessions returns the transcripts in the directories of projects, the host's, the
// newest first; those that cannot be read are none.
func Sessions(projects string) []Session {
	var all []Session
	dirs, _ := os.ReadDir(projects)
	for _, d := range dirs {
		files, _ := os.ReadDir(filepath.Join(projects, d.Name()))
		for _, f := range files {
			if info, err := f.Info(); err == nil && info.Mode().IsRegular() && IsSession(f.Name()) {
				all = append(all, Session{filepath.Join(projects, d.Name(), f.Name()), info.ModTime()})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Session) int { return b.Time.Compare(a.Time) })
	return all
}

// IsSession reports whether a file may be the transcript of a session, by its name.
// Subagents of some clients have theirs beside it.
func IsSession(name string) bool {
	return strings.HasSuffix(name, ".jsonl") && !strings.HasPrefix(name, "agent-")
}

// endSize is how many bytes at either end of a transcript are looked into for a
// directory.
const endSize = 64 << 10

// Cwd returns the directory that the newest row of a transcript names, or
// where the end of the file holds no whole row, the oldest; "" for none. The name
// of the directory that the file is in does not say it (case F47).
func Cwd(path string) string {
	f, size, err := open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for _, at := range []int64{max(0, size-endSize), 0} {
		data, _ := io.ReadAll(io.NewSectionReader(f, at, endSize))
		lines := bytes.Split(data, []byte("\n"))
		for _, line := range slices.Backward(lines) {
			var row struct {
				Cwd string `json:"cwd"`
			}
			if json.Unmarshal(line, &row) == nil && row.Cwd != "" {
				return row.Cwd
			}
		}
	}
	return ""
}
