package statusline

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/term"
)

const separator = " | "

// Line joins the parts that have something to show. The host reads the line
// from a pipe and shows colors, so it is the caller's to know whether they
// are wanted.
func Line(parts []plugin.Segment, paint term.Palette) string {
	var shown []string
	for _, p := range parts {
		if p == (plugin.Segment{}) {
			continue
		}
		value := p.Value
		switch p.Level {
		case plugin.Near:
			value = paint.In(term.Yellow, value)
		case plugin.Over:
			value = paint.In(term.Red, value)
		}
		shown = append(shown, p.Label+value+p.Note)
	}
	return strings.Join(shown, separator)
}

// Append puts line behind the output of another status line command, on its
// last line. Either may be empty.
func Append(first, line string) string {
	first = strings.TrimRight(first, "\r\n")
	switch {
	case first == "":
		return line
	case line == "":
		return first
	case strings.Contains(first, "\x1b["):
		first += term.Reset
	}
	return first + separator + line
}

// FirstTimeout is how long the other command may take. The host starts a new one
// at every redraw and drops the one before. A test on a busy machine gives it more.
var FirstTimeout = 2 * time.Second

const (
	// firstGrace is how long it may take to clean up after that.
	firstGrace = 100 * time.Millisecond
	// maxFirst is the most that is kept of its output, in bytes.
	maxFirst = 64 << 10
	// nestedVar tells a command that it runs inside our status line, so that
	// one which calls ccreload statusline does not start itself for ever.
	nestedVar = "CCRELOAD_STATUSLINE"
)

// First runs the status line command that ours took the place of, with the
// same payload, in the shell that the host would use, and returns what it wrote
// to stdout. A command that fails has written what it has written; one that is
// too slow has written nothing.
func First(command string, stdin []byte, find host.ShellFinder) string {
	if command == "" || os.Getenv(nestedVar) != "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), FirstTimeout)
	defer cancel()
	argv := find.ShellCommand(command)
	if len(argv) == 0 {
		return ""
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), nestedVar+"=1")
	cmd.Stdin = bytes.NewReader(stdin)
	out := &bounded{limit: maxFirst}
	cmd.Stdout = out
	// However it ends, what counts is what it wrote in time.
	if err := proc.Run(ctx, cmd, firstGrace); errors.Is(err, context.DeadlineExceeded) {
		return ""
	}
	return out.String()
}

// bounded keeps the beginning of what is written to it.
type bounded struct {
	strings.Builder
	limit int
}

func (b *bounded) Write(p []byte) (int, error) {
	b.Builder.Write(p[:min(len(p), b.limit-b.Len())])
	return len(p), nil
}
