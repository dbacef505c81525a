package gen

import (
	"path"
	"regexp"
	"strings"
)

// reservedName matches what Windows takes for a device, whatever its extension.
var reservedName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$) *(\.|$)`)

// unportable says why a file or directory of that name cannot be on Windows; nothing
// where it can.
func unportable(name string) string {
	const windows = "Windows cannot have this name, so nobody there can check it out or install it: "
	at := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"|?*\`, r) })
	switch {
	case at >= 0:
		return windows + "it has " + quotedRune(name[at:])
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return windows + "it ends in a dot or a space"
	case reservedName.MatchString(name):
		return windows + "it is that of a device"
	}
	return ""
}

func quotedRune(s string) string {
	if s[0] < ' ' {
		return "a control character"
	}
	return s[:1]
}

// portable warns of paths that not every system can have: each name once.
func (t tree) portable() (ps Problems) {
	spelled := map[string]string{} // lower case → as it was first
	for _, p := range t.paths() {
		for at := p; at != "."; at = path.Dir(at) {
			folded := strings.ToLower(at)
			first, ok := spelled[folded]
			if ok && first == at {
				break
			}
			if ok {
				ps = append(ps, finding{File: at, Message: "it differs from " + first + " in capitals only, and Windows and macOS keep one of the two"})
				break
			}
			spelled[folded] = at
			if why := unportable(path.Base(at)); why != "" {
				ps = append(ps, finding{File: at, Message: why})
			}
		}
	}
	return ps
}

// lookaround and reference match what JavaScript has in a regular expression and Go
// has not.
var (
	lookaround = regexp.MustCompile(`\(\?(=|!|<=|<!)`)
	reference  = regexp.MustCompile(`\\(k<[^>]*>|[1-9][0-9]*|c[A-Za-z]|u[0-9A-Fa-f]{4}|.)`)
)

// badMatcher says why the host cannot take a matcher for a regular expression;
// nothing where it can, or where Go cannot tell.
func badMatcher(matcher string) string {
	if matcher == "*" {
		return ""
	}
	_, err := regexp.Compile(lookaround.ReplaceAllString(reference.ReplaceAllStringFunc(matcher, func(s string) string {
		if len(s) == 2 && strings.Contains(`()[]{}.*+?|^$/-\dDwWsSbB`, s[1:]) {
			return s
		}
		return "x"
	}), "(?:"))
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "missing closing )"):
		return "a ) is missing"
	case strings.Contains(err.Error(), "unexpected )"):
		return "a ( is missing"
	case strings.Contains(err.Error(), "missing closing ]"):
		return "a ] is missing"
	case strings.Contains(err.Error(), "missing argument to repetition operator"), strings.Contains(err.Error(), "invalid nested repetition operator"):
		return "nothing stands before a *, + or ? that it could repeat"
	case strings.Contains(err.Error(), "invalid character class range"):
		return "a range in [ ] runs backwards"
	}
	return ""
}
