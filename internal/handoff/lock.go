package handoff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// A lock stands beside the transcript, one a session. It holds "running ID"
// while a run is at work, and "done TIME" for good after it: one automatic
// handoff a session.
const (
	lockPrefix  = ".handoff-lock-"
	lockRunning = "running "
	lockDone    = "done "
	// lockAge is how long locks of sessions are kept; their transcripts are
	// gone by then.
	lockAge = 45 * 24 * time.Hour
)

type sessionLock struct{ path string }

func lockPath(transcript, session string) string {
	id := handover.FileName(session)
	if transcript == "" || id == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(transcript), lockPrefix+id)
}

// locked reports whether a session has had its handoff, or is having it now.
// The lock of a run that died does not count.
func locked(transcript, session string) bool {
	path := lockPath(transcript, session)
	if path == "" {
		return true
	}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false
	case err != nil:
		return true
	}
	who, running := strings.CutPrefix(string(data), lockRunning)
	if !running {
		// Empty is a lock whose run was killed before it could say its name.
		return len(data) > 0
	}
	id, err := proc.ParseID(who)
	return err == nil && id.Alive()
}

// takeLock takes the lock of a session; nil means that it is taken already.
func takeLock(transcript, session string, now time.Time) (*sessionLock, error) {
	path := lockPath(transcript, session)
	if path == "" {
		return nil, errors.New("an automatic handoff needs the session and its transcript")
	}
	if locked(transcript, session) {
		return nil, nil
	}
	self, err := proc.Identify(os.Getpid())
	if err != nil {
		return nil, err
	}
	// Whatever is there now is dead.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	made, err := state.CreateExclusive(path, []byte(lockRunning+self.String()))
	if err != nil {
		return nil, fmt.Errorf("the lock of the session: %w", err)
	}
	if !made {
		return nil, nil
	}
	sweepLocks(filepath.Dir(path), now)
	return &sessionLock{path}, nil
}

func (l *sessionLock) done(now time.Time) {
	if l != nil {
		state.WriteFile(l.path, []byte(lockDone+now.UTC().Format(time.RFC3339)+"\n"), 0o600)
	}
}

// locks returns the locks of all sessions, which stand beside the transcripts.
func locks(config string) []string {
	found, _ := filepath.Glob(filepath.Join(config, "projects", "*", lockPrefix+"*")) // only the pattern could be wrong
	return found
}

// sweepLocks removes locks that nobody asks for any more.
func sweepLocks(dir string, now time.Time) {
	entries, _ := os.ReadDir(dir) // none where it cannot be read
	for _, e := range entries {
		fi, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), lockPrefix) && fi.Mode().IsRegular() && now.Sub(fi.ModTime()) > lockAge {
			os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
