package git

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	tempPrefix = "ccreload-index-"
	// settled is when a temporary directory has been locked by whoever made it.
	settled = time.Minute
)

// tempDir is a directory for an index of our own. A run that is killed leaves it
// behind, and a git that it started may still be working with it.
type tempDir struct {
	path string
	held *os.File // locked as long as this process or one below it works with it; nil where that cannot be said
}

func newTempDir() (tempDir, error) {
	path, err := os.MkdirTemp("", tempPrefix)
	if err != nil {
		return tempDir{}, err
	}
	return tempDir{path, lockDir(path)}, nil
}

func (t tempDir) remove() {
	os.RemoveAll(t.path)
	if t.held != nil {
		t.held.Close()
	}
}

// Sweep removes what runs that were killed have left among the temporary files,
// once nothing works with it any more.
func Sweep(now time.Time) {
	entries, _ := os.ReadDir(os.TempDir()) // none where it cannot be read
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !e.IsDir() || !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		path := filepath.Join(os.TempDir(), e.Name())
		if rest, _ := os.ReadDir(path); len(rest) == 0 && now.Sub(info.ModTime()).Abs() < settled {
			continue // it is just being made
		}
		if unused(path, now.Sub(info.ModTime())) {
			os.RemoveAll(path)
		}
	}
}
