//go:build acceptance

package fakeapi_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// These tests hold cc-reload to its promise that no digest is lost, and that
// each goes to the session it is meant for, in the real client.

// reload runs a command of ccreload reload in the project, as a person at a
// terminal does.
func (w *world) reload(args ...string) string {
	w.Helper()
	r := w.exec(w.env["CCRELOAD_BIN"], append([]string{"reload"}, args...)...)
	if r.code != 0 {
		w.Fatalf("ccreload reload %q: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// runs is a call of the Bash tool.
func runs(command string) fakeapi.Turn {
	return fakeapi.Use("Bash", map[string]any{"command": command, "description": "run it"})
}

// A shell writes over a digest where no guard sees it. The session whose it was
// is told once, and it comes back to the byte, be it brought back by a person or
// by the model (case F40).
func TestDigestThatAShellReplacedComesBack(t *testing.T) {
	w := newReload(t)
	a := w.open("--permission-mode", "acceptEdits", "--allowedTools", "Bash(ccreload:*)")
	b := w.open("--permission-mode", "acceptEdits", "--allowedTools", "Bash")
	a.say("save A", writes(w.state("session.md"), digest("thread of the heron", "step of the heron")), fakeapi.Say("A saved."))
	saved := w.read(w.state("session.md"))
	restored := func(by string) {
		t.Helper()
		if got := w.read(w.state("session.md")); got != saved {
			t.Errorf("restored by %s:\n%s\nwant\n%s", by, got, saved)
		}
	}
	replace := func(prompt string) {
		t.Helper()
		b.say(prompt, runs("printf mine > .reload/session.md"), fakeapi.Say("B wrote."))
		if got := w.read(w.state("session.md")); got != "mine" {
			t.Fatalf("the shell has not replaced the digest:\n%s", got)
		}
	}

	replace("write B")
	a.say("go on", fakeapi.Say("A went on."))
	a.see(`ccreload reload restore`)
	b.absent(`ccreload reload restore`) // it has lost nothing
	w.reload("restore")
	restored("a person")
	a.say("go on again", fakeapi.Say("A went on again."))
	if n := len(a.all(`(ccreload reload restore)`)); n != 1 {
		t.Errorf("A was told %d times, want once:\n%s", n, a.seen)
	}

	replace("write B again")
	a.say("bring it back", runs("ccreload reload restore"), fakeapi.Say("A has it back."))
	restored("the model")
	if got := w.reload("show", "1"); got != "mine" {
		t.Errorf("what the restore replaced is kept as %q", got)
	}
}

// A session that armed a digest and is then resumed knows its own notes: they
// wait for the session after it (case F89).
func TestResumedSessionLeavesItsOwnArm(t *testing.T) {
	const next = "mix the newt's green"
	given := func(r fakeapi.Request) int { return strings.Count(r.Text(), next) }
	for name, save := range map[string]func(w *world, s *screen, text string){
		"by the command": func(w *world, s *screen, text string) {
			s.say("/cc-reload:snapshot",
				runs("ccreload reload write --arm <<'DIGEST'\n"+text+"DIGEST"),
				fakeapi.Say("Saved."))
		},
		"by the budget": func(w *world, s *screen, text string) {
			s.say("split the parser",
				fakeapi.Say("Split.").At(46*percent),
				writes(w.state("session.md"), text).At(47*percent),
				fakeapi.Say("Saved.").At(47*percent))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newReload(t, "context_budget_mode: snapshot")
			args := []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash(ccreload:*)"}
			s := w.open(args...)
			s.say("begin", fakeapi.Say("Begun."))
			save(w, s, digest("paint the newt", next))
			if !w.regular("pending") {
				t.Fatal("nothing is armed")
			}
			s.exit()

			s = w.open(append(args, "--continue")...)
			s.say("where were we?", fakeapi.Say("At the newt."))
			s.absent(`cc-reload picked up`)
			begun, resumed := w.prompted("begin"), w.prompted("where were we?")
			if session(resumed) != session(begun) {
				t.Fatalf("--continue is session %s, not %s: the test proves nothing", session(resumed), session(begun))
			}
			if given(resumed) != 0 {
				t.Error("the resumed session was given its own digest")
			}
			if !w.regular("pending") {
				t.Fatal("the resumed session took its own arm")
			}

			s.clear()
			s.say("what now?", fakeapi.Say("The green."))
			s.see("paint the newt")
			if n := given(w.prompted("what now?")); n != 1 {
				t.Errorf("after /clear the digest was delivered %d times, want once", n)
			}
			if exists(w.state("pending")) {
				t.Error("the arm is still there")
			}
			s.clear()
			s.say("and again?", fakeapi.Say("Nothing."))
			if given(w.prompted("and again?")) != 0 {
				t.Error("the digest was delivered twice")
			}
		})
	}
}

// A client that is killed says nothing any more, but its transcript does. The
// next session is told so in a line, and given nothing it has not asked for.
func TestSessionThatWasKilledLeavesItsTranscript(t *testing.T) {
	w := newReload(t)
	args := []string{"--permission-mode", "acceptEdits", "--allowedTools", "Bash(ccreload:*)"}
	prompted := []string{"split the parser for the walrus", "number the token types", "feed the fixture to the lexer"}
	s := w.open(args...)
	s.say(prompted[0], writes(filepath.Join(w.project, "walrus.go"), "package main\n"), fakeapi.Say("Split."))
	s.say(prompted[1], writes(filepath.Join(w.project, "number.go"), "package main\n"), fakeapi.Say("Numbered."))
	killed := w.prompted(prompted[1])
	never := make(chan struct{})
	defer close(never)
	w.api.Script(fakeapi.Say("Never said.").After(never))
	s.submit(prompted[2])
	w.until("the client to have written down the prompt", func() bool {
		return slices.ContainsFunc(w.transcripts(), func(row map[string]any) bool {
			return row["type"] == "user" && strings.Contains(fmt.Sprint(row["message"]), prompted[2])
		})
	})
	s.kill()
	if exists(w.state("session.md")) || exists(w.state("pending")) {
		t.Fatal("the killed session left a digest: the test proves nothing")
	}

	s = w.open(args...)
	s.see(`left no digest`)
	s.say("good morning", fakeapi.Say("Morning."))
	r := w.prompted("good morning")
	if session(r) == session(killed) {
		t.Fatal("the client resumed by itself")
	}
	for _, prompt := range prompted {
		if r.Has(prompt) {
			t.Errorf("the model was told unasked: %s", prompt)
		}
	}
	if exists(w.state("session.md")) {
		t.Error("a digest was made unasked")
	}

	from := len(w.api.Requests())
	s.say("/cc-reload:reload", runs("ccreload reload show"), fakeapi.Say("Shown."))
	shown := w.request("the result of the command", from, prompts("walrus.go")).Latest()
	for _, want := range append(prompted, "walrus.go", "number.go") {
		if !strings.Contains(shown, want) {
			t.Errorf("the digest does not say %q:\n%s", want, shown)
		}
	}
	if got := w.owner(); got != session(r) {
		t.Errorf("the digest is owned by %q, want %q", got, session(r))
	}
	s.exit()

	// It has been said, and there is a digest now.
	s = w.open(args...)
	s.say("good evening", fakeapi.Say("Evening."))
	s.absent(`left no`)
}
