package reload

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

// Who is told of the last session, and of what.
func TestLastSessionLeftNoDigest(t *testing.T) {
	t.Parallel()
	const line = "the last session"
	for name, tt := range map[string]struct {
		then func(*world) // after s1 was started and has worked
		says string
	}{
		"it was killed": {func(*world) {}, "2 prompts) left no digest; /cc-reload:reload builds one from its transcript"},
		"it was left": {func(w *world) {
			w.on(host.SessionEnd, "s1", func(p *host.Payload) { p.Reason = "prompt_input_exit" })
		}, "2 prompts) left no digest"},
		"it was cleared": {func(w *world) {
			w.transcript += "b"
			w.on(host.SessionStart, "s1b", source("clear"))
		}, ""},
		"it is open":      {func(w *world) { w.in(12) }, ""},
		"it has a digest": {func(w *world) { w.put(digestFile, ownPage("s1", "one")) }, ""},
		"its digest is older": {func(w *world) {
			w.put(digestFile, ownPage("s1", "one"))
			old := w.now.AddDate(-1, 0, 0)
			os.Chtimes(w.path(digestFile), old, old)
		}, "2 prompts since its digest) left no newer one"},
		"it asked for nothing": {func(w *world) { os.Truncate(w.transcript, 0) }, ""},
	} {
		w := newWorld(t)
		w.in(11).on(host.SessionStart, "s1", source("startup"))
		w.worked()
		if name != "it is open" {
			delete(w.alive, 11)
		}
		tt.then(w)
		w.in(21)
		own := w.transcript
		w.transcript += "2"
		got := w.on(host.SessionStart, "s2", source("startup"))
		if tt.says == "" && strings.Contains(got.Message, line) || !strings.Contains(got.Message, tt.says) || got.Context != "" {
			t.Errorf("%s: %+v", name, got)
		}
		w.transcript = own
		if got := w.on(host.SessionStart, "s3", source("startup")); strings.Contains(got.Message, line) {
			t.Errorf("%s: said again: %+v", name, got)
		}
	}
}

// Somebody was told of a session once; only what was asked in it since is news.
func TestToldOnceEvenIfResumed(t *testing.T) {
	t.Parallel()
	const line = "the last session"
	w := newWorld(t)
	starts := func(pid int, session, how string) string {
		for old := range w.alive {
			delete(w.alive, old)
		}
		own := w.transcript
		if session != "s1" {
			w.transcript += session
		}
		defer func() { w.transcript = own }()
		return w.in(pid).on(host.SessionStart, session, source(how)).Message
	}
	starts(11, "s1", "startup")
	w.worked()
	says(t, starts(12, "s2", "startup"), line)
	starts(13, "s1", "resume")
	if got := starts(14, "s3", "startup"); strings.Contains(got, line) {
		t.Errorf("told again: %s", got)
	}
	starts(15, "s1", "resume")
	w.worked(typed(w.now.Add(time.Second), "and now the lexer"))
	w.now = w.now.Add(time.Minute)
	says(t, starts(16, "s4", "startup"), line)
}

func TestBuildFromTheLastTranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.in(11).on(host.SessionStart, "s1", source("startup"))
	w.worked()
	delete(w.alive, 11)
	if _, _, err := w.store("s2").Take(); err != ErrNoDigest {
		t.Errorf("unasked: %v", err)
	}
	w.in(12).on(host.SessionStart, "s2", source("startup"))
	doc, _, err := w.store("").Take()
	if err != nil || !isMechanical(doc) || w.has(digestFile) {
		t.Errorf("at a terminal: %v, %q", err, doc)
	}
	doc, _, err = w.store("s2").Take()
	if err != nil || !isMechanical(doc) || w.read(digestFile) != doc || !strings.Contains(doc, "session_id: \"s2\"") {
		t.Errorf("%v, %q", err, doc)
	}
	again, _, err := w.store("s2").Take()
	if err != nil || again != doc {
		t.Errorf("again: %v, %q", err, again)
	}
}

func TestDigestAtEnd(t *testing.T) {
	t.Parallel()
	end := func(w *world, reason string) {
		w.on(host.SessionEnd, "s1", func(p *host.Payload) { p.Reason = reason })
	}
	for name, tt := range map[string]struct {
		config, reason string
		want           bool
	}{
		"off":       {"", "prompt_input_exit", false},
		"on":        {"digest_at_end: on\n", "prompt_input_exit", true},
		"a /clear":  {"digest_at_end: on\n", "clear", false},
		"a /resume": {"digest_at_end: on\n", "resume", false},
	} {
		w := newWorld(t)
		w.put(configFile, tt.config)
		w.in(11).on(host.SessionStart, "s1", source("startup"))
		w.worked()
		end(w, tt.reason)
		if w.has(digestFile) != tt.want || w.has(armFile) != tt.want {
			t.Errorf("%s: %v", name, w.names())
		}
		if tt.want {
			says(t, w.in(12).on(host.SessionStart, "s2", source("startup")).Context, "by a program")
		}
	}
}

// A session that is resumed knows its own notes: what it armed waits for the one
// after it, and what it gave back unseen does not (case F89).
func TestResumedSessionLeavesItsArm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(digestFile, strings.Replace(sampleDigest, `"s0"`, `"s1"`, 1))
	if err := w.in(11).store("s1").Arm(); err != nil {
		t.Fatal(err)
	}
	delete(w.alive, 11)
	plain(t, w.in(12).on(host.SessionStart, "s1", source("resume")))
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	w.on(host.SessionEnd, "s1", func(p *host.Payload) { p.Reason = "clear" })
	given(t, w.on(host.SessionStart, "s2", source("clear")))
	w.on(host.SessionEnd, "s2", func(p *host.Payload) { p.Reason = "other" })
	delete(w.alive, 12)
	given(t, w.in(13).on(host.SessionStart, "s2", source("resume")))
}

func TestAfterCompactIsShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("- a line of some length, with words in it\n", 300)
	for name, doc := range map[string]string{
		"four sections":   "---\nintent: \"the aim\"\n---\n## Done this stretch\n" + long + "## In flight\n- half a parser\n## Next concrete step\n- go test ./x\n## Open questions & risks\n- why\n",
		"all long":        "---\nintent: \"the aim\"\n---\n## Done this stretch\n" + long + "## In flight\n- half a parser\n" + long + "## Next concrete step\n- go test ./x\n## Open questions & risks\n- why\n",
		"of another form": "---\nintent: \"the aim\"\n---\n- half a parser, go test ./x, why\n" + long,
	} {
		got := afterCompact(doc, "/p/.reload/session.md")
		if host.Len(got) > maxCompact {
			t.Errorf("%s: %d characters", name, host.Len(got))
		}
		says(t, got, "the aim", "half a parser", "go test ./x", "why", "/p/.reload/session.md")
	}
}

func TestOldDigestSaysItsAge(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	old := w.now.Add(-72 * time.Hour)
	os.Chtimes(w.path(digestFile), old, old)
	says(t, w.on(host.SessionStart, "s2").Message, "(3 days old)")
}
