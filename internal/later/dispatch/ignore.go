package dispatch

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/state"
)

// maxExclude is the most that is read of a repository's own list of ignored files,
// in bytes.
const maxExclude = 1 << 20

// ignore adds the queue to .git/info/exclude of a repository, for a person who wants
// that. What they commit, such as .gitignore, is theirs alone.
func (w *World) ignore(ctx context.Context, root string) error {
	if !w.config.AutoIgnore || w.busy[root] { // it would pass for a change of the agent's
		return nil
	}
	repo, err := git.Open(ctx, root)
	if errors.Is(err, git.ErrNoRepo) {
		return nil
	}
	if err != nil {
		return err
	}
	path := filepath.Join(repo.CommonDir, "info", "exclude")
	data, err := state.ReadFile(path, maxExclude)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	line := "/" + w.config.QueuePath
	for l := range strings.Lines(string(data)) {
		if strings.TrimSpace(l) == line {
			return nil
		}
	}
	text := string(data)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	step("ignore queue")
	return state.WriteFile(path, []byte(text+line+"\n"), 0o644)
}
