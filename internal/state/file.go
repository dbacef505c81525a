package state

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// What we write is the user's own affair: notes of a session may quote
// anything.
const (
	filePerm = 0o600
	dirPerm  = 0o755
)

// ReadFile returns the content of the file at path, which may be a link. It
// fails like Dir.Read, and never blocks on a pipe or device.
func ReadFile(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return readRegular("", path, info, limit, Open)
}

// readRegular opens name in dir, of which info is known, and reads it in one
// go: a buffer that grows costs more than the read.
func readRegular(dir, name string, info fs.FileInfo, limit int64, open func(string) (*os.File, error)) ([]byte, error) {
	switch {
	case !info.Mode().IsRegular():
		return nil, notRegular(filepath.Join(dir, name), info.Mode(), "a file")
	case info.Size() > limit:
		return nil, tooLarge(filepath.Join(dir, name), limit)
	}
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}

// Flush has what was written to a file reach the disk. Tests in which processes
// end, but no machine, do without: most of their time would go there.
var Flush = (*os.File).Sync

// fill writes data to f, flushes it to the disk and closes f.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = Flush(f)
	}
	return errors.Join(err, f.Close())
}

// retryHeld repeats a rename or a removal for a moment on Windows, where a virus
// scanner or a reader may hold the file.
func retryHeld(change func() error) error {
	err := change()
	for i := 0; err != nil && runtime.GOOS == "windows" && i < 20; i++ {
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		time.Sleep(10 * time.Millisecond)
		err = change()
	}
	return err
}

// WriteFile replaces the file at path, which is the user's own (their
// settings, say), in one step. A link there is the user's too: the file it
// leads to is replaced and the link stays. The mode of an existing file is
// kept, a new one gets perm; one that its owner may not write is left alone.
func WriteFile(path string, data []byte, perm fs.FileMode) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		if !info.Mode().IsRegular() {
			return notRegular(path, info.Mode(), "a file")
		}
		if perm = info.Mode().Perm(); perm&0o200 == 0 {
			return &fs.PathError{Op: "write", Path: path, Err: ErrProtected}
		}
	}
	return about(path, replace(path, data, perm))
}

func replace(path string, data []byte, perm fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	if err := errors.Join(f.Chmod(perm), fill(f, data)); err != nil {
		return err
	}
	return retryHeld(func() error { return os.Rename(f.Name(), path) })
}

// about returns what went wrong in writing the file at path, by its own name: until
// it is whole it has another, which means nothing to anybody.
func about(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return &fs.PathError{Op: "write", Path: path, Err: e.Err}
	}
	return err
}

// CreateExclusive creates the file at path with data and reports whether this
// call did so; false without an error means that it was there already.
func CreateExclusive(path string, data []byte) (bool, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, fill(f, data)
}

// Append adds line and a newline to the file at path in one write, after
// moving a file of more than limit bytes to path.1. It takes no lock: a line
// of a log is worth less than a wait.
func Append(path string, line []byte, limit int64) error {
	if info, err := os.Lstat(path); err == nil {
		if !info.Mode().IsRegular() {
			return notRegular(path, info.Mode(), "a file")
		}
		if info.Size() > limit {
			if err := os.Rename(path, path+".1"); err != nil {
				return err
			}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, filePerm)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
