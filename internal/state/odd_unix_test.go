//go:build unix

package state

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// A pipe, a socket or a device is not ours: nothing takes its place, and
// nobody waits for it.
func TestPipesAndSocketsStay(t *testing.T) {
	t.Parallel()
	// The path of a socket is short.
	dir, err := os.MkdirTemp("", "odd")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	d := NewDir(dir)
	if err := syscall.Mkfifo(d.Path("pipe"), 0o600); err != nil {
		t.Skip(err)
	}
	socket, err := net.Listen("unix", d.Path("socket"))
	if err != nil {
		t.Skip(err)
	}
	defer socket.Close()
	write(t, d, "file", "x")
	for name, is := range map[string]struct {
		what string
		mode fs.FileMode
	}{"pipe": {"a named pipe", fs.ModeNamedPipe}, "socket": {"a socket", fs.ModeSocket}} {
		want := d.Path(name) + " is " + is.what + ", not a file; move it away"
		err := d.WithLock(wait, func(tx *Tx) error {
			for doing, err := range map[string]error{
				"write":  tx.Write(name, []byte("ours")),
				"remove": tx.Remove(name),
			} {
				if !errors.Is(err, ErrUnsafe) || err.Error() != want {
					t.Errorf("%s: %v", doing, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(d.Path(name)); err != nil || info.Mode().Type() != is.mode {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestTemporaryFileThatIsAPipe(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir())
	if err := syscall.Mkfifo(d.Path(tempName), 0o600); err != nil {
		t.Skip(err)
	}
	err := d.WithLock(wait, func(tx *Tx) error { return tx.Write("a", nil) })
	if want := d.Path(tempName) + " is a named pipe, not a file; move it away"; err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

func TestLockThatIsAPipe(t *testing.T) {
	t.Parallel()
	d := NewDir(t.TempDir())
	if err := syscall.Mkfifo(d.Path(lockName), 0o600); err != nil {
		t.Skip(err)
	}
	want := d.Path(lockName) + " is a named pipe, not a file; move it away"
	if err := d.Check(); err == nil || err.Error() != want {
		t.Errorf("check: %v", err)
	}
	begun := time.Now()
	if err := d.WithLock(wait, func(*Tx) error { return nil }); err == nil || err.Error() != want || time.Since(begun) > wait/2 {
		t.Errorf("do: %v", err)
	}
}
