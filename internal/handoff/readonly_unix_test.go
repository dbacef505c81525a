//go:build unix

package handoff

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A project that cannot be written: the artifact is with the plugin's data,
// the errors say so, and the repository is as it was.
func TestReadOnlyDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		// Root may write anywhere. Not in parallel: a process that another test
		// is just starting could hold the copied program open for writing.
		asNobody(t)
		return
	}
	t.Parallel()
	for name, all := range map[string]bool{"directory": false, "tree": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			index, refs := w.index(), w.git("for-each-ref")
			for _, dir := range dirs(t, w.project, all) {
				if err := os.Chmod(dir, 0o555); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { os.Chmod(dir, 0o755) })
			}
			r := w.run()
			if !strings.HasPrefix(r.ArtifactPath, w.data) || !has(r.Errors, "cannot be written") {
				t.Fatalf("artifact at %q, errors %q", r.ArtifactPath, r.Errors)
			}
			if text := w.read(r.ArtifactPath); !strings.Contains(text, "## Why") {
				t.Errorf("the artifact is %q", text)
			}
			if !has(r.Actions, r.ArtifactPath) {
				t.Errorf("actions %q do not say where it is", r.Actions)
			}
			if r.CommitID != "" || w.git("for-each-ref") != refs {
				t.Errorf("commit %q, refs:\n%s", r.CommitID, w.git("for-each-ref"))
			}
			if !sameBytes(index, w.index()) {
				t.Error("the index changed")
			}
		})
	}
}

// dirs returns root and, if all are wanted, the directories below it.
func dirs(t *testing.T, root string, all bool) []string {
	t.Helper()
	if !all {
		return []string{root}
	}
	var list []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// asNobody runs the calling test once more, in a process without root's
// rights.
func asNobody(t *testing.T) {
	t.Helper()
	uid, gid := 65534, 65534
	if u, err := user.Lookup("nobody"); err == nil {
		uid, _ = strconv.Atoi(u.Uid)
		gid, _ = strconv.Atoi(u.Gid)
	}
	// Neither the directory of the test binary nor t.TempDir is open to others.
	home, err := os.MkdirTemp("", "nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	test := filepath.Join(home, "handoff.test")
	if err := errors.Join(os.WriteFile(test, program, 0o755), os.Chown(home, uid, gid)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(test, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "TMPDIR="+home)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		t.Skipf("no other user to run as: %v", err)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}
