//go:build wine

package fakeapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// TestWindowsClient runs the plugins in the real Windows client, which wine starts
// on Linux (.ci/wine-client). It looks at files and at what the client asks of the
// API, never at a screen: wine's console mixes old and new cells.

const (
	// endsIn is how long a client may go on after it has said all. Under wine now
	// and then one never ends.
	endsIn = 20 * time.Second
	// lasts is what one start may take on a busy machine.
	lasts = 4 * time.Minute
)

// winWorld is a user of Windows.
type winWorld struct {
	*testing.T
	api     *fakeapi.Server
	dir     string // everything below is in it
	project string
	env     []string
	hung    int
}

// winPath is a path as wine's programs know it.
func winPath(path string) string { return "Z:" + strings.ReplaceAll(path, "/", `\`) }

func newWinWorld(t *testing.T) *winWorld {
	t.Helper()
	w := &winWorld{T: t, dir: t.TempDir()}
	api, err := fakeapi.Start()
	w.check(err)
	t.Cleanup(func() { api.Close() })
	w.api = api
	w.project = filepath.Join(w.dir, "my projekt ü")
	config := filepath.Join(w.dir, "home", ".claude")
	w.check(os.MkdirAll(w.project, 0o755))
	w.check(os.MkdirAll(config, 0o755))
	// No questions of a first start.
	seed, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses": map[string]any{"approved": []string{"sk-ant-dummy"}},
		"projects":              map[string]any{"Z:" + w.project: map[string]any{"hasTrustDialogAccepted": true}},
	})
	w.check(err)
	w.check(os.WriteFile(filepath.Join(config, ".claude.json"), seed, 0o644))
	w.check(os.WriteFile(filepath.Join(config, "settings.json"), []byte(`{"tui":"default"}`), 0o644))
	w.env = []string{
		"HOME=" + filepath.Join(w.dir, "home"), "PATH=/usr/lib/wine:/usr/bin:/bin",
		"LANG=C.UTF-8", // without it no directory with ü can be entered
		"WINEPREFIX=" + os.Getenv("WINEPREFIX"), "WINEDEBUG=-all", "WINEDLLOVERRIDES=bcryptprimitives=n;mscoree,mshtml=", "DISPLAY=",
		"CLAUDE_CONFIG_DIR=" + winPath(config), "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1",
		"ANTHROPIC_API_KEY=sk-ant-dummy", "ANTHROPIC_BASE_URL=" + api.URL(),
	}
	// One server for all starts, and nobody's pipe is open in it.
	server := func(flag string) {
		cmd := exec.Command("/usr/lib/wine/wineserver", flag)
		cmd.Env = w.env
		_ = cmd.Run() // it says 1 where there is none to end
	}
	server("-p")
	t.Cleanup(func() { server("-k"); server("-w") })
	return w
}

func (w *winWorld) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// heard is what a program has said, and tells when that was all.
type heard struct {
	mu    sync.Mutex
	buf   bytes.Buffer
	last  *regexp.Regexp
	ended chan struct{}
	once  sync.Once
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.buf.Write(p)
	if h.last.Match(h.buf.Bytes()) {
		h.once.Do(func() { close(h.ended) })
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.buf.String()
}

// wine starts a Windows program in the project and returns what it said. It must
// say last, and end with 0; one that has said it and does not end is ended.
func (w *winWorld) wine(last string, program string, args ...string) string {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), lasts)
	defer cancel()
	out := &heard{last: regexp.MustCompile(last), ended: make(chan struct{})}
	var errs bytes.Buffer
	cmd := exec.CommandContext(ctx, "/usr/lib/wine/wine64", append([]string{program}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.project, w.env, out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second // a child of it may hold the pipe
	began := time.Now()
	w.check(cmd.Start())
	over := make(chan struct{})
	late := false
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-over:
			return
		case <-out.ended:
		}
		select {
		case <-over:
		case <-time.After(endsIn):
			late = true
			cancel()
		}
	}()
	err := cmd.Wait()
	close(over)
	<-watched
	if late {
		w.hung++
		w.Logf("%q has said all and did not end; it was ended", args)
		err = nil
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	if err != nil || !out.last.MatchString(out.String()) {
		w.Fatalf("%q: %v, and it has not said %q:\n%s\n%s", args, err, last, out, errs.String())
	}
	w.Logf("%.1fs: %.100q", time.Since(began).Seconds(), args)
	return out.String()
}

func (w *winWorld) claude(last string, args ...string) string {
	w.Helper()
	return w.wine(last, os.Getenv("CLAUDE_EXE"), args...)
}

// said is the last line of a headless run.
type said struct {
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Denied  []struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"tool_input"`
	} `json:"permission_denials"`
}

// ask runs a prompt that the API answers with turns, and returns the requests of
// the conversation.
func (w *winWorld) ask(args []string, prompt string, turns ...fakeapi.Turn) (said, []fakeapi.Request) {
	w.Helper()
	from := len(w.api.Requests())
	w.api.Script(turns...)
	args = append([]string{"-p", prompt, "--output-format", "stream-json", "--verbose"}, args...)
	out := w.claude(`"type":"result"`, args...)
	var result said
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"type":"result"`) {
			w.check(json.Unmarshal([]byte(line), &result))
		}
	}
	if result.Subtype != "success" || w.api.Pending() > 0 {
		w.Fatalf("%q: %+v, %d replies were not asked for\n%s", prompt, result, w.api.Pending(), out)
	}
	var list []fakeapi.Request
	for _, r := range w.api.Requests()[from:] {
		if r.Kind != fakeapi.Other && r.Kind != fakeapi.Side {
			list = append(list, r)
		}
	}
	return result, list
}

func (w *winWorld) state(name string) string { return filepath.Join(w.project, ".reload", name) }

func (w *winWorld) read(path string) string {
	w.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		w.Error(err)
	}
	return string(data)
}

func (w *winWorld) holds(path, text string) {
	w.Helper()
	if got := w.read(path); !strings.Contains(got, text) {
		w.Errorf("%s does not hold %q:\n%s", filepath.Base(path), text, got)
	}
}

// kept looks for text in the digests that were replaced.
func (w *winWorld) kept(text string) {
	w.Helper()
	found := false
	w.check(filepath.WalkDir(w.state(""), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && d.Name() != "session.md" {
			found = found || strings.Contains(w.read(path), text)
		}
		return err
	}))
	if !found {
		w.Errorf("no digest with %q was kept", text)
	}
}

func (w *winWorld) is(path string, there bool) {
	w.Helper()
	if _, err := os.Lstat(path); (err == nil) != there {
		w.Errorf("%s is there: %v", path, !there)
	}
}

func winPage(mark string) string {
	return "---\nintent: refactor the token refresh ü中\n---\n## Done this stretch\n- moved refresh into auth\n\n## In flight\n- tests for expiry\n\n## Next concrete step\nRun go test ./auth " + mark + "\n\n## Open questions & risks\n- clock skew\n"
}

func winWrite(path, text string) fakeapi.Turn {
	return fakeapi.Use("Write", map[string]any{"file_path": path, "content": text})
}

func powerShell(command string) fakeapi.Turn {
	return fakeapi.Use("PowerShell", map[string]any{"command": command, "description": "run it"})
}

// types opens the client in a terminal, types a prompt and sends it until done says
// that it has arrived.
func (w *winWorld) types(prompt string, done func() bool) {
	w.Helper()
	socket := filepath.Join(w.dir, "tmux")
	tmux := func(args ...string) string {
		out, _ := exec.Command("tmux", append([]string{"-f", "/dev/null", "-S", socket}, args...)...).CombinedOutput()
		return string(out)
	}
	start := append([]string{"new-session", "-d", "-x", "100", "-y", "40", "-c", w.project, "env", "-i", "TERM=xterm-256color"}, w.env...)
	tmux(append(start, "/usr/lib/wine/wine64", os.Getenv("CLAUDE_EXE"))...)
	w.Cleanup(func() { tmux("kill-server") })
	screen := ""
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		switch screen = tmux("capture-pane", "-p"); {
		case done():
			return
		case strings.Contains(screen, prompt):
			tmux("send-keys", "Enter")
		case strings.Contains(screen, "❯"):
			tmux("send-keys", "-l", prompt)
		}
		select {
		case <-w.Context().Done():
			return
		case <-time.After(time.Second): // between two looks
		}
	}
	w.Fatalf("the prompt has not arrived; the screen:\n%s", screen)
}

func TestWindowsClient(t *testing.T) {
	for _, name := range []string{"CLAUDE_EXE", "CCRELOAD_EXE", "WINEPREFIX"} {
		if os.Getenv(name) == "" {
			t.Fatalf("%s is not set; start this with .ci/wine-client", name)
		}
	}
	w := newWinWorld(t)
	market := filepath.Join(w.dir, "market place")
	w.check(os.CopyFS(market, os.DirFS("../../marketplace")))
	plugins := []string{"cc-reload", "graceful-handoff", "cc-later"}
	exe, err := os.ReadFile(os.Getenv("CCRELOAD_EXE"))
	w.check(err)
	for _, name := range plugins {
		w.check(os.WriteFile(filepath.Join(market, "plugins", name, "bin", "ccreload.exe"), exe, 0o755))
	}
	// Each stage stands on the ones before it.
	stage := func(name string, f func(w *winWorld)) {
		began := time.Now()
		if !t.Run(name, func(t *testing.T) { inner := *w; inner.T = t; f(&inner); w.hung = inner.hung }) {
			t.FailNow()
		}
		t.Logf("%s: %.1fs", name, time.Since(began).Seconds())
	}

	stage("validate and install", func(w *winWorld) {
		for _, name := range plugins {
			w.claude(`Validation passed`, "plugin", "validate", "--strict", "--profile", "directory", winPath(filepath.Join(market, "plugins", name)))
		}
		w.claude(`Success`, "plugin", "marketplace", "add", winPath(market))
		w.claude(`"outcome":"ok"`, "plugin", "install", "cc-reload@ccreload", "--json", "--config", "context_budget_pct=30", "--config", "context_budget_mode=snapshot")
		for _, name := range plugins[1:] {
			w.claude(`"outcome":"ok"`, "plugin", "install", name+"@ccreload", "--json")
		}
	})
	accept := []string{"--permission-mode", "acceptEdits"}
	stage("a digest, forced once", func(w *winWorld) {
		// As Notepad writes it.
		w.check(os.MkdirAll(w.state(""), 0o755))
		w.check(os.WriteFile(w.state("config"), []byte("headless: on\r\n"), 0o644))
		result, requests := w.ask(accept, "go on",
			fakeapi.Say("working").At(400_000),
			winWrite(winPath(w.state("session.md")), winPage("MARKER-77")).At(401_000),
			fakeapi.Say("saved").At(402_000))
		if len(requests) != 3 || !requests[1].Has("the budget of this project is 30 %") {
			w.Fatalf("Stop has not continued the turn once, with the option of the plugin: %v", requests)
		}
		if tools := requests[0].Tools; !slices.Contains(tools, "PowerShell") || slices.Contains(tools, "Bash") {
			w.Errorf("the client has the tools %q", tools)
		}
		w.holds(w.state("session.md"), "MARKER-77")
		w.holds(w.state("session.md"), `session_id: "`+result.Session+`"`)
		w.holds(w.state("pending"), result.Session)
		w.is(w.state("summarizing"), false)
	})
	stage("delivered, and replaced under two other spellings", func(w *winWorld) {
		path := winPath(w.state("session.md"))
		result, requests := w.ask(accept, "what next",
			fakeapi.Use("Read", map[string]any{"file_path": path}),
			winWrite(strings.ReplaceAll(path, `\`, "/"), winPage("MARKER-88")),
			winWrite(strings.Replace(path, `.reload\session.md`, `.RELOAD\Session.md`, 1), winPage("MARKER-99")),
			fakeapi.Say("saved"))
		if !requests[0].Has("MARKER-77") || !requests[0].Has("earlier-session-notes") || !requests[0].Has("ü中") {
			w.Errorf("the digest is not in the first request: %s", requests[0])
		}
		w.is(w.state("pending"), false)
		w.holds(w.state("session.md"), "MARKER-99")
		w.holds(w.state("session.md"), `session_id: "`+result.Session+`"`)
		w.kept("MARKER-77")
		w.kept("MARKER-88") // the hook before the tool knew the other spelling
		left, err := filepath.Glob(w.state("*.tmp"))
		w.check(err)
		if len(left) > 0 {
			w.Errorf("left: %q", left)
		}
	})
	stage("a compaction", func(w *winWorld) {
		w.check(os.Remove(w.state("session.md")))
		_, requests := w.ask(append(accept, "-c"), "/compact")
		if !slices.ContainsFunc(requests, func(r fakeapi.Request) bool { return r.Kind == fakeapi.Compaction }) {
			w.Fatalf("nothing was compacted: %v", requests)
		}
		w.holds(w.state("session.md"), "what next")
		w.is(w.state("pending"), true)
	})
	// The client has PowerShell itself read a line before it looks at the rules, and
	// wine's reads nothing. So of a line it can only be seen here that it is named; that
	// the rules stand in the commands is gen's TestToolsOfBothShells.
	stage("commands name lines for PowerShell, and the draft asks nobody", func(w *winWorld) {
		const id = "5b0f9a52-6f0f-4a4e-9d3f-0e5f6c1d2b3a"
		draft := ".reload/draft-" + id + ".md"
		result, requests := w.ask([]string{"--session-id", id}, "/cc-reload:snapshot mind the newt",
			winWrite(winPath(w.state("draft-"+id+".md")), winPage("MARKER-11")),
			powerShell("ccreload reload write --arm --from "+draft),
			fakeapi.Say("saved"))
		if !requests[0].Has("`ccreload reload write --arm --from "+draft+"`") || requests[0].Has("<<'") {
			w.Errorf("/cc-reload:snapshot says:\n%s", requests[0].Text())
		}
		for _, no := range result.Denied {
			if no.Tool != "PowerShell" {
				w.Errorf("%s was denied: %s", no.Tool, no.Input)
			}
		}
		w.holds(w.state("draft-"+id+".md"), "MARKER-11")
		for prompt, line := range map[string]string{
			"/cc-reload:reload":                  "`ccreload reload show`",
			"/graceful-handoff:graceful-handoff": "`ccreload handoff run --no-commit --json`",
		} {
			if _, requests := w.ask(nil, prompt, fakeapi.Say("seen")); !requests[0].Has(line) {
				w.Errorf("%s does not name %s", prompt, line)
			}
		}
	})
	stage("a handoff without git", func(w *winWorld) {
		w.env = append(w.env, "CLAUDE_PROJECT_DIR="+winPath(w.project))
		w.wine(`git is not installed`, os.Getenv("CCRELOAD_EXE"), "handoff", "run", "--json", "--non-interactive")
		w.is(filepath.Join(w.project, "NEXT-SESSION.local.md"), true)
	})
	stage("a queue, from a prompt", func(w *winWorld) {
		w.check(exec.Command("git", "init", "-q", w.project).Run())
		queue := filepath.Join(w.project, ".claude", "LATER.md")
		w.types("later: water the newt", func() bool {
			data, err := os.ReadFile(queue)
			return err == nil && strings.Contains(string(data), "water the newt")
		})
		w.holds(queue, "water the newt")
	})
	t.Logf("%d starts had to be ended", w.hung)
}
