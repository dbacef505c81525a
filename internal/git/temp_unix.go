//go:build unix

package git

import (
	"os"
	"syscall"
	"time"
)

// lockDir locks a directory. The lock belongs to the open file, so it lasts
// until the last process that has inherited it is gone.
func lockDir(path string) *os.File {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		f.Close()
		return nil
	}
	return f
}

// unused reports whether nobody holds the lock of a directory.
func unused(path string, _ time.Duration) bool {
	f := lockDir(path)
	if f == nil {
		return false
	}
	f.Close()
	return true
}
