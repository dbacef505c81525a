package cli

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

func (a *app) laterStats() *cobra.Command {
	var days int
	var by, zone string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what your sessions used, and what that costs at the API",
		Long: `Show what your sessions used, and what that costs at the API.

All logs of Claude Code on this machine are counted, those of subagents too: each
reply once, however often it stands in them, on the day of its first row. What was
counted once stays counted when Claude Code deletes its logs after 30 days. The cost
is what the API would charge at the prices of the day; a model whose price is not
known is counted, and named.`,
		Example: `  ccreload later stats --days 7
  ccreload later stats --by project --days 30
  ccreload later stats --by model --json | jq .total.cost_usd`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			q := usage.Query{Days: days, By: usage.By(by), Now: a.env.Now()}
			if cmd.Flags().Changed("days") && days < 1 {
				return problem.Input("leave it out for all days", "--days is %d; it takes a whole number of at least 1", days)
			}
			if !slices.Contains(statsBy, q.By) {
				return problem.Input("", "--by is %q; it takes day, model, project or session", by)
			}
			var err error
			if q.Zone, err = zoneOf(zone); err != nil {
				return err
			}
			return a.showStats(q, asJSON)
		},
	}
	cmd.Flags().IntVar(&days, "days", 0, "only the last so many days, today included")
	cmd.Flags().StringVar(&by, "by", string(usage.ByDay), "what the figures are broken down by: day, model, project or session")
	cmd.Flags().StringVar(&zone, "tz", "", "the time zone of the days, such as Europe/Oslo, UTC or +02:00 (default this machine's)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	return cmd
}

var statsBy = []usage.By{usage.ByDay, usage.ByModel, usage.ByProject, usage.BySession}

// zoneOf returns the time zone that people call name.
func zoneOf(name string) (*time.Location, error) {
	if t, err := time.Parse("-07:00", name); err == nil {
		_, offset := t.Zone()
		return time.FixedZone(name, offset), nil
	}
	switch strings.ToLower(name) {
	case "", "local":
		return time.Local, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, problem.Input("zones are called like Europe/Oslo, UTC or +02:00", "there is no time zone %q", name)
	}
	return zone, nil
}

func (a *app) showStats(q usage.Query, asJSON bool) error {
	index, prices, err := a.usage()
	if err != nil {
		return err
	}
	q.Prices, q.Worktrees = prices, dispatch.Worktrees(later.AppDir(a.host, a.env.Getenv))
	stats := index.Stats(q)
	if asJSON {
		return a.printJSON(statsJSON(stats))
	}
	if len(stats.By) == 0 {
		fmt.Fprintln(a.stdout, "Nothing was used in this time.")
		return nil
	}
	_, err = io.WriteString(a.stdout, term.Visible(statsTable(q, stats)))
	return err
}

// usage returns the index of the logs, brought up to date, and what models cost.
// What could not be read is said on stderr.
func (a *app) usage() (*usage.Index, models.Prices, error) {
	app, profile, config, err := a.laterApp()
	if err != nil {
		return nil, nil, err
	}
	roots, prices := usage.Roots(a.host, config.Logs), models.Prices(profile.PriceTable())
	index := usage.Open(filepath.Join(app, "usage"), roots, prices)
	_, err = os.Stat(filepath.Dir(app))
	index.ReadOnly = err != nil // whoever has no home is made none
	bar := term.Bar{W: a.stderr}
	index.Progress = func(_, total int) {
		if bar.Total = total; total >= worthABar {
			bar.Add()
		}
	}
	report, err := index.Update()
	bar.Clear()
	if err != nil {
		return nil, nil, err
	}
	for i, u := range report.Unread {
		if i == maxUnread {
			fmt.Fprintf(a.stderr, "ccreload: and %d more\n", len(report.Unread)-i)
			break
		}
		fmt.Fprintf(a.stderr, "ccreload: not counted: %s: %v\n", term.Line(u.Path), u.Err)
	}
	if report.NotKept != nil {
		fmt.Fprintf(a.stderr, "ccreload: the index is not kept, so the next call reads all logs again: %s\n", term.Line(report.NotKept.Error()))
	}
	if report.Logs == 0 && index.Empty() {
		return nil, nil, problem.Fault("CLAUDE_CONFIG_DIR says where Claude Code keeps its logs, if not in ~/.claude", "there are no logs of Claude Code in %s", strings.Join(roots, ", "))
	}
	return index, prices, nil
}

const (
	worthABar = 20 // logs
	maxUnread = 5  // are named
)

// totalJSON is a usage.Total for programs. There is no cost where no part has a
// price.
type totalJSON struct {
	Replies   int64    `json:"replies"`
	Input     int64    `json:"input"`
	Output    int64    `json:"output"`
	CacheRead int64    `json:"cache_read"`
	Cache5m   int64    `json:"cache_5m"`
	Cache1h   int64    `json:"cache_1h"`
	CostUSD   *float64 `json:"cost_usd"`
	Unpriced  int64    `json:"unpriced_replies"`
}

func statsJSON(s usage.Stats) any {
	one := func(t usage.Total) totalJSON {
		j := totalJSON{t.Replies, t.Input, t.Output, t.CacheRead, t.Write5m, t.Write1h, nil, t.Unpriced}
		if t.Priced || t.Unpriced == 0 {
			cost := math.Round(t.Cost*1e9) / 1e9 // a sum of fractions has no more digits that mean something
			j.CostUSD = &cost
		}
		return j
	}
	by := map[string]totalJSON{}
	for key, t := range s.By {
		by[key] = one(t)
	}
	return struct {
		Total totalJSON            `json:"total"`
		By    map[string]totalJSON `json:"by"`
	}{one(s.Total), by}
}

// statsTable is statistics for people: days in their order, else what cost most
// first.
func statsTable(q usage.Query, s usage.Stats) string {
	keys := slices.SortedFunc(func(yield func(string) bool) {
		for key := range s.By {
			if !yield(key) {
				return
			}
		}
	}, func(a, b string) int {
		if q.By == usage.ByDay {
			return cmp.Compare(a, b)
		}
		x, y := s.By[a], s.By[b]
		return cmp.Or(cmp.Compare(y.Cost, x.Cost), cmp.Compare(y.Output, x.Output), cmp.Compare(a, b))
	})
	rows := [][]string{{string(q.By), "replies", "input", "output", "cache read", "write 5m", "write 1h", "cost"}}
	for _, key := range keys {
		rows = append(rows, statsRow(term.Line(key), s.By[key]))
	}
	rows = append(rows, statsRow("total", s.Total))
	var b strings.Builder
	b.WriteString(aligned(rows))
	if len(s.NoPrice) > 0 {
		fmt.Fprintf(&b, "\nNo price is known for %s, which the cost is without.\n", term.Line(strings.Join(s.NoPrice, ", ")))
	}
	return b.String()
}

func statsRow(key string, t usage.Total) []string {
	row := []string{key}
	for _, n := range [...]int64{t.Replies, t.Input, t.Output, t.CacheRead, t.Write5m, t.Write1h} {
		row = append(row, term.Thousands(int(n)))
	}
	return append(row, cost(t))
}

// cost says what a total costs, with a + where a part is missing.
func cost(t usage.Total) string {
	if !t.Priced && t.Unpriced > 0 {
		return "unpriced"
	}
	s := fmt.Sprintf("$%.2f", t.Cost)
	if t.Cost > 0 && t.Cost < 0.005 {
		s = "<$0.01"
	}
	if t.Unpriced > 0 {
		s += "+"
	}
	return s
}

// aligned returns rows as lines, the first column to the left and the others to the
// right.
func aligned(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], term.Width(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row {
			if i == 0 {
				b.WriteString(term.Pad(cell, widths[0]))
				continue
			}
			b.WriteString(strings.Repeat(" ", 2+widths[i]-term.Width(cell)) + cell)
		}
		b.WriteString("\n")
	}
	return b.String()
}
