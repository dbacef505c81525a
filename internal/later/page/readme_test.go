//go:build unix

package page_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/usage"
)

func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil }
	time.Local = time.UTC
	os.Exit(m.Run())
}

// client stands for Claude Code, at work until it is stopped.
const client = `#!/bin/sh
case " $* " in
*" --version "*) echo "2.1.332 (Claude Code)" ;;
*" --help "*) echo "--permission-prompts --permission-mode --tools --session-id --setting-sources --strict-mcp-config --output-format" ;;
*" auth status "*) echo '{"loggedIn":true,"authMethod":"claude.ai","apiProvider":"firstParty"}' ;;
*) exec sleep 3600 ;;
esac
`

// The screen in the README is what status prints while an agent is at work.
func TestScreenInTheReadme(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, repo, claude := filepath.Join(dir, "home"), filepath.Join(dir, "shop"), filepath.Join(dir, "claude")
	if err := proc.WriteProgram(claude, client); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(home, ".cc-later", later.ConfigFile), "DISPATCH_ALLOW_FILE_WRITES=true\n")
	put(t, filepath.Join(repo, "a.txt"), "one\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-q", "-m", "start"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir = repo
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	now := time.Date(2026, 12, 1, 21, 33, 0, 0, time.UTC)
	profile, _ := ccreload.Defaults(later.Name)
	w := &dispatch.World{
		App: filepath.Join(home, ".cc-later"), Profile: profile, Environ: append(os.Environ(), "HOME="+home),
		Host: host.Host{Home: home, Config: filepath.Join(home, ".claude")}, Prices: models.Prices(profile.PriceTable()),
		Env: host.Env{
			Now: func() time.Time { return now }, Sleep: func(time.Duration) {}, Alive: func(int) bool { return false },
			Getenv: func(string) string { return "" }, Log: func(string, ...any) {},
		},
		LookPath: func(string) (string, error) { return claude, nil },
	}
	call := &host.Call{Profile: profile, Env: w.Env}
	q := later.QueueOf(repo, later.ReadConfig(w.App, profile))
	for _, task := range []struct{ section, text string }{
		{"Auth", "refresh the token before it expires"}, {"Auth", "close the debug port"}, {"Docs", "rename the flag --out"},
	} {
		if _, err := later.Add(w.App, q, task.section, later.Added, call, func(e ...later.Entry) error { return later.Append(w.App, e...) }, []queue.Entry{{Priority: queue.P1, Text: task.text}}); err != nil {
			t.Fatal(err)
		}
	}
	must(t, later.Append(
		w.App,
		later.Entry{Time: now.Add(-24 * time.Hour), Event: later.Began, Repo: repo, Text: "rename the flag --out", Agent: "r0"},
		later.Entry{Time: now.Add(-24 * time.Hour), Event: later.Finished, Repo: repo, Text: "rename the flag --out", Agent: "r0", Verdict: schedule.NeedsHuman, Note: "to what?"},
	))
	must(t, usage.RecordLimits(w.App, usage.Limits{
		FiveHour: usage.Limit{Used: 71, Resets: now.Add(27 * time.Minute), Status: "allowed", Seen: now, Source: usage.FromStatusLine},
		SevenDay: usage.Limit{Used: 38, Resets: now.Add(60 * time.Hour), Status: "allowed", Seen: now, Source: usage.FromStatusLine},
	}, now))
	defer w.Stop(t.Context(), time.Minute)
	r, err := w.Tick(t.Context(), dispatch.Options{Repo: repo, Wait: time.Minute})
	if err != nil || len(r.Started) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	now = now.Add(6 * time.Minute)
	v, err := w.View(t.Context(), repo)
	must(t, err)
	screen := strings.ReplaceAll(page.Status(v), dir, "/home/ann")

	path := filepath.Join("..", "..", "..", "README.md")
	data, err := os.ReadFile(path)
	must(t, err)
	const begin, end = "<!-- status:begin -->\n```text\n", "```\n<!-- status:end -->\n"
	before, rest, ok := strings.Cut(string(data), begin)
	shown, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("the README has no place for it")
	}
	if *page.Update && shown != screen {
		must(t, os.WriteFile(path, []byte(before+begin+screen+end+after), 0o644))
		return
	}
	if shown != screen {
		t.Errorf("the README has\n%s\nstatus prints (go test ./internal/later/page -update)\n%s", shown, screen)
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
