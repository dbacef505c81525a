package reload

import (
	"time"

	"github.com/ccreload/ccreload/internal/continuity"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/transcript"
)

// occupancy is how full the context window of a session is.
type occupancy struct {
	Known   bool
	Tokens  int // in the window now
	Percent int // of the window, rounded down, 0 to 100
	Window  models.Window
	Tail    transcript.Tail
}

const (
	// tailWait is the longest a Stop waits for the host to finish writing, and
	// tailPoll how often it looks (case F02).
	tailWait = 2 * time.Second
	tailPoll = 40 * time.Millisecond
	// reach is how many points below the budget one turn is expected to bridge
	// at most. It is also the step of the ladder.
	reach = ladderStep
)

// measure returns the occupancy of the session that a hook is called for.
//
// The host writes its transcript late, so the newest reply may be missing.
// Waiting costs the user time at the end of a turn, so it happens only where
// the missing figure could change what is said now: the figure before it is
// known, below the budget and within reach of it. Below that even a large
// turn stays below; above it the budget is crossed whatever is missing; and
// where there is no figure at all, it is the first turn of a session, which
// is told of the crossing at its second.
func measure(call *host.Call, from reader, s Settings, sleep func(time.Duration)) occupancy {
	window := windowInputs(call, from, s)
	read := func() occupancy {
		tail, err := transcript.ReadTail(call.Payload.TranscriptPath)
		if err != nil {
			call.Env.Log("transcript is not readable", "error", err.Error())
		}
		return occupy(tail, window)
	}
	o := read()
	for waited := time.Duration(0); o.Tail.Incomplete && s.near(o) && waited < tailWait; waited += tailPoll {
		sleep(tailPoll)
		o = read()
	}
	if o.Tail.Estimate {
		call.Env.Log("occupancy is an estimate from the size of the transcript", "tokens", o.Tokens)
	}
	return o
}

// near reports whether the budget is not reached and a single turn could
// reach it.
func (s Settings) near(o occupancy) bool {
	ahead := o
	ahead.Percent += reach
	ahead.Tokens += o.Window.Tokens * reach / 100
	return o.Known && !s.over(o) && s.over(ahead)
}

// windowInputs gathers what is known about the window, all but the transcript.
func windowInputs(call *host.Call, from reader, s Settings) func(transcript.Tail) models.Inputs {
	stamp := readModel(from)
	figure, known := continuity.ReadHost(from)
	return func(tail transcript.Tail) models.Inputs {
		in := models.Inputs{
			Pinned:            s.Window,
			StampModel:        stamp.model,
			StampWindow:       stamp.window,
			LiveModel:         tail.Model,
			Table:             call.Profile.Windows,
			AutoCompactWindow: models.ParseTokens(call.Env.Getenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW")),
		}
		if tail.Known && !tail.Estimate {
			in.Seen = tail.Tokens
		}
		// The host's figure counts for its own session and model. Beside the
		// stamp of a model chosen with the large window, a smaller one is a
		// mistake (case F06).
		if known && figure.Session == call.Payload.SessionID && (tail.Model == "" || models.Same(figure.Model, tail.Model)) &&
			!(models.Same(figure.Model, stamp.model) && figure.Window < chosenWindow(stamp.model)) {
			in.HostSize = figure.Window
		}
		return in
	}
}

func occupy(tail transcript.Tail, window func(transcript.Tail) models.Inputs) occupancy {
	o := occupancy{Known: tail.Known, Tail: tail, Window: models.Resolve(window(tail))}
	if o.Known {
		o.Tokens = tail.Tokens
		o.Percent = models.Percent(o.Tokens, o.Window.Tokens)
	}
	return o
}
