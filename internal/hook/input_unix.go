//go:build unix

package hook

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// canWait says that waitReadable works here.
const canWait = true

// waitReadable waits until a read of f returns at once, with data or the end,
// and reports whether that came true within limit.
func waitReadable(f *os.File, limit time.Duration) bool {
	for {
		fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(limit, 0)/time.Millisecond))
		if !errors.Is(err, unix.EINTR) {
			return n != 0 // an error shows again in the read
		}
	}
}
