// Package record keeps recordings: every hook call of a session, in order,
// with what the transcript gained in between. It reads and writes their files,
// makes them while hooks run, strips them of what is private, and replays them
// through the real binary.
//
// A recording is JSON lines, one Call each. Strings in it may hold $PROJECT,
// $HOME and $TMP for directories and /-PROJECT for the folder name the host
// derives from the project; the object {"$fill": N} stands for a string of N
// characters whose text was not kept. `ccreload-gen schema recording` prints its schema.
//
// A replay never reads or writes outside the directory it was given.
package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/ccreload/ccreload/internal/host"
)

// maxLine is the longest line a recording may have, in bytes. The rows one
// call brings are bounded when they are recorded (maxGain).
const maxLine = 64 << 20

// Call is one hook call.
type Call struct {
	T         float64           `json:"t"` // seconds since the recording began
	Event     host.Event        `json:"event"`
	Env       map[string]string `json:"env"`     // the host's variables the hook saw
	Payload   json.RawMessage   `json:"payload"` // its stdin
	Rows      []json.RawMessage `json:"transcript_rows,omitempty"`
	Rewritten bool              `json:"transcript_rewritten,omitempty"` // the transcript starts anew with Rows
}

// Read reads a recording and checks it. The error names the line and says
// what is wrong with it.
func Read(r io.Reader) ([]Call, error) {
	var calls []Call
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		c, err := parseCall(lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		calls = append(calls, c)
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(calls) == 0 {
		return nil, errors.New("it holds no hook call")
	}
	return calls, nil
}

func parseCall(line []byte) (Call, error) {
	var c Call
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&c); err != nil {
		return Call{}, fmt.Errorf("not a hook call: %w", err)
	}
	if dec.More() {
		return Call{}, errors.New("more than one value on a line")
	}
	return c, c.check()
}

func (c Call) check() error {
	var payload struct {
		Event host.Event `json:"hook_event_name"`
	}
	switch err := json.Unmarshal(c.Payload, &payload); {
	case c.Event == "":
		return errors.New("no event")
	case c.T < 0:
		return fmt.Errorf("t is %v seconds, before the recording began", c.T)
	case c.Env == nil:
		return errors.New("no env")
	case len(c.Payload) == 0:
		return errors.New("no payload")
	case err != nil:
		return fmt.Errorf("payload: %w", err)
	case payload.Event != c.Event:
		return fmt.Errorf("event is %q, the payload says %q", c.Event, payload.Event)
	}
	for i, row := range c.Rows {
		if len(row) == 0 || row[0] != '{' {
			return fmt.Errorf("transcript row %d is not an object", i+1)
		}
	}
	return nil
}

// Write writes a recording.
func Write(w io.Writer, calls []Call) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, c := range calls {
		if err := enc.Encode(c); err != nil {
			return err
		}
	}
	return nil
}
