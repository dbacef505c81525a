// Package notify tells people what happened while they looked elsewhere: on the
// desktop, or by the terminal of the monitor. Each thing is said once; what was
// said stands in a small file, since several processes look. Nothing here decides
// what runs.
package notify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/later/page"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// Note is what is said at once.
type Note struct{ Title, Text string }

// Memory is what was so when people were last told.
type Memory struct {
	Agents map[string]string `json:"agents"` // at work: id, and what people call it
	Wants  []string          `json:"wants"`
	Limit  bool              `json:"limit"`  // one was met
	Week   bool              `json:"week"`   // so much of the week's budget is used
	Window time.Time         `json:"window"` // the end of the window whose end was announced
}

// FileName is the file with what was said, in the application's directory.
const FileName = "notified.json"

const (
	lockWait  = 200 * time.Millisecond
	maxMemory = 1 << 20 // bytes
)

// News returns what is new in a view since people were last told, and remembers it,
// for whichever process asks first. The first time of all nothing is: what is so
// already is no news.
func News(v dispatch.View) ([]Note, error) {
	locks := filepath.Join(v.App, "locks")
	if err := os.MkdirAll(locks, 0o700); err != nil {
		return nil, err
	}
	var notes []Note
	err := state.NewDir(locks).Sub("notify").WithLock(lockWait, func(*state.Tx) error {
		path := filepath.Join(v.App, FileName)
		var m *Memory
		if data, err := state.ReadFile(path, maxMemory); err == nil {
			m = new(Memory)
			if json.Unmarshal(data, m) != nil {
				m = nil // torn by another program: as if nothing was ever said
			}
		}
		var next Memory
		notes, next = m.Next(v)
		data, err := json.Marshal(next)
		if err != nil {
			return err
		}
		return state.WriteFile(path, append(data, '\n'), 0o600)
	})
	return notes, err
}

// Next returns what is new in a view, and what is so now. For nil nothing is new.
func (m *Memory) Next(v dispatch.View) ([]Note, Memory) {
	next := Memory{Agents: map[string]string{}, Wants: wants(v), Limit: limit(v) != nil, Week: v.Config.WarnBudget > 0 && v.Week >= float64(v.Config.WarnBudget)}
	for _, a := range v.Agents {
		if a.ID != "" {
			next.Agents[a.ID] = page.Section(a.Run) + " of " + filepath.Base(a.Repo)
		}
	}
	if m == nil {
		next.Window = endsSoon(v)
		return nil, next
	}
	var notes []Note
	notes = append(notes, ended(m, next, v)...)
	notes = append(notes, asked(m.Wants, next.Wants)...)
	switch g := limit(v); {
	case g != nil && !m.Limit:
		text := "The queue waits for its reset."
		if !g.Until.IsZero() {
			text = "The queue goes on at " + page.Clock(g.Until, v.Now) + "."
		}
		notes = append(notes, Note{"The usage limit is reached", text})
	case g == nil && m.Limit:
		notes = append(notes, Note{"The usage limit is over", "The queue goes on."})
	}
	if next.Week && !m.Week {
		notes = append(notes, Note{"The week's budget runs out", fmt.Sprintf("%.0f %% are used; from %d %% on nothing starts.", v.Week, v.Config.Backoff)})
	}
	next.Window = m.Window
	// An estimate moves a little from one look to the next.
	if end := endsSoon(v); !end.IsZero() && end.Sub(m.Window).Abs() > v.Config.Duration/2 {
		next.Window = end
		notes = append(notes, Note{"The usage window ends in " + page.Span(end.Sub(v.Now)), left(v)})
	}
	return notes, next
}

// ended are the agents that are over.
func ended(m *Memory, next Memory, v dispatch.View) []Note {
	var ids []string
	for id := range m.Agents {
		if _, there := next.Agents[id]; !there {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(m.Agents[a]+a, m.Agents[b]+b) })
	ledger, _ := later.ReadLedger(v.App, v.Config.Settings) // what cannot be read says nothing
	var notes []Note
	for _, id := range ids {
		notes = append(notes, Note{"Ended: " + m.Agents[id], verdicts(ledger, id)})
	}
	return notes
}

// verdicts says what came of the tasks of an agent.
func verdicts(l *later.Ledger, id string) string {
	n := l.Verdicts(id)
	var parts []string
	rest := 0
	for verdict, count := range n {
		if verdict != schedule.Done && verdict != schedule.NeedsHuman && verdict != schedule.Unmerged {
			rest += count
		}
	}
	for _, p := range []struct {
		n    int
		what string
	}{{n[schedule.Done], "done"}, {n[schedule.Unmerged], "done but not merged"}, {n[schedule.NeedsHuman], "for you"}, {rest, "not done"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) == 0 {
		return "`ccreload later status` says more."
	}
	return "Tasks: " + strings.Join(parts, ", ") + "."
}

// wants are the things that wait for the person, but for those that are their own
// doing.
func wants(v dispatch.View) []string {
	list := []string{}
	for _, w := range v.Wants {
		if !v.Paused.IsZero() && strings.HasPrefix(w.What, "paused since ") {
			continue
		}
		list = append(list, w.What)
	}
	return list
}

// asked is what has come to wait for the person.
func asked(old, now []string) []Note {
	var fresh []string
	for _, w := range now {
		if !slices.Contains(old, w) && !slices.Contains(fresh, w) {
			fresh = append(fresh, w)
		}
	}
	switch len(fresh) {
	case 0:
		return nil
	case 1:
		return []Note{{"cc-later needs you", fresh[0]}}
	}
	return []Note{{fmt.Sprintf("cc-later needs you for %d things", len(fresh)), fresh[0] + " …"}}
}

// limit returns the gate that a limit has closed, nil for none.
func limit(v dispatch.View) *schedule.Gate {
	for i, g := range v.Gates {
		if !g.Open && g.Reason == schedule.LimitPause {
			return &v.Gates[i]
		}
	}
	return nil
}

// endsSoon returns the end of a window that ends soon with tasks left, else zero.
func endsSoon(v dispatch.View) time.Time {
	if remaining := v.Window.Remaining(v.Now); remaining <= 0 || remaining > v.Config.WarnWindow || due(v) == 0 {
		return time.Time{}
	}
	return v.Window.End
}

// due counts the tasks that only wait for their time.
func due(v dispatch.View) int {
	n := 0
	for _, q := range v.Queues {
		for _, s := range q.Sections {
			for _, t := range s.Tasks {
				if t.May() && t.Held == "" && !t.Running && !t.Merging {
					n++
				}
			}
		}
	}
	return n
}

func left(v dispatch.View) string {
	text := term.Count(due(v), "task") + " left"
	if c := v.Config; c.Enabled && c.Mode == schedule.WindowAware {
		return text + "; agents start in its last " + page.Span(c.Trigger) + ", once nobody is at work."
	}
	return text + "."
}
