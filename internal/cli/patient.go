//go:build patient

package cli

import (
	"os"
	"time"

	"github.com/ccreload/ccreload/internal/statusline"
)

// What package early says of this tag goes for the command line, too. The tests may
// be run in a session, and say themselves what is above them.
func init() {
	hookTimeout, statusline.FirstTimeout = 5*time.Minute, time.Minute
	if d, err := time.ParseDuration(os.Getenv("FIRST_TIMEOUT")); err == nil {
		statusline.FirstTimeout = d
	}
	inherited = func(name string) string { return os.Getenv("ABOVE_" + name) }
}
