// Scripts are the suite's main body: testdata/script/*.txtar, one behavior a
// file, named verb-noun, case ids in the first line. Each runs in a directory
// of its own, in parallel with the others; `go test ./internal/cli -run
// TestScripts/nudge` runs those that begin with nudge, -v shows every step.
//
// What a script finds (Setup):
//
//	$WORK              where the files of the archive are unpacked
//	$HOME              $WORK/home; XDG_*, USERPROFILE, CLAUDE_CONFIG_DIR are below it
//	$PROJECT           $WORK/project, also CLAUDE_PROJECT_DIR; no repository
//	$CLAUDE_PLUGIN_ROOT  a private copy of marketplace/plugins/cc-reload
//	$CLAUDE_PLUGIN_DATA  $WORK/data
//	$CLAUDE_PID        a live process; CLAUDE_CODE_ENTRYPOINT=cli, …_ATTENDED=1
//	$RECORDINGS        testdata/recordings of the repository
//	$REPO              the repository itself; read only, by convention
//
// Unset what a script must not see with `env NAME=`. git finds a name and
// address and no configuration of the machine.
//
// What a script may call, beside the commands of testscript:
//
//	ccreload ARGS, ccreload-gen ARGS
//		The two programs. Without `!` exit code 0 is required.
//	exits N COMMAND ARGS
//		The exit code is exactly N (`!` cannot tell 1 from 2).
//	hook [-plugin NAME] [-bytes] EVENT [FILE] [KEY=VALUE...]
//		One hook call in a process of its own, as the host would make it. The
//		payload is that of an ordinary call of session s1 in $PROJECT, then the
//		keys of FILE (JSON; $WORK, $HOME and $PROJECT are replaced), then the
//		given ones: a VALUE that is JSON is taken as that, anything else as a
//		string, KEY= alone leaves the key out. With -bytes, FILE is fed as it
//		is. Fails unless stdout is empty or valid for the event.
//	mkjsonl FILE ROW...
//		Appends rows to a transcript. A FILE without a slash is a session's id:
//		hook tells the host's place for it. See transcriptRow for the rows:
//		mkjsonl s1 version=2.1.332 human='fix it' assistant=460000 noise=30
//	replay NAME [FLAGS]
//		ccreload replay of testdata/recordings/NAME.jsonl. Times in what hooks
//		say are <time>, so that stdout can be compared.
//	edit FILE OLD NEW
//		Replaces OLD, which has to be in FILE, by NEW.
//	age FILE DURATION
//		Makes FILE older, e.g. age project/.reload/session.md 5h.
//
//	serve DIR VARIABLE
//		Serves DIR over HTTP on this machine; its URL goes into VARIABLE.
//	served N
//		The server has been asked N times so far.
//
// With FIRST_TIMEOUT=100ms in the environment the status line waits that long for
// the user's own command, and not as long as a busy machine takes.
//
// [root] holds where permissions do not.
//
// Quote with single quotes. `! stdout .` asserts silence.
package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ccreload/ccreload/internal/cli"
	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

var (
	update = flag.Bool("update", false, "rewrite what scripts compare with cmp stdout")
	every  = flag.Int("killed-every", 3, "kill a run before every so many changes (make thorough: 1)")
)

func TestMain(m *testing.M) {
	cli.PatientHooks()
	state.Flush = func(*os.File) error { return nil } // processes end here, no machine does
	git.QueryTimeout, handoff.RefreshTimeout = time.Minute, time.Minute
	testscript.Main(withProgram{m}, map[string]func(){
		"hook":    commandMain(hookMain),
		"mkjsonl": commandMain(mkjsonlMain),
	})
}

// withProgram runs the tests with ccreload in PATH, as it is released but for its
// patience.
type withProgram struct{ *testing.M }

func (m withProgram) Run() int {
	dir, err := os.MkdirTemp("", "ccreload-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		name := "ccreload"
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		err = release(filepath.Join(dir, name), "../../cmd/ccreload", "-tags=patient")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	return m.M.Run()
}

// commandMain makes a program of a command: what it returns fails the script.
func commandMain(run func(args []string) error) func() {
	return func() {
		if err := run(os.Args[1:]); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
			os.Exit(1)
		}
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	generator := sync.OnceValues(func() (string, error) {
		program := filepath.Join(bin, "ccreload-gen")
		return program, release(program, "../../cmd/ccreload-gen")
	})
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join(repo, "testdata", "script"),
		Setup:              func(e *testscript.Env) error { return setup(e, repo, generator) },
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Condition:          condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":        exits,
			"ccreload-gen": generate,
			"replay":       replayRecording,
			"edit":         edit,
			"age":          age,
			"serve":        serve,
			"served":       served,
		},
	})
}

// condition knows [root]: permissions do not hold for whoever runs the tests.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Getuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

// setup gives a script its world.
func setup(e *testscript.Env, repo string, generator func() (string, error)) error {
	in := func(elem ...string) string { return filepath.Join(append([]string{e.WorkDir}, elem...)...) }
	home, project, root := in("home"), in("project"), in("plugin", "cc-reload")
	for _, dir := range []string{transcriptDir(home), project, root, in("data"), in("home", ".config"), in("home", "tmp")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := copyPlugin(root, filepath.Join(repo, "marketplace", "plugins", "cc-reload")); err != nil {
		return err
	}
	self, err := exec.LookPath("ccreload")
	if err != nil {
		return err
	}
	e.Values[generatorKey{}] = generator
	e.Values[servedKey{}] = new(atomic.Int64)
	e.Vars = append(e.Vars,
		"HOME="+home,
		"USERPROFILE="+home,
		"XDG_CONFIG_HOME="+in("home", ".config"),
		"XDG_CACHE_HOME="+in("home", ".cache"),
		"XDG_DATA_HOME="+in("home", ".local", "share"),
		"XDG_STATE_HOME="+in("home", ".local", "state"),
		"CLAUDE_CONFIG_DIR="+in("home", ".claude"),
		"CLAUDE_PROJECT_DIR="+project,
		"CLAUDE_PLUGIN_ROOT="+root,
		"CLAUDE_PLUGIN_DATA="+in("data"),
		"CLAUDE_PID="+strconv.Itoa(os.Getpid()),
		"CLAUDE_CODE_ENTRYPOINT=cli",
		"CLAUDE_CODE_SESSION_ATTENDED=1",
		"CLAUDE_CODE_SESSION_ID=s1",
		"CCRELOAD_BIN="+self, "CCRELOAD_DOWNLOAD_BASE=http://127.0.0.1:9", // nobody answers there
		"NO_COLOR=1",
		"KILLED_EVERY="+strconv.Itoa(*every),
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com",
		"PROJECT="+project,
		"REPO="+repo,
		"RECORDINGS="+filepath.Join(repo, "testdata", "recordings"),
	)
	return nil
}

// copyPlugin copies a generated plugin tree, so that a script may break it.
func copyPlugin(dst, src string) error {
	return filepath.WalkDir(src, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == src && errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%w: run make generate", err)
			}
			return err
		}
		rel, err := filepath.Rel(src, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(dst, rel), 0o755)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dst, rel), data, info.Mode().Perm())
	})
}

// generatorKey is where a script has the function that builds ccreload-gen. The
// other programs are this test binary, which is started thousands of times: with
// what the generator is made of, each start would take twice as long.
type generatorKey struct{}

// program returns what to execute for a program that a script names.
func program(ts *testscript.TestScript, name string) string {
	if name != "ccreload-gen" {
		return name
	}
	path, err := ts.Value(generatorKey{}).(func() (string, error))()
	ts.Check(err)
	return path
}

// generate runs ccreload-gen.
func generate(ts *testscript.TestScript, neg bool, args []string) {
	if err := ts.Exec(program(ts, "ccreload-gen"), args...); neg != (err != nil) {
		ts.Fatalf("ccreload-gen %q: error %v", args, err)
	}
}

// exits runs a command and wants exactly the exit code N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits N COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(program(ts, args[1]), args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// replayRecording runs ccreload replay on a recording of the repository.
func replayRecording(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: replay NAME [FLAGS]")
	}
	file := filepath.Join(ts.Getenv("RECORDINGS"), args[0]+".jsonl")
	err := ts.Exec("ccreload", append([]string{"replay", file}, args[1:]...)...)
	if neg != (err != nil) {
		ts.Fatalf("replay %s: error %v", args[0], err)
	}
	stdout := moment.ReplaceAllString(ts.ReadFile("stdout"), "<time>")
	stderr := ts.ReadFile("stderr")
	fmt.Fprint(ts.Stdout(), stdout)
	fmt.Fprint(ts.Stderr(), stderr)
}

// moment is a time in what hooks say.
var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// edit replaces text in a file.
func edit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: edit FILE OLD NEW")
	}
	old := ts.ReadFile(args[0])
	if !strings.Contains(old, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.ReplaceAll(old, args[1], args[2])), 0o644))
}

// age moves a file's time of last change into the past.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: age FILE DURATION")
	}
	by, err := time.ParseDuration(args[1])
	ts.Check(err)
	path := ts.MkAbs(args[0])
	info, err := os.Stat(path)
	ts.Check(err)
	then := info.ModTime().Add(-by)
	ts.Check(os.Chtimes(path, then, then))
}

// transcriptDir is where the host keeps the transcripts of $PROJECT.
func transcriptDir(home string) string {
	return filepath.Join(home, ".claude", "projects", "-project")
}

// transcriptFile returns the path of a session's transcript.
func transcriptFile(session string) string {
	return filepath.Join(transcriptDir(os.Getenv("HOME")), session+".jsonl")
}

// hookMain is the command hook.
func hookMain(args []string) error {
	flags := flag.NewFlagSet("hook", flag.ContinueOnError)
	plugin := flags.String("plugin", "cc-reload", "")
	asIs := flags.Bool("bytes", false, "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("usage: hook [-plugin NAME] [-bytes] EVENT [FILE] [KEY=VALUE...]")
	}
	event, rest := host.Event(flags.Arg(0)), flags.Args()[1:]
	var stdin []byte
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		data, err := os.ReadFile(rest[0])
		if err != nil {
			return err
		}
		stdin, rest = data, rest[1:]
	}
	if !*asIs {
		payload, err := payloadFor(event, stdin, rest)
		if err != nil {
			return err
		}
		if stdin, err = json.Marshal(payload); err != nil {
			return err
		}
		if id, ok := payload["session_id"].(string); ok {
			os.Setenv("CLAUDE_CODE_SESSION_ID", id)
		}
	}
	var out bytes.Buffer
	if code := cli.Main([]string{"hook", *plugin, string(event)}, bytes.NewReader(stdin), &out, os.Stderr); code != 0 {
		return fmt.Errorf("exit code %d; a hook must always end with 0", code)
	}
	if _, err := os.Stdout.Write(out.Bytes()); err != nil {
		return err
	}
	return host.Claude{}.Valid(event, out.Bytes())
}

// payloadFor returns an ordinary payload of event, changed by the keys of the
// JSON object file (if any) and then by sets.
func payloadFor(event host.Event, file []byte, sets []string) (map[string]any, error) {
	given := map[string]any{}
	if len(file) > 0 {
		text := string(file)
		for _, name := range []string{"WORK", "HOME", "PROJECT"} {
			quoted, err := json.Marshal(os.Getenv(name))
			if err != nil {
				return nil, err
			}
			text = strings.ReplaceAll(text, "$"+name, strings.Trim(string(quoted), `"`))
		}
		if err := json.Unmarshal([]byte(text), &given); err != nil {
			return nil, fmt.Errorf("payload file: %w", err)
		}
	}
	var drop []string
	for _, set := range sets {
		key, value, ok := strings.Cut(set, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not KEY=VALUE", set)
		}
		var v any
		switch {
		case value == "":
			drop = append(drop, key)
			continue
		case json.Unmarshal([]byte(value), &v) == nil:
			given[key] = v
		default:
			given[key] = value
		}
	}
	payload := map[string]any{
		"hook_event_name": string(event),
		"session_id":      "s1",
		"cwd":             os.Getenv("CLAUDE_PROJECT_DIR"),
		"permission_mode": "default",
	}
	switch event {
	case host.SessionStart:
		payload["source"] = "startup"
	case host.UserPromptSubmit:
		payload["prompt"] = "go on"
	case host.PreToolUse, host.PostToolUse:
		payload["tool_name"] = "Write"
		payload["tool_input"] = map[string]any{"file_path": filepath.Join(os.Getenv("CLAUDE_PROJECT_DIR"), ".reload", "session.md")}
	case host.Stop:
		payload["stop_hook_active"] = false
		payload["last_assistant_message"] = "Done."
		payload["background_tasks"] = []any{}
	case host.StopFailure:
		payload["error"] = "rate_limit"
	case host.PreCompact:
		payload["trigger"] = "manual"
	case host.PostCompact:
		payload["trigger"] = "manual"
		payload["compact_summary"] = "Summary."
	case host.SessionEnd:
		payload["reason"] = "prompt_input_exit"
	}
	maps.Copy(payload, given)
	if _, ok := payload["transcript_path"]; !ok {
		payload["transcript_path"] = transcriptFile(fmt.Sprint(payload["session_id"]))
	}
	for _, key := range drop {
		delete(payload, key)
	}
	return payload, nil
}

// mkjsonlMain is the command mkjsonl.
func mkjsonlMain(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: mkjsonl FILE ROW...")
	}
	path := args[0]
	if !strings.ContainsAny(path, `/\`) {
		path = transcriptFile(path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	w := transcriptWriter{version: "2.1.332", model: "claude-opus-5-5", seq: int(info.Size())}
	for _, arg := range args[1:] {
		kind, value, _ := strings.Cut(arg, "=")
		if err := w.add(kind, value); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	_, err = f.Write(w.out.Bytes())
	return err
}

// transcriptWriter makes rows as the host writes them.
type transcriptWriter struct {
	out            bytes.Buffer
	version, model string
	seq            int
}

// add writes the rows of one argument of mkjsonl:
//
//	version=V, model=ID       of the rows that follow
//	human=TEXT, notice=TEXT   a prompt a person typed, or one nobody typed
//	assistant=TOKENS          an answer; TOKENS is the occupancy it reports
//	said=TEXT                 an answer without usage
//	sidechain=TOKENS          an answer of a subagent, inline as old clients wrote it
//	synthetic, apierror=TEXT  answers the client made up itself
//	edit=PATH, bash=COMMAND   a tool call that went well
//	failed=COMMAND            a Bash call that did not
//	todo=TEXT                 a todo list with one open item
//	boundary=TOKENS           a compaction that left TOKENS; empty: it does not say
//	summary=TEXT              the row with the compaction's summary
//	noise=N                   N rows that are no messages, one of them 60 KB
//	big=BYTES                 one attachment row of that size
//	raw=TEXT                  TEXT as a line; half=TEXT without the newline
func (w *transcriptWriter) add(kind, value string) error {
	number := func() (int, error) {
		if value == "" {
			return 0, nil
		}
		return strconv.Atoi(value)
	}
	switch kind {
	case "version":
		w.version = value
	case "model":
		w.model = value
	case "human", "notice":
		origin := map[string]any{"kind": "human"}
		if kind == "notice" {
			origin["kind"] = "task-notification"
		}
		w.row("user", map[string]any{"origin": origin, "message": map[string]any{"role": "user", "content": value}})
	case "assistant", "sidechain":
		n, err := number()
		if err != nil {
			return err
		}
		w.row("assistant", map[string]any{"isSidechain": kind == "sidechain", "message": w.answer("Done.", map[string]any{
			"input_tokens": 2, "cache_creation_input_tokens": 8, "cache_read_input_tokens": n - 10, "output_tokens": 40,
		})})
	case "said":
		w.row("assistant", map[string]any{"message": w.answer(value, nil)})
	case "synthetic", "apierror":
		m := w.answer(value, map[string]any{"input_tokens": 0, "output_tokens": 0, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0})
		m["model"] = "<synthetic>"
		w.row("assistant", map[string]any{"isApiErrorMessage": kind == "apierror", "message": m})
	case "edit":
		w.tool("Edit", map[string]any{"file_path": value, "old_string": "a", "new_string": "b"}, false)
	case "bash", "failed":
		w.tool("Bash", map[string]any{"command": value, "description": "run"}, kind == "failed")
	case "todo":
		w.tool("TodoWrite", map[string]any{"todos": []any{
			map[string]any{"content": value, "status": "pending", "activeForm": value},
		}}, false)
	case "boundary":
		n, err := number()
		if err != nil {
			return err
		}
		meta := map[string]any{"trigger": "manual", "preTokens": 190_000}
		if n > 0 {
			meta["postTokens"] = n
		}
		w.row("system", map[string]any{"subtype": "compact_boundary", "content": "Conversation compacted", "compactMetadata": meta})
	case "summary":
		w.row("user", map[string]any{"isCompactSummary": true, "message": map[string]any{"role": "user", "content": value}})
	case "noise":
		n, err := number()
		if err != nil {
			return err
		}
		for i := range n {
			size := 200
			if i == 0 {
				size = 60_000
			}
			w.attachment(size)
		}
	case "big":
		n, err := number()
		if err != nil {
			return err
		}
		w.attachment(n)
	case "raw":
		w.out.WriteString(value + "\n")
	case "half":
		w.out.WriteString(value)
	default:
		return errors.New("no such row")
	}
	return nil
}

func (w *transcriptWriter) attachment(size int) {
	w.row("attachment", map[string]any{"attachment": map[string]any{"type": "prompt_snapshot", "content": strings.Repeat("x", size)}})
}

func (w *transcriptWriter) answer(text string, usage map[string]any) map[string]any {
	m := map[string]any{
		"id": fmt.Sprintf("msg_%d", w.seq), "type": "message", "role": "assistant", "model": w.model,
		"content": []any{map[string]any{"type": "text", "text": text}},
	}
	if usage != nil {
		m["usage"] = usage
	}
	return m
}

func (w *transcriptWriter) tool(name string, input map[string]any, failed bool) {
	id := fmt.Sprintf("toolu_%d", w.seq)
	call := w.answer("", nil)
	call["content"] = []any{map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}}
	w.row("assistant", map[string]any{"message": call})
	result := map[string]any{"type": "tool_result", "tool_use_id": id, "content": "ok"}
	if failed {
		result["is_error"], result["content"] = true, "Exit code 1"
	}
	w.row("user", map[string]any{"message": map[string]any{"role": "user", "content": []any{result}}})
}

// row writes one row of the given type with the fields every row has.
func (w *transcriptWriter) row(kind string, fields map[string]any) {
	w.seq++
	row := map[string]any{
		"type": kind, "version": w.version, "isSidechain": false, "userType": "external",
		"uuid": fmt.Sprintf("00000000-0000-4000-8000-%012d", w.seq), "sessionId": "s1", "cwd": os.Getenv("CLAUDE_PROJECT_DIR"),
		"timestamp": time.Now().UTC().Format(time.RFC3339Nano),
	}
	maps.Copy(row, fields)
	line, err := json.Marshal(row)
	if err != nil {
		panic(err) // maps of plain values always encode
	}
	w.out.Write(append(line, '\n'))
}
