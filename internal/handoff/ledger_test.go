package handoff

import (
	"strings"
	"testing"
)

// The ledger is read whole, so it must not grow beyond what is read.
func TestLedgerKeepsTheNewest(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("x", maxLedgerSize/10)
	for name, tt := range map[string]struct {
		add  entry
		n    int
		kept int
	}{
		"few":          {entry{Path: "/a"}, 3, 3},
		"many":         {entry{Path: "/a"}, maxLedger + 5, maxLedger},
		"large":        {entry{Path: "/a", Content: big}, 30, 9},
		"one too many": {entry{Path: "/a", Content: strings.Repeat(big, 11)}, 1, 1},
	} {
		var l ledger
		for range tt.n {
			l = append(l, tt.add)
		}
		l[len(l)-1].Session = "newest"
		data, err := l.encode()
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(lines) != tt.kept || !strings.Contains(lines[len(lines)-1], "newest") {
			t.Errorf("%s: %d entries are kept, want %d", name, len(lines), tt.kept)
		}
		if tt.kept > 1 && len(data) > maxLedgerSize {
			t.Errorf("%s: %d bytes", name, len(data))
		}
	}
}
