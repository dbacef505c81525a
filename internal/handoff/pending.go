package handoff

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// A commit is made beside the user's index, and until the index is told of the
// committed files it stands for their removal. What the run did not tell it,
// the next event of a session does.
const pendingFile = "pending-index" // in the data directory: one line a commit

// refreshTime is what telling the indexes may take; a test gives them more.
var refreshTime = 500 * time.Millisecond

// notePending notes an index update that the next event is to make.
func notePending(data string, u git.IndexUpdate) error {
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		old, _ := tx.Read(pendingFile, maxFile)
		return tx.Write(pendingFile, append(append(old, line...), '\n'))
	})
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
	ctx, cancel := context.WithTimeout(context.Background(), refreshTime)
	defer cancel()
	err := dir.WithLock(endWait, func(tx *state.Tx) error {
		data, err := tx.Read(pendingFile, maxFile)
		if err != nil {
			return err
		}
		var left []byte
		for line := range bytes.Lines(data) {
			err := refresh(ctx, line)
			if err == nil {
				continue
			}
			call.Env.Log("a pending index update was not made", "error", err.Error())
			if !errors.Is(err, os.ErrNotExist) {
				left = append(left, line...)
			}
		}
		if left == nil {
			return tx.Remove(pendingFile)
		}
		return tx.Write(pendingFile, left)
	})
	if err != nil {
		call.Env.Log("no pending index update was made", "error", err.Error())
	}
}

// refresh makes one pending index update. The error is os.ErrNotExist where
// there is nothing to update any more.
func refresh(ctx context.Context, line []byte) error {
	var u git.IndexUpdate
	if json.Unmarshal(line, &u) != nil || !filepath.IsAbs(u.Top) {
		return os.ErrNotExist
	}
	if _, err := os.Stat(u.Top); err != nil {
		return err
	}
	repo, err := git.Open(ctx, u.Top)
	if err != nil {
		return err
	}
	return repo.RefreshIndex(ctx, u)
}
