package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/state"
)

// The test binary plays the client: AGENT_TEST names the part.
func TestMain(m *testing.M) {
	switch part := os.Getenv("AGENT_TEST"); part {
	case "":
		os.Exit(m.Run())
	case "tick": // starts an agent and is killed at a step
		tick()
	default:
		play(part)
	}
}

// say writes rows as the client does.
func say(rows ...string) {
	for _, row := range rows {
		fmt.Println(row)
	}
}

const (
	initRow = `{"type":"system","subtype":"init","session_id":"s"}`
	callRow = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}`
	doneRow = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"}]}}`
)

func play(part string) {
	switch {
	case slices.Contains(os.Args, "--version"):
		fmt.Println(os.Getenv("AGENT_VERSION") + " (Claude Code)")
		return
	case slices.Contains(os.Args, "--help"):
		fmt.Print(os.Getenv("AGENT_HELP"))
		asked, _ := os.OpenFile(os.Getenv("AGENT_COUNT"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
		asked.WriteString("asked\n")
		return
	}
	switch part {
	case "echo": // says what it was given, and ends
		prompt, _ := io.ReadAll(os.Stdin)
		dir, _ := os.Getwd()
		fmt.Printf("%q\n%q\n%q\n%q\n", os.Args[1:], prompt, dir, os.Environ())
		fmt.Fprintln(os.Stderr, "a warning")
	case "work": // calls a tool, which lives in a session of its own, and waits for it
		say(initRow, callRow)
		tool := exec.Command(os.Args[0])
		tool.Env = append(os.Environ(), "AGENT_TEST=tool")
		ownSession(tool)
		if err := tool.Start(); err != nil {
			panic(err)
		}
		fmt.Fprintln(os.Stderr, tool.Process.Pid)
		tool.Wait()
	case "tool":
		signal.Ignore(syscall.SIGTERM)
		<-time.After(time.Minute) // unless it is killed, as it should be
	case "wait": // begins, and waits
		say(initRow)
		<-time.After(time.Minute)
	}
}

// bench is an app directory, and a repository beside it.
type bench struct {
	*testing.T
	dir, repo string
	store     Store
}

func newBench(t *testing.T) bench {
	t.Helper()
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := bench{t, dir, filepath.Join(dir, "my  repo"), Open(state.NewDir(filepath.Join(dir, "app")))}
	for _, d := range []string{b.repo, filepath.Join(dir, "app")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// spec is a run of a client that plays the part.
func (b bench) spec(part string) Spec {
	id := NewID()
	return Spec{
		ID: id, Session: NewID(), Client: Client{Path: os.Args[0]}, Model: "sonnet", Dir: b.repo, Prompt: "do it\n",
		Environ: append(os.Environ(), "AGENT_TEST="+part),
		Out:     filepath.Join(b.dir, "app", id+".out"), Err: filepath.Join(b.dir, "app", id+".err"),
	}
}

func (b bench) start(s Spec) Record {
	b.Helper()
	r, err := b.store.Start(s, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { b.store.Stop(s.ID, hastyClock()) })
	return r
}

func (b bench) load(id string) Record {
	b.Helper()
	r, err := b.store.Load(id)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// line returns the first line of a file, once it is whole.
func (b bench) line(path string) string {
	b.Helper()
	var line string
	b.until("a line in "+filepath.Base(path), func() bool {
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		line, err = bufio.NewReader(f).ReadString('\n')
		return err == nil
	})
	return strings.TrimSpace(line)
}

// until waits for what other processes bring about by themselves.
func (b bench) until(what string, ok func() bool) {
	b.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			b.Fatal("never happened: " + what)
		}
	}
}
