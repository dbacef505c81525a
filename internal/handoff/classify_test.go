package handoff

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

func TestKinds(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Kind{
		"plugin-work": PluginWork, "Plugin-arbeid": PluginWork, "multi-session": MultiSession, "flersesjon": MultiSession,
		"Multi_Sesjon": MultiSession, "flere sesjoner": MultiSession, "single-task": SingleTask, " enkeltoppgave ": SingleTask,
	} {
		if got, ok := ParseKind(name); got != want || !ok {
			t.Errorf("ParseKind(%q) = %q, %v", name, got, ok)
		}
	}
	if got, ok := ParseKind("weekend"); ok {
		t.Errorf("ParseKind takes %q", got)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		files []string
		dir   string
		s     Settings
		kind  Kind
		at    string
	}{
		"nothing special":        {nil, "sub", Settings{}, SingleTask, ""},
		"a plugin":               {[]string{"p/.claude-plugin/plugin.json", "p/hooks/x"}, "p/hooks", Settings{}, PluginWork, "p"},
		"beside a plugin":        {[]string{"p/.claude-plugin/plugin.json", "q/x"}, "q", Settings{}, SingleTask, ""},
		"a plugin with a plan":   {[]string{".claude-plugin/plugin.json", "PLAN.md"}, "", Settings{}, PluginWork, ""},
		"a plan":                 {[]string{"PLAN.md"}, "", Settings{}, MultiSession, ""},
		"a directory of plans":   {[]string{"docs/plans/one.md"}, "", Settings{}, MultiSession, ""},
		"an empty one":           {[]string{"docs/plans/.keep"}, "", Settings{}, SingleTask, ""},
		"an earlier handoff":     {[]string{"NEXT-SESSION-x.local.md"}, "", Settings{}, MultiSession, ""},
		"a file named in config": {[]string{"ROADMAP"}, "", Settings{PlanFile: "ROADMAP"}, MultiSession, ""},
		"one outside":            {nil, "", Settings{PlanFile: "../../etc/passwd"}, SingleTask, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := state.RealPath(t.TempDir())
			for _, f := range append(tt.files, "sub/x") {
				path := filepath.Join(top, f)
				os.MkdirAll(filepath.Dir(path), 0o755)
				os.WriteFile(path, nil, 0o644)
			}
			got := locate(top, filepath.Join(top, tt.dir), tt.s)
			if got.Kind != tt.kind || got.Dir != filepath.Join(top, tt.at) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestArtifactDir(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(".handoff/config", "artifact_dir: notes/next\n")
	if r := w.run(); r.ArtifactPath != filepath.Join(w.project, "notes", "next", "NEXT-SESSION.local.md") || w.committed(w.project) != "notes/next/NEXT-SESSION.local.md" {
		t.Errorf("%+v", r)
	}
	outside := t.TempDir()
	for _, dir := range []string{"../x", outside, "link"} {
		w := newWorld(t)
		os.Symlink(outside, filepath.Join(w.project, "link"))
		w.put(".handoff/config", "artifact_dir: "+dir+"\n")
		r := w.run()
		if filepath.Dir(r.ArtifactPath) != w.project || !has(r.Errors, "not a directory below the project") {
			t.Errorf("%s: %+v", dir, r)
		}
	}
	if entries, _ := os.ReadDir(outside); len(entries) > 0 {
		t.Errorf("written outside: %v", entries)
	}
}

func TestSlug(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"": "", "parser": "parser", "Fix  the/parser!": "fix-the-parser", "../../etc": "etc", "blåbærgrød": "blabaergrod", "--x--": "x",
	} {
		if got, ok := Slug(typed); got != want || !ok {
			t.Errorf("Slug(%q) = %q, %v", typed, got, ok)
		}
	}
	for _, typed := range []string{"///", "…", "世界"} {
		if got, ok := Slug(typed); ok {
			t.Errorf("Slug(%q) = %q", typed, got)
		}
	}
	if got, _ := Slug(strings.Repeat("long ", 50)); len(got) > maxSlug+1 {
		t.Errorf("%d bytes", len(got))
	}
}

func FuzzSlug(f *testing.F) {
	for _, s := range []string{"", "a b", "../x", "å", "\xff", "a\x00b", strings.Repeat("-a", 90)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, ok := Slug(s)
		if strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || strings.HasPrefix(got, "-") || len(got) > maxSlug+2 || !ok && got != "" {
			t.Errorf("Slug(%q) = %q, %v", s, got, ok)
		}
	})
}

func TestHeadings(t *testing.T) {
	t.Parallel()
	for language, want := range map[string][]string{
		"en": {"Why", "Status", "How to continue", "First command to run", "Push policy", "Verification", "Gotchas"},
		"no": {"Hvorfor", "Status", "Slik fortsetter du", "Første kommando", "Push-policy", "Verifisering", "Fallgruver"},
	} {
		w := newWorld(t)
		w.put(".handoff/config", "language: "+language+"\n")
		// A prompt cannot add a heading of its own.
		w.say(w.prompt("one\n## Push policy\npush at once"), w.answer("## Status\nfine", "claude-opus-5-5", 1000))
		r := w.run()
		var got []string
		for line := range strings.Lines(w.read(r.ArtifactPath)) {
			if title, ok := strings.CutPrefix(line, "## "); ok {
				got = append(got, strings.TrimSpace(title))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", language, got)
		}
	}
}

func TestArtifactSaysWhatTheTranscriptSays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", "changed\n")
	w.say(
		w.prompt("first wish"), w.prompt("second wish"),
		w.bash("go test ./...", "FAIL parser_test.go:12", true),
		w.bash("go vet ./...", "", false),
		w.bash("make build", "ok", true), w.bash("make build", "ok", false),
		w.answer("I stopped at the lexer.", "claude-opus-5-5", 1000),
	)
	w.now = w.now.Add(time.Second)
	text := w.read(w.run().ArtifactPath)
	for _, part := range []string{
		"> second wish", "- first wish", "- failed: `go test ./...`: FAIL parser_test.go:12", "- passed: `go vet ./...`",
		"- passed: `make build`", "> I stopped at the lexer.", "1 file is uncommitted", "`a`: changed, +1 −9", "no upstream", "git status --short --branch",
		"type: \"single-task\"", "branch: \"main\"", "session_id: \"s1\"",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in:\n%s", part, text)
		}
	}
	if strings.Contains(text, "failed: `make build`") {
		t.Error("a command that works by now is called failing")
	}
	// The next handoff of the session begins where this one ended.
	w.now = w.now.Add(2 * time.Minute)
	w.say(w.prompt("third wish"))
	text = w.read(w.run().ArtifactPath)
	if !strings.Contains(text, "> third wish") || strings.Contains(text, "second wish") {
		t.Errorf("second artifact:\n%s", text)
	}
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"go test ./...": true, "npm run lint": true, "make check": true, "cargo clippy": true, "cat latest.txt": false, "ls": false, "git checkout x": false,
	} {
		if got := isCheck(command); got != want {
			t.Errorf("isCheck(%q) = %v", command, got)
		}
	}
}
