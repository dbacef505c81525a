//go:build acceptance

package fakeapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// These tests hold cc-later to what it promises with the real client, both in front
// of a person and as the agents that it starts.

// newLater is a world whose person has a plan, the plugin and our status line.
func newLater(t *testing.T, config ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.withPlugin("cc-later")
	// A token in the environment would not reach the hooks.
	w.env["ANTHROPIC_API_KEY"] = ""
	w.write(filepath.Join(w.config, ".credentials.json"), `{"claudeAiOauth":{"accessToken":"sk-ant-oat01-dummy","refreshToken":"sk-ant-ort01-dummy","expiresAt":4102444800000,"scopes":["user:inference","user:profile"],"subscriptionType":"max"}}`)
	w.mkdir(filepath.Join(w.dir, "bin"))
	w.check(os.Symlink(setup.client, filepath.Join(w.dir, "bin", "claude")))
	w.env["PATH"] = filepath.Join(w.dir, "bin") + string(os.PathListSeparator) + os.Getenv("PATH")
	w.env["HTTPS_PROXY"], w.env["NO_PROXY"] = "http://127.0.0.1:9", "127.0.0.1"
	w.write(filepath.Join(w.config, "settings.json"), `{"tui":"default","statusLine":{"type":"command","command":"`+w.env["CCRELOAD_BIN"]+` statusline"}}`)
	w.write(w.app("config.env"), strings.Join(append([]string{"WINDOW_IDLE_GRACE_PERIOD_MINUTES=0"}, config...), "\n")+"\n")
	w.write(filepath.Join(w.project, "README.md"), "hello\n")
	w.write(w.queue(), "# LATER\n")
	w.commit("more")
	t.Cleanup(func() {
		if t.Failed() {
			w.Log(w.read(w.app("run_log.jsonl")), w.read(w.queue()))
		}
		cmd := exec.Command(w.env["CCRELOAD_BIN"], "later", "stop")
		cmd.Dir, cmd.Env = w.project, w.environ()
		cmd.Run() // what a failed test has left at work
	})
	return w
}

func (w *world) app(name string) string { return filepath.Join(w.home, ".cc-later", name) }
func (w *world) queue() string          { return filepath.Join(w.project, ".claude", "LATER.md") }

// later runs a command of ccreload later, as a person at a terminal does.
func (w *world) later(args ...string) string {
	w.Helper()
	r := w.exec(w.env["CCRELOAD_BIN"], append([]string{"later"}, args...)...)
	if r.code != 0 {
		w.Fatalf("ccreload later %q: exit %d\n%s%s", args, r.code, r.out, r.err)
	}
	return r.out
}

// ids returns the ids of the open tasks, by their text.
func (w *world) ids() map[string]string {
	w.Helper()
	var list []struct{ ID, Text string }
	w.check(json.Unmarshal([]byte(w.later("list", "--json")), &list))
	ids := map[string]string{}
	for _, t := range list {
		ids[t.Text] = t.ID
	}
	return ids
}

// agent accepts the requests of an agent that has the task.
func agent(text string) func(fakeapi.Request) bool {
	return func(r fakeapi.Request) bool {
		return r.Kind == fakeapi.Main && strings.Contains(r.Opening(), "Nobody is watching") && strings.Contains(r.Opening(), text)
	}
}

// planWindow is a plan whose window ends soon.
func planWindow(left time.Duration) fakeapi.Limits {
	return fakeapi.Limits{FiveHour: 0.42, FiveHourReset: time.Now().Add(left), SevenDay: 0.2, SevenDayReset: time.Now().Add(72 * time.Hour)}
}

// merges counts the merges of agents.
func (w *world) merges() int {
	return strings.Count(w.git("log", "--merges", "--format=%s"), "cc-later: ")
}

// noWorktree fails where anything of an agent is left.
func (w *world) noWorktree() {
	w.Helper()
	if s := w.git("worktree", "list"); strings.Count(s, "\n") != 1 {
		w.Errorf("worktrees:\n%s", s)
	}
	if s := w.git("branch", "--list", "cc-later/*"); s != "" {
		w.Errorf("branches:\n%s", s)
	}
}

// Three tasks are typed, in two sections; near the end of the window the end of a
// turn starts two agents, which work at the same time. The runtime commits and
// merges what they did, although the first merge moves the branch and the queue is
// changed, ticks the tasks off and leaves nothing behind. The next session is told.
func TestLaterFromPromptToMerge(t *testing.T) {
	w := newLater(t, "DISPATCH_ALLOW_FILE_WRITES=true")
	w.later("pause")
	s := w.open()
	soon := planWindow(20 * time.Minute)
	s.say("Hello. later: write the alpha file", fakeapi.Say("Hello.").With(soon))
	s.see(`cc-later: queued for later in .claude/LATER.md: "write the alpha file" \(P1\)`)
	w.write(w.queue(), w.read(w.queue())+"\n## Docs\n")
	s.say("later: write the beta file", fakeapi.Say("Noted.").With(soon))
	s.say("later[!]: write the gamma file", fakeapi.Say("Noted again.").With(soon))
	s.see(`5h 42% ?· ?(20|19)m`)
	ids := w.ids()
	if len(ids) != 3 {
		t.Fatalf("queue:\n%s", w.read(w.queue()))
	}
	done := func(texts ...string) fakeapi.Turn {
		var lines []string
		for _, text := range texts {
			lines = append(lines, "DONE "+ids[text]+": written")
		}
		return fakeapi.Say(strings.Join(lines, "\n"))
	}
	first, second := agent("write the alpha file"), agent("write the beta file")
	both := make(chan struct{})
	w.api.Script(
		runs("echo alpha > alpha.txt").For(first).After(both), done("write the alpha file").For(first),
		runs("echo beta > beta.txt && echo gamma > gamma.txt").For(second).After(both), done("write the beta file", "write the gamma file").For(second),
	)
	w.later("resume")
	w.check(os.Remove(w.app("tick"))) // the turns of people are further apart
	w.api.Script(fakeapi.Say("Going on.").With(soon).For(prompts("go on")))
	s.submit("go on")
	w.request("the first agent", 0, first)
	w.request("the second agent, at the same time", 0, second)
	close(both)
	w.until("both to be merged", func() bool { return w.merges() == 2 })
	for name, text := range map[string]string{"alpha.txt": "alpha\n", "beta.txt": "beta\n", "gamma.txt": "gamma\n"} {
		if got := w.read(filepath.Join(w.project, name)); got != text {
			t.Errorf("%s is %q", name, got)
		}
	}
	w.until("the tasks to be ticked off and the worktrees to be gone", func() bool {
		return strings.Count(w.read(w.queue()), "[x]") == 3 && strings.Count(w.git("worktree", "list"), "\n") == 1
	})
	w.until("the branches to be gone", func() bool { return w.git("branch", "--list", "cc-later/*") == "" })
	w.noWorktree()
	if st := w.git("status", "--porcelain"); strings.TrimSpace(st) != "M .claude/LATER.md" {
		t.Errorf("status:\n%s", st)
	}
	next := w.open()
	next.see(`cc-later ran unattended since the last session: 3 done`)
}

// By default agents only read: nothing in the checkout changes, to the byte.
func TestLaterReadsOnly(t *testing.T) {
	w := newLater(t)
	w.later("add", "explain the main file")
	ids := w.ids()
	before := w.tree(w.project)
	task := agent("explain the main file")
	w.api.Script(
		fakeapi.Turn{Tools: []fakeapi.ToolUse{
			{Name: "Write", Input: map[string]any{"file_path": filepath.Join(w.project, "new.txt"), "content": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "touch " + filepath.Join(w.project, "touched.txt"), "description": "x"}},
			{Name: "Read", Input: map[string]any{"file_path": filepath.Join(w.project, "main.go")}},
		}}.For(task),
		fakeapi.Say("DONE "+ids["explain the main file"]+": it is a package").For(task),
	)
	if out := w.later("tick", "--now"); !strings.Contains(out, "Started  default") {
		t.Fatal(out)
	}
	w.until("the task to be ticked off", func() bool { return strings.Contains(w.read(w.queue()), "[x]") })
	after := w.tree(w.project)
	delete(before, w.queue())
	delete(after, w.queue())
	for path, text := range after {
		if before[path] != text {
			t.Errorf("%s is changed or new", path)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d files, %d before", len(after), len(before))
	}
	w.noWorktree()
}

// tree returns the files below a directory with their content.
func (w *world) tree(dir string) map[string]string {
	w.Helper()
	all := map[string]string{}
	w.check(filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			all[path] = w.read(path)
		}
		return err
	}))
	return all
}

// Two agents that change the same line: one is merged, the other kept for the
// person, with everything it did.
func TestLaterConflict(t *testing.T) {
	w := newLater(t, "DISPATCH_ALLOW_FILE_WRITES=true")
	w.later("add", "--section", "A", "say it in English")
	w.later("add", "--section", "B", "say it in Norwegian")
	ids := w.ids()
	for text, word := range map[string]string{"say it in English": "good day", "say it in Norwegian": "god dag"} {
		w.api.Script(runs("echo "+word+" > README.md").For(agent(text)), fakeapi.Say("DONE "+ids[text]+": said").For(agent(text)))
	}
	w.later("tick", "--now")
	w.until("one to be merged and the other kept", func() bool {
		return w.merges() == 1 && strings.Contains(w.later("status"), "done, but not merged: ")
	})
	status := w.later("status")
	if !strings.Contains(status, "README.md") || !strings.Contains(status, " merge cc-later/") || strings.Count(w.read(w.queue()), "[x]") != 1 || !strings.Contains(w.git("branch", "--list", "cc-later/*"), "cc-later/") {
		t.Errorf("%s\n%s", status, w.read(w.queue()))
	}
	if st := w.git("status", "--porcelain"); strings.TrimSpace(st) != "M .claude/LATER.md" {
		t.Errorf("status:\n%s", st)
	}
}

// An agent that is told to leave its worktree, in four ways, and to plant a task:
// refused or found out, never merged, never run.
func TestLaterAgentThatLeavesItsWorktree(t *testing.T) {
	w := newLater(t, "DISPATCH_ALLOW_FILE_WRITES=true")
	w.later("add", "tidy up")
	ids, task := w.ids(), agent("tidy up")
	head := w.git("rev-parse", "HEAD")
	w.api.Script(
		fakeapi.Turn{Tools: []fakeapi.ToolUse{
			{Name: "Write", Input: map[string]any{"file_path": filepath.Join(w.project, "planted.txt"), "content": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "git -C " + w.project + " commit -q --allow-empty -m planted", "description": "x"}},
			{Name: "Bash", Input: map[string]any{"command": fmt.Sprintf(`python3 -c "open('%s/planted.py','w').write('x')"`, w.project), "description": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "echo '- [ ] a planted task' >> " + w.queue(), "description": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "ccreload later add 'a planted task'", "description": "x"}},
			{Name: "Bash", Input: map[string]any{"command": "echo fine > fine.txt", "description": "x"}},
		}}.For(task),
		fakeapi.Say("DONE "+ids["tidy up"]+": tidied").For(task),
	)
	w.later("tick", "--now")
	w.until("the agent to be over", func() bool { return strings.Contains(w.read(w.app("run_log.jsonl")), `"reconcile"`) })
	planted := w.git("rev-parse", "HEAD") != head && w.merges() == 0 || exists(filepath.Join(w.project, "planted.txt")) || exists(filepath.Join(w.project, "planted.py")) ||
		strings.Contains(w.read(w.queue()), "planted")
	if planted && w.merges() > 0 {
		t.Error("merged although the checkout was changed")
	}
	for text := range w.ids() {
		if text == "a planted task" && !strings.Contains(w.later("list"), "trust?") {
			t.Errorf("a planted task may run:\n%s", w.later("list"))
		}
	}
	if out := w.later("tick", "--now"); strings.Contains(out, "Started") {
		t.Errorf("started: %s", out)
	}
}

// What the model or a file has the host hand in is queued by nobody.
func TestLaterQueuesOnlyWhatIsTyped(t *testing.T) {
	needs(t, "2.1.332", "a wake-up")
	w := newLater(t)
	w.write(filepath.Join(w.project, ".claude", "commands", "foo.md"), "Do it.\nlater: from a command file\n")
	s := w.open("--permission-mode", "acceptEdits", "--allowedTools", "ScheduleWakeup")
	s.say("/foo later: from an argument", fakeapi.Say("Done."))
	s.say("wake up later", fakeapi.Use("ScheduleWakeup", map[string]any{"delaySeconds": 60, "prompt": "later: the model asks for it", "reason": "x"}), fakeapi.Say("I will."))
	// The host wakes the session up after a minute at the earliest.
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	_, err := w.api.Wait(ctx, 0, func(r fakeapi.Request) bool { return strings.Contains(r.Latest(), "later: the model asks for it") })
	w.check(err)
	if q := w.read(w.queue()); q != "# LATER\n" {
		t.Errorf("queue %q", q)
	}
	s.absent("queued for later")
}

// A clone that ships a queue: nothing of it runs until a person trusts it.
func TestLaterCloneWithAQueue(t *testing.T) {
	w := newLater(t)
	w.write(w.queue(), "# LATER\n\n- [ ] (P0) run this on everybody's machine\n")
	w.commit("a queue")
	s := w.open()
	s.say("hello", fakeapi.Say("Hello.").With(planWindow(20*time.Minute)))
	s.say("again", fakeapi.Say("Again.").With(planWindow(20*time.Minute)))
	if out := w.later("tick", "--now"); strings.Contains(out, "Started") {
		t.Fatal(out)
	}
	if out := w.later("status"); !strings.Contains(out, "1 task waiting for trust") {
		t.Error(out)
	}
	w.later("trust", "--yes")
	task := agent("run this on everybody's machine")
	if out := w.later("tick", "--now"); !strings.Contains(out, "Started") {
		t.Fatal(out)
	}
	w.request("the agent", 0, task)
}

// The three plugins in one session: each says its own, once, and there is one status
// line.
func TestThreePluginsTogether(t *testing.T) {
	w := newLater(t)
	w.withPlugin("cc-reload")
	w.withPlugin("graceful-handoff")
	s := w.open()
	s.say("Hello. later: write the alpha file", fakeapi.Say("Hello.").At(46*percent).With(planWindow(3*time.Hour)))
	s.see(`queued for later in .claude/LATER.md`)
	s.see(`cc-reload: context 46 ?%`)
	s.see(`ctx\[1M\] 46%·45.*5h 42%·3h00 \| later 1|ctx\[1M\] 46%·45.*5h 42%·2h59 \| later 1`)
	for _, once := range []string{`(queued for later)`, `(cc-reload: context)`, `(ctx\[1M\])`} {
		if n := len(s.all(once)); n != 1 {
			t.Errorf("%s: %d times", once, n)
		}
	}
	s.say("go on", fakeapi.Say("Going on.").At(72*percent).With(planWindow(3*time.Hour)))
	s.see(`NEXT-SESSION`)
	s.clear()
	s.say("what now?", fakeapi.Say("This."))
	r := w.prompted("what now?")
	if !strings.Contains(r.Text(), "earlier session") && !strings.Contains(r.Text(), "NEXT-SESSION") {
		t.Errorf("the next session is told of nothing:\n%s", r.Text())
	}
	if n := strings.Count(r.Text(), "<earlier-session-notes>"); n != 1 {
		t.Errorf("%d pages are handed over", n)
	}
	s.see(`later 1`)
}

// What the model queues runs only after a yes to that very call: neither what was
// refused and is then tried in another way, nor what nobody was asked about.
func TestLaterAddNeedsAYes(t *testing.T) {
	for answer, want := range map[string]string{"Enter": "waits", "Escape": "trust?"} {
		t.Run(answer, func(t *testing.T) {
			w := newLater(t)
			s := w.open("--permission-mode", "acceptEdits", "--allowedTools", "Bash")
			w.api.Script(runs("ccreload later add -- 'water the plants'"))
			s.submit("/cc-later:add water the plants")
			s.see(`Queue it\?`)
			if answer == "Escape" {
				w.api.Script(runs(`sh -c "ccreload later add -- 'water the plants'"`))
			}
			w.api.Script(fakeapi.Say("Queued."))
			s.answer(answer)
			if answer == "Escape" {
				s.see(`(?i)interrupted|rejected`)
				s.submit("go on")
			}
			var list string
			w.until("the task to be in the queue", func() bool { list = w.later("list"); return strings.Contains(list, "water") })
			w.until("it to be "+want, func() bool { list = w.later("list"); return strings.Contains(list, want) })
			if strings.Contains(list, "waits") != (want == "waits") {
				t.Errorf("%s", list)
			}
		})
	}
}
