package registry

import (
	"io"
	"os"
	"strings"
	"testing"
)

// What a hook starts may use every processor, as the user's environment says.
func TestHookLeavesNoLimitOfProcessors(t *testing.T) {
	for _, tt := range []struct{ given, left string }{{"1", ""}, {"", ""}, {"4", "4"}} {
		t.Setenv("GOMAXPROCS", tt.given)
		Hook(nil, strings.NewReader(""), io.Discard, Env())
		if got := os.Getenv("GOMAXPROCS"); got != tt.left {
			t.Errorf("GOMAXPROCS=%q leaves %q, want %q", tt.given, got, tt.left)
		}
	}
}
