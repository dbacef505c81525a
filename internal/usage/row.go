package usage

import (
	"bytes"
	"math"
	"time"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// row is a line of a log that says what a reply used. The byte slices are JSON
// values within the line.
type row struct {
	id, request, session, uuid, cwd []byte
	model                           []byte
	origin                          []byte // the session that a copied row was written in
	time                            int64  // ms since 1970
	sidechain, batch                bool
	tokens                          tokens
	iterations                      []byte
}

// parse reads a line. False means that it says nothing of a reply: it is of
// another kind, broken, the host's own words (<synthetic>), or an error.
func (r *row) parse(line []byte) bool {
	*r = row{time: -1}
	if !jsonscan.Is(jsonscan.Find(line, "type"), "assistant") {
		return false
	}
	failed, usage := false, false
	whole := jsonscan.Within(line, into, func(in, key, value []byte) {
		switch string(in) {
		case "":
			failed = failed || r.outer(key, value)
		case "message":
			switch string(key) {
			case "id":
				r.id = text(value)
			case "model":
				r.model = text(value)
			}
		case "forkedFrom":
			if string(key) == "sessionId" {
				r.origin = text(value)
			}
		case "usage":
			usage = true
			r.inner(key, value)
		case "cache_creation":
			r.tokens.scan(key, value)
		}
	})
	return whole && !failed && usage && r.time >= 0 && string(r.model) != "<synthetic>"
}

// into reports whether an object within a row has what is wanted of it.
func into(in, key []byte) bool {
	switch string(key) {
	case "message", "forkedFrom":
		return in == nil
	case "usage":
		return string(in) == "message"
	case "cache_creation":
		return string(in) == "usage"
	}
	return false
}

// intoIteration is into for an entry of the usage's iterations.
func intoIteration(_, key []byte) bool { return string(key) == "cache_creation" }

// outer reads a member of the row itself, and reports whether it says that this is
// an error.
func (r *row) outer(key, value []byte) (failed bool) {
	switch string(key) {
	case "requestId":
		r.request = text(value)
	case "sessionId":
		r.session = text(value)
	case "timestamp":
		r.time = milliseconds(value)
	case "uuid":
		r.uuid = text(value)
	case "cwd":
		r.cwd = value
	case "isSidechain":
		r.sidechain = jsonscan.True(value)
	case "isApiErrorMessage", "error":
		return string(value) != "false" && string(value) != "null"
	}
	return false
}

// inner reads a member of the message's usage.
func (r *row) inner(key, value []byte) {
	switch string(key) {
	case "service_tier":
		r.batch = jsonscan.Is(value, "batch")
	case "iterations":
		r.iterations = value
	default:
		r.tokens.scan(key, value)
	}
}

// scan reads a member of an object that says how many tokens were used.
func (t *tokens) scan(key, value []byte) {
	switch string(key) {
	case "input_tokens":
		t[input] = number(value)
	case "output_tokens":
		t[output] = number(value)
	case "cache_read_input_tokens":
		t[cacheRead] = number(value)
	case "cache_creation_input_tokens":
		t[cacheWrite] = number(value)
	case "ephemeral_5m_input_tokens":
		t[write5m] = number(value)
	case "ephemeral_1h_input_tokens":
		t[write1h] = number(value)
	}
}

// advised reports whether an advisor may have spoken within the reply.
func (r *row) advised() bool { return bytes.Contains(r.iterations, []byte(`"advisor_message"`)) }

// advice calls visit for each part of the reply that an advisor spoke, with its
// model and what that used: the host does not add it to what the reply used.
func (r *row) advice(visit func(model []byte, used tokens)) {
	if !r.advised() {
		return
	}
	jsonscan.Array(r.iterations, func(value []byte) {
		var kind, model []byte
		var used tokens
		jsonscan.Within(value, intoIteration, func(_, key, value []byte) {
			switch string(key) {
			case "type":
				kind = value
			case "model":
				model = text(value)
			default:
				used.scan(key, value)
			}
		})
		if jsonscan.Is(kind, "advisor_message") {
			visit(model, used)
		}
	})
}

// text returns the text of a JSON string, nil for anything else.
func text(value []byte) []byte {
	if !jsonscan.Escaped(value) {
		return value[1 : len(value)-1]
	}
	return []byte(jsonscan.Text(value))
}

// number returns a number of tokens, 0 for what is none.
func number(value []byte) uint32 {
	n, _ := jsonscan.Count(value)
	return uint32(min(n, math.MaxUint32))
}

// milliseconds returns the time that a JSON string names, in ms since 1970, -1 for
// none that a reply can have been written at.
func milliseconds(value []byte) int64 {
	const form = `"2006-01-02T15:04:05`
	if ms, ok := utc(value); ok {
		return ms
	}
	if len(value) < len(form)+2 {
		return -1
	}
	t, err := time.Parse(time.RFC3339Nano, string(text(value)))
	if err != nil || t.Unix() < 0 || t.Year() > 9999 {
		return -1
	}
	return t.UnixMilli()
}

// utc reads the one form that the host writes, "2026-12-02T02:22:22.825Z".
func utc(value []byte) (ms int64, ok bool) {
	if len(value) != len(`"2026-12-02T02:22:22.825Z"`) || value[24] != 'Z' || value[20] != '.' {
		return 0, false
	}
	n := func(from, to int) (n int) {
		for _, c := range value[from:to] {
			if c -= '0'; c > 9 {
				ok = false
			}
			n = 10*n + int(c)
		}
		return n
	}
	ok = value[5] == '-' && value[8] == '-' && value[11] == 'T' && value[14] == ':' && value[17] == ':'
	year, month, day, hour, minute, second, milli := n(1, 5), n(6, 8), n(9, 11), n(12, 14), n(15, 17), n(18, 20), n(21, 24)
	if !ok || year < 1970 || month < 1 || month > 12 || day < 1 || day > 28 && day > daysIn(month, year) || hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	return time.Date(year, time.Month(month), day, hour, minute, second, 0, time.UTC).UnixMilli() + int64(milli), true
}

func daysIn(month, year int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// trim takes from a line what a crash of the machine and an editor leave around
// a row.
func trim(line []byte) []byte {
	return bytes.TrimPrefix(bytes.Trim(line, "\x00\r \t"), []byte("\ufeff"))
}
