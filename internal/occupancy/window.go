package occupancy

import (
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

// Who can decide a window, strongest first.
const (
	FromConfig  = "config"
	FromProxy   = "proxy"
	FromHost    = "host"
	FromStamp   = "stamp"
	FromTable   = "table"
	FromNothing = "unknown model"
)

// Sources are what tells the window of a session beside its transcript. A
// number below models.MinWindow is no window.
type Sources struct {
	Pinned int    // context_window of the project, tokens
	Figure Figure // of this session, by a proxy and by the status line
	Stamp  Stamp  // of the project's newest session
	Table  models.Table
	Limit  int  // where the host compacts, whatever the model could take, tokens
	No1M   bool // the user does without the large window
	Seen   int  // tokens that are known to have fitted, whatever the transcript says
}

// SourcesOf gathers the sources of a session from the state directories that
// may hold them.
func SourcesOf(h host.Host, session string, table models.Table, pinned int, dirs ...state.Reader) Sources {
	s := Sources{Pinned: pinned, Table: table, Limit: h.AutoCompactWindow, No1M: h.No1M, Figure: Figure{Used: -1}}
	for _, dir := range dirs {
		if f, ok := ReadFigure(dir, session); ok && s.Figure.Session == "" {
			s.Figure = f
		}
		if s.Stamp.Model == "" {
			s.Stamp = readStamp(dir)
		}
	}
	return s
}

// Window is a decided window.
type Window struct {
	Tokens int
	Source string // one of the From constants
	Model  string // of the session, as well as it is known
	// Switched says that the session has left the model of the stamp, and
	// Stamp what takes its place.
	Switched bool
	Stamp    Stamp
}

// window decides the window of a session whose newest reply is of the model
// called live, a bare id, and that has held as much as seen.
func (s Sources) window(live string, seen int) Window {
	var w Window
	figure, stamp := s.Figure, s.Stamp
	if !figure.of(live) {
		figure = Figure{}
	}
	if w.Switched = live != "" && stamp.Model != "" && !models.Same(live, stamp.Model); w.Switched {
		stamp = Stamp{}
	}
	// An id that somebody has chosen says more than the bare one of a reply.
	for _, id := range []string{stamp.Model, figure.Model, live} {
		if w.Model == "" || models.Chosen(w.Model) == 0 && models.Chosen(id) > 0 {
			w.Model = id
		}
	}
	chosen := models.Chosen(w.Model)
	table, listed := s.Table.Window(live)
	if !listed {
		table, listed = s.Table.Window(w.Model)
	}
	w.Tokens, w.Source = models.Unknown, FromNothing
	switch {
	case figure.Proxy >= models.MinWindow:
		w.Tokens, w.Source = figure.Proxy, FromProxy
	case figure.Window >= max(models.MinWindow, chosen):
		// A smaller one is the host's mistake: it forgets at times that the
		// large window was chosen (case F06).
		w.Tokens, w.Source = figure.Window, FromHost
	case stamp.Window >= models.MinWindow:
		w.Tokens, w.Source = stamp.Window, FromStamp
	case chosen > 0:
		w.Tokens, w.Source = chosen, FromTable
	case listed && table >= models.MinWindow:
		w.Tokens, w.Source = table, FromTable
	}
	w.Stamp = Stamp{live, raised(w.Tokens, seen)}
	if s.No1M && w.Tokens >= models.Unknown {
		w.Tokens = models.Assumed
	}
	w.Tokens = raised(w.Tokens, seen)
	if s.Pinned >= models.MinWindow {
		w.Tokens, w.Source = s.Pinned, FromConfig
	}
	if s.Limit >= models.MinWindow {
		w.Tokens = min(w.Tokens, s.Limit)
	}
	return w
}

// raised corrects a window that the session has already outgrown, to the next
// size models have (case F06: 219,313 tokens seen in a window of 200,000).
func raised(window, seen int) int {
	switch {
	case seen <= window:
		return window
	case seen <= models.Assumed:
		return models.Assumed
	case seen <= models.Unknown:
		return models.Unknown
	}
	return seen
}
