// Package statusline shows the plugins' figures in the host's status line, and
// puts itself into and out of the user's settings.
//
// It reads what the host hands it and never a transcript: the host redraws the
// line several times a second. A line that cannot be drawn is empty; nothing
// here may cost the user the status line they had before.
package statusline

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/transcript"
)

// Payload is what the host tells a status line (docs/host.md, Status-line
// payload). Zero values mean "not known".
type Payload struct {
	SessionID string
	Model     string // the model's id
	Project   string // the session's project directory
	Version   string // of the host
	Window    int    // tokens; the host's own idea of the context window
	Tokens    int    // in the context window, by the newest reply
	Percent   int    // of Window, rounded as the host does
	// Known is false before the first reply and right after a compaction,
	// when the host has no percentage.
	Known bool
	// Over200k is the host's word that the newest reply took more than
	// 200,000 tokens.
	Over200k bool
	// RateLimits is what the host says of the account's limits, as it stands
	// (usage.StatusLineLimits); nil before the first reply and for API keys.
	RateLimits []byte
}

// Decode reads the JSON object the host writes to a status line's stdin. A
// field of an unexpected type counts as not known.
func Decode(stdin []byte) (Payload, error) {
	var p Payload
	cwd := ""
	ok := jsonscan.Object(bytes.TrimPrefix(stdin, []byte(bom)), func(key, value []byte) {
		switch string(key) {
		case "session_id":
			p.SessionID = jsonscan.Text(value)
		case "cwd":
			cwd = jsonscan.Text(value)
		case "version":
			p.Version = jsonscan.Text(value)
		case "exceeds_200k_tokens":
			p.Over200k = jsonscan.True(value)
		case "model":
			p.Model = jsonscan.Text(jsonscan.Member(value, "id"))
		case "workspace":
			p.Project = jsonscan.Text(jsonscan.Member(value, "project_dir"))
		case "context_window":
			p.context(value)
		case "rate_limits":
			p.RateLimits = value
		}
	})
	if !ok {
		return Payload{}, errors.New("status line payload is not a JSON object")
	}
	if p.Project == "" {
		p.Project = cwd
	}
	return p, nil
}

// context reads the member context_window.
func (p *Payload) context(object []byte) {
	jsonscan.Object(object, func(key, value []byte) {
		switch string(key) {
		case "context_window_size":
			p.Window, _ = jsonscan.Count(value)
		case "used_percentage":
			percent, err := strconv.ParseFloat(string(value), 64)
			if p.Known = err == nil && percent >= 0 && percent <= 1e6; p.Known {
				p.Percent = int(math.Round(percent))
			}
		case "current_usage":
			for _, kind := range []string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
				n, _ := jsonscan.Count(jsonscan.Member(value, kind))
				p.Tokens += n
			}
		}
	})
}

// Figure is what the host says of the session's context at the time now.
func (p Payload) Figure(now time.Time) occupancy.Figure {
	f := occupancy.Figure{Session: p.SessionID, Model: p.Model, Window: p.Window, Used: -1, Time: now}
	if p.Known {
		f.Used = min(p.Percent, 100)
	}
	return f
}

// Occupancy returns how full the context is by what the host says, with the
// window that s knows. The host rounds its percentage; its count of tokens is
// finer, where both are of the same reply.
func (p Payload) Occupancy(s occupancy.Sources, now time.Time) occupancy.Occupancy {
	if !p.Known {
		return occupancy.Occupancy{}
	}
	f := p.Figure(now).Corrected()
	f.Proxy = s.Figure.ProxyFor(f.Model)
	s.Figure = f
	s.Figure.Session = cmp.Or(f.Session, "this one")
	if p.Over200k {
		s.Seen = models.Assumed + 1
	}
	tail := transcript.Tail{Model: p.Model}
	if p.Tokens > 0 && (p.Window == 0 || min(p.Percent, 100) == models.Percent(p.Tokens, p.Window)) {
		tail.Tokens, tail.Known = p.Tokens, true
	}
	return s.Of(tail)
}
