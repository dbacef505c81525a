package reload

import (
	"os"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/state"
)

// No test here switches the machine off, and none is about how long git takes.
func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil }
	git.QueryTimeout = time.Minute
	os.Exit(m.Run())
}
