package reload

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// ownPage is a digest of owner with something to go on with.
func ownPage(owner, intent string) string {
	return "---\nsession_id: \"" + owner + "\"\nintent: \"" + intent + "\"\n---\n## Done this stretch\n- " + intent + "\n"
}

// kept returns the digests of the history, the newest first.
func (w *world) kept() (docs []string) {
	w.Helper()
	for _, name := range keptNames(state.NewDir(w.path(historyDir)).Names()) {
		docs = append(docs, w.read(filepath.Join(historyDir, name)))
	}
	return docs
}

// by is a writer that no hook of ours sees.
func (w *world) by(doc string) {
	w.Helper()
	w.put(digestFile, doc)
	w.now = w.now.Add(time.Minute)
}

func TestEveryHookKeepsTheDigest(t *testing.T) {
	t.Parallel()
	for _, event := range []host.Event{host.SessionStart, host.Stop, host.PreToolUse, host.PostToolUse, host.PreCompact} {
		w := newWorld(t)
		w.by(ownPage("s1", "one"))
		w.on(event, "s1")
		if got := w.kept(); len(got) != 1 || !sameDigest(got[0], ownPage("s1", "one")) {
			t.Errorf("%s: %q", event, got)
		}
		before := w.read(digestFile)
		w.by("mine")
		w.on(host.Stop, "s2")
		if got := w.kept(); len(got) != 2 || got[0] != "mine" || got[1] != before {
			t.Errorf("%s, then another page: %q", event, got)
		}
	}
}

// An ordinary Stop must not touch the history, whatever else it finds there.
func TestUnchangedDigestCostsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.by(ownPage("s1", "one"))
	w.on(host.Stop, "s1")
	if err := os.RemoveAll(w.path(historyDir)); err != nil {
		t.Fatal(err)
	}
	w.on(host.Stop, "s1")
	if w.has(historyDir) {
		t.Error("kept again")
	}
}

// A writer who keeps size and time is seen where the system tells.
func TestSameSizeSameTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	at := w.now
	for _, doc := range []string{ownPage("s1", "one"), ownPage("s2", "two")} {
		w.put(digestFile, doc)
		if err := os.Chtimes(w.path(digestFile), at, at); err != nil {
			t.Fatal(err)
		}
		w.on(host.Stop, "s1")
	}
	if info, err := os.Stat(w.path(digestFile)); err != nil || info.Sys() == nil {
		t.Skip("no more than size and time is known")
	}
	if got := w.kept(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestHistoryKeepsTheNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(filepath.Join(historyDir, "README.md"), "somebody else's")
	for i := range maxHistory + 5 {
		w.by(ownPage("s1", fmt.Sprint("page ", i)))
		w.on(host.Stop, "s1")
	}
	w.by(ownPage("s1", "page 10")) // again
	w.on(host.Stop, "s1")
	w.by(ownPage("s2", "page 10")) // by another session: the same in another stamp
	w.on(host.Stop, "s1")
	got := w.kept()
	if len(got) != maxHistory || got[0] != ownPage("s2", "page 10") || got[1] != ownPage("s1", "page 24") || slices.Contains(got, ownPage("s1", "page 10")) {
		t.Errorf("%d: %q", len(got), got)
	}
	if w.read(filepath.Join(historyDir, "README.md")) == "" {
		t.Error("somebody else's file is gone")
	}
}

// What stands in the way in the history stops nobody, and costs nobody a page.
func TestHistoryWithObstacles(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(*world){
		"a file in its place":     func(w *world) { w.put(historyDir, "x") },
		"a link in its place":     func(w *world) { os.Symlink(t.TempDir(), w.path(historyDir)) },
		"directories as digests":  func(w *world) { os.MkdirAll(w.path(filepath.Join(historyDir, keptName(1))), 0o755) },
		"a directory as its lock": func(w *world) { os.MkdirAll(w.path(filepath.Join(historyDir, ".lock")), 0o755) },
		"the last number is used": func(w *world) { w.put(filepath.Join(historyDir, "99999999.md"), "x") },
	} {
		w := newWorld(t)
		w.by(ownPage("s1", "one"))
		plant(w)
		w.on(host.Stop, "s1")
		w.by("mine")
		w.on(host.Stop, "s1")
		found := false
		filepath.WalkDir(w.path(""), func(path string, _ os.DirEntry, _ error) error {
			data, _ := os.ReadFile(path)
			found = found || string(data) == ownPage("s1", "one")
			return nil
		})
		if !found {
			t.Errorf("%s: the page is gone: %v", name, w.names())
		}
		// It is found again by the commands as well.
		list, err := w.store("s1").History()
		if i := slices.IndexFunc(list, func(k Kept) bool { return k.doc == ownPage("s1", "one") }); i < 0 || err != nil {
			t.Errorf("%s: not in the list %+v, %v", name, list, err)
		} else if _, err := w.store("s1").Restore(list[i].Number, false); err != nil || w.read(digestFile) != ownPage("s1", "one") {
			t.Errorf("%s: %v, %q", name, err, w.read(digestFile))
		}
		wrote, err := w.store("s1").Write([]byte(ownPage("s1", "three")), "", false)
		if useless := name[:2] == "a "; err != nil || strings.Contains(wrote.String(), "not kept in .reload/history") != useless {
			t.Errorf("%s: %v, %s", name, err, wrote)
		}
	}
}

// A copy beside the digest that the repository brought along is nobody's of here.
func TestListLeavesOutWhatGitTracks(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	w := newWorld(t)
	w.put(asideName("s0"), ownPage("s0", "theirs"))
	gitIn(t, w.project, "init", "-q")
	gitIn(t, w.project, "add", "-f", w.path(asideName("s0")))
	w.put(asideName("s1"), ownPage("s1", "ours"))
	list, err := w.store("s1").History()
	if err != nil || len(list) != 1 || list[0].Intent != "ours" {
		t.Errorf("%+v, %v", list, err)
	}
}

// Whose page was restored before its next turn ended is told what has happened.
func TestOwnerIsToldAfterARestore(t *testing.T) {
	t.Parallel()
	for by, want := range map[string]string{"": textIsBack, "s2": textIsBack, "s1": ""} {
		w := newWorld(t)
		w.by(ownPage("s1", "one"))
		w.on(host.Stop, "s1")
		w.by("mine") // seen by nobody
		if _, err := w.store(by).Restore(0, false); err != nil || w.read(digestFile) != ownPage("s1", "one") {
			t.Fatalf("%q: %v, %q", by, err, w.read(digestFile))
		}
		plain(t, w.on(host.Stop, "s9"))
		if out := w.on(host.Stop, "s1"); out.Message != want {
			t.Errorf("restored by %q: %q", by, out.Message)
		}
		plain(t, w.on(host.Stop, "s1"))
	}
}

// A snapshot turn that ends without a page leaves the one before it.
func TestDigestDeletedInASnapshotTurn(t *testing.T) {
	t.Parallel()
	w := newWorld(t).at(900_000, "claude-opus-5-5")
	w.put(configFile, "context_budget_mode: snapshot\n")
	w.by(ownPage("s1", "one"))
	if out := w.on(host.Stop, "s1"); out.Continue == "" {
		t.Fatalf("no snapshot: %+v", out)
	}
	if err := os.Remove(w.path(digestFile)); err != nil {
		t.Fatal(err)
	}
	says(t, w.on(host.Stop, "s1").Message, "is gone", "back in its place and armed")
	if got := w.read(digestFile); got != ownPage("s1", "one") || !w.has(armFile) {
		t.Errorf("%q, %v", got, w.names())
	}
}

// A digest that nobody can take a copy of is not replaced by a command.
func TestWriteNeedsACopy(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(digestFile, ownPage("s1", strings.Repeat("x", maxKept)))
	_, err := w.store("s2").Write([]byte(ownPage("s2", "two")), "", true)
	if err == nil || !strings.Contains(err.Error(), "could not be kept") || strings.Contains(w.read(digestFile), "two") {
		t.Errorf("%v", err)
	}
	large := ownPage("s1", strings.Repeat("x", maxFile+1))
	w.put(digestFile, large)
	wrote, err := w.store("s2").Write([]byte(ownPage("s2", "two")), "", true)
	if err != nil || w.kept()[1] != large {
		t.Errorf("%v", err)
	}
	says(t, wrote.String(), "ccreload reload restore")
}

// While another process holds the state directory, the guard still finds room.
func TestGuardKeepsWhileLocked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.by(ownPage("s1", "one"))
	err := dirOf(w.project).WithLock(time.Second, func(*state.Tx) error {
		says(t, w.on(host.PreToolUse, "s2").Message, "another session", asideName("s1"))
		return nil
	})
	if got := w.kept(); err != nil || len(got) != 1 || got[0] != ownPage("s1", "one") {
		t.Errorf("%v, %q", err, got)
	}
}

func TestWhoIsTold(t *testing.T) {
	t.Parallel()
	thin, mech := "# todo\n", strings.Replace(ownPage("s1", "one"), "intent: \"", "intent: \""+mechanicalMark+" fallback) ", 1)
	for name, tt := range map[string]struct {
		pages []string
		want  bool // of s1
	}{
		"its page is there":            {[]string{ownPage("s1", "one")}, false},
		"replaced by another's":        {[]string{ownPage("s1", "one"), ownPage("s2", "two")}, true},
		"replaced by nobody's":         {[]string{ownPage("s1", "one"), "mine"}, true},
		"it wrote another":             {[]string{ownPage("s1", "one"), ownPage("s1", "two")}, false},
		"it is back":                   {[]string{ownPage("s1", "one"), "mine", ownPage("s1", "one")}, false},
		"replaced, and then once more": {[]string{ownPage("s1", "one"), "mine", ownPage("s2", "two")}, true},
		"there was nothing to lose":    {[]string{thin, ownPage("s2", "two")}, false},
		"a program had written it":     {[]string{mech, ownPage("s2", "two")}, false},
		"another's was replaced":       {[]string{ownPage("s2", "two"), "mine"}, false},
	} {
		w := newWorld(t)
		for _, doc := range tt.pages {
			w.by(doc)
			w.on(host.Stop, "s9")
		}
		told := strings.Contains(w.on(host.Stop, "s1").Message, textReplaced)
		if told != tt.want {
			t.Errorf("%s: told %v", name, told)
		}
		if out := w.on(host.Stop, "s1"); out.Message != "" {
			t.Errorf("%s: told twice", name)
		}
	}
	// Who was given the page has not taken it from anybody.
	w := newWorld(t).armed()
	w.on(host.Stop, "s1")
	given(t, w.on(host.SessionStart, "s2"))
	w.on(host.UserPromptSubmit, "s2")
	plain(t, w.on(host.Stop, "s1"))
}

func TestIsThin(t *testing.T) {
	t.Parallel()
	form := "## Done this stretch\n%[1]s\n## In flight\n%[1]s\n## Next concrete step\n%[1]s\n## Open questions & risks\n%[1]s\n"
	for doc, want := range map[string]bool{
		"":                                  true,
		"x\n":                               true,
		"# todo\n":                          true,
		"---\nintent: y\n---\n":             true,
		"hello there\n":                     true,
		fmt.Sprintf(form, "- none"):         true,
		fmt.Sprintf(form, "- None so far."): true,
		fmt.Sprintf(form, "- n/a"):          true,
		fmt.Sprintf(form, "…"):              true,
		fmt.Sprintf(form, "- TBD"):          true,
		fmt.Sprintf(form, "- <fill in>"):    true,
		fmt.Sprintf(form, "- [what is done, with commits]"):                                    true,
		fmt.Sprintf(form, "- nothing"):                                                         true,
		fmt.Sprintf(form, "- the one thing to do first, exact enough to start without asking"): true,
		fmt.Sprintf(form, ""):                                                                  true,
		fmt.Sprintf(form, "- a"):                                                               false,
		fmt.Sprintf(form, "- none of the tests for expiry pass since the upgrade"):             false,
		"## Next concrete step\n- main.go\n":                                                   false,
		"## Done this stretch\n- none\n## Next concrete step\n- none\n## Notes\n- the parser eats the last line\n":                                                    false,
		"## Done this stretch\n- Nothing yet.\n## In flight\n- (none)\n## Next concrete step\n- None at the moment\n## Open questions & risks\n- No open questions\n": true,
		"## Open questions & risks\n- No open file handles may be left\n":                                                                                             false,
		"Moved the refresh out of the client; go test ./auth is next.\n":                                                                                              false,
		"令牌刷新已移出客户端\n": false,
	} {
		if got := isThin(doc); got != want {
			t.Errorf("%q: %v", doc, got)
		}
	}
}
