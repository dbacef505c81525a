//go:build acceptance

package fakeapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
	"github.com/ccreload/ccreload/internal/host"
)

// The tests of this file hold the client to what docs/host.md says of it, with
// a plugin of their own. When one fails with a new client, the document and
// what was built on it need another look.

// witness is a plugin whose hooks note that they ran and say what they are told to.
type witness struct {
	w   *world
	dir string
}

// hookEntry is one handler in hooks.json; the client runs its script with name.
type hookEntry struct{ event, matcher, rule, name string }

// newWitness writes the plugin and gives it to the sessions of w.
func newWitness(w *world, entries ...hookEntry) *witness {
	w.Helper()
	p := &witness{w: w, dir: filepath.Join(w.dir, "witness")}
	type handler map[string]any
	hooks := map[string][]map[string]any{}
	for _, e := range entries {
		h := handler{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/note", "args": []string{e.name}, "timeout": 10}
		if e.rule != "" {
			h["if"] = e.rule
		}
		group := map[string]any{"hooks": []handler{h}}
		if e.matcher != "" {
			group["matcher"] = e.matcher
		}
		hooks[e.event] = append(hooks[e.event], group)
	}
	data, err := json.Marshal(map[string]any{"hooks": hooks})
	w.check(err)
	w.write(filepath.Join(p.dir, "hooks", "hooks.json"), string(data))
	w.write(filepath.Join(p.dir, ".claude-plugin", "plugin.json"), `{"name":"witness","version":"1.0.0","description":"notes which hooks ran"}`)
	// One write of a short line is atomic, so hooks that run at once do not mix.
	w.write(filepath.Join(p.dir, "note"), `#!/bin/sh
d=${0%/*}
cat >"$d/payload-$1"
env >"$d/env-$1"
echo "$1" >>"$d/notes"
[ ! -f "$d/say-$1" ] || cat "$d/say-$1"
`)
	w.check(os.Chmod(filepath.Join(p.dir, "note"), 0o755))
	w.flags = append(w.flags, "--plugin-dir", p.dir)
	return p
}

// says sets the JSON a hook answers with from now on.
func (p *witness) says(name, output string) { p.w.write(filepath.Join(p.dir, "say-"+name), output) }

// notes returns the names of the hooks that ran, in order.
func (p *witness) notes() string {
	return strings.Join(strings.Fields(p.w.read(filepath.Join(p.dir, "notes"))), " ")
}

func (p *witness) env(hook string) string { return p.w.read(filepath.Join(p.dir, "env-"+hook)) }

func TestHostTellsHooksAndShowsWhatTheySay(t *testing.T) {
	w := newWorld(t)
	p := newWitness(w,
		hookEntry{event: "SessionStart", name: "start"},
		hookEntry{event: "UserPromptSubmit", name: "prompt"},
		hookEntry{event: "Stop", name: "stop"},
		hookEntry{event: "SessionEnd", name: "end"})
	p.says("start", `{"systemMessage":"started with a banner","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the marmot sleeps"}}`)
	s := w.open()
	s.see("started with a banner")
	p.says("stop", `{"systemMessage":"stopped with a word"}`)
	s.say("good morning", fakeapi.Say("Morning.").At(70_000))
	s.see("stopped with a word")
	if r := w.prompted("good morning"); !r.Has("the marmot sleeps") {
		t.Error("the context of SessionStart is not in the first request")
	}
	env := p.env("stop")
	for _, want := range []string{`CLAUDE_PLUGIN_ROOT=` + p.dir, `CLAUDE_PROJECT_DIR=` + w.project, `CLAUDE_PLUGIN_DATA=.`, `CLAUDE_CODE_SESSION_ID=.`, `CLAUDE_CODE_ENTRYPOINT=cli`} {
		if !regexp.MustCompile(`(?m)^` + want).MatchString(env) {
			t.Errorf("a hook's environment lacks %s:\n%s", want, env)
		}
	}

	s.clear()
	s.say("what now?", fakeapi.Say("Fresh."))
	if r := w.prompted("what now?"); !r.Has("the marmot sleeps") {
		t.Error("the context of SessionStart after /clear is not in the request")
	}
	s.exit()
	if got, want := p.notes(), "start prompt stop end start prompt stop end"; got != want {
		t.Errorf("hooks ran as %q, want %q", got, want)
	}
}

// What SessionStart says after /clear is hidden by newer clients, but only by
// one of their two renderers; what the first UserPromptSubmit says is seen in
// both. So the one who wants to be seen once speaks at the prompt.
func TestHostHidesTheBannerAfterClear(t *testing.T) {
	for _, renderer := range []string{"default", "fullscreen"} {
		t.Run(renderer, func(t *testing.T) {
			w := newWorld(t)
			w.renderer(renderer)
			p := newWitness(w, hookEntry{event: "SessionStart", name: "start"}, hookEntry{event: "UserPromptSubmit", name: "prompt"})
			s := w.open()
			s.say("good morning", fakeapi.Say("Morning."))
			p.says("start", `{"systemMessage":"banner of the start"}`)
			p.says("prompt", `{"systemMessage":"banner of the prompt"}`)
			s.clear()
			s.say("what now?", fakeapi.Say("Fresh."))
			s.see("banner of the prompt")
			if renderer == "default" && host.AtLeast(setup.version, hiddenBanner) {
				s.absent("banner of the start")
			} else {
				s.see("banner of the start")
			}
		})
	}
}

func TestHostContinuesATurnOnStopContext(t *testing.T) {
	w := newWorld(t)
	p := newWitness(w, hookEntry{event: "Stop", name: "stop"})
	p.says("stop", `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"one more thing"}}`)
	s := w.open()
	goOn := func(r fakeapi.Request) bool {
		ok := strings.Contains(r.Latest(), "one more thing")
		if ok {
			w.check(os.Remove(filepath.Join(p.dir, "say-stop")))
		}
		return ok
	}
	s.say("begin", fakeapi.Say("Continued.").For(goOn), fakeapi.Say("Begun."))
	s.see("Continued")
	s.see("Stop hook (says|feedback)")
	s.absent("reported a problem")
	if got := p.notes(); got != "stop stop" {
		t.Errorf("hooks ran as %q", got)
	}
	if payload := w.read(filepath.Join(p.dir, "payload-stop")); !strings.Contains(payload, `"stop_hook_active":true`) {
		t.Errorf("the second Stop is not told of the first: %s", payload)
	}
}

// An `if` rule is checked before a process is started: writing other files
// costs nothing.
func TestHostFiltersByPathWithoutAProcess(t *testing.T) {
	w := newWorld(t)
	p := newWitness(w,
		hookEntry{"PreToolUse", "Write", "Write(**/.reload/session.md)", "pre-write"},
		hookEntry{"PreToolUse", "Edit", "Edit(**/.reload/session.md)", "pre-edit"},
		hookEntry{"PostToolUse", "Write", "Write(**/.reload/session.md)", "post-write"},
		hookEntry{"PostToolUse", "Edit", "Edit(**/.reload/session.md)", "post-edit"})
	write := func(path string) fakeapi.Turn {
		return fakeapi.Use("Write", map[string]any{"file_path": filepath.Join(w.project, path), "content": "one\n"})
	}
	var turns []fakeapi.Turn
	others := []string{"a.txt", "session.md", ".reload/session.md.bak", ".reload/session.old.md", "x.reload/session.md", "sub/session.md", ".reload/deep/session.md"}
	for _, path := range others {
		turns = append(turns, write(path))
	}
	s := w.open("--permission-mode", "acceptEdits")
	s.say("write other files", append(turns, fakeapi.Say("Done."))...)
	for _, path := range others {
		if !exists(filepath.Join(w.project, path)) {
			t.Errorf("%s was not written", path)
		}
	}
	if got := p.notes(); got != "" {
		t.Errorf("hooks ran for other files: %q", got)
	}
	edit := fakeapi.Use("Edit", map[string]any{"file_path": w.state("session.md"), "old_string": "one", "new_string": "two"})
	s.say("write the digest", write(".reload/session.md"), edit, fakeapi.Say("Done."))
	if got, want := p.notes(), "pre-write post-write pre-edit post-edit"; got != want {
		t.Errorf("hooks ran as %q, want %q", got, want)
	}
}

// Two handlers of one event with the same command and arguments are one
// process (case F16), unless their rules differ: then each has its own paths.
func TestHostRunsEqualHandlersOnce(t *testing.T) {
	w := newWorld(t)
	p := newWitness(w,
		hookEntry{event: "Stop", name: "same"}, hookEntry{event: "Stop", name: "same"},
		hookEntry{"PreToolUse", "Write", "Write(**/one.txt)", "ruled"}, hookEntry{"PreToolUse", "Write", "Write(**/two.txt)", "ruled"})
	s := w.open("--permission-mode", "acceptEdits")
	write := func(name string) fakeapi.Turn {
		return fakeapi.Use("Write", map[string]any{"file_path": filepath.Join(w.project, name), "content": "x"})
	}
	s.say("write", write("one.txt"), write("two.txt"), write("three.txt"), fakeapi.Say("Done."))
	if got, want := p.notes(), "ruled ruled same"; got != want {
		t.Errorf("hooks ran as %q, want %q", got, want)
	}
}
