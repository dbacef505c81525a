package handoff

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

const (
	// autoWait is how long, from its start, a Stop waits for the run to report
	// what it did. The run itself goes on for as long as it needs.
	autoWait = 4 * time.Second
	autoPoll = 20 * time.Millisecond
)

// triggerFacts is all that decideTrigger knows.
type triggerFacts struct {
	Off        bool // auto_pct is off
	Done       bool // this session has had its handoff
	Loop       bool // another plugin continues the turns of this project
	Away       bool // nobody is watching, and the user has not said that it counts
	Failed     bool // the turn ended in an error of the API
	Background bool // tasks are still running
	Full       occupancy.Occupancy
	Limit      int // %
}

// plain returns f without the words of the transcript.
func (f triggerFacts) plain() triggerFacts {
	f.Full = occupancy.Occupancy{Known: f.Full.Known, Tokens: f.Full.Tokens, Window: f.Full.Window}
	return f
}

// decideTrigger reports whether the end of a turn starts a handoff.
func decideTrigger(f triggerFacts) bool {
	switch {
	case f.Off, f.Done, f.Loop, f.Away, f.Failed, f.Background:
		return false
	}
	return f.Full.Reaches(f.Limit)
}

// stop answers the end of a turn.
func stop(call *host.Call) (host.Output, error) {
	return stopping{call, launch}.answer()
}

// stopping is one Stop.
type stopping struct {
	call *host.Call
	// launch starts a run for this session, detached.
	launch func(*host.Call) (running, error)
}

// running is a run that has been started.
type running struct {
	ended  func() bool
	result func() (Result, error) // once it has ended
}

func (s stopping) answer() (host.Output, error) {
	call := s.call
	began := call.Env.Now()
	if err := delivery(call).Stop(); err != nil {
		call.Env.Log("claim not confirmed", "error", err.Error())
	}
	facts := s.gather()
	hand := decideTrigger(facts)
	if call.Decided != nil {
		decision := "silence"
		if hand {
			decision = "hand off"
		}
		call.Decided(decision, facts.plain())
	}
	if !hand {
		return host.Output{}, nil
	}
	call.Slow()
	run, err := s.launch(call)
	if err != nil {
		return host.Output{}, err
	}
	for call.Env.Now().Sub(began) < autoWait && !run.ended() {
		call.Env.Sleep(autoPoll)
	}
	if !run.ended() {
		return host.Output{Message: textSlow(facts.Full.Percent())}, nil
	}
	result, err := run.result()
	if err != nil || result.Skipped {
		return host.Output{}, err
	}
	return host.Output{Message: textAuto(facts.Full.Percent(), result)}, nil
}

// gather collects the facts, the cheap ones first: an ordinary turn costs a
// few looks at the disk and the end of the transcript.
func (s stopping) gather() triggerFacts {
	call, p := s.call, s.call.Payload
	settings := settingsFor(call)
	for _, why := range settings.Ignored {
		call.Env.Log("setting ignored", "why", why)
	}
	f := triggerFacts{
		Off:        settings.AutoPct == 0,
		Limit:      settings.AutoPct,
		Background: p.BackgroundTasks > 0,
		Failed:     host.IsAPIError(p.LastMessage),
		Away:       call.Host.Headless && !settings.Headless,
	}
	if f.Off || f.Background || f.Failed || f.Away {
		return f
	}
	f.Loop = handover.LoopActive(call.Project)
	f.Done = locked(p.TranscriptPath, p.SessionID)
	if f.Loop || f.Done {
		return f
	}
	f.Full = s.measure()
	f.Failed = f.Full.Tail.APIError
	s.rememberClient(f.Full.Tail.Version)
	return f
}

// rememberClient keeps the host's version while something waits for the next
// session: it decides who shows the banner after /clear.
func (s stopping) rememberClient(version string) {
	dir := dirOf(s.call.Project)
	client := handover.Here(s.call.Host)
	if version == "" || !handover.HasArm(dir) || handover.ClientVersion(dir, client) == version {
		return
	}
	err := dir.WithLock(lockWait, func(tx *state.Tx) error { return handover.NoteClient(tx, client, version) })
	if err != nil {
		s.call.Env.Log("the version of the host was not noted", "error", err.Error())
	}
}

// windowOption is the option with which a project's window is set for every
// plugin.
var windowOption = host.Profile{Options: []host.Option{
	{Key: "context_window", Kind: host.KindInt, Min: models.MinWindow, Scopes: []host.Scope{host.ScopeProject}},
}}

// measure returns the occupancy at the end of this turn. The window is the one
// that cc-reload goes by, or where that is not installed, what this plugin has
// noted itself.
func (s stopping) measure() occupancy.Occupancy {
	call := s.call
	reload := reloadDir(call.Project).View()
	defer reload.Close()
	pinned := options.In(reload, windowOption, func(string) string { return "" }).Number("context_window")
	from := []state.Reader{reload}
	if call.Host.Data != "" {
		from = append(from, state.NewDir(call.Host.Data))
	}
	o := occupancy.Measure(call, occupancy.SourcesOf(call.Host, call.Payload.SessionID, call.Profile.Windows, pinned, from...), true)
	if o.Tail.Estimate && !o.FromHost {
		// The tail counts four bytes a token; 3.5 characters are nearer to what
		// a transcript is, against the window most models have.
		o.Tokens = o.Tokens * 8 / 7
		if o.Window.Source != occupancy.FromHost {
			o.Window.Tokens = models.Assumed
		}
	}
	return o
}

// launch starts `ccreload handoff run` for the session of a hook, detached:
// hooks and signing of the repository may take longer than a Stop has.
func launch(call *host.Call) (running, error) {
	self := call.Env.Getenv("CCRELOAD_BIN")
	if self == "" {
		var err error
		if self, err = os.Executable(); err != nil {
			return running{}, err
		}
	}
	out, err := os.CreateTemp("", "ccreload-handoff-*.json")
	if err != nil {
		return running{}, err
	}
	// Another session's is worth nothing here.
	path, _ := transcript.Own(call.Payload.TranscriptPath, call.Payload.SessionID)
	dir := call.Payload.Cwd
	if fi, err := os.Stat(dir); dir == "" || err != nil || !fi.IsDir() {
		dir = call.Project // case F39: the working directory is gone
	}
	cmd := exec.Command(self, "handoff", "run", "--auto", "--non-interactive", "--json",
		"--dir="+dir, "--project="+call.Project,
		"--session="+call.Payload.SessionID, "--transcript="+path)
	cmd.Dir = dir
	cmd.Stdout = out
	id, err := proc.Start(cmd)
	if err != nil {
		return running{}, errors.Join(err, out.Close(), os.Remove(out.Name()))
	}
	// Where the system lets an open file lose its name, a run that outlasts this
	// hook leaves nothing behind.
	os.Remove(out.Name())
	return running{
		ended: func() bool { return !id.Alive() },
		result: func() (Result, error) {
			defer os.Remove(out.Name())
			defer out.Close()
			if _, err := out.Seek(0, io.SeekStart); err != nil {
				return Result{}, err
			}
			var r Result
			if err := json.NewDecoder(out).Decode(&r); err != nil {
				return Result{}, errors.Join(errors.New("the run said nothing"), err)
			}
			return r, nil
		},
	}, nil
}
