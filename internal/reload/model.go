package reload

import (
	"context"
	"strconv"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

// Keys of modelFile.
const (
	keyModel       = "model"
	keyModelWindow = "window" // tokens
)

// modelStamp is what .reload/model says: the model of the newest session with
// its window in tokens, 0 when not known.
type modelStamp struct {
	model  string
	window int
}

func readModel(from state.Reader) modelStamp {
	p := state.ReadPairs(from, modelFile)
	return modelStamp{p.Get(keyModel), models.ParseTokens(p.Get(keyModelWindow))}
}

// write stamps the model and keeps whatever else the file says.
func (m modelStamp) write(tx *state.Tx) error {
	p := state.ReadPairs(tx, modelFile).Set(keyModel, m.model).Set(keyModelWindow, decimal(m.window))
	return tx.Update(modelFile, p.Bytes())
}

// decimal writes a number for a Pairs file; 0 is no line.
func decimal(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// modelAtStart returns what SessionStart has to stamp, and false when the
// host named no model (after /clear and on resume, docs/host.md, Events). It
// may ask a proxy on this machine, for a second at most, so call it before
// the lock is taken.
func modelAtStart(call *host.Call) (modelStamp, bool) {
	id := call.Payload.Model
	if id == "" {
		return modelStamp{}, false
	}
	if url := call.Host.ProxyURL; url != "" {
		if n, ok := models.ProxyWindow(context.Background(), url, id); ok {
			return modelStamp{id, n}, true
		}
	}
	return modelStamp{id, models.Resolve(models.Inputs{LiveModel: id, Table: call.Profile.Windows}).Tokens}, true
}

// StampHost keeps what the status line was told in a project's state
// directory: the host's own figure, and the model with its window in
// .reload/model. It does nothing in a project that has no state directory or
// when nothing changed, so that it can be called at every refresh.
func StampHost(project string, f handover.HostFigure) error {
	f = f.Corrected()
	dir := dirOf(project)
	if f.Session == "" || f.Model == "" || f.Window < models.MinWindow || dir.Kind("") == state.Absent {
		return nil
	}
	if err := handover.StampHost(dir, f); err != nil {
		return err
	}
	if !readModel(dir).yields(f) {
		return nil
	}
	return dir.WithLock(lockTimeout, func(tx *state.Tx) error {
		if !readModel(tx).yields(f) {
			return nil
		}
		return modelStamp{f.Model, f.Window}.write(tx)
	})
}

// yields reports whether the host's figure takes the place of the stamp. A
// smaller one for the same model does not: the host forgets at times that a
// model was chosen with the large window (case F06).
func (m modelStamp) yields(f handover.HostFigure) bool {
	if models.Same(m.model, f.Model) {
		return f.Window > m.window
	}
	return true
}
