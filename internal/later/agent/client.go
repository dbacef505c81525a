package agent

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// Oldest is the oldest client that agents are run with, the same as for the
// plugins (min-host-version of the manifest).
const Oldest = "2.1.163"

// needed are the flags without which no agent is started: one that ignored them
// would read the repository's hooks or write where it must not.
var needed = [...]string{"--setting-sources", "--strict-mcp-config", "--tools", "--permission-mode", "--session-id", "--output-format"}

const (
	promptsFlag  = "--permission-prompts"
	clientFile   = "client"
	probeTimeout = 30 * time.Second
	lockWait     = 10 * time.Second
	maxAnswer    = 1 << 20 // of a client that is asked something
)

// Client is a claude program that agents can be run with.
type Client struct {
	Path    string
	Version string // such as "2.1.332"
	Prompts bool   // it knows --permission-prompts
}

// Find returns the path of the client's program: the one that the host says it is,
// else the one on PATH, else one in the places where installers put it, since
// timers have a short PATH. The error is a sentence with advice.
func Find(h host.Host, lookPath func(string) (string, error)) (string, error) {
	if isProgram(h.Executable) {
		return h.Executable, nil
	}
	if path, err := lookPath("claude"); err == nil {
		if path, err = filepath.Abs(path); err == nil {
			return path, nil
		}
	}
	name := "claude"
	if runtime.GOOS == "windows" {
		name = "claude.exe"
	}
	if h.Home != "" {
		for _, dir := range []string{".local/bin", ".claude/local", ".bun/bin"} {
			if path := filepath.Join(h.Home, filepath.FromSlash(dir), name); isProgram(path) {
				return path, nil
			}
		}
	}
	return "", problem.Fault("install Claude Code, or put it on PATH", "no program called claude was found")
}

func isProgram(path string) bool {
	if !filepath.IsAbs(path) {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// Probe asks the client at path for its version and its flags, once for each
// program: what it said is kept until the file is another one. environ is what
// agents get. The error is a sentence with advice: a client that is too old, or
// one that does not answer.
func (s Store) Probe(ctx context.Context, path string, environ []string) (Client, error) {
	stamp, err := stampOf(path)
	if err != nil {
		return Client{}, problem.Fault("install Claude Code again", "%q cannot be read: %w", path, err)
	}
	known := state.ReadPairs(s.dir, clientFile)
	if known.Get("program") != path || known.Get("stamp") != stamp {
		if known, err = s.ask(ctx, path, stamp, environ); err != nil {
			return Client{}, err
		}
	}
	c := Client{Path: path, Version: known.Get("version"), Prompts: known.Get("prompts") == "yes"}
	if !host.AtLeast(c.Version, Oldest) {
		return c, problem.Fault("update Claude Code", "%q is Claude Code %s; agents need %s or later", path, c.Version, Oldest)
	}
	if lacks := known.Get("lacks"); lacks != "" {
		return c, problem.Fault("update Claude Code", "%q is Claude Code %s, which does not know %s", path, c.Version, lacks)
	}
	return c, nil
}

// stampOf is another whenever the program has been replaced.
func stampOf(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	return strconv.FormatInt(info.Size(), 10) + "-" + strconv.FormatInt(info.ModTime().UnixNano(), 36), nil
}

func (s Store) ask(ctx context.Context, path, stamp string, environ []string) (state.Pairs, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	silent := func(err error) error {
		return problem.Fault("try `claude --version` in a terminal", "%q does not say its version: %w", path, err)
	}
	said, err := s.run(ctx, path, environ, "--version")
	if err != nil {
		return state.Pairs{}, silent(err)
	}
	version, _, _ := strings.Cut(strings.TrimSpace(said), " ")
	if !host.AtLeast(version, "0") {
		return state.Pairs{}, silent(errors.New("it says " + strconv.Quote(host.Cut(version, 80))))
	}
	help, err := s.run(ctx, path, environ, "--help")
	if err != nil {
		return state.Pairs{}, silent(err)
	}
	var lacks []string
	for _, flag := range needed {
		if !hasWord(help, flag) {
			lacks = append(lacks, flag)
		}
	}
	prompts := "no"
	if hasWord(help, promptsFlag) {
		prompts = "yes"
	}
	pairs := state.Pairs{}.Set("program", path).Set("stamp", stamp).Set("version", version).
		Set("prompts", prompts).Set("lacks", host.Either(lacks))
	// Without the note, the next run asks again.
	return pairs, s.dir.WithLock(lockWait, func(tx *state.Tx) error { return tx.Update(clientFile, pairs.Bytes()) })
}

// hasWord reports whether text has the flag, and not only one that begins with it.
func hasWord(text, flag string) bool {
	for {
		_, rest, ok := strings.Cut(text, flag)
		if !ok {
			return false
		}
		if rest == "" || !strings.ContainsAny(rest[:1], "-abcdefghijklmnopqrstuvwxyz") {
			return true
		}
		text = rest
	}
}

// run has the client answer a question, in the app directory: what a repository
// says of settings must not matter.
func (s Store) run(ctx context.Context, path string, environ []string, args ...string) (string, error) {
	var out limited
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Env, cmd.Stdout = filepath.Dir(s.dir.Path("")), environ, &out
	err := proc.Run(ctx, cmd, 0)
	return out.String(), err
}

// limited keeps the beginning of what is written to it.
type limited struct{ bytes.Buffer }

func (l *limited) Write(p []byte) (int, error) {
	l.Buffer.Write(p[:max(0, min(len(p), maxAnswer-l.Len()))])
	return len(p), nil
}
