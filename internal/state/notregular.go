package state

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ccreload/ccreload/internal/host"
)

// refusal is an error that a person can act on.
type refusal struct {
	text string
	kind error // what errors.Is finds
}

func (r refusal) Error() string { return r.text }
func (r refusal) Unwrap() error { return r.kind }

// notRegular says that something of another kind stands at path, where want should.
func notRegular(path string, mode fs.FileMode, want string) error {
	return refusal{fmt.Sprintf("%s is %s, not %s; move it away", path, host.FileKind(mode), want), ErrUnsafe}
}

// notRegularIn is notRegular for what stands at name, where a file should.
func notRegularIn(root *os.Root, name string) error {
	path := filepath.Join(root.Name(), name)
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return notRegular(path, info.Mode(), "a file")
	}
	what := "a link that leads nowhere or out of its directory"
	if target, err := root.Stat(name); err == nil {
		what = "a link to " + host.FileKind(target.Mode())
	}
	return refusal{fmt.Sprintf("%s is %s, not a file; move it away", path, what), ErrUnsafe}
}

func tooLarge(path string, limit int64) error {
	return refusal{fmt.Sprintf("%s is larger than %d KiB", path, limit>>10), ErrTooLarge}
}
