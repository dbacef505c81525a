package dispatch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/usage"
)

// reconcile looks at every run: one that is at work is left alone, unless it is
// stuck; what the others have left is taken over.
func (w *World) reconcile(ctx context.Context, r *Result) {
	ended := 0
	for _, root := range sorted(w.state.Repos) {
		for _, run := range slices.Clone(w.state.Repos[root].Agents) {
			if ctx.Err() != nil {
				return
			}
			says, over := w.settle(ctx, root, run)
			if says != "" {
				r.Ended = append(r.Ended, says)
			}
			if over {
				ended++
			}
			if err := w.state.save(w.App); err != nil {
				r.Problems = append(r.Problems, err.Error())
			}
		}
	}
	if ended > 0 {
		w.log("reconcile", fields{"completed": ended})
	}
}

func sorted[V any](m map[string]V) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// settle deals with one run and reports whether it is over, and what came of it.
func (w *World) settle(ctx context.Context, root string, run *Run) (says string, over bool) {
	if run.ID == "" {
		return w.adopt(ctx, root, run)
	}
	rec, err := w.store.Load(run.ID)
	switch {
	case errors.Is(err, agent.ErrUnknown):
		rec = agent.Record{}
	case err != nil:
		run.Waits = err.Error()
		return "", false
	}
	switch {
	case err != nil || rec.Phase() == agent.NeverStarted:
		w.undo(ctx, root, run, errors.New("it was not started"))
		return "", true
	case rec.Phase() == agent.Running:
		return w.attend(root, run)
	}
	return w.collect(ctx, root, run)
}

// attend looks at an agent that is at work, and stops it if it is stuck.
func (w *World) attend(root string, run *Run) (says string, over bool) {
	rec, err := w.store.Look(run.ID, w.Env.Now())
	if err != nil {
		w.log("error", fields{"reason": "agents", "section": run.Section, "detail": err.Error()})
		return "", false
	}
	if !w.config.Nudge || !rec.Pulse.Stale(w.config.Stale) {
		return "", false
	}
	w.log("nudge_stale", fields{"repo": root, "pid": run.PID, "section": run.Section, "retries": run.Retries})
	step("stop stuck agent")
	if err := w.store.Stop(run.ID, w.clock()); err != nil {
		run.Waits = "it is stuck and could not be stopped: " + err.Error()
	}
	return "", false // the next look finds it over
}

func (w *World) clock() proc.Clock { return proc.Clock{Now: w.Env.Now, Sleep: w.Env.Sleep} }

// collect takes over what an agent has left. Each step can be done again, and what
// must not be done twice is noted: a tick may be killed between any two.
func (w *World) collect(ctx context.Context, root string, run *Run) (says string, over bool) {
	run.Over = true
	// What it has started would go on changing its worktree, and keep it from being
	// removed.
	w.leftovers(run)
	out, err := agent.ReadOutcome(run.ResultPath, run.ResultPath+".err")
	if err != nil {
		run.Waits = err.Error()
		return "", false
	}
	w.hear(out)
	verdict := w.judge(run, out)
	var kept, merged string
	if run.Writes && run.Worktree != nil {
		var err error
		kept, merged, err = w.deliver(ctx, root, run, verdict)
		if err != nil {
			run.Waits = advice(err)
			w.log("merge_waits", fields{"repo": root, "section": run.Section, "branch": deref(run.Branch), "detail": err.Error()})
			return "", false
		}
	}
	step("mark done")
	if err := w.markDone(root, run, verdict); err != nil {
		run.Waits = "what is done could not be ticked off: " + err.Error()
		return "", false
	}
	w.finish(root, run, verdict)
	says = w.report(ctx, root, run, out, verdict, kept, merged)
	if run.Worktree != nil && kept == "" {
		w.removeTree(ctx, run)
	}
	w.forget(root, run)
	return says, true
}

// hear keeps what the host has said of the account's limits.
func (w *World) hear(out agent.Outcome) {
	now := w.Env.Now()
	var said usage.Limits
	for _, win := range out.Windows {
		l := usage.Limit{Used: win.Used, Resets: win.Reset, Status: win.Status, Seen: now, Source: usage.FromRun}
		switch win.Name {
		case "five_hour":
			said.FiveHour = l
		case "seven_day":
			said.SevenDay = l
		}
	}
	if out.Kind == agent.Limited && said.FiveHour.Status != usage.Rejected && said.SevenDay.Status != usage.Rejected {
		l := usage.Limit{Used: 100, Resets: out.Reset, Status: usage.Rejected, Seen: now, Source: usage.FromRefusal}
		if !out.Reset.IsZero() && out.Reset.Sub(now) > w.config.Duration {
			said.SevenDay = l
		} else {
			said.FiveHour = l
		}
	}
	step("record limits")
	if err := usage.RecordLimits(w.App, said, now); err != nil {
		w.log("error", fields{"reason": "limits", "detail": err.Error()})
	}
	w.limits = usage.ReadLimits(w.App)
	if out.Kind == agent.Unauthorized {
		w.switchOff("an agent was refused (" + out.Reason + ")")
	}
}

// verdicts says what came of a task, and why.
type verdicts func(Task) (schedule.Verdict, string)

func all(v schedule.Verdict, why string) verdicts {
	return func(Task) (schedule.Verdict, string) { return v, why }
}

// judge returns what came of each task of a run.
func (w *World) judge(run *Run, out agent.Outcome) verdicts {
	switch out.Kind {
	case agent.Limited:
		return all(schedule.Limited, out.Reason)
	case agent.Throttled, agent.Refused:
		return all(schedule.Throttled, out.Reason)
	case agent.Unauthorized:
		return all(schedule.Refused, out.Reason)
	case agent.Interrupted, agent.Killed, agent.NoResult:
		if run.Stopped {
			return all(schedule.Stopped, "you ended it")
		}
		return all(schedule.Ended, string(out.Kind))
	}
	var ids []string
	for _, t := range run.Entries {
		ids = append(ids, t.ID)
	}
	said := map[string]agent.Statement{}
	for _, s := range agent.Statements(out.Text, ids) {
		said[s.ID] = s
	}
	return func(t Task) (schedule.Verdict, string) {
		s := said[t.ID]
		why := s.Summary
		if s.Reason != "" {
			why = strings.TrimSpace(s.Reason + ": " + why)
		}
		switch {
		case s.Said:
			return schedule.Verdict(s.Status), why
		case out.Kind == agent.Completed:
			return schedule.Failed, "the agent did not say what came of it"
		}
		return schedule.Failed, strings.TrimSpace(string(out.Kind) + ": " + out.Reason)
	}
}

// some reports whether a run has a task with one of the verdicts.
func some(run *Run, v verdicts, of ...schedule.Verdict) bool {
	return slices.ContainsFunc(run.Entries, func(t Task) bool {
		got, _ := v(t)
		return slices.Contains(of, got)
	})
}

// deliver commits what a run has left in its worktree and merges it. kept is why
// the worktree stays for the person, merged what came of the work else. An error means
// that it cannot be merged at the moment. The verdicts are changed where the work
// did not get there.
func (w *World) deliver(ctx context.Context, root string, run *Run, verdict verdicts) (kept, merged string, err error) {
	tree, err := git.LoadWorktree(*run.Worktree)
	if errors.Is(err, os.ErrNotExist) {
		return "", "", nil // delivered and removed already
	}
	if err != nil {
		return "", "", err
	}
	if !run.Checked {
		w.compare(ctx, root, run)
		run.Checked = true
		step("save check")
		if err := w.state.save(w.App); err != nil {
			return "", "", err
		}
	}
	if len(run.Setup) > 0 {
		// Whatever came of the tasks: committing or removing would obey it.
		w.log("setup_changed", fields{"repo": root, "branch": tree.Branch, "changes": run.Changed})
		return w.hold(ctx, tree, run, "git's configuration or hooks changed while the agent was at work ("+strings.Join(cut(run.Changed, 5), "; ")+"), so nothing of it is committed")
	}
	if !some(run, verdict, schedule.Done) {
		if some(run, verdict, schedule.Failed, schedule.Skipped, schedule.NeedsHuman) {
			return w.keep(ctx, tree, run)
		}
		return "", "", nil // it goes on another time; removing it salvages what there is
	}
	step("commit")
	work, err := tree.CommitAll(ctx, w.message(run), trailers(run, verdict)...)
	if len(run.Changed) > 0 {
		w.log("checkout_changed", fields{"repo": root, "branch": tree.Branch, "changes": run.Changed})
	}
	switch {
	case errors.Is(err, git.ErrNothing) && len(run.Changed) > 0:
		return "", "no change in its worktree, but the checkout changed while it was at work (" + strings.Join(cut(run.Changed, 5), "; ") + ")", nil
	case errors.Is(err, git.ErrNothing):
		return "", "", nil
	case err != nil:
		return w.hold(ctx, tree, run, "it could not be committed: "+advice(err))
	case len(run.Changed) > 0:
		return w.hold(ctx, tree, run, "the checkout changed while the agent was at work ("+strings.Join(cut(run.Changed, 5), "; ")+")")
	}
	if touched, err := tree.Changed(ctx); err == nil && slices.Contains(touched, w.config.QueuePath) {
		return w.hold(ctx, tree, run, "the agent changed the queue itself")
	}
	var got git.Merged
	err = w.around(ctx, root, run, func() error {
		step("merge")
		got, err = tree.Integrate(ctx, w.message(run))
		return err
	})
	var conflict *git.ConflictError
	switch {
	case errors.As(err, &conflict):
		w.log("merge_conflict", fields{"repo": root, "branch": conflict.Branch, "section": run.Section, "files": conflict.Files, "worktree": tree.Path})
		return w.hold(ctx, tree, run, err.Error())
	case errors.Is(err, git.ErrNotNow):
		return "", "", err
	case err != nil:
		return w.hold(ctx, tree, run, "it could not be merged: "+advice(err))
	}
	if len(work.Left) > 0 {
		return w.hold(ctx, tree, run, "not all of it could be committed: "+strings.Join(cut(work.Left, 5), ", "))
	}
	w.log("merge", fields{"repo": root, "branch": tree.Branch, "target": tree.Target, "commit": got.Commit, "section": run.Section})
	return "", "merged into " + tree.Target, nil
}

// hold leaves the worktree to the person.
func (w *World) hold(ctx context.Context, tree *git.Worktree, run *Run, why string) (kept, merged string, err error) {
	step("hold worktree")
	if err := tree.Hold(ctx, why, run.Setup); err != nil {
		return "", "", err
	}
	run.Kept = why
	return why, "", nil
}

// keep leaves a worktree with work that the agent itself takes for failed, and lets
// one without any go.
func (w *World) keep(ctx context.Context, tree *git.Worktree, run *Run) (kept, merged string, err error) {
	step("remove untouched worktree")
	var unmerged *git.UnmergedError
	switch _, err := tree.Remove(ctx, false); {
	case errors.As(err, &unmerged):
		return w.hold(ctx, tree, run, "no task of it was done")
	case err != nil:
		return w.hold(ctx, tree, run, err.Error())
	}
	return "", "", nil
}

func cut(list []string, n int) []string {
	if len(list) > n {
		return append(slices.Clone(list[:n]), fmt.Sprintf("and %d more", len(list)-n))
	}
	return list
}

func (w *World) message(run *Run) string {
	if run.Resume || run.Section == "" {
		return "cc-later: " + run.name() + " tasks"
	}
	return "cc-later: " + run.Section + " tasks"
}

func trailers(run *Run, v verdicts) []string {
	var list []string
	for _, t := range run.Entries {
		if got, _ := v(t); got == schedule.Done {
			list = append(list, "Later-Task: "+t.ID)
		}
	}
	return list
}

// removeTree removes the worktree of a run; what is nowhere else gets a ref first.
func (w *World) removeTree(ctx context.Context, run *Run) {
	tree, err := git.LoadWorktree(*run.Worktree)
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	var gone git.Removal
	if err == nil {
		step("remove worktree")
		gone, err = tree.Remove(ctx, true)
	}
	if err != nil {
		w.log("error", fields{"reason": "worktree", "worktree": *run.Worktree, "detail": err.Error()})
		return
	}
	if gone.Salvage != "" {
		w.log("salvage", fields{"branch": deref(run.Branch), "ref": gone.Salvage})
	}
}

// markDone ticks off what is done.
func (w *World) markDone(root string, run *Run, v verdicts) error {
	var done []queue.Task
	for _, t := range run.Entries {
		if got, _ := v.of(run, t); got == schedule.Done && (run.ID == "" || w.ledger.Task(root, t.Text).Live) {
			done = append(done, queue.Task{ID: t.ID, Line: t.Line, Text: t.Text})
		}
	}
	return w.tickOff(root, done)
}

func (w *World) tickOff(root string, done []queue.Task) error {
	if len(done) == 0 {
		return nil
	}
	return later.QueueOf(root, w.config).Edit(w.App, saveWait, func(data []byte) ([]byte, error) {
		out, _, err := queue.MarkDone(data, done...)
		return out, err
	})
}

// of is what came of a task in the end: work that is kept for the person is not
// done yet.
func (v verdicts) of(run *Run, t Task) (schedule.Verdict, string) {
	got, why := v(t)
	if run.Kept != "" && got == schedule.Done {
		return schedule.Unmerged, run.Kept
	}
	return got, why
}

// finish notes what came of the tasks. Noted twice, it counts once.
func (w *World) finish(root string, run *Run, v verdicts) {
	var entries []later.Entry
	for _, t := range run.Entries {
		got, why := v.of(run, t)
		e := later.Entry{Time: w.now(), Event: later.Finished, Repo: root, Text: t.Text, Agent: run.ID, Verdict: got, Note: why}
		if got == schedule.Unmerged {
			e.Kept = deref(run.Worktree)
		}
		entries = append(entries, e)
		if got == schedule.Ended {
			event := "nudge_dead"
			if run.Retries >= w.config.MaxRetries {
				event = "agent_abandoned"
			}
			w.log(event, fields{"repo": root, "pid": run.PID, "section": run.Section, "retries": run.Retries})
		}
		if got == schedule.Limited {
			w.log("resume_scheduled", fields{"repo": root, "reason": "limit_exhausted", "entries": []Task{t}})
		}
	}
	step("note end")
	if err := w.note(entries...); err != nil {
		w.log("error", fields{"reason": "ledger", "detail": err.Error()})
	}
}

// forget drops a run that is dealt with.
func (w *World) forget(root string, run *Run) {
	w.state.repo(root).drop(run)
	step("forget run")
	if err := w.state.save(w.App); err != nil {
		w.log("error", fields{"reason": "state", "detail": err.Error()})
		return
	}
	os.Remove(w.snapFile(run))
	step("forget agent")
	if err := w.store.Forget(run.ID); err != nil && !errors.Is(err, agent.ErrUnknown) {
		w.log("error", fields{"reason": "agents", "detail": err.Error()})
	}
}

// leftovers stops what an agent has started and left running.
func (w *World) leftovers(run *Run) {
	left, err := w.store.Left(run.ID)
	if err != nil || len(left) == 0 {
		return
	}
	w.log("left_running", fields{"section": run.Section, "processes": len(left)})
	if err := w.store.Stop(run.ID, w.clock()); err != nil {
		w.log("error", fields{"reason": "left running", "detail": err.Error()})
	}
}

// adopt takes over an agent that the original has started. Its process is not
// known for certain, so it is given a day to write its result.
func (w *World) adopt(ctx context.Context, root string, run *Run) (says string, over bool) {
	out, err := agent.ReadOutcome(run.ResultPath, "")
	if err != nil || out.Rows == 0 && w.now().Sub(run.DispatchTS) < 24*time.Hour {
		return "", false
	}
	v := w.judge(run, out)
	kept := ""
	if run.Worktree != nil {
		kept = "it was made by another program, which is to merge it"
		run.Kept = kept
	}
	if err := w.markDone(root, run, v); err != nil {
		return "", false
	}
	w.finish(root, run, v)
	says = w.report(ctx, root, run, out, v, kept, "")
	w.state.repo(root).drop(run)
	return says, true
}

// tidy looks after what no run knows of: worktrees of runs that were killed, and
// agents that the state has lost.
func (w *World) tidy(ctx context.Context, r *Result) {
	known := map[string]bool{}
	for _, repo := range w.state.Repos {
		for _, run := range repo.Agents {
			known[run.ID] = true
			if run.Worktree != nil {
				known[*run.Worktree] = true
			}
		}
	}
	records, err := w.store.All()
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	for _, rec := range records {
		if known[rec.ID] {
			continue
		}
		w.log("lost_agent", fields{"dir": rec.Dir})
		step("stop lost agent")
		if err := w.store.Stop(rec.ID, w.clock()); err != nil {
			r.Problems = append(r.Problems, err.Error())
			continue
		}
		w.endLost(rec.ID)
		if err := w.store.Forget(rec.ID); err != nil {
			r.Problems = append(r.Problems, err.Error())
		}
	}
	orphans, err := git.Orphans(ctx, filepath.Join(w.App, worktreeName))
	if err != nil {
		r.Problems = append(r.Problems, err.Error())
	}
	for _, o := range orphans {
		if known[o.Path] {
			continue
		}
		w.orphan(ctx, o, r)
	}
}

// orphan removes a worktree that nobody works in, with a ref for what is only
// there; one that is held for a person stays until they have merged it, as does what
// is not ours. Status names what stays.
func (w *World) orphan(ctx context.Context, o git.Orphan, r *Result) {
	if o.Worktree == nil {
		r.Problems = append(r.Problems, o.Path+": "+o.Says)
		return
	}
	if o.Worktree.Held != "" && !o.Junk && !w.merged(ctx, o, r) {
		return
	}
	step("remove orphan")
	if _, err := o.Worktree.Remove(ctx, true); err != nil {
		r.Problems = append(r.Problems, err.Error())
		return
	}
	w.log("orphan_removed", fields{"worktree": o.Path})
}

// merged reports whether a person has merged what was kept for them. What is done by
// that is ticked off; asked again after a kill, it does the same.
func (w *World) merged(ctx context.Context, o git.Orphan, r *Result) bool {
	if ok, err := o.Worktree.Merged(ctx); err != nil || !ok {
		return false // it stays, and is named
	}
	for root, texts := range w.ledger.Kept(o.Path) {
		var done []queue.Task
		var entries []later.Entry
		for _, text := range texts {
			done = append(done, queue.Task{Text: text})
			entries = append(entries, later.Entry{Time: w.now(), Event: later.Merged, Repo: root, Text: text})
		}
		step("mark merged")
		err := w.tickOff(root, done)
		if err == nil {
			step("note merge")
			err = w.note(entries...)
		}
		if err != nil {
			r.Problems = append(r.Problems, "what you merged could not be ticked off: "+err.Error())
			return false
		}
		r.Ended = append(r.Ended, fmt.Sprintf("%s: %d done, merged by you", filepath.Base(root), len(done)))
		w.log("merged_by_person", fields{"repo": root, "branch": o.Worktree.Branch, "tasks": texts})
	}
	return true
}

// endLost notes that an agent which the state has lost is over.
func (w *World) endLost(id string) {
	var entries []later.Entry
	for repo, texts := range w.ledger.Running(id) {
		for _, text := range texts {
			entries = append(entries, later.Entry{Time: w.now(), Event: later.Finished, Repo: repo, Text: text, Agent: id, Verdict: schedule.Ended, Note: "its record was lost"})
		}
	}
	if err := w.note(entries...); err != nil {
		w.log("error", fields{"reason": "ledger", "detail": err.Error()})
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
