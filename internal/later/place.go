package later

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/usage"
)

// Files of the application's directory that hooks know. The others belong to
// package dispatch.
const (
	activityFile = "activity" // its time is when a turn last ended
	tickFile     = "tick"     // its time is when a tick last began
	StateFile    = "state.json"
	reportsName  = "reports"
)

// lockWait is how long a hook waits for another writer.
const lockWait = 200 * time.Millisecond

// AppDir returns the application's directory of the user, "" for a user without a
// home.
func AppDir(h host.Host, getenv func(string) string) string { return usage.AppDir(h.Home, getenv) }

// Root returns the top of the repository that a directory is in, else the
// directory: a task of a project without git can be queued, and run reading only.
func Root(dir string) string {
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

// Queue is the file of a repository's tasks.
type Queue struct {
	Root string // of the repository
	Path string
}

// QueueOf returns the queue of a repository.
func QueueOf(root string, c Config) Queue {
	return Queue{root, filepath.Join(root, filepath.FromSlash(c.QueuePath))}
}

// Read returns the content of the file, nothing where there is none. A file that a
// link puts outside of the repository is an error: it is not the queue's to edit.
func (q Queue) Read() ([]byte, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	data, err := state.ReadFile(q.Path, queue.MaxBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, state.ErrTooLarge):
		return nil, queue.ErrTooBig
	}
	return data, err
}

// Edit replaces the content of the file by what change makes of it, under the lock
// of the application's directory, waiting at most wait for it.
func (q Queue) Edit(app string, wait time.Duration, change func([]byte) ([]byte, error)) error {
	return state.NewDir(app).WithLock(wait, func(*state.Tx) error { return q.edit(change) })
}

// edit is Edit for whoever holds the lock.
func (q Queue) edit(change func([]byte) ([]byte, error)) error {
	old, err := q.Read()
	if err != nil {
		return err
	}
	data, err := change(old)
	if err != nil || string(data) == string(old) {
		return err
	}
	if _, err := os.Stat(q.Root); err != nil {
		return err // no repository comes into being by a task
	}
	if err := os.MkdirAll(filepath.Dir(q.Path), 0o755); err != nil {
		return err
	}
	return state.WriteFile(q.Path, data, 0o644)
}

// check fails where a link is on the way from the repository to the file: a
// repository can ship one, to a file of git's as well as out of it.
func (q Queue) check() error {
	for at := q.Path; state.Within(q.Root, at); at = filepath.Dir(at) {
		if info, err := os.Lstat(at); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return fmt.Errorf("%q is a link, which may lead anywhere: %w", at, state.ErrUnsafe)
		}
	}
	return nil
}
