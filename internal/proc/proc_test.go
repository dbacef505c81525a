package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays the processes under test: PROC_TEST names the part.
func TestMain(m *testing.M) {
	switch os.Getenv("PROC_TEST") {
	case "":
		os.Exit(m.Run())
	case "wait": // says its id, ends when stdin does
		fmt.Println(os.Getpid())
		io.Copy(io.Discard, os.Stdin)
	case "parent": // starts a child that leaves the group and holds our stdout
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PROC_TEST=stay")
		child.Stdout = os.Stdout
		ownSession(child)
		if err := child.Start(); err != nil {
			panic(err)
		}
		child.Wait()
	case "tidy": // says its id, and cleans up when interrupted
		interrupt := make(chan os.Signal, 1)
		signal.Notify(interrupt, os.Interrupt)
		fmt.Println(os.Getpid())
		<-interrupt
		fmt.Println("put back")
	case "stubborn": // ignores that it is asked to end, and so does its child
		signal.Ignore(syscall.SIGTERM)
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PROC_TEST=stay")
		child.Stdout = os.Stdout
		ownSession(child)
		if err := child.Start(); err != nil {
			panic(err)
		}
		child.Wait()
	case "breed": // answers to being asked with one more child
		asked := make(chan os.Signal, 1)
		signal.Notify(asked, syscall.SIGTERM)
		fmt.Println(os.Getpid())
		<-asked
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "PROC_TEST=stay")
		child.Stdout = os.Stdout
		ownSession(child)
		if err := child.Start(); err != nil {
			panic(err)
		}
		child.Wait()
	case "spin": // has a processor busy
		fmt.Println(os.Getpid())
		for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		}
	case "outer": // starts a child that knows nothing
		child := exec.Command(os.Args[0])
		child.Env = []string{"PROC_TEST=inner", "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}
		child.Stdout = os.Stdout
		if err := child.Run(); err != nil {
			panic(err)
		}
	case "inner":
		fmt.Print(Inherited("PROC_TEST_SAID") + "|" + os.Getenv("PROC_TEST_SAID") + "|" + Inherited("PROC_TEST_NOBODY"))
	case "fail":
		os.Exit(3)
	case "stay": // says its id and stays
		fmt.Println(os.Getpid())
		<-time.After(time.Minute) // unless it is killed, as it should be
	}
}

func play(part string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROC_TEST="+part)
	return cmd
}

// eventually waits until ok, which the system brings about by itself.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatal("never happened: " + what)
		}
	}
}

func readPID(t *testing.T, r io.Reader) int {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestAliveAndIdentity(t *testing.T) {
	t.Parallel()
	cmd := play("wait")
	in, _ := cmd.StdinPipe()
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := readPID(t, out)
	id, err := Identify(pid)
	if err != nil {
		t.Fatal(err)
	}
	if !Alive(pid) || !id.Alive() || id.Ended() {
		t.Error("a running process is not alive")
	}
	again, err := ParseID(id.String())
	if err != nil || again != id {
		t.Errorf("ParseID(%q) = %v, %v", id, again, err)
	}
	reused := id
	reused.Start++
	if reused.Alive() || !reused.Ended() {
		t.Error("case F63: a reused process id passes for the process that had it")
	}
	if err := end(reused, 0); err != nil || !id.Alive() {
		t.Errorf("case F63: end killed a process that only shares the id (%v)", err)
	}
	otherBoot := id
	otherBoot.Boot += "x"
	if otherBoot.Alive() || !otherBoot.Ended() {
		t.Error("a process of an earlier boot is alive")
	}
	in.Close()
	cmd.Wait()
	if id.Alive() || !id.Ended() {
		t.Error("an ended process is alive")
	}
	if _, err := Identify(1 << 30); !errors.Is(err, ErrGone) {
		t.Errorf("Identify of no process: %v, want ErrGone", err)
	}
}

func TestAliveRefusesGroupsAndNobody(t *testing.T) {
	t.Parallel()
	for _, pid := range []int{0, -1, -os.Getpid(), 1 << 30} {
		if Alive(pid) {
			t.Errorf("Alive(%d)", pid)
		}
	}
	if (ID{}).Alive() || !(ID{}).Ended() {
		t.Error("the zero ID is alive")
	}
}

func TestParseIDRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "7", "7:8", "x:1:b", "7:x:b", "0:1:b", "-4:1:b"} {
		if id, err := ParseID(s); err == nil {
			t.Errorf("ParseID(%q) = %v", s, id)
		}
	}
}

func TestRunEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := play("parent")
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout = w
	ran := make(chan error)
	go func() { ran <- Run(ctx, cmd, 0) }()
	grandchild, err := Identify(readPID(t, out))
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ran; !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want the context's error", err)
	}
	w.Close()
	eventually(t, "the grandchild in its own session is dead", func() bool { return !grandchild.Alive() })
}

// case F53: a hook that has moved the user's work aside must get the chance
// to put it back.
func TestRunInterruptsBeforeItKills(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no way to interrupt a process without a console")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := play("tidy")
	cmd.Stdout = w
	ran := make(chan error)
	go func() { ran <- Run(ctx, cmd, 10*time.Second) }()
	readPID(t, out)
	cancel()
	<-ran
	w.Close()
	if rest, err := io.ReadAll(out); err != nil || string(rest) != "put back\n" {
		t.Errorf("after the interrupt: %q, %v", rest, err)
	}
}

func TestRunReturnsTheExitCode(t *testing.T) {
	t.Parallel()
	var exit *exec.ExitError
	if err := Run(t.Context(), play("fail"), 0); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("Run = %v, want exit status 3", err)
	}
}

func TestStartDetachesAndEndKillsTheTree(t *testing.T) {
	t.Parallel()
	out, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PROC_TEST=parent")
	cmd.Stdout = w
	id, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	child, err := Identify(readPID(t, out))
	if err != nil {
		t.Fatal(err)
	}
	if !id.Alive() || !child.Alive() {
		t.Fatal("a detached process is not alive")
	}
	if err := end(id, 5*time.Second); err != nil {
		t.Error(err)
	}
	eventually(t, "parent and child are dead", func() bool { return !id.Alive() && !child.Alive() })
}

func TestStartRefusesPipes(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0])
	cmd.Stdout = new(strings.Builder)
	if _, err := Start(cmd); err == nil {
		t.Error("nobody would copy the output")
	}
}

// A variable that a program takes out of its environment is still known.
func TestInherited(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("macOS does not tell of programs of its own, and env is one")
	}
	cmd := play("outer")
	cmd.Env = append(cmd.Env, "PROC_TEST_SAID=by the grandparent")
	out, err := cmd.Output()
	if err != nil || string(out) != "by the grandparent||" {
		t.Errorf("%q, %v", out, err)
	}
}
