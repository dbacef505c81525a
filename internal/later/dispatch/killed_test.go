//go:build unix

package dispatch

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// killer ends a tick at its nth step, as kill -9 would: nothing after that step is
// done. Only one of the tests that use it runs at a time.
type killer struct {
	sync.Mutex
	at, seen int
	step     string
}

var kills killer

// every is how many steps are left out between two that a tick is killed at.
var every = flag.Int("killed-every", 43, "kill a tick at every so many steps (make thorough: 1)")

// run lets fn go on to its nth step and reports whether it got there.
func (k *killer) run(n int, fn func()) (killed bool) {
	k.at, k.seen, k.step = n, 0, ""
	count := func(what string) {
		if k.seen++; k.seen == k.at {
			k.step = what
			runtime.Goexit()
		}
	}
	Step, state.Step = count, count
	defer func() { Step, state.Step = nil, nil }()
	done := make(chan bool)
	go func() {
		over := false
		defer func() { done <- over }()
		fn()
		over = true
	}()
	return !<-done
}

// A tick that is killed at any step, of starting agents and of taking over what
// they left: the next ones bring everything to the same end, with each task done
// once, merged once, and never two agents with the same task.
func TestKilledAtEveryStep(t *testing.T) {
	kills.Lock()
	defer kills.Unlock()
	for _, phase := range []string{"start", "take over"} {
		for n := 1; ; n += *every {
			killed := false
			ok := t.Run(fmt.Sprintf("%s %d", phase, n), func(t *testing.T) {
				w := newSerialWorld(t)
				w.set("DISPATCH_ALLOW_FILE_WRITES=true")
				w.add("A", "write x")
				w.add("B", "write y")
				w.plan(`if has 'write x'; then f=x; else f=y; fi; echo $f >> $f.txt; echo $f >> '` + filepath.Join(w.dir, "runs") + `'; all DONE "written"`)
				tick := func(o Options) func() {
					o.Repo, o.Wait = w.repo, time.Minute
					return func() {
						if _, err := w.world().Tick(context.Background(), o); err != nil {
							t.Error(err)
						}
					}
				}
				if phase == "start" {
					killed = kills.run(n, tick(Options{Manual: true}))
				} else {
					tick(Options{Manual: true})()
					w.ended()
					killed = kills.run(n, tick(Options{Only: true}))
				}
				step := kills.step
				for range 3 {
					w.ended()
					w.later(2 * time.Hour) // whatever waits may go on
					tick(Options{Manual: true})()
				}
				w.ended()
				tick(Options{Only: true})()
				for _, f := range []string{"x", "y"} {
					if got := w.read(filepath.Join(w.repo, f+".txt")); got != f+"\n" {
						t.Errorf("killed at %q: %s.txt is %q", step, f, got)
					}
				}
				if q := w.queue(); strings.Count(q, "[x]") != 2 {
					t.Errorf("killed at %q: queue %q", step, q)
				}
				if log := w.git("log", "--merges", "--format=%s"); strings.Count(log, "\n") != 1 {
					t.Errorf("killed at %q: merges\n%s", step, log)
				}
				w.clean()
				if t.Failed() {
					t.Logf("killed at %q\n%s", step, w.read(filepath.Join(w.app(), LogFile)))
				}
			})
			if !killed || !ok {
				if *every == 1 && n < 20 {
					t.Errorf("%s: only %d steps", phase, n)
				}
				break
			}
		}
	}
}
