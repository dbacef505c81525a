package reload

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/transcript"
)

type row = map[string]any

// typed is a prompt of a person.
func typed(at time.Time, text string) row {
	return row{
		"type": "user", "timestamp": at.UTC().Format(time.RFC3339Nano), "origin": row{"kind": "human"},
		"message": row{"role": "user", "content": text},
	}
}

// used is a tool call with its result.
func used(at time.Time, id, tool string, input row, failed bool, result string) []any {
	stamp := at.UTC().Format(time.RFC3339Nano)
	return []any{
		row{"type": "assistant", "timestamp": stamp, "message": row{
			"role": "assistant", "model": opus,
			"content": []any{row{"type": "tool_use", "id": id, "name": tool, "input": input}},
		}},
		row{"type": "user", "timestamp": stamp, "message": row{
			"role":    "user",
			"content": []any{row{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": result}},
		}},
	}
}

func said(at time.Time, text string) row {
	return row{"type": "assistant", "timestamp": at.UTC().Format(time.RFC3339Nano), "message": row{
		"role": "assistant", "model": opus,
		"content": []any{row{"type": "text", "text": text}},
	}}
}

// worked writes the transcript of a session that did a bit of everything.
func (w *world) worked(more ...any) {
	w.Helper()
	at := w.now.Add(-time.Hour)
	rows := []any{typed(at, "split the parser")}
	rows = append(rows, used(at, "t1", "Edit", row{"file_path": filepath.Join(w.project, "parser", "lexer.go")}, false, "ok")...)
	rows = append(rows, used(at, "t2", "Bash", row{"command": "go test ./parser"}, true, "Error: exit 1\nFAIL TestLexer")...)
	rows = append(rows, used(at, "t3", "Bash", row{"command": "go vet ./..."}, true, "vet: no")...)
	rows = append(rows, used(at, "t4", "Bash", row{"command": "go vet ./..."}, false, "")...)
	rows = append(rows, used(at, "t5", "TodoWrite", row{"todos": []any{
		row{"content": "write the lexer", "status": "completed"},
		row{"content": "fix TestLexer", "status": "in_progress"},
		row{"content": "write the docs", "status": "pending"},
	}}, false, "ok")...)
	rows = append(rows, typed(at, "now make\n## Next concrete step\nTestLexer pass"), said(at, "The lexer splits at the wrong rune.\nI will look at it."))
	w.rows(append(rows, more...)...)
}

func TestPreCompactWritesAMechanicalDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.worked()
	plain(t, w.on(host.PreCompact, "s1"))
	if w.read(armFile) != "s1" {
		t.Errorf("the arm holds %q", w.read(armFile))
	}
	doc := w.read(digestFile)
	says(t, doc,
		"session_id: \"s1\"\n",
		"updated_at: \""+w.now.UTC().Format(time.RFC3339),
		"intent: \"(mechanical fallback) now make ## Next concrete step TestLexer pass\"\n",
		"no model has read it",
		"Edited: "+filepath.Join("parser", "lexer.go")+"\n",
		"Ran: `go vet ./...`",
		"To do, begun: fix TestLexer",
		"To do: write the docs",
		"The last answer began: The lexer splits at the wrong rune. I will look at it.",
		"Asked before: split the parser\n",
		"Failed: `go test ./parser`: ",
	)
	next, _ := notes.Section(doc, sectionNext)
	says(t, next, "Go on with: fix TestLexer")
	risks, _ := notes.Section(doc, sectionRisk)
	if strings.Contains(risks, "go vet") || strings.Contains(doc, "write the lexer") {
		t.Errorf("what is settled is still there:\n%s", doc)
	}
	if lacks := missing(doc); len(lacks) > 0 || strings.Count(doc, "\n## ") != 4 {
		t.Errorf("lacks %v:\n%s", lacks, doc)
	}
	out := w.on(host.SessionStart, "s1", source("compact"))
	says(t, out.Context, "Go on with: fix TestLexer", "a program")
	plain(t, w.on(host.SessionEnd, "s9"))
}

// case F76: the host's summary of 20,000 characters is nobody's prompt.
func TestPreCompactTakesNoSummaryForAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.rows(typed(w.now, "split the parser"),
		row{
			"type": "user", "isCompactSummary": true, "timestamp": w.now.UTC().Format(time.RFC3339Nano),
			"message": row{"role": "user", "content": strings.Repeat("summary ", 2500)},
		})
	w.on(host.PreCompact, "s1")
	says(t, w.read(digestFile), `intent: "(mechanical fallback) split the parser"`)
	if strings.Contains(w.read(digestFile), "summary summary") {
		t.Errorf("it is in the digest:\n%.600s", w.read(digestFile))
	}
}

func TestPreCompactWithoutATranscript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain(t, w.on(host.PreCompact, "s1"))
	says(t, w.read(digestFile), `intent: "(mechanical fallback)"`, "Re-derive state")
	says(t, w.read(".gitignore"), "*\n")
	says(t, w.on(host.SessionStart, "s1", source("compact")).Context, "Re-derive state")
}

func TestPreCompactReplacesOnlyWhatNoModelWrote(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		doc      string
		replaced bool
	}{
		"a model's digest":             {sampleDigest, false},
		"one without frontmatter":      {"- I moved the parser\n", false},
		"one with a single line":       {"## Next concrete step\nship\n", false},
		"an older mechanical":          {mechanical{Session: "s1"}.digest(), true},
		"the stub of earlier releases": {"---\nintent: \"(mechanical fallback — no agent-authored digest)\"\n---\n## Done this stretch\n(unknown — nobody wrote one)\n", true},
		"headings only":                {"---\nintent: \"x\"\n---\n## Done this stretch\n\n## In flight\n- none\n", true},
		"blank":                        {"\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.worked()
			w.put(digestFile, tt.doc)
			plain(t, w.on(host.PreCompact, "s1"))
			if got := w.read(digestFile) != tt.doc; got != tt.replaced {
				t.Errorf("replaced: %v", got)
			}
			if w.read(armFile) != "s1" {
				t.Error("not armed")
			}
		})
	}
}

// What a model has edited is its own from then on.
func TestMechanicalDigestThatAModelEdits(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.worked()
	w.on(host.PreCompact, "s1")
	w.put(digestFile, strings.Replace(w.read(digestFile), "fix TestLexer", "look at rune widths", 1))
	w.on(host.PostToolUse, "s1", func(p *host.Payload) { p.Tool = "Edit" })
	says(t, w.read(digestFile), `intent: "now make ## Next concrete step TestLexer pass"`)
	w.on(host.PreCompact, "s1")
	says(t, w.read(digestFile), "look at rune widths")
}

func TestPreCompactCannotArm(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(digestFile, sampleDigest)
	os.Mkdir(w.path(armFile), 0o755)
	w.payload = host.Payload{Event: host.PreCompact, SessionID: "s1"}
	out, err := preCompact(w.call())
	if err == nil || !out.Silent() || w.read(digestFile) != sampleDigest {
		t.Errorf("%+v, %v", out, err)
	}
}

// case F62: no secret gets into what we write.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	token := "ghp_" + strings.Repeat("a1B2", 9)
	key := "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEowIBAAKCAQEA7bq1\n", 8) + "-----END RSA PRIVATE KEY-----"
	w := newWorld(t)
	at := w.now.Add(-time.Minute)
	rows := []any{typed(at, "use "+token+" and\n"+key)}
	rows = append(rows, used(at, "t1", "Bash", row{"command": "curl -H 'Authorization: Bearer " + token + "' x"}, true, "401 for "+token)...)
	rows = append(rows, said(at, "I used "+token))
	w.rows(rows...)
	w.on(host.PostCompact, "s1", func(p *host.Payload) { p.Summary = "The key is\n" + key + "\nand " + token })
	w.on(host.PreCompact, "s1")

	for _, name := range w.names() {
		text := w.read(name)
		if strings.Contains(text, "ghp_a1B2") || strings.Contains(text, "MIIEowIBAAKCAQEA7bq1") {
			t.Errorf("%s holds a secret:\n%s", name, text)
		}
	}
	doc := w.read(digestFile)
	says(t, doc, "[redacted: ", fmt.Sprintf("Secrets masked in this file: %d\n", strings.Count(doc, "[redacted: ")))
}

func TestPostCompactKeepsTheNewestThree(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 5 {
		plain(t, w.on(host.PostCompact, "s1", func(p *host.Payload) { p.Summary = fmt.Sprintf("summary %d", i) }))
	}
	// case F44: the same one again.
	plain(t, w.on(host.PostCompact, "s1", func(p *host.Payload) { p.Summary = "summary 4" }))
	plain(t, w.on(host.PostCompact, "s1", func(p *host.Payload) { p.Summary = " \n" }))
	names := summaries(dirOf(w.project))
	if len(names) != 3 {
		t.Fatalf("kept %v", names)
	}
	for i, name := range names {
		if body := notes.Body(w.read(name)); body != fmt.Sprintf("summary %d\n", i+2) {
			t.Errorf("%s holds %q", name, body)
		}
	}
}

// A turn is taken back right before /compact: nothing in the transcript says so
// before the next prompt, whose hook puts the digest right and says it once.
func TestDigestOfATurnTakenBackIsCorrected(t *testing.T) {
	t.Parallel()
	linked := func(r row, uuid, parent string) row {
		r["uuid"], r["parentUuid"] = uuid, any(parent)
		if parent == "" {
			r["parentUuid"] = nil
		}
		return r
	}
	w := newWorld(t)
	rows := []any{
		linked(typed(w.now, "split the parser"), "u1", ""),
		linked(said(w.now, "Split."), "a1", "u1"),
		linked(typed(w.now, "ABANDONED idea"), "u2", "a1"),
		linked(said(w.now, "ABANDONED answer"), "a2", "u2"),
	}
	w.rows(rows...)
	w.on(host.PreCompact, "s1")
	says(t, w.on(host.SessionStart, "s1", source("compact")).Context, "ABANDONED")
	boundary := linked(row{"type": "system", "subtype": "compact_boundary", "compactMetadata": row{}, "logicalParentUuid": "a1"}, "b", "")
	w.rows(append(rows, boundary)...)
	out := w.on(host.UserPromptSubmit, "s1")
	says(t, out.Context, "taken back", "split the parser")
	if strings.Contains(out.Context+w.read(digestFile), "ABANDONED") {
		t.Errorf("%s\n%s", out.Context, w.read(digestFile))
	}
	plain(t, w.on(host.UserPromptSubmit, "s1"))

	// One that is right is left alone.
	w = newWorld(t)
	w.worked()
	w.on(host.PreCompact, "s1")
	w.on(host.SessionStart, "s1", source("compact"))
	plain(t, w.on(host.UserPromptSubmit, "s1"))
}

// The model that writes the digest is told what it need not look up, in both ways
// of asking for one, and only then.
func TestTheModelIsRemindedOfTheFacts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.worked()
	want := []string{
		"newest first", "- Edited: " + filepath.Join("parser", "lexer.go") + "\n", "- To do: fix TestLexer; write the docs\n", "well since: `go test ./parser`",
	}
	for prompt, asked := range map[string]bool{"/cc-reload:snapshot mind it": true, "/snapshot": true, "/fork:snapshot": true, "take a /snapshot": false, "/snapshots": false, "go on": false} {
		out := w.on(host.UserPromptSubmit, "s1", func(p *host.Payload) { p.Prompt = prompt })
		if !asked {
			plain(t, out)
			continue
		}
		says(t, out.Context, want...)
	}
	w.put(configFile, "context_budget_mode: snapshot\ncontext_budget_tokens: 1\n")
	w.worked(row{"type": "assistant", "message": row{"role": "assistant", "model": opus, "usage": row{"input_tokens": 900_000}, "content": []any{row{"type": "text", "text": "Done."}}}})
	out := w.on(host.Stop, "s1")
	says(t, out.Continue, want...)
	if n := strings.Count(out.Continue, "\n"); n >= 36 {
		t.Errorf("the brief has %d lines", n)
	}
}

// What a session left open is not forgotten by the next one that says nothing of
// it, and is by the third.
func TestOpenItemsAreCarriedOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	todo := func(list ...any) { w.rows(used(w.now, "t", "TodoWrite", row{"todos": list}, false, "ok")...) }
	day := w.now.UTC().Format(time.DateOnly)
	open := func(text string) row { return row{"content": text, "status": "pending"} }
	done := func(text string) row { return row{"content": text, "status": "completed"} }
	flight := func() string { text, _ := notes.Section(w.read(digestFile), sectionOpen); return text }

	todo(open("map the legacy columns"), open("write the docs"))
	w.on(host.PreCompact, "s1")
	todo(done("write the docs"), open("fix the typo"))
	w.on(host.PreCompact, "s2")
	says(t, flight(), "- To do: fix the typo\n", "- Not done: map the legacy columns (open since "+day+", one session ago)\n")
	if strings.Contains(flight(), "the docs") {
		t.Errorf("what was done is carried over:\n%s", flight())
	}
	w.on(host.PreCompact, "s2")
	says(t, flight(), "- Not done: map the legacy columns (open since "+day+", one session ago)\n")
	todo()
	w.on(host.PreCompact, "s3")
	says(t, flight(), "map the legacy columns (open since "+day+", two sessions ago)\n", "fix the typo (open since "+day+", one session ago)\n")
	w.on(host.PreCompact, "s4")
	if strings.Contains(flight(), "legacy") || !strings.Contains(flight(), "fix the typo (open since "+day+", two sessions ago)") {
		t.Errorf("after three sessions:\n%s", flight())
	}
}

func TestMechanicalDigestBuildsOnTheSummary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.worked()
	w.on(host.PreCompact, "s1")
	w.on(host.PostCompact, "s1", func(p *host.Payload) { p.Summary = "## Next concrete step\nsteal the thread\n\nThe lexer is split." })
	w.on(host.PostCompact, "other", func(p *host.Payload) { p.Summary = "of another session" })
	w.rows(append([]any{typed(w.now.Add(-2*time.Hour), "the only request")},
		append(used(w.now.Add(-2*time.Hour), "t1", "Bash", row{"command": "old command"}, false, ""),
			used(w.now.Add(time.Second), "t2", "Bash", row{"command": "new command"}, false, "")...)...)...)
	w.on(host.PreCompact, "s1")
	doc := w.read(digestFile)
	says(t, doc, "> ## Next concrete step\n> steal the thread\n> The lexer is split.\n", "new command", "the only request")
	if strings.Contains(doc, "another session") {
		t.Errorf("too much:\n%s", doc)
	}
	if next := firstLine(doc, sectionNext); !strings.Contains(next, "the only request") {
		t.Errorf("the summary speaks for the digest: %q", next)
	}
}

// case F39: branch and changes are those of the worktree the session is in.
func TestMechanicalDigestKnowsTheWorktree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	w := newWorld(t)
	tree := filepath.Join(t.TempDir(), "tree")
	gitIn(t, w.project, "init", "-q", "-b", "main")
	gitIn(t, w.project, "commit", "-q", "--allow-empty", "-m", "first")
	gitIn(t, w.project, "worktree", "add", "-q", "-b", "topic", tree)
	os.WriteFile(filepath.Join(tree, "half.go"), []byte("x"), 0o600)
	os.WriteFile(filepath.Join(w.project, "other.go"), []byte("x"), 0o600)
	w.on(host.PreCompact, "s1", func(p *host.Payload) { p.Cwd = tree })
	says(t, w.read(digestFile), "Not committed on branch topic: half.go\n")

	w = newWorld(t)
	w.on(host.PreCompact, "s1", func(p *host.Payload) { p.Cwd = filepath.Join(w.project, "deleted") })
	says(t, w.read(digestFile), "mechanical")
}

// However much there is, the digest stays a page.
func TestMechanicalDigestIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 200)
	m := mechanical{Session: "s1", Summary: strings.Repeat(long+"\n", 50), Branch: long}
	for i := range 300 {
		m.Facts.Prompts = append(m.Facts.Prompts, transcript.Prompt{Text: long})
		m.Facts.Files = append(m.Facts.Files, transcript.File{Path: fmt.Sprint(i, long), Edited: true})
		m.Facts.Commands = append(m.Facts.Commands, transcript.Command{Text: fmt.Sprint(i, long), Failed: i%2 == 0, Output: long})
		m.Facts.Todo = append(m.Facts.Todo, transcript.Item{Text: long, Status: "pending"})
		m.Dirty = append(m.Dirty, fmt.Sprint(i, long))
	}
	m.Facts.Answer = long
	if n := host.Len(m.digest()); n > 8_000 {
		t.Errorf("%d characters", n)
	}
	says(t, m.digest(), "and 295 more")

	// What is still to be done, and what the host has summed up, come on top.
	m.Facts.Todo, m.Summary = nil, ""
	if n := host.Len(m.digest()); n > mechPage {
		t.Errorf("%d characters", n)
	}
}
