package fakeapi

import (
	"strconv"
	"time"
)

// Usage is what a reply claims to have cost, in tokens. The client writes it
// to the transcript as it is; its occupancy is the sum of the three inputs.
type Usage struct {
	Input         int `json:"input_tokens"`
	CacheRead     int `json:"cache_read_input_tokens"`
	CacheCreation int `json:"cache_creation_input_tokens"`
	Output        int `json:"output_tokens"`
}

// Occupied spreads tokens over the three kinds of input the way a long
// conversation does: nearly everything is read from the cache.
func Occupied(tokens int) Usage {
	fresh := min(tokens, 4)
	written := min(tokens-fresh, tokens/20)
	return Usage{Input: fresh, CacheCreation: written, CacheRead: tokens - fresh - written, Output: 12}
}

// ToolUse is one call of a tool, e.g. {"Write", map[string]any{"file_path": …}}.
type ToolUse struct {
	Name  string
	Input map[string]any
}

// Turn is one scripted answer. The zero value is an empty reply.
type Turn struct {
	Text  string    // what the model says; the message of an error
	Tools []ToolUse // what it calls, after the text
	Usage Usage     // the zero value reports 1,000 tokens

	// When narrows the turn to requests it accepts; nil is any request of
	// the main conversation and its agents.
	When func(Request) bool
	// Hold delays the reply until the channel is closed or the client
	// hangs up.
	Hold <-chan struct{}

	// Status turns the reply into an HTTP error of type ErrorType. The
	// client is told not to try again unless Retry is set.
	Status    int
	ErrorType string
	Retry     bool

	// Header goes along with the reply, an error's as well.
	Header map[string]string
}

// Limits is what the API tells the client of a plan's limits, in the headers of
// every reply: how much of each window is used, from 0 to 1, and when it resets.
type Limits struct {
	FiveHour, SevenDay           float64
	FiveHourReset, SevenDayReset time.Time
}

// With returns the turn with the headers of a plan. A client with a key takes no
// notice of them.
func (t Turn) With(l Limits) Turn {
	status := func(used float64) string {
		switch {
		case used >= 1:
			return "rejected"
		case used >= warnFrom:
			return "allowed_warning"
		}
		return "allowed"
	}
	claim, used, reset := "five_hour", l.FiveHour, l.FiveHourReset
	if l.SevenDay > l.FiveHour {
		claim, used, reset = "seven_day", l.SevenDay, l.SevenDayReset
	}
	const prefix = "anthropic-ratelimit-unified-"
	h := map[string]string{
		prefix + "status":               status(used),
		prefix + "representative-claim": claim,
		prefix + "reset":                unix(reset),
	}
	for name, w := range map[string]struct {
		used  float64
		reset time.Time
	}{"5h": {l.FiveHour, l.FiveHourReset}, "7d": {l.SevenDay, l.SevenDayReset}} {
		h[prefix+name+"-status"] = status(w.used)
		h[prefix+name+"-reset"] = unix(w.reset)
		h[prefix+name+"-utilization"] = strconv.FormatFloat(w.used, 'f', -1, 64)
		if w.used >= warnFrom {
			h[prefix+name+"-surpassed-threshold"] = strconv.FormatFloat(warnFrom, 'f', -1, 64)
		}
	}
	t.Header = h
	return t
}

// warnFrom is the part of a window from which a plan is warned.
const warnFrom = 0.9

func unix(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// Say is a turn that ends with text.
func Say(text string) Turn { return Turn{Text: text} }

// Use is a turn that calls one tool.
func Use(tool string, input map[string]any) Turn {
	return Turn{Tools: []ToolUse{{Name: tool, Input: input}}}
}

// RateLimited is the 429 of an account that has used up its limit.
func RateLimited(message string) Turn {
	return Turn{Status: 429, ErrorType: "rate_limit_error", Text: message}
}

// Overloaded is the 529 of a server that is too busy, which is no limit.
func Overloaded() Turn {
	return Turn{Status: 529, ErrorType: "overloaded_error", Text: "Overloaded"}
}

// Unauthorized is the 401 of a key or token that is not known.
func Unauthorized() Turn {
	return Turn{Status: 401, ErrorType: "authentication_error", Text: "invalid x-api-key"}
}

// NoCredit is the 400 of an account that has paid for nothing more.
func NoCredit() Turn {
	return Turn{Status: 400, ErrorType: "invalid_request_error", Text: "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}
}

// At returns the turn with an occupancy of tokens.
func (t Turn) At(tokens int) Turn {
	t.Usage = Occupied(tokens)
	return t
}

// For returns the turn narrowed to requests that match accepts.
func (t Turn) For(match func(Request) bool) Turn {
	t.When = match
	return t
}

// After returns the turn delayed until ready is closed.
func (t Turn) After(ready <-chan struct{}) Turn {
	t.Hold = ready
	return t
}
