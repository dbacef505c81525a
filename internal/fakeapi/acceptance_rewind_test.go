//go:build acceptance

package fakeapi_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// With nothing in between, the transcript does not tell at /compact that a turn was
// taken back. The next prompt puts that right, in the file and to the model.
func TestTurnTakenBackRightBeforeACompaction(t *testing.T) {
	needs(t, "2.1.332", "the row of the compaction in the transcript a moment later")
	w := newReload(t)
	w.api.Summary(fakeapi.Say("<summary>A parser.</summary>"))
	s := w.open("--permission-mode", "acceptEdits")
	s.say("split the parser for the walrus",
		writes(filepath.Join(w.project, "walrus.go"), "package main\n"),
		fakeapi.Say("Split."))
	s.say("name the token types ABANDONED", fakeapi.Say("They are ABANDONED now."))
	s.rewind(1, false)
	s.submit("/compact keep the plan")
	s.see(`(?i)compacted`)
	w.until("the row of the compaction", func() bool { return w.rows("compact_boundary") > 0 })
	s.say("go on", fakeapi.Say("Gone on."))

	got := w.read(w.state("session.md"))
	if strings.Contains(got, "ABANDONED") || !strings.Contains(got, "walrus") {
		t.Errorf("the digest was not put right:\n%s", got)
	}
	if r := w.prompted("go on"); !r.Has("a turn that the user had taken back") {
		t.Error("the model was not told")
	}
}
