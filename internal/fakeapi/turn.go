package fakeapi

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
}

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
