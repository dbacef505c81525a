package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
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

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/record"
	"github.com/ccreload/ccreload/internal/registry"
)

// These tests start real processes, feed them what no host should, and end
// them when it suits least.

var (
	malformed = flag.Int("malformed", 300, "how many malformed inputs TestMalformedInput feeds")
	kills     = flag.Int("kills", 90, "how often TestKilledWriters kills a writer")
)

// slow is more than a hook may ever take: what a Stop waits for a reply that is
// being written, and a busy machine on top. BenchmarkMalformedInput measures.
const slow = 10 * time.Second

// place is a machine for real processes: a home and a project of its own.
type place struct {
	project, home, data, root string
	binary                    string
	vars                      map[string]string
}

func newPlace(t testing.TB, dir string) *place {
	t.Helper()
	binary, err := exec.LookPath("ccreload")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", "..", "marketplace", "plugins", "cc-reload"))
	if err != nil {
		t.Fatal(err)
	}
	p := &place{
		project: filepath.Join(dir, "project"), home: filepath.Join(dir, "home"), data: filepath.Join(dir, "data"),
		root: root, binary: binary, vars: map[string]string{},
	}
	for _, d := range []string{p.project, transcriptDir(p.home), p.data} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// transcript is the path of session s1's transcript.
func (p *place) transcript() string { return filepath.Join(transcriptDir(p.home), "s1.jsonl") }

// reload is a file of the project's state.
func (p *place) reload(name string) string { return filepath.Join(p.project, ".reload", name) }

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, args...)
	cmd.Dir = p.project
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "SystemRoot=" + os.Getenv("SystemRoot"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR"),
		"HOME=" + p.home, "USERPROFILE=" + p.home, "LOCALAPPDATA=" + p.home,
		"CLAUDE_CONFIG_DIR=" + filepath.Join(p.home, ".claude"),
		"CLAUDE_PROJECT_DIR=" + p.project, "CLAUDE_PLUGIN_ROOT=" + p.root, "CLAUDE_PLUGIN_DATA=" + p.data,
		"CLAUDE_PID=" + strconv.Itoa(os.Getpid()), "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ATTENDED=1",
		"CLAUDE_CODE_SESSION_ID=s1",
	}
	for name, v := range p.vars {
		cmd.Env = append(cmd.Env, name+"="+v)
	}
	return cmd
}

// hook makes one hook call. A hook must end with 0, print nothing on stderr,
// and on stdout nothing or what the host accepts.
func (p *place) hook(event host.Event, payload []byte) (stdout []byte, took time.Duration, err error) {
	cmd := p.command("hook", "cc-reload", string(event))
	cmd.Stdin = bytes.NewReader(payload)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begun := time.Now()
	err = cmd.Run()
	took = time.Since(begun)
	if err == nil && errs.Len() > 0 {
		err = fmt.Errorf("stderr: %s", &errs)
	}
	if err == nil {
		err = accepted(event, payload, out.Bytes())
	}
	return out.Bytes(), took, err
}

// accepted is the error about an answer that the host would refuse.
func accepted(event host.Event, payload, stdout []byte) error {
	if (host.Claude{}).Valid(event, stdout) == nil {
		return nil
	}
	// Where payload and arguments differ, the payload counts.
	named, err := host.Claude{}.Decode(payload)
	if err != nil || (host.Claude{}).Valid(named.Event, stdout) != nil {
		return fmt.Errorf("the host would refuse %q", stdout)
	}
	return nil
}

// hookHere makes one hook call in this process, on a clock that moves only while
// the hook waits. It returns how long that was.
func (p *place) hookHere(event host.Event, payload []byte) (time.Duration, error) {
	env := registry.Env()
	vars := p.command().Env
	env.Getenv = func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	begun := time.Now()
	now := begun
	env.Now = func() time.Time { return now }
	env.Sleep = func(d time.Duration) { now = now.Add(d) }
	var out bytes.Buffer
	run := registry.Hook([]string{"cc-reload", string(event)}, bytes.NewReader(payload), &out, env)
	run.Timeout = 5 * time.Minute
	run.Quit = func() { panic("a hook that does not end") }
	run.Do()
	return now.Sub(begun), accepted(event, payload, out.Bytes())
}

// payload is that of an ordinary call of session s1, changed by fields.
func (p *place) payload(t testing.TB, event host.Event, fields map[string]any) []byte {
	t.Helper()
	payload := map[string]any{
		"hook_event_name": string(event), "session_id": "s1", "cwd": p.project, "transcript_path": p.transcript(),
	}
	for key, v := range fields {
		payload[key] = v
	}
	b, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// must makes one hook call that has to go well and returns what it said.
func (p *place) must(t testing.TB, event host.Event, fields map[string]any) host.Output {
	t.Helper()
	stdout, _, err := p.hook(event, p.payload(t, event, fields))
	if err != nil {
		t.Fatalf("%s: %v", event, err)
	}
	out, err := host.Claude{}.Parse(event, stdout)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// occupy writes a transcript of one answer that fills the window to tokens.
func (p *place) occupy(t testing.TB, tokens int) {
	t.Helper()
	w := transcriptWriter{version: "2.1.332", model: "claude-opus-5-5"}
	for _, row := range [][2]string{{"human", "go"}, {"assistant", strconv.Itoa(tokens)}} {
		if err := w.add(row[0], row[1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(p.transcript(), w.out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// panics returns the panics in the debug log. The runner survives them; they
// are faults of ours all the same.
func (p *place) panics() []string {
	var out []string
	for _, name := range []string{hook.LogName, hook.LogName + ".1"} {
		data, _ := os.ReadFile(filepath.Join(p.data, name)) // no log, no panics
		for line := range bytes.Lines(data) {
			if bytes.Contains(line, []byte("panic")) {
				out = append(out, string(line))
			}
		}
	}
	return out
}

// parallel runs do for 0…n-1, each worker in a place of its own. There are more
// workers than processors, since some of the hooks wait.
func parallel(t testing.TB, n int, do func(p *place, i int)) {
	t.Helper()
	next := make(chan int)
	var wg sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) {
		p := newPlace(t, t.TempDir())
		wg.Go(func() {
			for i := range next {
				do(p, i)
			}
			for _, line := range p.panics() {
				t.Error(line)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// garbage makes malformed inputs from the recordings, the corpora of the fuzz
// targets, and chance.
type garbage struct {
	payloads, rows, corpus [][]byte
}

func newGarbage(t testing.TB) garbage {
	t.Helper()
	var g garbage
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "recordings", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := record.Read(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range calls {
			g.payloads = append(g.payloads, c.Payload)
			for _, row := range c.Rows {
				g.rows = append(g.rows, row)
			}
		}
	}
	seeds, err := filepath.Glob(filepath.Join("..", "*", "testdata", "fuzz", "Fuzz*", "*"))
	if err != nil || len(seeds) == 0 {
		t.Fatalf("no fuzz corpora: %v", err)
	}
	for _, seed := range seeds {
		data, err := os.ReadFile(seed)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			_, literal, ok := strings.Cut(strings.TrimSpace(line), "(")
			if s, err := strconv.Unquote(strings.TrimSuffix(literal, ")")); ok && err == nil {
				g.corpus = append(g.corpus, []byte(s))
			}
		}
	}
	return g
}

// shards are what mutations put in. They are made when asked for: each program
// that a script calls is this test binary, and would make them as it starts.
var shards = sync.OnceValue(func() []string {
	return []string{
		"\x00", `"`, `\`, "{", "}", "[", "]", ",", ":", "\n", "\r\n", "null", "true", "-1", "1e999", "9223372036854775808",
		`"\ud800"`, "\xef\xbb\xbf", "\xff\xfe", "\u2028", `{"type":"assistant"}`, `"usage":{"input_tokens":"many"}`,
		`"message":null`, `"session_id":["../../x"]`, `"cwd":7`, `"transcript_path":{}`, `"hook_event_name":"Stop"`,
		strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000), strings.Repeat("x", 70_000),
	}
})

// mutate returns b with a few changes.
func mutate(r *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b) + 1)
		to := min(len(b), at+r.IntN(40))
		switch r.IntN(5) {
		case 0:
			b = b[:at]
		case 1:
			b = slices.Delete(b, at, to)
		case 2:
			b = slices.Insert(b, at, []byte(shards()[r.IntN(len(shards()))])...)
		case 3:
			b = slices.Insert(b, at, b[at:to]...)
		case 4:
			if at < len(b) {
				b[at] = byte(r.IntN(256))
			}
		}
	}
	return b
}

// transcript returns a transcript in which some rows are malformed.
func (g garbage) transcript(r *rand.Rand) []byte {
	var out []byte
	for range r.IntN(12) {
		row := g.rows[r.IntN(len(g.rows))]
		switch r.IntN(3) {
		case 0:
			row = mutate(r, row)
		case 1:
			row = g.corpus[r.IntN(len(g.corpus))]
		}
		out = append(append(out, row...), '\n')
	}
	if r.IntN(3) == 0 {
		out = out[:r.IntN(len(out)+1)]
	}
	return out
}

var events = []host.Event{
	host.SessionStart, host.UserPromptSubmit, host.PreToolUse, host.PostToolUse, host.Stop, host.PreCompact, host.PostCompact, host.SessionEnd,
}

// input is one malformed input.
type input struct {
	event   host.Event
	payload []byte
}

// next prepares p for a malformed input and returns it: a payload, a
// transcript, or files of the state directory, that no program of sense
// wrote.
func (g garbage) next(t testing.TB, r *rand.Rand, p *place) input {
	event := events[r.IntN(len(events))]
	in := input{event: event, payload: p.payload(t, event, map[string]any{
		"source": []string{"startup", "clear", "resume", "compact", "fork", "?"}[r.IntN(6)],
		"prompt": "go on", "trigger": "manual", "compact_summary": string(g.corpus[r.IntN(len(g.corpus))]),
		"tool_name": "Write", "tool_input": map[string]any{"file_path": p.reload("session.md"), "content": "x"},
	})}
	put := func(path string, data []byte) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Error(err)
		}
	}
	switch r.IntN(4) {
	case 0:
		in.payload = mutate(r, in.payload)
	case 1:
		in.payload = mutate(r, g.payloads[r.IntN(len(g.payloads))])
	case 2:
		put(p.transcript(), g.transcript(r))
	case 3:
		put(p.transcript(), g.transcript(r))
		for _, name := range []string{"session.md", "pending", "summarizing", "notified", "model", "config"} {
			if r.IntN(2) == 0 {
				put(p.reload(name), mutate(r, g.corpus[r.IntN(len(g.corpus))]))
			}
		}
	}
	return in
}

// Whatever comes in, a hook ends with 0 and says nothing, or what the host
// accepts, and never panics. Every twentieth is a process of its own.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	g := newGarbage(t)
	parallel(t, *malformed, func(p *place, i int) {
		in := g.next(t, rand.New(rand.NewPCG(uint64(i), 74)), p)
		var took time.Duration
		var err error
		if i%20 == 0 {
			_, took, err = p.hook(in.event, in.payload)
		} else {
			took, err = p.hookHere(in.event, in.payload)
		}
		if err != nil || took > slow {
			t.Errorf("input %d, %s, after %v: %v\n%.2000q", i, in.event, took, err, in.payload)
		}
	})
}

// Case F74: what a host, a pipe or a shell can make of a payload.
func TestBrokenStdin(t *testing.T) {
	t.Parallel()
	p := newPlace(t, t.TempDir())
	p.occupy(t, 500_000)
	good := p.payload(t, host.Stop, nil)
	utf16 := func(order ...byte) []byte {
		out := slices.Clone(order)
		for _, c := range good {
			if order[0] == 0xff {
				out = append(out, c, 0)
			} else {
				out = append(out, 0, c)
			}
		}
		return out
	}
	for name, tt := range map[string]struct {
		payload []byte
		speaks  bool
	}{
		"byte order mark":  {append([]byte("\xef\xbb\xbf"), good...), true},
		"lone surrogate":   {bytes.Replace(good, []byte(`"s1"`), []byte(`"s1","x":"\ud800"`), 1), true},
		"white space":      {append([]byte("\r\n\t "), append(good, "\r\n\r\n"...)...), true},
		"UTF-16, Windows":  {utf16(0xff, 0xfe), false},
		"UTF-16, network":  {utf16(0xfe, 0xff), false},
		"half":             {good[:len(good)/2], false},
		"nothing":          {nil, false},
		"twice":            {append(slices.Clone(good), good...), false},
		"30 MB":            {append(append([]byte(`{"x":"`), bytes.Repeat([]byte("x"), 30<<20)...), `"}`...), false},
		"30 MB of nesting": {bytes.Repeat([]byte(`[`), 30<<20), false},
	} {
		if err := os.RemoveAll(p.reload("")); err != nil { // each is a first crossing
			t.Fatal(err)
		}
		stdout, took, err := p.hook(host.Stop, tt.payload)
		if err != nil || tt.speaks != (len(stdout) > 0) || took > slow {
			t.Errorf("%s: stdout %q after %v, error %v", name, stdout, took, err)
		}
	}
	for _, line := range p.panics() {
		t.Error(line)
	}
}

// BenchmarkMalformedInput reports the longest and the middle time that a hook
// takes for malformed input, process start included. A Stop that waits for a
// reply, since the transcript breaks off near the budget, is counted apart.
func BenchmarkMalformedInput(b *testing.B) {
	g := newGarbage(b)
	p := newPlace(b, b.TempDir())
	p.binary = build(b).runtime
	const waiting = 600 * time.Millisecond // continuity waits 700 ms
	var times []time.Duration
	waits := 0
	for i := 0; b.Loop(); i++ {
		in := g.next(b, rand.New(rand.NewPCG(uint64(i), 74)), p)
		_, took, err := p.hook(in.event, in.payload)
		if err != nil {
			b.Fatalf("input %d: %v", i, err)
		}
		if took > waiting {
			waits++
			continue
		}
		times = append(times, took)
	}
	b.ReportMetric(slices.Max(times).Seconds()*1e3, "ms-max")
	b.ReportMetric(tenth(times, 5).Seconds()*1e3, "ms-median")
	b.ReportMetric(float64(waits), "waits")
}

// digestOf returns a digest that tells its number at both ends, large enough
// that a torn one would be seen.
func digestOf(n int) string {
	return fmt.Sprintf("## Done this stretch\n- begin %d\n%s\n## In flight\n- a\n\n## Next concrete step\n- b\n\n## Open questions & risks\n- end %d\n",
		n, strings.Repeat("- "+strings.Repeat("x", 100)+"\n", 300), n)
}

// numberOf returns the number of the digest in data, or an error if it is not
// all there.
func numberOf(data []byte) (int, error) {
	s := string(data)
	front, body, ok := strings.Cut(strings.TrimPrefix(s, "---\n"), "\n---\n")
	_, after, begins := strings.Cut(body, "- begin ")
	number, _, _ := strings.Cut(after, "\n")
	n, err := strconv.Atoi(number)
	if !ok || !begins || err != nil || !strings.Contains(front, "session_id:") || strings.TrimSpace(body) != strings.TrimSpace(digestOf(n)) {
		return 0, fmt.Errorf("a torn digest of %d bytes: %.80q … %q", len(s), s, s[max(0, len(s)-40):])
	}
	return n, nil
}

// writer is a process that writes state, and the files it may leave behind.
type writer struct {
	name  string
	setup func(t *testing.T, p *place, round int) // what must be there before
	start func(t *testing.T, p *place, round int) *exec.Cmd
	check func(p *place, round int) error
}

// A writer that is killed leaves every file as it was or as it shall be:
// nothing torn, nothing lost, and no temporary files that pile up.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	writers := []writer{
		{
			name: "reload write",
			start: func(_ *testing.T, p *place, round int) *exec.Cmd {
				cmd := p.command("reload", "write", "--arm")
				cmd.Stdin = strings.NewReader(digestOf(round))
				return cmd
			},
			check: func(p *place, round int) error {
				data, err := os.ReadFile(p.reload("session.md"))
				if errors.Is(err, fs.ErrNotExist) && round == 0 {
					return nil
				}
				if err != nil {
					return err
				}
				n, err := numberOf(data)
				if err == nil && n > round {
					err = fmt.Errorf("digest %d in round %d", n, round)
				}
				return err
			},
		},
		{
			name: "config set",
			setup: func(t *testing.T, p *place, round int) {
				if round > 0 {
					return
				}
				write(t, p.reload("config"), "# mine\nheadless: off\ncontext_budget_pct: 1\n")
			},
			start: func(_ *testing.T, p *place, round int) *exec.Cmd {
				return p.command("config", "set", "context_budget_pct", strconv.Itoa(1+round%90))
			},
			check: func(p *place, round int) error {
				data, err := os.ReadFile(p.reload("config"))
				if err != nil {
					return err
				}
				lines := strings.Split(string(data), "\n")
				if len(lines) != 4 || lines[0] != "# mine" || lines[1] != "headless: off" || lines[3] != "" {
					return fmt.Errorf("config is %q", data)
				}
				n, err := strconv.Atoi(strings.TrimPrefix(lines[2], "context_budget_pct: "))
				if err != nil || n < 1 || n > 90 {
					return fmt.Errorf("config is %q", data)
				}
				return nil
			},
		},
		{
			// The second Stop of a snapshot arms the digest, the next start
			// claims it, the end without a prompt gives it back.
			name: "hooks that arm and claim",
			setup: func(t *testing.T, p *place, round int) {
				if round > 0 {
					return
				}
				p.occupy(t, 500_000)
				write(t, p.reload("session.md"), "---\nsession_id: s1\n---\n"+digestOf(0))
			},
			start: func(t *testing.T, p *place, round int) *exec.Cmd {
				event := []host.Event{host.PreCompact, host.SessionStart, host.SessionEnd, host.Stop}[round%4]
				if event == host.Stop {
					write(t, p.reload("summarizing"), "s1\n")
				}
				cmd := p.command("hook", "cc-reload", string(event))
				cmd.Stdin = bytes.NewReader(p.payload(t, event, map[string]any{"source": "startup", "trigger": "auto", "reason": "other"}))
				return cmd
			},
			check: func(p *place, round int) error {
				data, err := os.ReadFile(p.reload("session.md"))
				if err != nil {
					return err
				}
				if n, err := numberOf(data); err != nil || n != 0 {
					return fmt.Errorf("digest %d: %v", n, err)
				}
				arm, err := os.ReadFile(p.reload("pending"))
				if errors.Is(err, fs.ErrNotExist) {
					return nil
				}
				if err != nil || strings.TrimSpace(string(arm)) != "s1" {
					return fmt.Errorf("the arm is %q: %v", arm, err)
				}
				return nil
			},
		},
	}
	for i, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			killWriter(t, w, (*kills+i)/len(writers))
		})
	}
}

// killWriter kills w in n rounds, each at another moment of its life.
func killWriter(t *testing.T, w writer, n int) {
	p := newPlace(t, t.TempDir())
	if err := os.MkdirAll(p.reload(""), 0o755); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(9, uint64(n)))
	life := 20 * time.Millisecond // how long the writer lives undisturbed, about
	killed := 0
	for round := range n {
		if w.setup != nil {
			w.setup(t, p, round)
		}
		cmd := w.start(t, p, round)
		begun := time.Now()
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var timer *time.Timer
		if round%10 > 0 { // every tenth is left alone, to see how long it takes
			timer = time.AfterFunc(time.Duration(r.Int64N(int64(life))), func() { cmd.Process.Kill() })
		}
		err := cmd.Wait()
		switch {
		case timer == nil && err != nil:
			t.Fatalf("round %d: undisturbed, it failed: %v", round, err)
		case timer == nil:
			life = max(time.Since(begun), time.Millisecond)
		case !timer.Stop() && err != nil:
			killed++
		}
		if err := w.check(p, round); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	if killed == 0 {
		t.Error("no writer was killed: this tested nothing")
	}
	// Undisturbed, they clean up what the killed ones left.
	for round := range 4 {
		if w.setup != nil {
			w.setup(t, p, n+round)
		}
		if out, err := w.start(t, p, n+round).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	entries, err := os.ReadDir(p.reload(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".tmp") {
			t.Errorf("left behind: %s", e.Name())
		}
	}
	if len(entries) > 16 { // there are 13 that belong there
		t.Errorf("%d files pile up: %v", len(entries), entries)
	}
	for _, line := range p.panics() {
		t.Error(line)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Case F44: the same moment reported many times at once has one effect.
func TestManyHooksAtOnce(t *testing.T) {
	t.Parallel()
	armed := func(t *testing.T, p *place) {
		write(t, p.reload("session.md"), "---\nsession_id: s0\nintent: x\n---\n"+digestOf(1))
		write(t, p.reload("pending"), "s0\n")
	}
	over := func(t *testing.T, p *place) { p.occupy(t, 500_000) }
	spoke := func(o host.Output) bool { return o.Message != "" }
	given := func(o host.Output) bool { return o.Context != "" }
	for name, tt := range map[string]struct {
		event   host.Event
		mode    string
		clients bool // each hook is of a client of its own, else all of one session
		setup   func(*testing.T, *place)
		fields  map[string]any
		effect  func(host.Output) bool
	}{
		"one notice":   {event: host.Stop, setup: over, effect: spoke},
		"one snapshot": {event: host.Stop, mode: "snapshot", setup: over, effect: func(o host.Output) bool { return o.Continue != "" }},
		"one delivery": {event: host.SessionStart, setup: armed, fields: map[string]any{"source": "startup"}, effect: given},
		"one receiver": {event: host.SessionStart, setup: armed, fields: map[string]any{"source": "startup"}, effect: given, clients: true},
		"one banner": {
			event: host.UserPromptSubmit,
			setup: func(t *testing.T, p *place) {
				armed(t, p)
				if out := p.must(t, host.SessionStart, map[string]any{"source": "clear"}); out.Context == "" {
					t.Fatal("the digest was not delivered")
				}
			},
			fields: map[string]any{"prompt": "go on"}, effect: spoke,
		},
		"one copy aside": {event: host.PreToolUse, setup: armed, fields: map[string]any{"tool_name": "Write"}, effect: spoke},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, t.TempDir())
			p.vars["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE"] = tt.mode
			tt.setup(t, p)
			n := 20
			if tt.clients {
				n = 12 // each is a live process
			}
			outs := make([]host.Output, n)
			var wg sync.WaitGroup
			for i := range n {
				caller := *p
				fields := map[string]any{"tool_input": map[string]any{"file_path": p.reload("session.md")}}
				maps.Copy(fields, tt.fields)
				if tt.clients {
					caller.vars = map[string]string{"CLAUDE_PID": strconv.Itoa(client(t, p))}
					fields["session_id"] = fmt.Sprintf("n%d", i)
				}
				payload := p.payload(t, tt.event, fields)
				wg.Go(func() {
					stdout, _, err := caller.hook(tt.event, payload)
					if err != nil {
						t.Error(err)
					}
					if outs[i], err = (host.Claude{}).Parse(tt.event, stdout); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			effects := 0
			for _, out := range outs {
				if tt.effect(out) {
					effects++
				} else if !out.Silent() {
					t.Errorf("said %+v", out)
				}
			}
			if effects != 1 {
				t.Errorf("%d hooks had an effect, want 1", effects)
			}
			for _, line := range p.panics() {
				t.Error(line)
			}
		})
	}
}

// client starts a process that lives as long as the test, in the place of a
// client, and returns its id.
func client(t *testing.T, p *place) int {
	t.Helper()
	cmd := p.command("replay", "-")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		cmd.Wait() // it ends with an error: there was no recording
	})
	return cmd.Process.Pid
}

// Case F27: a plugin root, a home and a project that no shell would like.
// Every hook is started as hooks.json says, through the launcher.
func TestOddPaths(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the host starts the .exe there, and a quote is no file name")
	}
	base := filepath.Join(t.TempDir(), "a b", "ü", "'q'", `back\slash $HOME`)
	p := newPlace(t, base)
	launched := p.root
	p.root = filepath.Join(base, "plug")
	if err := copyPlugin(p.root, launched); err != nil {
		t.Fatal(err)
	}
	p.vars["CCRELOAD_BIN"] = p.binary
	p.binary = filepath.Join(p.root, "bin", "ccreload")
	// Read-only, as a system-wide installation may be (case F08).
	if err := os.Chmod(p.root, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(p.root, 0o755) })

	p.occupy(t, 500_000)
	p.must(t, host.SessionStart, map[string]any{"source": "startup", "model": "claude-opus-5-5"})
	p.must(t, host.UserPromptSubmit, map[string]any{"prompt": "go"})
	if out := p.must(t, host.Stop, nil); !strings.Contains(out.Message, "50 %") {
		t.Errorf("Stop said %+v", out)
	}
	p.must(t, host.PreCompact, map[string]any{"trigger": "manual"})
	if out := p.must(t, host.SessionStart, map[string]any{"source": "compact"}); !strings.Contains(out.Context, "Next concrete step") {
		t.Errorf("SessionStart said %+v", out)
	}
	p.must(t, host.PostCompact, map[string]any{"trigger": "manual", "compact_summary": "x"})
	for _, event := range []host.Event{host.PreToolUse, host.PostToolUse} {
		p.must(t, event, map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": p.reload("session.md")}})
	}
	p.must(t, host.SessionEnd, map[string]any{"reason": "other"})
	if data, err := os.ReadFile(filepath.Join(p.data, hook.LogName)); err == nil {
		t.Errorf("faults: %s", data)
	}
}

// Case F08: a tree unpacked without its execute bits, started by whoever still
// can. The launcher keeps a copy of the bundled program that it can run.
func TestNoExecuteBits(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there are no execute bits")
	}
	p := newPlace(t, t.TempDir())
	launched := p.root
	p.root = filepath.Join(t.TempDir(), "plug")
	if err := copyPlugin(p.root, launched); err != nil {
		t.Fatal(err)
	}
	launcher := filepath.Join(p.root, "bin", "ccreload")
	if err := os.Chmod(launcher, 0o644); err != nil {
		t.Fatal(err)
	}
	p.vars["CCRELOAD_DOWNLOAD"] = "off"
	p.occupy(t, 500_000)
	start := func(event host.Event) host.Output {
		cmd := p.command()
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", launcher, "hook", "cc-reload", string(event)}
		cmd.Stdin = bytes.NewReader(p.payload(t, event, map[string]any{"source": "startup"}))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		out, invalid := host.Claude{}.Parse(event, stdout.Bytes())
		if err := errors.Join(err, invalid); err != nil || stderr.Len() > 0 {
			t.Errorf("%s: %v, stderr %q", event, err, &stderr)
		}
		return out
	}

	// Nothing is bundled: said once, and otherwise silent.
	for _, event := range events {
		if out := start(event); event != host.SessionStart && !out.Silent() {
			t.Errorf("%s said %+v", event, out)
		}
	}
	if out := start(host.SessionStart); !out.Silent() {
		t.Errorf("said again: %+v", out)
	}

	bundled := launcher + "-" + runtime.GOOS + "-" + runtime.GOARCH
	write(t, bundled, "#!/bin/sh\nexec \""+p.binary+"\" \"$@\"\n")
	if out := start(host.Stop); !out.Silent() {
		t.Errorf("Stop installed a program: %+v", out)
	}
	start(host.SessionStart)
	if out := start(host.Stop); !strings.Contains(out.Message, "50 %") {
		t.Errorf("Stop said %+v", out)
	}
}
