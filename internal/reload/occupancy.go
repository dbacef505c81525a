package reload

import (
	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

// occupancy is how full the context window of a session is.
type occupancy struct {
	Known   bool
	Tokens  int // in the window now
	Percent int // of the window, 0 to 100 (models.Percent)
	Window  models.Window
	Tail    transcript.Tail
}

// measure returns the occupancy of the session that a hook is called for.
// Where there is no budget, or nobody to tell, nothing is waited for: the
// figure decides nothing then.
func measure(call *host.Call, from state.Reader, s Settings) occupancy {
	read := transcript.ReadTail
	if s.BudgetPct > 0 && (s.Headless || !call.Host.Headless) {
		read = func(path string) (transcript.Tail, error) {
			return handover.SettledTail(path, call.Payload.LastMessage, call.Env.Sleep)
		}
	}
	tail, err := read(call.Payload.TranscriptPath)
	if err != nil {
		call.Env.Log("transcript is not readable", "error", err.Error())
	}
	o := occupy(tail, windowInputs(call, from, s))
	if tail.Estimate {
		call.Env.Log("occupancy is an estimate from the size of the transcript", "tokens", o.Tokens)
	}
	return o
}

// windowInputs gathers what is known about the window, all but the transcript.
func windowInputs(call *host.Call, from state.Reader, s Settings) func(transcript.Tail) models.Inputs {
	stamp := readModel(from)
	figure, known := handover.ReadHost(from)
	return func(tail transcript.Tail) models.Inputs {
		in := models.Inputs{
			Pinned:            s.Window,
			StampModel:        stamp.model,
			StampWindow:       stamp.window,
			LiveModel:         tail.Model,
			Table:             call.Profile.Windows,
			AutoCompactWindow: call.Host.AutoCompactWindow,
		}
		if tail.Known && !tail.Estimate {
			in.Seen = tail.Tokens
		}
		// The host's figure counts for its own session and model. Beside the
		// stamp of a model chosen with the large window, a smaller one is a
		// mistake (case F06).
		if known && figure.Session == call.Payload.SessionID && (tail.Model == "" || models.Same(figure.Model, tail.Model)) &&
			!(models.Same(figure.Model, stamp.model) && figure.Window < models.Chosen(stamp.model)) {
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
