//go:build unix

package cli

import "golang.org/x/sys/unix"

// noexec reports whether path is on a file system that runs no programs.
func noexec(path string) bool {
	var s unix.Statfs_t
	return unix.Statfs(path, &s) == nil && s.Flags&noexecFlag != 0
}

// writable returns nil when this user may make files in dir, without making
// one.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
