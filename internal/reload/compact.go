package reload

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/redact"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Summaries of the host are kept as compact-TIME.md, the newest few.
const (
	summaryPrefix = "compact-"
	summarySuffix = ".md"
	summaryTime   = "20060102T150405.000Z"
	maxSummaries  = 3
	maxSummary    = 60_000 // characters
)

// replaceable reports whether a mechanical digest of session may take the place
// of doc: not of one that a model wrote, unless that says nothing or is another
// session's and used up.
func replaceable(from state.Reader, doc string, present bool, session string) bool {
	return !present || isMechanical(doc) || isThin(doc) || isSpent(from, doc, session)
}

// isSpent reports whether doc, the digest, has been handed on before, and to
// another session than this one.
func isSpent(from state.Reader, doc, session string) bool {
	_, wrote := from.Stat(digestFile)
	owner := notes.FrontValue(doc, keyOwner)
	return owner != "" && session != "" && owner != session && state.ReadPairs(from, usedFile).Get(keyUsed) == nanoseconds(wrote)
}

// knowsNothing reports whether there was nothing to make a digest of.
func (m *mechanical) knowsNothing() bool {
	return len(m.Facts.Prompts) == 0 && len(m.Facts.Commands) == 0 && len(m.Facts.Todo) == 0 && m.Facts.Answer == "" && m.Summary == "" && len(m.Left) == 0
}

// preCompact arms, so that the thread survives the compaction, and writes a
// mechanical digest when there is none worth keeping. Where a digest would not
// be handed on, SessionStart says so: the host shows nothing of this event.
func preCompact(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	if handover.LoopActive(call.Project) || away(call, dir) {
		return host.Output{}, nil
	}
	begin := handover.Begin(call)
	// Transcript and git are read before the lock is taken; what they are read
	// for is decided again under it.
	var fallback []byte
	old, present, err := readDigest(dir)
	if err == nil {
		// Where git gives no answer, the session that follows asks again.
		if answer := checkTrust(dir); answer.err == nil {
			err = answer.reason()
		}
	}
	if err != nil {
		call.Env.Log("nothing is handed on", "why", err.Error())
		return host.Output{}, nil
	}
	if replaceable(dir, old, present, begin.Session) {
		if m := gatherMechanical(call, dir, old); !m.knowsNothing() || isThin(old) {
			fallback = []byte(m.digest())
		}
	}
	return host.Output{}, dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		arm, armed := handover.FindArm(tx)
		if armed && begin.LeftTo(arm) {
			return nil // the digest is waiting for somebody else
		}
		doc, present, err := readDigest(tx)
		if err != nil {
			return err
		}
		if fallback != nil && replaceable(tx, doc, present, begin.Session) {
			if _, err := setAside(tx, begin, settingsFor(call, dir).OwnerWindow); err != nil {
				call.Env.Log("the digest was not kept aside", "error", err.Error())
			}
			if err := replace(tx, string(fallback), begin.Now); err != nil {
				return err
			}
		}
		if err := see(tx); err != nil {
			call.Env.Log("the digest was not kept", "error", err.Error())
		}
		return begin.Arm(tx, "")
	})
}

// postCompact keeps the host's own summary: a model has written it, and it
// costs nothing.
func postCompact(call *host.Call) (host.Output, error) {
	dir := dirOf(call.Project)
	text := strings.TrimSpace(call.Payload.Summary)
	if text == "" || handover.LoopActive(call.Project) || away(call, dir) {
		return host.Output{}, nil
	}
	text = redact.Text(strings.ToValidUTF8(text, "\ufffd"))
	session, now := call.Payload.SessionID, call.Env.Now().UTC()
	doc := notes.WithFront(host.Cut(text, maxSummary)+"\n", keyOwner, session, keyUpdated, now.Format(time.RFC3339))
	return host.Output{}, dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		names := summaries(dir)
		if n := len(names); n > 0 {
			last, err := tx.Read(names[n-1], maxFile)
			if err == nil && notes.Body(string(last)) == notes.Body(doc) && notes.FrontValue(string(last), keyOwner) == session {
				return nil // case F44
			}
		}
		if err := tx.Write(summaryPrefix+now.Format(summaryTime)+summarySuffix, []byte(doc)); err != nil {
			return err
		}
		for names = summaries(dir); len(names) > maxSummaries; names = names[1:] {
			if err := tx.Remove(names[0]); err != nil {
				return err
			}
		}
		return nil
	})
}

// summaries returns the names of the kept summaries, oldest first.
func summaries(dir state.Dir) []string {
	return slices.DeleteFunc(dir.Names(), func(name string) bool {
		return !strings.HasPrefix(name, summaryPrefix) || !strings.HasSuffix(name, summarySuffix)
	})
}

// lastSummary returns the newest summary of a session and its time.
func lastSummary(dir state.Dir, session string) (text string, at time.Time) {
	names := summaries(dir)
	for _, name := range slices.Backward(names) {
		data, err := dir.Read(name, maxFile)
		if err == nil && notes.FrontValue(string(data), keyOwner) == session {
			at, _ := time.Parse(time.RFC3339, notes.FrontValue(string(data), keyUpdated))
			return notes.Body(string(data)), at
		}
	}
	return "", time.Time{}
}

// gatherFacts collects what the session did, and what the page old left open, ""
// for none. It reads the transcript as a whole.
func gatherFacts(call *host.Call, from state.Reader, old string) mechanical {
	call.Slow()
	m := mechanical{Session: call.Payload.SessionID, Now: call.Env.Now(), Project: call.Project, Home: call.Host.Home}
	path, err := transcript.Own(call.Payload.TranscriptPath, m.Session)
	if err == nil {
		m.Facts, err = transcript.ReadFacts(path, time.Time{})
	}
	if err != nil {
		call.Env.Log("the transcript was not read", "error", err.Error())
	}
	_, wrote := from.Stat(digestFile)
	m.Left = m.left(old, authorOf(from, old, wrote))
	return m
}

// gatherMechanical collects what a mechanical digest is made of. old is the
// page it replaces, "" for none.
func gatherMechanical(call *host.Call, dir state.Dir, old string) mechanical {
	m := gatherFacts(call, dir, old)
	m.Summary, m.SummaryAt = lastSummary(dir, m.Session)
	ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
	defer cancel()
	// The worktree that the session stands in, not the project (case F39).
	cwd := call.Payload.Cwd
	if cwd == "" {
		cwd = call.Project
	}
	if repo, err := git.Open(ctx, cwd); err == nil {
		if status, err := repo.Status(ctx); err == nil {
			m.Branch = status.Branch
			for _, f := range status.Files {
				m.Dirty = append(m.Dirty, filepath.FromSlash(f.Path))
			}
		}
	}
	if m.Branch == "" {
		m.Branch = m.Facts.Branch
	}
	return m
}
