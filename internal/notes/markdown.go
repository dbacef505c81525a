package notes

import "strings"

// block follows the lines of a Markdown document as far as headings are
// concerned: what stands in a code block is none (CommonMark 0.31, sections 4.5
// and 4.4).
type block struct {
	fence  string // that opened the code block the line is in, "" outside of one
	within int    // column of the list item that the code block belongs to
	lines  int    // of the paragraph so far
}

// next reads a line. For a heading it returns its level and, unless it is the
// underline of the line before, its title.
func (b *block) next(line string) (level int, title string, underline bool) {
	line = strings.TrimRight(line, "\r\n")
	rest := strings.TrimLeft(line, " ")
	indent := len(line) - len(rest)
	blank := strings.TrimSpace(rest) == ""
	if b.fence != "" {
		if blank || indent >= b.within {
			if indent-b.within < 4 && closes(rest, b.fence) {
				*b = block{}
			}
			return 0, "", false
		}
		*b = block{} // the list item is over, and its code block with it
	}
	if blank {
		b.lines = 0
		return 0, "", false
	}
	if indent >= 4 || rest[0] == '\t' {
		return 0, "", false // code, or the paragraph goes on
	}
	if mark := strings.TrimRight(rest, " \t"); b.lines == 1 && (strings.Trim(mark, "=") == "" || strings.Trim(mark, "-") == "") {
		b.lines = 0
		if mark[0] == '=' {
			return 1, "", true
		}
		return 2, "", true
	}
	content, within := afterMarker(rest, indent)
	if fence := opens(content); fence != "" {
		*b = block{fence: fence, within: within}
		return 0, "", false
	}
	if level, title := atxHeading(rest); level > 0 {
		b.lines = 0
		return level, title, false
	}
	b.lines++
	if within > 0 || rest[0] == '>' || rest[0] == '<' {
		b.lines = 2 // no paragraph of the document itself
	}
	return 0, "", false
}

// atxHeading reads "## Title ##".
func atxHeading(line string) (level int, title string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || level > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return 0, ""
	}
	title = strings.TrimSpace(rest)
	if open := strings.TrimRight(title, "#"); open == "" || strings.TrimRight(open, " \t") != open {
		title = strings.TrimSpace(open)
	}
	return level, title
}

// opens returns the fence with which line opens a code block, "" if it does not.
// What stands behind backticks must hold none, or it is code within a line.
func opens(line string) string {
	if line == "" || line[0] != '`' && line[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(line, line[:1])
	fence := line[:len(line)-len(info)]
	if len(fence) < 3 || fence[0] == '`' && strings.Contains(info, "`") {
		return ""
	}
	return fence
}

// closes reports whether line ends the code block that fence opened: nothing but
// the same character, at least as often.
func closes(line, fence string) bool {
	line = strings.TrimRight(line, " \t")
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// afterMarker returns what follows the markers of list items at the beginning
// of a line, and its column; 0 without a marker.
func afterMarker(line string, column int) (content string, within int) {
	for {
		digits := len(line) - len(strings.TrimLeft(line, "0123456789"))
		i := digits
		switch {
		case i >= len(line):
			return line, within
		case digits == 0 && strings.ContainsRune("-*+", rune(line[0])):
		case 0 < digits && digits < 10 && strings.ContainsRune(".)", rune(line[i])):
		default:
			return line, within
		}
		rest := strings.TrimLeft(line[i+1:], " ")
		spaces := len(line) - i - 1 - len(rest)
		if spaces == 0 || spaces > 4 || rest == "" {
			return line, within
		}
		column += i + 1 + spaces
		line, within = rest, column
	}
}

// openFence returns the fence of the code block that text ends in, "" for none.
func openFence(text string) string {
	var b block
	for line := range strings.Lines(text) {
		b.next(line)
	}
	return b.fence
}
