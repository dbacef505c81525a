package handover

import (
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

// figureFile keeps the host's own figure, from the status line.
const figureFile = ".host"

// stampWait is how long the status line waits for a state directory.
const stampWait = 200 * time.Millisecond

// HostFigure is what the host itself says of a session's context. Only the
// status line is told (docs/host.md, Status-line payload).
type HostFigure struct {
	Session string
	Model   string
	Window  int // tokens
	Used    int // % of Window, rounded down; -1 when the host has none yet
}

// ReadHost returns the newest figure that was stamped in a state directory.
func ReadHost(r state.Reader) (HostFigure, bool) {
	data, err := r.Read(figureFile, maxRecord)
	if err != nil {
		return HostFigure{}, false
	}
	p := state.ParsePairs(data)
	f := HostFigure{Session: p.Get("session"), Model: p.Get("model"), Window: models.ParseTokens(p.Get("window"))}
	used, err := strconv.Atoi(p.Get("used_percentage"))
	if err != nil || used < 0 || used > 100 {
		used = -1
	}
	f.Used = used
	return f, f.Session != "" && f.Window > 0
}

// Corrected returns f with the window that the id of its model asks for, where
// the host's is smaller: it forgets at times that a model was chosen with the
// large window, and the percentage is then one of the small one (case F06).
func (f HostFigure) Corrected() HostFigure {
	if n := models.Chosen(f.Model); f.Window > 0 && n > f.Window {
		if f.Used > 0 {
			f.Used = f.Used * f.Window / n
		}
		f.Window = n
	}
	return f
}

// StampHost keeps f, corrected, in a state directory. It does nothing where
// there is no such directory or nothing changed, so that it can be called at
// every refresh of the status line.
func StampHost(d state.Dir, f HostFigure) error {
	f = f.Corrected()
	f.Used = min(max(f.Used, -1), 100)
	if f.Session == "" || f.Window < models.MinWindow || d.Kind("") == state.Absent {
		return nil
	}
	f.Session, f.Model = term.OneLine(f.Session), term.OneLine(f.Model)
	if old, ok := ReadHost(d); ok && old == f {
		return nil
	}
	return d.WithLock(stampWait, func(tx *state.Tx) error {
		return tx.Write(figureFile, state.Pairs{}.
			Set("session", f.Session).Set("model", f.Model).
			Set("window", strconv.Itoa(f.Window)).Set("used_percentage", strconv.Itoa(f.Used)).Bytes())
	})
}
