package state

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// git runs git in dir with nobody's settings.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// SECURITY.md: what is kept beside a .gitignore that a repository ships is never
// offered for a commit.
func TestShippedIgnoreFile(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		shipped map[string]string
		where   string // the project in the repository
		linked  bool   // in a linked worktree
		refused bool
	}{
		"ours":                    {map[string]string{"d/.gitignore": "*\n"}, "", false, false},
		"none":                    {nil, "", false, false},
		"takes all back":          {map[string]string{"d/.gitignore": "!*\n"}, "", false, false},
		"takes one back":          {map[string]string{"d/.gitignore": "*\n!session.md\n"}, "", false, false},
		"a comment":               {map[string]string{"d/.gitignore": "# nothing\n"}, "", false, false},
		"linked worktree":         {map[string]string{"d/.gitignore": "!*\n"}, "", true, false},
		"below the top":           {map[string]string{"a [b]/d/.gitignore": "!*\n"}, "a [b]", false, false},
		"the one above has a say": {map[string]string{"d/.gitignore": "!*\n", ".gitignore": "!d/\n"}, "", false, true},
		"by a pattern":            {map[string]string{"d/.gitignore": "!*\n", ".gitignore": "!*\n"}, "", false, true},
		"something else":          {map[string]string{"d/.gitignore": "!*\n", ".gitignore": "!keep.txt\n"}, "", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			git(t, top, "init", "-q")
			for file, content := range tt.shipped {
				os.MkdirAll(filepath.Join(top, filepath.Dir(file)), 0o755)
				os.WriteFile(filepath.Join(top, file), []byte(content), 0o644)
			}
			git(t, top, "add", "-f", ".")
			git(t, top, "commit", "-qm", "x", "--allow-empty")
			if tt.linked {
				other := filepath.Join(t.TempDir(), "other")
				git(t, top, "worktree", "add", "-q", other)
				top = other
			}
			d := NewDir(filepath.Join(top, tt.where, "d"))
			for range 2 {
				err := d.WithLock(wait, func(tx *Tx) error { return tx.Write("session.md", []byte("mine")) })
				if tt.refused {
					if !errors.Is(err, ErrExposed) || !strings.Contains(err.Error(), "git would offer it") {
						t.Errorf("%v", err)
					}
					if s := git(t, top, "status", "--porcelain", "-uall"); s != "" {
						t.Errorf("written all the same: %q", s)
					}
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if s := git(t, top, "status", "--porcelain", "-uall"); !tt.refused && s != "" {
				t.Errorf("git status says %q", s)
			}
		})
	}
}
