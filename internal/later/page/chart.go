package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/usage"
)

// A chart is drawn in a box of 100 by 100 that is stretched; what must not be
// stretched, texts and dots, is placed in percent of the width and in pixels of the
// height.
const (
	plotTop    = 22.0
	plotHeight = 210.0
	daysHeight = 120.0
)

// chart is how the window was used, or what is left of it.
type chart struct {
	Line, Area     string // of the box
	NowX           string
	NowY           string
	Trigger        string // where tasks may start, "" for nowhere
	TriggerWidth   string
	Start, End     string
	Top, Mid       string // what the lines at the top and in the middle stand for
	Left           bool   // what is left is drawn, else what was used
	Title, Caption string
	Describe       string
	Rows           []tableRow
}

// tableRow is a row of the table that says what a picture shows.
type tableRow struct{ Key, Value string }

// burnDown draws what is left of the window, where somebody says how much of it is
// used, else the tokens that were used. How that came is by the logs in both cases.
func burnDown(v dispatch.View) *chart {
	w, length := v.Window, v.Window.End.Sub(v.Window.Start)
	if length <= 0 {
		return nil
	}
	at := func(t time.Time) float64 { return 100 * clamp(float64(t.Sub(w.Start))/float64(length)) }
	c := &chart{
		Start: Clock(w.Start, v.Now), End: Clock(w.End, v.Now), NowX: length100(at(v.Now)), Left: v.Used >= 0,
		Title: "Tokens used in this window", Caption: "Counted in the logs of this machine.",
	}
	if t := v.Config.Trigger; t > 0 && t < length {
		x := at(w.End.Add(-t))
		c.Trigger, c.TriggerWidth = length100(x), length100(100-x)
	}
	total := int64(0)
	for _, n := range v.Burn {
		total += n
	}
	if c.Left {
		c.Title, c.Top, c.Mid = "What is left of this window", "100 %", "50 %"
		c.Caption = "How much is left is what Claude Code says; how it came to that is by the logs of this machine. The dashed line is an even pace."
	} else if total == 0 {
		return nil
	}
	top := nice(total)
	if !c.Left {
		c.Top, c.Mid = Tokens(top), Tokens(top/2)
	}
	var points []string
	says := ""
	add := func(t time.Time, part float64) { // part is how much of what is used now was used at t
		used := v.Used * part / 100
		y := clamp(used)
		if says = fmt.Sprintf("%.0f %% left", max(0, 100-100*used)); !c.Left {
			used := part * float64(total)
			y, says = 1-clamp(used/float64(top)), Tokens(int64(used))+" tokens"
		}
		points = append(points, fmt.Sprintf("%.2f,%.2f", at(t), 100*y))
		c.NowY = fmt.Sprintf("%.1f", plotTop+plotHeight*y)
		c.Rows = append(c.Rows, tableRow{Clock(t, v.Now), says})
	}
	add(w.Start, 0)
	sum, quarter := int64(0), w.Start.Truncate(usage.SlotLength)
	for _, n := range v.Burn {
		quarter = quarter.Add(usage.SlotLength)
		if sum += n; total > 0 && quarter.Before(v.Now) {
			add(quarter, float64(sum)/float64(total))
		}
	}
	add(v.Now, 1)
	c.Line = strings.Join(points, " ")
	c.Area = fmt.Sprintf("0,100 %s %.2f,100", c.Line, at(v.Now))
	c.Describe = fmt.Sprintf("%s, from %s to %s: %s now.", c.Title, c.Start, c.End, says)
	c.Rows = thin(c.Rows, 24)
	return c
}

// thin leaves out rows evenly until there are at most n; the first and the last stay.
func thin(rows []tableRow, n int) []tableRow {
	if len(rows) <= n {
		return rows
	}
	out := make([]tableRow, 0, n)
	for i := range n {
		out = append(out, rows[i*(len(rows)-1)/(n-1)])
	}
	return out
}

func clamp(x float64) float64 { return min(max(x, 0), 1) }

func length100(x float64) string { return fmt.Sprintf("%.2f%%", x) }

// share returns what part of a whole something is, as a length.
func share(part, whole float64) string {
	if whole <= 0 {
		return "0%"
	}
	return length100(100 * clamp(part/whole))
}

// nice returns a number that is not below n and easy to read: 1, 2, 2.5 or 5 with
// zeros.
func nice(n int64) int64 {
	for step := int64(1); step < 1e17; step *= 10 {
		for _, f := range [...]int64{10, 20, 25, 50} {
			if step*f/10 >= n && step*f%10 == 0 {
				return step * f / 10
			}
		}
	}
	return n
}

// Tokens returns a number of tokens in three digits or so.
func Tokens(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_500:
		return short(float64(n)/1e3) + "k"
	case n < 999_500_000:
		return short(float64(n)/1e6) + "M"
	}
	return short(float64(n)/1e9) + "G"
}

func short(x float64) string {
	if x < 10 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
	}
	return fmt.Sprintf("%.0f", x)
}

// daysCard is the cost by day.
type daysCard struct {
	Any      bool
	Total    string
	Top      string // what the line at the top stands for
	Bars     []bar
	Rows     []tableRow
	Unpriced bool // some replies have no price
	Describe string
}

type bar struct {
	X, Width, Mid, Y, Height string
	Label                    string // below the bar
	Today                    bool
}

func daysOf(v dispatch.View) daysCard {
	by := map[string]dispatch.Day{}
	for _, d := range v.Days {
		by[d.Day] = d
	}
	var c daysCard
	total, most, mostDay := 0.0, 0.0, ""
	var days []dispatch.Day
	year, month, day := v.Now.Date()
	for i := daysShown - 1; i >= 0; i-- {
		// At noon, since a day of changing clocks has no 24 hours.
		t := time.Date(year, month, day-i, 12, 0, 0, 0, v.Now.Location())
		d := by[t.Format(time.DateOnly)]
		d.Day = t.Format("Mon 2 Jan")
		days = append(days, d)
		total += d.Cost
		if d.Cost > most {
			most, mostDay = d.Cost, d.Day
		}
		c.Any = c.Any || d.Cost > 0 || d.Unpriced > 0
		c.Unpriced = c.Unpriced || d.Unpriced > 0
	}
	top := float64(nice(int64(most*100+0.5))) / 100
	c.Total, c.Top = dollars(total), strings.TrimSuffix(dollars(top), ".00")
	const slot = 100.0 / daysShown
	for i, d := range days {
		height := 0.0
		if top > 0 {
			height = daysHeight * d.Cost / top
		}
		if d.Cost > 0 {
			height = max(height, 2)
		}
		b := bar{
			X: length100(slot*float64(i) + slot*0.14), Width: length100(slot * 0.72), Mid: length100(slot * (float64(i) + 0.5)),
			Y: fmt.Sprintf("%.1f", plotTop+daysHeight-height), Height: fmt.Sprintf("%.1f", height),
			Label: strings.Fields(d.Day)[1], Today: i == len(days)-1,
		}
		row := tableRow{d.Day, dollars(d.Cost)}
		switch {
		case d.Unpriced > 0 && d.Cost == 0:
			row.Value = "no price known"
		case d.Unpriced > 0:
			row.Value += " and what has no price"
		}
		c.Bars, c.Rows = append(c.Bars, b), append(c.Rows, row)
	}
	c.Describe = fmt.Sprintf("Cost of the last %d days: %s in all.", daysShown, c.Total)
	if mostDay != "" {
		c.Describe += fmt.Sprintf(" The most on one day: %s, %s.", dollars(most), mostDay)
	}
	return c
}

// dollars returns an amount of US dollars.
func dollars(x float64) string {
	switch {
	case x == 0:
		return "$0"
	case x < 0.005:
		return "< $0.01"
	case x < 100:
		return fmt.Sprintf("$%.2f", x)
	}
	return "$" + term.Thousands(int(x+0.5))
}

// modelRow is what one model was used for.
type modelRow struct{ Name, Width, Tokens, Cost string }

func modelsOf(v dispatch.View) []modelRow {
	most := 0.0
	for _, m := range v.Models {
		most = max(most, m.Cost)
	}
	var rows []modelRow
	rest := dispatch.Share{}
	for i, m := range v.Models {
		if i >= maxModels {
			rest.Cost, rest.Tokens, rest.Unpriced = rest.Cost+m.Cost, rest.Tokens+m.Tokens, rest.Unpriced+m.Unpriced
			continue
		}
		rows = append(rows, modelOf(m, most))
	}
	if rest.Tokens > 0 {
		rest.Model = fmt.Sprintf("%d others", len(v.Models)-maxModels)
		rows = append(rows, modelOf(rest, most))
	}
	return rows
}

func modelOf(m dispatch.Share, most float64) modelRow {
	row := modelRow{Name: name(m.Model, maxName), Width: share(m.Cost, most), Tokens: Tokens(m.Tokens), Cost: dollars(m.Cost)}
	switch {
	case m.Unpriced > 0 && m.Cost == 0:
		row.Cost = "no price"
	case m.Unpriced > 0:
		row.Cost = "≥ " + row.Cost
	}
	return row
}
