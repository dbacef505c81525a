// Package statusline shows the plugins' figures in the host's status line, and
// puts itself into and out of the user's settings.
//
// It reads what the host hands it and never a transcript: the host redraws the
// line several times a second. A line that cannot be drawn is empty; nothing
// here may cost the user the status line they had before.
package statusline

import (
	"bytes"
	"errors"
	"math"
	"strconv"

	"github.com/ccreload/ccreload/internal/jsonscan"
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
			p.Model = jsonscan.Text(field(value, "id"))
		case "workspace":
			p.Project = jsonscan.Text(field(value, "project_dir"))
		case "context_window":
			p.context(value)
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
				n, _ := jsonscan.Count(field(value, kind))
				p.Tokens += n
			}
		}
	})
}

// field returns a member of an object, nil when it has none of that name.
func field(object []byte, name string) (value []byte) {
	jsonscan.Object(object, func(key, v []byte) {
		if string(key) == name {
			value = v
		}
	})
	return value
}
