package git

import (
	"os"

	"github.com/gofrs/flock"
)

// fileLock is a lock of this process alone: it cannot be handed on here.
type fileLock struct {
	held *os.File // nil
	lock *flock.Flock
}

// tryLock takes the lock of the file at path, which is made if need be; ok says
// whether it was free.
func tryLock(path string) (l fileLock, ok bool, err error) {
	l.lock = flock.New(path, flock.SetPermissions(0o600))
	ok, err = l.lock.TryLock()
	return l, ok, err
}

// release lets go of the lock. Its file stays: it could only be deleted when
// somebody else has it already.
func (l fileLock) release() { l.lock.Unlock() }
