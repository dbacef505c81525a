package handoff

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// A commit is made beside the user's index, and until the index is told of the
// committed files it stands for their removal. What the run did not tell it,
// the next event of a session does.
const pendingFile = "pending-index" // in the data directory: one line a commit

// RefreshTimeout is how long telling the indexes may take. A test on a busy machine
// gives it more.
var RefreshTimeout = 500 * time.Millisecond

// pendingTime is how long a commit is waited for that a killed run has begun:
// its git may go on, and the hooks of the repository with it.
const pendingTime = time.Hour

// pendingIndex is a commit that the user's index is to be told of. It is noted
// before the commit is made.
type pendingIndex struct {
	Top    string    `json:"top"`    // of the worktree
	Before string    `json:"before"` // the commit it is made on
	Paths  []string  `json:"paths"`  // below Top, with slashes
	Time   time.Time `json:"time"`
}

func (p pendingIndex) line() []byte {
	line, _ := json.Marshal(p) // strings and a time always can
	return append(line, '\n')
}

func (p pendingIndex) note(data string) error {
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		old, _ := tx.Read(pendingFile, maxFile)
		return tx.Write(pendingFile, append(old, p.line()...))
	})
}

func (p pendingIndex) drop(data string) error {
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		old, err := tx.Read(pendingFile, maxFile)
		if err != nil {
			return err
		}
		return writePending(tx, bytes.ReplaceAll(old, p.line(), nil))
	})
}

func writePending(tx *state.Tx, content []byte) error {
	if len(content) == 0 {
		return tx.Remove(pendingFile)
	}
	return tx.Write(pendingFile, content)
}

// refreshIndexes makes all pending index updates. What cannot be done now is
// tried again at the next event, except where the worktree is gone.
func refreshIndexes(call *host.Call) {
	if call.Host.Data == "" {
		return
	}
	dir := state.NewDir(call.Host.Data)
	if _, err := os.Lstat(dir.Path(pendingFile)); err != nil {
		return
	}
	call.Slow()
	ctx, cancel := context.WithTimeout(context.Background(), RefreshTimeout)
	defer cancel()
	err := dir.WithLock(endWait, func(tx *state.Tx) error {
		data, err := tx.Read(pendingFile, maxFile)
		if err != nil {
			return err
		}
		var left []byte
		for line := range bytes.Lines(data) {
			switch again, err := refresh(ctx, line, call.Env.Now()); {
			case again:
				left = append(left, line...)
				fallthrough
			case err != nil:
				call.Env.Log("a pending index update was not made", "error", err.Error())
			}
		}
		return writePending(tx, left)
	})
	if err != nil {
		call.Env.Log("no pending index update was made", "error", err.Error())
	}
}

// refresh makes one pending index update. Where it fails it reports whether to
// try again.
func refresh(ctx context.Context, line []byte, now time.Time) (again bool, err error) {
	var p pendingIndex
	if err := json.Unmarshal(line, &p); err != nil {
		return false, err
	}
	if _, err := os.Stat(p.Top); err != nil {
		return false, err
	}
	repo, err := git.Open(ctx, p.Top)
	if err != nil {
		return true, err
	}
	made, err := repo.Find(ctx, p.Before, p.Paths...)
	if err == nil {
		err = repo.RefreshIndex(ctx, made)
	} else if now.Sub(p.Time).Abs() > pendingTime {
		return false, err
	}
	return err != nil, err
}
