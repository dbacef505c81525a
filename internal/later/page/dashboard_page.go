package page

import (
	_ "embed"
	"strconv"
)

//go:embed dashboard.css
var dashboardCSS markup

//go:embed dashboard.js
var dashboardJS markup

// What the policy lets take effect: these two, by their sums, and nothing else. They
// stand here, since nothing of crypto is to be linked for a page.
const (
	scriptSum = "zMx1tvh0MUjn6dJ6zxp3dwR7djhDFiAC8V4r1pp39XM="
	styleSum  = "lOpFm+nlY4UlM4v1xlgPePWMgOZT01lUBrWlInxvoHM="
)

// page writes all of the page.
func (b *board) page() string {
	var d document
	d.put(`<!doctype html>
<html lang="en" data-every="%s">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-`+scriptSum+`'; style-src 'sha256-`+styleSum+`'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>%s</title>
<style>`, strconv.Itoa(b.Every), b.Title)
	d.WriteString(string(dashboardCSS))
	d.put(`</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<div class="brand"><h1>cc-later</h1><p>%s</p></div>
<div class="updates"><p>Written `, b.Summary)
	b.Time.put(&d)
	d.put(`<span id="age"></span></p><button type="button" id="hold" hidden>Pause updates</button></div>
</header>
<main id="main" tabindex="-1">
`)
	b.putWants(&d)
	d.put(`<div class="top">
`)
	b.Window.put(&d)
	d.put(`<div class="side">
`)
	b.Week.put(&d)
	b.putGates(&d)
	d.put(`</div></div>
`)
	b.putAgents(&d)
	b.putQueues(&d)
	d.put(`<div class="pair">
`)
	section(&d, "merges", "Merges", func() { putEvents(&d, b.Merges, "Nothing was merged lately.") })
	section(&d, "failures", "Failures", func() { putEvents(&d, b.Failures, "Nothing went wrong lately.") })
	d.put(`</div>
<div class="pair">
`)
	section(&d, "days", "Cost by day", func() { b.Days.put(&d) })
	section(&d, "models", "Cost by model", func() { putModels(&d, b.Models) })
	d.put(`</div>
`)
	section(&d, "happened", "What happened", func() {
		if len(b.Events) == 0 {
			d.put(`<p class="empty">Nothing happened so far.</p>`)
			return
		}
		d.put(`<details id="events"><summary>The last %s events</summary>`, strconv.Itoa(len(b.Events)))
		putEvents(&d, b.Events, "")
		d.put(`</details>`)
	})
	d.put(`</main>
<footer><p>Every look of cc-later at the queue writes this page anew, as does <code>ccreload later monitor</code>. It loads nothing from anywhere. To be rid of it, delete <code class="path">%s</code>.</p></footer>
<p id="said" class="hear" role="status"></p>
<script>`, b.File)
	d.WriteString(string(dashboardJS))
	d.put(`</script>
</body>
</html>
`)
	return d.String()
}

// section writes a card with a title.
func section(d *document, id, title string, content func()) {
	d.put(`<section class="card" aria-labelledby="h-%s"><h2 id="h-%s">%s</h2>
`, id, id, title)
	content()
	d.put(`
</section>
`)
}

func (s stamp) put(d *document) { d.put(`<time datetime="%s">%s</time>`, s.ISO, s.Says) }

// put writes a text: all of it where it is short, else its beginning, which opens to
// all of it.
func (t text) put(d *document) {
	if t.Whole == "" {
		d.put(`<span dir="auto">%s</span>`, t.Head)
		return
	}
	d.put(`<details class="more" id="%s"><summary><span dir="auto">%s…</span></summary><p dir="auto">%s</p>`, t.ID, t.Head, t.Whole)
	if t.Left != "" {
		d.put(`<p class="soft">… and %s more</p>`, t.Left)
	}
	d.put(`</details>`)
}

func (b *board) putWants(d *document) {
	if len(b.Wants) == 0 {
		return
	}
	d.put(`<section class="card wants" aria-labelledby="h-wants"><h2 id="h-wants">Waits for you <span class="count">%s</span></h2>
<ul>
`, strconv.Itoa(len(b.Wants)+b.MoreWant))
	for _, w := range b.Wants {
		d.put(`<li><div>`)
		w.What.put(d)
		d.put(`</div>`)
		if w.Command != "" {
			d.put(`<div class="command"><code id="%s">%s</code><button type="button" class="copy" id="copy-%s" data-copy="%s" aria-describedby="%s" hidden>Copy</button></div>`, w.ID, w.Command, w.ID, w.ID, w.ID)
		}
		d.put(`</li>
`)
	}
	d.put(`</ul>`)
	putMore(d, b.MoreWant, "ccreload later status")
	d.put(`</section>
`)
}

// putMore says how many there are besides, and what lists them.
func putMore(d *document, n int, command string) {
	if n > 0 {
		d.put(`<p class="soft">and %s more: <code>%s</code></p>`, strconv.Itoa(n), command)
	}
}

func (c windowCard) put(d *document) {
	d.put(`<section class="card window" aria-labelledby="h-window"><h2 id="h-window">Usage window</h2>
`)
	switch {
	case !c.Open:
		d.put(`<p class="empty">No window is open. The next one begins with the next request.</p>`)
	default:
		d.put(`<p class="big">%s <small>left</small></p><p>%s <span class="soft">(%s)</span></p>
`, c.Big, c.Says, c.Source)
		if c.Chart == nil {
			d.put(`<p class="empty">The logs of this machine hold nothing of it so far.</p>`)
		} else {
			c.Chart.put(d)
		}
	}
	d.put(`
</section>
`)
}

// The heights and places in this picture are those of plotTop and plotHeight.
func (c *chart) put(d *document) {
	d.put(`<figure><svg class="plot" width="100%%" height="258" role="img" aria-labelledby="burn-title burn-desc">
<title id="burn-title">%s</title><desc id="burn-desc">%s</desc>
`, c.Title, c.Describe)
	if c.Trigger != "" {
		d.put(`<rect class="trigger" x="%s" width="%s" y="22" height="210"/>
`, c.Trigger, c.TriggerWidth)
	}
	d.put(`<line class="grid" x1="0" x2="100%%" y1="22" y2="22"/><line class="grid" x1="0" x2="100%%" y1="127" y2="127"/><line class="axis" x1="0" x2="100%%" y1="232" y2="232"/>
<svg x="0" y="22" width="100%%" height="210" viewBox="0 0 100 100" preserveAspectRatio="none">`)
	if c.Left {
		d.put(`<line class="pace" x1="0" y1="0" x2="100" y2="100"/>`)
	}
	d.put(`<polygon class="area" points="%s"/><polyline class="line" points="%s"/></svg>
<line class="now" x1="%s" x2="%s" y1="22" y2="232"/><circle class="dot" cx="%s" cy="%s" r="4.5"/>
<text x="0" y="15">%s</text><text x="0" y="122">%s</text>
<text x="0" y="251">%s</text><text class="end" x="100%%" y="251">%s</text>
`, c.Area, c.Line, c.NowX, c.NowX, c.NowX, c.NowY, c.Top, c.Mid, c.Start, c.End)
	if c.Trigger != "" {
		d.put(`<text class="end" x="100%%" y="15">tasks may start</text>
`)
	}
	d.put(`</svg><figcaption>%s</figcaption></figure>
`, c.Caption)
	column := "Used"
	if c.Left {
		column = "Left"
	}
	table(d, "burn", c.Title, "Time", column, c.Rows)
}

// table writes what a picture shows.
func table(d *document, id, title, key, value string, rows []tableRow) {
	d.put(`<details id="%s-table"><summary>As a table</summary><table><caption>%s</caption>
<thead><tr><th scope="col">%s</th><th scope="col" class="number">%s</th></tr></thead><tbody>
`, id, title, key, value)
	for _, r := range rows {
		d.put(`<tr><th scope="row">%s</th><td class="number">%s</td></tr>
`, r.Key, r.Value)
	}
	d.put(`</tbody></table></details>`)
}

func (c weekCard) put(d *document) {
	section(d, "week", "Week", func() {
		d.put(`<p class="big">%s <small>used</small></p>
<svg class="gauge %s" width="100%%" height="16" role="img" aria-label="%s"><rect class="rail" y="3" width="100%%" height="10" rx="5"/><rect class="fill" y="3" width="%s" height="10" rx="5"/><rect class="mark" x="%s" width="2" height="16"/></svg>
<p>%s <span class="soft">(%s)</span></p>`, c.Big, c.Level, c.Describe, c.Used, c.Limit, c.Says, c.Source)
	})
}

func (b *board) putGates(d *document) {
	section(d, "start", "What starts next", func() {
		d.put(`<p>%s</p>
`, b.Starts)
		if len(b.Gates) == 0 {
			return
		}
		d.put(`<ul class="gates">
`)
		for _, g := range b.Gates {
			if g.Open {
				d.put(`<li class="open"><span class="sign" aria-hidden="true">✓</span><span><span class="hear">yes: </span>%s</span></li>
`, g.Says)
			} else {
				d.put(`<li class="closed"><span class="sign" aria-hidden="true">✕</span><span><span class="hear">no: </span>%s</span></li>
`, g.Says)
			}
		}
		d.put(`</ul>`)
	})
}

func (b *board) putAgents(d *document) {
	d.put(`<section aria-labelledby="h-agents"><h2 id="h-agents">Agents`)
	if len(b.Agents) == 0 {
		d.put(`</h2>
<p class="card empty">No agent is at work.</p>
</section>
`)
		return
	}
	d.put(` <span class="count">%s</span></h2>
<div class="agents">
`, strconv.Itoa(len(b.Agents)))
	for _, a := range b.Agents {
		a.put(d)
	}
	d.put(`</div>
</section>
`)
}

func (a agentCard) put(d *document) {
	d.put(`<article class="card agent" aria-labelledby="%s"><h3 id="%s">%s <span class="repo">%s</span></h3>
<p class="soft">`, a.ID, a.ID, a.Name, a.Repo)
	if a.Over {
		d.put(`ended, its work waits; started `)
	} else {
		d.put(`at work for %s, since `, a.Span)
	}
	a.Since.put(d)
	for _, f := range a.Facts {
		d.put(` · %s`, f)
	}
	d.put(`</p>
`)
	putProblem(d, a.Waits)
	d.put(`<ul>
`)
	for _, t := range a.Tasks {
		d.put(`<li>`)
		t.put(d)
		d.put(`</li>
`)
	}
	d.put(`</ul>
`)
	if a.Tail == "" {
		d.put(`<p class="empty">It has said nothing so far.</p>`)
	} else {
		d.put(`<h4>The end of what it says</h4><pre dir="auto">%s</pre>`, a.Tail)
	}
	d.put(`</article>
`)
}

func putProblem(d *document, t text) {
	if t.Head != "" {
		d.put(`<div class="problem">`)
		t.put(d)
		d.put(`</div>
`)
	}
}

func (b *board) putQueues(d *document) {
	d.put(`<section aria-labelledby="h-queue"><h2 id="h-queue">Queue</h2>
`)
	for _, q := range b.Queues {
		q.put(d)
	}
	if len(b.Queues) == 0 {
		d.put(`<p class="card empty">Nothing is queued. Type <code>later: add a test for the retry path</code> in any prompt.</p>
`)
	}
	d.put(`</section>
`)
}

func (q queueCard) put(d *document) {
	d.put(`<article class="card queue" aria-labelledby="%s"><div class="head"><h3 id="%s">%s</h3><p class="soft">%s</p></div>
<p class="path" dir="auto">%s</p>
`, q.ID, q.ID, q.Name, q.Counts, q.Path)
	putProblem(d, q.Problem)
	for _, s := range q.Sections {
		if s.Name != "" {
			d.put(`<h4>%s</h4>
`, s.Name)
		}
		d.put(`<ul class="tasks">
`)
		for _, t := range s.Tasks {
			t.put(d)
		}
		d.put(`</ul>
`)
	}
	putMore(d, q.More, "ccreload later list")
	if len(q.Done) > 0 {
		d.put(`<details class="done" id="done-%s"><summary>Done lately</summary><ul class="events">
`, q.ID)
		for _, t := range q.Done {
			t.put(d)
		}
		d.put(`</ul></details>
`)
	}
	d.put(`</article>
`)
}

func (t doneRow) put(d *document) {
	d.put(`<li>`)
	t.Time.put(d)
	d.put(`<div>`)
	t.Text.put(d)
	if t.Note.Head != "" {
		d.put(`<div class="soft note">`)
		t.Note.put(d)
		d.put(`</div>`)
	}
	if t.Report != "" {
		d.put(`<div class="soft note">Report: <code>%s</code></div>`, t.Report)
	}
	d.put(`</div></li>
`)
}

func (t taskRow) put(d *document) {
	d.put(`<li><span class="state %s">%s</span><div>`, t.State, t.Says)
	t.Text.put(d)
	if t.Priority != "" {
		d.put(` <span class="priority %s">%s</span>`, t.Priority, t.Priority)
	}
	if t.Note.Head != "" {
		d.put(`<div class="soft note">`)
		t.Note.put(d)
		d.put(`</div>`)
	}
	d.put(`</div></li>
`)
}

func putEvents(d *document, list []event, none string) {
	if len(list) == 0 {
		d.put(`<p class="empty">%s</p>`, none)
		return
	}
	d.put(`<ul class="events">
`)
	for _, e := range list {
		d.put(`<li>`)
		e.Time.put(d)
		d.put(`<div>`)
		e.Text.put(d)
		if e.Repo != "" {
			d.put(` <span class="repo">%s</span>`, e.Repo)
		}
		d.put(`</div></li>
`)
	}
	d.put(`</ul>`)
}

// The heights and places in this picture are those of plotTop and daysHeight.
func (c daysCard) put(d *document) {
	if !c.Any {
		d.put(`<p class="empty">The logs hold nothing of the last 14 days.</p>`)
		return
	}
	d.put(`<p class="big">%s <small>in 14 days</small></p>
<figure><svg class="plot" width="100%%" height="168" role="img" aria-labelledby="days-title days-desc">
<title id="days-title">Cost by day</title><desc id="days-desc">%s</desc>
<line class="grid" x1="0" x2="100%%" y1="22" y2="22"/><line class="axis" x1="0" x2="100%%" y1="142" y2="142"/>
`, c.Total, c.Describe)
	for _, b := range c.Bars {
		today := ""
		if b.Today {
			today = " today"
		}
		d.put(`<rect class="bar%s" x="%s" width="%s" y="%s" height="%s"/><text class="mid%s" x="%s" y="161">%s</text>
`, today, b.X, b.Width, b.Y, b.Height, today, b.Mid, b.Label)
	}
	d.put(`<text x="0" y="15">%s</text></svg>
<figcaption>What the API would charge for what the logs of this machine hold; on a plan it is part of the plan.`, c.Top)
	if c.Unpriced {
		d.put(` Some replies are of models whose price is not known, and are not in it.`)
	}
	d.put(`</figcaption></figure>
`)
	table(d, "days", "Cost by day", "Day", "Cost", c.Rows)
}

func putModels(d *document, rows []modelRow) {
	if len(rows) == 0 {
		d.put(`<p class="empty">The logs hold nothing of the last 7 days.</p>`)
		return
	}
	d.put(`<table class="models"><caption>The last 7 days</caption>
<thead><tr><th scope="col">Model</th><th scope="col" class="number">Tokens</th><th scope="col" class="number">Cost</th></tr></thead><tbody>
`)
	for _, m := range rows {
		d.put(`<tr><th scope="row">%s<svg width="100%%" height="6" aria-hidden="true"><rect class="rail" width="100%%" height="6" rx="3"/><rect class="fill" width="%s" height="6" rx="3"/></svg></th><td class="number">%s</td><td class="number">%s</td></tr>
`, m.Name, m.Width, m.Tokens, m.Cost)
	}
	d.put(`</tbody></table>`)
}
