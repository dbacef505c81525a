package state

import "os"

// Open opens a file to read it.
func Open(path string) (*os.File, error) { return os.Open(path) }
