//go:build unix

package dispatch

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil }
	rc := m.Run()
	os.RemoveAll(templates)
	os.Exit(rc)
}

var templates string

// client is a program that answers as Claude Code does: what it does with a prompt
// stands in a file of shell beside it. Runs of the real one are in the acceptance
// tests.
const client = `#!/bin/sh
case " $* " in
*" --version "*) echo "2.1.332 (Claude Code)"; exit;;
*" --help "*) echo "--permission-prompts --permission-mode --tools --session-id --setting-sources --strict-mcp-config --output-format --model --verbose --print --max-budget-usd --resume"; exit;;
*" auth status "*) cat "$(dirname "$0")/auth"; exit;;
esac
prompt=$(cat)
ids=$(printf '%s' "$prompt" | grep -o '"id":"t_[0-9a-f]*"' | cut -d'"' -f4)
result() { printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","total_cost_usd":0.5,"session_id":"s","num_turns":1}\n' "$1"; }
all() { lines=; for id in $ids; do lines="$lines$1 $id: $2\\n"; done; result "$lines"; }
has() { case "$prompt" in *"$1"*) return 0;; esac; return 1; }
. "$(dirname "$0")/plan"
`

const loggedIn = `{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}`

// world is a user with a repository and a client.
type world struct {
	*testing.T
	dir, home, repo, bin string
	now                  time.Time
	watched              int
	session              string // that a tick is run in, "" for a terminal
	profile              host.Profile
}

func newWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return newSerialWorld(t)
}

// newSerialWorld is newWorld for a test that must be alone.
func newSerialWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, home: filepath.Join(dir, "home"), repo: filepath.Join(dir, "my repo"), bin: filepath.Join(dir, "bin"), now: time.Now()}
	w.profile, _ = ccreload.Defaults(later.Name)
	w.program(filepath.Join(w.bin, "claude"), client)
	w.put(filepath.Join(w.bin, "auth"), loggedIn)
	if err := os.CopyFS(w.repo, os.DirFS(template())); err != nil {
		t.Fatal(err)
	}
	return w
}

// template is the repository that each world has a copy of.
var template = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "dispatch-test-")
	if err != nil {
		panic(err)
	}
	templates = dir
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("one\n"), 0o644); err != nil {
		panic(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Ann"},
		{"config", "user.email", "ann@example.org"},
		{"config", "commit.gpgsign", "false"},
		{"add", "-A"},
		{"commit", "-q", "-m", "start"},
	} {
		if out, err := inRepo(dir, args...).CombinedOutput(); err != nil {
			panic(fmt.Sprintf("git %q: %v\n%s", args, err, out))
		}
	}
	return dir
})

func inRepo(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
	return cmd
}

func (w *world) app() string { return filepath.Join(w.home, ".cc-later") }

func (w *world) put(path, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) program(path, text string) {
	w.Helper()
	if err := cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), proc.WriteProgram(path, text)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(path string) string {
	data, _ := os.ReadFile(path)
	return string(data)
}

func (w *world) git(args ...string) string {
	w.Helper()
	out, err := inRepo(w.repo, args...).CombinedOutput()
	if err != nil {
		w.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) plan(shell string) { w.put(filepath.Join(w.bin, "plan"), shell) }

// hold is plan, with agents that do nothing until the function returned is called.
func (w *world) hold(shell string) (release func()) {
	gate := filepath.Join(w.dir, "gate")
	w.plan("while [ ! -e '" + gate + "' ]; do sleep 0.01; done; " + shell)
	return func() { w.put(gate, "") }
}

func (w *world) set(lines ...string) {
	w.put(filepath.Join(w.app(), later.ConfigFile), strings.Join(lines, "\n")+"\n")
}
func (w *world) queue() string         { return w.read(w.queuePath()) }
func (w *world) queuePath() string     { return filepath.Join(w.repo, ".claude", "LATER.md") }
func (w *world) later(d time.Duration) { w.now = w.now.Add(d) }
func (w *world) state() State          { s, _ := loadState(w.app()); return s }
func (w *world) known(text string) later.Known {
	l, err := later.ReadLedger(w.app(), w.world().settings())
	if err != nil {
		w.Fatal(err)
	}
	return l.Task(w.repo, text)
}

// add queues tasks as the person does.
// trusted marks the repository and returns what the ledger has to say then.
func (w *world) trusted() later.Entry {
	w.Helper()
	mark, err := later.MarkTrusted(w.repo)
	if err != nil {
		w.Fatal(err)
	}
	return later.Entry{Event: later.Trusted, Repo: w.repo, Note: mark}
}

func (w *world) add(section string, texts ...string) {
	w.Helper()
	var list []queue.Entry
	for _, t := range texts {
		list = append(list, queue.Entry{Priority: queue.P1, Text: t})
	}
	call := &host.Call{Profile: w.profile, Env: w.env()}
	q := later.QueueOf(w.repo, later.ReadConfig(w.app(), w.profile))
	if _, err := later.Add(w.app(), q, section, later.Added, call, func(e ...later.Entry) error { return later.Append(w.app(), e...) }, list); err != nil {
		w.Fatal(err)
	}
}

func (w *world) env() host.Env {
	return host.Env{
		Now: func() time.Time { return w.now }, Sleep: func(d time.Duration) { w.now = w.now.Add(d) },
		Getenv: func(name string) string {
			if name == host.SessionVar {
				return w.session
			}
			return ""
		}, Alive: func(int) bool { return false }, Log: func(string, ...any) {},
	}
}

func (w *world) world() *World {
	return &World{
		App: w.app(), Profile: w.profile, Env: w.env(), Environ: append(os.Environ(), "HOME="+w.home),
		Host:     host.Host{Home: w.home, Config: filepath.Join(w.home, ".claude")},
		Prices:   models.Prices(w.profile.PriceTable()),
		LookPath: func(string) (string, error) { return filepath.Join(w.bin, "claude"), nil },
		Watch:    func() error { w.watched++; return nil },
	}
}

func (w *World) settings() schedule.Settings { return later.ReadConfig(w.App, w.Profile).Settings }

// tick is one that the person asks for.
func (w *world) tick() Result {
	w.Helper()
	r, err := w.world().Tick(w.Context(), Options{Repo: w.repo, Manual: true, Wait: time.Minute})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// look is one that starts nothing.
func (w *world) look() Result {
	w.Helper()
	r, err := w.world().Tick(w.Context(), Options{Repo: w.repo, Only: true, Wait: time.Minute})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// ended waits until every agent is over.
func (w *world) ended() {
	w.Helper()
	store := agent.Open(state.NewDir(w.app()))
	w.until("the agents to end", func() bool {
		list, err := store.All()
		if err != nil {
			w.Fatal(err)
		}
		for _, r := range list {
			if r.Phase() == agent.Running {
				return false
			}
		}
		return true
	})
}

// until waits for what other processes do by themselves.
func (w *world) until(what string, ok func() bool) {
	w.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.Fatalf("gave up waiting for %s", what)
		}
	}
}

// files returns what is below a directory, with its content.
func (w *world) files(dir string) map[string]string {
	all := map[string]string{}
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !strings.Contains(path, "/.git/") {
			all[path] = w.read(path)
		}
		return nil
	})
	return all
}

// clean fails where anything is left of an agent.
func (w *world) clean() {
	w.Helper()
	if s := w.git("worktree", "list"); strings.Contains(s, "\n") {
		w.Errorf("worktrees are left:\n%s", s)
	}
	if s := w.git("branch", "--list", "cc-later/*"); s != "" {
		w.Errorf("branches are left: %s", s)
	}
	for _, dir := range []string{worktreeName, watchName, "agents"} {
		entries, _ := os.ReadDir(filepath.Join(w.app(), dir))
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && e.Name() != "client" {
				w.Errorf("%s/%s is left", dir, e.Name())
			}
		}
	}
	s := w.state()
	if n, waiting := s.atWork(); n+waiting != 0 {
		w.Errorf("%d agents in the state", n+waiting)
	}
}

func same(a, b map[string]string) string {
	var diff []string
	for k, v := range a {
		if b[k] != v {
			diff = append(diff, k)
		}
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			diff = append(diff, "new: "+k)
		}
	}
	return strings.Join(diff, ", ")
}
