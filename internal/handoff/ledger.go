package handoff

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/state"
)

// entry is one artifact that this user's runtime wrote. The ledger lives in
// the plugin's data directory, where no repository can put anything.
type entry struct {
	Path    string    `json:"path"`
	Content string    `json:"content,omitempty"` // as it was written: a hash would cost every hook its start-up
	ID      string    `json:"id"`                // handoff_id of its frontmatter
	Project string    `json:"project"`
	Session string    `json:"session"`
	Time    time.Time `json:"time"`
	// Foreign marks a file that is not ours and that the user has been told of,
	// when its content had the checksum Sum.
	Foreign bool   `json:"foreign,omitempty"`
	Sum     string `json:"sum,omitempty"`
}

// The newest entries are kept: this many, and with not more than this many
// bytes in all.
const (
	maxLedger     = 200
	maxLedgerSize = maxFile / 2
)

// sumOf tells whether a foreign file has changed since the user was told of
// it. Nothing is trusted for it.
func sumOf(content []byte) string {
	sum := fnv.New128a()
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

// newID returns an id that no other handoff has. It is printed in the document
// and no secret: what makes an artifact ours is the entry, not the id.
func newID() string { return fmt.Sprintf("%08x%016x", rand.Uint32(), rand.Uint64()) }

// canonical is a path under which a file is recorded and looked up: its
// directory without links.
func canonical(path string) string {
	return filepath.Join(state.RealPath(filepath.Dir(path)), filepath.Base(path))
}

type ledger []entry

// readLedgers reads those of all data directories.
func readLedgers(dirs []string) ledger {
	var all ledger
	for _, dir := range dirs {
		all = append(all, readLedger(state.NewDir(dir))...)
	}
	return all
}

func readLedger(from state.Reader) ledger {
	data, err := from.Read(ledgerFile, maxFile)
	if err != nil {
		return nil
	}
	var list ledger
	for line := range strings.Lines(string(data)) {
		var e entry
		if json.Unmarshal([]byte(line), &e) == nil && e.Path != "" {
			list = append(list, e)
		}
	}
	return list
}

// record adds e to the ledger in a data directory and drops what it replaces:
// all of the same document, and of others at its path all but the newest, which
// is still there until e is written.
func record(data string, e entry) error {
	e.Path = canonical(e.Path)
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		list := readLedger(tx)
		before := 0 // entries of others that are kept
		for i, old := range slices.Backward(list) {
			switch {
			case old.Path != e.Path || old.Foreign != e.Foreign:
			case old.ID != e.ID && before == 0:
				before++
			default:
				list = slices.Delete(list, i, i+1)
			}
		}
		data, err := append(list, e).encode()
		if err != nil {
			return err
		}
		return tx.Write(ledgerFile, data)
	})
}

// encode returns the ledger as it is kept, without the entries that are too
// old.
func (l ledger) encode() ([]byte, error) {
	var lines [][]byte
	size := 0
	for _, e := range slices.Backward(l) {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		size += len(line) + 1
		if len(lines) > 0 && (len(lines) == maxLedger || size > maxLedgerSize) {
			break
		}
		lines = append(lines, append(line, '\n'))
	}
	slices.Reverse(lines)
	return bytes.Join(lines, nil), nil
}

// recordAll records e in every data directory.
func recordAll(dirs []string, e entry) error {
	if len(dirs) == 0 {
		return errors.New("the plugin has no data directory yet")
	}
	var errs []error
	for _, dir := range dirs {
		errs = append(errs, record(dir, e))
	}
	return errors.Join(errs...)
}

// since returns when the session was handed over last, zero when never.
func (l ledger) since(session string) time.Time {
	var t time.Time
	for _, e := range l {
		if session != "" && e.Session == session && !e.Foreign && e.Time.After(t) {
			t = e.Time
		}
	}
	return t
}

// newest returns the newest entry of a project whose document is still there,
// with the path it has by now.
func (l ledger) newest(project string) (last entry, found bool) {
	for _, e := range l {
		e.Path = e.pathIn(project)
		if e.Foreign || e.Path == "" || found && e.Time.Before(last.Time) {
			continue
		}
		if content, err := readArtifact(e.Path); err == nil && e.judge(e.Path, content) != foreign {
			last, found = e, true
		}
	}
	return last, found
}

// last returns the newest document of a project: as it is now where it is still in
// its place, else as it was written.
func (l ledger) last(project string) (doc string) {
	var when time.Time
	for _, e := range l {
		path := e.pathIn(project)
		if e.Foreign || path == "" || e.Time.Before(when) {
			continue
		}
		doc, when = e.Content, e.Time
		if content, err := readArtifact(path); err == nil && e.judge(path, content) != foreign {
			doc = string(content)
		}
	}
	return doc
}

// waiting returns the document that waits for the next session of a project: the
// one that was armed, if it is there. If not, it has been archived or taken away
// since, or never came to be because the run that armed was killed, or the
// project has another name by now, or the arm was copied from another project;
// then it is the newest of the project, "" when there is none.
func (l ledger) waiting(project string, arm handover.Arm) string {
	if filepath.IsAbs(arm.Item) && isFile(arm.Item) && !l.elsewhere(arm.Item, project) {
		return arm.Item
	}
	last, _ := l.newest(project)
	return last.Path
}

// elsewhere reports whether the document at path was written for another project.
func (l ledger) elsewhere(path, project string) bool {
	path = canonical(path)
	for _, e := range slices.Backward(l) {
		if e.Path == path && !e.Foreign {
			return e.pathIn(project) != path
		}
	}
	return false
}

// pathIn returns where the document of e is in project: the one it was written
// for, or what that has been renamed to. "" means in neither.
func (e entry) pathIn(project string) string {
	if state.RealPath(e.Project) == state.RealPath(project) {
		return e.Path
	}
	if rel, ok := state.Below(e.Project, e.Path); ok && e.moved() {
		return canonical(filepath.Join(project, rel))
	}
	return ""
}

// moved reports whether the project is not where it was. Whoever only copies a
// document, as a clone does, finds its project in its place.
func (e entry) moved() bool {
	_, err := os.Lstat(e.Project)
	return e.Project != "" && errors.Is(err, fs.ErrNotExist)
}

// trust is what is known about where an artifact comes from.
type trust int

const (
	foreign trust = iota
	edited        // ours by its id, with other content
	ours          // byte for byte what our runtime wrote
)

// judge compares a document with the ledger.
func (l ledger) judge(path string, content []byte) trust {
	verdict := foreign
	for _, e := range l {
		verdict = max(verdict, e.judge(canonical(path), content))
	}
	return verdict
}

// judge compares the document at a canonical path with one entry. That is where
// it was written, or below what its project is called by now.
func (e entry) judge(path string, content []byte) trust {
	switch {
	case e.Foreign || e.Path != path && !(e.moved() && filepath.Base(e.Path) == filepath.Base(path)):
		return foreign
	case e.Content == string(content):
		return ours
	case e.ID != "" && e.ID == notes.FrontValue(string(content), keyID):
		return edited
	}
	return foreign
}

// told reports whether the user has been told of a foreign file as it is now.
func (l ledger) told(path string, content []byte) bool {
	sum := sumOf(content)
	return slices.ContainsFunc(l, func(e entry) bool {
		return e.Foreign && e.Path == canonical(path) && e.Sum == sum
	})
}
