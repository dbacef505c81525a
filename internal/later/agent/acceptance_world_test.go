//go:build acceptance

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// The acceptance tests run agents of the real Claude Code against the loopback API:
//
//	CLIENT_VERSION=2.1.332 go test -tags acceptance ./internal/later/agent
//
// The client is the one that the tests of internal/fakeapi install.

// patience is only ever used up by a test that fails.
const patience = 90 * time.Second

const dummyToken = "sk-ant-oat01-dummy"

func clientVersion() string {
	if v := os.Getenv("CLIENT_VERSION"); v != "" {
		return v
	}
	return "2.1.332"
}

// world is the machine of one test: a home directory, a repository, an app
// directory and an API, seen by nobody else.
type world struct {
	*testing.T
	dir, home, config, repo, app string
	api                          *fakeapi.Server
	env                          map[string]string
	client                       Client
	store                        Store
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, dir: dir, home: filepath.Join(dir, "home"), config: filepath.Join(dir, "home", ".claude"),
		repo: filepath.Join(dir, "repo"), app: filepath.Join(dir, "home", ".cc-later"),
	}
	if w.api, err = fakeapi.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.api.Close() })
	t.Cleanup(func() {
		if t.Failed() {
			for _, r := range w.api.Requests() {
				t.Log(r)
			}
		}
	})
	w.env = map[string]string{
		"HOME": w.home, "PATH": os.Getenv("PATH"), "LANG": "C.UTF-8",
		host.ConfigVar: w.config, "CLAUDE_CODE_OAUTH_TOKEN": dummyToken, "ANTHROPIC_BASE_URL": w.api.URL(),
		"DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		host.MaxRetriesVar: "0", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1",
		// What the agent must not be told, as a hook of a session has it.
		"CLAUDECODE": "1", host.SessionVar: "outer", "CLAUDE_CODE_ENTRYPOINT": "cli", "CLAUDE_CODE_MESSAGING_TOKEN": "outer-secret",
	}
	for _, d := range []string{w.config, w.repo, w.app} {
		w.check(os.MkdirAll(d, 0o755))
	}
	w.write(filepath.Join(w.home, ".gitconfig"), "[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n")
	w.write(filepath.Join(w.repo, "README.md"), "hello\n")
	w.git(w.repo, "init", "-q")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "start")
	w.store = Open(state.NewDir(w.app))
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	path, err := filepath.Abs(filepath.Join("../../../.client", clientVersion(), "node_modules", "@anthropic-ai",
		fmt.Sprintf("claude-code-%s-%s", runtime.GOOS, arch), "claude"))
	w.check(err)
	if w.client, err = w.store.Probe(t.Context(), path, w.environ()); err != nil {
		t.Fatalf("%v (make acceptance installs the client)", err)
	}
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) write(path, text string) {
	w.Helper()
	w.check(os.MkdirAll(filepath.Dir(path), 0o755))
	w.check(os.WriteFile(path, []byte(text), 0o644))
}

func (w *world) read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func (w *world) git(dir string, args ...string) string {
	w.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// parent is the environment of whoever starts an agent.
func (w *world) parent() []string {
	var out []string
	for k, v := range w.env {
		if v != "" {
			out = append(out, k+"="+v)
		}
	}
	return out
}

func (w *world) environ() []string {
	return host.AgentEnviron(w.parent(), w.env["ANTHROPIC_API_KEY"] != "")
}

// spec is a read-only run in the repository.
func (w *world) spec(prompt string) Spec {
	id := NewID()
	return Spec{
		ID: id, Session: NewID(), Client: w.client, Model: "sonnet", Dir: w.repo, Prompt: prompt, Environ: w.environ(),
		Out: filepath.Join(w.app, id+".jsonl"), Err: filepath.Join(w.app, id+".err"),
	}
}

// until polls ok until it is true.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.Fatalf("gave up waiting: %s", what)
		}
	}
}

// start starts an agent through the store.
func (w *world) start(s Spec) Record {
	w.Helper()
	r, err := w.store.Start(s, time.Now())
	w.check(err)
	w.Cleanup(func() { w.store.Stop(s.ID, hastyClock()) })
	return r
}

// request waits for the first request of the conversation that match accepts.
func (w *world) request(match func(fakeapi.Request) bool) fakeapi.Request {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), patience)
	defer cancel()
	r, err := w.api.Wait(ctx, 0, func(r fakeapi.Request) bool { return r.Kind == fakeapi.Main && match(r) })
	w.check(err)
	return r
}

// exec runs a client with the arguments of s and more to its end, as a child of
// ours. signal, if not nil, is called with its process.
func (w *world) exec(s Spec, signal func(*os.Process), more ...string) (out, errs string, code int) {
	w.Helper()
	var o, e bytes.Buffer
	cmd := exec.Command(s.Client.Path, append(Args(s), more...)...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Dir, s.Environ, strings.NewReader(s.Prompt), &o, &e
	cmd.WaitDelay = time.Second // a killed client leaves a tool that holds the pipe
	w.check(cmd.Start())
	if signal != nil {
		signal(cmd.Process)
	}
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		w.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(data)
}
