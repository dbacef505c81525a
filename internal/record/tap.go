package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	// maxGain is the most of a transcript that one call records, in bytes: the
	// newest rows that fit.
	maxGain = 4 << 20
	// maxRow is the longest row that is kept; of a longer one only the size.
	maxRow = 1 << 20
	// maxRecording is the size at which a recording stops growing, in bytes.
	maxRecording = 64 << 20
	// tapWait is how long a hook waits for another that is being recorded.
	tapWait = 2 * time.Second
)

// raw is a call as the tap writes it: with the paths of this machine, and
// with what an export needs and a recording does not have.
type raw struct {
	Time   time.Time `json:"time"`
	Plugin string    `json:"plugin"`
	Call
}

// Store is the directory in which the recordings of one project lie. It is
// the user's and not the project's: a repository cannot bring one along and
// thereby switch recording on.
type Store struct{ dir string }

// Names on a store.
const (
	ongoingName  = "recording.jsonl"
	finishedName = "recorded.jsonl"
	offsetsName  = "offsets" // how far each transcript has been recorded
)

// StoreFor returns the store of a project. project should be a path without
// links, as the host names it.
//
// A user without a home has none: its Err says so.
func StoreFor(project string, getenv func(string) string) Store {
	all := shelves(getenv)
	if all == "" {
		return Store{}
	}
	project = filepath.Clean(project)
	sum := fnv.New64a()
	io.WriteString(sum, project)
	name := fmt.Sprintf("%.40s-%016x", filepath.Base(project), sum.Sum64())
	return Store{filepath.Join(all, name)}
}

// shelves returns the directory of all of them, "" for a user without a home.
func shelves(getenv func(string) string) string {
	home := stateHome(getenv)
	if home == "" {
		return ""
	}
	return filepath.Join(home, "ccreload", "recordings")
}

// stateHome returns the directory for what programs keep between runs. A
// relative one would be in whatever directory we happen to be in.
func stateHome(getenv func(string) string) string {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if dir := getenv("LOCALAPPDATA"); dir != "" && runtime.GOOS == "windows" {
		return dir
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state")
	}
	return ""
}

// Err says why there is no place for recordings, nil where there is.
func (s Store) Err() error {
	if s.dir == "" {
		return problem.Input("set HOME to an absolute path", "you have no home directory, so there is no place for recordings")
	}
	return nil
}

// Ongoing is the file that hooks append to. Recording is on while it exists.
func (s Store) Ongoing() string { return filepath.Join(s.dir, ongoingName) }

// Finished is the file of the recording that ended last.
func (s Store) Finished() string { return filepath.Join(s.dir, finishedName) }

// Start begins a recording. It reports false when one is under way already.
// The recording before it, if any, is dropped.
func (s Store) Start() (bool, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return false, err
	}
	begun, err := state.CreateExclusive(s.Ongoing(), nil)
	if !begun || err != nil {
		return false, err
	}
	return true, errors.Join(remove(s.Finished()), remove(filepath.Join(s.dir, offsetsName)))
}

// Stop ends the recording. It reports false when there is none.
func (s Store) Stop() (bool, error) {
	err := os.Rename(s.Ongoing(), s.Finished())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Drop deletes whatever has been recorded, and the directories that are empty
// then.
func (s Store) Drop() error {
	if err := os.RemoveAll(s.dir); err != nil {
		return err
	}
	recordings := filepath.Dir(s.dir)
	os.Remove(recordings)               // fails while another project has a store
	os.Remove(filepath.Dir(recordings)) // fails while something else is kept there
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Open opens the recording under way, or else the finished one.
func (s Store) Open() (*os.File, error) {
	f, err := os.Open(s.Ongoing())
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(s.Finished())
	}
	return f, err
}

// Tap records a hook call, if recording is on for its project: it is the Tap
// of hook.Run. While recording is off, it costs one look at the file system.
func Tap(call *host.Call, stdin []byte) error { return tap(call, stdin, tapWait) }

// Taps reports whether Tap may record anything: nearly nobody has ever done so.
func Taps(getenv func(string) string) bool {
	_, err := os.Lstat(shelves(getenv))
	return err == nil
}

// tap is Tap that waits that long for another hook.
func tap(call *host.Call, stdin []byte, wait time.Duration) error {
	if !Taps(call.Env.Getenv) {
		return nil
	}
	store := StoreFor(call.Project, call.Env.Getenv)
	info, err := os.Lstat(store.Ongoing())
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRecording {
		return nil
	}
	call.Slow()
	return state.NewDir(store.dir).WithLock(wait, func(tx *state.Tx) error {
		return store.take(tx, call, stdin)
	})
}

func (s Store) take(tx *state.Tx, call *host.Call, stdin []byte) error {
	r := raw{Time: call.Env.Now().UTC(), Plugin: call.Plugin, Call: Call{
		Event:   call.Payload.Event,
		Env:     map[string]string{},
		Payload: bytes.TrimPrefix(stdin, []byte("\xef\xbb\xbf")),
	}}
	names := host.SessionVars()
	for _, o := range call.Profile.Options {
		if o.HasScope(host.ScopeUser) {
			names = append(names, host.OptionVar(o.Key))
		}
	}
	for _, name := range names {
		if v := call.Env.Getenv(name); v != "" {
			r.Env[name] = v
		}
	}
	var done state.Pairs
	if data, err := tx.Read(offsetsName, maxRow); err == nil {
		done = state.ParsePairs(data)
	}
	key := offsetKey(call.Payload.TranscriptPath)
	from, _ := strconv.ParseInt(done.Get(key), 10, 64) // none is 0
	gain, err := gained(call.Payload.TranscriptPath, from)
	if err != nil {
		return err
	}
	r.Rows, r.Rewritten = gain.rows, gain.anew
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return err
	}
	// Recording may have been switched off since Tap looked: nothing may
	// bring the file back.
	f, err := os.OpenFile(s.Ongoing(), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(line.Bytes())
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return tx.Write(offsetsName, done.Set(key, strconv.FormatInt(gain.end, 10)).Bytes())
}

// offsetKey names a transcript in the file of offsets, whatever its path.
func offsetKey(path string) string {
	sum := fnv.New64a()
	io.WriteString(sum, path)
	return fmt.Sprintf("%016x", sum.Sum64())
}

// gain is what a transcript gained.
type gain struct {
	rows []json.RawMessage
	end  int64 // how far it has been read
	anew bool  // it is not the continuation of what was there before
}

// gained reads the whole rows of the transcript at path from an offset on. A
// transcript that is not there gained nothing.
func gained(path string, from int64) (gain, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return gain{}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return gain{}, nil
	}
	defer f.Close()
	g := gain{end: from}
	size := info.Size()
	if size < from {
		g.end, g.anew = 0, true
	}
	skip := size-g.end > maxGain
	if skip {
		g.end, g.anew = size-maxGain, true
	}
	in := bufio.NewReader(io.NewSectionReader(f, g.end, size-g.end))
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return g, nil // a half-written row waits for the next call
		}
		if err != nil {
			return gain{}, err
		}
		g.end += int64(len(line))
		if skip {
			skip = false // the first line may be a piece of a row
			continue
		}
		switch line = bytes.TrimSpace(line); {
		case len(line) > maxRow:
			g.rows = append(g.rows, json.RawMessage(`{"type":"oversized","text":`+string(fillOf(len(line)))+`}`))
		case len(line) > 0 && line[0] == '{' && json.Valid(line):
			g.rows = append(g.rows, line)
		}
	}
}

// readRaw reads what the tap has written. A last line that was cut off is
// left out.
func readRaw(r io.Reader) ([]raw, error) {
	var out []raw
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		var c raw
		if err := json.Unmarshal(line, &c); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		out = append(out, c)
	}
}

// merged turns what the tap wrote into calls. Two plugins that were called for
// the same moment wrote it twice; it counts once, with the options of both.
func merged(raws []raw) []Call {
	var calls []Call
	var plugins []map[string]bool // that a call has been seen from
	for _, r := range raws {
		r.T = float64(r.Time.Sub(raws[0].Time).Milliseconds()) / 1000
		at := twin(calls, plugins, r)
		if at < 0 {
			calls = append(calls, r.Call)
			plugins = append(plugins, map[string]bool{r.Plugin: true})
			continue
		}
		plugins[at][r.Plugin] = true
		for name, v := range r.Env {
			calls[at].Env[name] = v
		}
		calls[at].Rows = append(calls[at].Rows, r.Rows...)
	}
	return calls
}

// twin returns the index of the call that r is, seen from another plugin, or -1.
func twin(calls []Call, plugins []map[string]bool, r raw) int {
	const near = 8 // calls; those of one moment lie side by side
	for i := len(calls) - 1; i >= 0 && i >= len(calls)-near; i-- {
		if !plugins[i][r.Plugin] && calls[i].Event == r.Event && bytes.Equal(calls[i].Payload, r.Payload) {
			return i
		}
	}
	return -1
}

// Recorded is a summary of a recording that is being made.
type Recorded struct {
	Calls int
	Since time.Time
	Bytes int64
}

// Summary says what is in the file f of a store.
func Summary(f *os.File) (Recorded, error) {
	info, err := f.Stat()
	if err != nil {
		return Recorded{}, err
	}
	raws, err := readRaw(f)
	if err != nil {
		return Recorded{}, err
	}
	out := Recorded{Calls: len(merged(raws)), Bytes: info.Size()}
	if len(raws) > 0 {
		out.Since = raws[0].Time
	}
	return out, nil
}

// project returns the project that was recorded: the one its calls name.
func project(raws []raw) string {
	for _, r := range raws {
		if dir := r.Env[host.ProjectVar]; strings.TrimSpace(dir) != "" {
			return dir
		}
	}
	return ""
}
