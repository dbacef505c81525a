// Package shell reads the command lines that a session ran: which programs they
// start, which files they name and how they are told in a few words. It knows
// no more of the shell's language than that takes, and never runs anything.
package shell

import (
	"path"
	"slices"
	"strings"
)

// Command is one program that a line starts, with its arguments.
type Command []string

// Commands returns the programs that a line starts, in their order: those
// between ;, &, |, && and ||, on lines of their own and in ( ). Assignments,
// redirections, here-documents, programs that only start another one (sudo, time,
// env …) and the words of the shell's own language are left out.
func Commands(line string) []Command {
	var all []Command
	for _, part := range split(line) {
		if c := strip(part.words); len(c) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// Key returns the program of c without its directory, and its subcommand, as in
// "go test"; the program alone where there is none.
func (c Command) Key() string {
	if len(c) == 0 {
		return ""
	}
	program := base(c[0])
	rest := c[1:]
	switch {
	case isInterpreter(program):
		// What is run is the script or the module, not its interpreter.
		for i, word := range rest {
			if word == "-m" && i+1 < len(rest) {
				return program + " -m " + rest[i+1]
			}
			if !strings.HasPrefix(word, "-") {
				return program + " " + base(word)
			}
			if len(word) > 1 && strings.ContainsAny(word[1:2], "ce") {
				break // the program itself stands in the line
			}
		}
		return program
	case slices.Contains(runners, program):
		for i, word := range rest {
			if !strings.HasPrefix(word, "-") && isWord(word) {
				if next := Command(rest[i+1:]); word == "run" || word == "exec" {
					for _, script := range next {
						if !strings.HasPrefix(script, "-") {
							return program + " " + word + " " + base(script)
						}
					}
				}
				return program + " " + word
			}
		}
		return program
	}
	skip := false
	if slices.Contains(plain, program) {
		return program
	}
	for _, word := range rest {
		switch {
		case skip:
			skip = false
		case strings.HasPrefix(word, "-"):
			// git -C DIR status, docker --context X ps, make -C DIR test
			skip = slices.Contains(valued, word)
		case isWord(word):
			return program + " " + word
		default:
			return program
		}
	}
	return program
}

// LooksAround reports whether c only shows how things are: nobody has to be told
// that it was run.
func (c Command) LooksAround() bool {
	if len(c) == 0 {
		return true
	}
	program := base(c[0])
	if slices.Contains(lookers, program) {
		return !(program == "sed" || program == "perl") || !slices.ContainsFunc(c, func(w string) bool { return strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") })
	}
	if program == "git" {
		_, sub, _ := strings.Cut(c.Key(), " ")
		return sub == "" || slices.Contains(gitLookers, sub)
	}
	return false
}

// Files returns the words of a line that name files: those that output goes to,
// and arguments with an extension that are no address, flag, pattern or piece of
// code.
func Files(line string) []string {
	var files []string
	add := func(word string) {
		if IsFile(word) && !slices.Contains(files, word) {
			files = append(files, word)
		}
	}
	for _, p := range split(line) {
		c := strip(p.words)
		pattern := len(c) > 0 && slices.Contains(patterned, base(c[0]))
		for i := 1; i < len(c); i++ {
			switch word := c[i]; {
			case word == "-c" || word == "-e":
				i++ // a program in a language of its own
				pattern = false
			case strings.HasPrefix(word, "-"):
			case pattern:
				pattern = false
			default:
				add(word)
			}
		}
		for _, word := range p.files {
			add(word)
		}
	}
	return files
}

// Brief returns a line in few words: only what does something, without pipes that
// cut the output, redirections of errors and here-documents; "" when the line
// does nothing but look around.
func Brief(line string) string {
	var out strings.Builder
	for _, p := range split(line) {
		c := strip(p.words)
		if c.LooksAround() {
			continue
		}
		if out.Len() > 0 {
			switch p.joint {
			case "&&", "||", "|", "&":
				out.WriteString(" " + p.joint + " ")
			default:
				out.WriteString("; ")
			}
		}
		out.WriteString(strings.Join(strings.Fields(p.text), " "))
	}
	return out.String()
}

// part is a piece of a line between two operators.
type part struct {
	joint string // the operator before it
	words []string
	text  string   // as written, without redirections of errors and here-documents
	files []string // that its output goes to
}

// split cuts a line at its operators, outside of quotes. What it cannot make out
// it takes for words.
func split(line string) []part {
	var parts []part
	var words []string
	var word, text strings.Builder
	inWord := false
	joint := ""
	var heredocs, files []string
	endWord := func() {
		if inWord {
			words = append(words, word.String())
			word.Reset()
			inWord = false
		}
	}
	endPart := func(next string) {
		endWord()
		if len(words) > 0 {
			parts = append(parts, part{joint, words, strings.TrimSpace(text.String()), files})
			joint = next
		} else if joint == "" || next == "\n" {
			// an empty line between two commands joins nothing
		} else {
			joint = next
		}
		words, files = nil, nil
		text.Reset()
	}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			i++
			switch {
			case line[i] == '\n':
			case isLetter(line[i]): // of a path on Windows
				word.WriteByte('\\')
				fallthrough
			default:
				word.WriteByte(line[i])
				text.WriteString(line[i-1 : i+1])
				inWord = true
			}
		case c == '\'' || c == '"':
			end := quoted(line, i)
			inner := line[i+1 : max(i+1, end)]
			word.WriteString(inner)
			text.WriteString(string(c) + firstLine(inner))
			if end < len(line) {
				text.WriteByte(c)
			}
			inWord = true
			i = end
		case c == '#' && !inWord:
			for i+1 < len(line) && line[i+1] != '\n' {
				i++
			}
		case c == '<' && strings.HasPrefix(line[i:], "<<") && !strings.HasPrefix(line[i:], "<<<"):
			endWord()
			tag := strings.TrimLeft(line[i+2:], "- \t")
			n := strings.IndexAny(tag, " \t\n;&|<>)")
			if n < 0 {
				n = len(tag)
			}
			i += len(line[i:]) - len(tag) + n - 1
			heredocs = append(heredocs, strings.Trim(tag[:n], `'"\`))
		case c == '>' || c == '<':
			errors := c == '>' && word.String() == "2"
			if inWord && strings.Trim(word.String(), "0123456789") == "" {
				s := text.String()
				text.Reset()
				text.WriteString(strings.TrimSuffix(s, word.String()))
				word.Reset()
				inWord = false
			}
			endWord()
			from := i
			for i+1 < len(line) && strings.IndexByte(">&|<", line[i+1]) >= 0 {
				i++
			}
			for i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				i++
			}
			for i+1 < len(line) && strings.IndexByte(" \t\n;&|<>)", line[i+1]) < 0 {
				i++
			}
			target := strings.TrimLeft(line[from:i+1], "<>&| \t")
			if !errors && target != "/dev/null" && !isDigits(target) {
				text.WriteString(line[from : i+1])
				if c == '>' {
					files = append(files, strings.Trim(target, `'"`))
				}
			}
		case c == '\n':
			endPart("\n")
			for _, tag := range heredocs {
				i = after(line, i, tag)
			}
			heredocs = nil
		case c == ';':
			endPart(";")
		case c == '&' || c == '|':
			op := string(c)
			if i+1 < len(line) && (line[i+1] == c || c == '|' && line[i+1] == '&') {
				i++
				if line[i] == c {
					op += op
				}
			}
			endPart(op)
		case c == ')' || (c == '(' || c == '{' || c == '}') && !inWord:
			endPart(joint)
		case c == ' ' || c == '\t' || c == '\r':
			endWord()
			text.WriteByte(' ')
		default:
			word.WriteByte(c)
			text.WriteByte(c)
			inWord = true
		}
	}
	endPart("")
	return parts
}

// firstLine returns the first line of a quoted text that has several, without the
// beginning of a here-document before it.
func firstLine(s string) string {
	head, rest, more := strings.Cut(s, "\n")
	if !more {
		return s
	}
	if strings.Contains(head, "$(cat <<") || strings.TrimSpace(head) == "" {
		head, _, _ = strings.Cut(strings.TrimLeft(rest, " \t\r\n"), "\n")
	}
	return strings.TrimSpace(head) + "…"
}

// quoted returns the index of the quote that ends the one at i, or of the end.
func quoted(line string, i int) int {
	for j := i + 1; j < len(line); j++ {
		switch {
		case line[j] == '\\' && line[i] == '"':
			j++
		case line[j] == line[i]:
			return j
		}
	}
	return len(line)
}

// after returns the index of the newline before what follows a here-document
// whose first line begins behind i.
func after(line string, i int, tag string) int {
	for i < len(line) {
		rest := line[i+1:]
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			return len(line)
		}
		i += 1 + end
		if strings.TrimLeft(rest[:end], "\t") == tag {
			return i
		}
	}
	return len(line)
}

// strip returns words from the program on.
func strip(words []string) Command {
	for len(words) > 0 {
		word := words[0]
		switch {
		case isAssignment(word), slices.Contains(reserved, word):
			words = words[1:]
		case slices.Contains(starters, base(word)):
			words = words[1:]
			for len(words) > 0 && (strings.HasPrefix(words[0], "-") || isAssignment(words[0]) || isDuration(words[0])) {
				words = words[1:]
			}
		default:
			return words
		}
	}
	return nil
}

func base(word string) string { return path.Base(strings.ReplaceAll(word, `\`, "/")) }

func isAssignment(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isDuration(word string) bool {
	return isDigits(strings.TrimRight(word, "smhd")) && len(strings.TrimRight(word, "smhd")) >= len(word)-1
}

// isWord reports whether an argument may be a subcommand: one word in small
// letters, and no path.
func isWord(word string) bool {
	if word == "" || word[0] < 'a' || word[0] > 'z' {
		return false
	}
	return strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789:_-") == ""
}

func isInterpreter(program string) bool {
	return slices.Contains([]string{"node", "ruby", "bash", "sh", "zsh", "perl", "php", "deno", "pwsh"}, program) ||
		strings.HasPrefix(program, "python") && strings.Trim(program, "python0123456789.") == ""
}

// IsFile reports whether a word looks like the path of a file.
func IsFile(word string) bool {
	if len(word) > 200 || strings.Contains(word, "://") || strings.ContainsAny(word, " \t\n*?$`'\"(){}[]<>|&;=,@^!\\") {
		return false
	}
	name := path.Base(word)
	dot := strings.LastIndexByte(name, '.')
	ext := name[dot+1:]
	if dot < 1 || len(ext) == 0 || len(ext) > 8 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
		return false
	}
	return !isDigits(strings.ReplaceAll(name, ".", "")) && !isDigits(ext) && strings.ContainsAny(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
}

var (
	// starters start another program.
	starters = []string{"sudo", "time", "env", "nohup", "nice", "timeout", "command", "exec", "xargs", "stdbuf", "ionice", "doas", "builtin"}
	reserved = []string{"if", "then", "else", "elif", "fi", "do", "done", "while", "until", "!", "{", "}"}
	// runners take what they run as an argument.
	runners = []string{"npm", "pnpm", "yarn", "bun", "uv", "poetry", "pipenv", "bundle", "npx", "bunx", "uvx", "docker", "cargo"}
	// valued are flags before a subcommand that take a value.
	valued = []string{"-C", "-c", "-f", "--context", "-B", "-n", "--namespace", "--git-dir", "--work-tree", "-p", "--project", "--prefix", "--filter", "-R"}
	// plain programs have no subcommands, whatever their first argument is.
	plain   = []string{"rm", "mv", "cp", "mkdir", "rmdir", "touch", "chmod", "chown", "ln", "tar", "zip", "unzip", "curl", "wget", "ssh", "scp", "rsync", "gofmt", "tsc", "eslint", "prettier", "pytest", "ruff", "mypy", "black", "psql", "sqlite3"}
	lookers = []string{
		"ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "find", "fd", "pwd", "echo", "printf", "wc", "which", "type", "tree", "stat", "file",
		"du", "df", "less", "more", "bat", "sed", "awk", "sort", "uniq", "cut", "tr", "nl", "date", "whoami", "id", "uname", "env", "printenv", "ps", "cd", "true",
		"false", "sleep", "test", "[", "[[", "export", "set", "source", ".", "basename", "dirname", "realpath", "readlink", "column", "jq", "diff", "cmp", "xxd", "od",
		"hexdump", "strings", "for", "case", "esac", "read", "exit", "return", "wait", "kill", "lsof", "tee", "Get-ChildItem", "Get-Content", "Select-String", "cls", "clear",
	}
	gitLookers = []string{"status", "log", "diff", "show", "branch", "blame", "remote", "rev-parse", "ls-files", "reflog", "describe", "shortlog", "config", "grep"}
	// patterned take a pattern or a program before the files.
	patterned = []string{"grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "jq", "find", "fd", "echo", "printf"}
)
