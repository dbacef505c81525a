//go:build acceptance

package fakeapi_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/fakeapi"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/proc"
)

// The terminal is large enough that nothing a test looks for scrolls out of
// sight or is wrapped in the middle of a sentence.
const (
	columns = 220
	lines   = 150
)

// screen is an interactive session of the client in a terminal of its own.
type screen struct {
	w      *world
	socket string
	pid    int    // of the client
	seen   string // the last capture, for the log of a failure
}

// open starts a session and returns when it takes input.
func (w *world) open(args ...string) *screen {
	w.Helper()
	n := strconv.Itoa(len(w.screens))
	s := &screen{w: w, socket: filepath.Join(w.dir, "tmux"+n)}
	w.screens = append(w.screens, s)

	command := append([]string{"env", "-i"}, w.environ()...)
	command = append(command, w.within...)
	command = append(command, setup.client, "--debug-file", filepath.Join(w.dir, "client", n+".log"))
	command = append(append(command, w.flags...), args...)
	w.mkdir(filepath.Join(w.dir, "client"))
	start := []string{"-f", "/dev/null", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(lines), "-c", w.project}
	s.tmux(append(append(start, command...), ";", "set-option", "-g", "remain-on-exit", "on")...)
	var err error
	s.pid, err = strconv.Atoi(strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_pid}")))
	w.check(err)
	w.Cleanup(func() {
		s.text() // for the log: the terminal goes away with its server
		s.tmux("kill-server")
		// The client ends its session in peace, and writes while it does.
		w.until("the client to be gone", func() bool { return !proc.Alive(s.pid) })
	})
	s.see(`(?m)^❯`)
	return s
}

// command talks to the terminal's own tmux server. The environment decides
// whether tmux takes the client's characters for UTF-8.
func (s *screen) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-u", "-S", s.socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LC_ALL=C.UTF-8"}
	return cmd
}

func (s *screen) tmux(args ...string) string {
	s.w.Helper()
	out, err := s.command(args...).CombinedOutput()
	if err != nil {
		s.w.Fatalf("tmux %q: %v\n%s", args[:min(2, len(args))], err, out)
	}
	return string(out)
}

// text is what the person sees now, without trailing spaces and empty lines;
// once the terminal is gone, what was seen last.
func (s *screen) text() string {
	out, err := s.command("capture-pane", "-p", "-J").Output()
	if err != nil {
		return s.seen
	}
	var b strings.Builder
	// The client puts a no-break space after its prompt sign.
	for line := range strings.Lines(strings.ReplaceAll(string(out), "\u00a0", " ")) {
		if line = strings.TrimRight(line, " \n"); line != "" {
			b.WriteString(line + "\n")
		}
	}
	s.seen = b.String()
	return s.seen
}

// flat is the screen as one line with single spaces, so that a sentence is
// found however the client has wrapped it.
func (s *screen) flat() string { return strings.Join(strings.Fields(s.text()), " ") }

// see waits until the pattern matches the screen, in lines or as one line.
func (s *screen) see(pattern string) {
	s.w.Helper()
	re := regexp.MustCompile(pattern)
	s.w.until("to see "+pattern, func() bool { return re.MatchString(s.text()) || re.MatchString(s.flat()) })
}

// nudged waits for a notice about an occupancy. Old clients write the first
// reply of a fork only after its Stop hooks now and then (docs/host.md,
// Transcripts): there it may take one more turn at that occupancy.
func (s *screen) nudged(points int, turn func()) {
	s.w.Helper()
	pattern := fmt.Sprintf("cc-reload: context %d ?%%", points)
	if !host.AtLeast(setup.version, "2.1.332") && !s.comes(pattern, 3*time.Second) {
		s.w.Logf("client %s wrote the reply after its Stop hooks", setup.version)
		turn()
	}
	s.see(pattern)
}

// comes reports whether the pattern is on the screen within limit.
func (s *screen) comes(pattern string, limit time.Duration) bool {
	return s.within(pattern, true, limit)
}

// goes reports whether the pattern is no longer on the screen within limit.
func (s *screen) goes(pattern string, limit time.Duration) bool {
	return s.within(pattern, false, limit)
}

func (s *screen) within(pattern string, seen bool, limit time.Duration) bool {
	re := regexp.MustCompile(pattern)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); time.Now().Before(end); <-tick.C {
		if (re.MatchString(s.text()) || re.MatchString(s.flat())) == seen {
			return true
		}
	}
	return false
}

// absent fails the test when the pattern matches the screen now.
func (s *screen) absent(pattern string) {
	s.w.Helper()
	if m := regexp.MustCompile(pattern).FindString(s.flat()); m != "" {
		s.w.Errorf("the screen should not say %q:\n%s", m, s.seen)
	}
}

// all returns the first group of every match of the pattern on the screen.
func (s *screen) all(pattern string) []string {
	var out []string
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(s.flat(), -1) {
		out = append(out, m[1])
	}
	return out
}

func (s *screen) key(names ...string) {
	s.w.Helper()
	s.tmux(append([]string{"send-keys"}, names...)...)
}

// answer presses a key until the client's question is gone: it passes over one that
// comes as soon as the question is drawn.
func (s *screen) answer(key string) {
	s.w.Helper()
	const question = `Do you want to proceed\?`
	s.see(question)
	s.w.until("the question to be gone", func() bool {
		s.key(key)
		return s.goes(question, time.Second)
	})
}

// submit types a line into the empty input box, waits until it stands there and
// sends it. Now and then the client puts back what it has sent already.
func (s *screen) submit(line string) {
	s.w.Helper()
	s.key("C-u")
	s.tmux("send-keys", "-l", line)
	s.w.until("to see what was typed: "+line, func() bool { return s.box() == line })
	s.key("Enter")
}

// choice is a line of the client's menu of what to restore.
var choice = regexp.MustCompile(`(?m)^\s*(?:❯ )?\s*(\d)\. (Restore[^\n]*?)\s*$`)

// rewind goes back to before the last prompts, as a person does: Esc Esc, up
// to the prompt, Enter, and what to restore, the files too or the conversation
// alone. The client then puts that prompt into the input box, which is emptied.
func (s *screen) rewind(prompts int, files bool) {
	s.w.Helper()
	s.w.until("the list of prompts", func() bool {
		s.key("Escape") // two at once would be Alt-Escape
		return s.comes(`Enter to continue`, 500*time.Millisecond)
	})
	for range prompts {
		before := s.text()
		s.key("Up")
		s.w.until("the mark to move", func() bool { return s.text() != before })
	}
	s.key("Enter")
	s.see(`1\. Restore`)
	want := "Restore conversation"
	if files {
		want = "Restore code and conversation"
	}
	number := ""
	for _, m := range choice.FindAllStringSubmatch(s.text(), -1) {
		if m[2] == want {
			number = m[1]
		}
	}
	if number == "" {
		s.w.Fatalf("no %q to choose:\n%s", want, s.seen)
	}
	s.key(number)
	s.w.until("the menu to close", func() bool {
		if !choice.MatchString(s.text()) {
			return true
		}
		if !s.comes(`(?m)^❯`, time.Second) { // older clients only move the mark
			s.key("Enter")
		}
		return false
	})
	s.w.until("the prompt to be back", func() bool { return s.box() != "" })
	s.w.until("an empty input box", func() bool {
		if s.box() == "" {
			return true
		}
		s.key("C-u")
		return false
	})
}

// box returns what stands in the input box, the last prompt sign on the screen.
func (s *screen) box() string {
	text := s.text()
	_, after, _ := strings.Cut(text[strings.LastIndex(text, "\n❯")+1:], "❯")
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

// say submits a prompt that is answered with the turns, and returns when the
// turn has ended and its Stop hooks have run.
func (s *screen) say(prompt string, turns ...fakeapi.Turn) {
	s.w.Helper()
	ended := s.w.turns()
	s.w.api.Script(turns...)
	s.submit(prompt)
	s.w.until("the end of the turn of "+prompt, func() bool { return s.w.turns() > ended })
	if n := s.w.api.Pending(); n != 0 {
		s.w.Errorf("%q: %d of the scripted turns were not asked for", prompt, n)
	}
}

// clear is /clear, done when the screen holds nothing but that command.
func (s *screen) clear() {
	s.w.Helper()
	s.submit("/clear")
	command := regexp.MustCompile(`(?m)^❯ (.*)$`)
	s.w.until("the screen to be cleared", func() bool {
		m := command.FindAllStringSubmatch(s.text(), -1)
		return len(m) == 1 || len(m) == 2 && m[0][1] == "/clear" && m[1][1] == ""
	})
}

// exit leaves the session and waits until the client is gone.
func (s *screen) exit() {
	s.w.Helper()
	s.submit("/exit")
	s.gone()
}

// kill ends the client as kill -9 does: it has no chance to say anything.
func (s *screen) kill() {
	s.w.Helper()
	client, err := os.FindProcess(s.pid)
	s.w.check(err)
	s.w.check(client.Kill())
	s.gone()
}

// gone waits until the terminal says that the client is gone.
func (s *screen) gone() {
	s.w.Helper()
	s.w.until("the client to be gone", func() bool {
		return strings.TrimSpace(s.tmux("display-message", "-p", "#{pane_dead}")) == "1"
	})
}
