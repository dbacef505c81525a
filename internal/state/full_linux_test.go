package state

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The .gitignore comes into being whole or not at all.
func TestIgnoreOnAFullDisk(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	t.Parallel()
	dir := t.TempDir()
	fill := filepath.Join(dir, "fill")
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip(err)
	}
	defer syscall.Unmount(dir, 0)
	d := NewDir(filepath.Join(dir, ".reload"))
	os.Mkdir(d.Path(""), 0o755)
	if err := os.WriteFile(fill, make([]byte, 1<<20), 0o600); err == nil {
		t.Skip("the disk is not full")
	}
	if err := d.WithLock(wait, func(*Tx) error { return nil }); err == nil || d.Kind(ignoreName) != Absent {
		t.Errorf("%v, and .gitignore is %v", err, d.Kind(ignoreName))
	}
	os.Remove(fill)
	write(t, d, "session.md", "x")
	if got := read(t, d, ignoreName); got != "*\n" {
		t.Errorf("%q", got)
	}
}
