package git

import (
	"context"
	"strconv"
	"strings"
)

// Commit is one commit of the log.
type Commit struct {
	ID      string // abbreviated
	Subject string
}

// Log returns the newest n commits of HEAD, newest first; none on an unborn
// branch.
func (r *Repo) Log(ctx context.Context, n int) ([]Commit, error) {
	out, err := r.read(ctx, "log", "-z", "-n", strconv.Itoa(n), "--no-show-signature", "--no-decorate", "--no-notes", "--format=%h %s")
	if says(err, "does not have any commits yet") {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []Commit
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if id, subject, ok := strings.Cut(record, " "); ok {
			list = append(list, Commit{ID: id, Subject: subject})
		}
	}
	return list, nil
}

// Change is how much of a file differs from HEAD, in lines.
type Change struct {
	Path           string // below the top of the worktree, with slashes
	Added, Deleted int
	Binary         bool
}

// Changes returns what differs from HEAD in tracked files, staged or not; on
// an unborn branch, what is staged.
func (r *Repo) Changes(ctx context.Context, unborn bool) ([]Change, error) {
	against := "HEAD"
	if unborn {
		against = "--cached"
	}
	out, err := r.read(ctx, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short", against, "--")
	if err != nil {
		return nil, err
	}
	return parseNumstat(string(out)), nil
}

// parseNumstat reads the answer of git diff --numstat -z --no-renames.
func parseNumstat(out string) []Change {
	var list []Change
	for record := range strings.SplitSeq(out, "\x00") {
		added, rest, ok := strings.Cut(record, "\t")
		deleted, path, ok2 := strings.Cut(rest, "\t")
		if !ok || !ok2 || path == "" {
			continue
		}
		c := Change{Path: path, Binary: added == "-"}
		if !c.Binary {
			c.Added, _ = strconv.Atoi(added)
			c.Deleted, _ = strconv.Atoi(deleted)
		}
		list = append(list, c)
	}
	return list
}
