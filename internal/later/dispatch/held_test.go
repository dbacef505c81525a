//go:build unix

package dispatch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

// report returns the only report there is.
func (w *world) report() string {
	w.Helper()
	pages, _ := filepath.Glob(filepath.Join(w.app(), "reports", "*.md"))
	if len(pages) != 1 {
		w.Fatalf("reports %q", pages)
	}
	return w.read(pages[0])
}

// do runs a command that a person was offered.
func (w *world) do(command string) string {
	w.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir, cmd.Env = w.home, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_EDITOR=echo by hand >")
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// Where git's configuration or hooks changed, a command of git would obey what an
// agent has planted: whatever came of the task, the person is first told to look, by
// everything that they read, and nothing of ours runs it.
func TestSetupChanged(t *testing.T) {
	for name, tt := range map[string]struct{ plan, says, file string }{
		"done":                          {`git -C "$MAIN" config core.fsmonitor "$RAN"; all DONE "did it"`, `".git/config" (core.fsmonitor)`, ".git/config"},
		"failed":                        {`git -C "$MAIN" config core.fsmonitor "$RAN"; all "FAILED (hard)" x`, `".git/config" (core.fsmonitor)`, ".git/config"},
		"no result":                     {`git -C "$MAIN" config alias.merge "!$RAN"; kill -9 $$`, `".git/config" (alias.merge)`, ".git/config"},
		"a hook":                        {`cp "$RAN" "$MAIN/.git/hooks/post-merge"; all DONE "did it"`, `".git/hooks/post-merge"`, ".git/hooks/post-merge"},
		"a filter on what it committed": {`git -C "$MAIN" config filter.x.clean "$RAN"; echo '* filter=x' > .gitattributes; git -c filter.x.clean= add -A; git -c filter.x.clean= -c user.name=x -c user.email=x@x commit -q -m x; touch b.txt; all DONE "did it"`, `".git/config" (filter.x.clean)`, ".git/config"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ran := filepath.Join(w.dir, "ran")
			w.program(ran+".sh", "#!/bin/sh\ntouch '"+ran+"'\n")
			w.set("DISPATCH_ALLOW_FILE_WRITES=true")
			w.add("A", "write b")
			w.plan("MAIN='" + w.repo + "'; RAN='" + ran + ".sh'; echo b > b.txt; " + tt.plan)
			w.tick()
			w.ended()
			w.look()
			w.look()
			v, err := w.world().View(t.Context(), w.repo)
			if err != nil || len(v.Wants) == 0 {
				t.Fatal(v.Wants, err)
			}
			if first := v.Wants[0]; !strings.Contains(first.What, "before you run git in my repo, look at "+tt.says) ||
				w.do(first.Command) != w.read(filepath.Join(w.repo, tt.file)) {
				t.Errorf("status says %q", v.Wants)
			}
			for _, want := range v.Wants {
				if strings.Contains(want.Command, "git -C") || strings.Contains(want.What, "asks for you") {
					t.Errorf("offers %q", want)
				}
			}
			if k := w.known("write b"); strings.Contains(tt.plan, "DONE") && (k.Held != schedule.HeldUnmerged || !strings.Contains(k.Note, filepath.Base(tt.file))) {
				t.Errorf("%+v", k)
			}
			report := w.report()
			if at := strings.Index(report, "first look at "+tt.says); at < 0 || strings.Index(report, "`git ") < at {
				t.Errorf("report:\n%s", report)
			}
			if says := w.read(later.ReportFile(w.app(), w.repo)); !strings.Contains(strings.SplitN(says, "\n", 2)[0], "Git's configuration or hooks changed") {
				t.Errorf("the session is told %q", says)
			}
			if _, err := os.Lstat(ran); err == nil {
				t.Error("what the agent planted was run")
			}
		})
	}
}

// Other work of the same repository is not offered with a command of git either.
func TestSetupChangedBesidesOthers(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; all DONE written`)
	w.tick()
	w.put(filepath.Join(w.repo, "other.txt"), "by the person\n")
	w.ended()
	w.look()
	if got := w.wants(); !strings.Contains(got, "merge cc-later/A-") {
		t.Fatal(got)
	}
	w.add("B", "write c")
	w.plan(`git -C '` + w.repo + `' config core.pager x; echo c > c.txt; all DONE written`)
	w.tick()
	w.ended()
	w.look()
	if got := w.wants(); strings.Contains(got, "git -C") || strings.Count(got, `look at ".git/config" (core.pager)`) != 2 {
		t.Errorf("status says %s", got)
	}
}

// What could not be committed is not on the branch: the command that is offered
// commits it first, and what it says is why.
func TestNotCommitted(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	hook := filepath.Join(w.repo, ".git/hooks/pre-commit")
	w.program(hook, "#!/bin/sh\n[ -e '"+w.dir+"/fine' ] && exit\necho no such commit >&2\nexit 1\n")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; all DONE "did it"`)
	w.tick()
	w.ended()
	w.look()
	v, err := w.world().View(t.Context(), w.repo)
	if err != nil || len(v.Wants) != 1 || !strings.Contains(v.Wants[0].What, `"write b": done, but not merged: it could not be committed`) || !strings.Contains(v.Wants[0].What, "no such commit") {
		t.Fatalf("%q, %v", v.Wants, err)
	}
	if command := v.Wants[0].Command; !strings.Contains(w.report(), command) {
		t.Errorf("report:\n%s\nwithout %s", w.report(), command)
	}
	w.put(filepath.Join(w.dir, "fine"), "")
	w.do(v.Wants[0].Command)
	if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "1 done, merged by you") {
		t.Errorf("%+v", r)
	}
	if w.read(filepath.Join(w.repo, "b.txt")) != "b\n" || !strings.Contains(w.queue(), "[x]") {
		t.Errorf("queue %q", w.queue())
	}
	w.clean()
}

// An agent that moves the branch itself has not been merged by the person, however
// often that is looked at; once they have put it back, their merge counts.
func TestBranchMovedByTheAgent(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	start := w.git("rev-parse", "main")
	w.add("A", "write b")
	w.plan(`echo b > b.txt; git add b.txt; git -c user.name=x -c user.email=x@x commit -q -m x; git update-ref refs/heads/main HEAD; all DONE "did it"`)
	w.tick()
	w.ended()
	w.look()
	for range 2 {
		if r := w.look(); len(r.Ended) != 0 || strings.Contains(w.queue(), "[x]") {
			t.Fatalf("counts as merged by the person: %+v", r)
		}
	}
	v, err := w.world().View(t.Context(), w.repo)
	if err != nil || len(v.Wants) != 1 || !strings.Contains(v.Wants[0].What, `"write b": done, and in main without a merge of yours`) || !strings.Contains(w.do(v.Wants[0].Command), "b.txt") {
		t.Fatalf("%q, %v", v.Wants, err)
	}
	w.git("update-ref", "refs/heads/main", start)
	w.look()
	v, err = w.world().View(t.Context(), w.repo)
	if err != nil || len(v.Wants) != 1 {
		t.Fatalf("%q, %v", v.Wants, err)
	}
	w.do(v.Wants[0].Command)
	if r := w.look(); len(r.Ended) != 1 || !strings.Contains(r.Ended[0], "1 done, merged by you") {
		t.Errorf("%+v", r)
	}
	w.clean()
}

// An agent that was killed while a command of its ran in the worktree: what it had
// changed is kept, the command is ended, and nothing of the worktree is left.
func TestKilledWithAChild(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo half > half.txt; (trap "" HUP; exec sleep 300) & touch '` + w.dir + `/ready'; kill -9 $$`)
	w.tick()
	w.until("the child", func() bool { _, err := os.Lstat(filepath.Join(w.dir, "ready")); return err == nil })
	w.ended()
	r := w.look()
	if len(r.Ended) != 1 || len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
	if s := w.git("for-each-ref", "refs/cc-later/salvage"); strings.Count(s, "salvage") != 1 {
		t.Errorf("what was half done is lost: %q", s)
	}
	w.clean()
}

// A worktree that could not be removed, since somebody looks at it, goes with the
// next tick that can.
func TestRemovedLater(t *testing.T) {
	w := newWorld(t)
	w.set("DISPATCH_ALLOW_FILE_WRITES=true")
	w.add("A", "write b")
	w.plan(`echo half > half.txt; kill -9 $$`)
	w.tick()
	tree := *w.state().Repos[w.repo].Agents[0].Worktree
	look := exec.Command("sleep", "300")
	look.Dir = tree
	if err := look.Start(); err != nil {
		t.Fatal(err)
	}
	w.ended()
	if r := w.look(); len(r.Ended) != 1 || !strings.Contains(strings.Join(r.Problems, ""), "a process is at work in the worktree") {
		t.Errorf("%+v", r)
	}
	look.Process.Kill()
	look.Wait()
	if r := w.look(); len(r.Problems) != 0 {
		t.Errorf("%+v", r)
	}
	w.clean()
}
