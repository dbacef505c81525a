// Package handover carries notes from one session to the next: what plugins
// that hand a thread over have in common.
//
// An arm says that notes wait. A session that takes it holds a claim until it
// has proved, by a prompt or a finished turn, that somebody is there; a session
// that ends or dies before that gives the arm back. So a digest is handed over
// again rather than lost: whatever is killed between two writes, either the
// arm or the claim is on disk.
//
// Everything here works on a locked state.Tx or on plain values; it asks
// nobody anything and prints nothing.
package handover

import (
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

// maxRecord is the most that is read of an arm or a claim, in bytes.
const maxRecord = 64 << 10

// Client identifies a running host, which may see many sessions: its process
// stays the same across /clear (docs/host.md, Plugins). The zero Client is an
// unknown one.
type Client struct {
	PID int
	id  string // proc.ID as a word, where the process could be looked at
}

// Here returns the client that started this hook, the zero Client for one
// that does not say (before 2.1.214).
func Here(h host.Host) Client {
	c := Client{PID: h.PID}
	if c.PID == 0 {
		return c
	}
	// A process id alone is handed out again after a reboot, and would make a
	// daemon look like the client that armed.
	if id, err := proc.Identify(c.PID); err == nil {
		c.id = id.String()
	}
	return c
}

// Alive reports whether the client still runs; an unknown one does not. One that
// was killed counts as gone even while its terminal has not taken note of it.
func (c Client) Alive(env host.Env) bool {
	if c.PID == 0 || !env.Alive(c.PID) {
		return false
	}
	id, err := proc.ParseID(c.id)
	return err != nil || !id.Ended()
}

// Same reports whether c and d are the same client for certain.
func (c Client) Same(d Client) bool {
	return c.PID != 0 && c.PID == d.PID && (c.id == "" || d.id == "" || c.id == d.id)
}

func (c Client) String() string {
	if c.id != "" || c.PID == 0 {
		return c.id
	}
	return strconv.Itoa(c.PID)
}

// ParseClient reads what String wrote; what is no client is the zero one.
func ParseClient(s string) Client {
	if s == "" {
		return Client{}
	}
	if id, err := proc.ParseID(s); err == nil {
		return Client{PID: id.PID, id: s}
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return Client{}
	}
	return Client{PID: n}
}

// clientFile keeps the version of each client that runs in a project, by its
// process, and under "version" that of the clients which do not tell theirs.
const clientFile = ".client"

// maxClients is how many are remembered.
const maxClients = 16

func (c Client) versionKey() string {
	if c.PID == 0 {
		return "version"
	}
	return strconv.Itoa(c.PID)
}

// ClientVersion returns the version of a client that was noted in a state
// directory, "" when none was.
func ClientVersion(r state.Reader, c Client) string {
	return state.ReadPairs(r, clientFile).Get(c.versionKey())
}

// NoteClient keeps the version of a client, which only transcripts tell: it
// decides who shows the banner after /clear.
func NoteClient(tx *state.Tx, c Client, version string) error {
	key, p := c.versionKey(), state.ReadPairs(tx, clientFile)
	if p.Get(key) != version {
		p = p.Set(key, "").Set(key, version) // the newest is the last
	}
	for _, old := range p.Keys()[:max(0, len(p.Keys())-maxClients)] {
		p = p.Set(old, "")
	}
	return tx.Update(clientFile, p.Bytes())
}

// FileName returns s reduced to what is safe in a file name on every system:
// letters, digits, - and _, at most 80 of them.
func FileName(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() < 80; i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			b.WriteByte(c)
		}
	}
	return b.String()
}

// Owns reports whether name is a file this package keeps in a state directory.
func Owns(name string) bool {
	switch name {
	case ArmFile, stampFile, startedFile, clientFile:
		return true
	}
	return strings.HasPrefix(name, claimPrefix) || strings.HasPrefix(name, parkedPrefix)
}
