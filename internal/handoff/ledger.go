package handoff

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

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

// record adds e to the ledger in a data directory and drops what it replaces.
func record(data string, e entry) error {
	e.Path = canonical(e.Path)
	return state.NewDir(data).WithLock(lockWait, func(tx *state.Tx) error {
		list := slices.DeleteFunc(readLedger(tx), func(old entry) bool {
			return old.Path == e.Path && (old.Foreign == e.Foreign)
		})
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

// newest returns the newest entry of a project whose artifact is still there.
func (l ledger) newest(project string) (entry, bool) {
	var last entry
	for _, e := range l {
		if !e.Foreign && state.RealPath(e.Project) == state.RealPath(project) && !e.Time.Before(last.Time) && isFile(e.Path) {
			last = e
		}
	}
	return last, last.Path != ""
}

// trust is what is known about where an artifact comes from.
type trust int

const (
	foreign trust = iota
	ours          // byte for byte what our runtime wrote
	edited        // ours by its id, with other content
)

// judge compares an artifact with the ledger.
func (l ledger) judge(path string, content []byte) trust {
	id := notes.FrontValue(string(content), keyID)
	verdict := foreign
	for _, e := range l {
		if e.Foreign || e.Path != canonical(path) {
			continue
		}
		if e.Content == string(content) {
			return ours
		}
		if e.ID != "" && e.ID == id {
			verdict = edited
		}
	}
	return verdict
}

// told reports whether the user has been told of a foreign file as it is now.
func (l ledger) told(path string, content []byte) bool {
	sum := sumOf(content)
	return slices.ContainsFunc(l, func(e entry) bool {
		return e.Foreign && e.Path == canonical(path) && e.Sum == sum
	})
}
