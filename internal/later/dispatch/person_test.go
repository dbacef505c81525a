//go:build unix

package dispatch

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

// Whoever merges what was kept for them has done the task.
func TestMergedByThePerson(t *testing.T) {
	for name, merge := range map[string][][]string{
		"merge":  {{"merge", "-q", "BRANCH"}},
		"squash": {{"merge", "-q", "--squash", "BRANCH"}, {"commit", "-q", "-m", "by hand"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.set("DISPATCH_ALLOW_FILE_WRITES=true")
			w.add("A", "write b", "write c")
			w.plan(`echo b > b.txt; set -- $ids; result "DONE $1: written\nFAILED (hard) $2: no"`)
			w.tick()
			w.put(filepath.Join(w.repo, "other.txt"), "by the person\n")
			w.ended()
			if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "other.txt") {
				t.Fatalf("%+v", r)
			}
			branch := strings.TrimSpace(strings.TrimLeft(w.git("branch", "--list", "cc-later/*"), "+* "))
			if r := w.look(); len(r.Ended) != 0 || w.known("write b").Held == "" {
				t.Fatalf("not merged yet: %+v", r)
			}
			for _, args := range merge {
				args = slices.Clone(args)
				if i := slices.Index(args, "BRANCH"); i >= 0 {
					args[i] = branch
				}
				w.git(args...)
			}
			if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "1 done, merged by you") {
				t.Errorf("%+v", r)
			}
			if q := w.queue(); !strings.Contains(q, "- [x] (P1) write b\n") || !strings.Contains(q, "- [ ] (P1) write c\n") {
				t.Errorf("queue %q", q)
			}
			if k := w.known("write b"); k.Held != "" || k.Verdict != schedule.Done {
				t.Errorf("%+v", k)
			}
			if k := w.known("write c"); k.Attempts != 1 {
				t.Errorf("%+v", k)
			}
			w.clean()
		})
	}
}

// What is thrown away is not done.
func TestDiscardedByThePerson(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; all DONE written`)
	w.tick()
	w.put(filepath.Join(w.repo, "other.txt"), "by the person\n")
	w.ended()
	w.look()
	list, _ := filepath.Glob(filepath.Join(w.app(), worktreeName, "*-A-*", "b.txt"))
	if len(list) != 1 {
		t.Fatalf("kept %q", list)
	}
	w.git("-C", filepath.Dir(list[0]), "reset", "-q", "--hard", "main")
	w.look()
	if q := w.queue(); strings.Contains(q, "[x]") || w.known("write b").Held == "" {
		t.Errorf("queue %q", q)
	}
}

// An agent that the person ends has not failed.
func TestStopped(t *testing.T) {
	w := newWorld(t)
	w.add("", "hang")
	w.plan(`echo '{"type":"system","subtype":"init"}'; exec sleep 300`)
	for range 4 { // more often than an agent may fail
		if r := w.tick(); len(r.Started) != 1 {
			t.Fatalf("%+v", r)
		}
		x := w.world()
		x.Prepare()
		if n, _, err := x.Stop(t.Context(), time.Minute); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		if k := w.known("hang"); k.Verdict != schedule.Stopped || k.Attempts != 0 || k.Retries != 0 || k.Held != "" {
			t.Fatalf("%+v", k)
		}
	}
	w.clean()
}

// By hand only the repository of whoever asks is worked on.
func TestByHandOnlyHere(t *testing.T) {
	w := newWorld(t)
	w.add("", "the task")
	other := filepath.Join(w.dir, "other")
	w.put(filepath.Join(other, "a.txt"), "")
	call := &host.Call{Profile: w.profile, Env: w.env()}
	q := later.QueueOf(other, later.ReadConfig(w.app(), w.profile))
	if _, err := later.Add(w.app(), q, "", later.Added, call, func(e ...later.Entry) error { return later.Append(w.app(), e...) }, []queue.Entry{{Text: "another task"}}); err != nil {
		t.Fatal(err)
	}
	w.plan(`all DONE fine`)
	if r := w.tick(); strings.Join(r.Started, ";") != "default of my repo" {
		t.Errorf("%+v", r)
	}
	w.ended()
	w.look()
	w.clean()
}

// What the plugins write while the person works is no change to the checkout.
func TestOwnFilesAreNoChange(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; all DONE written`)
	w.tick()
	w.put(filepath.Join(w.repo, ".reload", ".gitignore"), "*\n")
	w.put(filepath.Join(w.repo, ".reload", "session.md"), "a digest\n")
	w.put(w.queuePath(), w.queue()+"\n- [ ] something new\n")
	w.ended()
	x := w.world()
	x.StateDirs = []string{".reload"}
	r, err := x.Tick(t.Context(), Options{Repo: w.repo, Only: true, Wait: time.Minute})
	if err != nil || len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "merged into main") {
		t.Errorf("%+v, %v", r, err)
	}
	w.clean()
}
