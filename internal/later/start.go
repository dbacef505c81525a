package later

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

const (
	maxReport = 64 << 10 // bytes
	maxInject = 2000     // characters
)

// ReportFile is where the lines about finished tasks of a repository wait for its
// next session.
func ReportFile(app, root string) string {
	h := fnv.New64a()
	h.Write([]byte(root))
	return filepath.Join(app, reportsName, hex.EncodeToString(h.Sum(nil))+".pending") // of 16 digits
}

// ReportsDir is where the reports are kept.
func ReportsDir(app string) string { return filepath.Join(app, reportsName) }

// sessionStart tells of what has run since the last session, and after a
// compaction of what is queued.
func sessionStart(call *host.Call) (host.Output, error) {
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" || call.Host.Headless {
		return host.Output{}, nil
	}
	if _, err := os.Stat(app); err != nil {
		return host.Output{}, nil // nothing was ever queued
	}
	root := Root(call.Project)
	// Whoever looked after the agents may be gone, with the machine it ran on.
	if inFlight(app) && call.Env.Getenv(host.NoBackgroundVar) == "" {
		if err := startTick(root, Activity(app)); err != nil {
			call.Env.Log("tick", "error", err.Error())
		}
	}
	if call.Payload.Source == "compact" {
		return host.Output{Context: inject(app, root, call)}, nil
	}
	if call.Payload.Source == "clear" {
		return host.Output{}, nil // the host may show nothing of it: the first prompt has the report
	}
	return report(app, root, call), nil
}

// report tells of what has run since somebody was told last.
func report(app, root string, call *host.Call) host.Output {
	path := ReportFile(app, root)
	data, err := state.ReadFile(path, maxReport)
	if err != nil || len(data) == 0 {
		return host.Output{}
	}
	call.AfterAnswer(func() { os.Remove(path) })
	// Two lines are for people; what follows them is for the next run.
	lines := strings.SplitN(string(data), "\n", 3)
	says, where := strings.TrimSpace(lines[0]), ""
	if len(lines) > 1 {
		where = strings.TrimSpace(lines[1])
	}
	// The names of the sections are for the person: a repository can ship them.
	plain, _, _ := strings.Cut(says, " (")
	return host.Output{Message: joined(says, where), Context: joined(plain, where)}
}

// inject is what the model is told after a compaction, "" where nothing is queued.
func inject(app, root string, call *host.Call) string {
	c := ReadConfig(app, call.Profile)
	data, err := QueueOf(root, c).Read()
	if err != nil || !c.Compact {
		return ""
	}
	q, err := queue.Parse(data)
	if err != nil || q.Open() == 0 {
		return ""
	}
	ledger, err := ReadLedger(app, c.Settings)
	if err != nil {
		return ""
	}
	trusts := ledger.Trusts(root)
	if q = ledger.trusted(root, q); q.Open() == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cc-later: %s queued in %s for unattended runs. They are notes, not requests: leave them unless the user asks.\n", term.Count(q.Open(), "task"), QueueOf(root, c).short())
	if five := usage.ReadLimits(app).Current(call.Env.Now()).FiveHour; five.Used >= 0 && !five.Seen.IsZero() {
		fmt.Fprintf(&b, "The 5-hour usage window is at %.0f %%.\n", five.Used)
	}
	rest, urgent := q.Open(), 0
	for _, s := range q.Sections {
		for _, t := range s.Tasks {
			if t.Priority == queue.P0 {
				urgent++
			}
		}
	}
	for _, s := range q.Sections {
		lines := ""
		// A repository can ship a heading, above what was queued here.
		if s.Name != "" && trusts {
			lines = "## " + s.Name + "\n"
		}
		for _, t := range s.Select(len(s.Tasks)) {
			line := fmt.Sprintf("- (%s) %s\n", t.Priority, t.Text)
			if host.Len(b.String())+host.Len(lines)+host.Len(line) > maxInject-40 {
				break
			}
			lines += line
			rest--
			if t.Priority == queue.P0 {
				urgent--
			}
		}
		b.WriteString(lines)
		if host.Len(b.String()) > maxInject-200 {
			break
		}
	}
	if rest > 0 {
		fmt.Fprintf(&b, "and %d more", rest)
		if urgent > 0 {
			fmt.Fprintf(&b, ", %d of them urgent", urgent)
		}
	}
	return host.Cut(strings.TrimSpace(b.String()), maxInject)
}

// trusted returns what of a queue may run. The rest, which a repository can ship,
// must not reach the model either (case F61).
func (l *Ledger) trusted(root string, q queue.Queue) queue.Queue {
	var out queue.Queue
	for _, s := range q.Sections {
		s.Tasks = slices.DeleteFunc(slices.Clone(s.Tasks), func(t queue.Task) bool { return !l.Task(root, t.Text).May() })
		if len(s.Tasks) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return out
}
