package redact

import "strings"

// Dir is s with name in the place of the directory dir, wherever a path begins
// with it. A directory with backslashes is also found as JSON and Go write it.
func Dir(s, dir, name string) string {
	dir = strings.TrimRight(dir, `/\`)
	if dir == "" || !strings.Contains(s, dir[:1]) {
		return s
	}
	if escaped := strings.ReplaceAll(dir, `\`, `\\`); escaped != dir {
		s = replaceDir(s, escaped, name)
	}
	return replaceDir(s, dir, name)
}

func replaceDir(s, dir, name string) string {
	var out strings.Builder
	for from := 0; ; {
		i := strings.Index(s[from:], dir)
		if i < 0 {
			return out.String() + s[from:]
		}
		i += from
		end := i + len(dir)
		out.WriteString(s[from:i])
		if i > 0 && (nameChar(s[i-1]) || s[i-1] == '.') || continues(s[end:]) {
			out.WriteString(dir)
		} else {
			out.WriteString(name)
		}
		from = end
	}
}

// continues reports whether the name of a file goes on in s. A dot only does
// if more follows: it may end a sentence.
func continues(s string) bool {
	s = strings.TrimLeft(s, ".")
	return s != "" && nameChar(s[0])
}

func nameChar(c byte) bool { return wordChar(c) || c >= 0x80 }
