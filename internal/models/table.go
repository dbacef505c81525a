// Package models knows how large a model's context window is: from the
// manifest's table, from what the host and the user have said, and, behind a
// proxy on this machine, from the proxy itself. It keeps nothing on disk.
package models

import (
	"math"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

const (
	// Unknown is the window, in tokens, of a model nobody has told us of. It
	// is large because a late nudge is better than a constant one.
	Unknown = 1_000_000
	// Assumed is the window most models have, and so the size that a newer
	// model or a beta is most often wrongly taken for.
	Assumed = 200_000
	// MinWindow is the smallest number of tokens that is taken for a window.
	MinWindow = 1000
)

// million is the suffix with which the host marks a model that was chosen
// with the large window. The API, and so the transcript, never shows it
// (docs/host.md, Transcripts).
const million = "[1m]"

// Table is the manifest's list of models and their windows.
type Table []host.Window

// Window returns the window of the model called id in tokens. The suffix [1m]
// says it by itself. Otherwise the longest row wins whose name stands in id
// between borders, so that claude-opus-4-1 is not claude-opus-4-10; what a
// provider puts before it (us.anthropic.) or behind it (@20250805, -v1:0)
// does not matter.
func (t Table) Window(id string) (tokens int, ok bool) {
	id = strings.ToLower(strings.TrimSpace(id))
	if strings.HasSuffix(id, million) {
		return Unknown, true
	}
	id = Bare(id)
	longest := 0
	for _, row := range t {
		if len(row.Model) > longest && holds(id, strings.ToLower(row.Model)) {
			longest, tokens, ok = len(row.Model), row.Tokens, true
		}
	}
	return tokens, ok
}

// Chosen returns the window in tokens that the id of a model itself asks for, 0
// for an id that asks for none.
func Chosen(id string) int {
	n, _ := Table(nil).Window(id)
	return n
}

// holds reports whether name stands in id with a border on both sides.
func holds(id, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(id[from:], name)
		if i < 0 {
			return false
		}
		start := from + i
		end := start + len(name)
		if (start == 0 || strings.IndexByte("./:", id[start-1]) >= 0) &&
			(end == len(id) || strings.IndexByte("-@:/", id[end]) >= 0) {
			return true
		}
		from = start + 1
	}
}

// Bare returns id without what stands in brackets at its end, the way the API
// names it.
func Bare(id string) string {
	for {
		id = strings.TrimSpace(id)
		i := strings.LastIndexByte(id, '[')
		if i < 0 || !strings.HasSuffix(id, "]") {
			return id
		}
		id = id[:i]
	}
}

// Same reports whether two ids name one model, whatever window it was chosen
// with, whoever serves it, and whether or not its date is written out.
func Same(a, b string) bool { return canonical(a) == canonical(b) }

// canonical is id without a window suffix, a provider's path and prefix, a
// date or a revision.
func canonical(id string) string {
	id = strings.ToLower(Bare(id))
	id = id[strings.LastIndexByte(id, '/')+1:]
	if i := strings.LastIndex(id, ".claude-"); i >= 0 {
		id = id[i+1:]
	}
	id, _, _ = strings.Cut(id, "@")
	if name, rest, ok := strings.Cut(id, ":"); ok && digits(rest) {
		id = name
		if i := strings.LastIndex(id, "-v"); i >= 0 && digits(id[i+2:]) {
			id = id[:i]
		}
	}
	if i := strings.LastIndexByte(id, '-'); i >= 0 {
		if tail := id[i+1:]; tail == "latest" || len(tail) == len("20250805") && digits(tail) {
			id = id[:i]
		}
	}
	return id
}

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// ParseTokens reads a number of tokens as people write it in an environment
// variable. Anything but a whole number of at least MinWindow is 0, since an
// invalid override must behave exactly like none.
func ParseTokens(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < MinWindow {
		return 0
	}
	return n
}

// Percent returns how full the window is, from 0 to 100, rounded as the host
// rounds it for its status line: to the nearest whole number.
func Percent(tokens, window int) int {
	switch {
	case tokens <= 0 || window <= 0:
		return 0
	case tokens >= window:
		return 100
	}
	return int(math.Round(100 * float64(tokens) / float64(window)))
}
