package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// IgnoredFiles returns the files that git would leave out of a commit, sorted and with
// slashes: those of paths, which are below dir as these are. It asks the repository
// that dir is in or, where there is none, what a new one in dir would do. Without git
// it is ErrNoGit.
func IgnoredFiles(ctx context.Context, dir string, paths ...string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := call{dir: dir, args: append([]string{"ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--"}, paths...)}
	if _, err := Open(ctx, dir); errors.Is(err, ErrNoRepo) {
		empty, err := os.MkdirTemp("", "ccreload-git-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(empty)
		if _, err := (call{dir: dir, args: []string{"init", "-q", "--bare", "--template=", empty}}).run(ctx); err != nil {
			return nil, err
		}
		c.env = []string{"GIT_DIR=" + empty, "GIT_WORK_TREE=" + dir}
	} else if err != nil {
		return nil, err
	}
	out, err := c.run(ctx)
	if err != nil {
		return nil, err
	}
	files := strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 })
	slices.Sort(files)
	return files, nil
}
