//go:build unix

package dispatch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

// in goes on in another repository of the user's.
func (w *world) in(name string) {
	w.Helper()
	w.repo = filepath.Join(w.dir, name)
	if err := os.CopyFS(w.repo, os.DirFS(template())); err != nil {
		w.Fatal(err)
	}
}

// Work that waits until the person has committed a file takes no agent's place: it
// is shown as what it is, and others start.
func TestMergesThatWait(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true", "DISPATCH_MAX_AGENTS=2")
	w.plan(`echo agent > a.txt; all DONE "changed"`)
	var repos []string
	for _, name := range []string{"first", "second"} {
		w.in(name)
		repos = append(repos, w.repo)
		w.put(filepath.Join(w.repo, "a.txt"), "the person's\n")
		w.add("A", "change a")
		if r := w.tick(); len(r.Started) != 1 {
			t.Fatalf("%+v", r)
		}
		w.ended()
		if r := w.look(); r.Running != 0 || r.Waiting != len(repos) || len(r.Ended) != 0 {
			t.Fatalf("%+v", r)
		}
	}
	if got := w.wants(); strings.Count(got, "the agent has ended, and its work waits: the merge would change") != 2 {
		t.Errorf("status says %s", got)
	}
	v, err := w.world().View(t.Context(), w.repo)
	if err != nil || v.AtWork() != 0 || len(v.Agents) != 2 {
		t.Errorf("%d of %d agents at work, %v", v.AtWork(), len(v.Agents), err)
	}
	if task := v.Queues[0].Sections[0].Tasks[0]; task.Running || !task.Merging {
		t.Errorf("%+v", task)
	}
	// Nobody is at work, so it is the person who adds to a queue that they trust.
	w.note(w.trusted())
	w.put(w.queuePath(), w.queue()+"\n## B\n- [ ] by the person\n")
	w.look()
	if k := w.known("by the person"); k.Source != later.Vouched {
		t.Errorf("%+v", k)
	}

	w.in("third")
	w.add("A", "change it here, too")
	if r := w.tick(); len(r.Started) != 1 {
		t.Fatalf("a third repository has to wait: %+v", r)
	}
	w.ended()
	w.look()
	stop := w.world()
	if err := stop.Prepare(); err != nil {
		t.Fatal(err)
	}
	if n, waiting, err := stop.Stop(t.Context(), time.Minute); n != 0 || waiting != 2 || err != nil {
		t.Errorf("%d agents ended, %d wait, %v", n, waiting, err)
	}
	for _, w.repo = range repos {
		w.git("commit", "-q", "-am", "by the person")
		w.git("revert", "-n", "HEAD")
		w.git("commit", "-q", "-m", "back")
		if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "1 done; merged into main") {
			t.Errorf("%+v", r)
		}
		if k := w.known("change a"); k.Verdict != schedule.Done {
			t.Errorf("%+v", k)
		}
	}
	w.clean()
}
