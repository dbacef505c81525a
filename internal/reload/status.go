package reload

import (
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Status is how a project and a session stand.
type Status struct {
	Project  string          `json:"project"`
	Session  string          `json:"session,omitempty"`
	Problem  string          `json:"problem,omitempty"` // what keeps us from the state directory
	Digest   *DigestStatus   `json:"digest"`            // null: there is none
	Armed    bool            `json:"armed"`
	Blocked  string          `json:"blocked,omitempty"`  // why the digest cannot be handed on
	ArmedBy  string          `json:"armed_by,omitempty"` // id of a session
	ArmOdd   bool            `json:"arm_blocked"`        // what stands at the arm is not a file
	Claimed  bool            `json:"claimed"`            // a session has taken the digest and not shown a sign of life yet
	Snapshot bool            `json:"snapshot_running"`
	Context  ContextStatus   `json:"context"`
	Settings []options.Entry `json:"settings"`
}

// DigestStatus is how a digest stands.
type DigestStatus struct {
	Path       string    `json:"path"`
	Session    string    `json:"session,omitempty"`
	Written    time.Time `json:"written"`
	AgeSeconds int       `json:"age_seconds"`
	Intent     string    `json:"intent,omitempty"`
	Mechanical bool      `json:"mechanical"`
	Lacks      []string  `json:"lacks,omitempty"`
	Problem    string    `json:"problem,omitempty"` // why it could not be read
}

// ContextStatus is how full the context window is.
type ContextStatus struct {
	Known        bool   `json:"known"`
	Source       string `json:"source,omitempty"` // transcript, size of the transcript (an estimate) or status line
	Percent      int    `json:"percent"`
	Tokens       int    `json:"tokens,omitempty"`
	Window       int    `json:"window"`
	WindowSource string `json:"window_source"`
	Model        string `json:"model,omitempty"`
	Over         bool   `json:"over_budget"`
	Budget       string `json:"budget"` // as people read it, off when there is none
}

// Status reports how things stand; it may ask git. transcriptPath is that of the session, ""
// when it is not known: then the host's own figure counts, where the status
// line has left one. Nothing is changed.
func (d Store) Status(transcriptPath string) Status {
	dir := dirOf(d.Project)
	s := Status{
		Project:  d.Project,
		Session:  d.Session,
		Digest:   d.digest(dir),
		ArmOdd:   dir.Kind(armFile) == state.Other,
		Claimed:  handover.HasClaims(dir),
		Snapshot: dir.Kind(markerFile) == state.File,
		Context:  d.context(dir, transcriptPath),
		Settings: options.ForCommand(dirOf(d.Project), nil, d.Profile, d.Host.Option).Entries(),
	}
	if err := dir.Check(); err != nil {
		s.Problem, s.Digest, s.ArmOdd = err.Error(), nil, false
		return s
	}
	arm, armed := handover.FindArm(dir)
	if s.Digest == nil {
		s.Armed, s.ArmedBy = armed, arm.Owner
		return s
	}
	s.Blocked = s.Digest.Problem
	if err := checkTrust(dir).reason(); err != nil {
		// A model may be reading this: not a word of it.
		s.Blocked, s.Digest.Session, s.Digest.Intent, s.Digest.Lacks = err.Error(), "", "", nil
	}
	if armed && s.Blocked == "" {
		s.Armed, s.ArmedBy = true, arm.Owner
	}
	return s
}

func (d Store) digest(dir state.Dir) *DigestStatus {
	doc, ok, err := readDigest(dir)
	if !ok && err == nil {
		return nil
	}
	_, wrote := dir.Stat(digestFile)
	s := &DigestStatus{
		Path:       dir.Path(digestFile),
		Written:    wrote,
		AgeSeconds: max(0, int(d.Env.Now().Sub(wrote).Seconds())),
	}
	if err != nil {
		s.Problem = err.Error()
		return s
	}
	s.Session = notes.Line(notes.FrontValue(doc, keyOwner), 80)
	s.Intent = notes.Line(notes.FrontValue(doc, keyIntent), 200)
	s.Mechanical = isMechanical(doc)
	s.Lacks = missing(doc)
	return s
}

func (d Store) context(dir state.Dir, transcriptPath string) ContextStatus {
	settings := Effective(d.Project, d.Profile, d.Host.Option)
	session := d.Session
	if session == "" {
		newest, _ := occupancy.ReadFigure(dir, "")
		session = newest.Session
	}
	var tail transcript.Tail
	if path, err := transcript.Own(transcriptPath, session); err == nil && path != "" {
		// What is missing at its end is this very turn.
		tail, _ = transcript.ReadTail(path)
	}
	o := settings.sources(d.Host, session, d.Profile, dir).Of(tail)
	c := ContextStatus{
		Known:        o.Known,
		Percent:      o.Percent(),
		Tokens:       o.Tokens,
		Window:       o.Window.Tokens,
		WindowSource: o.Window.Source,
		Model:        o.Window.Model,
		Over:         o.Known && settings.over(o),
		Budget:       "off",
	}
	switch {
	case o.FromHost:
		c.Source = "status line"
	case tail.Estimate:
		c.Source = "size of the transcript"
	case o.Known:
		c.Source = "transcript"
	}
	if settings.BudgetPct > 0 {
		c.Budget = budget(o, settings)
	}
	return c
}

// check adds what waits for the next session.
func check(at plugin.Place, found *problem.Findings) {
	const check = "digest"
	found.OK("guard", "watches Write and Edit; what a command or an editor does to .reload/session.md is seen at the end of the turn, and the page before is in the history")
	s := Store{Project: at.Project, Env: at.Env, Host: at.Host, Profile: at.Profile}.Status("")
	if s.ArmOdd {
		found.Bad(check, "remove it", "%q is not a regular file, so nothing can be armed", ".reload/pending")
	}
	switch d := s.Digest; {
	case d == nil && s.Armed:
		found.Bad(check, "/cc-reload:snapshot, or remove .reload/pending", "armed, but there is no digest to hand on")
	case d == nil:
		found.OK(check, "none yet")
	case d.Problem != "":
		found.Bad(check, "", "it cannot be handed on: %s", d.Problem)
	default:
		written := "just now"
		if age := (time.Duration(d.AgeSeconds) * time.Second).Round(time.Minute); age > 0 {
			written = strings.TrimSuffix(age.String(), "0s") + " ago"
		}
		next := "not armed"
		if s.Claimed {
			next = "handed to a session that has not answered yet"
		} else if s.Armed {
			next = "armed for the next session"
		}
		found.OK(check, "written %s, %s", written, next)
	}
}

// armed reports whether a digest waits for the next session of a project, as
// far as it can be told without git.
func armed(project string) bool {
	view := dirOf(project).View()
	defer view.Close()
	return view.Kind(armFile) == state.File && view.Kind(digestFile) == state.File && blockedBy(view) == nil
}
