package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ccreload/ccreload/internal/term"
)

// The monitor on a terminal: it draws in place, follows the terminal's size, obeys
// NO_COLOR, and gives the screen back at ^C.
func TestMonitorOnATerminal(t *testing.T) {
	t.Parallel()
	self, err := exec.LookPath("ccreload")
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	queue := filepath.Join(home, "shop", ".claude", "LATER.md")
	if err := os.MkdirAll(filepath.Dir(queue), 0o755); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(queue, []byte("- [ ] "+strings.Repeat("close the port ", 9)+"\n"), 0o644)
	master, slave := openTerminal(t)
	resize(t, master, 100, 30)
	cmd := exec.Command(self, "later", "monitor", "--interval", "1h")
	cmd.Dir = filepath.Join(home, "shop")
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm", "NO_COLOR=1"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	slave.Close()
	s := &shown{t: t, from: master}

	first := s.until("\x1b[?2026l")
	if !strings.HasPrefix(first, "\x1b[?1049h\x1b[?25l") || !strings.Contains(first, "shop: 1 waiting for trust") {
		t.Errorf("first %q", first)
	}
	s.fits(first, 100)
	resize(t, master, 44, 30)
	s.fits(s.until("\x1b[?2026l"), 44)
	if _, err := master.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	s.until("\x1b[?25h\x1b[?1049l")
	if err := cmd.Wait(); err != nil {
		t.Errorf("at ^C: %v", err)
	}
}

// shown reads what a program draws.
type shown struct {
	t    *testing.T
	from *os.File
	rest []byte
}

// until returns what is drawn up to and with a text.
func (s *shown) until(text string) string {
	s.t.Helper()
	buf := make([]byte, 4096)
	for {
		if at := bytes.Index(s.rest, []byte(text)); at >= 0 {
			got := string(s.rest[:at+len(text)])
			s.rest = s.rest[at+len(text):]
			return got
		}
		n, err := s.from.Read(buf)
		if err != nil {
			s.t.Fatalf("%v before %q; there is %q", err, text, s.rest)
		}
		s.rest = append(s.rest, buf[:n]...)
	}
}

// fits checks that no line reaches the last column and no color is in it.
func (s *shown) fits(frame string, columns int) {
	s.t.Helper()
	_, frame, _ = strings.Cut(frame, "\x1b[H")
	frame, _, _ = strings.Cut(frame, "\x1b[J")
	for l := range strings.SplitSeq(frame, "\n") {
		l = strings.TrimSuffix(strings.TrimRight(l, "\r"), "\x1b[K")
		if term.Width(l) >= columns || strings.Contains(l, "\x1b") {
			s.t.Errorf("%d columns: %q", columns, l)
		}
	}
}

// openTerminal returns both ends of a terminal.
func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	return master, slave
}

func resize(t *testing.T, master *os.File, columns, rows uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows}); err != nil {
		t.Fatal(err)
	}
}
