//go:build unix

package dispatch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/agent"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
)

// auto is a tick that nobody asks for.
func (w *world) auto() Result {
	w.Helper()
	r, err := w.world().Tick(w.Context(), Options{Repo: w.repo, Wait: time.Minute})
	if err != nil {
		w.Fatal(err)
	}
	return r
}

// note adds to the ledger what the person says.
func (w *world) note(e later.Entry) {
	w.Helper()
	to := w.world()
	if err := errors.Join(to.Prepare(), to.Note(e)); err != nil {
		w.Fatal(err)
	}
}

func (w *world) lines(name string) int {
	return strings.Count(w.read(filepath.Join(w.app(), name)), "\n")
}

func (w *world) wants() string {
	w.Helper()
	v, err := w.world().View(w.Context(), w.repo)
	if err != nil {
		w.Fatal(err)
	}
	return fmt.Sprint(v.Wants)
}

// What cannot be started is tried again after a while, not at each end of a turn.
func TestNotStartedWaits(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true", "WINDOW_DISPATCH_MODE=always")
	w.plan(`echo x > x.txt; all DONE "written"`)
	w.git("checkout", "-q", "--detach")
	w.add("", "write x")
	if r := w.auto(); len(r.Started) != 0 || len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "no branch checked out") {
		t.Fatalf("%+v", r)
	}
	ledger := w.lines(later.LedgerFile)
	for range 3 {
		w.later(20 * time.Second)
		if r := w.auto(); len(r.Problems) != 0 || r.Decision.Reason != schedule.NothingDue {
			t.Fatalf("%+v", r)
		}
	}
	if n := w.lines(later.LedgerFile); n != ledger {
		t.Errorf("the ledger grew from %d to %d lines", ledger, n)
	}
	if k := w.known("write x"); k.Attempts != 0 || k.Held != "" {
		t.Errorf("%+v", k)
	}
	if got := w.wants(); !strings.Contains(got, "no branch checked out") {
		t.Errorf("status does not say why: %s", got)
	}
	w.git("checkout", "-q", "main")
	w.note(later.Entry{Event: later.Retried, Repo: w.repo, Text: "write x"})
	if r := w.auto(); len(r.Started) != 1 {
		t.Errorf("%+v", r)
	}
	w.ended()
	w.look()
	w.clean()
}

// A line of a hundred thousand characters is no task, whoever trusts the file; it
// is not noted anew with each tick.
func TestTaskTooLong(t *testing.T) {
	w := newWorld(t)
	w.put(w.queuePath(), "- [ ] "+strings.Repeat("x", 80_000)+"\n- [ ] "+strings.Repeat("é", maxTask)+"\n")
	w.note(w.trusted())
	w.plan(`all DONE "read"`)
	if r := w.tick(); len(r.Started) != 1 || r.Running != 1 || len(w.state().Repos[w.repo].Agents[0].Entries) != 1 {
		t.Fatalf("%+v", r)
	}
	w.ended()
	w.look()
	ledger := w.lines(later.LedgerFile)
	w.look()
	w.look()
	if n := w.lines(later.LedgerFile); n != ledger {
		t.Errorf("the ledger grew from %d to %d lines", ledger, n)
	}
	if got := w.wants(); !strings.Contains(got, schedule.HeldLong) || strings.Contains(got, "trust") || len(got) > 1000 {
		t.Errorf("status says %s", got)
	}
	if q := w.queue(); strings.Count(q, "[x]") != 1 {
		t.Error("the longest task that may run did not")
	}
}

// A repository that was deleted is nobody's problem; what a command for the person
// names is quoted.
func TestRepositoryGone(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("", "write x")
	w.put(w.queuePath(), w.queue()+"- [ ] from somebody else\n")
	if got := w.wants(); !strings.Contains(got, "trust --repo '"+w.repo+"'") {
		t.Errorf("not to be pasted: %s", got)
	}
	if err := os.RemoveAll(w.repo); err != nil {
		t.Fatal(err)
	}
	r, err := w.world().Tick(w.Context(), Options{Repo: w.home, Manual: true, Wait: time.Minute})
	if err != nil || len(r.Problems) != 0 || len(r.Started) != 0 {
		t.Errorf("%+v %v", r, err)
	}
	if got := w.wants(); got != "[]" {
		t.Errorf("status says %s", got)
	}
}

// What an agent says is kept outside the repository, by whatever link the setting
// leads into it.
func TestOutputStaysOutside(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(w.dir, "link")
	if err := os.Symlink(w.repo, link); err != nil {
		t.Fatal(err)
	}
	w.set("DISPATCH_OUTPUT_PATH=" + filepath.Join(link, "new", "{repo}-{date}.json"))
	w.add("", "read a")
	w.plan(`all DONE "read"`)
	before := w.files(w.repo)
	w.tick()
	w.ended()
	w.look()
	after := w.files(w.repo)
	delete(before, w.queuePath())
	delete(after, w.queuePath())
	if d := same(before, after); d != "" {
		t.Errorf("changed: %s", d)
	}
	if w.known("read a").Verdict != schedule.Done {
		t.Errorf("%+v", w.known("read a"))
	}
}

// A state that cannot be got at is no empty one: its agents are not lost.
func TestStateOutOfReach(t *testing.T) {
	w := newWorld(t)
	w.add("", "read a")
	release := w.hold(`all DONE "read"`)
	w.tick()
	file := filepath.Join(w.app(), later.StateFile)
	good := w.read(file)
	w.put(file, good[:40])
	w.put(filepath.Join(file+".broken", "in the way"), "")
	if _, err := w.world().Tick(w.Context(), Options{Repo: w.repo, Wait: time.Minute}); err == nil {
		t.Error("a tick went on without a state")
	}
	if v, err := w.world().View(w.Context(), w.repo); err != nil || len(v.Wants) == 0 || !strings.Contains(v.Wants[0].What, "cannot be read") {
		t.Errorf("status: %v %v", v.Wants, err)
	}
	list, err := agent.Open(state.NewDir(w.app())).All()
	if err != nil || len(list) != 1 || list[0].Phase() != agent.Running {
		t.Errorf("the agent is gone: %v %v", list, err)
	}
	w.put(file, good)
	release()
	w.ended()
	w.look()
	if !strings.Contains(w.queue(), "[x]") {
		t.Errorf("queue %q", w.queue())
	}
}

// What the store does not know cannot keep the others from being ended.
func TestStopWithoutARecord(t *testing.T) {
	w := newWorld(t)
	w.add("A", "read a")
	w.add("B", "read b")
	w.plan(`while :; do sleep 0.01; done`)
	w.tick()
	runs := w.state().Repos[w.repo].Agents
	if len(runs) != 2 {
		t.Fatalf("%+v", runs)
	}
	store := agent.Open(state.NewDir(w.app()))
	if err := store.Stop(runs[0].ID, w.world().clock()); err != nil {
		t.Fatal(err)
	}
	if err := store.Forget(runs[0].ID); err != nil {
		t.Fatal(err)
	}
	stop := w.world()
	if err := stop.Prepare(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := stop.Stop(w.Context(), time.Minute); n != 1 || err != nil {
		t.Errorf("%d ended, %v", n, err)
	}
	w.clean()
}

// An agent of the original's that was at work when its user came to us.
func TestStateOfTheOriginal(t *testing.T) {
	w := newWorld(t)
	w.put(w.queuePath(), "# Later\n\n- [ ] handle expired sessions\n- [ ] another\n")
	id, result := queue.ID(2, "handle expired sessions"), filepath.Join(w.app(), "results", "r.json")
	w.put(result, `{"duration_api_ms":1,"result":"DONE `+id+`: handled","is_error":false,"subtype":"success","type":"result"}`+"\n")
	w.put(filepath.Join(w.app(), later.StateFile), fmt.Sprintf(`{"last_hook_ts": "2026-04-06T10:00:00.123456+00:00", "window_start_ts": null, "window_limit_ts": null,
	 "repos": {%q: {"in_flight": true, "agents": [{"section_name": "", "pid": 1, "result_path": %q, "branch": null, "worktree_path": null,
	 "entries": [{"id": %q, "line_index": 2, "priority": "P1", "text": "handle expired sessions"}], "dispatch_ts": "2026-04-06T10:00:00+00:00", "retries": 0}],
	 "resume_entries": [{"id": "t_0123456789", "line_index": 3, "priority": "P1", "text": "another"}], "resume_reason": "limit_exhausted", "dispatch_ts": "2026-04-06T10:00:00+00:00"}}}`, w.repo, result, id))
	r := w.tick()
	if len(r.Ended) != 1 || len(r.Started) != 0 {
		t.Errorf("%+v", r)
	}
	if q := w.queue(); q != "# Later\n\n- [x] handle expired sessions\n- [ ] another\n" {
		t.Errorf("queue %q", q)
	}
	w.clean()
}
