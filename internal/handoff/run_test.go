package handoff

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// Every unusual state of a repository: the commit holds only our files or
// there is none, the index is byte-identical, the artifact exists, and the
// errors say what happened.
func TestStatesOfARepository(t *testing.T) {
	t.Parallel()
	diverged := func(w *world) {
		w.git("checkout", "-q", "-b", "other")
		w.put("a", "theirs\n")
		w.git("commit", "-q", "-am", "theirs")
		w.git("checkout", "-q", "main")
		w.put("a", "ours\n")
		w.git("commit", "-q", "-am", "ours")
	}
	for name, tt := range map[string]struct {
		prepare func(w *world)
		why     string // why there is no commit; "" when there is one
	}{
		"clean": {func(*world) {}, ""},
		"half-staged hunks and an untracked secret (case F52)": {func(w *world) {
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n")
			w.put("s", "staged\n")
			w.git("add", "a", "s")
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n")
			w.put(".env", "KEY=1\n")
		}, ""},
		"detached HEAD":   {func(w *world) { w.git("checkout", "-q", "--detach") }, "HEAD is detached"},
		"unborn HEAD":     {func(w *world) { w.git("checkout", "-q", "--orphan", "new") }, "no commit yet"},
		"merge":           {func(w *world) { diverged(w); tryGit(w.project, "merge", "other") }, "a merge is in progress"},
		"rebase":          {func(w *world) { diverged(w); tryGit(w.project, "rebase", "other") }, "a rebase is in progress"},
		"cherry-pick":     {func(w *world) { diverged(w); tryGit(w.project, "cherry-pick", "other") }, "a cherry-pick is in progress"},
		"bisect":          {func(w *world) { diverged(w); w.git("bisect", "start") }, "a bisect is in progress"},
		"held index.lock": {func(w *world) { w.put(".git/index.lock", "") }, "index.lock"},
		"failing pre-commit hook (case F53)": {func(w *world) {
			w.put(".git/hooks/pre-commit", "#!/bin/sh\necho style is wrong >&2\nexit 1\n")
		}, "style is wrong"},
		"hook that adds everything": {func(w *world) {
			w.put("junk", "x")
			w.put(".git/hooks/pre-commit", "#!/bin/sh\ngit add -A\n")
		}, "taken back"},
		"reformatting pre-commit hook": {func(w *world) {
			w.put(".git/hooks/pre-commit", "#!/bin/sh\nsed 's/^- /* /' NEXT-SESSION.local.md >t && mv t NEXT-SESSION.local.md && git add NEXT-SESSION.local.md\n")
		}, ""},
		"ignored artifact": {func(w *world) { w.put(".git/info/exclude", "*.local.md\n") }, "git ignores the handoff document"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			tt.prepare(w)
			index, refs := w.index(), w.git("for-each-ref")
			r := w.run()
			if !sameBytes(index, w.index()) {
				t.Error("the index changed")
			}
			if text := w.read(r.ArtifactPath); !strings.Contains(text, "## Why") {
				t.Errorf("the artifact is %q", text)
			}
			if tt.why != "" {
				if !has(r.Errors, tt.why) || r.CommitID != "" {
					t.Errorf("errors %q, commit %q; want %q", r.Errors, r.CommitID, tt.why)
				}
				if after := w.git("for-each-ref"); after != refs {
					t.Errorf("refs moved:\n%s", after)
				}
				return
			}
			if r.CommitID == "" || w.committed(w.project) != "NEXT-SESSION.local.md" {
				t.Errorf("commit %q holds %q; errors %q", r.CommitID, w.committed(w.project), r.Errors)
			}
			if subject := w.git("log", "-1", "--format=%s"); !strings.HasPrefix(subject, "docs(handoff): ") {
				t.Errorf("subject %q", subject)
			}
			// What was reformatted is what is recorded.
			if v := readLedger(state.NewDir(w.data)).judge(r.ArtifactPath, []byte(w.read(r.ArtifactPath))); v != ours {
				t.Errorf("the ledger calls it %v", v)
			}
		})
	}
}

func TestWorktreesAndSubmodules(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	linked := filepath.Join(state.RealPath(t.TempDir()), "linked")
	w.git("worktree", "add", "-q", "-b", "side", linked)
	main := w.index()
	r := w.run(func(o *Options) { o.Dir = linked })
	if r.ArtifactPath != filepath.Join(linked, "NEXT-SESSION.local.md") || w.committed(linked) != "NEXT-SESSION.local.md" {
		t.Errorf("case F39: %+v", r)
	}
	if !sameBytes(main, w.index()) || w.git("log", "-1", "--format=%s") != "first\n" {
		t.Error("case F39: the main worktree changed")
	}
	if !isFile(filepath.Join(w.project, ".handoff", "pending")) {
		t.Error("case F39: the project is not armed")
	}
	if text := w.read(r.ArtifactPath); !strings.Contains(text, "linked worktree") {
		t.Errorf("the artifact does not say so:\n%s", text)
	}

	super := newWorld(t)
	super.git("submodule", "--quiet", "add", w.project, "mod")
	super.git("commit", "-q", "-m", "module")
	outer := super.index()
	mod := filepath.Join(super.project, "mod")
	r = super.run(func(o *Options) { o.Dir = mod })
	if super.committed(mod) != "NEXT-SESSION.local.md" || !sameBytes(outer, super.index()) {
		t.Errorf("submodule: %q, %+v", super.committed(mod), r)
	}
	if text := super.read(r.ArtifactPath); !strings.Contains(text, "submodule") {
		t.Errorf("the artifact does not say so:\n%s", text)
	}
}

func TestWithoutARepository(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.RemoveAll(filepath.Join(w.project, ".git")); err != nil {
		t.Fatal(err)
	}
	r := w.run()
	if !has(r.Errors, "no git repository") || r.Git != (GitStatus{}) {
		t.Errorf("%+v", r)
	}
	if text := w.read("NEXT-SESSION.local.md"); !strings.Contains(text, "Not in a git repository") {
		t.Errorf("artifact:\n%s", text)
	}
}

func TestArtifactThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("NEXT-SESSION.local.md/keep", "a directory")
	r := w.run()
	if dir := filepath.Dir(r.ArtifactPath); dir != filepath.Join(w.project, ".handoff") {
		t.Errorf("artifact at %q", r.ArtifactPath)
	}
	if !has(r.Errors, "it was left alone") || r.CommitID != "" || r.Prompt == "" {
		t.Errorf("%+v", r)
	}
	if out := w.start("resume"); !strings.Contains(out.Context, "## Why") {
		t.Errorf("it is not handed over: %+v", out)
	}

	// A link in its place leads to a file of the user's.
	victim := w.put(filepath.Join(t.TempDir(), "bashrc"), "precious\n")
	w2 := newWorld(t)
	if err := os.Symlink(victim, filepath.Join(w2.project, "NEXT-SESSION.local.md")); err != nil {
		t.Skip(err)
	}
	w2.run()
	if w2.read(victim) != "precious\n" {
		t.Error("a link was followed")
	}
}

// case F53: signing that never answers ends at the deadline.
func TestSigningThatHangs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gpg := w.put(filepath.Join(t.TempDir(), "gpg"), "#!/bin/sh\ntrap 'exit 1' INT\nwhile :; do sleep 1; done\n")
	w.git("config", "gpg.program", gpg)
	w.git("config", "commit.gpgSign", "true")
	index := w.index()
	r := w.run(func(o *Options) { o.CommitTime = 300 * time.Millisecond })
	if r.CommitID != "" || !has(r.Errors, "no answer within") || !sameBytes(index, w.index()) || !isFile(r.ArtifactPath) {
		t.Errorf("%+v", r)
	}
}

// No other file gets in, and nothing is pushed.
func TestUnrelatedFilesStayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	w.git("clone", "-q", "--bare", w.project, remote)
	w.git("remote", "add", "origin", remote)
	w.git("fetch", "-q", "origin")
	w.git("branch", "-q", "-u", "origin/main")
	w.put("a", "dirty\n")
	w.put("TODO.md", "mine\n")
	w.put("REMEMBER.md", "ignored\n")
	w.put("notes/TODO.md", "not beside it\n")
	w.put(".git/info/exclude", "REMEMBER.md\n")
	r := w.run(func(o *Options) { o.Push = true })
	if got := w.committed(w.project); got != "NEXT-SESSION.local.md TODO.md" {
		t.Errorf("the commit holds %q", got)
	}
	if got := w.gitIn(remote, "log", "--format=%s", "--all"); got != "first\n" {
		t.Errorf("the remote has %q", got)
	}
	if !has(r.Errors, "not pushed") {
		t.Errorf("errors %q", r.Errors)
	}
	w.put("TODO.md", "half\n")
	w.git("add", "TODO.md")
	w.put("TODO.md", "half and half\n")
	w.now = w.now.Add(2 * time.Minute)
	if r := w.run(); w.committed(w.project) != "NEXT-SESSION.local.md" || !has(r.Errors, "TODO.md was left out") {
		t.Errorf("a half-staged TODO.md: %q, %q", w.committed(w.project), r.Errors)
	}
}

func TestPushNeedsAYes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	remote := filepath.Join(t.TempDir(), "remote.git")
	w.git("clone", "-q", "--bare", w.project, remote)
	w.git("remote", "add", "origin", remote)
	w.git("fetch", "-q", "origin")
	w.git("branch", "-q", "-u", "origin/main")
	var asked []string
	answers := []bool{true, false, true, true}
	ask := func(o *Options) {
		o.NonInteractive, o.Push = false, true
		o.Ask = func(q string) (bool, bool) {
			asked = append(asked, q)
			yes := answers[0]
			answers = answers[1:]
			return yes, true
		}
	}
	r := w.run(ask)
	if r.CommitID == "" || !has(r.Actions, "you said no") || w.gitIn(remote, "log", "-1", "--format=%s") != "first\n" {
		t.Errorf("%+v", r)
	}
	w.put("a", "x")
	w.now = w.now.Add(2 * time.Minute)
	r = w.run(ask)
	if !has(r.Actions, "pushed main to origin/main") || w.gitIn(remote, "log", "-1", "--format=%s") == "first\n" {
		t.Errorf("%+v", r)
	}
	if len(asked) != 4 || !strings.Contains(asked[0], "Commit NEXT-SESSION.local.md on branch main?") || !strings.Contains(asked[1], "Push main to origin/main?") {
		t.Errorf("asked %q", asked)
	}
}

func TestInteractiveRunsAskBeforeCommitting(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Options)
		action string
	}{
		"nobody there": {func(o *Options) { o.NonInteractive = false }, "no terminal to ask you on"},
		"no": {func(o *Options) {
			o.NonInteractive = false
			o.Ask = func(string) (bool, bool) { return false, true }
		}, "you said no"},
		"--no-commit": {func(o *Options) { o.NoCommit = true }, "as asked"},
		"option off":  {func(o *Options) { o.Settings.Commit = false }, "option commit is off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.run(tt.change)
			if r.CommitID != "" || !has(r.Actions, tt.action) || len(r.Errors) > 1 || w.committed(w.project) != "a" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("a", "dirty\n")
	before := w.git("status", "--porcelain")
	r := w.run(func(o *Options) { o.DryRun = true; o.Auto = true })
	if got := w.git("status", "--porcelain"); got != before || isFile(filepath.Join(w.data, ledgerFile)) || !isAbsent(filepath.Join(w.project, ".handoff")) {
		t.Errorf("status %q, was %q", got, before)
	}
	if !has(r.Actions, "would have written") || !has(r.Actions, "would have committed") {
		t.Errorf("actions %q", r.Actions)
	}
}

func isAbsent(path string) bool { _, err := os.Lstat(path); return errors.Is(err, os.ErrNotExist) }

func TestSecondRunLeavesAFreshArtifactAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	written := w.run().ArtifactPath
	if err := os.Chtimes(written, w.now, w.now); err != nil {
		t.Fatal(err)
	}
	text := w.read(written)
	if r := w.run(); !r.Skipped || w.read("NEXT-SESSION.local.md") != text {
		t.Errorf("%+v", r)
	}
	w.now = w.now.Add(61 * time.Second)
	r := w.run()
	if r.Skipped || w.read("NEXT-SESSION.local.md") == text {
		t.Errorf("%+v", r)
	}
	names := archiveOf(w.project).Names()
	if len(names) != 3 || w.read(archiveOf(w.project).Path(names[2])) != text {
		t.Errorf("the archive holds %q", names)
	}
	// A dirty tree has something new to say.
	w.put("a", "new\n")
	if r := w.run(); r.Skipped {
		t.Errorf("%+v", r)
	}
}

func TestArchiveKeepsTheNewest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range keepArchived + 3 {
		w.now = w.now.Add(2 * time.Minute)
		if _, err := keepCopy(w.project, "NEXT-SESSION-x.local.md", []byte("old"), w.now); err != nil {
			t.Fatal(err)
		}
	}
	w.put(".handoff/archive/notes.md", "mine")
	n := 0
	for _, name := range archiveOf(w.project).Names() {
		if isArchived(name) {
			n++
		}
	}
	if n != keepArchived {
		t.Errorf("%d artifacts are archived, want %d", n, keepArchived)
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, change := range []func(*Options){
		func(o *Options) { o.Slug = "///" },
		func(o *Options) { o.Kind = "sometimes" },
	} {
		o := w.options()
		change(&o)
		if _, err := Run(t.Context(), o); !problem.IsInput(err) {
			t.Errorf("error %v", err)
		}
	}
	if got := w.git("status", "--porcelain"); got != "" {
		t.Errorf("something was written: %q", got)
	}
}

// Whoever has something staged and commits it in a terminal, right after a
// session was handed over, must not take the artifact back with it.
func TestTheNextCommitOfTheUserKeepsTheArtifact(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"after an automatic run": func(o *Options) { o.Auto = true },
		"after a yes": func(o *Options) {
			o.NonInteractive = false
			o.Ask = func(string) (bool, bool) { return true, true }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.say(w.prompt("go on"))
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n")
			w.put("s", "staged\n")
			w.git("add", "a", "s")
			w.put("a", "ONE\n2\n3\n4\n5\n6\n7\n8\nNINE\n")
			staged, unstaged := w.git("diff", "--cached"), w.git("diff")
			r := w.run(change)
			if r.CommitID == "" || w.committed(w.project) != "NEXT-SESSION.local.md" {
				t.Fatalf("%+v", r)
			}
			if w.git("diff", "--cached") != staged || w.git("diff") != unstaged {
				t.Errorf("what is staged has changed:\n%s", w.git("status"))
			}
			if has(r.NextSteps, "git reset") {
				t.Errorf("next steps %q", r.NextSteps)
			}
			w.git("commit", "-q", "-m", "the user's own")
			if got := w.committed(w.project); got != "a s" {
				t.Errorf("case F52: the user's commit holds %q", got)
			}
			if got := w.git("status", "--porcelain"); got != " M a\n" {
				t.Errorf("status %q", got)
			}
		})
	}
}

// A script's run leaves the index alone, says so, and the next event tells it.
func TestTheIndexIsToldLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put("s", "staged\n")
	w.git("add", "s")
	index := w.index()
	r := w.run()
	if !sameBytes(index, w.index()) {
		t.Fatal("the run changed the index")
	}
	if !has(r.NextSteps, "run `git reset -q -- NEXT-SESSION.local.md` first") {
		t.Errorf("next steps %q", r.NextSteps)
	}
	w.goOn()
	if got := w.git("status", "--porcelain"); got != "A  s\n" {
		t.Errorf("status %q", got)
	}
	if isFile(filepath.Join(w.data, pendingFile)) {
		t.Error("it would be told again")
	}
}

func TestCommitOfAnEditedArtifact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.options()
	if _, err := Commit(t.Context(), o); err == nil {
		t.Error("there is nothing to commit")
	}
	r := w.run(func(o *Options) { o.NoCommit = true; o.Slug = "Parser: größe" })
	if filepath.Base(r.ArtifactPath) != "NEXT-SESSION-parser-gro-e.local.md" && !strings.HasPrefix(filepath.Base(r.ArtifactPath), "NEXT-SESSION-parser-") {
		t.Errorf("artifact %q", r.ArtifactPath)
	}
	w.put(r.ArtifactPath, w.read(r.ArtifactPath)+"\nmore: ghp_"+strings.Repeat("a1B2", 9)+"\n")
	r, err := Commit(t.Context(), o)
	if err != nil || r.CommitID == "" || r.Redacted != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := w.git("show", "HEAD"); strings.Contains(got, "ghp_a1") || !strings.Contains(got, "more: [redacted") {
		t.Errorf("the commit holds the secret:\n%s", got)
	}
}

func TestSecretsStayOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := "ghp_" + strings.Repeat("x9Y8", 9)
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\nQyNTUxOQAAACDsecret\n-----END OPENSSH PRIVATE KEY-----"
	w.say(
		w.prompt("use "+token+" and\n"+key+"\nin /home/ann/src"),
		w.bash("psql postgres://app:hunter2@db.local/app", "password hunter2 of postgres://app:hunter2@db.local/app refused", true),
		w.answer("Done with "+token, "claude-opus-5-5", 1000),
	)
	r := w.run()
	for what, text := range map[string]string{"artifact": w.read(r.ArtifactPath), "commit": w.git("show", "HEAD")} {
		for _, secret := range []string{token, "b3BlbnNza", "QyNTUxOQ", ":hunter2@", "/home/ann"} {
			if strings.Contains(text, secret) {
				t.Errorf("case F62: the %s holds %q:\n%s", what, secret, text)
			}
		}
	}
	if r.Redacted < 4 || !strings.Contains(w.read(r.ArtifactPath), "secrets were taken out") {
		t.Errorf("case F62: %d redacted", r.Redacted)
	}
	if !has(r.Actions, "secrets taken out") {
		t.Errorf("case F62: actions %q", r.Actions)
	}
}
