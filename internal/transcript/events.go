package transcript

import (
	"io"
	"slices"
	"time"
)

// Event is something that happened in the live branch of a session.
type Event struct {
	Kind   EventKind
	Offset int64  // in bytes, of the row it stands in
	Prompt string // what was typed
	Call          // of a tool
}

// EventKind says what an Event is.
type EventKind int

// Kinds of events.
const (
	Asked     EventKind = iota // a person typed a prompt
	Called                     // the model called a tool
	Compacted                  // the host dropped what came before
)

// Call is the call of a tool. Texts are as they are in the transcript, not
// redacted.
type Call struct {
	Tool    string
	Path    string // of the file it reads or writes
	Command string // of a shell
	Failed  bool
	Done    []string // items of the todo list that it completes

	task taskCall
}

// Events returns what happened in the live branch of the first size bytes of r,
// which hold whole rows, the oldest first.
func Events(r io.ReaderAt, size int64) ([]Event, error) {
	var events []Event
	s := newFactScan(time.Time{})
	s.each = func(e Event) { events = append(events, e) }
	err := s.scan(r, size)
	slices.Reverse(events)
	subjects := map[string]string{}
	for i := range events {
		e := &events[i]
		switch t := e.task; {
		case t.create && t.id != "":
			subjects[t.id] = t.subject
		case t.status == "completed" && subjects[t.id] != "":
			e.Done = append(e.Done, subjects[t.id])
		}
	}
	return events, err
}
