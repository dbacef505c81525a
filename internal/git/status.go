package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Status is the state of a worktree.
type Status struct {
	Branch   string // "" on a detached HEAD
	Commit   string // full id of HEAD, "" when there is no commit yet
	Upstream string // e.g. "origin/main", "" without one
	Ahead    int    // commits that Upstream lacks
	Behind   int    // commits that only Upstream has
	Counted  bool   // Ahead and Behind are known: the upstream branch is there
	Files    []File
	Cut      bool // there are more files than were read
}

// Unborn reports whether the branch has no commit yet.
func (s Status) Unborn() bool { return s.Commit == "" }

// File is a path that differs from HEAD or that git does not know. Staged and
// Worktree are the letters of git-status(1), '.' for no difference; both are
// '?' for an untracked file.
type File struct {
	Path     string // below the top of the worktree, with slashes
	Staged   byte
	Worktree byte
	Unmerged bool
}

// Untracked reports whether git does not know the file.
func (f File) Untracked() bool { return f.Staged == '?' }

// Status returns the branch and the files that differ. A directory without a
// tracked file is one entry. Changes inside a submodule are not looked for.
func (r *Repo) Status(ctx context.Context) (Status, error) {
	out, err := r.read(ctx, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=normal", "--ignore-submodules=dirty", "--no-renames")
	if err != nil {
		return Status{}, err
	}
	s, err := parseStatus(string(out))
	s.Cut = len(out) >= outputLimit
	return s, err
}

// parseStatus reads the answer of git status --porcelain=v2 --branch -z.
func parseStatus(out string) (Status, error) {
	var s Status
	err := eachRecord(out, func(kind, fields, path string) {
		switch kind {
		case "#":
			s.header(path)
		case "?":
			s.Files = append(s.Files, File{Path: path, Staged: '?', Worktree: '?'})
		case "!":
		default:
			s.Files = append(s.Files, File{Path: path, Staged: fields[0], Worktree: fields[1], Unmerged: kind == "u"})
		}
	})
	return s, err
}

// eachRecord calls fn for each record of git status --porcelain=v2 -z: with its
// kind, the path, which is the last field and may hold spaces itself, and the
// fields between them, which begin with the two letters and a space. A last
// record without its NUL was cut off and does not count.
func eachRecord(out string, fn func(kind, fields, path string)) error {
	for out != "" {
		record, rest, whole := strings.Cut(out, "\x00")
		if !whole {
			break
		}
		out = rest
		kind, tail, _ := strings.Cut(record, " ")
		before, known := map[string]int{"#": 0, "?": 0, "!": 0, "1": 7, "2": 8, "u": 9}[kind]
		parts := strings.SplitN(tail, " ", before+1)
		if !known || len(parts) != before+1 || before > 0 && len(parts[0]) != 2 {
			return fmt.Errorf("git status: record %q is not understood", record)
		}
		if kind == "2" {
			_, out, _ = strings.Cut(out, "\x00") // where it was renamed from
		}
		fn(kind, strings.Join(parts[:before], " "), parts[before])
	}
	return nil
}

func (s *Status) header(line string) {
	key, value, _ := strings.Cut(line, " ")
	switch key {
	case "branch.oid":
		if value != "(initial)" {
			s.Commit = value
		}
	case "branch.head":
		if value != "(detached)" {
			s.Branch = value
		}
	case "branch.upstream":
		s.Upstream = value
	case "branch.ab":
		ahead, behind, _ := strings.Cut(value, " ")
		a, err := strconv.Atoi(strings.TrimPrefix(ahead, "+"))
		b, err2 := strconv.Atoi(strings.TrimPrefix(behind, "-"))
		if err == nil && err2 == nil {
			s.Ahead, s.Behind, s.Counted = a, b, true
		}
	}
}
