package handoff

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

const (
	// keepArchived is how many artifacts the archive holds.
	keepArchived = 20
	// stampFormat is the beginning of a name in it, so that names sort by age.
	stampFormat = "20060102T150405Z"
)

// archive moves the artifact at path into a project's archive and returns the
// name it has there. The copy is complete before the original goes.
func archive(project, path string, now time.Time) (string, error) {
	content, err := readArtifact(path)
	if err != nil {
		return "", err
	}
	name, err := keepCopy(project, filepath.Base(path), content, now)
	if err != nil {
		return "", err
	}
	return name, os.Remove(path)
}

// keepCopy puts content into a project's archive.
func keepCopy(project, base string, content []byte, now time.Time) (name string, err error) {
	// The directory around it is made first, and ignores itself. Where it is
	// there its lock may be the caller's, so it is not taken again.
	if dirOf(project).Kind("") == state.Absent {
		if err := dirOf(project).WithLock(lockWait, func(*state.Tx) error { return nil }); err != nil {
			return "", err
		}
	}
	err = archiveOf(project).WithLock(lockWait, func(tx *state.Tx) error {
		name = freeName(tx, now.UTC().Format(stampFormat)+"-"+cmp.Or(slugIn(base), "session"))
		if err := tx.Write(name, content); err != nil {
			return err
		}
		return prune(tx, archiveOf(project).Names())
	})
	return name, err
}

// slugIn is the slug in the name of a document, "" for none.
func slugIn(name string) string {
	slug, _ := Slug(strings.TrimSuffix(strings.TrimPrefix(name, artifactStem), artifactEnd))
	return slug
}

// freeName returns stem.md, or with a number before the end if that is taken.
func freeName(tx *state.Tx, stem string) string {
	name := stem + ".md"
	for i := 2; tx.Kind(name) != state.Absent; i++ {
		name = stem + "-" + strconv.Itoa(i) + ".md"
	}
	return name
}

// prune removes the oldest of our files from the archive. What a person put
// there under another kind of name stays.
func prune(tx *state.Tx, names []string) error {
	names = slices.DeleteFunc(names, func(n string) bool { return !isArchived(n) })
	slices.Sort(names)
	var errs []error
	for _, n := range names[:max(0, len(names)-keepArchived)] {
		errs = append(errs, tx.Remove(n))
	}
	return errors.Join(errs...)
}

func isArchived(name string) bool {
	if len(name) <= len(stampFormat) || !strings.HasSuffix(name, ".md") {
		return false
	}
	_, err := time.Parse(stampFormat, name[:len(stampFormat)])
	return err == nil && name[len(stampFormat)] == '-'
}

// readArtifact reads a file that may stand in a repository: never through a
// link, never from a device, and not more than maxFile bytes.
func readArtifact(path string) ([]byte, error) {
	if fi, err := os.Lstat(path); err == nil && !fi.Mode().IsRegular() {
		return nil, state.ErrUnsafe
	}
	return state.ReadFile(path, maxFile)
}

// writeArtifact writes the artifact at path in one step. Only a regular file
// or nothing may be there.
func writeArtifact(path string, content []byte) error {
	switch fi, err := os.Lstat(path); {
	case err == nil && !fi.Mode().IsRegular():
		return state.ErrUnsafe
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return state.WriteFile(path, content, 0o644)
}

// sweepTemporaries removes what runs that were killed have left of the document
// at path.
func sweepTemporaries(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // none where it cannot be read
	for _, e := range entries {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), "."+filepath.Base(path)+".") && strings.HasSuffix(e.Name(), ".tmp") {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}
