package reload

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// asideFacts is all that decideAside knows.
type asideFacts struct {
	Owner  string        // of the digest that is about to be replaced
	Writer string        // the session that replaces it
	Age    time.Duration // of that digest
	Window time.Duration // how long it is protected; 0: not at all
}

// decideAside reports whether the digest is kept aside: it is another
// session's, and recent enough for that session to be still at work.
func decideAside(f asideFacts) bool {
	return f.Owner != "" && f.Writer != "" && f.Owner != f.Writer && f.Window > 0 && f.Age <= f.Window
}

// aside is what became of a foreign digest.
type aside struct {
	Owner string
	Name  string // of the copy
	New   bool   // the copy was made just now
}

// keepAside copies the digest aside if writer is about to replace another
// session's. The zero aside means that there was no need to; an error means
// that there was, and that it failed.
func keepAside(tx *state.Tx, writer string, window time.Duration, now time.Time) (aside, error) {
	doc, ok, err := readDigest(tx)
	if !ok {
		return aside{}, err
	}
	_, wrote := tx.Stat(digestFile)
	owner := notes.FrontValue(doc, keyOwner)
	if !decideAside(asideFacts{owner, writer, now.Sub(wrote), window}) {
		return aside{}, nil
	}
	kept := aside{Owner: owner}
	for again := range 3 {
		kept.Name = asideName(owner, wrote, again)
		switch tx.Kind(kept.Name) {
		case state.Absent:
			if err := tx.Write(kept.Name, []byte(doc)); err != nil {
				return kept, err
			}
			kept.New = true
			return kept, tx.SetTime(kept.Name, wrote)
		case state.File:
			if old, err := tx.Read(kept.Name, maxFile); err == nil && string(old) == doc {
				return kept, nil
			}
		}
	}
	return kept, errors.New("every name for a copy is taken")
}

// guardDigest keeps a foreign digest aside and returns what to say about it.
func guardDigest(project, writer string, window time.Duration, now time.Time) (string, error) {
	var kept aside
	err := dirOf(project).WithLock(lockWait, func(tx *state.Tx) (err error) {
		kept, err = keepAside(tx, writer, window, now)
		return err
	})
	switch {
	case kept.Owner == "":
		return "", err
	case err != nil:
		return textNotAside(kept.Owner), err
	case kept.New:
		return textAside(kept.Owner, kept.Name), nil
	}
	return "", nil
}

// ClaimDigest is the guard for who is about to write the digest by other
// means than the host's tools: it keeps another session's digest aside and
// returns the line that says so, "" when there was no need to. s is the
// project's Effective settings.
func ClaimDigest(project, writer string, s Settings, now time.Time) (string, error) {
	if handover.LoopActive(project) || dirOf(project).Kind(digestFile) != state.File {
		return "", nil
	}
	return guardDigest(project, writer, s.OwnerWindow, now)
}

// preTool runs before the host writes a file. It has no say in whether that
// may happen.
func preTool(call *host.Call) (host.Output, error) {
	if !writesDigest(call) || handover.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	window := settingsFor(call, dirOf(call.Project)).OwnerWindow
	said, err := guardDigest(call.Project, call.Payload.SessionID, window, call.Env.Now())
	if err != nil {
		call.Env.Log("the digest was not kept aside", "error", err.Error())
	}
	return host.Output{Message: said}, nil
}

// postTool runs after the host has written a file. A digest names its owner
// and its time, which the model can only guess.
func postTool(call *host.Call) (host.Output, error) {
	if !writesDigest(call) || handover.LoopActive(call.Project) {
		return host.Output{}, nil
	}
	var out host.Output
	err := dirOf(call.Project).WithLock(lockWait, func(tx *state.Tx) error {
		doc, ok, err := readDigest(tx)
		if !ok {
			return err
		}
		if lacks := missing(doc); len(lacks) > 0 {
			out.Context = textMissing(lacks)
		}
		_, wrote := tx.Stat(digestFile)
		if err := tx.Write(digestFile, []byte(stampDigest(doc, call.Payload.SessionID, call.Env.Now()))); err != nil {
			return err
		}
		// The host takes a file with a later time for one that somebody else
		// has changed, and would have the model read it again.
		return tx.SetTime(digestFile, wrote)
	})
	if err != nil {
		call.Env.Log("the digest was not stamped", "error", err.Error())
	}
	return out, nil
}

// writesDigest reports whether the tool call is about the digest, by whatever
// path it is named: through links, with .., in another letter case where the
// file system takes it (case F39).
func writesDigest(call *host.Call) bool {
	switch call.Payload.Tool {
	case "Write", "Edit", "MultiEdit":
	default:
		return false
	}
	dir := dirOf(call.Project)
	if dir.Kind(digestFile) != state.File {
		return false
	}
	digest, err := os.Stat(dir.Path(digestFile))
	if err != nil {
		return false
	}
	path := call.Payload.ToolPath
	if !filepath.IsAbs(path) {
		path = filepath.Join(call.Payload.Cwd, path)
	}
	// The system resolves .. after links, the host before.
	for _, p := range []string{path, filepath.Clean(path)} {
		if info, err := os.Stat(p); err == nil && os.SameFile(info, digest) {
			return true
		}
	}
	return false
}
