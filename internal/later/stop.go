package later

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/usage"
)

// tickEvery is how often the end of a turn starts a tick at most.
const tickEvery = 5 * time.Second

// stop notes that somebody is at work, and starts a tick where there is something
// that one could do.
func stop(call *host.Call) (host.Output, error) {
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" || call.Host.Headless {
		return host.Output{}, nil
	}
	now := call.Env.Now()
	before, err := touch(filepath.Join(app, activityFile), now)
	if errors.Is(err, fs.ErrNotExist) {
		return host.Output{}, nil // nothing was ever queued
	}
	root := Root(call.Project)
	if !pending(app, QueueOf(root, ReadConfig(app, call.Profile))) {
		return host.Output{}, nil
	}
	if info, err := os.Stat(filepath.Join(app, tickFile)); err == nil {
		if since := now.Sub(info.ModTime()); since >= 0 && since < tickEvery {
			return host.Output{}, nil
		}
	}
	if call.Env.Getenv(host.NoBackgroundVar) != "" {
		return host.Output{}, nil
	}
	call.Slow()
	return host.Output{}, startTick(root, before)
}

// touch sets the time of a file and returns the one it had. It fails with
// fs.ErrNotExist where the directory is not there, and is silent about others: the
// time of the last turn is worth no message.
func touch(path string, now time.Time) (before time.Time, err error) {
	info, err := os.Stat(path)
	if err == nil {
		return info.ModTime(), os.Chtimes(path, now, now)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return time.Time{}, fs.ErrNotExist
	}
	_, err = state.CreateExclusive(path, nil)
	os.Chtimes(path, now, now)
	return time.Time{}, err
}

// pending reports whether there may be something to do: an open task, or an agent
// that somebody has to look after.
func pending(app string, q Queue) bool {
	if data, err := q.Read(); err != nil || bytes.Contains(data, []byte("[ ]")) || bytes.Contains(data, []byte("[!]")) {
		return true // a tick says in the log what is wrong with the file
	}
	return inFlight(app)
}

// inFlight reports whether an agent was started that nobody has dealt with yet.
func inFlight(app string) bool {
	data, err := state.ReadFile(filepath.Join(app, StateFile), queue.MaxBytes)
	return err == nil && bytes.Contains(data, []byte(`"in_flight": true`))
}

// startTick starts `ccreload later tick` for a repository in the background.
func startTick(root string, before time.Time) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	args := []string{"later", "tick", "--background", "--repo", root}
	if !before.IsZero() {
		args = append(args, "--idle-since", before.UTC().Format(time.RFC3339))
	}
	cmd := exec.Command(exe, args...)
	cmd.Dir = root
	cmd.Env = host.Outside(os.Environ())
	return start(cmd)
}

// start is what a tick is started by; tests look at it instead.
var start = func(cmd *exec.Cmd) error {
	_, err := proc.Start(cmd)
	return err
}

// stopFailure notes that the account's limit was met. The host does not say when
// it ends; it has told the status line, or the refusal of the next agent will.
func stopFailure(call *host.Call) (host.Output, error) {
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" || call.Payload.Failure != "rate_limit" || !planLimit(call.Payload.LastMessage) {
		return host.Output{}, nil
	}
	if _, err := os.Stat(app); err != nil {
		return host.Output{}, nil
	}
	now := call.Env.Now()
	known := usage.ReadLimits(app).Current(now)
	said := usage.Limits{FiveHour: refused(known.FiveHour, now)}
	if known.SevenDay.Used > known.FiveHour.Used {
		said = usage.Limits{SevenDay: refused(known.SevenDay, now)}
	}
	return host.Output{}, usage.RecordLimits(app, said, now)
}

func refused(l usage.Limit, now time.Time) usage.Limit {
	return usage.Limit{Used: 100, Resets: l.Resets, Status: usage.Rejected, Seen: now, Source: usage.FromRefusal}
}

// Activity returns when a turn last ended, zero for never.
func Activity(app string) time.Time {
	info, err := os.Stat(filepath.Join(app, activityFile))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// MarkTick notes that a tick has begun.
func MarkTick(app string, now time.Time) { touch(filepath.Join(app, tickFile), now) }
