package git

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// Every test runs as if a hook of git had started it: with variables that
// point at another repository.
func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil } // processes end here, but no machine
	if op := os.Getenv("GIT_TEST_CHILD"); op != "" {
		os.Exit(runChild(op))
	}
	home, err := os.MkdirTemp("", "git-test-")
	if err != nil {
		panic(err)
	}
	for k, v := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home, "USERPROFILE": home,
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "A", "GIT_AUTHOR_EMAIL": "a@example.org",
		"GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
		"GIT_DIR": filepath.Join(home, "nowhere"), "GIT_WORK_TREE": home, "GIT_INDEX_FILE": filepath.Join(home, "no-index"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
	} {
		os.Setenv(k, v)
	}
	rc := m.Run()
	os.RemoveAll(home)
	os.Exit(rc)
}

// do runs git for the test itself.
func do(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "maintenance.auto=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = slices.DeleteFunc(environ(os.Environ(), true, false), func(kv string) bool { return strings.HasPrefix(kv, "GIT_ALLOW") })
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func put(t *testing.T, dir, name, data string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := proc.WriteProgram(path, data); err != nil {
		t.Fatal(err)
	}
	return path
}

// templates are repositories that tests copy: nearly all begin with one. The second
// one has a commit more.
var templates = sync.OnceValue(func() [2]string {
	home := os.Getenv("HOME")
	dirs := [2]string{filepath.Join(home, "first"), filepath.Join(home, "second")}
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	must(os.Mkdir(dirs[0], 0o755))
	must(os.WriteFile(filepath.Join(dirs[0], "a"), []byte("1\n2\n3\n4\n5\n6\n7\n8\n9\n"), 0o755))
	must(tryGit(dirs[0], "init", "-q", "-b", "main"))
	must(tryGit(dirs[0], "add", "a"))
	must(tryGit(dirs[0], "commit", "-q", "-m", "first"))
	must(os.CopyFS(dirs[1], os.DirFS(dirs[0])))
	must(os.WriteFile(filepath.Join(dirs[1], "gone"), []byte("1\n"), 0o644))
	must(os.WriteFile(filepath.Join(dirs[1], ".gitignore"), []byte("*.o\n"), 0o644))
	must(os.Chmod(filepath.Join(dirs[1], "a"), 0o755))
	must(tryGit(dirs[1], "add", "."))
	must(tryGit(dirs[1], "commit", "-q", "-m", "second"))
	return dirs
})

// repo makes a repository with one commit that holds a file named a.
func repo(t *testing.T) string { return copied(t, templates()[0]) }

func copied(t *testing.T, template string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func open(t *testing.T, dir string) *Repo {
	t.Helper()
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEnvironKeepsWhoAndDropsWhere(t *testing.T) {
	t.Parallel()
	parent := []string{
		"PATH=/bin", "GIT_DIR=/x", "git_dir=/x", "GIT_INDEX_FILE=/x", "GIT_CONFIG_PARAMETERS='a'", "GIT_CONFIG_COUNT=1",
		"GIT_AUTHOR_NAME=A", "GIT_SSH_COMMAND=ssh -v", "LANG=nb_NO.UTF-8", "LC_ALL=nb_NO.UTF-8", "SSH_ASKPASS=/x", "GPG_TTY=/dev/pts/1", "GIT_TRACE=1",
	}
	reads := environ(parent, false, false)
	for _, want := range []string{"PATH=/bin", "GIT_AUTHOR_NAME=A", "GIT_SSH_COMMAND=ssh -v", "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS="} {
		if !slices.Contains(reads, want) {
			t.Errorf("%s is missing in %q", want, reads)
		}
	}
	for _, kv := range reads {
		for _, gone := range []string{"GIT_DIR", "git_dir", "GIT_INDEX_FILE", "GIT_CONFIG_", "LANG", "LC_ALL=nb", "SSH_ASKPASS=", "GIT_TRACE"} {
			if strings.HasPrefix(kv, gone) {
				t.Errorf("%s was let through", kv)
			}
		}
	}
	acts := environ(parent, true, true)
	if !slices.Contains(acts, "LANG=nb_NO.UTF-8") || slices.Contains(acts, "LC_ALL=C") {
		t.Errorf("hooks lose the user's language: %q", acts)
	}
	if slices.Contains(acts, "GPG_TTY=/dev/pts/1") {
		t.Error("an unattended call could ask on the terminal")
	}
}

func TestHeadIsBounded(t *testing.T) {
	t.Parallel()
	h := head{limit: 5}
	for _, s := range []string{"abc", "defg", "hij"} {
		if n, err := h.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	}
	if n, err := h.ReadFrom(bytes.NewReader(make([]byte, 100))); n != 100 || err != nil {
		t.Errorf("ReadFrom = %d, %v", n, err)
	}
	if h.String() != "abcde" {
		t.Errorf("kept %q", h.String())
	}
}

// No configuration a repository brings along may start a program in a read.
func TestReadsRunNothingOfTheRepository(t *testing.T) {
	t.Parallel()
	dir := repo(t)
	canary := filepath.Join(t.TempDir(), "ran")
	evil := put(t, t.TempDir(), "evil", "#!/bin/sh\necho \"$0 $*\" >>'"+canary+"'\ncat\n")
	for _, kv := range [][2]string{
		{"core.fsmonitor", evil},
		{"core.pager", evil},
		{"core.hooksPath", filepath.Dir(evil)},
		{"diff.external", evil},
		{"core.askPass", evil},
		{"filter.f.clean", evil},
		{"filter.f.smudge", evil},
		{"filter.f.required", "true"},
		{"filter.p.process", evil},
		{"diff.f.textconv", evil},
		{"diff.f.command", evil},
		{"log.showSignature", "true"},
		{"gpg.program", evil},
		{"core.sshCommand", evil},
		{"core.editor", evil},
		{"alias.status", "!" + evil},
		{"credential.helper", "!" + evil},
		{"extensions.partialClone", "origin"},
		{"remote.origin.url", "ext::" + evil},
		{"remote.origin.promisor", "true"},
		{"protocol.ext.allow", "always"},
	} {
		do(t, dir, "config", kv[0], kv[1])
	}
	put(t, dir, ".git/info/attributes", "a filter=f diff=f\nb filter=p\n")
	put(t, filepath.Dir(evil), "post-index-change", "#!/bin/sh\necho hook >>'"+canary+"'\n")
	put(t, dir, "a", "changed\n")
	put(t, dir, "b", "new\n")
	// A signed commit whose parent is nowhere, as in a partial clone.
	raw := "tree " + strings.TrimSpace(do(t, dir, "rev-parse", "HEAD^{tree}")) + "\nparent " + strings.TrimSpace(do(t, dir, "rev-parse", "HEAD")) +
		"\nauthor A <a@example.org> 1 +0000\ncommitter A <a@example.org> 1 +0000\ngpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nsigned\n"
	put(t, dir, ".git/raw", raw)
	id := strings.TrimSpace(do(t, dir, "hash-object", "-t", "commit", "-w", ".git/raw"))
	do(t, dir, "update-ref", "refs/heads/main", id)
	os.Remove(canary)

	r := open(t, dir)
	if _, err := r.Status(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := r.Changes(t.Context(), false); err != nil {
		t.Error(err)
	}
	if list, err := r.Log(t.Context(), 3); err != nil || len(list) != 2 {
		t.Errorf("Log = %v, %v", list, err)
	}
	if _, err := r.Ignored(t.Context(), "b"); err != nil {
		t.Error(err)
	}
	if got, err := Tracked(t.Context(), dir, "a", "b"); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Errorf("Tracked = %v, %v", got, err)
	}
	if data, err := os.ReadFile(canary); err == nil {
		t.Errorf("the repository's configuration ran a program:\n%s", data)
	}
	// The canary works: the same repository makes plain git sing.
	do(t, dir, "status")
	if _, err := os.Stat(canary); err != nil {
		t.Error("the trap of this test is not armed")
	}
}
