// Package statusline shows the plugins' figures in the host's status line, and
// puts itself into and out of the user's settings.
//
// It reads what the host hands it and never a transcript: the host redraws the
// line several times a second. A line that cannot be drawn is empty; nothing
// here may cost the user the status line they had before.
package statusline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
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
	Percent   int    // of Window, rounded down
	// Known is false before the first reply and right after a compaction,
	// when the host has no percentage.
	Known bool
	// Over200k is the host's word that the newest reply took more than
	// 200,000 tokens.
	Over200k bool
}

// usage is the tokens of one reply, as the API counts them.
type usage struct {
	Input         int `json:"input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
}

// Decode reads the JSON object the host writes to a status line's stdin. A
// field of an unexpected type counts as not known.
func Decode(stdin []byte) (Payload, error) {
	var p struct {
		SessionID string `json:"session_id"`
		Cwd       string `json:"cwd"`
		Version   string `json:"version"`
		Model     struct {
			ID string `json:"id"`
		} `json:"model"`
		Workspace struct {
			Project string `json:"project_dir"`
		} `json:"workspace"`
		Context struct {
			Size    int             `json:"context_window_size"`
			Percent json.RawMessage `json:"used_percentage"`
			Usage   usage           `json:"current_usage"`
		} `json:"context_window"`
		Over200k bool `json:"exceeds_200k_tokens"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(stdin, []byte(bom)), &p); err != nil {
		var typed *json.UnmarshalTypeError
		if !errors.As(err, &typed) || typed.Field == "" {
			return Payload{}, fmt.Errorf("status line payload is not readable: %w", err)
		}
	}
	out := Payload{
		SessionID: p.SessionID,
		Model:     p.Model.ID,
		Project:   p.Workspace.Project,
		Version:   p.Version,
		Window:    max(p.Context.Size, 0),
		Tokens:    max(p.Context.Usage.Input+p.Context.Usage.CacheCreation+p.Context.Usage.CacheRead, 0),
		Over200k:  p.Over200k,
	}
	if out.Project == "" {
		out.Project = p.Cwd
	}
	if percent, err := strconv.ParseFloat(string(p.Context.Percent), 64); err == nil && percent >= 0 && percent <= 1e6 {
		out.Known, out.Percent = true, int(percent)
	}
	return out, nil
}
