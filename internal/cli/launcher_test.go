//go:build unix

package cli_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	ossignal "os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// launcher is a plugin's bin directory of its own, with the launcher in it.
type launcher struct{ script, bundled string }

func newLauncher(t *testing.T, dir string) launcher {
	t.Helper()
	script, err := os.ReadFile("../../marketplace/plugins/cc-reload/bin/ccreload")
	if err != nil {
		t.Fatal(err)
	}
	l := launcher{filepath.Join(dir, "ccreload"), filepath.Join(dir, "ccreload-"+runtime.GOOS+"-"+runtime.GOARCH)}
	write(t, l.script, string(script))
	return l
}

// command is the launcher as shell runs it, with no environment but PATH.
func (l launcher) command(shell []string, args ...string) *exec.Cmd {
	argv := append(append(shell[1:len(shell):len(shell)], l.script), args...)
	cmd := exec.Command(shell[0], argv...)
	cmd.Dir = filepath.Dir(l.script) // some shells read a broken program as a script
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Dir(l.script)}
	return cmd
}

// shells are those of this machine that are sh somewhere.
func shells() (found [][]string) {
	for _, s := range []string{"sh", "dash", "bash --posix", "busybox sh", "ksh", "zsh --emulate sh"} {
		argv := strings.Fields(s)
		if path, err := exec.LookPath(argv[0]); err == nil {
			found = append(found, append([]string{path}, argv[1:]...))
		}
	}
	return found
}

// A hook ends with 0 however its runtime ends, since 2 blocks the session and
// anything else is shown as a fault. What a person runs through the same
// launcher ends as the runtime does.
func TestLauncherExitCode(t *testing.T) {
	t.Parallel()
	// What no machine can start and what dies when it is started.
	whole, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := func(body string) string {
		return "#!/bin/sh\n[ \"$1\" != version ] || exit 0\nread -r line\n" + body + "\n"
	}
	noRuntime := 1
	tests := map[string]struct {
		content string
		code    int // of a command
	}{
		"0":    {program("exit 0"), 0},
		"1":    {program("exit 1"), 1},
		"2":    {program("exit 2"), 2},
		"126":  {program("exit 126"), 126},
		"255":  {program("exit 255"), 255},
		"half": {string(whole[:len(whole)/2]), noRuntime},
		"head": {string(whole[:200]), noRuntime},
		"none": {"", noRuntime},
	}
	if whole[0] == 0x7f { // an ELF says at byte 18 which machine it is for
		foreign := bytes.Clone(whole[:1<<16])
		foreign[18] ^= 0xff
		tests["foreign"] = struct {
			content string
			code    int
		}{string(foreign), noRuntime}
	}
	for _, signal := range []syscall.Signal{
		syscall.SIGHUP, syscall.SIGINT, syscall.SIGABRT, syscall.SIGKILL, syscall.SIGSEGV, syscall.SIGPIPE, syscall.SIGTERM,
	} {
		if ossignal.Ignored(signal) {
			continue // by whoever started the tests, as nohup does; children inherit that
		}
		tests[signal.String()] = struct {
			content string
			code    int
		}{program(fmt.Sprintf("kill -%d $$", signal)), 128 + int(signal)}
	}
	for name, tt := range tests {
		for _, shell := range shells() {
			t.Run(name+"/"+filepath.Base(shell[0]), func(t *testing.T) {
				t.Parallel()
				l := newLauncher(t, t.TempDir())
				write(t, l.bundled, tt.content)
				if err := os.Chmod(l.bundled, 0o755); err != nil {
					t.Fatal(err)
				}
				for _, args := range [][]string{{"hook", "cc-reload", "Stop"}, {"hook", "cc-reload", "SessionStart"}, {}, {"doctor"}} {
					cmd := l.command(shell, args...)
					cmd.Stdin = strings.NewReader("{}\n")
					stdout, err := cmd.Output()
					want := 0
					if len(args) == 1 {
						want = tt.code
					}
					if got := cmd.ProcessState.ExitCode(); got != want || len(stdout) > 0 {
						t.Errorf("%q ends with %v (%v), want %d; stdout %q", args, cmd.ProcessState, err, want, stdout)
					}
				}
			})
		}
	}
}

// A hook needs no more than one processor, unless somebody has said otherwise;
// what people run by the same launcher has all of them.
func TestLauncherGivesHooksOneProcessor(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		l := newLauncher(t, t.TempDir())
		write(t, l.bundled, "#!/bin/sh\necho \"${GOMAXPROCS-all}\"\n")
		if err := os.Chmod(l.bundled, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			args []string
			env  string
			want string
		}{
			{[]string{"hook", "cc-reload", "Stop"}, "", "1"},
			{[]string{"hook", "cc-reload", "Stop"}, "GOMAXPROCS=4", "4"},
			{nil, "", "1"}, // a client that drops the arguments
			{[]string{"doctor"}, "", "all"},
		} {
			cmd := l.command(shell, tt.args...)
			if tt.env != "" {
				cmd.Env = append(cmd.Env, tt.env)
			}
			out, err := cmd.Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != tt.want {
				t.Errorf("%q %q with %q: %q, %v, want %q", shell, tt.args, tt.env, got, err, tt.want)
			}
		}
	}
}

// The launcher keeps something when a session starts only: a later hook may come
// right after an uninstall.
func TestLauncherKeepsAtTheStart(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		l := newLauncher(t, t.TempDir())
		write(t, l.bundled, "#!/bin/sh\n")
		if err := os.Chmod(l.bundled, 0o755); err != nil {
			t.Fatal(err)
		}
		data := t.TempDir()
		for _, tt := range []struct {
			event string
			kept  int
		}{{"Stop", 0}, {"UserPromptSubmit", 0}, {"SessionStart", 1}, {"Stop", 1}} {
			cmd := l.command(shell, "hook", "cc-reload", tt.event)
			cmd.Env = append(cmd.Env, "CLAUDE_PLUGIN_DATA="+data)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%q %s: %q, %v", shell, tt.event, out, err)
			}
			if kept, err := os.ReadDir(data); err != nil || len(kept) != tt.kept {
				t.Errorf("%q %s keeps %v, %v, want %d", shell, tt.event, kept, err, tt.kept)
			}
		}
	}
}

// The Go runtime ends with 2 where it gets no thread, and so does a shell that
// cannot fork. Neither may be the end of a hook.
func TestLauncherWithoutThreads(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("needs a user of its own, whose processes are counted")
	}
	// Somewhere that this user can go.
	dir, err := os.MkdirTemp("/tmp", "ccreload-threads")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	p := newPlace(t, t.TempDir())
	l := newLauncher(t, dir)
	program, err := os.ReadFile(p.binary)
	if err != nil {
		t.Fatal(err)
	}
	// Its name says what the test binary is to be.
	p.binary = l.bundled + ".d/ccreload"
	if err := os.Mkdir(filepath.Dir(p.binary), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, p.binary, string(program))
	write(t, l.bundled, "#!/bin/sh\nexec \"$0.d/ccreload\" \"$@\"\n")
	for _, path := range []string{l.script, l.bundled, p.binary} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const user = 54_321 // nobody else's, one hopes
	limited := func(n int, argv ...string) (int, string) {
		cmd := exec.Command("/bin/bash", append([]string{"-c", fmt.Sprintf(`ulimit -u %d; exec "$0" "$@"`, n)}, argv...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		cmd.Stdin = strings.NewReader(`{"hook_event_name":"Stop"}`)
		stdout, err := cmd.Output()
		if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(stdout)
	}
	if code, _ := limited(1, p.binary, "hook", "cc-reload", "Stop"); code != 2 {
		t.Errorf("a Go program with one thread ends with %d, not with 2: what is tried here?", code)
	}
	for _, shell := range shells() {
		for n := 1; n <= 4; n++ {
			if strings.HasSuffix(shell[0], "bash") && n == 1 {
				continue // tries for 15 s
			}
			code, stdout := limited(n, append(shell, l.script, "hook", "cc-reload", "Stop")...)
			if code != 0 || stdout != "" {
				t.Errorf("%q with %d processes ends with %d, says %q", shell, n, code, stdout)
			}
		}
	}
}

// Where the plugin's data lies on a file system that runs no programs, that is
// said once, and the runtime is fetched once and not at every start.
func TestLauncherNoexec(t *testing.T) {
	t.Parallel()
	mount := func(script string) *exec.Cmd { // in a view of its own of the file systems
		return exec.Command("unshare", "--mount", "sh", "-c", `mount -t tmpfs -o noexec none "$CLAUDE_PLUGIN_DATA" && `+script)
	}
	data := t.TempDir()
	probe := mount("true")
	probe.Env = append(os.Environ(), "CLAUDE_PLUGIN_DATA="+data)
	if err := probe.Run(); err != nil {
		t.Skip("nothing can be mounted here")
	}
	l := newLauncher(t, t.TempDir())
	runtime := []byte("#!/bin/sh\necho started\n")
	write(t, filepath.Join(filepath.Dir(l.script), "checksums.txt"), fmt.Sprintf("%x  %s\n", sha256.Sum256(runtime), filepath.Base(l.bundled)))
	for _, shell := range shells() {
		var fetched atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fetched.Add(1)
			w.Write(runtime)
		}))
		defer server.Close()
		start := l.command(shell, "hook", "cc-reload", "SessionStart")
		cmd := mount(`"$@" && "$@"`)
		cmd.Args = append(append(cmd.Args, "sh"), start.Args...)
		cmd.Env = append(start.Env, "CLAUDE_PLUGIN_DATA="+data, "CCRELOAD_DOWNLOAD_BASE="+server.URL)
		stdout, err := cmd.Output()
		if err != nil || strings.Count(string(stdout), "(noexec)") != 1 || strings.Count(string(stdout), "\n") != 1 || fetched.Load() != 1 {
			t.Errorf("%q: %v, fetched %d times, says %q", shell, err, fetched.Load(), stdout)
		}
	}
}
