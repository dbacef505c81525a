package reload

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// setAside is for a session that is about to replace the digest. It copies that
// of another session which is recent enough to be still at work, or has been
// armed by one that is, and returns what to say about it: "" when there was no
// need to.
func setAside(tx *state.Tx, begin handover.Start, window time.Duration) (said string, err error) {
	doc, ok, err := readDigest(tx)
	revision := tx.Revision(digestFile)
	if revision == "" {
		return "", err
	}
	kept := readSeen(tx).keep(tx, revision)
	if err != nil {
		return textKept("", kept == nil), err // larger than a digest may be, or unreadable
	}
	if !ok {
		return "", nil
	}
	_, wrote := tx.Stat(digestFile)
	owner := notes.FrontValue(doc, keyOwner)
	name, made := "", false
	save := func() (string, error) {
		if name == "" {
			name, made, err = copyAside(tx, doc, owner, wrote)
		}
		return name, err
	}
	foreign := isForeign(owner, begin.Session, begin.Now.Sub(wrote), window)
	err = begin.Keep(tx, save)
	if err == nil && foreign {
		_, err = save()
	}
	switch {
	case err != nil:
		return textKept(owner, kept == nil), err
	case made:
		return textAside(name), nil
	}
	return "", nil
}

// asideName is the file of a digest of owner that was set aside.
func asideName(owner string) string {
	return sidePrefix + cmp.Or(handover.FileName(owner), "unknown") + sideSuffix
}

// copyAside copies the digest to a file that is named after its owner, unless
// such a copy is there already. The time is added to the name when another
// digest of that session is.
func copyAside(tx *state.Tx, doc, owner string, wrote time.Time) (name string, made bool, err error) {
	for _, again := range []string{"", fmt.Sprintf(".%d", wrote.Unix()), fmt.Sprintf(".%d", wrote.UnixNano())} {
		name := strings.TrimSuffix(asideName(owner), sideSuffix) + again + sideSuffix
		switch tx.Kind(name) {
		case state.Absent:
			if err := tx.Write(name, []byte(doc)); err != nil {
				return "", false, err
			}
			return name, true, tx.SetTime(name, wrote)
		case state.File:
			if old, err := tx.Read(name, maxFile); err == nil && string(old) == doc {
				return name, false, nil
			}
		}
	}
	return "", false, errors.New("every name for a copy is taken")
}

// isForeign reports whether a digest of this owner and age is protected from
// writer for window; 0 protects nothing.
func isForeign(owner, writer string, age, window time.Duration) bool {
	return owner != "" && writer != "" && owner != writer && window > 0 && age <= window
}

// Claim is the guard for who is about to write the digest by other means than
// the host's tools: it keeps another session's digest aside and returns the line
// that says so, "" when there was no need to.
func (d Store) Claim(writer string) (said string, err error) {
	call := d.call()
	call.Payload.SessionID = writer
	return guard(call, Effective(d.Project, d.Profile, d.Host.Option))
}

func guard(call *host.Call, s Settings) (said string, err error) {
	dir := dirOf(call.Project)
	if handover.LoopActive(call.Project) || dir.Kind(digestFile) != state.File {
		return "", nil
	}
	begin := handover.Begin(call)
	err = dir.WithLock(lockTimeout, func(tx *state.Tx) (err error) {
		said, err = setAside(tx, begin, s.OwnerWindow)
		return err
	})
	if err != nil && said == "" {
		// Nothing was looked at under the lock, for which the writer does not wait.
		// The history has its own, and a copy under a free name harms nobody.
		kept := keepDigest(dir.Sub(historyDir), dir)
		doc, _, odd := readDigest(dir)
		_, wrote := dir.Stat(digestFile)
		owner := notes.FrontValue(doc, keyOwner)
		copied, _ := dir.Read(asideName(owner), maxFile)
		if odd != nil || isForeign(owner, begin.Session, begin.Now.Sub(wrote), s.OwnerWindow) && string(copied) != doc {
			said = textKept(owner, kept == nil)
			if name := asideName(owner); odd == nil && dir.Kind(name) == state.Absent && state.WriteFile(dir.Path(name), []byte(doc), 0o600) == nil {
				said = textAside(name)
			}
		}
	}
	return said, err
}

// preTool runs before the host writes a file. It has no say in whether that
// may happen.
func preTool(call *host.Call) (host.Output, error) {
	if !writesDigest(call) {
		return host.Output{}, nil
	}
	said, err := guard(call, settingsFor(call, dirOf(call.Project)))
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
	err := dirOf(call.Project).WithLock(lockTimeout, func(tx *state.Tx) error {
		doc, ok, err := readDigest(tx)
		if !ok {
			return err
		}
		if lacks := missing(doc); len(lacks) > 0 {
			out.Context = textMissing(lacks)
		}
		_, wrote := tx.Stat(digestFile)
		if err := tx.Write(digestFile, []byte(stampDigest(doc, call.Payload.SessionID, call.Env.Now()))); err != nil {
			return errors.Join(err, see(tx))
		}
		// The host takes a file with a later time for one that somebody else
		// has changed, and would have the model read it again.
		return errors.Join(tx.SetTime(digestFile, wrote), see(tx))
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
