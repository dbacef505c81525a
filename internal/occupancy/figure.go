package occupancy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	// figureFile keeps what was said of the newest sessions, a line each:
	// "SESSION: window used proxy time model", time being milliseconds since 1970.
	figureFile = ".host"
	// stampFile keeps the model of the project's newest session and its window,
	// as lines "model: …" and "window: …".
	stampFile = "model"

	maxFigures = 16
	maxFile    = 64 << 10 // bytes that are read of either
	// figureWait is how long the status line waits for a state directory.
	figureWait = 200 * time.Millisecond
)

// Owns reports whether name is a file this package keeps in a project's state directory.
func Owns(name string) bool { return name == figureFile || name == stampFile }

// Figure is what others have said of a session's context.
type Figure struct {
	Session string
	Model   string    // its id, as the host or SessionStart named it
	Window  int       // tokens, by the host; only the status line is told (docs/host.md, Status-line payload)
	Used    int       // % of Window, by the host; -1 when it has none yet
	Proxy   int       // tokens, by a proxy on this machine
	Time    time.Time // since when the host has said so; the zero time when that is not known
}

// of reports whether f is of a session that now runs the model called live, ""
// when that is not known.
func (f Figure) of(live string) bool {
	return live == "" || f.Model == "" || models.Same(f.Model, live)
}

// ReadFigure returns what a state directory knows of a session, "" for the one
// that something was said of last.
func ReadFigure(r state.Reader, session string) (Figure, bool) {
	data, err := r.Read(figureFile, maxFile)
	if err != nil {
		return Figure{}, false
	}
	return find(string(data), session)
}

func find(data, session string) (found Figure, ok bool) {
	for line := range strings.Lines(data) {
		var f Figure
		var ms int64
		key, rest, _ := strings.Cut(line, ": ")
		if session != "" && key != session {
			continue
		}
		if n, _ := fmt.Sscanf(rest, "%d %d %d %d %s", &f.Window, &f.Used, &f.Proxy, &ms, &f.Model); n < 4 {
			continue
		}
		f.Session, f.Time = key, time.UnixMilli(ms)
		found, ok = f, true
	}
	if ok {
		return found, true
	}
	// Earlier releases kept one session, a line for each member and no time.
	p := state.ParsePairs([]byte(data))
	found = Figure{Session: p.Get("session"), Model: p.Get("model"), Window: models.ParseTokens(p.Get("window")), Used: -1}
	if n, err := strconv.Atoi(p.Get("used_percentage")); err == nil {
		found.Used = n
	}
	return found, found.Session != "" && (session == "" || session == found.Session)
}

// Write puts f in the place of what was said of its session before. It writes
// nothing when nothing is new, or f says nothing.
func (f Figure) Write(tx *state.Tx) error {
	if f.Model == "" && f.Window == 0 && f.Used < 0 || f.Session == "" || strings.ContainsAny(f.Session, ": \r\n") {
		return nil
	}
	data, _ := tx.Read(figureFile, maxFile)
	if old, ok := find(string(data), f.Session); ok && old.says(f) {
		return nil
	}
	lines := slices.DeleteFunc(slices.Collect(strings.Lines(string(data))), func(line string) bool {
		key, rest, _ := strings.Cut(line, ": ")
		return key == f.Session || strings.Count(rest, " ") < 4
	})
	lines = append(lines, fmt.Sprintf("%s: %d %d %d %d %s\n", f.Session, f.Window, f.Used, f.Proxy, f.Time.UnixMilli(), term.OneLine(f.Model)))
	return tx.Write(figureFile, []byte(strings.Join(lines[max(0, len(lines)-maxFigures):], "")))
}

// says reports whether f says what g does, whenever.
func (f Figure) says(g Figure) bool {
	f.Time = g.Time
	return f == g
}

// Corrected returns f with the window that the id of its model asks for, where
// the host's is smaller: it forgets at times that a model was chosen with the
// large window, and the percentage is then one of the small one (case F06).
func (f Figure) Corrected() Figure {
	if n := models.Chosen(f.Model); f.Window > 0 && n > f.Window {
		if f.Used > 0 {
			f.Used = f.Used * f.Window / n
		}
		f.Window = n
	}
	return f
}

// ProxyFor returns the tokens that a proxy named for the model called id, 0 for
// none.
func (f Figure) ProxyFor(id string) int {
	if models.Same(f.Model, id) {
		return f.Proxy
	}
	return 0
}

// Show keeps what the status line was told in a state directory that is there,
// and the model with its window too in a project's. It writes nothing when
// nothing is new, so that it can be called at every refresh.
func (f Figure) Show(dir state.Dir, project bool) error {
	f = f.Corrected()
	if f.Window < models.MinWindow {
		f.Window = 0
	}
	if dir.Kind("") == state.Absent {
		return nil
	}
	old, known := ReadFigure(dir, f.Session)
	if f.Proxy = old.ProxyFor(f.Model); known && old.says(f) {
		return nil
	}
	stamp := Stamp{f.Model, f.Window}
	if f.Proxy > 0 {
		stamp.Window = f.Proxy
	}
	if !project || stamp.Window == 0 || !stamp.replaces(readStamp(dir)) {
		stamp = Stamp{}
	}
	return dir.WithLock(figureWait, func(tx *state.Tx) error {
		return errors.Join(f.Write(tx), stamp.Write(tx))
	})
}

// Stamp is the model of the project's newest session and its window in tokens,
// 0 when not known.
type Stamp struct {
	Model  string
	Window int
}

func readStamp(from state.Reader) Stamp {
	data, err := from.Read(stampFile, maxFile)
	if err != nil {
		return Stamp{}
	}
	p := state.ParsePairs(data)
	return Stamp{p.Get("model"), models.ParseTokens(p.Get("window"))}
}

// replaces reports whether s takes the place of old. A smaller window of the
// same model does not (case F06).
func (s Stamp) replaces(old Stamp) bool {
	return !models.Same(s.Model, old.Model) || s.Window > old.Window
}

// Write stamps the model, if there is one, and keeps whatever else the file
// says.
func (s Stamp) Write(tx *state.Tx) error {
	if s.Model == "" {
		return nil
	}
	data, _ := tx.Read(stampFile, maxFile)
	window := ""
	if s.Window > 0 {
		window = strconv.Itoa(s.Window)
	}
	fresh := state.ParsePairs(data).Set("model", s.Model).Set("window", window).Bytes()
	if string(fresh) == string(data) {
		return nil
	}
	return tx.Write(stampFile, fresh)
}

// AtStart returns what the beginning of a session tells, the stamp only when
// the host names a model. After /clear and on resume it does not (docs/host.md,
// Events); a proxy is then asked for the model before. That may take a second,
// so call it before a lock is taken.
func AtStart(call *host.Call, dir state.Reader) (Figure, Stamp) {
	session, id := call.Payload.SessionID, call.Payload.Model
	f, _ := ReadFigure(dir, session)
	if id != "" && id != f.Model {
		f = Figure{Model: id}
	}
	f.Session, f.Used, f.Time = session, -1, time.Time{}
	if f.Model == "" {
		f.Model = readStamp(dir).Model
	}
	if call.Env.Dial != nil && call.Host.ProxyURL != "" && f.Model != "" {
		f.Proxy, _ = models.ProxyWindow(context.Background(), call.Env.Dial, call.Host.ProxyURL, f.Model)
	}
	stamp := Stamp{Model: id, Window: f.Proxy}
	if f.Proxy == 0 && (!models.Alias(id) || models.Chosen(id) > 0) {
		stamp.Window = Sources{Table: call.Profile.Windows}.window(id, 0).Tokens
	}
	return f, stamp
}
