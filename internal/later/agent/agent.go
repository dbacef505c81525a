// Package agent runs Claude Code without anybody in front of it: it finds the
// program, starts it so that it is never lost, watches it, ends it, and reads what
// came of it.
//
// It owns the directory "agents" of the app directory and knows nothing of queues,
// windows or worktrees. It never believes a process id by itself, never reads a
// whole output file into memory, and never takes what an agent says for more than
// that. What the client does is in docs/host.md, Headless runs.
package agent

import (
	"fmt"
	"math/rand/v2"
)

// MarkVar names, in the environment of an agent and of all that it starts, the
// run that they belong to.
const MarkVar = "CCRELOAD_AGENT"

// NewID returns a random name for a run or a session, a UUID of version 4 as the
// client asks for.
func NewID() string {
	a, b := rand.Uint64(), rand.Uint64()
	a = a&^0xf000 | 0x4000
	b = b&^(3<<62) | 1<<63
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", a>>32, a>>16&0xffff, a&0xffff, b>>48, b&(1<<48-1))
}

// isID reports whether s is a name that NewID makes: it is part of file names and
// command lines.
func isID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i, c := range []byte(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if dash != (c == '-') || !dash && !hex {
			return false
		}
	}
	return true
}
