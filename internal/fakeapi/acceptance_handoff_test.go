//go:build acceptance

package fakeapi_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// These tests hold graceful-handoff to its promises in the real client.

const (
	artifact = "NEXT-SESSION.local.md"
	// provenance begins what the model is told of a handoff.
	provenance = "graceful-handoff: the document below was written"
	wroteIt    = `graceful-handoff: context \d+ ?% full, so this session was written down in \S*NEXT-SESSION\.local\.md and committed`
	pickedUp   = `(graceful-handoff picked up the handoff)`
)

// newHandoff is a world with graceful-handoff and something of the user's in
// every state git knows: committed, half staged, and untracked.
func newHandoff(t *testing.T, config ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.withPlugin("graceful-handoff")
	if len(config) > 0 {
		w.write(w.handoff("config"), strings.Join(config, "\n")+"\n")
	}
	main := filepath.Join(w.project, "main.go")
	w.write(main, "package main\n\n// one\n")
	w.git("add", "main.go")
	w.write(main, "package main\n\n// one\n// two\n")
	w.write(filepath.Join(w.project, ".env"), "KEY=1\n")
	return w
}

// handoff is a path in the project's .handoff directory.
func (w *world) handoff(elem ...string) string {
	return filepath.Join(append([]string{w.project, ".handoff"}, elem...)...)
}

// archived returns the names of the artifacts in the archive.
func (w *world) archived() []string {
	w.Helper()
	files, err := filepath.Glob(w.handoff("archive", "*.md"))
	w.check(err)
	return files
}

// committed returns the files of the newest commit.
func (w *world) committed() string {
	w.Helper()
	return strings.Join(strings.Fields(w.git("show", "--name-only", "--format=", "HEAD")), " ")
}

func TestHandoffAtTheThreshold(t *testing.T) {
	w := newHandoff(t)
	doc := filepath.Join(w.project, artifact)
	staged, unstaged := w.git("diff", "--cached"), w.git("diff")
	s := w.open()
	s.say("split the parser", fakeapi.Say("Split.").At(69*percent))
	if exists(doc) || exists(w.handoff()) {
		t.Error("something was written below the threshold")
	}
	s.say("feed the marmots", fakeapi.Say("Fed.").At(71*percent))
	s.see(wroteIt)
	text := w.read(doc)
	if !strings.Contains(text, "> feed the marmots") {
		t.Errorf("the document does not say what was asked for:\n%s", text)
	}
	if got := w.committed(); got != artifact {
		t.Errorf("the commit holds %q", got)
	}
	if w.git("diff", "--cached") != staged || w.git("diff") != unstaged {
		t.Errorf("case F52: what the user has staged has changed:\n%s", w.git("status"))
	}
	// Once a session, however full it gets.
	s.say("count the marmots", fakeapi.Say("Three.").At(80*percent))
	if w.read(doc) != text || len(w.archived()) > 0 {
		t.Error("a second handoff was written")
	}
	for _, r := range w.api.Requests() {
		if r.Has("graceful-handoff: context") {
			t.Errorf("the notice went to the model: %s", r)
		}
	}
	s.exit()

	s = w.open("--continue")
	s.see(pickedUp)
	s.say("where were we?", fakeapi.Say("With the marmots.").At(81*percent))
	r := w.prompted("where were we?")
	if n := strings.Count(r.Text(), provenance); n != 1 || !r.Has("> feed the marmots") {
		t.Errorf("the request holds %d handoffs, want one with what was asked for", n)
	}
	if exists(doc) || len(w.archived()) != 1 {
		t.Fatalf("the document is there: %v, archived: %q", exists(doc), w.archived())
	}
	if w.read(w.archived()[0]) != text {
		t.Error("the archive holds something else")
	}
	if got := w.git("status", "--porcelain"); got != " D "+artifact+"\nMM main.go\n?? .env\n" {
		t.Errorf("git status:\n%s", got)
	}

	// Handed over once.
	s.clear()
	s.say("and now?", fakeapi.Say("Nothing."))
	if w.prompted("and now?").Has(provenance) {
		t.Error("the document was handed over twice")
	}
}

// The handoff is written at the end of the very turn that crosses the threshold,
// each time, whether or not the status line has shown the turn before.
func TestHandoffInTheTurnThatCrosses(t *testing.T) {
	for name, installed := range map[string]bool{"without a status line": false, "with the status line": true} {
		t.Run(name, func(t *testing.T) {
			w := newHandoff(t)
			if installed {
				if r := w.exec("sh", "-c", `"$CCRELOAD_BIN" statusline install`); r.code != 0 {
					t.Fatalf("statusline install: exit %d\n%s%s", r.code, r.out, r.err)
				}
			}
			doc := filepath.Join(w.project, artifact)
			for range 5 {
				s := w.open()
				s.say("split the parser", fakeapi.Say("Split.").At(65*percent))
				if installed {
					s.see(`handoff soon`)
				}
				if exists(doc) {
					t.Fatal("it was written below the threshold")
				}
				s.say("feed the marmots", fakeapi.Say("Fed.").At(71*percent))
				s.see(wroteIt)
				if !strings.Contains(w.read(doc), "> feed the marmots") {
					t.Errorf("the document does not say what was asked for:\n%s", w.read(doc))
				}
				s.exit()
				w.check(os.Remove(doc))
			}
		})
	}
}

// A commit hook that takes longer than the client gives a Stop is waited for by
// nobody, and the document is committed all the same.
func TestHandoffBehindASlowCommitHook(t *testing.T) {
	w := newHandoff(t)
	done := filepath.Join(w.dir, "go")
	hook := filepath.Join(w.project, ".git", "hooks", "pre-commit")
	w.write(hook, "#!/bin/sh\nwhile [ ! -e '"+done+"' ]; do sleep 0.1; done\n")
	w.check(os.Chmod(hook, 0o755))
	s := w.open()
	s.say("feed the marmots", fakeapi.Say("Fed.").At(71*percent))
	s.see(`so this session is being written down; hooks or signing of the repository take their time`)
	if got := w.committed(); got == artifact {
		t.Error("the hook was not waited for")
	}
	w.write(done, "")
	w.until("the commit", func() bool { return w.committed() == artifact })
	w.until("git status to be quiet about it", func() bool { return !strings.Contains(w.git("status", "--porcelain"), artifact) })
}

func TestHandoffAfterClear(t *testing.T) {
	w := newHandoff(t)
	s := w.open()
	s.say("feed the marmots", fakeapi.Say("Fed.").At(71*percent))
	s.see(wroteIt)
	s.clear()
	s.say("what now?", fakeapi.Say("The marmots.").At(2*percent))
	s.see(pickedUp)
	if n := len(s.all(pickedUp)); n != 1 {
		t.Errorf("%d banners, want one:\n%s", n, s.seen)
	}
	if r := w.prompted("what now?"); strings.Count(r.Text(), provenance) != 1 || !r.Has("> feed the marmots") {
		t.Error("the document did not arrive")
	}
	if exists(filepath.Join(w.project, artifact)) || len(w.archived()) != 1 {
		t.Errorf("archived: %q", w.archived())
	}
}

// What a person types writes the document without a question, and asks before
// it is committed.
func TestHandoffCommand(t *testing.T) {
	for answer, want := range map[string]string{"Enter": "NEXT-SESSION-marmots.local.md", "Escape": "main.go"} {
		t.Run(answer, func(t *testing.T) {
			w := newHandoff(t)
			doc := filepath.Join(w.project, "NEXT-SESSION-marmots.local.md")
			s := w.open()
			s.say("feed the marmots", fakeapi.Say("Fed.").At(5*percent))
			w.api.Script(
				runs("ccreload handoff run --no-commit --json 'marmots'"),
				fakeapi.Use("Read", map[string]any{"file_path": doc}),
				fakeapi.Use("Edit", map[string]any{"file_path": doc, "old_string": "The last thing that was asked for:", "new_string": "Marmots bring luck. The last thing that was asked for:"}),
				runs("ccreload handoff commit"))
			ended := w.turns()
			s.submit("/graceful-handoff marmots")
			s.see(`ccreload handoff commit`)
			s.see(`Do you want to proceed\?`)
			if got := w.committed(); got != "main.go" {
				t.Errorf("before the answer the newest commit holds %q", got)
			}
			if !strings.Contains(w.read(doc), "Marmots bring luck.") {
				t.Errorf("the document was not written, or could not be edited without a question:\n%s", w.read(doc))
			}
			r := w.request("the text of the skill", 0, func(r fakeapi.Request) bool {
				return r.Kind == fakeapi.Main && r.Has("A name for the document, which may be empty: marmots")
			})
			if !strings.Contains(r.Model, "sonnet") {
				t.Errorf("the skill ran on %s", r.Model)
			}
			w.api.Script(fakeapi.Say("Handed over."))
			s.answer(answer)
			if answer == "Enter" {
				w.until("the end of the turn", func() bool { return w.turns() > ended })
				if got := w.git("status", "--porcelain"); got != "MM main.go\n?? .env\n" {
					t.Errorf("git status:\n%s", got)
				}
			} else {
				s.see(`(?i)interrupted|rejected`)
			}
			if got := w.committed(); got != want {
				t.Errorf("the newest commit holds %q, want %q", got, want)
			}
			if !strings.Contains(w.read(doc), "Marmots bring luck.") {
				t.Error("the document is gone")
			}
		})
	}
}

// Both plugins in one session: either does its own at the end of the turn, and
// one /clear brings one injection and one banner.
func TestHandoffBesideReload(t *testing.T) {
	w := newHandoff(t)
	w.withPlugin("cc-reload")
	w.write(w.state("config"), "context_budget_mode: snapshot\n")
	s := w.open("--permission-mode", "acceptEdits")
	s.say("feed the marmots",
		fakeapi.Say("Fed.").At(71*percent),
		writes(w.state("session.md"), digest("teach the parser marmots", "feed the marmot fixture to the lexer")).At(72*percent),
		fakeapi.Say("Digest written.").At(72*percent))
	s.see(`cc-reload: snapshot saved`)
	s.see(wroteIt)
	if got := w.committed(); got != artifact {
		t.Errorf("the commit holds %q", got)
	}
	s.clear()
	s.say("what now?", fakeapi.Say("The fixture.").At(2*percent))
	s.see("teach the parser marmots")
	s.see(`graceful-handoff: there is a handoff, too`)
	s.absent(pickedUp)
	if n := len(s.all(`(teach the parser marmots)`)); n != 1 {
		t.Errorf("the banner is on the screen %d times, want once:\n%s", n, s.seen)
	}
	r := w.prompted("what now?")
	if !r.Has("feed the marmot fixture to the lexer") || r.Has(provenance) {
		t.Errorf("digest %v, handoff %v; want the digest alone", r.Has("feed the marmot fixture to the lexer"), r.Has(provenance))
	}
	if exists(filepath.Join(w.project, artifact)) || len(w.archived()) != 1 || exists(w.state("pending")) {
		t.Errorf("archived %q, cc-reload's arm still there: %v", w.archived(), exists(w.state("pending")))
	}

	// Neither comes back.
	s.clear()
	s.say("and again?", fakeapi.Say("Nothing."))
	if r := w.prompted("and again?"); r.Has("marmot") || r.Has(provenance) {
		t.Error("something was handed over twice")
	}
}
