//go:build acceptance

package agent

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// resetAt is when the limits of the recordings reset: 2027-01-02 03:00 UTC and
// four days later.
var (
	resetAt     = time.Date(2027, 1, 2, 3, 0, 0, 0, time.UTC)
	weekResetAt = resetAt.AddDate(0, 0, 4)
)

func limits(fiveHour, sevenDay float64) fakeapi.Limits {
	return fakeapi.Limits{FiveHour: fiveHour, SevenDay: sevenDay, FiveHourReset: resetAt, SevenDayReset: weekResetAt}
}

// waiting is a turn whose tool runs until it is ended; it makes the file up.
func waiting(up string) fakeapi.Turn {
	return fakeapi.Use("Bash", map[string]any{"command": "touch " + up + "; while [ -e " + up + " ]; do sleep 0.2; done", "description": "Wait"})
}

// recordings are the runs that testdata keeps of each client, by name.
var recordings = map[string]func(w *world) (out, errs string, code int){
	"completed": func(w *world) (string, string, int) {
		w.api.Script(
			fakeapi.Use("Read", map[string]any{"file_path": filepath.Join(w.repo, "README.md")}).With(limits(0.42, 0.1)),
			fakeapi.Say("Looked at it.\n\n- **DONE** `t_0000000001`: it says hello\n- **SKIPPED (not a task)** `t_0000000002`: nothing to do").With(limits(0.93, 0.11)))
		return w.exec(w.spec("look"), nil)
	},
	"limit": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.RateLimited("This request would exceed your account's rate limit.").With(limits(1, 0.5)))
		return w.exec(w.spec("look"), nil)
	},
	"limit-week": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.RateLimited("This request would exceed your account's rate limit.").With(limits(0.3, 1.2)))
		return w.exec(w.spec("look"), nil)
	},
	"limit-midway": func(w *world) (string, string, int) {
		w.api.Script(fakeapi.Use("Read", map[string]any{"file_path": filepath.Join(w.repo, "README.md")}).With(limits(0.99, 0.5)))
		w.api.Fallback(fakeapi.RateLimited("This request would exceed your account's rate limit.").With(limits(1, 0.5)))
		return w.exec(w.spec("look"), nil)
	},
	"throttled-key": func(w *world) (string, string, int) {
		w.env["CLAUDE_CODE_OAUTH_TOKEN"], w.env["ANTHROPIC_API_KEY"] = "", "sk-ant-dummy"
		w.api.Fallback(fakeapi.RateLimited("Number of request tokens has exceeded your per-minute rate limit").With(limits(1, 1)))
		return w.exec(w.spec("look"), nil)
	},
	"overloaded": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Overloaded())
		return w.exec(w.spec("look"), nil)
	},
	"broken": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Turn{Status: 500, ErrorType: "api_error", Text: "Internal server error"})
		return w.exec(w.spec("look"), nil)
	},
	"offline": func(w *world) (string, string, int) {
		w.api.Close()
		return w.exec(w.spec("look"), nil)
	},
	"unauthorized": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Unauthorized())
		return w.exec(w.spec("look"), nil)
	},
	"unauthorized-key": func(w *world) (string, string, int) {
		w.env["CLAUDE_CODE_OAUTH_TOKEN"], w.env["ANTHROPIC_API_KEY"] = "", "sk-ant-dummy"
		w.api.Fallback(fakeapi.Unauthorized())
		return w.exec(w.spec("look"), nil)
	},
	"forbidden": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Turn{Status: 403, ErrorType: "permission_error", Text: "OAuth authentication is currently not allowed for this organization."})
		return w.exec(w.spec("look"), nil)
	},
	"no-credit": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.NoCredit())
		return w.exec(w.spec("look"), nil)
	},
	"invalid": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Turn{Status: 400, ErrorType: "invalid_request_error", Text: "messages: something is wrong"})
		return w.exec(w.spec("look"), nil)
	},
	"no-model": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Turn{Status: 404, ErrorType: "not_found_error", Text: "model: nonsense"})
		return w.exec(w.spec("look"), nil)
	},
	"nobody": func(w *world) (string, string, int) {
		w.env["CLAUDE_CODE_OAUTH_TOKEN"] = ""
		return w.exec(w.spec("look"), nil)
	},
	"max-turns": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Use("Read", map[string]any{"file_path": filepath.Join(w.repo, "README.md")}))
		return w.exec(w.spec("look"), nil, "--max-turns", "1")
	},
	"budget": func(w *world) (string, string, int) {
		w.api.Fallback(fakeapi.Use("Read", map[string]any{"file_path": filepath.Join(w.repo, "README.md")}).At(150_000))
		s := w.spec("look")
		s.BudgetUSD = "0.01"
		return w.exec(s, nil)
	},
	"denied": func(w *world) (string, string, int) {
		w.api.Script(
			fakeapi.Turn{Text: "Trying.", Tools: []fakeapi.ToolUse{
				{Name: "Write", Input: map[string]any{"file_path": filepath.Join(w.repo, "new.txt"), "content": "x\n"}},
				{Name: "Write", Input: map[string]any{"file_path": filepath.Join(w.dir, "outside.txt"), "content": "x\n"}},
			}},
			fakeapi.Use("Bash", map[string]any{"command": "git -C " + w.dir + " commit -m x", "description": "Commit"}),
			fakeapi.Say("NEEDS_HUMAN (no permission) t_0000000001: could not"))
		s := w.spec("write")
		s.Writes = true
		return w.exec(s, nil)
	},
	"resumed": func(w *world) (string, string, int) {
		s := w.spec("look")
		w.api.Script(fakeapi.Say("FAILED t_0000000001: not yet").At(50_000), fakeapi.Say("DONE t_0000000001: now").At(60_000))
		if _, errs, code := w.exec(s, nil); code != 0 {
			w.Fatalf("exit %d: %s", code, errs)
		}
		s.Resume = true
		return w.exec(s, nil)
	},
	"sigint":  func(w *world) (string, string, int) { return w.signalled(syscall.SIGINT) },
	"sigterm": func(w *world) (string, string, int) { return w.signalled(syscall.SIGTERM) },
	"sigkill": func(w *world) (string, string, int) { return w.signalled(syscall.SIGKILL) },
	"refused": func(w *world) (string, string, int) {
		return w.exec(w.spec("look"), nil, "--no-such-flag")
	},
	"unknown-session": func(w *world) (string, string, int) {
		s := w.spec("look")
		s.Resume = true
		return w.exec(s, nil)
	},
}

// signalled is a run that gets a signal while a tool of it runs.
func (w *world) signalled(sig syscall.Signal) (out, errs string, code int) {
	up := filepath.Join(w.repo, "up")
	w.api.Fallback(waiting(up))
	s := w.spec("wait")
	s.Writes = true
	s.Environ = append(s.Environ, mark(s.ID))
	// Commands other than edits need a rule of the user's.
	w.write(filepath.Join(w.config, "settings.json"), `{"permissions":{"allow":["Bash"]}}`)
	defer os.Remove(up) // ends a tool that lives on
	return w.exec(s, func(p *os.Process) {
		w.until("the tool to run", func() bool { return fileExists(up) })
		w.check(p.Signal(sig))
	})
}

func fileExists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// What the client says of runs that end in each way, and what it comes to. With
// RECORD_AGENTS=all, or names with commas, testdata is recorded anew as well.
func TestRunsOfTheClient(t *testing.T) {
	record := os.Getenv("RECORD_AGENTS")
	dir := filepath.Join("testdata", clientVersion())
	for name, run := range recordings {
		if record != "" && record != "all" && !strings.Contains(","+record+",", ","+name+",") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			out, errs, code := run(w)
			got, want := outcome(t, out, errs).Kind, outcomes[name].kind
			// On a busy machine the client sometimes ends before it has said so.
			if got != want && !(name == "sigint" && got == NoResult) {
				t.Errorf("it is %q, want %q (exit %d)\n%s%s", got, want, code, out, errs)
			}
			if record == "" {
				return
			}
			w.check(os.MkdirAll(dir, 0o755))
			w.check(os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(w.redact(out)), 0o644))
			w.check(os.WriteFile(filepath.Join(dir, name+".err"), []byte(w.redact(errs)+"exit "+strconv.Itoa(code)+"\n"), 0o644))
		})
	}
}

var volatile = []struct{ pattern, with string }{
	{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "00000000-0000-4000-8000-000000000000"},
	{`"(duration_ms|duration_api_ms|ttft_ms|ttft_stream_ms|time_to_request_ms)":[0-9]+`, `"$1":1`},
	{`127\.0\.0\.1:[0-9]+`, "127.0.0.1:1"},
	{`"(slash_commands|skills|agents|skill_names)":\[[^\]]*\]`, `"$1":[]`},
	{`"timestamp":"[^"]*"`, `"timestamp":"2027-01-01T00:00:00.000Z"`},
}

// redact takes out what is of this machine and this moment.
func (w *world) redact(s string) string {
	dashed := regexp.MustCompile(`[^A-Za-z0-9]`).ReplaceAllString(w.dir, "-")
	s = strings.NewReplacer(w.dir, "/tmp/w", dashed, "-tmp-w").Replace(s)
	for _, v := range volatile {
		s = regexp.MustCompile(v.pattern).ReplaceAllString(s, v.with)
	}
	return s
}
