//go:build unix

package transcript

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

func TestAFIFOIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no FIFOs here:", err)
	}
	refused := make(chan error, 2)
	go func() { _, err := ReadTail(path); refused <- err }()
	go func() { _, err := ReadFacts(path, time.Time{}); refused <- err }()
	for range 2 {
		if err := <-refused; err == nil {
			t.Error("a FIFO was read")
		}
	}
}
