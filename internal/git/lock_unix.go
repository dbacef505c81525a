//go:build unix

package git

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// fileLock is a lock that the processes below this one keep, so that a git which
// outlives us is not disturbed.
type fileLock struct{ held *os.File }

// tryLock takes the lock of the file at path, which is made if need be; ok says
// whether it was free.
func tryLock(path string) (l fileLock, ok bool, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fileLock{}, false, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			err = nil
		}
		return fileLock{}, false, err
	}
	mine, err := f.Stat()
	now, err2 := os.Stat(path)
	if err != nil || err2 != nil || !os.SameFile(mine, now) { // who had it has deleted it
		f.Close()
		if errors.Is(err2, fs.ErrNotExist) {
			err2 = nil
		}
		return fileLock{}, false, errors.Join(err, err2)
	}
	return fileLock{f}, true, nil
}

// release deletes the lock and lets go of it, also on behalf of what a hook has
// left running.
func (l fileLock) release() {
	os.Remove(l.held.Name())
	syscall.Flock(int(l.held.Fd()), syscall.LOCK_UN)
	l.held.Close()
}
