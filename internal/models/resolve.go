package models

// Source says who decided a window.
type Source string

// Who can decide a window, strongest first.
const (
	FromConfig  Source = "config"
	FromHost    Source = "host"
	FromStamp   Source = "stamp"
	FromTable   Source = "table"
	FromNothing Source = "unknown model"
)

// Inputs are the facts a window is decided from. Zero values mean "not
// known"; a number below MinWindow is no window and counts as not known.
type Inputs struct {
	Pinned int // context_window of the config, tokens
	// HostSize is the host's own figure in tokens, when the status line has
	// stamped it for this session and this model.
	HostSize    int
	StampModel  string // model line of .reload/model
	StampWindow int    // window line of .reload/model, tokens
	LiveModel   string // model of the transcript's newest reply, a bare id
	Table       Table
	// AutoCompactWindow is where the host compacts, in tokens, whatever the
	// model could take.
	AutoCompactWindow int
	Seen              int // occupancy of the newest reply, tokens
}

// Window is a decided window.
type Window struct {
	Tokens int
	Source Source
	Raised bool // more was seen than the source said there is room for
	Capped bool // AutoCompactWindow is smaller
	// Restamp asks the caller to write Model and Stamp to .reload/model: the
	// session has really switched to another model.
	Restamp bool
	Model   string
	Stamp   int // tokens
}

// Resolve decides the window of the running session.
func Resolve(in Inputs) Window {
	w := Window{Model: in.StampModel}
	switch {
	case in.LiveModel == "":
	case in.StampModel == "":
		w.Model = in.LiveModel
	case !Same(in.LiveModel, in.StampModel):
		w.Restamp, w.Model = true, in.LiveModel
	}
	stamp := in.StampWindow
	if w.Restamp {
		stamp = 0 // it belongs to the model before
	}
	w.Tokens, w.Source = in.unpinned(w.Model, stamp)
	w.raise(in.Seen)
	if w.Restamp {
		w.Stamp = w.Tokens
	}
	if in.Pinned >= MinWindow {
		w.Tokens, w.Source, w.Raised = in.Pinned, FromConfig, false
	}
	if n := in.AutoCompactWindow; n >= MinWindow && n < w.Tokens {
		w.Tokens, w.Capped = n, true
	}
	return w
}

// unpinned returns the window of model by everything but the user's config.
func (in Inputs) unpinned(model string, stamp int) (int, Source) {
	if in.HostSize >= MinWindow {
		return in.HostSize, FromHost
	}
	if stamp >= MinWindow {
		return stamp, FromStamp
	}
	if n, ok := in.Table.Window(model); ok && n >= MinWindow {
		return n, FromTable
	}
	return Unknown, FromNothing
}

// raise corrects a window that the session has already outgrown, to the next
// size models have (case F06: 219,313 tokens seen in a window of 200,000). It
// never lowers one.
func (w *Window) raise(seen int) {
	if seen <= w.Tokens {
		return
	}
	w.Raised = true
	for _, size := range []int{Assumed, Unknown} {
		if size >= seen {
			w.Tokens = size
			return
		}
	}
	w.Tokens = seen
}
