//go:build acceptance

package fakeapi_test

import (
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// Three people's sessions and a run without a person work in one project, and
// all of them cross the budget together. Each session has its own digest
// written, and its own /clear brings that one back.
func TestThreeSessionsCrossTogether(t *testing.T) {
	needs(t, "2.1.214", "telling live clients apart (CLAUDE_PID)")
	w := newReload(t, "context_budget_mode: snapshot")
	birds := []string{"heron", "crane", "egret"}
	screens := map[string]*screen{}
	of := func(bird, latest string) func(fakeapi.Request) bool {
		return func(r fakeapi.Request) bool {
			return strings.Contains(r.Opening(), "work on the "+bird) && strings.Contains(r.Latest(), latest)
		}
	}
	together := make(chan struct{})
	for _, bird := range birds {
		screens[bird] = w.open("--permission-mode", "acceptEdits", "--allowedTools", "Bash(ccreload:*)")
		text := digest("thread of the "+bird, "step of the "+bird)
		w.api.Script(
			fakeapi.Say("Working.").At(46*percent).After(together).For(of(bird, "work on the "+bird)),
			runs("ccreload reload write <<'DIGEST'\n"+text+"DIGEST").At(47*percent).For(of(bird, "Next concrete step")))
	}
	w.api.Fallback(fakeapi.Say("Done.").At(47 * percent))
	for _, bird := range birds {
		screens[bird].submit("work on the " + bird)
		w.prompted("work on the " + bird)
	}
	close(together)
	w.until("the end of the turns that cross the budget", func() bool { return w.turns() >= len(birds) })
	w.must(append([]string{"-p", "count the pigeons", "--output-format", "json"}, w.flags...)...)

	// One snapshot turn at a time: who had to wait has it at its next Stop.
	for _, bird := range birds {
		s := screens[bird]
		for s.see(`cc-reload: `); !s.comes(`cc-reload: snapshot saved`, 2*time.Second); {
			ended := w.turns()
			s.submit("go on with the " + bird)
			w.until("the end of another turn", func() bool { return w.turns() > ended })
		}
	}
	w.api.Fallback(fakeapi.Say("Done.")) // no new crossing
	for i, bird := range birds {
		s := screens[bird]
		s.clear()
		s.submit("what now, " + bird)
		r := w.prompted("what now, " + bird)
		s.see("thread of the " + bird)
		for j, other := range birds {
			if has := r.Has("step of the " + other); has != (i == j) {
				t.Errorf("after /clear of the %s: was given the step of the %s: %v", bird, other, has)
			}
			if i != j {
				s.absent("thread of the " + other)
			}
		}
	}
	if exists(w.state("pending")) || exists(w.state("summarizing")) {
		t.Error("an arm or a marker is left behind")
	}
	if r := w.prompted("count the pigeons"); r.Has("thread of the") {
		t.Error("the headless run was given a digest")
	}
}
