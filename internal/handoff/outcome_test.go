package handoff

import (
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/git"
)

// What is left for the person follows from what was done, not from how that was
// put into words.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	made := git.Made{ID: strings.Repeat("a", 40)}
	for name, tt := range map[string]struct {
		o    outcome
		want []string // how the steps begin
	}{
		"committed and armed":          {outcome{committed: made, indexKnows: true, remote: true, armed: true}, []string{"Push", "Start the next session"}},
		"committed, not armed":         {outcome{committed: made, indexKnows: true, remote: true}, []string{"Push", "Paste"}},
		"there is nowhere to push to":  {outcome{committed: made, indexKnows: true, armed: true}, []string{"Start the next session"}},
		"pushed":                       {outcome{committed: made, indexKnows: true, remote: true, pushed: true, armed: true}, []string{"Start the next session"}},
		"the index does not know":      {outcome{paths: []string{"x"}, committed: made, remote: true, armed: true}, []string{"Your next commit would take", "Push", "Start the next session"}},
		"left uncommitted":             {outcome{path: "x", uncommitted: asAsked, mayCommit: true, armed: true}, []string{"Commit x", "Start the next session"}},
		"no commit may be made":        {outcome{path: "x", uncommitted: asAsked, armed: true}, []string{"Start the next session"}},
		"committed as it is":           {outcome{path: "x", uncommitted: unchanged, armed: true}, []string{"Start the next session"}},
		"nothing could be written":     {outcome{}, []string{"Paste"}},
		"there was nothing to be done": {outcome{skipped: isRecent, armed: true}, nil},
	} {
		got := tt.o.next()
		if !slices.EqualFunc(got, tt.want, strings.HasPrefix) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestActions(t *testing.T) {
	t.Parallel()
	made := git.Made{ID: strings.Repeat("a", 40)}
	o := outcome{path: "/p/x", redacted: 2, archived: "/old", written: true, paths: []string{"sub/x", "sub/TODO.md"}, committed: made, branch: "main", upstream: "o/main", pushed: true, armed: true}
	want := []string{
		"archived the earlier x as /old", "wrote /p/x (2 secrets taken out)", "committed x, TODO.md as aaaaaaaaaaaa",
		"pushed main to o/main", "armed it for the next session",
	}
	if got := o.actions(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	// It was armed before: a commit of it has not done that.
	o.written, o.archived, o.pushed = false, "", false
	if got := o.actions(); !slices.Equal(got, want[2:3]) {
		t.Errorf("%q", got)
	}
	dry := outcome{dry: true, path: "/p/x", archived: "/p/x", written: true, paths: []string{"sub/x"}, branch: "main", pushed: true}
	want = []string{"would have archived the earlier x", "would have written /p/x", "would have committed x", "would have asked whether to push main"}
	if got := dry.actions(); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
