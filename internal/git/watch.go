package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

const (
	watchTime  = 30 * time.Second
	watchFiles = 2000     // files of which the content is compared; of others, size and times
	watchBytes = 64 << 20 // bytes that are read for it
)

// Snapshot is a worktree of the user's at one moment: everything that an agent
// which works elsewhere must not change.
type Snapshot struct {
	Branch string            // "" on a detached HEAD
	Commit string            // full id of HEAD, "" when there is no commit yet
	Refs   map[string]string // of the repository, without those of ours → object
	Files  map[string]string // changed, unknown and ignored files, with slashes → what is known of their content
	Setup  map[string]string // configuration and hooks of the repository, full path → the same
	Keys   map[string]string // what is set in the configuration, full path, line break and key → the same
	Cut    bool              // there was more than is compared
}

// Kind is what a Difference is about.
type Kind string

// The kinds of differences. A Setup is a file of the configuration or a hook, which
// can have git run anything from then on: commit and merge nothing.
const (
	KindHead  Kind = "head"
	KindRef   Kind = "ref"
	KindFile  Kind = "file"
	KindSetup Kind = "setup"
	// KindCut says that there was more than could be compared.
	KindCut Kind = "cut"
	// kindKey is a line of a snapshot, and no difference.
	kindKey Kind = "key"
)

// Difference is something that is another in a later Snapshot. Before and After
// are a branch, or a commit without one (KindHead), an object, or what is known of a file; "" is none.
type Difference struct {
	Kind          Kind
	Name          string // a ref, or a path: with slashes below the worktree, or in full
	Before, After string
	Keys          []string // KindSetup: what is set otherwise in a file of the configuration
}

// String says what happened, in a sentence without a period.
func (d Difference) String() string {
	short := func(id string) string { return id[:min(len(id), 10)] }
	change := func(what string) string {
		switch {
		case d.Before == "":
			return what + " is new"
		case d.After == "":
			return what + " is gone"
		}
		return what + " was changed"
	}
	switch d.Kind {
	case KindHead:
		return fmt.Sprintf("%q is checked out instead of %q", d.After, d.Before)
	case KindRef:
		if d.Before == "" || d.After == "" {
			return change(d.Name) + " (" + short(d.Before+d.After) + ")"
		}
		return fmt.Sprintf("%s moved from %s to %s", d.Name, short(d.Before), short(d.After))
	case KindFile:
		if d.After == "" {
			return fmt.Sprintf("%q is as in HEAD again, or gone", d.Name)
		}
		return change(fmt.Sprintf("%q", d.Name))
	case KindSetup:
		what := fmt.Sprintf("%q", d.Name)
		if len(d.Keys) > 0 {
			what += " (" + d.Setting() + ")"
		}
		return change(what + ", which decides what git does and runs,")
	}
	return "there are more files than are compared, so some changes may not be known"
}

// Setting names what is set otherwise, "" where that is not known.
func (d Difference) Setting() string {
	const most = 5
	if n := len(d.Keys); n > most {
		return strings.Join(d.Keys[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(d.Keys, ", ")
}

// Watch returns the worktree as it is now. It reads, in bounded time, the refs,
// git's status, the content of what differs from HEAD or is an ignored file (one
// in an ignored directory is not looked at), the configuration and the hooks. It
// changes nothing and runs nothing of the repository's.
func (r *Repo) Watch(ctx context.Context) (Snapshot, error) {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	refs := call{dir: r.Dir, args: []string{"for-each-ref", "--format=%(refname) %(objectname)"}, config: r.filters, timeout: watchTime}
	out, err := refs.run(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	s := Snapshot{Refs: parseRefs(string(out)), Files: map[string]string{}, Setup: map[string]string{}, Keys: map[string]string{}, Cut: len(out) >= outputLimit}
	maps.DeleteFunc(s.Refs, func(ref, _ string) bool {
		return strings.HasPrefix(ref, ownRefs) || strings.HasPrefix(ref, "refs/heads/"+BranchPrefix)
	})
	status := call{
		dir: r.Top, config: r.filters, timeout: watchTime,
		args: []string{"status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all", "--ignored=matching", "--ignore-submodules=none", "--no-renames"},
	}
	if out, err = status.run(ctx); err != nil {
		return Snapshot{}, err
	}
	s.Cut = s.Cut || len(out) >= outputLimit
	look := looker{left: watchFiles, room: watchBytes}
	var head Status
	err = eachRecord(string(out), func(kind, fields, path string) {
		switch {
		case kind == "#":
			head.header(path)
		case kind == "!" && strings.HasSuffix(path, "/"):
		default:
			s.Files[path] = strings.TrimSpace(kind + " " + fields + " " + look.at(filepath.Join(r.Top, filepath.FromSlash(path))))
		}
	})
	s.Branch, s.Commit = head.Branch, head.Commit
	err = errors.Join(err, s.setup(ctx, r, &look))
	return s, err
}

// setup adds the files that decide what git does in the repository.
func (s *Snapshot) setup(ctx context.Context, r *Repo, look *looker) error {
	hooks, err := r.hooksDir(ctx)
	if err != nil {
		return err
	}
	files := []string{
		filepath.Join(r.CommonDir, "config"), filepath.Join(r.GitDir, worktreeConfig), filepath.Join(r.CommonDir, worktreeConfig),
		filepath.Join(r.CommonDir, "info", "attributes"), filepath.Join(r.CommonDir, "info", "exclude"),
		filepath.Join(r.CommonDir, "info", "grafts"), filepath.Join(r.CommonDir, "objects", "info", "alternates"),
	}
	for _, dir := range []string{filepath.Join(r.CommonDir, "hooks"), hooks} {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Setup[dir] = err.Error()
		}
		if len(entries) > watchFiles {
			entries, s.Cut = entries[:watchFiles], true
		}
		for _, e := range entries {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	for _, f := range files {
		if is := look.at(f); is != "" {
			s.Setup[f] = is
			if strings.HasPrefix(filepath.Base(f), "config") {
				s.keys(ctx, r, f)
			}
		}
	}
	return nil
}

// keys adds what is set in a file of the configuration. One that git cannot read
// has nothing that is known, and is compared as a whole.
func (s *Snapshot) keys(ctx context.Context, r *Repo, path string) {
	out, _ := r.read(ctx, "config", "--file", path, "--no-includes", "--list", "-z")
	values := map[string][]string{}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if key, value, _ := strings.Cut(entry, "\n"); key != "" {
			values[key] = append(values[key], value)
		}
	}
	for key, list := range values {
		if upstream(key, list, values) {
			continue
		}
		s.Keys[path+"\n"+key] = sum([]byte(strings.Join(list, "\x00"))) // there may be a password in it
	}
}

// upstream reports whether a setting only says where a branch is pushed to, as
// `git push -u` and `git switch` note it: a branch of this repository or of a remote
// that it has.
func upstream(key string, list []string, values map[string][]string) bool {
	if !strings.HasPrefix(key, "branch.") || len(list) != 1 {
		return false
	}
	switch value := list[0]; {
	case strings.HasSuffix(key, ".merge"):
		return strings.HasPrefix(value, "refs/heads/")
	case strings.HasSuffix(key, ".remote"):
		return value == "." || len(values["remote."+value+".url"]) > 0
	}
	return false
}

// sum tells contents apart.
func sum(data []byte) string {
	h := fnv.New128a()
	h.Write(data)
	return fmt.Sprintf("%x", h.Sum(nil))
}

// looker tells files apart, by their content as long as that can be paid.
type looker struct {
	left int   // files
	room int64 // bytes
}

// at describes what is at path, "" for nothing. Where something was changed there,
// the description is another.
func (l *looker) at(path string) string {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		return err.Error()
	case info.Mode()&fs.ModeSymlink != 0:
		to, _ := os.Readlink(path)
		return "link to " + to
	case !info.Mode().IsRegular():
		return info.Mode().Type().String()
	}
	mode := info.Mode().Perm().String()
	if l.left > 0 && info.Size() <= l.room {
		l.left--
		l.room -= info.Size()
		if data, err := state.ReadFile(path, info.Size()); err == nil {
			return mode + " " + sum(data)
		}
	}
	return mode + " " + state.NewDir(filepath.Dir(path)).Revision(filepath.Base(path))
}

// Compare returns what is another now, in the order of the constants.
func (s Snapshot) Compare(now Snapshot) []Difference {
	var list []Difference
	if before, after := cmp.Or(s.Branch, s.Commit), cmp.Or(now.Branch, now.Commit); before != after {
		list = append(list, Difference{Kind: KindHead, Name: "HEAD", Before: before, After: after})
	}
	for _, part := range []struct {
		kind        Kind
		before, now map[string]string
	}{{KindRef, s.Refs, now.Refs}, {KindFile, s.Files, now.Files}, {KindSetup, s.Setup, now.Setup}} {
		names := map[string]bool{}
		for name := range part.before {
			names[name] = true
		}
		for name := range part.now {
			names[name] = true
		}
		for _, name := range slices.Sorted(maps.Keys(names)) {
			if before, after := part.before[name], part.now[name]; before != after {
				d := Difference{Kind: part.kind, Name: name, Before: before, After: after}
				if part.kind == KindSetup {
					if d.Keys = s.otherKeys(now, name); len(d.Keys) == 0 && s.sets(name) && now.sets(name) && perm(before) == perm(after) {
						continue
					}
				}
				list = append(list, d)
			}
		}
	}
	if s.Cut || now.Cut {
		list = append(list, Difference{Kind: KindCut})
	}
	return list
}

// sets reports whether it is known what a file of the configuration sets.
func (s Snapshot) sets(path string) bool {
	for name := range s.Keys {
		if strings.HasPrefix(name, path+"\n") {
			return true
		}
	}
	return false
}

// perm is what a looker says of a file, but for its content.
func perm(is string) string {
	mode, _, _ := strings.Cut(is, " ")
	return mode
}

// otherKeys returns what is set otherwise now in a file of the configuration.
func (s Snapshot) otherKeys(now Snapshot, path string) []string {
	keys := map[string]bool{}
	for _, m := range []map[string]string{s.Keys, now.Keys} {
		for name := range m {
			if key, ok := strings.CutPrefix(name, path+"\n"); ok && s.Keys[name] != now.Keys[name] {
				keys[key] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// Bytes returns the snapshot as a text that ParseSnapshot reads back.
func (s Snapshot) Bytes() []byte {
	var b strings.Builder
	b.WriteString(quoted("head", s.Branch, s.Commit))
	for _, part := range []struct {
		kind Kind
		m    map[string]string
	}{{KindRef, s.Refs}, {KindFile, s.Files}, {KindSetup, s.Setup}, {kindKey, s.Keys}} {
		for _, name := range slices.Sorted(maps.Keys(part.m)) {
			b.WriteString(quoted(string(part.kind), name, part.m[name]))
		}
	}
	if s.Cut {
		b.WriteString(quoted(string(KindCut)))
	}
	b.WriteString(quoted("end"))
	return []byte(b.String())
}

// ParseSnapshot reads what Bytes wrote. One that is cut off is an error.
func ParseSnapshot(data []byte) (Snapshot, error) {
	s := Snapshot{Refs: map[string]string{}, Files: map[string]string{}, Setup: map[string]string{}, Keys: map[string]string{}}
	whole := false
	err := unquoted(string(data), func(words []string) error {
		switch kind := Kind(words[0]); {
		case kind == "head" && len(words) == 3:
			s.Branch, s.Commit = words[1], words[2]
		case kind == KindRef && len(words) == 3:
			s.Refs[words[1]] = words[2]
		case kind == KindFile && len(words) == 3:
			s.Files[words[1]] = words[2]
		case kind == KindSetup && len(words) == 3:
			s.Setup[words[1]] = words[2]
		case kind == kindKey && len(words) == 3:
			s.Keys[words[1]] = words[2]
		case kind == KindCut:
			s.Cut = true
		case words[0] == "end":
			whole = true
		default:
			return fmt.Errorf("%q is not understood", words)
		}
		return nil
	})
	if err == nil && !whole {
		err = errors.New("the snapshot is cut off")
	}
	return s, err
}
