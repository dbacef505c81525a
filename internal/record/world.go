package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// world is the throw-away machine a recording is replayed on.
type world struct {
	places  Places
	data    string // the plugin's data directory
	binary  string
	root    string
	clients map[string]*client // by the process id that was recorded
	last    time.Time          // when the call before was replayed
}

// newWorld lays out home, project and data below dir.
func newWorld(dir, binary, root string) (*world, error) {
	// Paths that lead through links would not be found again in what hooks say.
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	w := &world{
		places:  Places{Project: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"), Tmp: filepath.Join(dir, "tmp")},
		data:    filepath.Join(dir, "data"),
		binary:  binary,
		root:    root,
		clients: map[string]*client{},
		last:    time.Now(),
	}
	for _, d := range []string{w.places.Project, w.places.Home, w.places.Tmp, w.data} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// environ is the environment of a process on this machine: what the system
// needs to start one, directories of our own, and of vars what a host sets.
func (w *world) environ(vars map[string]string) []string {
	var env []string
	for _, name := range []string{"PATH", "SystemRoot", "GOCOVERDIR"} {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	home := func(elem ...string) string { return filepath.Join(append([]string{w.places.Home}, elem...)...) }
	for name, v := range vars {
		// A recording has no say in how programs are run.
		if host.IsVar(name) {
			env = append(env, name+"="+v)
		}
	}
	return append(env,
		"HOME="+w.places.Home,
		"USERPROFILE="+w.places.Home,
		"LOCALAPPDATA="+home("AppData", "Local"),
		"XDG_CONFIG_HOME="+home(".config"),
		"XDG_CACHE_HOME="+home(".cache"),
		"XDG_DATA_HOME="+home(".local", "share"),
		"XDG_STATE_HOME="+home(".local", "state"),
		"TMPDIR="+w.places.Tmp,
		"TMP="+w.places.Tmp,
		"TEMP="+w.places.Tmp,
		host.ConfigVar+"="+home(".claude"),
		host.RootVar+"="+w.root,
		host.DataVar+"="+w.data,
		// A repository around the throw-away project is none of its business.
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(w.places.Project),
		"GIT_CONFIG_NOSYSTEM=1",
	)
}

// configure sets options in the project's config file.
func (w *world) configure(config map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(config)) {
		cmd := exec.Command(w.binary, "config", "set", key, config[key])
		cmd.Dir = w.places.Project
		cmd.Env = w.environ(map[string]string{host.ProjectVar: w.places.Project})
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("config set %s %s: %w: %s", key, config[key], err, bytes.TrimSpace(out))
		}
	}
	return nil
}

// editable reports whether a recorded tool call may change the file at path:
// one of the project's that git takes no orders from.
func (w *world) editable(path string) bool {
	return state.Within(w.places.Project, path) &&
		!slices.ContainsFunc(strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }), func(elem string) bool {
			return strings.EqualFold(elem, ".git")
		})
}

// append adds rows to the transcript at path, or starts it anew.
func (w *world) append(path string, rows []json.RawMessage, anew bool) error {
	if len(rows) == 0 && !anew {
		return nil
	}
	if !state.Within(filepath.Join(w.places.Home, ".claude"), path) {
		return fmt.Errorf("transcript %q is outside $HOME/.claude", w.places.out(path))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if anew {
		how |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, how, 0o600)
	if err != nil {
		return err
	}
	for _, row := range w.present(rows) {
		if _, werr := f.Write(append(row, '\n')); werr != nil {
			err = errors.Join(err, werr)
		}
	}
	return errors.Join(err, f.Close())
}

// present moves the time of rows to now, keeping their order: what a hook
// compares them with, the digest's date above all, is of the present too. The
// newest row is written now, older ones as much earlier as they were, but not
// before the call before this one.
func (w *world) present(rows []json.RawMessage) [][]byte {
	stamps := make([]time.Time, len(rows))
	var newest time.Time
	for i, row := range rows {
		var r struct {
			Time time.Time `json:"timestamp"`
		}
		if json.Unmarshal(row, &r) == nil {
			stamps[i] = r.Time
		}
		if stamps[i].After(newest) {
			newest = stamps[i]
		}
	}
	now := time.Now()
	out := make([][]byte, len(rows))
	for i, row := range rows {
		out[i] = row
		if stamps[i].IsZero() {
			continue
		}
		at := now.Add(stamps[i].Sub(newest))
		if at.Before(w.last) {
			at = w.last
		}
		rw := rewriter{
			text: func(path []string, s string) []byte {
				if len(path) == 1 && path[0] == "timestamp" {
					s = at.UTC().Format("2006-01-02T15:04:05.000Z07:00")
				}
				return quote(s)
			},
			fill: fillOf,
		}
		if moved, err := rw.rewrite(row); err == nil {
			out[i] = moved
		}
	}
	return out
}

// perform does what a recorded tool call did to a file, so that the file is
// there when hooks look at it. Calls of other tools, calls on files of no
// concern and edits that no longer apply do nothing.
func (w *world) perform(event host.Event, payload []byte) error {
	if event != host.PostToolUse {
		return nil
	}
	var call struct {
		Tool  string `json:"tool_name"`
		Input struct {
			Path    string  `json:"file_path"`
			Content *string `json:"content"`
			Old     string  `json:"old_string"`
			New     string  `json:"new_string"`
			All     bool    `json:"replace_all"`
		} `json:"tool_input"`
	}
	// The input of an unknown tool may have any form.
	if json.Unmarshal(payload, &call) != nil || !w.editable(call.Input.Path) {
		return nil
	}
	path := call.Input.Path
	switch {
	case call.Tool == "Write" && call.Input.Content != nil:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(*call.Input.Content), 0o644)
	case call.Tool == "Edit" && call.Input.Old != "":
		data, err := os.ReadFile(path)
		if err != nil {
			return nil // an edit of a file that was there before the recording
		}
		n := 1
		if call.Input.All {
			n = -1
		}
		return os.WriteFile(path, []byte(strings.Replace(string(data), call.Input.Old, call.Input.New, n)), 0o644)
	}
	return nil
}

// client is a live process in the place of a recorded one, so that a hook that
// asks whether its client lives gets the answer of then.
type client struct {
	cmd   *exec.Cmd
	stdin io.Closer
	until int // index of the last call that names it
}

// clientPID returns the id of the process that stands for the recorded pid,
// starting it if need be. It is a replay that waits for a recording on stdin.
func (w *world) clientPID(recorded string, until int) (string, error) {
	c, ok := w.clients[recorded]
	if !ok {
		cmd := exec.Command(w.binary, "replay", "-")
		cmd.Env = w.environ(nil)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return "", err
		}
		if err := cmd.Start(); err != nil {
			return "", fmt.Errorf("stand-in for client %s: %w", recorded, err)
		}
		c = &client{cmd: cmd, stdin: stdin, until: until}
		w.clients[recorded] = c
	}
	return strconv.Itoa(c.cmd.Process.Pid), nil
}

// leave ends the clients whose last call was call number n.
func (w *world) leave(n int) {
	for pid, c := range w.clients {
		if c.until <= n {
			c.stdin.Close()
			c.cmd.Wait() // it ends with an error: there was no recording
			delete(w.clients, pid)
		}
	}
}
