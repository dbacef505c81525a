//go:build unix

package cli_test

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// fetching is a plugin without a runtime, whose launcher downloads one from a
// server on this machine. The runtime says "fetched" and its arguments.
type fetching struct {
	*testing.T
	launcher
	shell   []string
	data    string
	env     []string
	release []byte
	url     string       // of the server
	answer  atomic.Value // what it answers, a func(http.ResponseWriter, *http.Request)
	asked   atomic.Int32 // how often it was asked
	slept   string       // a file with a line for each wait, of so many seconds
}

type answer = func(http.ResponseWriter, *http.Request)

func newFetching(t *testing.T, shell []string) *fetching {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	f := &fetching{
		T: t, launcher: newLauncher(t, dir), shell: shell, data: filepath.Join(dir, "data"), slept: filepath.Join(dir, "slept"),
		release: []byte("#!/bin/sh\necho fetched \"$@\"\n# " + strings.Repeat("x", 200_000) + "\n"),
	}
	f.answer.Store(answer(f.good))
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	write(t, filepath.Join(dir, "checksums.txt"), fmt.Sprintf("%x  %s\n", sha256.Sum256(f.release), filepath.Base(f.bundled)))

	// The launcher waits by starting sleep. This one says for how long it was asked
	// to, and ends when the test wants it to.
	write(t, filepath.Join(dir, "tools", "sleep"), "#!/bin/sh\necho \"$1\" >>'"+f.slept+"'\nread -r _ <&5\nexit 0\n")
	if err := os.Chmod(filepath.Join(dir, "tools", "sleep"), 0o755); err != nil {
		t.Fatal(err)
	}
	f.env = []string{
		"PATH=" + filepath.Join(dir, "tools") + ":" + os.Getenv("PATH"), "HOME=" + dir,
		"CLAUDE_PLUGIN_DATA=" + f.data, "CCRELOAD_DOWNLOAD_BASE=" + f.url,
	}
	return f
}

func (f *fetching) serve(w http.ResponseWriter, r *http.Request) {
	f.asked.Add(1)
	f.answer.Load().(answer)(w, r)
}

func (f *fetching) good(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v"+f.version()+"/"+filepath.Base(f.bundled) {
		http.NotFound(w, r)
		return
	}
	w.Write(f.release)
}

// version is the one the launcher has.
func (f *fetching) version() string {
	f.Helper()
	data, err := os.ReadFile(f.script)
	if err != nil {
		f.Fatal(err)
	}
	return string(regexp.MustCompile(`(?m)^version=(.*)$`).FindSubmatch(data)[1])
}

// begin returns the launcher as a hook, or with a command. Its wait ends when the
// test calls wake. What it leaves at work has ended when end returns.
func (f *fetching) begin(args ...string) (cmd *exec.Cmd, wake, end func()) {
	f.Helper()
	if len(args) == 1 && args[0] != "doctor" {
		args = []string{"hook", "cc-reload", args[0]}
	}
	cmd = f.command(f.shell, args...)
	cmd.Env = f.env
	cmd.Stdin = strings.NewReader("{}\n")
	closed, gate, err := os.Pipe()  // read by sleep until it is closed
	ended, alive, err2 := os.Pipe() // held by every process
	null, err3 := os.Open(os.DevNull)
	if err := errors.Join(err, err2, err3); err != nil {
		f.Fatal(err)
	}
	cmd.ExtraFiles = []*os.File{null, null, closed, alive} // 5 and 6
	wake = func() { gate.Close() }
	return cmd, wake, func() {
		wake()
		closed.Close()
		alive.Close()
		null.Close()
		io.Copy(io.Discard, ended)
		ended.Close()
	}
}

// secure has the launcher download over TLS from a server that answers so, and
// returns the file with the authority that vouches for it.
func (f *fetching) secure(answer http.HandlerFunc) (authority string) {
	f.Helper()
	server := httptest.NewTLSServer(answer)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // a stranger's handshakes fail
	f.Cleanup(server.Close)
	f.env = append(f.env, "CCRELOAD_DOWNLOAD_BASE="+server.URL)
	authority = filepath.Join(filepath.Dir(f.script), "an authority.pem")
	write(f.T, authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})))
	return authority
}

// hook runs the launcher for an event and returns the line the user is shown, or
// what else it wrote.
func (f *fetching) hook(event string) string {
	f.Helper()
	cmd, _, end := f.begin(event)
	out := f.output(cmd)
	end()
	return out
}

func (f *fetching) output(cmd *exec.Cmd) string {
	f.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || stderr.Len() > 0 {
		f.Errorf("%q: %v, stderr %q", cmd.Args, err, stderr.String())
	}
	var said struct{ SystemMessage string }
	if strings.HasPrefix(string(out), "{") {
		if err := json.Unmarshal(out, &said); err != nil {
			f.Errorf("%v: %s", err, out)
		}
	}
	return cmp.Or(said.SystemMessage, strings.TrimSuffix(string(out), "\n"))
}

// waits is how many seconds the hooks have waited so far, as words.
func (f *fetching) waits() string {
	data, err := os.ReadFile(f.slept)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.Fatal(err)
	}
	return strings.Join(strings.Fields(string(data)), " ")
}

// note is the file that says when to try again.
func (f *fetching) note() string { return filepath.Join(f.data, "retry-"+f.version()) }

// minutes is how long it says to wait.
func (f *fetching) minutes() string {
	f.Helper()
	data, err := os.ReadFile(f.note())
	if err != nil {
		f.Fatal(err)
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

// later has time pass.
func (f *fetching) later(by time.Duration) {
	f.Helper()
	past := time.Now().Add(-by)
	if err := os.Chtimes(f.note(), past, past); err != nil {
		f.Fatal(err)
	}
}

// files lists a directory of the data.
func (f *fetching) files(dir string) string {
	f.Helper()
	entries, err := os.ReadDir(filepath.Join(f.data, dir))
	if err != nil {
		f.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "platform-") {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}

// wantGoodDay has a day pass, after which all is well.
func (f *fetching) wantGoodDay() {
	f.Helper()
	f.later(25 * time.Hour)
	f.answer.Store(answer(f.good))
	if got := f.hook("SessionStart"); got != "fetched hook cc-reload SessionStart" {
		f.Errorf("on the next good day it says %q", got)
	}
	if got := f.hook("Stop"); got != "fetched hook cc-reload Stop" {
		f.Errorf("and then %q", got)
	}
	if got, want := f.files("bin"), "ccreload-"+f.version()+"-"+strings.TrimPrefix(filepath.Base(f.bundled), "ccreload-"); got != want {
		f.Errorf("it leaves %q, want %q", got, want)
	}
	if got := f.files(""); got != "bin" {
		f.Errorf("beside bin it leaves %q", got)
	}
}

// Whatever a server does, a session says once what was wrong, its other hooks are
// silent, nobody asks again for a while, and the next good day puts it right.
func TestLauncherWithABadServer(t *testing.T) {
	t.Parallel()
	status := func(code int, after string) func(*fetching) answer {
		return func(*fetching) answer {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", after)
				w.WriteHeader(code)
			}
		}
	}
	const (
		hour = "60"
		day  = "1440"
	)
	tests := map[string]struct {
		answer func(*fetching) answer
		want   string // what the user reads
		wait   string // minutes until the next try
	}{
		"tampered": {func(f *fetching) answer {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Write(append([]byte("#!/bin/sh\nevil\n"), f.release...))
			}
		}, `what came is not what was released, and was thrown away: its sha256 is [0-9a-f]{64}, not [0-9a-f]{64}\.`, day},
		"truncated": {func(f *fetching) answer {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(len(f.release)))
				w.Write(f.release[:len(f.release)/2])
			}
		}, `the download broke off\.`, hour},
		"web page": {func(*fetching) answer {
			return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, " <!DOCTYPE html>\n<p>Log in") }
		}, `what came is a web page, as where a network wants you to log in\.`, hour},
		"redirect to http": {func(f *fetching) answer {
			f.env = append(f.env, "CURL_CA_BUNDLE="+f.secure(func(w http.ResponseWriter, r *http.Request) {
				f.asked.Add(1)
				http.Redirect(w, r, f.url, http.StatusFound)
			}))
			return nil
		}, `it leads to an address that is not https\.`, hour},
		"stranger": {func(f *fetching) answer {
			f.secure(f.serve)
			f.asked.Add(1)
			return nil
		}, `nobody here vouches for the certificate of the server\.`, hour},
		"redirect loop": {func(f *fetching) answer {
			return func(w http.ResponseWriter, r *http.Request) {
				f.asked.Add(-1)
				if r.URL.RawQuery == "" {
					f.asked.Add(1)
				}
				http.Redirect(w, r, "?again", http.StatusFound)
			}
		}, `it leads from one address to the next without end\.`, hour},
		"404":              {status(404, ""), `the server answers 404\.`, hour},
		"503":              {status(503, "120"), `the server answers 503\.`, hour},
		"503 for long":     {status(503, "7200"), `the server answers 503\.`, "121"},
		"503 until a date": {status(503, "Wed, 02 Dec 2026 20:00:00 GMT"), `the server answers 503\.`, hour},
		"503 for ever":     {status(503, "999999999999999999999"), `the server answers 503\.`, hour},
		"breaks off": {func(*fetching) answer {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}, `curl: \(52\) Empty reply from server\.`, hour},
		"proxy": {func(f *fetching) answer {
			f.env = append(f.env, "http_proxy="+f.url, "CCRELOAD_DOWNLOAD_BASE=http://releases.example.test")
			return status(407, "")(f)
		}, `the proxy wants a name and a password \(407\)\.`, hour},
		"proxy of https": {func(f *fetching) answer {
			f.env = append(f.env, "https_proxy="+f.url, "CCRELOAD_DOWNLOAD_BASE=https://releases.example.test")
			return status(407, "")(f)
		}, `the proxy wants a name and a password \(407\)\.`, hour},
		"nobody": {func(f *fetching) answer {
			f.env = append(f.env, "CCRELOAD_DOWNLOAD_BASE=http://127.0.0.1:9")
			f.asked.Add(1)
			return nil
		}, `nothing answers there\.`, hour},
	}
	all := shells()
	for i, name := range slices.Sorted(maps.Keys(tests)) {
		tt, shell := tests[name], all[i%len(all)]
		t.Run(name+"/"+filepath.Base(shell[0]), func(t *testing.T) {
			t.Parallel()
			f := newFetching(t, shell)
			usual := f.env
			if a := tt.answer(f); a != nil {
				f.answer.Store(a)
			}
			got := f.hook("SessionStart")
			if ok, _ := regexp.MatchString(`^cc-reload is installed, but .* could not be fetched: `+tt.want+` It is tried again later, and at once by .! ccreload doctor.\. `, got); !ok {
				t.Errorf("the user reads %q", got)
			}
			if got := f.minutes(); got != tt.wait {
				t.Errorf("the next try is in %s minutes", got)
			}
			for _, event := range []string{"Stop", "UserPromptSubmit", "SessionStart", "SessionEnd"} {
				if got := f.hook(event); got != "" {
					t.Errorf("then %s says %q", event, got)
				}
			}
			if n := f.asked.Load(); n != 1 {
				t.Errorf("the server was asked %d times", n)
			}
			if got := f.waits(); got != "4" {
				t.Errorf("waits of at most %q seconds, want one of 4", got)
			}
			f.env = usual
			f.wantGoodDay()
		})
	}
}

// A server that never answers costs one session a few seconds. Another session
// that starts meanwhile does not ask as well, and later ones go by what came of it.
func TestLauncherWithASilentServer(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		t.Run(filepath.Base(shell[0]), func(t *testing.T) {
			t.Parallel()
			f := newFetching(t, shell)
			asked, hangUp := make(chan bool), make(chan bool)
			f.answer.Store(answer(func(http.ResponseWriter, *http.Request) {
				asked <- true
				<-hangUp
				panic(http.ErrAbortHandler)
			}))
			first, wake, end := f.begin("SessionStart")
			said := make(chan string)
			go func() { said <- f.output(first) }()
			<-asked
			// The waits of the others end at once, if there are any.
			if got := f.hook("SessionStart"); !strings.HasPrefix(got, "cc-reload's runtime is being fetched; ") {
				t.Errorf("the second session says %q", got)
			}
			if got := f.hook("UserPromptSubmit"); got != "" {
				t.Errorf("the prompt says %q", got)
			}
			wake()
			if got := <-said; got != "" { // the other one has said it
				t.Errorf("the first session says %q", got)
			}
			close(hangUp)
			end()
			if got := f.waits(); got != "4" {
				t.Errorf("waits of at most %q seconds, want one of 4", got)
			}
			if got := f.hook("SessionStart"); !strings.Contains(got, "could not be fetched") {
				t.Errorf("when it is over, it says %q", got)
			}
			if got := f.hook("SessionStart"); got != "" {
				t.Errorf("and once more %q", got)
			}
			if n := f.asked.Load(); n != 1 || f.waits() != "4" {
				t.Errorf("asked %d times, waits %q", n, f.waits())
			}
			f.wantGoodDay()
		})
	}
}

// Each failure doubles the time until the next try, up to a day; doctor does not
// wait for it.
func TestLauncherBacksOff(t *testing.T) {
	t.Parallel()
	f := newFetching(t, shells()[0])
	f.answer.Store(answer(http.NotFound))
	for i, want := range []string{"60", "120", "240", "480", "960", "1440", "1440"} {
		f.hook("SessionStart")
		if got, n := f.minutes(), f.asked.Load(); got != want || int(n) != i+1 {
			t.Fatalf("after %d requests the next one is in %s minutes, want %s", n, got, want)
		}
		wait, err := time.ParseDuration(want + "m")
		if err != nil {
			t.Fatal(err)
		}
		f.later(wait - time.Minute)
		f.hook("SessionStart")
		if n := f.asked.Load(); int(n) != i+1 {
			t.Fatalf("%d requests a minute before it is time for another", n)
		}
		f.later(wait + time.Minute)
	}
	// What a wrong clock has dated is not waited for.
	f.later(-1000 * time.Hour)
	f.hook("SessionStart")
	if n := f.asked.Load(); n != 8 {
		t.Errorf("%d requests with a note from the future", n)
	}

	cmd, _, end := f.begin("doctor")
	out, err := cmd.CombinedOutput()
	end()
	if err == nil || !strings.Contains(string(out), "the server answers 404") || f.asked.Load() != 9 {
		t.Errorf("doctor: %v, %s, %d requests", err, out, f.asked.Load())
	}
	f.answer.Store(answer(f.good))
	cmd, _, end = f.begin("doctor")
	if got := f.output(cmd); got != "fetched doctor" {
		t.Errorf("doctor says %q", got)
	}
	end()
	if got := f.files(""); got != "bin" {
		t.Errorf("it leaves %q", got)
	}
}

// Two sessions that start together fetch the runtime once. The one that does not
// fetch it has it with its next hook.
func TestLauncherTwice(t *testing.T) {
	t.Parallel()
	f := newFetching(t, shells()[0])
	asked, others := make(chan bool), make(chan bool)
	f.answer.Store(answer(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-others
		f.good(w, r)
	}))
	first, _, end := f.begin("SessionStart")
	said := make(chan string)
	go func() { said <- f.output(first) }()
	<-asked
	for range 5 {
		if got := f.hook("SessionStart"); got != "" && !strings.Contains(got, "is being fetched") {
			t.Errorf("the other session says %q", got)
		}
	}
	close(others)
	if got := <-said; got != "fetched hook cc-reload SessionStart" {
		t.Errorf("the first session says %q", got)
	}
	end()
	if got := f.hook("Stop"); got != "fetched hook cc-reload Stop" || f.asked.Load() != 1 {
		t.Errorf("the other one goes on with %q, after %d requests", got, f.asked.Load())
	}
}

// A session that was killed while it fetched keeps the others from it for ten
// minutes, not for ever.
func TestLauncherWhoseFetchWasKilled(t *testing.T) {
	t.Parallel()
	f := newFetching(t, shells()[0])
	lock := filepath.Join(f.data, "fetching")
	write(t, filepath.Join(lock, "new"), "half")
	f.hook("SessionStart")
	if n := f.asked.Load(); n != 0 {
		t.Errorf("%d requests beside a fetch that goes on", n)
	}
	past := time.Now().Add(-11 * time.Minute)
	if err := os.Chtimes(lock, past, past); err != nil {
		t.Fatal(err)
	}
	if got := f.hook("SessionStart"); got != "fetched hook cc-reload SessionStart" {
		t.Errorf("it says %q", got)
	}
}

// older puts the runtime of another version into the cache. It says what it is
// given, or nothing.
func (f *fetching) older(version, says string, age time.Duration) {
	f.Helper()
	path := filepath.Join(f.data, "bin", strings.Replace(filepath.Base(f.bundled), "-", "-"+version+"-", 1))
	write(f.T, path, "#!/bin/sh\n"+says+"\n")
	past := time.Now().Add(-age)
	if err := errors.Join(os.Chmod(path, 0o755), os.Chtimes(path, past, past)); err != nil {
		f.Fatal(err)
	}
}

// After an update of the plugin in an open session, the newest runtime of before
// answers until the new one is here. That is said once, and the old ones go.
func TestLauncherAfterAnUpdate(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		t.Run(filepath.Base(shell[0]), func(t *testing.T) {
			t.Parallel()
			f := newFetching(t, shell)
			f.answer.Store(answer(http.NotFound))
			for i, version := range []string{"0.0.6", "0.0.5", "0.0.4", "0.0.10", "0.0.2"} {
				f.older(version, "case $3 in Pre*) echo "+version+" \"$@\" ;; esac", time.Duration(i+1)*time.Hour)
			}
			write(t, filepath.Join(f.data, "told-0.0.5"), "")
			write(t, filepath.Join(f.data, "retry-0.0.4"), "")
			steps := []struct{ event, want string }{
				{"PreToolUse", `^0\.0\.6 hook cc-reload PreToolUse$`},
				{"SessionEnd", `^$`}, // nobody would see it
				{"Stop", `^cc-reload goes on with ccreload 0\.0\.6 until ` + f.version() + ` is here\.$`},
				{"Stop", `^$`},
				{"PreToolUse", `^0\.0\.6 hook`},
				{"UserPromptSubmit", `^$`}, // fetches, and does not wait to see
				{"UserPromptSubmit", `^cc-reload goes on with .* is here: .* the server answers 404\.$`},
				{"SessionStart", `^$`},
			}
			for i, s := range steps {
				if got := f.hook(s.event); !regexp.MustCompile(s.want).MatchString(got) {
					t.Errorf("step %d, %s: %q, want %s", i, s.event, got, s.want)
				}
			}
			// So does the status line, whose script runs the newest launcher there is.
			cmd, _, end := f.begin("statusline", "now", "Pre")
			if got := f.output(cmd); got != "0.0.6 statusline now Pre" {
				t.Errorf("a command runs %q", got)
			}
			end()
			if n := f.asked.Load(); n != 1 || f.waits() != "" {
				t.Errorf("%d requests, waits of %q seconds", n, f.waits())
			}
			f.later(25 * time.Hour)
			f.answer.Store(answer(f.good))
			f.hook("UserPromptSubmit")
			if got := f.hook("Stop"); got != "fetched hook cc-reload Stop" {
				t.Errorf("when the new one is here, %q answers", got)
			}
			platform := strings.TrimPrefix(filepath.Base(f.bundled), "ccreload")
			if got, want := f.files("bin"), "ccreload-0.0.6"+platform+" ccreload-"+f.version()+platform; got != want {
				t.Errorf("it keeps %q, want %q", got, want)
			}
			if got := f.files(""); got != "bin" {
				t.Errorf("it keeps %q", got)
			}
		})
	}
}

// With no room for the runtime, or for anything, that is said; with room again all
// is well.
func TestLauncherWithoutRoom(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fill  string
		asked int32
	}{
		"for the runtime": {"true", 1},
		"for anything":    {`head -c 999999 /dev/zero >"$CLAUDE_PLUGIN_DATA/fill" 2>/dev/null; true`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFetching(t, shells()[0])
			if err := os.Mkdir(f.data, 0o755); err != nil {
				t.Fatal(err)
			}
			// In a view of its own of the file systems.
			mount := []string{"unshare", "--mount", "sh", "-c", `mount -t tmpfs -o size=64k none "$CLAUDE_PLUGIN_DATA" && ` + tt.fill + ` && "$@"; "$@"
				echo "waits: $(cat '` + f.slept + `' 2>/dev/null)"
				mount -o remount,size=8m "$CLAUDE_PLUGIN_DATA" && touch -d '25 hours ago' "$CLAUDE_PLUGIN_DATA"/retry-* && "$@"; "$@"`, "sh"}
			probe := exec.Command(mount[0], "--mount", "sh", "-c", `mount -t tmpfs none "$0"`, f.data)
			if err := probe.Run(); err != nil {
				t.Skip("nothing can be mounted here")
			}
			cmd, _, end := f.begin("SessionStart")
			path, err := exec.LookPath(mount[0])
			if err != nil {
				t.Fatal(err)
			}
			cmd.Path, cmd.Args = path, append(mount, cmd.Args...)
			out, err := cmd.Output()
			end()
			fetched := "fetched hook cc-reload SessionStart\n"
			want := `^\{"systemMessage":"cc-reload is installed, but .* cannot be written(, and| to .*, which) may be full\. .*\n` + "waits: 4?\n" + fetched + fetched + "$"
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%v\n%s\nwant\n%s", err, out, want)
			}
			if n := f.asked.Load(); n != tt.asked+1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// An authority that the host is told to trust, as in companies whose proxy opens
// what it passes on, is one for the download as well.
func TestLauncherWithAnAuthority(t *testing.T) {
	t.Parallel()
	for _, shell := range shells() {
		t.Run(filepath.Base(shell[0]), func(t *testing.T) {
			t.Parallel()
			f := newFetching(t, shell)
			f.env = append(f.env, "NODE_EXTRA_CA_CERTS="+f.secure(f.serve))
			f.wantFetched()
		})
	}
	t.Run("wget", func(t *testing.T) {
		t.Parallel()
		f := newFetching(t, shells()[0])
		f.withoutCurl()
		f.env = append(f.env, "NODE_EXTRA_CA_CERTS="+f.secure(f.serve))
		f.wantFetched()
	})
}

// wantFetched fails the test unless the first hook has the runtime, for one request.
func (f *fetching) wantFetched() {
	f.Helper()
	if got, n := f.hook("SessionStart"), f.asked.Load(); got != "fetched hook cc-reload SessionStart" || n != 1 {
		f.Errorf("after %d requests it says %q", n, got)
	}
}

// wget knows proxies by a name that the host does not.
func TestLauncherWithWgetBehindAProxy(t *testing.T) {
	t.Parallel()
	f := newFetching(t, shells()[0])
	f.withoutCurl()
	f.env = append(f.env, "HTTPS_PROXY="+f.url, "CCRELOAD_DOWNLOAD_BASE=https://releases.example.test")
	f.answer.Store(answer(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != "releases.example.test:443" {
			t.Errorf("%s %s", r.Method, r.Host)
		}
		http.Error(w, "no", http.StatusForbidden)
	}))
	if got, n := f.hook("SessionStart"), f.asked.Load(); !strings.Contains(got, "could not be fetched: ") || n != 1 {
		t.Errorf("after %d requests it says %q", n, got)
	}
}

// Where there is no curl, wget does it.
func TestLauncherWithWget(t *testing.T) {
	t.Parallel()
	f := newFetching(t, shells()[0])
	f.withoutCurl()
	f.answer.Store(answer(http.NotFound))
	if got := f.hook("SessionStart"); !regexp.MustCompile(`could not be fetched: .*404`).MatchString(got) {
		t.Errorf("it says %q", got)
	}
	f.wantGoodDay()
}

// withoutCurl leaves the launcher the few programs that it needs, and wget.
func (f *fetching) withoutCurl() {
	f.Helper()
	tools := filepath.Join(filepath.Dir(f.script), "few")
	if err := os.Mkdir(tools, 0o755); err != nil {
		f.Fatal(err)
	}
	for _, name := range []string{"sh", "wget", "uname", "find", "mkdir", "rm", "rmdir", "mv", "chmod", "sync", "tr", "sha256sum"} {
		path, err := exec.LookPath(name)
		if err != nil {
			f.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(tools, name)); err != nil {
			f.Fatal(err)
		}
	}
	f.env = append(f.env, "PATH="+filepath.Join(filepath.Dir(f.script), "tools")+":"+tools)
}
