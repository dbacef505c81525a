//go:build acceptance

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
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// patience is how long a test waits for anything. It is only ever used up by
// a test that fails.
const patience = 60 * time.Second

// gitConfig also keeps the client, which clones its maker's marketplace at the
// first start, away from the network.
const gitConfig = `[user]
	name = Ann
	email = ann@example.org
[init]
	defaultBranch = main
[protocol]
	allow = never
[protocol "file"]
	allow = always
`

// world is the machine of one test: a home directory, a project under git and
// an API, seen by nobody else.
type world struct {
	*testing.T
	dir     string
	home    string
	config  string // the client's own directory
	project string
	api     *fakeapi.Server
	env     map[string]string // on top of the clean environment
	flags   []string          // given to every session
	within  []string          // a program that starts the client of every session
	screens []*screen
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	w := newHome(t, "project")
	w.write(filepath.Join(w.project, "main.go"), "package main\n")
	w.git("init", "-q")
	w.commit("start")
	return w
}

// newHome is a world whose project is an empty directory at that path, as seen
// from the world's directory.
func newHome(t *testing.T, project string) *world {
	t.Helper()
	// t.TempDir would put the test's name into the path, and the path of
	// tmux's socket may have 107 bytes only.
	dir, err := os.MkdirTemp("", "ccreload-")
	if err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, dir: dir, env: map[string]string{},
		home: filepath.Join(dir, "home"), config: filepath.Join(dir, "home", ".claude"), project: filepath.Join(dir, project),
	}
	t.Cleanup(func() {
		// What the client has started may still be writing.
		w.until("the test's directory to be gone", func() bool { return os.RemoveAll(dir) == nil })
	})
	if w.api, err = fakeapi.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.api.Close() })
	t.Cleanup(w.dump)

	w.mkdir(w.config)
	w.mkdir(w.project)
	w.trust(w.project)
	w.write(filepath.Join(w.home, ".gitconfig"), gitConfig)
	w.renderer("default")
	return w
}

// renderer chooses how the client draws: "default" writes into the terminal's
// own scrollback, "fullscreen" owns the screen. Without a choice the client
// makes one by itself and may ask.
func (w *world) renderer(name string) {
	w.write(filepath.Join(w.config, "settings.json"), `{"tui":"`+name+`"}`)
}

// trust seeds the client's settings, so that it asks no first-start questions
// in the directories.
func (w *world) trust(dirs ...string) {
	projects := map[string]any{}
	for _, d := range dirs {
		projects[d] = map[string]bool{"hasTrustDialogAccepted": true}
	}
	data, err := json.Marshal(map[string]any{
		"hasCompletedOnboarding": true,
		"theme":                  "dark",
		"customApiKeyResponses":  map[string]any{"approved": []string{"sk-ant-dummy"}},
		"projects":               projects,
	})
	w.check(err)
	w.write(filepath.Join(w.config, ".claude.json"), string(data))
}

// withPlugin gives a plugin of the marketplace and the runtime built from this
// tree to every session.
func (w *world) withPlugin(name string) {
	w.Helper()
	binary, err := setup.runtime()
	w.check(err)
	w.env["CCRELOAD_BIN"], w.env["CCRELOAD_DEBUG"] = binary, "1"
	w.flags = append(w.flags, "--plugin-dir", filepath.Join(setup.root, "marketplace", "plugins", name))
}

// environ is the whole environment of the client (docs/host.md, Running the
// real client without an account).
func (w *world) environ() []string {
	vars := map[string]string{
		"HOME":                w.home,
		"PATH":                os.Getenv("PATH"),
		"TERM":                "xterm-256color",
		"LANG":                "C.UTF-8",
		"CLAUDE_CONFIG_DIR":   w.config,
		"DISABLE_AUTOUPDATER": "1",
		"DISABLE_TELEMETRY":   "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"ANTHROPIC_API_KEY":                        "sk-ant-dummy",
		"ANTHROPIC_BASE_URL":                       w.api.URL(),
	}
	for k, v := range w.env {
		vars[k] = v
	}
	var out []string
	for k, v := range vars {
		if v != "" {
			out = append(out, k+"="+v)
		}
	}
	return out
}

// result is what a command of the client left behind.
type result struct {
	out  string // stdout
	err  string // stderr
	code int
}

// claude runs a command of the client to its end, in the project.
func (w *world) claude(args ...string) result {
	w.Helper()
	return w.exec(setup.client, args...)
}

// exec runs a program in the client's environment, in the project.
func (w *world) exec(program string, args ...string) result {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = w.project, w.environ(), &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		w.Fatalf("%s %q: %v\n%s%s", filepath.Base(program), args, err, &out, &errs)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// must runs a command of the client that has to succeed and returns its stdout.
func (w *world) must(args ...string) string {
	w.Helper()
	r := w.claude(args...)
	if r.code != 0 {
		w.Fatalf("claude %q: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// until polls ok until it is true. What is being waited for belongs into what.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.Fatalf("gave up waiting: %s", what)
		}
	}
}

// request waits for a request numbered from or later that match accepts.
func (w *world) request(what string, from int, match func(fakeapi.Request) bool) fakeapi.Request {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	r, err := w.api.Wait(ctx, from, match)
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
	return r
}

// prompted waits for the first request of the conversation that the typed
// text has led to.
func (w *world) prompted(text string) fakeapi.Request {
	w.Helper()
	return w.request("the request for "+text, 0, prompts(text))
}

// prompts accepts requests of the conversation whose newest user message has text.
func prompts(text string) func(fakeapi.Request) bool {
	return func(r fakeapi.Request) bool {
		return r.Kind == fakeapi.Main && strings.Contains(r.Latest(), text)
	}
}

// transcripts returns the rows of all main-thread transcripts of this home.
func (w *world) transcripts() []map[string]any {
	files, err := filepath.Glob(filepath.Join(w.config, "projects", "*", "*.jsonl"))
	w.check(err)
	var rows []map[string]any
	for _, f := range files {
		data, err := os.ReadFile(f)
		w.check(err)
		for line := range bytes.Lines(data) {
			var row map[string]any
			if json.Unmarshal(line, &row) == nil { // the last one may be half-written
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// turns is how many turns have ended, Stop hooks included.
func (w *world) turns() int { return w.rows("turn_duration") }

// rows is how many rows of a subtype the transcripts have.
func (w *world) rows(subtype string) int {
	n := 0
	for _, row := range w.transcripts() {
		if row["subtype"] == subtype {
			n++
		}
	}
	return n
}

// dump writes what is needed to understand a failure.
func (w *world) dump() {
	if !w.Failed() {
		return
	}
	for i, s := range w.screens {
		w.Logf("screen %d:\n%s", i, s.text())
	}
	for _, r := range w.api.Requests() {
		w.Log(r)
	}
	any := regexp.MustCompile(``)
	w.logs("debug log", filepath.Join(w.config, "plugins", "data"), any)
	w.logs("client log", filepath.Join(w.dir, "client"), regexp.MustCompile(`(?i)compact|hooks?: |hook .*(success|error)|\[error\]`))
	w.logs("state", filepath.Join(w.project, ".reload"), any)
}

// logs writes the last matching lines of every file below dir.
func (w *world) logs(what, dir string, match *regexp.Regexp) {
	const lines, width = 40, 300
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil // a failed test shows what there is
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		var tail []string
		for line := range strings.Lines(string(data)) {
			if match.MatchString(line) {
				tail = append(tail, line[:min(len(line), width)])
			}
		}
		tail = tail[max(0, len(tail)-lines):]
		w.Logf("%s %s:\n%s", what, path, strings.Join(tail, ""))
		return nil
	})
}

// Files.

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) mkdir(dir string) {
	w.Helper()
	w.check(os.MkdirAll(dir, 0o755))
}

func (w *world) write(path, text string) {
	w.Helper()
	w.mkdir(filepath.Dir(path))
	w.check(os.WriteFile(path, []byte(text), 0o644))
}

// read returns the file's text, "" when there is none.
func (w *world) read(path string) string {
	w.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	w.check(err)
	return string(data)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// state is a path in the project's .reload directory.
func (w *world) state(name string) string { return filepath.Join(w.project, ".reload", name) }

func (w *world) git(args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.project, w.environ()
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *world) commit(message string, paths ...string) {
	w.Helper()
	w.git(append([]string{"add", "-A", "-f"}, paths...)...)
	w.git("commit", "-q", "-m", message)
}
