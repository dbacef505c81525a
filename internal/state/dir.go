// Package state keeps files that must survive anything: a crash between two
// bytes, two hooks at once, a read-only disk, a repository that plants links.
//
// A file is always the old one or the new one. Nothing outside a Dir is read
// or written through it, links included, and what is not a regular file is
// never followed and never deleted.
package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// Errors that callers tell apart.
var (
	// ErrUnsafe is a directory or file that is not what it should be: a link
	// where a directory is expected, a directory where a file is.
	ErrUnsafe = errors.New("not a regular file or directory of ours")
	// ErrBusy means that another process held the lock for the whole wait.
	ErrBusy = errors.New("in use by another process; try again in a moment")
	// ErrProtected is a file that its owner has made read-only.
	ErrProtected = errors.New("it is write-protected")
	// ErrTooLarge is a file above the limit the reader gave.
	ErrTooLarge = errors.New("larger than expected")
)

const (
	lockName   = ".lock"
	ignoreName = ".gitignore"
	// tempName is what a file is called until it is whole. One name does for
	// all, since only the holder of the lock writes: so a killed writer leaves
	// one such file behind, and the next write takes it away.
	tempName   = ".write.tmp"
	retryEvery = 5 * time.Millisecond
)

// Kind is what stands at a name.
type Kind int

// The kinds. Other is anything that is neither nothing nor a readable regular
// file: a directory, a device, a link that dangles or leaves the directory.
const (
	Absent Kind = iota
	File
	Other
)

// Dir is a directory of ours inside a project, such as .reload. It ignores
// itself: whoever creates it drops a .gitignore of "*" first. The zero Dir is
// not usable.
type Dir struct{ path string }

// NewDir returns the Dir at path, which need not exist.
func NewDir(path string) Dir { return Dir{path} }

// Path returns the path of name inside the directory, or of the directory
// when name is empty.
func (d Dir) Path(name string) string { return filepath.Join(d.path, name) }

// Sub returns the directory called name inside this one. It has a lock of its
// own.
func (d Dir) Sub(name string) Dir { return Dir{d.Path(name)} }

// open returns the directory, refusing a link in its place: a repository
// could ship one that leads anywhere.
func (d Dir) open() (*os.Root, error) {
	info, err := os.Lstat(d.path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return nil, notRegular(d.path, info.Mode(), "a directory")
	}
	return os.OpenRoot(d.path)
}

// Check returns what keeps everybody from the directory: something else in its
// place or in that of its lock. One that is absent is fine.
func (d Dir) Check() error {
	v := d.View()
	defer v.Close()
	if errors.Is(v.err, fs.ErrNotExist) {
		return nil
	}
	return v.NotRegular(lockName)
}

// Reader is what can be read of a state directory, whether it is locked (Tx) or
// not (Dir, View).
type Reader interface {
	// Kind reports what stands at name.
	Kind(name string) Kind
	// Stat reports what stands at name and, for a File, when it was last written.
	Stat(name string) (Kind, time.Time)
	// Revision returns what is another whenever the file at name has been written
	// in between, "" where no regular file stands. It reads nothing of the file.
	Revision(name string) string
	// NotRegular returns a sentence about what stands at name, an ErrUnsafe, if
	// that is Other; nil if not.
	NotRegular(name string) error
	// Read returns the content of name. It fails with fs.ErrNotExist, ErrUnsafe
	// (not a regular file) or ErrTooLarge (more than limit bytes), and never
	// blocks on a pipe or device.
	Read(name string, limit int64) ([]byte, error)
}

// View is a Dir held open for several reads, which is cheaper than opening it
// for each. It takes no lock: every file is as it is at that moment.
type View struct{ reader }

// reader reads what lies in root.
type reader struct {
	root   *os.Root
	err    error // why there is no root
	absent bool  // there is no directory
}

// View opens the directory; Close it afterwards. One that is absent has no
// files, and from one that cannot be opened nothing can be read.
func (d Dir) View() View {
	root, err := d.open()
	// errors.Is would cost a hook two pages: it asks for a method at run time.
	return View{reader{root, err, os.IsNotExist(err)}}
}

// Close ends the view.
func (v View) Close() {
	if v.root != nil {
		v.root.Close()
	}
}

// Kind is Reader.Kind.
func (r reader) Kind(name string) Kind {
	kind, _ := r.Stat(name)
	return kind
}

// Stat is Reader.Stat.
func (r reader) Stat(name string) (Kind, time.Time) {
	switch {
	case r.err == nil:
		return kindIn(r.root, name)
	case r.absent:
		return Absent, time.Time{}
	}
	return Other, time.Time{}
}

// Revision is Reader.Revision.
func (r reader) Revision(name string) string {
	if r.err != nil {
		return ""
	}
	info, err := r.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	var b []byte
	for _, n := range []int64{info.Size(), info.ModTime().UnixNano(), changed(info)} {
		b = append(strconv.AppendInt(b, n, 36), '-')
	}
	return string(b)
}

// NotRegular is Reader.NotRegular.
func (r reader) NotRegular(name string) error {
	if r.err != nil && !r.absent {
		return r.err
	}
	if r.Kind(name) != Other {
		return nil
	}
	return notRegularIn(r.root, name)
}

// Read is Reader.Read.
func (r reader) Read(name string, limit int64) ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	return readIn(r.root, name, limit)
}

// Kind is Reader.Kind.
func (d Dir) Kind(name string) Kind {
	kind, _ := d.Stat(name)
	return kind
}

// Stat is Reader.Stat.
func (d Dir) Stat(name string) (Kind, time.Time) {
	v := d.View()
	defer v.Close()
	return v.Stat(name)
}

// Revision is Reader.Revision.
func (d Dir) Revision(name string) string {
	v := d.View()
	defer v.Close()
	return v.Revision(name)
}

// NotRegular is Reader.NotRegular.
func (d Dir) NotRegular(name string) error {
	v := d.View()
	defer v.Close()
	return v.NotRegular(name)
}

// Read is Reader.Read.
func (d Dir) Read(name string, limit int64) ([]byte, error) {
	v := d.View()
	defer v.Close()
	return v.Read(name, limit)
}

func kindIn(root *os.Root, name string) (Kind, time.Time) {
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return Absent, time.Time{}
	}
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return Other, time.Time{}
	}
	return File, info.ModTime()
}

func readIn(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	switch {
	case err == nil:
		return readRegular(root.Name(), name, info, limit, root.Open)
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if link, err := root.Lstat(name); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		return nil, notRegularIn(root, name)
	}
	return nil, err
}

// Open is Reader.Read for a file that is read in parts: it opens the regular file
// called name.
func (r reader) Open(name string) (*os.File, error) {
	if r.err != nil {
		return nil, r.err
	}
	if kind, _ := kindIn(r.root, name); kind == Other {
		return nil, notRegularIn(r.root, name)
	}
	return r.root.Open(name)
}

// Names returns the names in the directory, sorted; none when it is absent.
func (d Dir) Names() []string {
	v := d.View()
	defer v.Close()
	return v.Names()
}

// Names is Dir.Names.
func (r reader) Names() []string {
	if r.err != nil {
		return nil
	}
	entries, _ := fs.ReadDir(r.root.FS(), ".")
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// WithLock creates the directory if need be, takes its lock, waiting at most wait,
// and runs fn. Everything that reads in order to write belongs in one WithLock: two
// hooks that see the same event then have one effect (case F44).
func (d Dir) WithLock(wait time.Duration, fn func(*Tx) error) error {
	if err := d.create(); err != nil {
		return err
	}
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()
	if kind, _ := kindIn(root, lockName); kind == Other {
		return notRegularIn(root, lockName)
	}
	if err := d.protect(root); err != nil {
		return err
	}
	lock := flock.New(d.Path(lockName), flock.SetPermissions(filePerm))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	if ok, err := lock.TryLockContext(ctx, retryEvery); !ok {
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			err = ErrBusy
		}
		return fmt.Errorf("%s: %w", d.path, err)
	}
	defer lock.Unlock()
	tx := &Tx{reader{root: root}, d}
	if err := tx.ignoreSelf(); err != nil {
		return err
	}
	return fn(tx)
}

// create makes the directory. Its parent, the project, must exist.
func (d Dir) create() error {
	err := os.Mkdir(d.path, dirPerm)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// Tx is a Dir whose lock is held.
type Tx struct {
	reader
	dir Dir
}

// Sub is Dir.Sub.
func (tx *Tx) Sub(name string) Dir { return tx.dir.Sub(name) }

// Write replaces name with data in one step. A link at name is replaced, not
// followed; anything else that is no regular file is ErrUnsafe and stays.
func (tx *Tx) Write(name string, data []byte) error {
	if _, err := tx.ours(name); err != nil {
		return err
	}
	return about(tx.dir.Path(name), tx.replace(name, data))
}

func (tx *Tx) replace(name string, data []byte) error {
	if err := tx.Remove(tempName); err != nil {
		return err
	}
	step("create " + name)
	f, err := tx.root.OpenFile(tempName, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	if err := fill(f, data); err != nil {
		tx.unlink(tempName)
		return err
	}
	step("rename " + name)
	if err := retryHeld(func() error { return tx.root.Rename(tempName, name) }); err != nil {
		tx.unlink(tempName)
		return err
	}
	return nil
}

// Update is Write, unless name holds data already: most records say what the
// one before said, and a flush to the disk has its price.
func (tx *Tx) Update(name string, data []byte) error {
	if old, err := tx.Read(name, int64(len(data))); err == nil && string(old) == string(data) {
		return nil
	}
	return tx.Write(name, data)
}

// Extend makes data the end of the file called name, from the offset at on, and
// creates the file for the offset 0. It is for a file that grows for ever; other
// than by Write, whoever is killed in it leaves any part of data behind, and a
// reader has to tell.
func (tx *Tx) Extend(name string, at int64, data []byte) error {
	if _, err := tx.ours(name); err != nil {
		return err
	}
	if kind, _ := kindIn(tx.root, name); kind == Other {
		return notRegularIn(tx.root, name)
	}
	step("extend " + name)
	f, err := tx.root.OpenFile(name, os.O_WRONLY|os.O_CREATE, filePerm)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Size() < at:
		err = fmt.Errorf("%s has %d bytes, fewer than %d", tx.dir.Path(name), info.Size(), at)
	case info.Size() > at:
		err = f.Truncate(at)
	}
	if err == nil {
		_, err = f.WriteAt(data, at)
	}
	if err == nil {
		err = Flush(f)
	}
	return errors.Join(err, f.Close())
}

// Remove deletes a regular file or a link; nothing there is fine, anything
// else is ErrUnsafe and stays.
func (tx *Tx) Remove(name string) error {
	if there, err := tx.ours(name); !there {
		return err
	}
	step("remove " + name)
	return tx.unlink(name)
}

// Step, where a test has set it, is called before each change of a Dir, with
// what is about to happen: a test ends the run there, as a kill would.
var Step func(what string)

func step(what string) {
	if Step != nil {
		Step(what)
	}
}

// ours reports whether something stands at name. What must not be deleted, and
// so not replaced either, is an ErrUnsafe.
func (tx *Tx) ours(name string) (there bool, err error) {
	info, err := tx.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	}
	if t := info.Mode().Type(); t != 0 && t != fs.ModeSymlink {
		return false, notRegularIn(tx.root, name)
	}
	return true, nil
}

// unlink deletes a file or link. os.Root deletes the POSIX way on Windows,
// which some file systems there do not know; the plain way deletes the link
// and not its target as well, and name is one element of a directory that was
// checked.
func (tx *Tx) unlink(name string) error {
	return retryHeld(func() error {
		err := tx.root.Remove(name)
		if err != nil && runtime.GOOS == "windows" && !errors.Is(err, fs.ErrNotExist) {
			return os.Remove(tx.dir.Path(name))
		}
		return err
	})
}

// SetTime sets when name was last written.
func (tx *Tx) SetTime(name string, t time.Time) error { return tx.root.Chtimes(name, t, t) }

// Owns reports whether name is one that every Dir has of itself.
func Owns(name string) bool {
	return name == lockName || name == ignoreName || name == tempName
}
