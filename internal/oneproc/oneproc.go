// Package oneproc has the program begin on one processor and with a stack that
// is large enough, because a hook is over in a few milliseconds and starts at
// every turn. It imports nothing but the Go runtime, so it is initialized
// before whatever else is linked.
//
// With more processors the one goroutine of a hook changes between them, and
// each has memory of its own to set up. What the Go runtime has set up before any
// package begins can no longer be spared here: the launcher does that, with
// GOMAXPROCS=1. A stack that grows later is walked and moved, frame by frame,
// several times: some 20 page faults. And where a container has few threads
// left, fewer are asked for.
package oneproc

import "runtime"

func init() {
	runtime.GOMAXPROCS(1)
	growStack(false)
}

// Done lets the program use the whole machine. What is no hook calls it.
func Done() { runtime.SetDefaultGOMAXPROCS() }

// room is more stack than an ordinary hook needs.
type room [24 << 10]byte

// growStack makes room on the stack in one go. The compiler sizes a frame for
// its largest call, made or not: ask with false.
//
//go:noinline
func growStack(really bool) byte {
	if really {
		return fill(room{})
	}
	return 0
}

//go:noinline
func fill(r room) byte { return r[len(r)/2] }
