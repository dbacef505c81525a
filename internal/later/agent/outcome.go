package agent

import (
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/term"
)

// Kind is how a run ended.
type Kind string

// The kinds of outcomes.
const (
	Completed Kind = "completed" // the agent said all it had to say
	// Limited is a limit of the plan itself: nothing goes on before the reset.
	Limited Kind = "limit"
	// Throttled is anything that passes by itself: too many requests of a key, an
	// overloaded or broken server, no network.
	Throttled Kind = "throttled"
	// Unauthorized is what only a person can change: nobody is logged in, a key is
	// not valid, there is no credit.
	Unauthorized Kind = "authentication"
	Partial      Kind = "partial"     // the limit on turns or on cost ended it
	Interrupted  Kind = "interrupted" // by a signal, in order
	Killed       Kind = "killed"      // it said nothing at all
	// Refused is a client that did not begin: a flag it does not know, a session
	// that is in use or not there.
	Refused  Kind = "refused"
	NoResult Kind = "no result" // it began and did not come to its end
	Failed   Kind = "failed"    // another error of the API, such as a model that is not there
)

// Outcome is what came of a run.
type Outcome struct {
	Kind   Kind
	Reason string // what the client says of it, one line; "" where it says nothing

	Reset time.Time // of Limited: when it can go on, zero where nobody said
	// Guessed says that Reset was read from a sentence meant for people.
	Guessed bool
	Windows []Window // of the plan, as last told; also in runs that completed

	Session        string
	Client         string // version
	Model          string
	PermissionMode string
	KeySource      string // "none" for a plan

	Turns int
	Run   Spend // of this run
	Total Spend // of the session; with clients before 2.1.332 the same

	Text     string   // of the results, which statements are read from
	LastText string   // the last thing the agent said
	Denials  []Denial // what it was not allowed to do
	Files    []string // what it wrote with its tools for files, as it named them

	Rows    int // of the output that could be read
	Skipped int // rows that could not: other text, half a row, more than 8 MB
}

// Window is one of the plan's limits.
type Window struct {
	Name   string    // five_hour, seven_day and others
	Used   float64   // percent, -1 where the client does not say
	Reset  time.Time // zero where it does not say
	Status string    // allowed, allowed_warning, rejected
}

// Denial is something an agent was not allowed to do.
type Denial struct {
	Tool string
	What string // the file or the command, one line
}

// Spend is tokens and what they would cost at the API.
type Spend struct {
	CostUSD float64
	Models  map[string]Tokens // by model id
}

// Tokens are the tokens of one model.
type Tokens struct {
	Input, Output, CacheRead, CacheWrite int
	CostUSD                              float64
}

// maxReason is the most that is kept of a sentence of the client, in columns.
const maxReason = 300

// judge decides the kind from what was read. is_error comes first: the client
// calls an error of the API a success in subtype (docs/host.md, Headless runs).
func (r *reading) judge(stderr string) {
	o := &r.Outcome
	last := r.last
	o.Reason = term.Cut(term.Line(firstOf(last.text, last.errors, r.errorText)), maxReason)
	switch {
	case !r.hasResult && o.Rows == 0 && stderr != "":
		o.Kind, o.Reason = Refused, term.Cut(term.Line(stderr), maxReason)
	case !r.hasResult && o.Rows == 0:
		o.Kind = Killed
	case !r.hasResult:
		o.Kind, o.Reason = NoResult, ""
	case !last.isError && !strings.HasPrefix(last.subtype, "error"):
		o.Kind, o.Reason = Completed, ""
	case last.subtype == "error_max_turns", last.reason == "max_turns", last.subtype == "error_max_budget_usd", last.reason == "budget_exhausted":
		o.Kind = Partial
	case last.subtype == "error_during_execution" && !r.began && last.turns == 0:
		o.Kind = Refused
	case last.subtype == "error_during_execution", strings.HasPrefix(last.reason, "aborted"):
		o.Kind, o.Reason = Interrupted, "" // what the client says is for its makers
	default:
		o.Kind = r.apiError()
	}
	if o.Kind == Limited {
		r.setReset()
	}
}

// apiError tells the errors of the API apart, by what programs are meant to read
// and, for clients that say it to people only, by the sentence.
func (r *reading) apiError() Kind {
	last := r.last
	text := firstOf(last.text, r.errorText)
	switch {
	case last.apiError == "usage_limit_reached" || r.apiErrorRow == "usage_limit_reached":
		return Limited
	case last.apiError == "" && last.status == 429 && (r.rejected || limitSentence(text)):
		return Limited // 2.1.197 has no api_error
	case r.errorRow == "authentication_failed", r.errorRow == "billing_error", r.errorRow == "oauth_org_not_allowed",
		last.status == 401, last.status == 403,
		begins(text, "Not logged in", "Invalid API key", "Credit balance is too low", "OAuth token"):
		return Unauthorized
	case last.status == 429, last.status == 408, last.status >= 500, r.errorRow == "server_error",
		last.apiError == "connection_failed":
		return Throttled
	}
	return Failed
}

// limitSentence reports whether text is the client's line about a limit of a plan.
func limitSentence(text string) bool { return host.IsAPIError(text) && !begins(text, "API Error") }

// setReset finds when a limit ends: the window that refused, the error itself, the
// sentence.
func (r *reading) setReset() {
	for _, w := range r.Windows {
		if w.Status == "rejected" && w.Reset.After(r.Reset) {
			r.Reset = w.Reset
		}
	}
	if r.Reset.IsZero() {
		r.Reset = r.errorReset
	}
	if r.Reset.IsZero() {
		r.Reset = resetIn(firstOf(r.last.text, r.errorText), r.at)
		r.Guessed = !r.Reset.IsZero()
	}
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func begins(text string, words ...string) bool {
	for _, w := range words {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}
