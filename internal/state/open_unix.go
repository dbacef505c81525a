//go:build unix

package state

import (
	"os"
	"syscall"
)

// Open opens a file to read it. os.Open would first try to hand it to the
// poller, which takes no regular file, and set the poller up for that.
func Open(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			return os.NewFile(uintptr(fd), path), nil
		}
		if err != syscall.EINTR {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
	}
}
