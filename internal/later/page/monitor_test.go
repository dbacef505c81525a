package page

import (
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/term"
)

// busy is a view with something in every part of it.
func busy() dispatch.View {
	now := time.Date(2026, 12, 1, 14, 32, 0, 0, time.UTC)
	known := func(text string, k later.Known, running bool) dispatch.Known {
		return dispatch.Known{Task: queue.Task{ID: "t_0123456789", Text: text, Priority: queue.P1}, Known: k, Running: running}
	}
	mine := later.Known{Source: later.Captured}
	held := later.Known{Source: later.Captured, State: schedule.State{Held: schedule.HeldAsked}}
	v := dispatch.View{
		Now: now, Used: 42, Week: 75, WeekSource: "host",
		Window: schedule.Window{Start: now.Add(-4 * time.Hour), End: now.Add(time.Hour), Source: schedule.Server},
		Reason: schedule.ModeClosed,
		Queues: []dispatch.Queued{{Root: "/repos/shop", Done: make([]dispatch.Known, 2), Sections: []dispatch.Section{{Name: "Auth", Tasks: []dispatch.Known{
			known("one", mine, true), known("two", mine, false), known("three", held, false), known("four", later.Known{}, false),
		}}}}},
		Agents: []dispatch.Agent{{Repo: "/repos/shop", Run: &dispatch.Run{ID: "r1", Section: "Auth", DispatchTS: now.Add(-12 * time.Minute)}, Tail: "I look\nat \x1b[2Jthe 漢字 retry path, which is long enough to be cut somewhere"}},
		Wants:  []dispatch.Want{{What: `"three": the agent asks for you`, Command: "ccreload later retry t_0123456789"}},
	}
	v.Config.Backoff = 80
	return v
}

func TestMonitorSays(t *testing.T) {
	t.Parallel()
	got := strings.Join(Monitor(busy(), 100, 30, false), "\n")
	want := `cc-later, 14:32:00
Window  [#########.............]  42 % used, 1h00 left, until 15:32 (the host says so)
Week    [################......]  75 % used of the budget, nothing starts from 80 % on (the host s…

Waits for you
  "three": the agent asks for you: ccreload later retry t_0123456789

Agents
  Auth, shop, 12 min: I look at ␛[2Jthe 漢字 retry path, which is long enough to be cut somewhere

Queues
  shop: 1 running, 1 waiting, 1 for you, 1 waiting for trust, 2 done

Nothing starts now: it is not time yet.`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever the size of the terminal, nothing is wider or longer, and nothing but
// colors is obeyed by it.
func TestMonitorFits(t *testing.T) {
	t.Parallel()
	v := busy()
	for range 40 {
		v.Agents = append(v.Agents, v.Agents[0])
		v.Wants = append(v.Wants, v.Wants[0])
		v.Queues = append(v.Queues, v.Queues[0])
	}
	for columns := 2; columns < 150; columns += 7 {
		for _, rows := range []int{1, 5, 24, 60} {
			lines := Monitor(v, columns, rows, false)
			if len(lines) > rows {
				t.Errorf("%d lines in %d rows", len(lines), rows)
			}
			for _, l := range lines {
				if term.Width(l) >= columns || l != term.Visible(l) {
					t.Errorf("%d columns: %q", columns, l)
				}
			}
			plain := strings.Join(Monitor(v, columns, rows, true), "\n")
			for _, c := range []term.Color{term.Bold, term.Dim, term.Red, term.Green, term.Yellow} {
				plain = strings.ReplaceAll(plain, "\x1b["+string(c)+"m", "")
			}
			if plain = strings.ReplaceAll(plain, term.Reset, ""); plain != strings.Join(lines, "\n") {
				t.Errorf("with colors it is another text:\n%q", plain)
			}
		}
	}
}

// What only passes is no change; what happens is.
func TestGist(t *testing.T) {
	t.Parallel()
	was := Gist(busy())
	for name, tt := range map[string]struct {
		change func(*dispatch.View)
		same   bool
	}{
		"time":     {func(v *dispatch.View) { v.Now = v.Now.Add(time.Minute) }, true},
		"shares":   {func(v *dispatch.View) { v.Used, v.Week = 43, 76 }, true},
		"output":   {func(v *dispatch.View) { v.Agents[0].Tail = "on" }, true},
		"agent":    {func(v *dispatch.View) { v.Agents = nil }, false},
		"queue":    {func(v *dispatch.View) { v.Queues[0].Done = append(v.Queues[0].Done, dispatch.Known{}) }, false},
		"wants":    {func(v *dispatch.View) { v.Wants = nil }, false},
		"reason":   {func(v *dispatch.View) { v.Reason = "" }, false},
		"estimate": {func(v *dispatch.View) { v.Window.Source = schedule.Estimate }, false},
	} {
		v := busy()
		tt.change(&v)
		if got := Gist(v) == was; got != tt.same {
			t.Errorf("%s: the same: %v", name, got)
		}
	}
}

func TestGaugeOfTheWindow(t *testing.T) {
	t.Parallel()
	v := busy()
	v.Used = -1
	if got, _ := windowGauge(v); got != 80 {
		t.Errorf("four of five hours are %.0f %%", got)
	}
	v.Window.End = v.Now
	if got, says := windowGauge(v); got != -1 || !strings.HasPrefix(says, "none is open") {
		t.Errorf("a window that is over: %.0f, %q", got, says)
	}
}
