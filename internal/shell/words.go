package shell

import "strings"

// Words returns the words of a line that is one plain command, as a shell passes
// them to its program. It reports false where a shell would do more than that:
// other commands, redirections, variables, patterns, assignments, comments.
func Words(line string) (words []string, ok bool) {
	line = strings.Trim(line, " \t\n")
	word, open := "", false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == ' ' || c == '\t':
			if open {
				words = append(words, word)
			}
			word, open = "", false
		case c == '\'' || c == '"':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				return nil, false
			}
			text := line[i+1 : i+1+end]
			if c == '"' && strings.ContainsAny(text, "$`\\!") {
				return nil, false
			}
			word, open = word+text, true
			i += 1 + end
		case c == '\\' && i+1 < len(line) && strings.IndexByte("'\"\\ $", line[i+1]) >= 0:
			i++
			word, open = word+string(line[i]), true
		case c >= 0x80, 'a' <= c|0x20 && c|0x20 <= 'z', '0' <= c && c <= '9',
			strings.IndexByte("-_./:@%+,", c) >= 0, c == '=' && len(words) > 0:
			word, open = word+line[i:i+1], true
		default:
			return nil, false
		}
	}
	if open {
		words = append(words, word)
	}
	return words, len(words) > 0
}
