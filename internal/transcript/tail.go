package transcript

import (
	"io"
	"strings"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// Tail is what the end of a transcript says about the main thread.
type Tail struct {
	Tokens     int    // occupancy in tokens; meaningful when Known
	Known      bool   // false: no reply yet, or a compaction of unknown size
	Estimate   bool   // Known, but from bytes / 4: no reply tells its usage
	Model      string // id of the newest real reply, as the API names it; "" if none
	Version    string // client version of the newest row that has one; "" if none
	Reply      string // the newest reply's last words, error messages included; "" if none follows the newest compaction
	APIError   bool   // the newest reply is an API error message
	Incomplete bool   // the file ends inside a turn: a half-written last line, or a prompt or tool result that nothing answers yet
	Broken     bool   // a row that was looked at, or a half-written last line, is no JSON object, or there is no reply within reach
	Time       string // timestamp of the newest row that has one, as it stands there; "" if none
	Ended      bool   // the end of the turn of the newest reply is noted, which the host does after its Stop hooks
}

// ReadTail reads a transcript from its end up to the newest reply that tells
// its usage, or up to the newest compaction; without either, up to the start of
// the file or as far as maxReach. Rows that are broken or longer than 1 MiB are
// skipped.
//
// The host writes the file late (docs/host.md, Transcripts), so at Stop the
// newest reply can be missing: then Incomplete is set and the figures are
// those of the reply before (case F02). Whether to wait is up to the caller.
//
// A path that is missing or not a regular file is an error.
func ReadTail(path string) (Tail, error) {
	f, size, err := open(path)
	if err != nil {
		return Tail{}, err
	}
	defer f.Close()
	return readTail(f, size)
}

func readTail(r io.ReaderAt, size int64) (Tail, error) {
	var s tailScan
	lines := newBackwards(r, size, noMessage)
	for first := true; !s.done(); first = false {
		line, ok := lines.next()
		if !ok {
			break
		}
		// The last line is empty when the file ends with \n.
		half := first && len(line) > 0
		if row, ok := parseRow(line); ok {
			s.row(row)
		} else if len(line) > 0 {
			s.Broken = true
			s.Incomplete = s.Incomplete || half
		}
	}
	s.Broken = s.Broken || lines.tired
	return s.result(), lines.err
}

// noMessage reports whether a row is none that tells about the main thread, as
// its first bytes already say: what the client attaches to a prompt or sends
// is long, and comes behind every reply.
func noMessage(head []byte) bool {
	no := false
	jsonscan.Prefix(head, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			no = value != nil && !jsonscan.Is(value, "assistant") && !jsonscan.Is(value, "user") && !jsonscan.Is(value, "system")
			return false
		case "attachment":
			no = true
			return false
		}
		return value != nil
	})
	return no
}

// tailScan takes the rows of a transcript from the newest to the oldest.
type tailScan struct {
	Tail
	settled bool // Tokens and Known are decided
	replied bool // a reply has been seen, real or not
	real    bool // a real reply has been seen
	bytes   int  // of the messages seen
}

// done reports whether older rows have nothing to add. After a compaction the
// model of the reply before it is still looked for.
func (s *tailScan) done() bool { return s.settled && s.real }

func (s *tailScan) row(r row) {
	if s.Version == "" {
		s.Version = jsonscan.Plain(r.version)
	}
	if s.Time == "" {
		s.Time = jsonscan.Plain(r.time)
	}
	switch {
	case r.assistant():
		s.reply(r)
	case s.settled:
	case r.user():
		s.bytes += len(r.message)
		if !s.replied && !s.Incomplete && opensTurn(r) {
			s.Incomplete = true
		}
	case r.afterTurn():
		s.Ended = s.Ended || !s.replied
	case r.boundary():
		// What was counted before a compaction is gone (case F17).
		s.settled = true
		if n, ok := jsonscan.Count(jsonscan.Member(r.compact, "postTokens")); ok && n > 0 {
			s.Tokens, s.Known = n, true
		}
	}
}

func (s *tailScan) reply(r row) {
	var model string
	var usage, content []byte
	if !jsonscan.Object(r.message, func(key, value []byte) {
		switch string(key) {
		case "model":
			model = jsonscan.Plain(value)
		case "usage":
			usage = value
		case "content":
			content = value
		}
	}) {
		return
	}
	if !s.replied && !s.settled {
		s.APIError, s.Reply = r.apiError, lastText(content)
	}
	s.replied = true
	if r.apiError || model == synthetic {
		return // cases F30 and F36: nothing was asked of a model
	}
	s.real = true
	if s.Model == "" {
		s.Model = model
	}
	if s.settled {
		return
	}
	s.bytes += len(r.message)
	if n := occupancy(usage); n > 0 {
		s.Tokens, s.Known, s.settled = n, true, true
	}
}

// lastText returns the text of the last text block of a message.
func lastText(content []byte) string {
	var last []byte
	jsonscan.Array(content, func(block []byte) {
		var text []byte
		isText := false
		jsonscan.Object(block, func(key, value []byte) {
			switch string(key) {
			case "type":
				isText = jsonscan.Is(value, "text")
			case "text":
				text = value
			}
		})
		if isText {
			last = text
		}
	})
	return jsonscan.Text(last)
}

// result adds an estimate when there are real replies and none of them tells
// its usage, as behind some proxies.
func (s *tailScan) result() Tail {
	if !s.settled && s.real {
		s.Tokens, s.Known, s.Estimate = s.bytes/4, true, true
	}
	return s.Tail
}

// occupancy returns how many tokens of the context the request of a reply
// took, 0 if usage does not tell. The rows of one reply repeat these figures,
// so the newest row alone is right (case F01). A reply that took several
// requests lists them, and only the last one of the main model counts: the
// sum at the top holds each of them, and the advisor's (case F31).
func occupancy(usage []byte) int {
	var iterations []byte
	total := input(usage, func(key, value []byte) {
		if string(key) == "iterations" {
			iterations = value
		}
	})
	last := 0
	jsonscan.Array(iterations, func(value []byte) {
		message := false
		n := input(value, func(key, value []byte) {
			if string(key) == "type" {
				message = jsonscan.Is(value, "message")
			}
		})
		if message && n > 0 {
			last = n
		}
	})
	if last > 0 {
		return last
	}
	return total
}

// input adds up the tokens that went into one request. The other members are
// shown to rest.
func input(usage []byte, rest func(key, value []byte)) int {
	var fresh, read, written int
	if !jsonscan.Object(usage, func(key, value []byte) {
		switch string(key) {
		case "input_tokens":
			fresh, _ = jsonscan.Count(value)
		case "cache_read_input_tokens":
			read, _ = jsonscan.Count(value)
		case "cache_creation_input_tokens":
			written, _ = jsonscan.Count(value)
		default:
			rest(key, value)
		}
	}) {
		return 0
	}
	return fresh + read + written
}

// opensTurn reports whether a reply has to follow a user's row: not after the
// host's own notes, nor after what was over as it was written.
func opensTurn(r row) bool {
	if r.meta || r.summary || r.screenOnly {
		return false
	}
	for _, b := range blocks(jsonscan.Member(r.message, "content")) {
		if b.Type != "text" || !over(b.Text) {
			return true
		}
	}
	return false
}

// over reports whether text is the record of a local command or of an
// interruption. A slash command that the model has to answer begins with its
// message, not with its name.
func over(text string) bool {
	for _, start := range [...]string{"<command-name>", "<local-command", "<bash-", "[Request interrupted by user"} {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return false
}
