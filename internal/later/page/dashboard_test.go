package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

var (
	// Update rewrites what is written from these packages.
	Update = flag.Bool("update", false, "rewrite the screen in the README and the sums in dashboard_page.go")
	pages  = flag.String("pages", "", "write the page in each of its states to this directory, for tools/dashboard")
)

// at is when the views below were looked at.
var at = time.Date(2026, 12, 2, 20, 47, 0, 0, time.UTC)

func task(state string, p queue.Priority, text string) dispatch.Known {
	t := dispatch.Known{Task: queue.Task{ID: "t_0123456789", Text: text, Priority: p}, Known: later.Known{Source: later.Captured}}
	switch state {
	case "runs":
		t.Running = true
	case "you":
		t.Held, t.Attempts, t.Note, t.Verdict = schedule.HeldAsked, 1, "which of the two names is to stay?", schedule.NeedsHuman
	case "trust?":
		t.Source = ""
	case "limit":
		t.Resume = true
	case "failed":
		t.Attempts, t.Note, t.Verdict = 1, "TestExpiry fails on a slow machine", schedule.Failed
	}
	return t
}

// full is a view as it may be on an evening of work.
func full() dispatch.View {
	branch := "cc-later/Auth-20261202-203012"
	ago := func(d time.Duration) time.Time { return at.Add(-d) }
	event := func(d time.Duration, name, text string, repo string) dispatch.LogEvent {
		return dispatch.LogEvent{Time: ago(d), Event: name, Text: text, More: map[string]any{"repo": repo}}
	}
	finished := make([]dispatch.Known, 7) // most of them by the person
	for i, text := range []string{"delete the feature flag old_cart", "list what still imports the v1 client"} {
		finished[i] = task("", queue.P1, text)
		finished[i].Verdict, finished[i].Ended = schedule.Done, ago(time.Duration(22+i)*time.Hour)
		finished[i].Note = []string{"commit 3f1c2a9, 4 files", "6 places, all below cmd/sync"}[i]
		finished[i].Report = "/home/ann/.cc-later/reports/20261201-220312-shop-Auth-5d0c11f2.md"
	}
	v := dispatch.View{
		Now: at, App: "/home/ann/.cc-later", Used: 71, Week: 38, WeekSource: "host", WeekResets: at.Add(61 * time.Hour),
		Window: schedule.Window{Start: at.Add(-287 * time.Minute), End: at.Add(13 * time.Minute), Source: schedule.Server},
		Reason: schedule.AgentsBusy,
		Burn: []int64{
			0, 21_000, 64_000, 88_000, 12_000, 0, 0, 41_000, 97_000, 122_000, 71_000, 33_000, 0, 0, 0, 18_000, 52_000, 84_000, 61_000, 15_000,
		},
		Gates: []schedule.Gate{
			{Name: "dispatch enabled", Open: true},
			{Name: "not paused", Open: true},
			{Name: "no limit", Open: true},
			{Name: "idle", Open: true},
			{Name: "weekly budget", Open: true},
			{Name: "window", Open: true},
			{Name: "resume", Reason: schedule.ModeClosed},
			{Name: "free agents", Reason: schedule.AgentsBusy},
		},
		Queues: []dispatch.Queued{
			{Root: "/home/ann/src/shop", Done: finished, Sections: []dispatch.Section{
				{Name: "Auth", Tasks: []dispatch.Known{
					task("runs", queue.P0, "close the debug port that the old health check still listens on"),
					task("runs", queue.P1, "refresh the token before it expires, with a test for a clock that is behind"),
					task("failed", queue.P1, "make TestExpiry independent of the wall clock"),
				}},
				{Name: "Docs", Tasks: []dispatch.Known{
					task("you", queue.P1, "rename the flag --out"),
					task("waits", queue.P2, "say in the README which versions of Node are supported"),
				}},
			}},
			{Root: "/home/ann/src/billing", Done: make([]dispatch.Known, 2), Sections: []dispatch.Section{
				{Tasks: []dispatch.Known{
					task("limit", queue.P1, "find out why the nightly import reads every invoice twice"),
					task("trust?", queue.P1, "upgrade the pinned linter"),
				}},
			}},
		},
		Agents: []dispatch.Agent{
			{Repo: "/home/ann/src/shop", Tail: "The old health check binds 0.0.0.0:9229 in cmd/shop/debug.go, and nothing has called it since the probes moved to /livez.\n\nI remove the listener and its flag, keep /livez as it is, and add a test that the port is closed.", Run: &dispatch.Run{
				ID: "r1", Section: "Auth", Model: "sonnet", Writes: true, Branch: &branch, DispatchTS: ago(17 * time.Minute),
				Entries: []dispatch.Task{{Text: "close the debug port that the old health check still listens on"}, {Text: "refresh the token before it expires, with a test for a clock that is behind"}},
			}},
			{Repo: "/home/ann/src/billing", Tail: "Grep invoice_cursor", Run: &dispatch.Run{
				ID: "r2", Resume: true, Model: "sonnet", DispatchTS: ago(4 * time.Minute),
				Entries: []dispatch.Task{{Text: "find out why the nightly import reads every invoice twice"}},
			}},
		},
		Wants: []dispatch.Want{
			{What: `"rename the flag --out": the agent asks for you (which of the two names is to stay?)`, Command: "ccreload later retry t_4696bc9960"},
			{What: "billing: 1 task waiting for trust, since nothing shows that you queued it", Command: "ccreload later trust --repo /home/ann/src/billing"},
			{What: "work that is not merged is kept in /home/ann/.cc-later/worktrees/shop-Docs-20261201-221500", Command: "git -C /home/ann/src/shop merge cc-later/Docs-20261201-221500"},
		},
		Events: []dispatch.LogEvent{
			event(4*time.Minute, "dispatch", "default started with 1 task", "/home/ann/src/billing"),
			event(17*time.Minute, "dispatch", "Auth started with 2 tasks", "/home/ann/src/shop"),
			event(3*time.Hour, "skip", "nothing started: it is not time yet", ""),
			event(22*time.Hour, "merge", "Auth merged into main", "/home/ann/src/shop"),
			event(22*time.Hour+10*time.Minute, "merge_conflict", "Docs conflicts; its worktree is kept", "/home/ann/src/shop"),
			event(23*time.Hour, "nudge_stale", "Docs was stuck and is stopped", "/home/ann/src/shop"),
			event(46*time.Hour, "merge", "Import merged into develop", "/home/ann/src/billing"),
			event(47*time.Hour, "window_reset_detected", "the limit is over", ""),
		},
		Models: []dispatch.Share{
			{Model: "claude-opus-4-8", Cost: 41.27, Tokens: 61_400_000},
			{Model: "claude-sonnet-5", Cost: 18.02, Tokens: 48_900_000},
			{Model: "claude-haiku-4-5", Cost: 1.13, Tokens: 4_210_000},
			{Model: "house-model", Unpriced: 12, Tokens: 310_000},
		},
	}
	for i, cost := range []float64{4.1, 9.32, 7.75, 0, 0, 12.4, 10.9, 13.62, 6.2, 8.81, 0.6, 0, 14.35, 9.02} {
		if cost > 0 {
			v.Days = append(v.Days, dispatch.Day{Day: at.AddDate(0, 0, i-13).Format(time.DateOnly), Cost: cost})
		}
	}
	v.Config.Backoff, v.Config.Trigger = 80, 30*time.Minute
	return v
}

// hostile is a view of what somebody wants to do harm with, everywhere a text stands.
func hostile() dispatch.View {
	evil := "</style></script></title><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">{{.}}\x1b[2J\u202egnp.exe\x00 \xff javascript:alert(1)"
	long := strings.Repeat("x", 10_000) + "THE-END"
	v := full()
	v.App = "/home/" + evil
	v.Reason, v.Used, v.Week = evil, 1e9, -3
	v.Window.Source = schedule.Source(evil)
	branch := evil + long
	for i := range v.Gates {
		v.Gates[i].Name, v.Gates[i].Reason, v.Gates[i].Open = evil, evil+long, false
	}
	for _, text := range []string{evil, long, evil + long, strings.Repeat("漢字", 3000), strings.Repeat("word ", 2000), "مرحبا " + evil} {
		for _, state := range []string{"runs", "you", "trust?", "limit", "failed"} {
			t := task(state, queue.P0, text)
			t.Note, t.ID, t.Report, t.Ended = text, "t_\"><b>", text, at
			v.Queues[0].Done = append(v.Queues[0].Done, t)
			v.Queues[0].Sections[0].Tasks = append(v.Queues[0].Sections[0].Tasks, t)
		}
		v.Agents = append(v.Agents, dispatch.Agent{Repo: "/" + text, Tail: text, Run: &dispatch.Run{ID: evil, Section: text, Model: text, Branch: &branch, Waits: text, Entries: []dispatch.Task{{Text: text}, {Text: text}}}})
		v.Wants = append(v.Wants, dispatch.Want{What: text, Command: "ccreload later retry " + first(text, 4000)}, dispatch.Want{What: text, Command: "ccreload later retry " + first(text, 4000)})
		for name := range failures {
			v.Events = append(v.Events, dispatch.LogEvent{Time: at, Event: name, Text: text, More: map[string]any{"repo": text}})
		}
		v.Events = append(v.Events, dispatch.LogEvent{Event: "merge", Text: text, More: map[string]any{"repo": 7}})
		v.Models = append(v.Models, dispatch.Share{Model: text, Cost: 3e7, Unpriced: 1, Tokens: 1 << 60}, dispatch.Share{Model: text, Unpriced: 1})
		v.Queues = append(v.Queues, dispatch.Queued{Root: "/" + text, Blocked: text, Sections: []dispatch.Section{{Name: text, Tasks: []dispatch.Known{task("waits", queue.P2, text)}}}})
	}
	for range 500 {
		v.Queues[1].Sections[0].Tasks = append(v.Queues[1].Sections[0].Tasks, task("waits", queue.P1, "one of many"))
	}
	v.Queues = append(v.Queues, dispatch.Queued{Root: evil, Err: errors.New(evil + long)})
	v.Days = append(v.Days, dispatch.Day{Day: evil, Cost: 1e12}, dispatch.Day{Day: at.Format(time.DateOnly), Cost: 1e9, Unpriced: 3})
	return v
}

// states are the views that a page is looked at in.
func states() map[string]dispatch.View {
	estimate := full()
	estimate.Used, estimate.WeekSource, estimate.Window.Source = -1, "logs", schedule.Estimate
	estimate.Wants, estimate.Agents, estimate.Week, estimate.Reason = nil, nil, 83, schedule.Budget
	return map[string]dispatch.View{"empty": {Now: at, App: "/home/ann/.cc-later", Used: -1, WeekSource: "logs"}, "full": full(), "estimate": estimate, "hostile": hostile()}
}

// The policy in the page's head lets its own style and script take effect, and
// nothing else.
func TestPolicyOfTheDashboard(t *testing.T) {
	t.Parallel()
	const path = "dashboard_page.go"
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := string(source)
	page := Dashboard(hostile())
	for _, name := range []string{"script", "style"} {
		_, text, _ := strings.Cut(page, "<"+name+">")
		text, _, _ = strings.Cut(text, "</"+name+">")
		sum := sha256.Sum256([]byte(text))
		want := base64.StdEncoding.EncodeToString(sum[:])
		if !strings.Contains(page, name+"-src 'sha256-"+want+"'") {
			t.Logf("the sum of the %s is %s", name, want)
		}
		fresh = regexp.MustCompile(`(\t`+name+`Sum +)= ".*"`).ReplaceAllString(fresh, "${1}= \""+want+"\"")
	}
	if fresh == string(source) {
		return
	}
	if !*Update {
		t.Fatal("the sums in " + path + " are not those of style and script: go test ./internal/later/page -update")
	}
	if err := os.WriteFile(path, []byte(fresh), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tags are the elements of a page, as written, and what is between them.
var tags = regexp.MustCompile(`<[^>]*>`)

// What somebody wrote is text, whatever it holds: a page has the same elements with
// it as with something harmless of the same length.
func TestDashboardEscapes(t *testing.T) {
	t.Parallel()
	page := Dashboard(hostile())
	for _, bad := range []string{"<img", "<b>", "\x1b", "\u202e", "\x00", "<script>document"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(page, "<script"); n != 1 {
		t.Errorf("%d scripts", n)
	}
	for _, tag := range tags.FindAllString(page, -1) {
		if strings.Contains(tag, "javascript:") || regexp.MustCompile(`\s(src|href|on[a-z]+|style)=`).MatchString(tag) && tag != `<a class="skip" href="#main">` {
			t.Errorf("the page has %.200q", tag)
		}
	}
	// The beginning is shown, and all of it can be.
	if !strings.Contains(page, html.EscapeString(strings.Repeat("x", 10_000))) {
		t.Error("a text of 10,000 characters is not in the page as a whole")
	}
	// Of an agent's output the end is shown.
	if strings.Contains(regexp.MustCompile(`(?s)<pre.*?</pre>`).ReplaceAllString(page, ""), "THE-END") {
		t.Error("a text is longer than 10,000 characters in the page")
	}
	if size := len(page); size > 4<<20 {
		t.Errorf("the page has %d bytes", size)
	}
}

// What keeps its place while the page is loaded anew has a name of its own, and the
// same one the next time.
func TestDashboardNamesThings(t *testing.T) {
	t.Parallel()
	for name, v := range states() {
		page := Dashboard(v)
		seen := map[string]bool{}
		for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if seen[m[1]] {
				t.Errorf("%s: two elements are called %s", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range regexp.MustCompile(` (?:aria-labelledby|aria-describedby|data-copy)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			for id := range strings.FieldsSeq(m[1]) {
				if !seen[id] {
					t.Errorf("%s: nothing is called %s", name, id)
				}
			}
		}
		for _, tag := range regexp.MustCompile(`<(details|button)[^>]*>`).FindAllString(page, -1) {
			if !strings.Contains(tag, " id=") {
				t.Errorf("%s: %s has no name", name, tag)
			}
		}
		if page != Dashboard(v) {
			t.Errorf("%s: twice is not the same", name)
		}
	}
}

// What people read of a page: texts between its elements, on one line each.
func read(page string) string {
	_, body, _ := strings.Cut(page, "<body>")
	body, _, _ = strings.Cut(body, "<script>")
	text := html.UnescapeString(tags.ReplaceAllString(body, "\n"))
	return regexp.MustCompile(`\s*\n\s*`).ReplaceAllString(text, "\n")
}

func TestDashboardSays(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"empty": {
			"Nothing is queued", "No window is open. The next one begins with the next request.", "No agent is at work.", "Nothing was merged lately.",
			"Nothing went wrong lately.", "The logs hold nothing of the last 14 days.", "The logs hold nothing of the last 7 days.", "Nothing happened so far.",
		},
		"full": {
			"3 things wait for you · 2 agents at work · 7 open tasks", "29 %", "71 % used; 13 min until the reset at 21:00", "(Claude Code says so)", "tasks may start",
			"ccreload later retry t_4696bc9960", "38 %", "Nothing starts now: as many agents as may run are at work.", "The week's budget has room",
			"branch cc-later/Auth-20261202-203012", "What the limit ended", "5 open, 7 done", "needs your trust", "after the reset", "urgent", "Tried once: TestExpiry fails on a slow machine",
			"billing: 1 task waiting for trust, since nothing shows that you queued it", "Work that is not merged is kept in",
			"delete the feature flag old_cart", "Commit 3f1c2a9, 4 files", "/home/ann/.cc-later/reports/20261201-220312-shop-Auth-5d0c11f2.md",
			"Auth merged into main", "Docs conflicts; its worktree is kept", "$97.07", "Wed 2 Dec", "$41.27", "no price", "61M",
			"What is left of this window, from 16:00 to 21:00: 29 % left now.", "Cost of the last 14 days: $97.07 in all. The most on one day: $14.35, Tue 1 Dec.",
		},
		"estimate": {
			"13 min", "until 21:00", "(an estimate from the logs, 10 minutes more or less)", "779k tokens", "Tokens used in this window", "83 %", "(by the logs of this machine",
			"Nothing starts now: the weekly budget is used.",
		},
		"hostile": {"and 402 more:", "… and 7 characters more", "8 others", "≥ $30,000,000"},
	} {
		page := read(Dashboard(states()[name]))
		for _, w := range want {
			if !strings.Contains(page, w) {
				t.Errorf("%s: nothing says %q", name, w)
			}
		}
		if m := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-|dispatch|%!|NaN|<nil>`).FindString(page); m != "" && name != "hostile" {
			t.Errorf("%s: people read %q", name, m)
		}
	}
}

// Every gate of the schedule has words of its own in the page.
func TestGatesHaveWords(t *testing.T) {
	t.Parallel()
	d := schedule.Decide(schedule.Settings{}, schedule.Facts{Now: at, Asked: true})
	for _, g := range d.Gates {
		if gateSays[g.Name] == "" {
			t.Errorf("%q has none", g.Name)
		}
	}
	if len(d.Gates) != len(gateSays) {
		t.Errorf("%d gates, words for %d", len(d.Gates), len(gateSays))
	}
}

// The page is the user's own, replaces a link, and leaves what that leads to alone.
func TestWriteDashboard(t *testing.T) {
	t.Parallel()
	v := full()
	v.App = t.TempDir()
	path := filepath.Join(v.App, DashboardFile)
	if HasDashboard(v.App) {
		t.Error("it is there before anybody asked for it")
	}
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("theirs"), 0o644); err != nil {
		t.Fatal(err)
	}
	linked := os.Symlink(other, path) == nil // Windows may not allow it
	if HasDashboard(v.App) {
		t.Error("a link out of the directory is taken for the page")
	}
	got, err := WriteDashboard(v)
	if err != nil || got != path || !HasDashboard(v.App) {
		t.Fatalf("%q, %v", got, err)
	}
	if data, err := os.ReadFile(other); linked && (err != nil || string(data) != "theirs") {
		t.Errorf("what the link led to: %q, %v", data, err)
	}
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	data, err := os.ReadFile(path)
	if want := Dashboard(v); err != nil || string(data) != want {
		t.Errorf("the file has %d bytes, the page %d: %v", len(data), len(want), err)
	}
	// A directory in its place stays.
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteDashboard(v); err == nil {
		t.Error("a directory was replaced")
	}
}

// tools/dashboard looks at the pages in a browser.
func TestWritePages(t *testing.T) {
	if *pages == "" {
		t.Skip("no -pages")
	}
	for name, v := range states() {
		if err := os.WriteFile(filepath.Join(*pages, name+".html"), []byte(Dashboard(v)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// The bars and lines of the charts are inside them, whatever the numbers.
func TestChartsFit(t *testing.T) {
	t.Parallel()
	for name, v := range states() {
		page := Dashboard(v)
		for _, m := range regexp.MustCompile(`(?:\s(?:x|x1|x2|cx|width))="([-0-9.]+)%"`).FindAllStringSubmatch(page, -1) {
			var x float64
			if _, err := fmt.Sscan(m[1], &x); err != nil || x < 0 || x > 100 {
				t.Errorf("%s: %s", name, m[0])
			}
		}
		if strings.Contains(page, "Inf") || bytes.Contains([]byte(page), []byte("NaN")) {
			t.Errorf("%s: a number that is none", name)
		}
	}
}

func TestShortNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1k", 1499: "1.5k", 15_500: "16k", 999_499: "999k", 999_500: "1M", 61_400_000: "61M", 1_200_000_000: "1.2G"} {
		if got := Tokens(n); got != want {
			t.Errorf("%d tokens: %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]int64{0: 1, 1: 1, 3: 5, 7: 10, 11: 20, 21: 25, 26: 50, 779_000: 1_000_000, 1435: 2000} {
		if got := nice(n); got != want {
			t.Errorf("above %d: %d, want %d", n, got, want)
		}
	}
	for x, want := range map[float64]string{0: "$0", 0.001: "< $0.01", 0.014: "$0.01", 9.5: "$9.50", 1234.5: "$1,235"} {
		if got := dollars(x); got != want {
			t.Errorf("%v dollars: %s, want %s", x, got, want)
		}
	}
}
