package cli_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// These benchmarks time whole processes, as the launcher starts them. Each run of
// the subject is followed by one of its baseline, so that a busy machine slows
// both alike. Two ratios are reported: that of the medians (x-median), and that of
// the fastest tenth of either side (x-base), which other processes disturb least.
// It is this one that has to keep the limit (x-base-limit).

// programs are the release builds under test and the empty Go program.
type programs struct{ empty, meter, reader, checker, runtime, generator string }

// meterSource runs a program and prints its peak memory and its minor page
// faults. The benchmark cannot ask for them itself: a process starts out with
// the peak of the one that forked it, and a program that prints would be in the
// way.
const meterSource = `package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin = os.Stdin
	if err := cmd.Run(); err != nil {
		fmt.Println(err)
		return
	}
	used := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	fmt.Print(used.Maxrss, used.Minflt)
}
`

// readerSource reads files, and does nothing with them.
const readerSource = `package main

import "os"

func main() {
	buf := make([]byte, 512<<10)
	for _, path := range os.Args[1:] {
		f, err := os.Open(path)
		if err != nil {
			panic(err)
		}
		for err == nil {
			_, err = f.Read(buf)
		}
		f.Close()
	}
}
`

// checkerSource looks at each byte of a file's lines, as whoever reads JSON has to.
const checkerSource = `package main

import (
	"bufio"
	"encoding/json"
	"os"
)

func main() {
	f, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		if !json.Valid(lines.Bytes()) {
			panic(lines.Text())
		}
	}
	if err := lines.Err(); err != nil {
		panic(err)
	}
}
`

var built = sync.OnceValues(func() (programs, error) {
	dir, err := os.MkdirTemp("", "ccreload-bench")
	if err != nil {
		return programs{}, err
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, source := range map[string]string{"empty.go": "package main\n\nfunc main() {}\n", "meter.go": meterSource, "reader.go": readerSource, "checker.go": checkerSource} {
		if err := os.WriteFile(in(name), []byte(source), 0o600); err != nil {
			return programs{}, err
		}
	}
	p := programs{in("empty"), in("meter"), in("reader"), in("checker"), in("ccreload"), in("ccreload-gen")}
	packages := map[string]string{p.empty: in("empty.go"), p.reader: in("reader.go"), p.checker: in("checker.go"), p.runtime: "../../cmd/ccreload", p.generator: "../../cmd/ccreload-gen"}
	if runtime.GOOS == "linux" {
		packages[p.meter] = in("meter.go")
	}
	for out, pkg := range packages {
		if err := release(out, pkg); err != nil {
			return programs{}, err
		}
	}
	return p, nil
})

// release builds pkg as a release is built, but for its version.
func release(out, pkg string, flags ...string) error {
	args := append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", out}, flags...)
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, msg)
	}
	return nil
}

func build(b *testing.B) programs {
	b.Helper()
	p, err := built()
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// process is one way to start a program.
type process struct {
	argv  []string
	env   []string
	stdin []byte
	warns bool // it may speak on stderr
}

// run starts the process, waits for it and returns how long that took and
// what it printed.
func (p process) run(b *testing.B) (time.Duration, string) {
	b.Helper()
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Env, cmd.Stdin = p.env, bytes.NewReader(p.stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	if err != nil || stderr.Len() > 0 && !p.warns {
		b.Fatalf("%q: %v\n%s", p.argv, err, &stderr)
	}
	return took, stdout.String()
}

// pair reports how much longer subject takes than base.
func pair(b *testing.B, base, subject process, limit float64) {
	b.Helper()
	base.run(b) // both in the page cache
	subject.run(b)
	var of, to []time.Duration
	for b.Loop() {
		d, _ := subject.run(b)
		of = append(of, d)
		d, _ = base.run(b)
		to = append(to, d)
	}
	b.ReportMetric(tenth(of, 5).Seconds()*1e3, "ms")
	b.ReportMetric(tenth(of, 5).Seconds()/tenth(to, 5).Seconds(), "x-median")
	keep(b, "x-base", tenth(of, 1).Seconds()/tenth(to, 1).Seconds(), limit)
}

// keep reports a figure beside its limit, and fails above it. The time of a whole
// round says nothing, and goes.
func keep(b *testing.B, unit string, figure, limit float64) {
	b.Helper()
	b.ReportMetric(figure, unit)
	b.ReportMetric(limit, unit+"-limit")
	b.ReportMetric(0, "ns/op")
	if figure > limit && b.N >= enough {
		b.Errorf("%.4g %s, the limit is %.4g", figure, unit, limit)
	}
}

// enough rounds say something; a benchmark is first run once, to see that it works.
const enough = 20

// tenth sorts list and returns what n tenths of it are below: 5 for the median.
func tenth[T cmp.Ordered](list []T, n int) T {
	slices.Sort(list)
	return list[len(list)*n/10]
}

// stopHook is a Stop of cc-reload. See stopOf.
func stopHook(b *testing.B, program string, size int, tail ...string) process {
	b.Helper()
	return stopOf(b, "cc-reload", program, size, tail...)
}

// stopOf is a Stop of a plugin in a project of its own, under its threshold, on
// a transcript of about size bytes whose newest reply is followed by rows
// that are no messages, as the client writes them.
func stopOf(b *testing.B, plugin, program string, size int, tail ...string) process {
	b.Helper()
	dir := b.TempDir()
	transcript := filepath.Join(dir, "s1.jsonl")
	writeTranscript(b, transcript, size, tail...)
	project, data := filepath.Join(dir, "project"), filepath.Join(dir, "data")
	for _, d := range []string{project, data} {
		if err := os.Mkdir(d, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	root, err := filepath.Abs("../../marketplace/plugins/" + plugin)
	if err != nil {
		b.Fatal(err)
	}
	return process{
		argv: []string{program, "hook", plugin, "Stop"},
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CLAUDE_PROJECT_DIR=" + project, "CLAUDE_PLUGIN_ROOT=" + root,
			"CLAUDE_PLUGIN_DATA=" + data, "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ATTENDED=1",
			"GOMAXPROCS=1", // by the launcher
		},
		stdin: fmt.Appendf(nil, `{"session_id":"s1","transcript_path":%q,"cwd":%q,"permission_mode":"auto","hook_event_name":"Stop",`+
			`"stop_hook_active":false,"last_assistant_message":"words","background_tasks":[],"session_crons":[]}`, transcript, project),
	}
}

// writeTranscript writes turns until size is reached, then tail.
func writeTranscript(b *testing.B, path string, size int, tail ...string) {
	b.Helper()
	var w bytes.Buffer
	w.Grow(size + 1<<20)
	noise := fmt.Sprintf(`{"type":"attachment","attachment":{"type":"prompt_snapshot","content":%q},"uuid":"a"}`+"\n", strings.Repeat("x", 60_000))
	for turn := 0; w.Len() < size; turn++ {
		fmt.Fprintf(&w, `{"type":"user","isSidechain":false,"message":{"role":"user","content":"turn %d"},"version":"2.1.332","sessionId":"s1"}`+"\n", turn)
		fmt.Fprintf(&w, `{"type":"assistant","isSidechain":false,"message":{"id":"m%d","model":"claude-opus-5-5","role":"assistant","content":[{"type":"text","text":%q}],`+
			`"usage":{"input_tokens":2,"cache_read_input_tokens":%d,"cache_creation_input_tokens":8655,"output_tokens":41}},"requestId":"r%d","version":"2.1.332","sessionId":"s1"}`+"\n",
			turn, strings.Repeat("words ", 200), 15_000+turn%1000, turn)
		w.WriteString(noise)
	}
	for _, row := range tail {
		w.WriteString(row + "\n")
	}
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}

// empty is the baseline: a Go program that does nothing, started as anybody would
// start it, with the same payload on its stdin as the hook it is compared to.
func empty(b *testing.B, like process) process {
	env := slices.DeleteFunc(slices.Clone(like.env), func(v string) bool { return v == "GOMAXPROCS=1" })
	return process{argv: []string{build(b).empty}, env: env, stdin: like.stdin}
}

func BenchmarkStop50MBAgainstEmptyProgram(b *testing.B) {
	subject := stopHook(b, build(b).runtime, 50<<20)
	pair(b, empty(b, subject), subject, 1.6)
}

func BenchmarkStop50MBAgainst1MB(b *testing.B) {
	pair(b, stopHook(b, build(b).runtime, 1<<20), stopHook(b, build(b).runtime, 50<<20), 1.15)
}

func BenchmarkHandoffStopAgainstReloadStop(b *testing.B) {
	program := build(b).runtime
	pair(b, stopHook(b, program, 50<<20), stopOf(b, "graceful-handoff", program, 50<<20), 1.05)
}

// laterHook is a hook of cc-later for somebody who uses it, and has a queue in
// which everything is done.
func laterHook(b *testing.B, event, payload string) process {
	b.Helper()
	p := stopOf(b, "cc-later", build(b).runtime, 50<<20)
	p.argv[3] = event
	if payload != "" {
		p.stdin = []byte(payload)
	}
	dir := value(p.env, "HOME")
	for path, text := range map[string]string{
		".cc-later/config.env":     "# settings\nDISPATCH_ALLOW_FILE_WRITES=true\n",
		".cc-later/state.json":     `{"last_hook_ts": null, "repos": {}}`,
		"project/.git/HEAD":        "ref: refs/heads/main\n",
		"project/.claude/LATER.md": "# LATER\n\n" + strings.Repeat("- [x] (P1) add a test for the retry path\n", 20),
	} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	return p
}

// value is a variable of an environment.
func value(env []string, name string) string {
	for _, entry := range env {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// BenchmarkLaterStopAgainstReloadStop ends a turn with nothing queued.
func BenchmarkLaterStopAgainstReloadStop(b *testing.B) {
	pair(b, stopHook(b, build(b).runtime, 50<<20), laterHook(b, "Stop", ""), 1.05)
}

// BenchmarkLaterPromptAgainstEmptyProgram is a prompt that queues nothing, as
// nearly all are.
func BenchmarkLaterPromptAgainstEmptyProgram(b *testing.B) {
	subject := laterHook(b, "UserPromptSubmit", `{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt_id":"p","permission_mode":"default",`+
		`"prompt":"fix the login bug and tell me what was wrong with the session handling in the middleware"}`)
	pair(b, empty(b, subject), subject, 1.4)
}

// BenchmarkOtherHostAgainstEmptyProgram has Copilot end a turn: we have nothing to
// say to it.
func BenchmarkOtherHostAgainstEmptyProgram(b *testing.B) {
	subject := stopHook(b, build(b).runtime, 1<<20)
	subject.env = append(subject.env, "COPILOT_CLI=1")
	subject.stdin = []byte(`{"hook_event_name":"Stop","session_id":"s1","timestamp":"2026-12-01T20:48:25.090Z","stop_hook_active":false}`)
	pair(b, empty(b, subject), subject, 1.6)
}

// BenchmarkStopThroughLauncher starts the shell script of the plugin, which
// finds the runtime where an installation has it, beside itself.
func BenchmarkStopThroughLauncher(b *testing.B) {
	subject := bundled(b)
	pair(b, empty(b, subject), subject, 2.6)
}

// bundled is a Stop through the launcher of a plugin with the runtime in it.
func bundled(b *testing.B) process {
	b.Helper()
	subject := stopHook(b, "", 50<<20)
	bin := filepath.Join(b.TempDir(), "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		b.Fatal(err)
	}
	for from, to := range map[string]string{
		"../../marketplace/plugins/cc-reload/bin/ccreload": "ccreload",
		build(b).runtime: fmt.Sprintf("ccreload-%s-%s", runtime.GOOS, runtime.GOARCH),
	} {
		data, err := os.ReadFile(from)
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(bin, to), data, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	subject.argv[0] = filepath.Join(bin, "ccreload")
	return subject
}

// BenchmarkServedPluginAgainstBundle starts the plugin that an installed program has
// written. The host copies either: how a file was written decides what it costs to
// map it.
func BenchmarkServedPluginAgainstBundle(b *testing.B) {
	base, subject := bundled(b), stopHook(b, "", 50<<20)
	_, dir := process{
		argv: []string{build(b).runtime, "plugin-dir", "cc-reload"},
		env:  []string{"HOME=" + b.TempDir(), "PATH=" + os.Getenv("PATH")},
	}.run(b)
	subject.argv[0] = filepath.Join(strings.TrimSpace(dir), "bin", "ccreload")
	for _, p := range []process{base, subject} {
		bin := filepath.Join(b.TempDir(), "bin")
		if err := os.CopyFS(bin, os.DirFS(filepath.Dir(p.argv[0]))); err != nil {
			b.Fatal(err)
		}
		p.argv[0] = filepath.Join(bin, "ccreload")
	}
	pair(b, base, subject, 1.1)
}

// BenchmarkStopWithoutReply has a transcript of 36 MB in which no reply stands. A Stop
// reads it once and waits a moment for one, and all of that keeps the limit.
func BenchmarkStopWithoutReply(b *testing.B) {
	for name, size := range map[string]int{"short rows": 200, "huge rows": 6 << 20} {
		b.Run(name, func(b *testing.B) {
			row := `{"type":"attachment","isSidechain":false,"attachment":{"type":"note","content":"` + strings.Repeat("x", size) + `"},"uuid":"a"}`
			subject := stopHook(b, build(b).runtime, 0, slices.Repeat([]string{row}, (36<<20)/len(row)+1)...)
			subject.run(b) // in the page cache
			var all []time.Duration
			for b.Loop() {
				d, _ := subject.run(b)
				all = append(all, d)
			}
			b.ReportMetric(tenth(all, 5).Seconds()*1e3, "ms-median")
			keep(b, "ms", tenth(all, 1).Seconds()*1e3, 1000)
		})
	}
}

// metered runs p under the meter: its peak memory in KB and its page faults.
func metered(b *testing.B, p process) (peak, faults int) {
	b.Helper()
	if runtime.GOOS != "linux" {
		b.Skip("memory is read as Linux tells it")
	}
	p.argv = append([]string{build(b).meter}, p.argv...)
	_, out := p.run(b)
	if _, err := fmt.Sscan(out, &peak, &faults); err != nil {
		b.Fatal(out)
	}
	return peak, faults
}

// BenchmarkMemoryOf20MBLine has one line of 20 MB behind the newest reply.
func BenchmarkMemoryOf20MBLine(b *testing.B) {
	huge := `{"type":"attachment","content":"` + strings.Repeat("x", 20<<20) + `"}`
	subject := stopHook(b, build(b).runtime, 1<<20, huge)
	peak := 0
	for b.Loop() {
		kb, _ := metered(b, subject)
		peak = max(peak, kb)
	}
	keep(b, "MB", float64(peak)/1024, 16)
}

// BenchmarkStopPageFaults counts what a Stop touches, for the first time each:
// most of a start is that. Unlike the time it hardly depends on what else runs,
// and with GOMAXPROCS=1 not on the machine's number of processors either; on its
// kernel it does, as those of an empty program do.
func BenchmarkStopPageFaults(b *testing.B) {
	subject := stopHook(b, build(b).runtime, 1<<20)
	var of, base []int
	for b.Loop() {
		_, n := metered(b, subject)
		of = append(of, n)
		_, n = metered(b, empty(b, subject))
		base = append(base, n)
	}
	faults, none := float64(tenth(of, 5)), float64(tenth(base, 5))
	b.ReportMetric(faults, "faults")
	keep(b, "x-base", faults/none, 1.5)
}

// BenchmarkPreToolUseOnAnotherFile counts the processes that the hooks of the
// plugin start when the model writes a file that is not the digest. The rules
// of hooks.json are applied by the replay here, and by the real client in
// make acceptance.
func BenchmarkPreToolUseOnAnotherFile(b *testing.B) {
	root, err := filepath.Abs("../../marketplace/plugins/cc-reload")
	if err != nil {
		b.Fatal(err)
	}
	started := func(path string) int {
		recording := filepath.Join(b.TempDir(), "write.jsonl")
		call := fmt.Sprintf(`{"t":0,"event":"PreToolUse","env":{"CLAUDE_PROJECT_DIR":"$PROJECT","CLAUDE_PID":"1"},"payload":{"session_id":"s1",`+
			`"transcript_path":"$HOME/.claude/projects/-PROJECT/s1.jsonl","cwd":"$PROJECT","hook_event_name":"PreToolUse",`+
			`"tool_name":"Write","tool_input":{"file_path":%q,"content":"x"}}}`+"\n", path)
		if err := os.WriteFile(recording, []byte(call), 0o600); err != nil {
			b.Fatal(err)
		}
		_, out := process{
			argv: []string{build(b).runtime, "replay", recording, "--json", "--root", root},
			env:  []string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir()},
		}.run(b)
		var report struct {
			Calls []struct{ Processes int }
		}
		if err := json.Unmarshal([]byte(out), &report); err != nil || len(report.Calls) != 1 {
			b.Fatalf("%v: %s", err, out)
		}
		return report.Calls[0].Processes
	}
	if n := started("$PROJECT/.reload/session.md"); n != 1 {
		b.Fatalf("%d processes for the digest itself", n)
	}
	most := 0
	for b.Loop() {
		most = max(most, started("$PROJECT/main.go"))
	}
	keep(b, "processes", float64(most), 0)
}

// writeLogs writes the logs of 100 sessions below dir, about size bytes in all: of
// rows with text bytes of text, a prompt or result and the two rows of a reply in
// turn. It returns the logs.
func writeLogs(b *testing.B, dir string, size, text int) (logs []string) {
	b.Helper()
	phrase := `words and \"code\" {x: [1]}\n`
	words := func(n int) string { return strings.Repeat(phrase, n/len(phrase)) }
	for n := range 100 {
		var w bytes.Buffer
		for turn := 0; w.Len() < size/100; turn++ {
			when := fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.000Z", 1+n%28, turn/3600%24, turn/60%60, turn%60)
			rest := fmt.Sprintf(`"uuid":"0a7f7f6e-3d5c-4a55-9e0d-%012d","timestamp":%q,"userType":"external","entrypoint":"cli","cwd":"/w/p%d","sessionId":"s%d","version":"2.1.332","gitBranch":"main"}`, turn, when, n%10, n)
			fmt.Fprintf(&w, `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"%s"}]},%s`+"\n", words(text), rest)
			for range 2 {
				fmt.Fprintf(&w, `{"parentUuid":null,"isSidechain":false,"message":{"id":"msg_%d_%d","type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"%s"}],`+
					`"usage":{"input_tokens":4,"cache_creation_input_tokens":965,"cache_read_input_tokens":18345,"output_tokens":12,"service_tier":"standard","cache_creation":{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":965},"iterations":[]}},`+
					`"requestId":"req_%d_%d","type":"assistant",%s`+"\n", n, turn, words(text/2), n, turn, rest)
			}
		}
		log := filepath.Join(dir, "projects", fmt.Sprintf("-w-p%d", n%10), fmt.Sprintf("s%d.jsonl", n))
		if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(log, w.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		logs = append(logs, log)
	}
	return logs
}

// stats is `ccreload later stats` of the logs below dir, whose index is kept there.
func stats(b *testing.B, dir string) process {
	return process{
		argv: []string{build(b).runtime, "later", "stats", "--json", "--tz", "UTC"},
		env:  []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CLAUDE_CONFIG_DIR=" + dir},
	}
}

// BenchmarkStatsOfNewLogs has no index yet. The baseline only reads the logs.
func BenchmarkStatsOfNewLogs(b *testing.B) {
	for _, rows := range []struct {
		name  string
		text  int
		limit float64
	}{{"small rows", 150, 8}, {"large rows", 30_000, 3}} {
		b.Run(rows.name, func(b *testing.B) {
			dir := b.TempDir()
			logs := writeLogs(b, dir, 20<<20, rows.text)
			subject := stats(b, dir)
			subject.argv = append([]string{"/bin/sh", "-c", `rm -rf "$0/.cc-later" && exec "$@"`, dir}, subject.argv...)
			base := process{argv: append([]string{"/bin/sh", "-c", `rm -rf "$0/.cc-later" && exec "$@"`, dir, build(b).reader}, logs...), env: subject.env}
			pair(b, base, subject, rows.limit)
		})
	}
}

// BenchmarkStatsOfKnownLogs has read them all before.
func BenchmarkStatsOfKnownLogs(b *testing.B) {
	dir := b.TempDir()
	writeLogs(b, dir, 100<<20, 150)
	subject := stats(b, dir)
	subject.run(b)
	var all []time.Duration
	for b.Loop() {
		d, _ := subject.run(b)
		all = append(all, d)
	}
	b.ReportMetric(tenth(all, 5).Seconds()*1e3, "ms-median")
	keep(b, "ms", tenth(all, 1).Seconds()*1e3, 30)
}

// BenchmarkMemoryOfStats reads 100 MB of small rows, and a row of 50 MB.
func BenchmarkMemoryOfStats(b *testing.B) {
	dir := b.TempDir()
	logs := writeLogs(b, dir, 100<<20, 150)
	huge := `{"type":"user","message":{"content":"` + strings.Repeat("x", 50<<20) + `"}}` + "\n"
	if err := os.WriteFile(logs[0]+".jsonl", []byte(huge), 0o600); err != nil {
		b.Fatal(err)
	}
	subject := stats(b, dir)
	peak := 0
	for b.Loop() {
		if err := os.RemoveAll(filepath.Join(dir, ".cc-later")); err != nil {
			b.Fatal(err)
		}
		kb, _ := metered(b, subject)
		peak = max(peak, kb)
	}
	keep(b, "MB", float64(peak)/1024, 40)
}

// writeRewound writes a session of about size bytes in which rewinds prompts were
// taken back, with all that came of them: rows with a place in the tree, a call and
// its result of four kinds in turn.
func writeRewound(b *testing.B, path string, size, rewinds int) {
	b.Helper()
	var w bytes.Buffer
	w.Grow(size + 1<<20)
	result := strings.Repeat(`ok  \texample.test/shop/cart\t0.012s\n`, 50)
	calls := [...]string{
		`"name":"Read","input":{"file_path":"/w/shop/cart/item%d.go"}`, `"name":"Edit","input":{"file_path":"/w/shop/cart/total%d.go","old_string":"a","new_string":"b"}`,
		`"name":"Bash","input":{"command":"go test ./cart -run Test%d"}`, `"name":"Grep","input":{"pattern":"price%d","path":"/w/shop"}`,
	}
	row := func(n int) string { return fmt.Sprintf("0a7f7f6e-3d5c-4a55-9e0d-%012d", n) }
	n, at := 0, ""
	put := func(kind, message string) {
		parent := "null"
		if at != "" {
			parent = strconv.Quote(at)
		}
		n++
		at = row(n)
		fmt.Fprintf(&w, `{"parentUuid":%s,"isSidechain":false,"type":%q,"message":%s,"uuid":%q,"timestamp":"2026-12-01T%02d:%02d:%02d.000Z","cwd":"/w/shop","sessionId":"s1","version":"2.1.332"}`+"\n",
			parent, kind, message, at, 1+n/3600%20, n/60%60, n%60)
	}
	for turn := 0; w.Len() < size; turn++ {
		before, begun := at, w.Len()
		put("user", fmt.Sprintf(`{"role":"user","content":"prompt %d: make the cart count its items"}`, turn))
		for w.Len()-begun < size/rewinds/2 {
			put("assistant", fmt.Sprintf(`{"id":"m%d","model":"claude-opus-5-5","role":"assistant","content":[{"type":"tool_use","id":"t%d",`+calls[n%len(calls)]+`}],"usage":{"input_tokens":2,"cache_read_input_tokens":%d,"cache_creation_input_tokens":8655,"output_tokens":41}}`, n, n, n%97, 15_000+n%1000))
			put("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}`, n-1, result))
		}
		if turn%2 == 0 {
			at = before // taken back
		}
	}
	if err := os.WriteFile(path, w.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
}

// rewound is a PreCompact of cc-reload in a session of 30 MB with 200 rewinds, which
// is to be read whole.
func rewound(b *testing.B) (subject process, log string) {
	subject = stopHook(b, build(b).runtime, 0)
	log = filepath.Join(value(subject.env, "HOME"), "s1.jsonl")
	writeRewound(b, log, 30<<20, 200)
	project := value(subject.env, "CLAUDE_PROJECT_DIR")
	subject.argv[3] = "PreCompact"
	subject.stdin = fmt.Appendf(nil, `{"session_id":"s1","transcript_path":%q,"cwd":%q,"hook_event_name":"PreCompact","trigger":"auto","custom_instructions":""}`, log, project)
	subject.run(b)
	page, err := os.ReadFile(filepath.Join(project, ".reload", "session.md"))
	if err != nil || !bytes.Contains(page, []byte("go test ./cart")) {
		b.Fatalf("the digest: %v\n%s", err, page)
	}
	return subject, log
}

// BenchmarkPreCompact30MB makes a digest of a long session with many rewinds. The
// baseline checks that the session is JSON: to read it alone is a matter of the
// machine's memory, and not of its processor.
func BenchmarkPreCompact30MB(b *testing.B) {
	subject, log := rewound(b)
	pair(b, process{argv: []string{build(b).checker, log}, env: subject.env}, subject, 1.5)
}

func BenchmarkMemoryOfPreCompact30MB(b *testing.B) {
	subject, _ := rewound(b)
	peak := 0
	for b.Loop() {
		kb, _ := metered(b, subject)
		peak = max(peak, kb)
	}
	keep(b, "MB", float64(peak)/1024, 32)
}

// BenchmarkMeasure reads a tenth of what a diligent person has: 10 sessions of 5 MB.
func BenchmarkMeasure(b *testing.B) {
	dir := b.TempDir()
	for i := range 10 {
		writeRewound(b, filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i)), 5<<20, 30)
	}
	subject := process{argv: []string{build(b).runtime, "reload", "measure", dir, "--json"}, env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}}
	peak := 0
	var all []time.Duration
	for b.Loop() {
		d, _ := subject.run(b)
		all = append(all, d)
		kb, _ := metered(b, subject)
		peak = max(peak, kb)
	}
	b.ReportMetric(tenth(all, 1).Seconds()*1e3, "ms")
	keep(b, "MB", float64(peak)/1024, 100)
}

func BenchmarkBinarySize(b *testing.B) {
	info, err := os.Stat(build(b).runtime)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() { // a benchmark has to loop; there is nothing to time
	}
	keep(b, "MB", float64(info.Size())/1e6, 8)
}

// Ours, and fifty that others might have, as they are after an import. Wanted are 20 ms
// and 100, 10x and 50x where an empty program takes 2. Where it takes 1.5, these take 16
// (11x) and 40 (26x), and the limits are a little above that. Reading the YAML of ours is
// a quarter of its time.
func BenchmarkGenerateThreeAgainstEmptyProgram(b *testing.B) {
	benchmarkGenerate(b, 13, func(dir string) []string { return []string{"init", dir} })
}

func BenchmarkGenerateFiftyImportedAgainstEmptyProgram(b *testing.B) {
	benchmarkGenerate(b, 30, func(dir string) []string {
		theirs := filepath.Join(b.TempDir(), "theirs")
		var entries []string
		for i := range 50 {
			name := fmt.Sprintf("plugin-%d", i)
			for file, text := range map[string]string{
				".claude-plugin/plugin.json": fmt.Sprintf(`{"name": %q, "version": "1.%d.0", "description": "Number %d", "author": {"name": "A"}, "mcpServers": {"m": {"command": "node", "args": ["x"]}}}`, name, i, i),
				"commands/do.md":             "---\ndescription: Does it: all of it\n---\nDo $ARGUMENTS.\n",
				"agents/look.md":             "---\nname: look\ndescription: Looks\ntools: Read, Grep\n---\nLook.\n",
				"skills/know/SKILL.md":       "---\nname: know\ndescription: Knows\n---\nKnow.\n",
				"skills/know/scripts/run.py": "pass\n",
				"hooks/hooks.json":           `{"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "python3 \"${CLAUDE_PLUGIN_ROOT}\"/skills/know/scripts/run.py", "timeout": 5}]}]}}`,
			} {
				at := filepath.Join(theirs, name, filepath.FromSlash(file))
				if err := cmp.Or(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
					b.Fatal(err)
				}
			}
			entries = append(entries, fmt.Sprintf(`{"name": %q, "source": "./%s", "category": "development"}`, name, name))
		}
		market := fmt.Sprintf(`{"name": "fifty", "owner": {"name": "O"}, "plugins": [%s]}`, strings.Join(entries, ","))
		at := filepath.Join(theirs, ".claude-plugin", "marketplace.json")
		if err := cmp.Or(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(market), 0o644)); err != nil {
			b.Fatal(err)
		}
		return []string{"import", theirs, dir}
	})
}

// benchmarkGenerate times generate where nothing has changed, in a project that
// begin makes in dir.
func benchmarkGenerate(b *testing.B, limit float64, begin func(dir string) []string) {
	dir := filepath.Join(b.TempDir(), "project")
	generator := func(args ...string) process {
		return process{argv: append([]string{build(b).generator}, args...), env: []string{"PATH=", "HOME=" + b.TempDir()}, warns: true}
	}
	generator(begin(dir)...).run(b)
	subject := generator("-C", dir, "generate")
	subject.run(b)
	pair(b, empty(b, subject), subject, limit)
}
