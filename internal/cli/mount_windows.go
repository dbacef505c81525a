package cli

import "os"

// noexec reports whether path is on a file system that runs no programs; on
// Windows none is.
func noexec(string) bool { return false }

// writable returns nil when this user may make files in dir. Nothing short of
// making one answers that on Windows.
func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".ccreload-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}
