package reload

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
)

func TestIsForeign(t *testing.T) {
	t.Parallel()
	window := 4 * time.Hour
	for name, tt := range map[string]struct {
		owner, writer string
		age, window   time.Duration
		want          bool
	}{
		"another session's":      {"a", "b", time.Minute, window, true},
		"one's own":              {"a", "a", time.Minute, window, false},
		"nobody's":               {"", "b", time.Minute, window, false},
		"written by nobody":      {"a", "", time.Minute, window, false},
		"just fresh enough":      {"a", "b", 239 * time.Minute, window, true},
		"too old":                {"a", "b", 241 * time.Minute, window, false},
		"the guard is off":       {"a", "b", 0, 0, false},
		"the clock was set back": {"a", "b", -time.Hour, window, true},
	} {
		if got := isForeign(tt.owner, tt.writer, tt.age, tt.window); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// owned puts a digest of owner there, written at a time.
func (w *world) owned(owner, intent string, at time.Time) string {
	w.Helper()
	doc := "---\nsession_id: \"" + owner + "\"\nintent: \"" + intent + "\"\n---\n## Done this stretch\n- a\n"
	w.put(digestFile, doc)
	if err := os.Chtimes(w.path(digestFile), at, at); err != nil {
		w.Fatal(err)
	}
	return doc
}

func (w *world) copies() []string {
	list, _ := filepath.Glob(w.path("session.*.md"))
	for i := range list {
		list[i] = filepath.Base(list[i])
	}
	return list
}

func TestGuardKeepsAForeignDigestAside(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.owned("sA", "one", w.now)
	out := w.on(host.PreToolUse, "sB")
	says(t, out.Message, "sA", "session.sA.md")
	if out.Context != "" || w.read("session.sA.md") != first || w.read(digestFile) != first {
		t.Errorf("%+v, files %v", out, w.names())
	}
	// The same bytes again are safe already.
	plain(t, w.on(host.PreToolUse, "sB", func(p *host.Payload) { p.Tool = "Edit" }))
	// Other bytes get a name of their own.
	at := w.now.Truncate(time.Second)
	second := w.owned("sA", "two", at)
	name := "session.sA." + strconv.FormatInt(at.Unix(), 10) + ".md"
	says(t, w.on(host.PreToolUse, "sB").Message, name)
	if w.read(name) != second || w.read("session.sA.md") != first {
		t.Errorf("files %v", w.copies())
	}
	plain(t, w.on(host.PreToolUse, "sB"))
	// And once more within the same second.
	third := w.owned("sA", "three", at.Add(time.Millisecond))
	w.on(host.PreToolUse, "sB")
	if got := w.copies(); len(got) != 3 || w.read(got[0])+w.read(got[1])+w.read(got[2]) == "" || !strings.Contains(strings.Join([]string{w.read(got[0]), w.read(got[1]), w.read(got[2])}, ""), third) {
		t.Errorf("files %v", got)
	}
}

func TestGuardIsSilent(t *testing.T) {
	t.Parallel()
	tool := func(name string) func(*host.Payload) { return func(p *host.Payload) { p.Tool = name } }
	path := func(s string) func(*host.Payload) { return func(p *host.Payload) { p.ToolPath = s } }
	for name, tt := range map[string]struct {
		set func(w *world) func(*host.Payload)
	}{
		"its own digest":    {func(w *world) func(*host.Payload) { w.owned("sB", "x", w.now); return tool("Write") }},
		"nobody's digest":   {func(w *world) func(*host.Payload) { w.owned("", "x", w.now); return tool("Write") }},
		"an old digest":     {func(w *world) func(*host.Payload) { w.owned("sA", "x", w.now.Add(-5*time.Hour)); return tool("Write") }},
		"a tool that reads": {func(w *world) func(*host.Payload) { return tool("Read") }},
		"another file":      {func(w *world) func(*host.Payload) { return path(filepath.Join(w.project, "session.md")) }},
		"no path":           {func(w *world) func(*host.Payload) { return path("") }},
		"switched off": {func(w *world) func(*host.Payload) {
			w.put(configFile, "context_owner_window: 0\n")
			return tool("Write")
		}},
		"no digest": {func(w *world) func(*host.Payload) { os.Remove(w.path(digestFile)); return tool("Write") }},
		"a directory": {func(w *world) func(*host.Payload) {
			os.Remove(w.path(digestFile))
			os.Mkdir(w.path(digestFile), 0o755)
			return tool("Write")
		}},
		"no session": {func(w *world) func(*host.Payload) {
			return func(p *host.Payload) { p.SessionID, p.TranscriptPath = "", "" }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.owned("sA", "x", w.now)
			change := tt.set(w)
			plain(t, w.on(host.PreToolUse, "sB", change))
			if got := w.copies(); len(got) > 0 {
				t.Errorf("kept %v", got)
			}
		})
	}
}

// case F39: whatever the path looks like, it is the same file.
func TestGuardKnowsTheDigestByAnyPath(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(w *world) string{
		"plain":           func(w *world) string { return w.path(digestFile) },
		"with dots":       func(w *world) string { return w.project + "/src/../.reload/./session.md" },
		"relative to cwd": func(w *world) string { return ".reload/session.md" },
		"through a link": func(w *world) string {
			os.Symlink(".reload", filepath.Join(w.project, "linked"))
			return filepath.Join(w.project, "linked", "session.md")
		},
		"a linked project": func(w *world) string {
			l := w.project + "-link"
			os.Symlink(w.project, l)
			return filepath.Join(l, ".reload", "session.md")
		},
		"the file linked": func(w *world) string {
			l := filepath.Join(w.project, "notes.md")
			os.Symlink(w.path(digestFile), l)
			return l
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.owned("sA", "x", w.now)
			p := path(w)
			if out := w.on(host.PreToolUse, "sB", func(pl *host.Payload) { pl.ToolPath = p }); out.Message == "" || !w.has("session.sA.md") {
				t.Errorf("%q is not known", p)
			}
		})
	}
}

func TestGuardNamesStayInside(t *testing.T) {
	t.Parallel()
	for owner, want := range map[string]string{
		"../../ESCAPED":           "session.ESCAPED.md",
		"///":                     "session.unknown.md",
		strings.Repeat("x", 300):  "session." + strings.Repeat("x", 80) + ".md",
		"8f2c5c7a-b1e9-4122-b69c": "session.8f2c5c7a-b1e9-4122-b69c.md",
	} {
		w := newWorld(t)
		w.owned(owner, "x", w.now)
		out := w.on(host.PreToolUse, "sB")
		if got := w.copies(); len(got) != 1 || got[0] != want || host.Len(out.Message) > 300 {
			t.Errorf("%q: %v, %q", owner, got, out.Message)
		}
	}
}

func TestGuardThatCannotKeepACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now.Truncate(time.Second)
	w.owned("sA", "x", at)
	for _, again := range []string{"", fmt.Sprintf(".%d", at.Unix()), fmt.Sprintf(".%d", at.UnixNano())} {
		os.Mkdir(w.path("session.sA"+again+".md"), 0o755)
	}
	says(t, w.on(host.PreToolUse, "sB").Message, "another session", "`ccreload reload restore` brings it back")
	// Nor is there a place in the history.
	if err := os.RemoveAll(w.path(historyDir)); err != nil {
		t.Fatal(err)
	}
	w.put(historyDir, "in the way")
	says(t, w.on(host.PreToolUse, "sB").Message, "another session", "could NOT be saved aside")
}

func TestClaimDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.store("")
	if said, err := d.Claim("sB"); said != "" || err != nil || w.has("") {
		t.Errorf("without a digest: %q, %v", said, err)
	}
	w.owned("sA", "x", w.now)
	said, err := d.Claim("sB")
	if err != nil || !w.has("session.sA.md") {
		t.Errorf("%q, %v", said, err)
	}
	says(t, said, "sA")
	if said, _ := d.Claim("sB"); said != "" {
		t.Errorf("said twice: %q", said)
	}
}

func TestPostToolStampsTheDigest(t *testing.T) {
	t.Parallel()
	full := "## Done this stretch\n- a\n\n## In flight\n- b\n\n## Next concrete step\nc\n\n## Open questions & risks\n- d\n"
	w := newWorld(t)
	w.put(digestFile, "---\nsession_id: \"made up\"\nupdated_at: \"yesterday\"\nintent: \"x\"\n---\n"+full)
	wrote := w.now.Add(-time.Minute).Truncate(time.Second)
	os.Chtimes(w.path(digestFile), wrote, wrote)
	plain(t, w.on(host.PostToolUse, "s1"))
	want := "---\nsession_id: \"s1\"\nupdated_at: \"" + w.now.UTC().Format(time.RFC3339) + "\"\nintent: \"x\"\n---\n" + full
	if got := w.read(digestFile); got != want {
		t.Errorf("the digest is now\n%s", got)
	}
	if info, _ := os.Stat(w.path(digestFile)); !info.ModTime().Equal(wrote) {
		t.Error("it looks newer than what the model wrote")
	}
	for name, tt := range map[string]struct {
		doc   string
		lacks []string
	}{
		"no frontmatter":    {full, []string{"lacks intent."}},
		"a section":         {"---\nintent: x\n---\n" + strings.Replace(full, "## In flight\n- b\n", "", 1), []string{"lacks In flight."}},
		"two, one is empty": {"---\nintent: x\n---\n" + strings.Replace(strings.Replace(full, "c\n", "", 1), "Done this stretch", "Done", 1), []string{"Done this stretch, Next concrete step."}},
		"everything":        {"- a line\n", []string{"intent, Done this stretch, In flight, Next concrete step, Open questions & risks."}},
		"an unclosed fence": {"---\nintent: x\n" + full, []string{"lacks intent."}},
		"a heading like it": {"---\nintent: x\n---\n" + strings.Replace(full, "In flight", "In flight (half done)", 1), nil},
		"Windows line ends": {strings.ReplaceAll("---\nintent: x\n---\n"+full, "\n", "\r\n"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(digestFile, tt.doc)
			out := w.on(host.PostToolUse, "s1")
			says(t, out.Context, tt.lacks...)
			if tt.lacks == nil && out.Context != "" || out.Message != "" || strings.Contains(out.Context, "\n") {
				t.Errorf("said %+v", out)
			}
			if got := w.read(digestFile); !strings.HasSuffix(got, notes.Body(tt.doc)) {
				t.Errorf("the body changed:\n%s", got)
			}
			owner := notes.FrontValue(w.read(digestFile), keyOwner)
			if owner != "s1" && name != "an unclosed fence" {
				t.Errorf("owner %q", owner)
			}
		})
	}
}
