package notes

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/transcript"
)

func TestTouchedListsAFileOnce(t *testing.T) {
	t.Parallel()
	f := transcript.Facts{
		Files: []transcript.File{
			{Path: "/p/src/a.go", Edited: true},
			{Path: "src/a.go", Named: true},
			{Path: "/p/src/b.go"},
			{Path: "/p/a.go"},
			{Path: "build.log", Named: true},
		},
		Seen: []string{"b.go", "/p/src/a.go", "src/c.go", "lib/b.go"},
	}
	got := strings.Join(Touched(f, Room{Edited: 9, Read: 9, Named: 9, Seen: 9}, "`", func(p string) string { return strings.TrimPrefix(p, "/p/") }), "\n")
	want := "Edited: `src/a.go`\nRead: `src/b.go`, `a.go`\nNamed in commands: `build.log`\nFound, not opened: `src/c.go`, `lib/b.go`"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A page is as full as it may be: first the paths lose their beginning, then the
// lists their end.
func TestFillTakesTheMostRoomThatFits(t *testing.T) {
	t.Parallel()
	var f transcript.Facts
	for i := range 200 {
		f.Files = append(f.Files, transcript.File{Path: fmt.Sprintf("src/main/java/org/example/part%03d/Name.java", i), Edited: true})
	}
	page := func(limit int) (string, int) {
		s := Fill(limit, func(room Room) string {
			return strings.Join(Touched(f, room, "", func(p string) string { return p }), "\n")
		})
		return s, strings.Count(s, "Name.java")
	}
	for _, c := range []struct {
		limit, files int
		short        bool
	}{{100_000, 62, false}, {1_300, 28, false}, {1_000, 25, true}, {400, 12, true}, {1, 5, true}} {
		s, n := page(c.limit)
		if n != c.files || strings.Contains(s, "…/example/") != c.short || host.Len(s) > c.limit && c.limit > 1 {
			t.Errorf("limit %d: %d files in %d characters, want %d, short %v:\n%s", c.limit, n, host.Len(s), c.files, c.short, s)
		}
	}
}
