package later

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

// From here on the status line colors how much of the window is used, in percent.
const (
	windowNear = 80
	windowOver = 95
)

// segment shows how much of the usage window is spent and how many tasks wait.
func segment(at plugin.Place, _ occupancy.Occupancy) plugin.Segment {
	app := AppDir(at.Host, at.Env.Getenv)
	if app == "" {
		return plugin.Segment{}
	}
	if _, err := os.Stat(app); err != nil {
		return plugin.Segment{}
	}
	var s plugin.Segment
	now := at.Env.Now()
	if five := usage.ReadLimits(app).Current(now).FiveHour; !five.Seen.IsZero() && five.Used >= 0 {
		s.Label, s.Value = "5h ", fmt.Sprintf("%.0f%%", five.Used)
		if !five.Resets.IsZero() {
			s.Note = "·" + short(five.Resets.Sub(now))
		}
		switch {
		case five.Used >= windowOver || five.Status == usage.Rejected:
			s.Level = plugin.Over
		case five.Used >= windowNear:
			s.Level = plugin.Near
		}
	}
	waiting := ""
	root := Root(at.Project)
	if data, err := QueueOf(root, ReadConfig(app, at.Profile)).Read(); err != nil {
		waiting = "later ?"
	} else if q, err := queue.Parse(data); err != nil {
		waiting = "later ?"
	} else if n := q.Open(); n > 0 {
		waiting = "later " + strconv.Itoa(n)
	}
	switch {
	case waiting == "":
	case s.Value == "":
		s.Label, s.Value = "", waiting
	default:
		s.Note += " | " + waiting
	}
	return s
}

// short returns a time left as 1h10 or 25m.
func short(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	if m < 60 {
		return fmt.Sprintf("%dm", m)
	}
	return fmt.Sprintf("%dh%02d", m/60, m%60)
}

// check adds what is wrong with the settings and the queue, and what waits for the
// person.
func check(at plugin.Place, found *problem.Findings) {
	const check = "later"
	app := AppDir(at.Host, at.Env.Getenv)
	if app == "" {
		found.Note(check, "", "you have no home directory, so nothing can be queued")
		return
	}
	if _, err := os.Stat(app); err != nil {
		found.OK(check, "nothing was ever queued")
		return
	}
	c := ReadConfig(app, at.Profile)
	for _, p := range c.Problems {
		found.Note(check, "correct "+ConfigFile+" in "+app, "%s", p)
	}
	if c.SkipPermissions {
		found.Note(check, "set DISPATCH_SKIP_PERMISSIONS=false in "+ConfigFile, "agents skip permission checks: they may do whatever you may")
	}
	q := QueueOf(Root(at.Project), c)
	data, err := q.Read()
	var tasks queue.Queue
	if err == nil {
		tasks, err = queue.Parse(data)
	}
	if err != nil {
		found.Note(check, "", "the queue %s cannot be used: %v", q.Path, err)
		return
	}
	ledger, err := ReadLedger(app, c.Settings)
	if err != nil {
		found.Note(check, "", "%s cannot be read, so no task may run: %v", LedgerFile, err)
		return
	}
	var unknown, held int
	for _, t := range tasks.Tasks() {
		switch k := ledger.Task(q.Root, t.Text); {
		case !k.May():
			unknown++
		case k.Held != "":
			held++
		}
	}
	if unknown > 0 {
		found.Note(check, "`ccreload later trust` if you wrote them", "%s of the queue were not queued by you here and wait", term.Count(unknown, "task"))
	}
	if held > 0 {
		found.Note(check, "`ccreload later status`", "%s need you", term.Count(held, "task"))
	}
	if unknown+held == 0 {
		found.OK(check, "%s queued", term.Count(tasks.Open(), "task"))
	}
}
