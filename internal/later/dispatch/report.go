package dispatch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// tally is what came of the tasks of some runs.
type tally struct {
	run                         string
	done, unmerged, needs, left int // left are those that will be tried again
	setup                       int // 1 where git's configuration or hooks changed meanwhile
	section                     string
}

// numbers are what a line of a tally begins with.
func (t *tally) numbers() []*int { return []*int{&t.done, &t.unmerged, &t.needs, &t.left, &t.setup} }

// report writes what came of a run for the person: a page that is kept, and two
// lines for the next session of the repository. It returns the sentence for whoever
// watches.
func (w *World) report(ctx context.Context, root string, run *Run, out agent.Outcome, v verdicts, kept, merged string) string {
	t := tally{run: run.ID, section: run.name(), setup: min(len(run.Setup), 1)}
	for _, e := range run.Entries {
		switch got, _ := v.of(run, e); {
		case got == schedule.Done:
			t.done++
		case got == schedule.Unmerged:
			t.unmerged++
		case got == schedule.NeedsHuman, w.ledger.Task(root, e.Text).Held != "":
			t.needs++
		default:
			t.left++
		}
	}
	dir := later.ReportsDir(w.App)
	page := filepath.Join(dir, run.DispatchTS.Local().Format(stampLayout)+"-"+slug(filepath.Base(root)+"-"+run.name())+"-"+reportKey(run.ID)+".md")
	step("write report")
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		err = state.WriteFile(page, []byte(w.page(ctx, root, run, out, v, kept, merged)), 0o600)
	}
	if err == nil {
		err = w.announce(root, t, page)
	}
	if err != nil {
		w.log("error", fields{"reason": "report", "detail": err.Error()})
	}
	says := fmt.Sprintf("%s: %s", run.name(), t)
	switch {
	case kept != "":
		says += "; " + kept + "; its work is kept in " + deref(run.Worktree)
	case merged != "":
		says += "; " + merged
	}
	return says
}

// reportKey is what the name of a report has of the agent's id.
func reportKey(id string) string { return id[:min(8, len(id))] }

// ReportOf returns the report of an agent, "" for none.
func ReportOf(app, id string) string { return reportsOf(app)[reportKey(id)] }

// reportsOf returns the reports there are, by reportKey.
func reportsOf(app string) map[string]string {
	entries, _ := os.ReadDir(later.ReportsDir(app))
	list := map[string]string{}
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".md")
		if at := strings.LastIndexByte(name, '-'); at >= 0 && name != e.Name() {
			list[name[at+1:]] = filepath.Join(later.ReportsDir(app), e.Name())
		}
	}
	return list
}

func (t tally) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{t.done, "done"}, {t.unmerged, "done but not merged"}, {t.needs, "need you"}, {t.left, "not done"}} {
		if p.n > 0 {
			if p.n == 1 && p.what == "need you" {
				p.what = "needs you"
			}
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.Join(parts, ", ")
}

// warning is what a person has to know before they do anything with git.
func (t tally) warning() string {
	if t.setup == 0 {
		return ""
	}
	return " Git's configuration or hooks changed while an agent was at work: see `ccreload later status` before you run git here."
}

// page is the report of a run, in Markdown.
func (w *World) page(ctx context.Context, root string, run *Run, out agent.Outcome, v verdicts, kept, merged string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, %s\n\n", term.Visible(run.name()), term.Visible(filepath.Base(root)))
	fmt.Fprintf(&b, "- started %s, ended %s (%s)\n", run.DispatchTS.Local().Format("2006-01-02 15:04"), w.Env.Now().Local().Format("15:04"), out.Kind)
	fmt.Fprintf(&b, "- model %s, %s\n", run.Model, cost(out))
	if merged != "" {
		fmt.Fprintf(&b, "- %s\n", term.Visible(merged))
	}
	if kept != "" {
		fmt.Fprintf(&b, "- NOT merged: %s\n- its work is in `%s`, branch `%s`\n", term.Visible(kept), deref(run.Worktree), deref(run.Branch))
		b.WriteString(w.steps(ctx, run))
	}
	if out.Reason != "" {
		fmt.Fprintf(&b, "- the client says: %s\n", term.Visible(out.Reason))
	}
	for _, c := range run.Changed {
		fmt.Fprintf(&b, "- CHANGED in your checkout meanwhile: %s\n", term.Visible(c))
	}
	for _, d := range out.Denials {
		fmt.Fprintf(&b, "- refused: %s %s\n", d.Tool, term.Visible(d.What))
	}
	b.WriteString("\n## Tasks\n\n")
	for _, t := range run.Entries {
		got, _ := v.of(run, t)
		_, why := v(t)
		fmt.Fprintf(&b, "- %s: %s\n", got, term.Visible(t.Text))
		if why != "" {
			fmt.Fprintf(&b, "  %s\n", term.Visible(why))
		}
	}
	if text := strings.TrimSpace(out.Text); text != "" {
		b.WriteString("\n## What the agent says\n\n")
		for l := range strings.Lines(host8K(text)) {
			b.WriteString("> " + term.Visible(strings.TrimRight(l, "\n")) + "\n")
		}
	}
	fmt.Fprintf(&b, "\nAll it said: `%s`\n", run.ResultPath)
	return b.String()
}

// host8K cuts a text to what a report holds of it.
func host8K(s string) string {
	if r := []rune(s); len(r) > 8000 {
		return string(r[:8000]) + "…"
	}
	return s
}

func cost(out agent.Outcome) string {
	if out.Run.CostUSD <= 0 {
		return "cost not known"
	}
	return fmt.Sprintf("would cost $%.2f at the API", out.Run.CostUSD)
}

// announce has the next session of a repository told. What was not told yet is
// told with it: below the two lines the file has one line a run.
func (w *World) announce(root string, t tally, page string) error {
	path := later.ReportFile(w.App, root)
	list := []tally{}
	data, _ := state.ReadFile(path, 64<<10)
	for l := range strings.Lines(string(data)) {
		if old, ok := parseTally(strings.TrimSpace(l)); ok && old.run != t.run {
			list = append(list, old)
		}
	}
	list = append(list, t)
	sum, names := tally{}, []string{}
	var lines strings.Builder
	for _, x := range list {
		for i, n := range x.numbers() {
			*sum.numbers()[i] += *n
		}
		if !slices.Contains(names, x.section) {
			names = append(names, x.section)
		}
		fmt.Fprintf(&lines, "#%s", x.run)
		for _, n := range x.numbers() {
			fmt.Fprintf(&lines, " %d", *n)
		}
		fmt.Fprintf(&lines, " %s\n", x.section)
	}
	where := "Report: " + page
	if len(list) > 1 {
		where = fmt.Sprintf("%d reports: %s", len(list), filepath.Dir(page))
	}
	text := fmt.Sprintf("cc-later ran unattended since the last session: %s (%s).%s\n%s\n%s", sum, term.Visible(strings.Join(cut(names, 4), ", ")), sum.warning(), where, lines.String())
	step("announce")
	return state.WriteFile(path, []byte(text), 0o600)
}

func parseTally(l string) (t tally, ok bool) {
	rest, ok := strings.CutPrefix(l, "#")
	numbers := t.numbers()
	f := strings.SplitN(rest, " ", len(numbers)+2)
	if !ok || len(f) < len(numbers)+2 {
		return t, false
	}
	t.run, t.section = f[0], f[len(f)-1]
	for i, at := range numbers {
		n, err := strconv.Atoi(f[i+1])
		if err != nil {
			return t, false
		}
		*at = n
	}
	return t, true
}
