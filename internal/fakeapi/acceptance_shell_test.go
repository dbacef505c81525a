//go:build acceptance

package fakeapi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// A replay starts hooks as the client does: in shell form a shell gets the line as
// it is, in exec form the host's variables are replaced; plain words of a prompt
// hook go to the model, and exit code 2 of Stop goes on with what is on stderr.
func TestReplayStartsHooksAsTheClient(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.dir, "a plugin")
	w.write(filepath.Join(dir, ".claude-plugin", "plugin.json"), `{"name":"shells","version":"1.0.0"}`)
	w.write(filepath.Join(dir, "note"), "#!/bin/sh\nout=\"$1\"; shift; for a; do printf '%s\\n' \"$a\"; done >\"$out\"\n")
	w.check(os.Chmod(filepath.Join(dir, "note"), 0o755))
	w.write(filepath.Join(dir, "hooks", "hooks.json"), `{"hooks":{
"SessionStart":[{"hooks":[
	{"type":"command","command":"tr '\\0' ' ' </proc/$$/cmdline >\"${CLAUDE_PLUGIN_ROOT}/shell\""},
	{"type":"command","command":"echo '${CLAUDE_PLUGIN_ROOT}' '${CLAUDE_PLUGIN_DATA}' '${HOME}' \"$CLAUDE_PROJECT_DIR\" >\"$CLAUDE_PLUGIN_ROOT/quoted\""},
	{"type":"command","command":"${CLAUDE_PLUGIN_ROOT}/note","args":["${CLAUDE_PLUGIN_ROOT}/exec","${CLAUDE_PROJECT_DIR}","$CLAUDE_PLUGIN_ROOT","${HOME}","~"]},
	{"type":"command","command":"note","args":["${CLAUDE_PLUGIN_ROOT}/found","x"]}]}],
"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo plain words"}]}],
"Stop":[{"hooks":[{"type":"command","command":"[ -f once ] || { touch once; echo on you go >&2; exit 2; }"}]}]}}`)
	w.flags = append(w.flags, "--plugin-dir", dir)
	w.api.Script(fakeapi.Say("Hi."), fakeapi.Say("More."))
	w.must(append([]string{"-p", "good day", "--output-format", "json"}, w.flags...)...)
	var latest []string
	for _, r := range w.api.Requests() {
		latest = append(latest, r.Latest())
	}
	if !w.prompted("good day").Has("plain words") || !strings.Contains(latest[len(latest)-1], "on you go") {
		t.Errorf("the client did not take what the hooks said:\n%s", strings.Join(latest, "\n"))
	}
	noted := func() string {
		var all string
		for _, name := range []string{"shell", "quoted", "exec", "found"} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				w.check(os.Remove(filepath.Join(dir, name)))
			}
			all += fmt.Sprintf("%s: %s\n", name, data)
		}
		return all
	}
	client := noted()

	calls := filepath.Join(w.dir, "calls.jsonl")
	w.write(calls, `{"t":0,"event":"SessionStart","env":{"CLAUDE_PROJECT_DIR":"$PROJECT"},"payload":{"hook_event_name":"SessionStart","session_id":"s","source":"startup"}}
{"t":1,"event":"UserPromptSubmit","env":{},"payload":{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"good day"}}
{"t":2,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop","session_id":"s"}}
{"t":3,"event":"Stop","env":{},"payload":{"hook_event_name":"Stop","session_id":"s"}}
`)
	binary, err := setup.runtime()
	w.check(err)
	r := w.exec(binary, "replay", "--root", dir, "--json", calls)
	for _, want := range []string{`"context":"plain words"`, `"continue":"on you go"`} {
		if strings.Count(r.out, want) != 1 {
			t.Errorf("the replay has not %s once:\n%s%s", want, r.out, r.err)
		}
	}
	replayed := noted()
	// The project of a replay is another one.
	_, project, _ := strings.Cut(replayed, "exec: ")
	project, _, _ = strings.Cut(project, "\n")
	if replayed = strings.ReplaceAll(replayed, project, w.project); replayed != client {
		t.Errorf("the client started\n%s\nand the replay\n%s", client, replayed)
	}
	if strings.Count(client, "${CLAUDE_PLUGIN_ROOT}") != 2 || !strings.Contains(client, "exec: "+w.project+"\n$CLAUDE_PLUGIN_ROOT\n${HOME}\n~\n") || !strings.HasSuffix(client, "found: \n") {
		t.Errorf("the client does not start hooks as docs/host.md says:\n%s", client)
	}
}
