package handoff

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// A commit is made beside the user's index, and until the index is told of the
// committed files (git.Repo.Adopt) it stands for their removal. What the run
// did not tell it, the next event of a session does.
const unsettledFile = "unsettled" // in the data directory: one line a commit

// settleTime is what telling the index may take.
const settleTime = 500 * time.Millisecond

// unsettled is a commit the user's index does not know of.
type unsettled struct {
	Top    string   `json:"top"` // of the worktree
	Commit string   `json:"commit"`
	Paths  []string `json:"paths"` // below Top, with slashes
}

func (u unsettled) note(data string) error {
	line, err := json.Marshal(u)
	if err != nil {
		return err
	}
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		old, _ := tx.Read(unsettledFile, maxFile)
		return tx.Write(unsettledFile, append(append(old, line...), '\n'))
	})
}

// tellIndexes tells the indexes of all commits that wait for it. What cannot be
// done now is tried again at the next event, except where the worktree is gone.
func tellIndexes(call *host.Call) {
	if call.Host.Data == "" {
		return
	}
	dir := state.NewDir(call.Host.Data)
	if _, err := os.Lstat(dir.Path(unsettledFile)); err != nil {
		return
	}
	call.Slow()
	ctx, cancel := context.WithTimeout(context.Background(), settleTime)
	defer cancel()
	err := dir.WithLock(endWait, func(tx *state.Tx) error {
		data, err := tx.Read(unsettledFile, maxFile)
		if err != nil {
			return err
		}
		var left strings.Builder
		for line := range strings.Lines(string(data)) {
			var u unsettled
			if json.Unmarshal([]byte(line), &u) != nil || !filepath.IsAbs(u.Top) {
				continue
			}
			repo, err := git.Open(ctx, u.Top)
			if err == nil {
				err = repo.Adopt(ctx, u.Commit, u.Paths...)
			}
			if err == nil {
				continue
			}
			call.Env.Log("the index was not told of a commit", "worktree", u.Top, "error", err.Error())
			if fi, gone := os.Stat(u.Top); gone == nil && fi.IsDir() {
				left.WriteString(line)
			}
		}
		if left.Len() == 0 {
			return tx.Remove(unsettledFile)
		}
		return tx.Write(unsettledFile, []byte(left.String()))
	})
	if err != nil {
		call.Env.Log("no index was told of a commit", "error", err.Error())
	}
}
