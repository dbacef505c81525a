package state

import (
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/term"
)

// maxPairs is the most that is read of a file of pairs, in bytes.
const maxPairs = 1 << 20

// Pairs is a file of "key: value" lines. Lines of any other kind, comments
// and blank ones included, are kept as they are.
type Pairs struct{ lines []string }

// ParsePairs reads data. A byte order mark and CRLF line ends are accepted.
func ParsePairs(data []byte) Pairs {
	s := strings.TrimSuffix(strings.ReplaceAll(string(Text(data)), "\r\n", "\n"), "\n")
	if s == "" {
		return Pairs{}
	}
	return Pairs{strings.Split(s, "\n")}
}

// ReadPairs reads the pairs of a file; one that is missing or cannot be read
// has none.
func ReadPairs(r Reader, name string) Pairs {
	data, err := r.Read(name, maxPairs)
	if err != nil {
		return Pairs{}
	}
	return ParsePairs(data)
}

// Get returns the value of key, "" when it is not there. The last line wins,
// as it does for a person who appends one.
func (p Pairs) Get(key string) string {
	for i := len(p.lines) - 1; i >= 0; i-- {
		if k, v, ok := cutPair(p.lines[i]); ok && k == key {
			return v
		}
	}
	return ""
}

// Keys returns the keys, in the order of their lines.
func (p Pairs) Keys() []string {
	var keys []string
	for _, line := range p.lines {
		if k, _, ok := cutPair(line); ok && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Set gives key the value, made one line, and returns the result; an empty
// value removes the line. Other lines keep their place.
func (p Pairs) Set(key, value string) Pairs {
	value = term.OneLine(value)
	out := make([]string, 0, len(p.lines)+1)
	done := value == ""
	for _, line := range p.lines {
		if k, _, ok := cutPair(line); ok && k == key {
			if done {
				continue
			}
			line, done = key+": "+value, true
		}
		out = append(out, line)
	}
	if !done {
		out = append(out, key+": "+value)
	}
	return Pairs{out}
}

// Bytes returns the file's content, with one newline at its end.
func (p Pairs) Bytes() []byte {
	if len(p.lines) == 0 {
		return nil
	}
	return []byte(strings.Join(p.lines, "\n") + "\n")
}

func cutPair(line string) (key, value string, ok bool) {
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return "", "", false
	}
	key, value, ok = strings.Cut(line, ":")
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}
