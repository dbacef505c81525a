// Package transcript reads the JSONL files in which the host keeps its
// sessions (docs/host.md, Transcripts): how full the context is, from the end
// of the file (ReadTail), and what has been done, from all of it (ReadFacts).
// It only reads, never waits for a file to grow, and holds no more than a
// bounded piece of one at a time.
package transcript

import (
	"bytes"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// row is one line of a transcript. The byte slices are JSON values that point
// into the line.
type row struct {
	kind, subtype []byte // "user", "assistant", "system"…

	sidechain  bool // a subagent's, written inline by old clients
	meta       bool // the host's own words in the user's name
	summary    bool // the host's summary of what a compaction dropped
	screenOnly bool // shown to the user, not to the model
	apiError   bool

	session, version, cwd, branch, time []byte

	uuid, parent  []byte // of this row, and of the one before it
	logicalParent []byte // of a compaction's row: the one before the compaction

	message, origin, compact, attachment, toolResult []byte
}

// parseRow reads a line. False means that it is no complete JSON object.
// Zero bytes around a row are what a crash of the machine leaves behind, and a byte
// order mark before the first one what an editor does.
func parseRow(line []byte) (row, bool) {
	var r row
	ok := jsonscan.Object(bytes.TrimPrefix(bytes.Trim(line, "\x00"), []byte("\ufeff")), func(key, value []byte) {
		switch string(key) {
		case "type":
			r.kind = value
		case "subtype":
			r.subtype = value
		case "isSidechain":
			r.sidechain = jsonscan.True(value)
		case "isMeta":
			r.meta = jsonscan.True(value)
		case "isCompactSummary":
			r.summary = jsonscan.True(value)
		case "isVisibleInTranscriptOnly":
			r.screenOnly = jsonscan.True(value)
		case "isApiErrorMessage":
			r.apiError = jsonscan.True(value)
		case "uuid":
			r.uuid = value
		case "parentUuid":
			r.parent = value
		case "logicalParentUuid":
			r.logicalParent = value
		case "sessionId":
			r.session = value
		case "version":
			r.version = value
		case "cwd":
			r.cwd = value
		case "gitBranch":
			r.branch = value
		case "timestamp":
			r.time = value
		case "message":
			r.message = value
		case "origin":
			r.origin = value
		case "compactMetadata":
			r.compact = value
		case "attachment":
			r.attachment = value
		case "toolUseResult":
			r.toolResult = value
		}
	})
	return r, ok
}

func (r row) assistant() bool { return jsonscan.Is(r.kind, "assistant") && !r.sidechain }

func (r row) user() bool { return jsonscan.Is(r.kind, "user") && !r.sidechain }

// inThread reports whether a row can be the newest one of the thread.
func (r row) inThread() bool {
	return jsonscan.Is(r.kind, "user") || jsonscan.Is(r.kind, "assistant") || jsonscan.Is(r.kind, "system") || jsonscan.Is(r.kind, "attachment")
}

func (r row) boundary() bool {
	return jsonscan.Is(r.kind, "system") && jsonscan.Is(r.subtype, "compact_boundary") && !r.sidechain
}

// afterTurn reports whether the row is one that the host writes once a turn is
// over and its Stop hooks have run.
func (r row) afterTurn() bool {
	return jsonscan.Is(r.kind, "system") && !r.sidechain &&
		(jsonscan.Is(r.subtype, "turn_duration") || jsonscan.Is(r.subtype, "stop_hook_summary"))
}

// synthetic is the model of a reply that the host made up itself.
const synthetic = "<synthetic>"
