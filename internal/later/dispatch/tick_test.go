//go:build unix

package dispatch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	w.add("", "look at the parser")
	w.add("Docs", "read the readme")
	release := w.hold(`if has parser; then all DONE "it is fine"; else all "FAILED (no readme)" "gave up"; fi`)
	before := w.files(w.repo)
	r := w.tick()
	if strings.Join(r.Started, " ") != "default of my repo Docs of my repo" || r.Running != 2 || w.watched != 1 {
		t.Fatalf("%+v", r)
	}
	if r := w.tick(); len(r.Started) != 0 {
		t.Errorf("started twice: %+v", r)
	}
	release()
	w.ended()
	r = w.look()
	if len(r.Ended) != 2 || r.Running != 0 {
		t.Fatalf("%+v", r)
	}
	after := w.files(w.repo)
	delete(before, w.queuePath())
	delete(after, w.queuePath())
	if d := same(before, after); d != "" {
		t.Errorf("changed: %s", d)
	}
	if q := w.queue(); !strings.Contains(q, "- [x] (P1) look at the parser") || !strings.Contains(q, "- [ ] (P1) read the readme") {
		t.Errorf("queue %q", q)
	}
	if k := w.known("read the readme"); k.Attempts != 1 || k.Note != "no readme: gave up" {
		t.Errorf("%+v", k)
	}
	report := w.read(later.ReportFile(w.app(), w.repo))
	if !strings.HasPrefix(report, "cc-later ran unattended since the last session: 1 done, 1 not done (") {
		t.Errorf("report %q", report)
	}
	pages, _ := filepath.Glob(filepath.Join(w.app(), "reports", "*.md"))
	if len(pages) != 2 || !strings.Contains(w.read(pages[0])+w.read(pages[1]), "it is fine") {
		t.Errorf("pages %q", pages)
	}
	w.clean()
}

func TestTwoSectionsMerge(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.git("add", "-A")
	w.add("Auth", "write b", "write b2")
	w.add("Docs", "write c")
	w.plan(`if has 'write b'; then echo b > b.txt; else echo c > c.txt; mkdir d; echo d > d/d.txt; fi; all DONE "written"`)
	w.tick()
	w.ended()
	w.put(w.queuePath(), w.queue()+"\n- [ ] something new\n") // the person goes on typing
	r := w.look()
	if len(r.Ended) != 2 || !strings.Contains(strings.Join(r.Ended, ";"), "merged into main") {
		t.Fatalf("%+v", r)
	}
	if w.read(filepath.Join(w.repo, "b.txt")) != "b\n" || w.read(filepath.Join(w.repo, "d", "d.txt")) != "d\n" {
		t.Error("the files are not in the checkout")
	}
	log := w.git("log", "--format=%s %an %b", "main")
	if strings.Count(log, "cc-later: Auth tasks") != 2 || strings.Count(log, "cc-later: Docs tasks") != 2 || !strings.Contains(log, "Later-Task: t_") || !strings.Contains(log, "Ann") {
		t.Errorf("log:\n%s", log)
	}
	if q := w.queue(); strings.Count(q, "[x]") != 3 || !strings.HasSuffix(q, "\n- [ ] something new\n") {
		t.Errorf("queue %q", q)
	}
	if s := w.git("status", "--porcelain"); s != "?? .claude/" {
		t.Errorf("status %q", s)
	}
	w.clean()
}

func TestConflict(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "change one")
	w.add("B", "change it too")
	w.plan(`if has 'change one'; then echo A > a.txt; else echo B > a.txt; fi; all DONE "changed"`)
	w.tick()
	w.ended()
	r := w.look()
	both := strings.Join(r.Ended, "; ")
	if !strings.Contains(both, "merged into main") || !strings.Contains(both, "a.txt") || !strings.Contains(both, "its work is kept in") {
		t.Fatalf("%+v", r)
	}
	if q := w.queue(); strings.Count(q, "[x]") != 1 {
		t.Errorf("queue %q", q)
	}
	if !strings.Contains(w.git("worktree", "list"), "cc-later/") {
		t.Error("the worktree is gone")
	}
	if s := w.git("status", "--porcelain"); s != "?? .claude/" {
		t.Errorf("status %q", s)
	}
	held := w.known("change it too")
	if held.Held == "" {
		held = w.known("change one")
	}
	if held.Held != schedule.HeldUnmerged || !strings.Contains(held.Note, "conflicts with") {
		t.Errorf("%+v", held)
	}
	w.later(6 * time.Hour)
	if r := w.tick(); len(r.Started) != 0 || len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
	v, err := w.world().View(t.Context(), w.repo)
	if err != nil || len(v.Wants) != 1 || !strings.Contains(v.Wants[0].Command, "merge cc-later/") {
		t.Errorf("%+v, %v", v.Wants, err)
	}
}

// What an agent says and does, and what comes of it.
func TestOutcomes(t *testing.T) {
	reset := time.Now().Add(2 * time.Hour).Truncate(time.Second)
	for name, tt := range map[string]struct {
		plan     string
		verdict  schedule.Verdict
		attempts int
		reason   string // why nothing starts afterwards
		because  string // and why the task waits, and how long
		until    time.Duration
	}{
		"limit": {
			plan:    `echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` + itoa(reset.Unix()) + `,"rateLimitType":"five_hour"}}'; echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"api_error":"usage_limit_reached","result":"You hit your limit","terminal_reason":"api_error"}'; exit 1`,
			verdict: schedule.Limited, reason: schedule.LimitPause,
		},
		"429, and until when": {
			plan:    `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"Request rejected","terminal_reason":"api_error"}'; exit 1`,
			verdict: schedule.Throttled, reason: schedule.NothingDue, because: "the API had no room: Request rejected", until: 5 * time.Minute,
		},
		"429 of a key": {
			plan:    `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)","terminal_reason":"api_error"}'; exit 1`,
			verdict: schedule.Throttled, reason: schedule.NothingDue,
		},
		"529": {
			plan:    `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"overloaded","terminal_reason":"api_error"}'; exit 1`,
			verdict: schedule.Throttled, reason: schedule.NothingDue,
		},
		"401": {
			plan:    `echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"result":"Invalid API key","terminal_reason":"api_error"}'; exit 1`,
			verdict: schedule.Refused, reason: schedule.SwitchedOff,
		},
		"max turns": {
			plan:    `echo '{"type":"result","subtype":"error_max_turns","is_error":true,"terminal_reason":"max_turns","errors":["x"]}'; exit 1`,
			verdict: schedule.Failed, attempts: 1,
		},
		"budget": {
			plan:    `echo '{"type":"result","subtype":"error_max_budget_usd","is_error":true,"terminal_reason":"budget_exhausted"}'; exit 1`,
			verdict: schedule.Failed, attempts: 1,
		},
		"interrupted":        {plan: `echo '{"type":"system","subtype":"init"}'; echo '{"type":"result","subtype":"error_during_execution","is_error":true,"terminal_reason":"aborted_tools"}'`, verdict: schedule.Ended},
		"killed":             {plan: `kill -9 $$`, verdict: schedule.Ended},
		"nothing said":       {plan: `exit 0`, verdict: schedule.Ended},
		"half a row":         {plan: `printf '{"type":"assistant","mess'`, verdict: schedule.Ended},
		"says nothing of it": {plan: `result "all fine"`, verdict: schedule.Failed, attempts: 1},
		"skipped":            {plan: `all "SKIPPED (too big)" x`, verdict: schedule.Skipped, attempts: 1},
		"asks":               {plan: `all "NEEDS_HUMAN (which one)" x`, verdict: schedule.NeedsHuman, attempts: 1, reason: schedule.NothingDue},
		"speaks of limits":   {plan: `all DONE "raised the rate limit to 429"`, verdict: schedule.Done, reason: schedule.NothingDue},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.add("", "the task")
			w.plan(tt.plan)
			if r := w.tick(); len(r.Started) != 1 {
				t.Fatalf("%+v", r)
			}
			w.ended()
			w.look()
			k := w.known("the task")
			if k.Verdict != tt.verdict || k.Attempts != tt.attempts {
				t.Errorf("%s, %d attempts (%s), want %s, %d", k.Verdict, k.Attempts, k.Note, tt.verdict, tt.attempts)
			}
			if done := strings.Contains(w.queue(), "[x]"); done != (tt.verdict == schedule.Done) {
				t.Errorf("queue %q", w.queue())
			}
			r := w.tick()
			if r.Decision.Reason != tt.reason {
				t.Errorf("then %q, want %q", r.Decision.Reason, tt.reason)
			}
			if tt.because != "" {
				v, err := w.world().View(t.Context(), w.repo)
				if err != nil || r.Because != tt.because || v.Queues[0].Sections[0].Tasks[0].Because != tt.because {
					t.Errorf("because %q, in the list %+v, %v", r.Because, v.Queues, err)
				}
				for _, until := range []time.Time{r.Decision.Until, v.Queues[0].Sections[0].Tasks[0].Until} {
					if left := until.Sub(w.now); left <= tt.until-2*time.Second || left > tt.until {
						t.Errorf("until %s, %s from now", until, left)
					}
				}
			}
			w.ended()
			w.look()
			w.clean()
		})
	}
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestLimitThenResume(t *testing.T) {
	w := newWorld(t)
	reset := w.now.Add(time.Hour).Truncate(time.Second)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true", "AUTO_RESUME_MIN_REMAINING_MINUTES=0", "WINDOW_IDLE_GRACE_PERIOD_MINUTES=0")
	w.add("A", "write x")
	w.add("B", "write y")
	w.plan(`echo half > half.txt; echo '{"type":"result","is_error":true,"subtype":"success","api_error":"usage_limit_reached","api_error_status":429,"result":"limit","terminal_reason":"api_error","api_error_params":{"rate_limit_info":{"resetsAt":` + itoa(reset.Unix()) + `}}}'; echo '{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` + itoa(reset.Unix()) + `,"rateLimitType":"five_hour"}}'`)
	w.tick()
	w.ended()
	w.look()
	if s := w.git("for-each-ref", "refs/cc-later/salvage"); strings.Count(s, "salvage") != 2 {
		t.Errorf("what was half done is lost: %q", s)
	}
	if s := w.state(); len(s.Repos[w.repo].ResumeEntries) != 2 || *s.Repos[w.repo].ResumeReason != "limit_exhausted" || s.WindowLimit == nil {
		t.Errorf("%+v", s)
	}
	auto := func() Result {
		t.Helper()
		r, err := w.world().Tick(t.Context(), Options{Repo: w.repo})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, d := range []time.Duration{time.Minute, 58 * time.Minute, 5 * time.Minute} {
		w.later(d)
		if r := auto(); len(r.Started) != 0 || r.Decision.Reason != schedule.LimitPause {
			t.Fatalf("%s before the reset and the margin: %+v", reset.Sub(w.now), r)
		}
	}
	w.plan(`echo whole > whole.txt; all DONE "written"`)
	w.later(2 * time.Minute)
	if r := auto(); strings.Join(r.Started, " ") != "resume of my repo" {
		t.Fatalf("after the reset: %+v", r)
	}
	w.ended()
	w.later(time.Minute)
	auto()
	if strings.Count(w.queue(), "[x]") != 2 || w.read(filepath.Join(w.repo, "whole.txt")) == "" {
		t.Errorf("queue %q", w.queue())
	}
	w.clean()
}

// An agent that gets out of its worktree in whatever way: nothing of it is merged.
func TestChangedCheckout(t *testing.T) {
	for name, tt := range map[string]struct{ plan, says string }{
		"a file":    {`echo x > "$MAIN/planted.txt"`, "planted.txt"},
		"a commit":  {`git -C "$MAIN" -c user.name=x -c user.email=x@x commit -q --allow-empty -m x`, "refs/heads/main"},
		"a branch":  {`git -C "$MAIN" branch planted`, "planted"},
		"a hook":    {`echo 'exit 0' > "$MAIN/.git/hooks/post-merge"`, "post-merge"},
		"a setting": {`git -C "$MAIN" config core.fsmonitor ./x`, "config"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.set("DISPATCH_ALLOW_FILE_WRITES=true")
			w.add("A", "write b")
			w.plan("MAIN='" + w.repo + "'; echo b > b.txt; " + tt.plan + "; all DONE written")
			w.tick()
			w.ended()
			r := w.look()
			if len(r.Ended) != 1 || !strings.Contains(r.Ended[0], tt.says) || !strings.Contains(r.Ended[0], "changed while the agent") {
				t.Errorf("%+v", r)
			}
			if _, err := os.Lstat(filepath.Join(w.repo, "b.txt")); err == nil {
				t.Error("merged")
			}
			if strings.Contains(w.queue(), "[x]") || w.known("write b").Held == "" {
				t.Errorf("queue %q", w.queue())
			}
		})
	}
}

// An agent that does its work in the checkout, and nothing in its worktree: there is
// nothing to keep, and the person is told.
func TestWorkInTheCheckoutOnly(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan("echo x > '" + w.repo + "/planted.txt'; all DONE written")
	w.tick()
	w.ended()
	if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "planted.txt") || !strings.Contains(w.read(filepath.Join(w.app(), LogFile)), "checkout_changed") {
		t.Errorf("%+v", r)
	}
	w.clean()
}

// What a repository brings, or an agent plants, does not run.
func TestTrust(t *testing.T) {
	w := newWorld(t)
	w.put(w.queuePath(), "- [ ] from the repository\n")
	if r := w.tick(); len(r.Started) != 0 || r.Decision.Reason != schedule.NothingDue {
		t.Fatalf("%+v", r)
	}
	w.world().Prepare()
	x := w.world()
	x.Prepare()
	x.load()
	if err := x.Note(w.trusted()); err != nil {
		t.Fatal(err)
	}
	w.plan(`printf -- '- [ ] planted by the agent\n' >> '` + w.queuePath() + `'; all DONE read`)
	if r := w.tick(); len(r.Started) != 1 {
		t.Fatalf("trusted: %+v", r)
	}
	w.ended()
	w.look()
	if r := w.tick(); len(r.Started) != 0 {
		t.Errorf("what the agent planted runs: %+v", r)
	}
	if k := w.known("planted by the agent"); k.Source != later.Strayed {
		t.Errorf("%+v", k)
	}
	w.put(w.queuePath(), w.queue()+"- [ ] added by the person\n")
	if r := w.tick(); len(r.Started) != 1 {
		t.Errorf("a trusted repository: %+v", r)
	}
	w.ended()
	w.look()
	w.clean()
}

// What waited for trust before an agent began is not the agent's.
func TestWaitingForTrustIsNotPlanted(t *testing.T) {
	w := newWorld(t)
	w.add("", "read it")
	w.put(w.queuePath(), w.queue()+"- [ ] from the repository\n")
	w.plan(`printf -- '- [ ] planted by the agent\n' >> '` + w.queuePath() + `'; all DONE read`)
	if r := w.tick(); len(r.Started) != 1 {
		t.Fatalf("%+v", r)
	}
	w.ended()
	w.look()
	w.tick()
	for text, want := range map[string]later.Event{"from the repository": later.Met, "planted by the agent": later.Strayed} {
		if k := w.known(text); k.Source != want || k.May() {
			t.Errorf("%s: %+v", text, k)
		}
	}
	x := w.world()
	x.load()
	if err := x.Note(w.trusted()); err != nil {
		t.Fatal(err)
	}
	if r := w.tick(); len(r.Started) != 1 || !w.known("from the repository").May() || w.known("planted by the agent").May() {
		t.Errorf("a trusted repository: %+v", r)
	}
	w.ended()
	w.look()
	w.clean()
}

func TestStuckAgent(t *testing.T) {
	w := newWorld(t)
	w.add("", "hang")
	w.plan(`echo '{"type":"system","subtype":"init"}'; exec sleep 300`)
	w.tick()
	w.until("the agent to hang", func() bool {
		out := w.state().Repos[w.repo].Agents[0].ResultPath
		return strings.Contains(w.read(out), "init")
	})
	for range 14 {
		w.later(time.Minute)
		w.look()
	}
	if s := w.read(filepath.Join(w.app(), LogFile)); !strings.Contains(s, `"nudge_stale"`) || !strings.Contains(s, `"nudge_dead"`) {
		t.Errorf("log %s", s)
	}
	if k := w.known("hang"); k.Verdict != schedule.Ended || !k.Again || k.Retries != 1 {
		t.Errorf("%+v", k)
	}
	w.clean()
}

func TestBrokenFiles(t *testing.T) {
	w := newWorld(t)
	w.add("", "the task")
	w.plan(`all DONE fine`)
	w.put(filepath.Join(w.app(), later.StateFile), `{"repos": {"/x": {"in_fl`)
	w.set("DISPATCH_MAX_AGENT=9", "NUDGE_ENABLED=perhaps")
	r := w.tick()
	if len(r.Started) != 1 || len(r.Problems) != 2 {
		t.Errorf("%+v", r)
	}
	v, err := w.world().View(t.Context(), w.repo)
	if err != nil || len(v.Wants) != 3 || !strings.Contains(v.Wants[0].What, "state.json could not be read") {
		t.Errorf("%+v, %v", v.Wants, err)
	}
	w.ended()
	w.look()
	w.clean()
	w.put(w.queuePath(), strings.Repeat("- [ ] x\n", 10_001))
	if r := w.tick(); len(r.Started) != 0 || !strings.Contains(strings.Join(r.Problems, ";"), "more than 10,000 lines") {
		t.Errorf("%+v", r)
	}
}

// What keeps agents from being run is found before one is started: it stops that tick
// alone, and whoever looks is told the same.
func TestNobodyPays(t *testing.T) {
	w := newWorld(t)
	w.add("", "the task")
	w.plan(`all DONE fine`)
	for _, c := range []struct{ auth, session, want string }{
		{`{"loggedIn":true,"authMethod":"api_key","apiKeySource":"apiKeyHelper"}`, "", "an API key would pay for the agents (apiKeyHelper)"},
		// Logged in with a token that what a session starts does not get.
		{`{"loggedIn":false,"authMethod":"none"}`, "s1", "login of this session"},
		{`{"loggedIn":false,"authMethod":"none"}`, "", "CLAUDE_CODE_OAUTH_TOKEN"},
	} {
		w.put(filepath.Join(w.bin, "auth"), c.auth)
		w.session = c.session
		for range 2 {
			if r := w.tick(); len(r.Started) != 0 || r.Decision.Reason != schedule.NoClient || !strings.Contains(r.Because, c.want) {
				t.Errorf("%+v, want %q", r, c.want)
			}
		}
		if off := Off(w.app()); off != "" {
			t.Errorf("off: %q", off)
		}
		v := w.asks()
		if g := gate(v, schedule.GateClient); g == nil || g.Open || !strings.Contains(g.Because, c.want) {
			t.Errorf("gate %+v, want %q", g, c.want)
		}
		if len(v.Events) == 0 || !strings.Contains(v.Events[0].Text, c.want) || len(v.Events) > 1 && v.Events[1].Text == v.Events[0].Text {
			t.Errorf("events %+v, want %q once", v.Events, c.want)
		}
	}
	w.put(filepath.Join(w.bin, "auth"), loggedIn)
	if g := gate(w.asks(), schedule.GateClient); g == nil || !g.Open {
		t.Errorf("gate %+v", g)
	}
	if r := w.tick(); len(r.Started) != 1 {
		t.Errorf("%+v", r)
	}
	w.ended()
	w.look()
	w.clean()
}

// Whoever looks starts the client only where a task may run, once a minute at most, and
// not at all where nobody wants to know.
func TestLookingAsksTheClientSeldom(t *testing.T) {
	w := newWorld(t)
	asked := filepath.Join(w.bin, "asked")
	w.program(filepath.Join(w.bin, "claude"), strings.Replace(client, `*" auth status "*)`, `*" auth status "*) echo x >>"$(dirname "$0")/asked";`, 1))
	times := func() int { return strings.Count(w.read(asked), "x") }
	if v := w.asks(); gate(v, schedule.GateClient) != nil || times() != 0 {
		t.Errorf("asked %d times for no task: %+v", times(), v.Gates)
	}
	if _, err := os.Stat(w.app()); err == nil {
		t.Error("looking created the directory")
	}
	w.put(w.queuePath(), "- [ ] not trusted\n")
	if w.asks(); times() != 0 {
		t.Error("asked for a task that may not run")
	}
	w.add("", "the task")
	if v, err := w.world().View(t.Context(), w.repo); err != nil || gate(v, schedule.GateClient) != nil || times() != 0 {
		t.Errorf("asked %d times, %v: %+v", times(), err, v.Gates)
	}
	looks := w.world()
	looks.Asks = true
	for _, want := range []int{1, 1, 2} {
		if v, err := looks.View(t.Context(), w.repo); err != nil || gate(v, schedule.GateClient) == nil || times() != want {
			t.Errorf("asked %d times, want %d, %v: %+v", times(), want, err, v.Gates)
		}
		w.later(40 * time.Second)
	}
}

// asks is what a person is shown who wants to know whether agents can be run.
func (w *world) asks() View {
	w.Helper()
	looks := w.world()
	looks.Asks = true
	v, err := looks.View(w.Context(), w.repo)
	if err != nil {
		w.Fatal(err)
	}
	return v
}

func gate(v View, name string) *schedule.Gate {
	for i, g := range v.Gates {
		if g.Name == name {
			return &v.Gates[i]
		}
	}
	return nil
}

func TestFailedWorkIsKept(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo half > b.txt; all "FAILED (hard)" half`)
	w.tick()
	w.ended()
	r := w.look()
	if len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "its work is kept in") {
		t.Errorf("%+v", r)
	}
	w.plan(`all "FAILED (hard)" nothing`)
	w.later(6 * time.Hour)
	w.tick()
	w.ended()
	if r := w.look(); len(r.Ended) != 1 || strings.Contains(r.Ended[0], "kept") {
		t.Errorf("%+v", r)
	}
}

func TestAHookRefusesTheCommit(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.program(filepath.Join(w.repo, ".git/hooks/pre-commit"), "#!/bin/sh\necho no such commit >&2\nexit 1\n")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; all DONE written`)
	w.tick()
	w.ended()
	r := w.look()
	if len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "no such commit") || w.known("write b").Held == "" {
		t.Errorf("%+v", r)
	}
}

func TestAutoIgnore(t *testing.T) {
	w := newWorld(t)
	w.set("LATER_AUTO_GITIGNORE=true")
	w.add("", "the task")
	w.plan(`all DONE fine`)
	w.put(filepath.Join(w.repo, ".git", "info", "exclude"), "*.log")
	for range 2 {
		w.look()
	}
	if got := w.read(filepath.Join(w.repo, ".git", "info", "exclude")); got != "*.log\n/.claude/LATER.md\n" {
		t.Errorf("exclude %q", got)
	}
	if s := w.git("status", "--porcelain"); s != "" {
		t.Errorf("status %q", s)
	}
}
