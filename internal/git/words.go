package git

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// quoted returns a line of words, which may hold anything.
func quoted(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return strings.Join(out, " ") + "\n"
}

// unquoted reads what quoted wrote, line by line. It fails at the first line that
// is another.
func unquoted(text string, fn func(words []string) error) error {
	for line := range strings.Lines(text) {
		var words []string
		rest := strings.TrimSuffix(line, "\n")
		for rest != "" {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return fmt.Errorf("line %q is damaged", line)
			}
			w, err := strconv.Unquote(q)
			if err != nil {
				return fmt.Errorf("line %q is damaged", line)
			}
			words = append(words, w)
			rest = strings.TrimPrefix(rest[len(q):], " ")
		}
		if len(words) == 0 || !strings.HasSuffix(line, "\n") {
			return errors.New("a line is cut off")
		}
		if err := fn(words); err != nil {
			return err
		}
	}
	return nil
}

// some names the first of a list, and says how many more there are.
func some(list []string) string {
	const most = 5
	more := ""
	if len(list) > most {
		list, more = list[:most], fmt.Sprintf(" and %d more", len(list)-most)
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strconv.Quote(s)
	}
	return strings.Join(out, ", ") + more
}
