package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// QueryTimeout is how long a hook waits for an answer of git: at the beginning of a
// session and before a compaction, where people wait, too. A test on a busy
// machine gives it more.
var QueryTimeout = 2 * time.Second

// Tracked returns those of names, paths below dir, that a repository brought
// along: git tracks them, in the repository that dir is in or in one further
// up. Without git or without a repository nothing is tracked. An error means
// that it could not be found out; treat the files as tracked then.
//
// The question is asked to decide whether a file may be trusted, so the
// repository is taken to be hostile: git starts in a directory that holds
// .git, lest a bare repository among plain files passes for the one in
// charge, and looks for the file under the name it has on disk, for the file
// system may think that .RELOAD and .reload are one.
func Tracked(ctx context.Context, dir string, names ...string) ([]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	asked := map[string][]string{} // top → names to ask for there
	var tops []string
	for _, name := range names {
		for _, top := range enclosing(filepath.Dir(filepath.Join(dir, name))) {
			if asked[top] == nil {
				tops = append(tops, top)
			}
			asked[top] = append(asked[top], name)
		}
	}
	var found []string
	for _, top := range tops {
		yes, err := trackedIn(ctx, top, dir, asked[top])
		if errors.Is(err, ErrNoGit) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		found = append(found, yes...)
	}
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !slices.Contains(found, n) }), nil
}

// trackedIn asks the repository at top.
func trackedIn(ctx context.Context, top, dir string, names []string) ([]string, error) {
	args := []string{"ls-files", "-z", "--cached", "--"}
	path := map[string]string{} // name → path below top, with slashes
	for _, name := range names {
		rel, err := filepath.Rel(top, filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		path[name] = filepath.ToSlash(onDisk(top, rel))
		args = append(args, ":(icase,literal)"+path[name])
	}
	out, err := call{dir: top, args: args, pathspecMagic: true}.run(ctx)
	if says(err, "not a git repository") {
		return nil, nil // an entry .git that is none
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for hit := range strings.SplitSeq(string(out), "\x00") {
		for name, p := range path {
			if hit != "" && (strings.EqualFold(hit, p) || strings.HasPrefix(strings.ToLower(hit), strings.ToLower(p)+"/")) {
				found = append(found, name)
			}
		}
	}
	return found, nil
}

// onDisk returns rel, a path below top, spelled as the directories spell it.
func onDisk(top, rel string) string {
	dir := top
	var out []string
	for part := range strings.SplitSeq(filepath.ToSlash(rel), "/") {
		part = spelled(dir, part)
		out = append(out, part)
		dir = filepath.Join(dir, part)
	}
	return filepath.Join(out...)
}

func spelled(dir, name string) string {
	want, err := os.Lstat(filepath.Join(dir, name))
	if err != nil {
		return name
	}
	entries, err := os.ReadDir(dir)
	if err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
		return name
	}
	for _, e := range entries {
		if fi, err := e.Info(); err == nil && os.SameFile(fi, want) {
			return e.Name()
		}
	}
	return name
}
