package agent

import (
	"regexp"
	"strings"
	"sync"

	"github.com/ccreload/ccreload/internal/term"
)

// Status is what an agent says of one task.
type Status string

// The statuses that agents use.
const (
	Done       Status = "DONE"
	SkippedIt  Status = "SKIPPED"
	NeedsHuman Status = "NEEDS_HUMAN"
	FailedIt   Status = "FAILED"
)

// Statement is what an agent says of one task.
type Statement struct {
	ID      string
	Status  Status
	Reason  string // in parentheses behind the status
	Summary string // one line
	// Said is false for a task that the agent did not mention, which counts as
	// failed.
	Said bool
}

// statementLine is one line of an answer, without what Markdown adds.
var statementLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(DONE|SKIPPED|NEEDS_HUMAN|FAILED)(?:\s+\(([^)]+)\))?\s+([A-Za-z0-9_-]+)\s*:(.*)$`)
})

// bullet is what a line of a list or a quotation begins with.
var bullet = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-*+•>]\s+|\d+[.)]\s+|\[[ xX]\]\s+)+`) })

// Statements returns what the text of a result says of each of the tasks, in
// their order. The last word on a task counts; other ids are not looked at. Lists,
// quotations, bold and code do not matter, nor do fences.
func Statements(text string, ids []string) []Statement {
	said := map[string]Statement{}
	for line := range strings.Lines(text) {
		if s, ok := parseStatement(line); ok {
			said[s.ID] = s
		}
	}
	out := make([]Statement, len(ids))
	for i, id := range ids {
		s, ok := said[id]
		if !ok {
			s = Statement{ID: id, Status: FailedIt, Reason: "no word about it"}
		}
		out[i] = s
	}
	return out
}

// maxSummary is the most that is kept of a line about a task, in columns.
const maxSummary = 500

func parseStatement(line string) (Statement, bool) {
	line = strings.TrimSpace(line)
	line = bullet().ReplaceAllString(line, "")
	head, rest, ok := strings.Cut(line, ":")
	if !ok {
		return Statement{}, false
	}
	// A reason may have a colon, too.
	if open := strings.IndexByte(head, '('); open >= 0 && !strings.Contains(head[open:], ")") {
		more, tail, ok := strings.Cut(rest, ")")
		colon := strings.IndexByte(tail, ':')
		if !ok || colon < 0 {
			return Statement{}, false
		}
		head, rest = head+":"+more+")"+tail[:colon], tail[colon+1:]
	}
	m := statementLine().FindStringSubmatch(plain(head) + ":" + rest)
	if m == nil {
		return Statement{}, false
	}
	summary := strings.TrimLeft(term.Line(m[4]), "*_` ")
	return Statement{
		ID: m[3], Status: Status(m[1]), Reason: term.Cut(term.Line(m[2]), maxSummary),
		Summary: term.Cut(summary, maxSummary), Said: true,
	}, true
}

// plain takes out the marks of bold, code and escapes.
func plain(s string) string {
	s = strings.NewReplacer("*", "", "`", "", `\_`, "_").Replace(s)
	return strings.TrimSpace(strings.Trim(strings.TrimSpace(s), "_"))
}
