package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/ccreload/ccreload/internal/measure"
)

// What the pages are worth on the recorded sessions is printed, and does not fall
// unnoticed: who makes it better writes the new figures down, with `make continuity`
// at hand. They do not flatter: real sessions score lower (docs/continuity.md).
func TestContinuityDoesNotFall(t *testing.T) {
	t.Parallel()
	sessions := filepath.Join("..", "..", "testdata", "continuity")
	data, err := os.ReadFile(filepath.Join(sessions, "floor.json"))
	if err != nil {
		t.Fatal(err)
	}
	var floor map[string]struct {
		Overall    float64
		Characters float64 // at most
	}
	if err := json.Unmarshal(data, &floor); err != nil {
		t.Fatal(err)
	}
	for what, args := range map[string][]string{"digest": nil, "handoff": {"--handoff"}} {
		var r measure.Report
		code, out, errs := run(t, "", append([]string{"reload", "measure", "--json", sessions}, args...)...)
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%d, %v:\n%s%s", code, err, out, errs)
		}
		t.Logf("%s: %.1f overall in %.0f characters, %v", what, r.Overall, r.Characters, r.Classes)
		want := floor[what]
		if r.Sessions < 6 || len(r.Skipped) > 0 || r.Overall < want.Overall || r.Characters > want.Characters {
			t.Errorf("%s: %d sessions, %.1f in %.0f characters, skipped %v; want 6 or more, at least %.1f in at most %.0f", what, r.Sessions, r.Overall, r.Characters, r.Skipped, want.Overall, want.Characters)
		}
		if r.Classes["todos"] != 100 || r.Classes["errors"] != 100 {
			t.Errorf("%s: an open item or a failing command is lost: %v", what, r.Classes)
		}
	}
}
