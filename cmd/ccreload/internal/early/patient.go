//go:build patient

package early

import (
	"os"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/state"
)

// The tests run the program itself, built with this tag: it waits longer than any
// person would, so that a busy machine fails no test, and leaves it to the system
// when files reach the disk.
var _ = func() bool {
	timeout = 5 * time.Minute
	git.QueryTimeout, handoff.RefreshTimeout = time.Minute, time.Minute
	state.Flush = func(*os.File) error { return nil }
	return true
}()
