package reload

import (
	"context"
	"strconv"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

// Keys of modelFile and hostFile.
const (
	keyModel   = "model"
	keyTokensW = "window" // tokens
	keySession = "session"
	keyUsed    = "used_percentage"
)

// modelStamp is what .reload/model says: the model of the newest session with
// its window in tokens, 0 when not known.
type modelStamp struct {
	model  string
	window int
}

func readModel(from reader) modelStamp {
	p := pairs(from, modelFile)
	return modelStamp{p.Get(keyModel), models.ParseTokens(p.Get(keyTokensW))}
}

// write stamps the model and keeps whatever else the file says.
func (m modelStamp) write(tx *state.Tx) error {
	p := pairs(tx, modelFile).Set(keyModel, m.model).Set(keyTokensW, decimal(m.window))
	return rewrite(tx, modelFile, p.Bytes())
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
	if url := call.Env.Getenv("ANTHROPIC_BASE_URL"); url != "" {
		if n, ok := models.ProxyWindow(context.Background(), url, id); ok {
			return modelStamp{id, n}, true
		}
	}
	return modelStamp{id, models.Resolve(models.Inputs{LiveModel: id, Table: call.Profile.Windows}).Tokens}, true
}

// HostFigure is what the host itself says of a session's context. Only the
// status line is told (docs/host.md, Status-line payload).
type HostFigure struct {
	Session string
	Model   string
	Window  int // tokens
	Used    int // % of Window, rounded down; -1 when the host has none yet
}

// StampHost keeps f for the hooks, and the model with its window in
// .reload/model. It does nothing in a project that has no state directory or
// when nothing changed, so that it can be called at every refresh of the
// status line.
func StampHost(project string, f HostFigure) error {
	dir := dirOf(project)
	f.Used = min(max(f.Used, -1), 100)
	if f.Session == "" || f.Model == "" || f.Window < models.MinWindow || dir.Kind("") == state.Absent {
		return nil
	}
	if old, ok := readHost(dir); ok && old == f {
		return nil
	}
	return dir.Do(lockWait, func(tx *state.Tx) error {
		p := pairs(tx, hostFile).
			Set(keySession, f.Session).Set(keyModel, f.Model).
			Set(keyTokensW, decimal(f.Window)).Set(keyUsed, strconv.Itoa(f.Used))
		if err := rewrite(tx, hostFile, p.Bytes()); err != nil {
			return err
		}
		if stamp := readModel(tx); models.Same(stamp.model, f.Model) && stamp.window > f.Window {
			return nil // the host forgets at times that a model was chosen with the large window (case F06)
		}
		return modelStamp{f.Model, f.Window}.write(tx)
	})
}

// ReadHost returns the host's newest figure for a project, false when there
// is none.
func ReadHost(project string) (HostFigure, bool) { return readHost(dirOf(project)) }

func readHost(from reader) (HostFigure, bool) {
	p := pairs(from, hostFile)
	f := HostFigure{Session: p.Get(keySession), Model: p.Get(keyModel), Window: models.ParseTokens(p.Get(keyTokensW))}
	used, err := strconv.Atoi(p.Get(keyUsed))
	if err != nil || used < 0 || used > 100 {
		used = -1
	}
	f.Used = used
	return f, f.Session != "" && f.Window > 0
}

// clientVersion returns the version of the host that the newest Stop saw in a
// transcript, "" when none did. It decides who shows the banner after /clear.
func clientVersion(from reader) string { return pairs(from, clientFile).Get("version") }

// stampClient remembers the host's version.
func stampClient(tx *state.Tx, version string) error {
	return rewrite(tx, clientFile, state.Pairs{}.Set("version", version).Bytes())
}
