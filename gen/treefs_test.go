package gen

import (
	"testing"
	"testing/fstest"
)

// A tree reads as any file system does.
func TestTreeFS(t *testing.T) {
	t.Parallel()
	files := tree{"a.b/c": {Data: []byte("1"), Mode: 0o644}, "a/b/c": {Data: []byte("2"), Mode: 0o755}, "a/d": {Mode: 0o644}, "a-": {Mode: 0o644}}
	if err := fstest.TestFS(files.fs(), files.paths()...); err != nil {
		t.Error(err)
	}
	if err := fstest.TestFS(tree{}.fs()); err != nil {
		t.Error(err)
	}
}
