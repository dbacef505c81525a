package handoff

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// Every test runs as if a hook of git had started it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "handoff" {
		json.NewEncoder(os.Stdout).Encode(Result{Actions: os.Args[1:]})
		return
	}
	home, err := os.MkdirTemp("", "handoff-test-")
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "USERPROFILE": home, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
		"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
		"GIT_DIR": filepath.Join(home, "nowhere"), "GIT_INDEX_FILE": filepath.Join(home, "no-index"),
	} {
		os.Setenv(k, v)
	}
	RefreshTimeout, git.QueryTimeout = time.Minute, time.Minute
	state.Flush = func(*os.File) error { return nil }
	rc := m.Run()
	os.RemoveAll(home)
	os.Exit(rc)
}

// world is a project with a repository, a plugin and a session.
type world struct {
	t                *testing.T
	project, data    string
	transcript       string
	now              time.Time
	env              map[string]string
	alive            map[int]bool
	profile          host.Profile
	session, version string
	logged           []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, project: state.RealPath(t.TempDir()), data: t.TempDir(), session: "s1", version: "2.1.332",
		now: time.Now(), env: map[string]string{}, alive: map[int]bool{}, profile: testProfile(),
	}
	w.transcript = filepath.Join(t.TempDir(), "s1.jsonl")
	if err := os.CopyFS(w.project, os.DirFS(template())); err != nil {
		t.Fatal(err)
	}
	return w
}

// template is the repository that each world has a copy of.
var template = sync.OnceValue(func() string {
	dir := filepath.Join(os.Getenv("HOME"), "first")
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	git := func(args ...string) {
		if out, err := tryGit(dir, args...); err != nil {
			panic(fmt.Sprintf("git %q: %v\n%s", args, err, out))
		}
	}
	must(os.Mkdir(dir, 0o755))
	must(os.WriteFile(filepath.Join(dir, "a"), []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), 0o644))
	git("init", "-q", "-b", "main")
	git("add", "a")
	git("commit", "-q", "-m", "first")
	return dir
})

func testProfile() host.Profile {
	both := []host.Scope{host.ScopeUser, host.ScopeProject}
	project := []host.Scope{host.ScopeProject}
	return host.Profile{Plugin: name, Options: []host.Option{
		{Key: "hint_pct", Kind: host.KindOff, Default: "60", Max: 100, Scopes: project},
		{Key: "auto_pct", Kind: host.KindOff, Default: "70", Max: 100, Scopes: both},
		{Key: "commit", Kind: host.KindBool, Default: "on", Scopes: both},
		{Key: "load_on_startup", Kind: host.KindBool, Default: "off", Scopes: both},
		{Key: "artifact_dir", Kind: host.KindText, Scopes: project},
		{Key: "plan_file", Kind: host.KindText, Scopes: project},
		{Key: "language", Kind: host.KindChoice, Default: "en", Choices: []string{"en", "no"}, Scopes: project},
		{Key: "headless", Kind: host.KindBool, Default: "off", Scopes: project},
	}, Windows: []host.Window{{Model: "claude-opus-5-5", Tokens: 1_000_000}, {Model: "claude-haiku-4-5", Tokens: 200_000}}}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.project, args...)
}

func (w *world) gitIn(dir string, args ...string) string {
	w.t.Helper()
	out, err := tryGit(dir, args...)
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return out
}

func tryGit(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_DIR=") && !strings.HasPrefix(kv, "GIT_INDEX_FILE=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *world) put(name, data string) string {
	w.t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(w.project, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := proc.WriteProgram(path, data); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) read(path string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.project, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// index returns the user's index as it is on disk.
func (w *world) index() []byte {
	data, _ := os.ReadFile(filepath.Join(w.project, ".git", "index"))
	return data
}

// say adds rows to the transcript.
func (w *world) say(rows ...string) {
	w.t.Helper()
	f, err := os.OpenFile(w.transcript, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(rows, "\n") + "\n"); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) row(kind string, fields map[string]any) string {
	fields["type"], fields["version"], fields["timestamp"] = kind, w.version, w.now.UTC().Format(time.RFC3339Nano)
	line, err := json.Marshal(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(line)
}

func (w *world) prompt(text string) string {
	return w.row("user", map[string]any{"origin": map[string]any{"kind": "human"}, "message": map[string]any{"role": "user", "content": text}})
}

func (w *world) answer(text, model string, tokens int) string {
	m := map[string]any{"role": "assistant", "model": model, "id": fmt.Sprint("m", tokens), "content": []any{map[string]any{"type": "text", "text": text}}}
	if tokens > 0 {
		m["usage"] = map[string]any{"input_tokens": 1, "cache_read_input_tokens": tokens - 1, "output_tokens": 5}
	}
	return w.row("assistant", map[string]any{"message": m})
}

func (w *world) bash(command, output string, failed bool) string {
	id := "t" + command
	return w.row("assistant", map[string]any{"message": map[string]any{"model": "claude-opus-5-5", "content": []any{map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]any{"command": command}}}}}) +
		"\n" + w.row("user", map[string]any{"message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "is_error": failed, "content": output}}}})
}

func (w *world) hostEnv() host.Env {
	return host.Env{
		Now:    func() time.Time { return w.now },
		Getenv: func(k string) string { return w.env[k] },
		Alive:  func(pid int) bool { return w.alive[pid] },
		Log:    func(msg string, args ...any) { w.logged = append(w.logged, fmt.Sprint(append([]any{msg}, args...)...)) },
	}
}

// options are those of a run that the Stop hook, or a script, would start.
func (w *world) options() Options {
	o := Options{
		Dir: w.project, Project: w.project, NonInteractive: true, Session: w.session,
		Data: []string{w.data}, Home: "/home/ann", Env: w.hostEnv(), Host: host.FromEnv(w.hostEnv().Getenv),
	}
	if _, err := os.Stat(w.transcript); err == nil {
		o.Transcript = w.transcript
	}
	o.Settings = Effective(w.project, o.Data, w.profile, o.Host.Option)
	return o
}

func (w *world) run(change ...func(*Options)) Result {
	w.t.Helper()
	o := w.options()
	for _, c := range change {
		c(&o)
	}
	start := time.Now()
	r, err := Run(w.t.Context(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute {
		w.t.Errorf("took %v", took)
	}
	return r
}

// hook runs one handler as the runner does.
func (w *world) hook(p host.Payload) host.Output {
	w.t.Helper()
	call := w.call(p)
	out, err := handler(p.Event)(call)
	return w.answered(call, out, err)
}

func (w *world) call(p host.Payload) *host.Call {
	if p.SessionID == "" {
		p.SessionID = w.session
	}
	if p.TranscriptPath == "" {
		p.TranscriptPath = w.transcript
	}
	if p.Cwd == "" {
		p.Cwd = w.project
	}
	env := w.hostEnv()
	from := host.FromEnv(env.Getenv)
	from.Data = w.data
	return &host.Call{Host: from, Plugin: name, Payload: p, Env: env, Project: w.project, Profile: w.profile}
}

func (w *world) answered(call *host.Call, out host.Output, err error) host.Output {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%s: %v", call.Payload.Event, err)
	}
	encoded, err := host.Claude{}.Encode(call.Payload.Event, out)
	if err == nil {
		err = host.Claude{}.Valid(call.Payload.Event, encoded)
	}
	if err != nil {
		w.t.Errorf("%s: the host refuses it: %v", call.Payload.Event, err)
	}
	call.Answered()
	return out
}

func (w *world) start(source string) host.Output {
	w.t.Helper()
	return w.hook(host.Payload{Event: host.SessionStart, Source: source})
}

func (w *world) goOn() host.Output {
	w.t.Helper()
	return w.hook(host.Payload{Event: host.UserPromptSubmit, Prompt: "go on"})
}

// committed returns the files of the newest commit.
func (w *world) committed(dir string) string {
	return strings.Join(strings.Fields(w.gitIn(dir, "show", "--name-only", "--format=", "HEAD")), " ")
}

func has(list []string, part string) bool { return strings.Contains(strings.Join(list, "\n"), part) }

func sameBytes(a, b []byte) bool { return bytes.Equal(a, b) }
