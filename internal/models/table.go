// Package models knows how large a model's context window is: from the
// manifest's table, from what the host and the user have said, and, behind a
// proxy on this machine, from the proxy itself. It keeps nothing on disk.
package models

import (
	"math"
	"slices"
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
// says it by itself. Otherwise the longest row wins that is the name of a model
// in id, whatever a provider puts around it (us.anthropic., databricks-,
// @20250805, -v1:0, :beta) and whether versions have dots or dashes.
func (t Table) Window(id string) (tokens int, ok bool) {
	if strings.HasSuffix(strings.ToLower(strings.TrimSpace(id)), million) {
		return Unknown, true
	}
	id = plain(id)
	longest := 0
	for _, row := range t {
		if len(row.Model) > longest && holds(id, plain(row.Model)) {
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

// holds reports whether name is the name of a model in id: it begins and ends
// at a border, and no further part of a version follows. So claude-opus-4 is in
// claude-opus-4-20250514 and claude-opus-4-0, and not in claude-opus-4-10.
func holds(id, name string) bool {
	if name == "" {
		return false
	}
	for from := 0; ; from++ {
		i := strings.Index(id[from:], name)
		if i < 0 {
			return false
		}
		from += i
		if (from == 0 || strings.IndexByte("-/:@ ", id[from-1]) >= 0) && ends(id[from+len(name):]) {
			return true
		}
	}
}

// ends reports whether what follows the name of a model is no part of it.
func ends(rest string) bool {
	if rest == "" || rest[0] != '-' {
		return rest == "" || strings.IndexByte("/:@", rest[0]) >= 0
	}
	next := rest[1:]
	if i := strings.IndexAny(next, "-/:@"); i >= 0 {
		next = next[:i]
	}
	return !digits(next) || next == "0" || isDate(next)
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

// plain is the bare id in the one way of writing that ids are compared in.
func plain(id string) string { return strings.ReplaceAll(strings.ToLower(Bare(id)), ".", "-") }

// families returns the families of models that a name stands for under which
// the host lets people choose one, "" for any other id.
func families(id string) string {
	switch id {
	case "opus", "sonnet", "haiku", "fable":
		return id
	case "opusplan":
		return "opus sonnet"
	case "best":
		return "opus fable"
	}
	return ""
}

// Alias reports whether id is such a name. It stands for another model every
// few months.
func Alias(id string) bool { return families(plain(id)) != "" }

// Same reports whether two ids name one model, whatever window it was chosen
// with, whoever serves it, and whether or not its date is written out. An
// alias (sonnet[1m]) is the same as every model of its family.
func Same(a, b string) bool {
	a, b = canonical(a), canonical(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, family := range strings.Fields(families(a)) {
		if slices.Contains(strings.Split(b, "-"), family) {
			return true
		}
	}
	// databricks-glm-4-6 is glm-4-6.
	return a == b || strings.HasSuffix(b, "-"+a) && !digits(a)
}

// canonical is id without a window, a provider's path and prefix, a date, a
// revision or the name of a tariff.
func canonical(id string) string {
	id = plain(id)
	id = id[strings.LastIndexByte(id, '/')+1:]
	if i := strings.LastIndex(id, "claude-"); i > 0 && strings.IndexByte("-:", id[i-1]) >= 0 {
		id = id[i:]
	}
	id, _, _ = strings.Cut(id, "@")
	// The size of a model is a part of its name (qwen:7b), a tariff is not (:free).
	if name, rest, ok := strings.Cut(id, ":"); ok && !digits(strings.TrimSuffix(rest, "b")) || digits(rest) {
		id = name
	}
	for {
		i := strings.LastIndexByte(id, '-')
		if i < 0 {
			return id
		}
		if tail := id[i+1:]; tail != "latest" && tail != "0" && !isDate(tail) && !(tail[:min(1, len(tail))] == "v" && digits(tail[1:])) {
			return id
		}
		id = id[:i]
	}
}

// isDate reports whether s is a date as it stands at the end of ids.
func isDate(s string) bool { return len(s) == len("20250805") && digits(s) }

func digits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// ParseTokens reads a number of tokens as people write it. Anything but a whole
// number of at least MinWindow is 0, since an invalid one must behave exactly
// like none.
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
