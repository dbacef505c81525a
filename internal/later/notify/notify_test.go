package notify

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil }
	os.Exit(m.Run())
}

// calm is a view of a queue in which one task waits for its time.
func calm(t *testing.T) dispatch.View {
	t.Helper()
	now := time.Date(2026, 12, 1, 14, 0, 0, 0, time.UTC)
	v := dispatch.View{
		Now: now, App: t.TempDir(), Week: 10,
		Window: schedule.Window{Start: now.Add(-3 * time.Hour), End: now.Add(2 * time.Hour)},
		Queues: []dispatch.Queued{{Root: "/repos/shop", Sections: []dispatch.Section{{Tasks: []dispatch.Known{
			{Task: queue.Task{Text: "one"}, Known: later.Known{Source: later.Captured}},
		}}}}},
	}
	v.Config.WarnWindow, v.Config.WarnBudget = time.Hour, 70
	v.Config.Backoff, v.Config.Duration, v.Config.Trigger, v.Config.Mode, v.Config.Enabled = 80, 5*time.Hour, 30*time.Minute, schedule.WindowAware, true
	return v
}

func limited(until time.Time) func(*dispatch.View) {
	return func(v *dispatch.View) { v.Gates = []schedule.Gate{{Reason: schedule.LimitPause, Until: until}} }
}

func atWork(id, section string) func(*dispatch.View) {
	return func(v *dispatch.View) {
		v.Agents = append(v.Agents, dispatch.Agent{Repo: "/repos/shop", Run: &dispatch.Run{ID: id, Section: section}})
	}
}

// Everything is said once, when it comes about, and again when it does so again.
func TestNewsOnce(t *testing.T) {
	t.Parallel()
	reset := time.Date(2026, 12, 1, 15, 5, 0, 0, time.UTC)
	for name, tt := range map[string]struct {
		change func(*dispatch.View)
		says   string // when it comes about
		over   string // when it is over
	}{
		"limit":  {limited(reset), "The usage limit is reached|The queue goes on at 15:05.", "The usage limit is over|The queue goes on."},
		"agent":  {atWork("r1", "Auth"), "", "Ended: Auth of shop|`ccreload later status` says more."},
		"wants":  {func(v *dispatch.View) { v.Wants = []dispatch.Want{{What: "a merge conflicts"}} }, "cc-later needs you|a merge conflicts", ""},
		"many":   {func(v *dispatch.View) { v.Wants = []dispatch.Want{{What: "a"}, {What: "b"}, {What: "b"}} }, "cc-later needs you for 2 things|a …", ""},
		"week":   {func(v *dispatch.View) { v.Week = 71 }, "The week's budget runs out|71 % are used; from 80 % on nothing starts.", ""},
		"window": {func(v *dispatch.View) { v.Window.End = v.Now.Add(time.Hour) }, "The usage window ends in 1h00|1 task left; agents start in its last 30 min, once nobody is at work.", ""},
		"always": {func(v *dispatch.View) { v.Window.End, v.Config.Mode = v.Now.Add(time.Hour), schedule.Always }, "The usage window ends in 1h00|1 task left.", ""},
		"paused": {func(v *dispatch.View) {
			v.Paused, v.Wants = v.Now, []dispatch.Want{{What: "paused since 2026-12-01 14:00"}}
		}, "", ""},
		"nothing left": {func(v *dispatch.View) { v.Window.End, v.Queues = v.Now.Add(time.Hour), nil }, "", ""},
	} {
		v := calm(t)
		_, now := (*Memory)(nil).Next(v)
		said := func(v dispatch.View) string {
			var notes []Note
			notes, now = now.Next(v)
			var lines []string
			for _, n := range notes {
				lines = append(lines, n.Title+"|"+n.Text)
			}
			return strings.Join(lines, "\n")
		}
		w := v
		tt.change(&w)
		for i, step := range []struct {
			view dispatch.View
			want string
		}{{v, ""}, {w, tt.says}, {w, ""}, {v, tt.over}, {v, ""}} {
			if got := said(step.view); got != step.want {
				t.Errorf("%s, step %d: %q, want %q", name, i, got, step.want)
			}
		}
		// What is so from the start is no news.
		if notes, _ := (*Memory)(nil).Next(w); len(notes) > 0 {
			t.Errorf("%s: at first %q", name, notes)
		}
	}
}

// A window that is estimated moves a little with each look; the next one is another.
func TestTheEndOfEachWindowOnce(t *testing.T) {
	t.Parallel()
	v := calm(t)
	_, now := (*Memory)(nil).Next(v)
	n := 0
	for _, left := range []time.Duration{50, 45, 55, 30, 1} {
		v.Window.End = v.Now.Add(left * time.Minute)
		var notes []Note
		notes, now = now.Next(v)
		n += len(notes)
	}
	if n != 1 {
		t.Errorf("said %d times", n)
	}
	v.Now = v.Now.Add(5 * time.Hour)
	v.Window.End = v.Now.Add(20 * time.Minute)
	if notes, _ := now.Next(v); len(notes) != 1 {
		t.Errorf("the next window: %q", notes)
	}
}

// Of several processes one says it, and a file that is no longer one says nothing.
func TestNewsOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	v := calm(t)
	atWork("r1", "Auth")(&v)
	look := func() int {
		t.Helper()
		notes, err := News(v)
		if err != nil {
			t.Fatal(err)
		}
		return len(notes)
	}
	if look() != 0 {
		t.Error("the first look has news")
	}
	entries := []later.Entry{
		{Event: later.Captured, Repo: "/repos/shop", Text: "one"},
		{Event: later.Began, Repo: "/repos/shop", Text: "one", Agent: "r1"},
		{Event: later.Finished, Repo: "/repos/shop", Text: "one", Agent: "r1", Verdict: schedule.Done},
		{Event: later.Captured, Repo: "/repos/shop", Text: "two"},
		{Event: later.Began, Repo: "/repos/shop", Text: "two", Agent: "r1"},
		{Event: later.Finished, Repo: "/repos/shop", Text: "two", Agent: "r1", Verdict: schedule.Failed},
	}
	if err := later.Append(v.App, entries...); err != nil {
		t.Fatal(err)
	}
	v.Agents = nil
	notes, err := News(v)
	if err != nil || len(notes) != 1 || notes[0] != (Note{"Ended: Auth of shop", "Tasks: 1 done, 1 not done."}) {
		t.Errorf("%q, %v", notes, err)
	}
	if look() != 0 {
		t.Error("it is said twice")
	}
	os.WriteFile(filepath.Join(v.App, FileName), []byte(`{"agents":{"r9"`), 0o600)
	for range 2 {
		if look() != 0 {
			t.Error("a torn file has news")
		}
	}
}

// nasty has what a shell, a script or markup would take for something else.
var nasty = Note{"-t \"$(touch /tmp/x)\" 'a' `b`", "<b>&amp; %PATH% \\\" end tell\n\x1b]0;x\x07\u202e $env:HOME" + strings.Repeat("x", 500)}

// A desktop program gets the texts as they are, and nothing else sees them.
func TestDesktop(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-ins are shell scripts")
	}
	clean := nasty.clean()
	for system, tt := range map[string]struct{ program, want string }{
		"linux":   {"notify-send", "--app-name=cc-later\x00--\x00" + clean.Title + "\x00" + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(clean.Text) + "\x00"},
		"darwin":  {"osascript", strings.Join(appleScript[:], "\x00") + "\x00" + clean.Title + "\x00" + clean.Text + "\x00"},
		"windows": {"powershell.exe", "-NoProfile\x00-NonInteractive\x00-ExecutionPolicy\x00Bypass\x00-Command\x00" + toast + "\x00" + clean.Title + "\x00" + clean.Text + "\x00"},
	} {
		dir := t.TempDir()
		script := "#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done >\"$OUT\"\n[ -z \"$CCRELOAD_NOTE_TITLE\" ] || printf '%s\\0' \"$CCRELOAD_NOTE_TITLE\" \"$CCRELOAD_NOTE_TEXT\" >>\"$OUT\"\n"
		if err := proc.WriteProgram(filepath.Join(dir, tt.program), script); err != nil {
			t.Fatal(err)
		}
		d := Desktop{OS: system, LookPath: in(dir), Environ: append(os.Environ(), "OUT="+filepath.Join(dir, "out"))}
		if err := d.Show(t.Context(), nasty); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot  %q\nwant %q", system, err, got, tt.want)
		}
		if err := (Desktop{OS: system, LookPath: in(t.TempDir())}).Show(t.Context(), nasty); err != nil {
			t.Errorf("%s without the program: %v", system, err)
		}
	}
	if strings.ContainsAny(clean.Title+clean.Text, "\n\x1b\x07\u202e") || len([]rune(clean.Text)) > maxText {
		t.Errorf("it is %q", clean)
	}
}

func in(dir string) func(string) (string, error) {
	return func(name string) (string, error) { return exec.LookPath(filepath.Join(dir, name)) }
}

// A desktop that does not answer is not waited for.
func TestHangingDesktop(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in is a shell script")
	}
	dir := t.TempDir()
	proc.WriteProgram(filepath.Join(dir, "notify-send"), "#!/bin/sh\nexec sleep 1000\n")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := (Desktop{OS: "linux", LookPath: in(dir), Environ: os.Environ()}).Show(ctx, nasty); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	Terminal(&out, Note{"a\x07", "b\x1b\\c\n"})
	if got := out.String(); got != "\x1b]9;a␇: b␛\\c\x07\x07" {
		t.Errorf("%q", got)
	}
}
