package handoff

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// killed is what a run that is killed ends with.
type killed struct{}

// killAt runs act and ends it before the nth change of a state directory. It
// returns what that change was, "" when there were not so many.
func killAt(n int, act func()) (change string) {
	last := ""
	state.Step = func(what string) {
		if n--; n == 0 {
			last = what
			panic(killed{})
		}
	}
	defer func() {
		state.Step = nil
		if r := recover(); r != nil {
			if _, ours := r.(killed); !ours {
				panic(r)
			}
			change = last
		}
	}()
	act()
	return ""
}

// every is how many writes are left out between two that a run is killed before.
var every = flag.Int("killed-every", 3, "kill a run before every so many writes (make thorough: 1)")

// Whatever write of ours a run is killed before: a document that is there is
// known as ours and goes to the next session, what the user has staged and
// changed is as it was, and the next run leaves nothing behind. Not in parallel:
// the step is one for the process.
func TestKilledAtEveryWrite(t *testing.T) {
	for name, act := range map[string]func(w *world){
		"run":    func(w *world) { w.run(func(o *Options) { o.Auto = true }) },
		"commit": func(w *world) { Commit(t.Context(), w.options()) },
	} {
		for n := 1; ; n += *every {
			w := newWorld(t)
			w.say(w.prompt("go on"))
			w.run(func(o *Options) { o.NoCommit = true }) // an earlier document is in its place
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n")
			w.git("add", "a")
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n")
			staged, changed := w.git("diff", "--cached"), w.git("diff")
			change := killAt(n, func() { act(w) })
			if change == "" {
				if n < 6 {
					t.Errorf("%s: only %d writes", name, n)
				}
				break
			}
			w.session = "s2"
			if out := w.start("resume"); !strings.Contains(out.Context, "## Why") {
				t.Errorf("%s, killed before %s: the next session gets %+v", name, change, out)
			}
			if w.git("diff", "--cached") != staged || w.git("diff") != changed {
				t.Errorf("%s, killed before %s: the user's work is another:\n%s", name, change, w.git("status"))
			}
			w.now = w.now.Add(2 * time.Minute)
			if r := w.run(func(o *Options) { o.NoCommit = true }); r.Skipped || len(r.Errors) > 0 {
				t.Errorf("%s, killed before %s: the next run: %+v", name, change, r)
			}
			for _, dir := range []string{w.project, w.data, filepath.Join(w.project, stateName), archiveOf(w.project).Path("")} {
				entries, _ := os.ReadDir(dir)
				for _, e := range entries {
					if strings.HasSuffix(e.Name(), ".tmp") {
						t.Errorf("%s, killed before %s: %s is left in %s", name, change, e.Name(), dir)
					}
				}
			}
		}
	}
}
