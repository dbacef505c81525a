package later

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/later/schedule"
)

// LedgerFile says where each task comes from and what became of it, a JSON object
// a line. A task is known by its repository and its text: ids change when people
// move lines.
const LedgerFile = "ledger.jsonl"

// maxLedgerLine is the longest line that is read; ours are shorter: a task has at
// most 10,000 characters, of at most six bytes each here.
const maxLedgerLine = 256 << 10

// Event is what happened to a task or to a repository.
type Event string

// The events.
const (
	Captured  Event = "capture"  // a person typed it in a prompt
	Added     Event = "add"      // a person added it with a command
	Vouched   Event = "vouch"    // it stood in a repository that is trusted
	Strayed   Event = "stray"    // it appeared while an agent was at work
	Met       Event = "meet"     // it stood there before, and nobody vouches for it
	Trusted   Event = "trust"    // a person trusts what a repository queues
	Untrusted Event = "distrust" // and does not any more
	Began     Event = "start"    // an agent was started with it
	Finished  Event = "end"      // the agent is over
	Retried   Event = "retry"    // a person wants it tried again
	Waiting   Event = "hold"     // it waits for the person
	Merged    Event = "merge"    // the person has merged what was kept of it
)

// Entry is a line of the ledger.
type Entry struct {
	Time    time.Time
	Event   Event
	Repo    string
	Text    string // of the task; "" for an event of the repository
	Agent   string // the session of the agent
	Verdict schedule.Verdict
	Note    string // what the agent or the runtime says of it; Trusted: the mark
	Kept    string // Finished: the worktree whose work the person is to merge
	Resume  bool   // Began: goes on with what a limit ended
}

// Line returns the entry as it is written.
func (e Entry) Line() []byte {
	b := []byte(`{"ts":` + jsonscan.Quote(e.Time.UTC().Format(time.RFC3339Nano)) + `,"event":` + jsonscan.Quote(string(e.Event)) + `,"repo":` + jsonscan.Quote(e.Repo))
	for _, f := range [...]struct{ key, value string }{
		{"text", e.Text},
		{"agent", e.Agent},
		{"verdict", string(e.Verdict)},
		{"note", e.Note},
		{"kept", e.Kept},
	} {
		if f.value != "" {
			b = append(b, `,"`+f.key+`":`+jsonscan.Quote(f.value)...)
		}
	}
	if e.Resume {
		b = append(b, `,"resume":`+strconv.FormatBool(true)...)
	}
	return append(b, '}')
}

// parseEntry reads a line; a torn one is none.
func parseEntry(line []byte) (e Entry, ok bool) {
	ok = jsonscan.Object(line, func(key, value []byte) {
		switch string(key) {
		case "ts":
			e.Time, _ = time.Parse(time.RFC3339Nano, jsonscan.Text(value))
		case "event":
			e.Event = Event(jsonscan.Text(value))
		case "repo":
			e.Repo = jsonscan.Text(value)
		case "text":
			e.Text = jsonscan.Text(value)
		case "agent":
			e.Agent = jsonscan.Text(value)
		case "verdict":
			e.Verdict = schedule.Verdict(jsonscan.Text(value))
		case "note":
			e.Note = jsonscan.Text(value)
		case "kept":
			e.Kept = jsonscan.Text(value)
		case "resume":
			e.Resume = jsonscan.True(value)
		}
	})
	return e, ok && e.Repo != ""
}

// Append adds entries to the ledger in one write. It takes no lock of its own.
func Append(app string, entries ...Entry) error {
	return appendLines(app, lines(entries))
}

// lines returns entries as they are written.
func lines(entries []Entry) []byte {
	var b []byte
	for _, e := range entries {
		b = append(append(b, e.Line()...), '\n')
	}
	return b
}

func appendLines(app string, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	path := filepath.Join(app, LedgerFile)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if torn(f) {
		data = append([]byte{'\n'}, data...)
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// torn reports whether a file ends in the middle of a line: whoever wrote it was
// killed or ran out of disk, and what follows must not become part of it.
func torn(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = f.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Known is what the ledger says of one task.
type Known struct {
	Source  Event // Captured, Added, Vouched, Strayed or Met; "" for a task that is new
	Since   time.Time
	Agent   string // the last one that had it
	Live    bool   // it has not ended yet
	Verdict schedule.Verdict
	Note    string
	Kept    string // the worktree whose work the person is to merge, "" for none
	Ended   time.Time
	Runs    int // agents that were started with it
	schedule.State
}

// Ledger is what is known of the tasks of all repositories.
type Ledger struct {
	repos   map[string]*known
	Starts  []time.Time // of agents, oldest first
	Resumed time.Time   // when an agent that goes on after a limit was last started
}

type known struct {
	trusted string // the mark of the repository that is; "" for none
	tasks   map[string]*Known
}

// ReadLedger returns the ledger of the application's directory, folded with the
// settings. Lines that are torn or not ours are left out.
func ReadLedger(app string, set schedule.Settings) (*Ledger, error) {
	l := &Ledger{repos: map[string]*known{}}
	f, err := os.Open(filepath.Join(app, LedgerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return l, err
	}
	agent := ""
	for line := range bytes.Lines(data) {
		e, ok := parseEntry(bytes.TrimSpace(line))
		if !ok || len(line) > maxLedgerLine {
			continue
		}
		l.apply(e, set, &agent)
	}
	return l, nil
}

func (l *Ledger) apply(e Entry, set schedule.Settings, agent *string) {
	r := l.repos[e.Repo]
	if r == nil {
		r = &known{tasks: map[string]*Known{}}
		l.repos[e.Repo] = r
	}
	switch e.Event {
	case Trusted:
		r.trusted = e.Note
	case Untrusted:
		r.trusted = ""
		for _, t := range r.tasks {
			if t.Source == Vouched {
				t.Source = Met
			}
		}
	}
	if e.Text == "" {
		return
	}
	t := r.tasks[e.Text]
	if t == nil {
		t = &Known{Since: e.Time}
		r.tasks[e.Text] = t
	}
	switch e.Event {
	case Captured, Added:
		// Whoever queues a text once more wants it done once more.
		*t = Known{Source: e.Event, Since: e.Time}
	case Vouched:
		if !t.May() {
			t.Source = e.Event
		}
	case Strayed, Met:
		if t.Source == "" {
			t.Source = e.Event
		}
	case Began:
		t.Kept = ""
		t.State, t.Agent, t.Live = t.State.Start(e.Time), e.Agent, true
		t.Runs++
		if e.Agent != *agent {
			*agent = e.Agent
			l.Starts = append(l.Starts, e.Time)
		}
		if e.Resume {
			l.Resumed = e.Time
		}
	case Finished:
		// A tick that was killed notes it once more. A text that was queued anew is
		// not what the agent was given.
		if e.Verdict == schedule.NotStarted && !t.Live && t.Agent != e.Agent {
			t.Live, t.Agent = true, e.Agent // it was planned, and never began
			t.Runs++
		}
		if !t.Live || t.Agent != e.Agent {
			return
		}
		t.Live = false
		if e.Verdict == schedule.NotStarted {
			t.Runs--
		}
		t.State = t.State.End(e.Verdict, e.Time, set)
		t.Verdict, t.Note, t.Kept, t.Agent, t.Ended = e.Verdict, e.Note, e.Kept, e.Agent, e.Time
		if e.Verdict == schedule.Done {
			t.State = schedule.State{Started: t.Started}
		}
	case Waiting:
		t.Held = e.Note
	case Merged:
		t.Verdict, t.Kept, t.State = schedule.Done, "", schedule.State{Started: t.Started}
	case Retried:
		t.State = t.State.Retry()
	}
}

// Task returns what is known of a task.
func (l *Ledger) Task(repo, text string) Known {
	if r := l.repos[repo]; r != nil {
		if t := r.tasks[text]; t != nil {
			return *t
		}
	}
	return Known{}
}

// Trusts reports whether a person trusts what a repository queues.
func (l *Ledger) Trusts(repo string) bool {
	r := l.repos[repo]
	return r != nil && isMarked(repo, r.trusted)
}

// Vouches reports whether a person has trusted a repository, or what stands in its
// queue, and has not taken that back.
func (l *Ledger) Vouches(repo string) bool {
	r := l.repos[repo]
	if r == nil {
		return false
	}
	for _, t := range r.tasks {
		if t.Source == Vouched {
			return true
		}
	}
	return r.trusted != ""
}

// Repos returns the repositories that the ledger names, sorted.
func (l *Ledger) Repos() []string { return sortedKeys(l.repos) }

// Running returns the tasks that an agent was started with and that have not ended,
// by repository.
func (l *Ledger) Running(agent string) map[string][]string {
	found := map[string][]string{}
	for _, path := range l.Repos() {
		for text, t := range l.repos[path].tasks {
			if t.Live && t.Agent == agent {
				found[path] = append(found[path], text)
			}
		}
	}
	return found
}

// Kept returns the tasks whose work is in a worktree and only there, by repository.
func (l *Ledger) Kept(worktree string) map[string][]string {
	found := map[string][]string{}
	for _, path := range l.Repos() {
		for _, text := range sortedKeys(l.repos[path].tasks) {
			if l.repos[path].tasks[text].Kept == worktree {
				found[path] = append(found[path], text)
			}
		}
	}
	return found
}

// Verdicts counts what came of the tasks that an agent was the last to have.
func (l *Ledger) Verdicts(agent string) map[schedule.Verdict]int {
	n := map[schedule.Verdict]int{}
	for _, r := range l.repos {
		for _, t := range r.tasks {
			if t.Agent == agent && !t.Live {
				n[t.Verdict]++
			}
		}
	}
	return n
}

// May reports whether a task may run: a person queued it here, or trusts the
// repository and it stood there without an agent at work. Running a text that was
// found in a repository would be running its author's code.
func (k Known) May() bool {
	switch k.Source {
	case Captured, Added, Vouched:
		return true
	}
	return false
}
