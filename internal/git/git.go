// Package git asks the git command about the user's repository, makes one kind
// of commit in it, and keeps worktrees in which agents work for the user.
//
// Every call has a deadline, a bounded answer, and an environment without the
// variables by which a caller (a hook of git itself, an editor) would point
// git at another repository or index. Calls that only read run nothing a
// repository's configuration names: no file system monitor, hook, filter,
// external diff, pager or signature check, and no transport. The package never
// stages, stashes, checks out or removes anything of the user's; what a
// fast-forward changes in their files, Worktree.Integrate says.
//
// Of a worktree of ours (Worktree) the files are made, changed and taken away.
// What that runs:
//
//   - When it is made, and when a merge brings the user's files along, no hook of
//     the repository. The content filters of the configuration do run, lest an
//     agent works on pointers or on what is encrypted, and lest its commit holds
//     a file as plain text. A clone brings no configuration along. One whose
//     filter fails (git-lfs without the object and without the network) gets no
//     worktree.
//   - On a commit and on a merge in a worktree of ours, the hooks, filters,
//     merge drivers and signing of the user's own commits. Since what an agent
//     wrote must not become a program that runs unwatched, a change to the hooks
//     themselves is refused before.
//
// Nothing is ever forced.
package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/proc"
)

// Errors that callers tell apart.
var (
	ErrNoGit       = errors.New("git is not installed")
	ErrNoRepo      = errors.New("not in a git repository")
	ErrNoWorktree  = errors.New("in a repository without a worktree, or among the files of git itself")
	ErrIndexLocked = errors.New("another git process holds index.lock")
	ErrNothing     = errors.New("the files are committed as they are")
)

// Error is a git call that failed.
type Error struct {
	Command string        // the subcommand, e.g. "commit"
	Code    int           // git's exit code; -1 when it was ended from outside
	Stderr  string        // what it said, at most stderrLimit bytes of it
	Timeout time.Duration // set when the deadline ended it
}

func (e *Error) Error() string {
	if e.Timeout != 0 {
		return fmt.Sprintf("git %s gave no answer within %v", e.Command, e.Timeout)
	}
	said := strings.TrimSpace(e.Stderr)
	if said == "" {
		said = fmt.Sprintf("exit status %d", e.Code)
	}
	return fmt.Sprintf("git %s: %s", e.Command, said)
}

const (
	readTime    = 10 * time.Second // for a call that only reads
	outputLimit = 4 << 20          // bytes of an answer that are kept
	stderrLimit = 4 << 10
	// tidyTime is how long a hook has after the interrupt to put back what it
	// moved aside.
	tidyTime = 3 * time.Second
)

// call is one run of git.
type call struct {
	dir     string
	args    []string // subcommand first
	config  []string // key=value pairs beside the fixed ones
	env     []string
	stdin   string
	timeout time.Duration // 0 means readTime
	holds   *os.File      // stays open in everything that the call starts
	limit   int           // bytes of the answer that are kept; 0 means outputLimit

	pathspecMagic bool // --literal-pathspecs is left out
	mutates       bool // hooks of the repository may run, and are interrupted before they are killed
	checksOut     bool // writes files: what a partial clone lacks is fetched, and git may tidy up before it is killed
	unattended    bool // see Repo.Unattended
}

// quiet is the configuration of every call.
var quiet = []string{
	"core.fsmonitor=false",
	// Only a directory with .git in or above it is a repository: a bare one
	// that was committed as plain files brings its own configuration along.
	"safe.bareRepository=explicit",
	"core.pager=cat",
	"color.ui=false",
	"gc.auto=0",
	"maintenance.auto=false",
	"submodule.recurse=false",
}

// readOnly is the configuration of calls that run none of the repository's
// programs.
var readOnly = []string{
	"core.hooksPath=/dev/null",
	"core.askPass=",
	"log.showSignature=false",
	"diff.external=",
	// git diff would write times it found stale into the index, optional locks
	// or not.
	"diff.autoRefreshIndex=false",
}

// run returns what git wrote to stdout, the first outputLimit bytes of it.
func (c call) run(ctx context.Context) ([]byte, error) {
	path, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(c.timeout, readTime))
	defer cancel()

	args := []string{"--no-pager"}
	if !c.pathspecMagic {
		args = append(args, "--literal-pathspecs")
	}
	killDelay := tidyTime
	config := slices.Concat(quiet, longPaths(), c.config)
	if !c.mutates {
		if !c.checksOut {
			killDelay = 0
		}
		config = append(config, readOnly...)
	}
	for _, kv := range config {
		args = append(args, "-c", kv)
	}
	cmd := exec.Command(path, append(args, c.args...)...)
	cmd.Dir = c.dir
	cmd.Env = append(environ(os.Environ(), c.mutates, c.unattended), c.env...)
	if c.checksOut {
		cmd.Env = slices.DeleteFunc(cmd.Env, func(kv string) bool { return kv == noLazyFetch || kv == noTransport })
	}
	if c.stdin != "" {
		cmd.Stdin = strings.NewReader(c.stdin)
	}
	if c.holds != nil {
		cmd.ExtraFiles = []*os.File{c.holds}
	}
	stdout, stderr := head{limit: cmp.Or(c.limit, outputLimit)}, head{limit: stderrLimit}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = proc.Run(ctx, cmd, killDelay)
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		// A hook left something running that holds the pipe; git itself is done.
		return stdout.Bytes(), nil
	}
	failed := &Error{Command: c.args[0], Code: -1, Stderr: stderr.String()}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		failed.Timeout = max(time.Since(start).Round(time.Second/10), 1)
	case errors.As(err, &exit):
		failed.Code = exit.ExitCode()
	default:
		return nil, fmt.Errorf("git %s: %w", c.args[0], err)
	}
	return stdout.Bytes(), failed
}

// code returns the exit code in err, 0 for nil, -1 when there is none.
func code(err error) int {
	var e *Error
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.Code
	}
	return -1
}

// says reports whether git failed with one of these words.
func says(err error, words ...string) bool {
	var e *Error
	return errors.As(err, &e) && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(e.Stderr, w) })
}

// longPaths has git on Windows take paths of more than 260 characters, which a
// worktree in a directory of ours soon has.
func longPaths() []string {
	if runtime.GOOS == "windows" {
		return []string{"core.longpaths=true"}
	}
	return nil
}

// head keeps the first limit bytes written to it and drops the rest, so that
// the writer never blocks.
type head struct {
	bytes.Buffer
	limit int
}

func (h *head) Write(p []byte) (int, error) {
	n := len(p)
	h.Buffer.Write(p[:min(n, h.limit-h.Len())])
	return n, nil
}

// ReadFrom hides the one of bytes.Buffer, which knows no limit.
func (h *head) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, r)
}

// kept are the variables of git that stay: who commits, how remotes are
// reached, and where the user's own configuration is. All others go, those
// that name a repository, an index or extra configuration above all.
var kept = []string{
	"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL",
	"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO",
	"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH",
}

const (
	noLazyFetch = "GIT_NO_LAZY_FETCH=1"
	noTransport = "GIT_ALLOW_PROTOCOL=none"
)

// environ returns the environment of a call, made from that of this process.
func environ(parent []string, mutates, unattended bool) []string {
	out := make([]string, 0, len(parent)+10)
	for _, kv := range parent {
		key, _, _ := strings.Cut(kv, "=")
		switch key = strings.ToUpper(key); {
		case strings.HasPrefix(key, "GIT_") && !slices.Contains(kept, key),
			!mutates && (strings.HasPrefix(key, "LC_") || key == "LANG" || key == "LANGUAGE"),
			unattended && (key == "GPG_TTY" || key == "DISPLAY" || key == "WAYLAND_DISPLAY"),
			key == "SSH_ASKPASS":
		default:
			out = append(out, kv)
		}
	}
	out = append(out, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS_REQUIRE=never", "GIT_EDITOR=:")
	if !mutates {
		// No lock is taken to write a refreshed index, and nothing is fetched,
		// not even an object a partial clone lacks.
		// Its messages are compared, so they must be the untranslated ones.
		out = append(out, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", noLazyFetch, noTransport)
	}
	return out
}
