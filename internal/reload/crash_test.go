package reload

import (
	"os"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// killed is what a run that is killed ends with.
type killed struct{}

// killAt runs act and kills it before the nth change of a state directory; it
// reports whether there were so many. As with a real kill nothing is cleaned up,
// and the system lets go of the lock.
func killAt(n int, act func()) (wasKilled bool) {
	left := n
	state.Step = func(string) {
		if left--; left == 0 {
			panic(killed{})
		}
	}
	defer func() {
		state.Step = nil
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			wasKilled = true
		}
	}()
	act()
	return false
}

// begins returns what a session that starts after /clear in a client is given,
// and proves that somebody is there.
func (w *world) begins(pid int, session string) string {
	w.Helper()
	w.in(pid)
	out := w.on(host.SessionStart, session, source("clear"))
	again := w.on(host.UserPromptSubmit, session)
	return out.Context + again.Context
}

// once fails unless exactly the next session of the client is given a digest
// with this in it.
func (w *world) once(pid int, want string) {
	w.Helper()
	says(w.T, w.begins(pid, "next"), want)
	if got := w.begins(pid, "after"); got != "" {
		w.Errorf("given to a second session as well: %.200s", got)
	}
}

// Whatever write a hook or a command is killed before: no arm is lost, nothing
// is given to two sessions, and nothing half is given to any.
func TestKilledAtEveryWrite(t *testing.T) {
	wrote := func(w *world) { // a has its snapshot turn and has written its digest
		w.put(configFile, "context_budget_mode: snapshot\n")
		w.in(11)
		if out := w.crosses("a", 47); out.Continue == "" {
			w.Fatalf("no snapshot turn: %+v", out)
		}
		os.Chtimes(w.path(markerFile), w.now, w.now)
		w.writes("a")
	}
	bBefore := func(w *world) { // b has armed its own, and lives
		w.put(configFile, "context_budget_mode: snapshot\n")
		w.in(12).snapshots("b")
	}
	armedByB := func(w *world) {
		w.Helper()
		says(w.T, w.begins(12, "b2"), "go on with b")
		if got := w.begins(12, "b3"); got != "" {
			w.Errorf("b's was given twice")
		}
	}
	answer := "" // of a hook that was not killed
	taken := func(w *world) { given(w.T, w.armed().in(11).on(host.SessionStart, "a")) }
	for name, tt := range map[string]struct {
		prepare, act, then func(*world)
	}{
		"pass 1": {
			func(w *world) { bBefore(w); w.in(11) },
			func(w *world) { w.crosses("a", 47) },
			func(w *world) {
				if w.crosses("a", 48).Silent() && w.crosses("a", 58).Silent() {
					w.Error("nobody is told that the budget is crossed")
				}
				armedByB(w)
			},
		},
		"pass 2": {
			wrote,
			func(w *world) { w.crosses("a", 48) },
			func(w *world) { w.crosses("a", 49); w.once(11, "go on with a") },
		},
		"pass 2, no other Stop": {
			wrote,
			func(w *world) { w.crosses("a", 48) },
			func(w *world) { w.once(11, "go on with a") },
		},
		"pass 2 beside another arm": {
			func(w *world) { bBefore(w); wrote(w) },
			func(w *world) { w.crosses("a", 48) },
			func(w *world) { w.crosses("a", 49); w.once(11, "go on with a"); armedByB(w) },
		},
		"delivery": {
			func(w *world) { w.armed().in(11) },
			func(w *world) { answer = ""; answer = w.on(host.SessionStart, "a").Context },
			func(w *world) {
				// Either the session that lives on has it, or another one.
				first := answer + w.on(host.UserPromptSubmit, "a").Context
				second := w.begins(12, "b")
				if strings.Contains(first, "run TestExpiry") == strings.Contains(second, "run TestExpiry") {
					w.Errorf("given to both, or to none: %.100q %.100q", first, second)
				}
				if w.begins(12, "b2") != "" {
					w.Error("and once more")
				}
			},
		},
		"delivery, cleared": {
			func(w *world) { w.armed().in(11) },
			func(w *world) { w.on(host.SessionStart, "a") },
			func(w *world) { w.once(11, "run TestExpiry") },
		},
		"delivery, crashed": {
			func(w *world) { w.armed().in(11) },
			func(w *world) { w.on(host.SessionStart, "a") },
			func(w *world) { delete(w.alive, 11); w.once(12, "run TestExpiry") },
		},
		"delivery of what was parked": {
			func(w *world) { wrote(w); w.crosses("a", 48); w.in(12).snapshots("b"); w.in(11) },
			func(w *world) { w.on(host.SessionStart, "a2", source("clear")) },
			func(w *world) { w.once(11, "go on with a"); armedByB(w) },
		},
		"confirmation at a prompt": {
			taken,
			func(w *world) { w.on(host.UserPromptSubmit, "a") },
			func(w *world) {
				w.on(host.UserPromptSubmit, "a")
				if got := w.begins(11, "a2"); got != "" {
					w.Error("given again")
				}
			},
		},
		"give-back": {
			taken,
			func(w *world) { w.on(host.SessionEnd, "a") },
			func(w *world) { delete(w.alive, 11); w.once(12, "run TestExpiry") },
		},
		"give-back of a client that is gone": {
			func(w *world) { taken(w); delete(w.alive, 11); w.in(12) },
			func(w *world) { w.on(host.SessionStart, "b") },
			func(w *world) { w.once(12, "run TestExpiry") },
		},
		"leaving with something parked": {
			func(w *world) { wrote(w); w.crosses("a", 48); w.in(12).snapshots("b"); w.in(11) },
			func(w *world) { w.on(host.SessionEnd, "a", func(p *host.Payload) { p.Reason = "logout" }) },
			func(w *world) { delete(w.alive, 11); w.once(13, "go on with a"); armedByB(w) },
		},
		"PreCompact": {
			func(w *world) { w.armed().in(11) },
			func(w *world) { w.on(host.PreCompact, "s0") },
			func(w *world) { w.once(11, "run TestExpiry") },
		},
		"write --arm": {
			func(w *world) { w.armed().in(11) },
			func(w *world) { w.store("a").Write([]byte(page), "", true) },
			func(w *world) {
				got := w.begins(11, "next")
				if !strings.Contains(got, "run TestExpiry") && !strings.Contains(got, strings.TrimSpace(page[strings.LastIndex(page, "##"):])) {
					w.Errorf("neither the old digest nor the new one: %.300q", got)
				}
				if w.begins(11, "after") != "" {
					w.Error("given twice")
				}
			},
		},
		"set aside": {
			func(w *world) {
				w.put(digestFile, sampleDigest)
				w.arm(handover.Arm{Owner: "s0", Client: client(12)})
				w.in(12).in(11)
			},
			func(w *world) { w.on(host.PreToolUse, "a") },
			func(w *world) { says(w.T, w.begins(12, "b"), "run TestExpiry") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				w := newWorld(t)
				tt.prepare(w)
				wasKilled := killAt(n, func() { tt.act(w) })
				tt.then(w)
				if t.Failed() {
					t.Fatalf("killed before write %d; %q", n, w.names())
				}
				if !wasKilled {
					if n < 2 {
						t.Fatal("nothing is written")
					}
					return
				}
			}
		})
	}
}

// client is the one with a process id that no process has.
func client(pid int) handover.Client { return handover.Client{PID: pid} }

// After a delivery has been confirmed, a second one to the same session, or a
// claim that is written over another, would have the digest be given again.
func TestSecondDeliveryKeepsTheFirstClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	given(t, w.in(11).on(host.SessionStart, "a"))
	// The session is started again (F44), and something new is armed meanwhile.
	w.put(digestFile, strings.Replace(sampleDigest, "run TestExpiry", "run TestOther", 1))
	w.arm(handover.Arm{Owner: "s9"})
	says(t, w.in(12).on(host.SessionStart, "b").Context, "run TestOther")
	w.on(host.UserPromptSubmit, "b")
	w.in(11).on(host.UserPromptSubmit, "a")
	if got := w.begins(13, "c"); got != "" {
		t.Errorf("given again: %.200s", got)
	}
}
