package redact

import "strings"

// tool is what is known of a program's short options.
type tool struct {
	flags  string // those that take a secret
	apart  bool   // the secret may be an argument of its own
	joined bool   // the secret may follow the letter without a blank
	part   byte   // what separates it from a user name before it; 0 for no such name
	number bool   // digits alone can be a secret here, and no port
}

// toolOf returns what is known of a program by its name.
func toolOf(name string) (tool, bool) {
	switch name {
	case "curl":
		return tool{"uU", true, true, ':', true}, true
	case "http", "https", "xh", "xhs":
		return tool{"a", true, false, ':', true}, true
	case "mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlcheck", "mysqlshow", "mysqlsh", "mysqlpump", "mycli",
		"mariadb", "mariadb-dump", "mariadb-admin", "7z", "7za", "7zr", "rar", "unrar":
		return tool{"p", false, true, 0, true}, true
	case "sshpass", "mongo", "mongosh", "mongodump", "mongorestore", "mongoexport", "mongoimport", "cqlsh", "twine", "poetry":
		return tool{"p", true, true, 0, true}, true
	case "login": // of docker, podman, helm, az, oc and others
		return tool{"p", true, true, 0, false}, true
	case "redis-cli", "valkey-cli", "keydb-cli":
		return tool{"a", true, false, 0, true}, true
	case "ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd", "ldapcompare":
		return tool{"w", true, true, 0, true}, true
	case "smbclient", "rpcclient":
		return tool{"U", true, true, '%', true}, true
	case "zip", "unzip", "sqlcmd", "bcp", "mosquitto_pub", "mosquitto_sub", "ipmitool":
		return tool{"P", true, true, 0, true}, true
	case "lftp":
		return tool{"u", true, true, ',', true}, true
	case "openssl":
		return tool{"kK", true, false, 0, true}, true
	}
	return tool{}, false
}

// command is the command line that a text is in the middle of.
type command struct {
	tool
	on    bool
	quote byte // the quote that is open
}

// step takes notice of the byte at offset i: is the command line over?
func (c *command) step(s string, i int) {
	if !c.on {
		return
	}
	switch b := s[i]; {
	case b == '"' || b == '\'':
		switch before := s[i-1]; {
		case c.quote == b:
			c.quote = 0
		case c.quote == 0 && (blank(before) || strings.IndexByte("=([\\", before) >= 0):
			c.quote = b
		case c.quote == 0 && !alnum(s[min(i+1, len(s)-1)]):
			c.on = false // the string ends in which the command line stands
		}
	case c.quote != 0:
	case b == ';' || b == '|' || b == '`' || b == '\n' && s[i-1] != '\\' || b == '&' && (blank(s[i-1]) || s[i-1] == '&'):
		c.on = false
	}
}

// word looks at the word that begins at offset i.
func (sc *scanner) word(i int) found {
	s := sc.s
	fresh := i == 0 || !wordChar(s[i-1]) || sc.escape == i
	if n, kind := issued(s[i:]); n > 0 {
		return found{i, i + n, kind}
	}
	if f := dataURL(s, i); f.end > 0 {
		return f
	}
	n := span(s[i:], alnum)
	if fresh {
		if n, kind := signed(s[i:]); n > 0 {
			return found{i, i + n, kind}
		}
		if s[i]|0x20 == 'b' {
			if f := schemed(s, i); f.end > 0 {
				return f
			}
		}
		if end := i + n + span(s[i+n:min(len(s), i+n+16)], wordChar); end < len(s) && (blank(s[end]) || s[end] == '\n' || s[end] == '\\') {
			if f := sc.leads(i, end); f.end > 0 {
				return f
			}
		}
	}
	return found{end: i + n}
}

// leads looks at a whole word that a secret may follow behind a blank: the
// name of a program, or a word of a netrc file, of SQL or of a settings command.
func (sc *scanner) leads(i, end int) found {
	s, name := sc.s, sc.s[i:end]
	if t, ok := toolOf(name); ok && (i == 0 || s[i-1] != '.') {
		sc.cmd = command{tool: t, on: true}
		return found{}
	}
	sql := hasPrefixFold(name, "by") && len(name) == 2 && i > 11 && strings.EqualFold(s[i-11:i], "identified ")
	switch {
	case sql, strings.EqualFold(name, "password"):
		start := end + span(s[end:min(len(s), end+look)], blank)
		if start < len(s) && s[start] == '\'' {
			if v := argument(s, start); v.end > v.start && !reference(s[v.start:v.end]) && !sentence(s[v.start:v.end]) {
				return found{v.start, v.end, "password"}
			}
		}
		if f := netrc(s, i, end); f.end > 0 {
			return f
		}
		return told(s, end, 8, "password")
	case strings.EqualFold(name, "passphrase"), name == "AUTH":
		return told(s, end, 8, "password")
	case strings.EqualFold(name, "token"), strings.EqualFold(name, "secret"):
		return told(s, end, 16, strings.ToLower(name))
	case among(name, "set", "setx", "ENV"):
		start := end + span(s[end:min(len(s), end+look)], blank)
		if n := span(s[start:], wordChar); n > 1 && n < 5 && s[start] == '-' { // set -gx of fish
			start += n + span(s[start+n:min(len(s), start+look)], blank)
		}
		key := span(s[start:min(len(s), start+look)], func(c byte) bool { return c > ' ' && strings.IndexByte("=\"'`", c) < 0 })
		if c, kind := nameClass(s[start : start+key]); c == chosen || c == made {
			next := start + key + span(s[start+key:min(len(s), start+key+look)], blank)
			if v := argument(s, next); next > start+key && v.end > v.start {
				if text := s[v.start:v.end]; len(text) >= 4 && !wordlike(text) && strings.IndexByte("-=", text[0]) < 0 && !reference(text) && !filePath(text) {
					return found{v.start, v.end, kind}
				}
			}
		}
	}
	return found{}
}

// told matches a secret that a sentence names: "the password is X". It has to
// look like no other word: with digits, small and big letters.
func told(s string, i, least int, kind string) found {
	start := i + span(s[i:min(len(s), i+look)], blank)
	if strings.HasPrefix(s[start:], "is ") {
		start += len("is ")
	}
	v := argument(s, start)
	if start == i || v.quoted || v.end-v.start < least {
		return found{}
	}
	text := s[v.start:v.end]
	if t := traitsOf(text); !t.digit || !t.lower || !t.upper || strings.ContainsAny(text, "/.([") || reference(text) {
		return found{}
	}
	return found{v.start, v.end, kind}
}

// netrc matches the password behind the word password of a netrc file.
func netrc(s string, i, end int) found {
	const most = 200
	before := strings.Fields(strings.ReplaceAll(s[max(0, i-most):i], `\n`, " "))
	if len(before) < 2 || !among(before[len(before)-2], "login", "machine", "account", "user") {
		return found{}
	}
	start := end + span(s[end:min(len(s), end+look)], func(c byte) bool { return blank(c) || c == '\n' || c == '\r' })
	n := span(s[start:], func(c byte) bool { return c > ' ' && strings.IndexByte("\"'`\\", c) < 0 })
	v := s[start : start+n]
	if n == 0 || reference(v) || wordlike(v) && !among("machine", before...) {
		return found{}
	}
	return found{start, start + n, "password"}
}

// dataURL passes over the content of a data URL: an image has no secrets, but
// in so many letters anything may be found.
func dataURL(s string, i int) found {
	const sign = "base64,"
	if !strings.HasPrefix(s[i:], sign) {
		return found{}
	}
	return found{end: i + len(sign) + span(s[i+len(sign):], base64)}
}

// flag looks for a secret behind the option that begins at offset i.
func (sc *scanner) flag(i int) found {
	s := sc.s
	if i > 0 && sc.escape != i && strings.IndexByte(" \t\n\"'`([,|", s[i-1]) < 0 {
		return found{}
	}
	dashes := span(s[i:min(len(s), i+3)], func(c byte) bool { return c == '-' })
	name := s[i+dashes : i+dashes+span(s[i+dashes:min(len(s), i+dashes+64)], wordChar)]
	end := i + dashes + len(name)
	if dashes > 2 || name == "" || !letter(name[0]) {
		return found{}
	}
	c, kind := nameClass(name)
	glued := sc.cmd.on && sc.cmd.joined && dashes == 1 && len(name) > 1 && strings.IndexByte(sc.cmd.flags, name[0]) >= 0 && !strings.EqualFold(name, "password")
	if glued {
		c = noSecret // what looks like a name is the secret
	}
	user := sc.cmd.on && sc.cmd.part != 0 && dashes == 2 && among(name, "user", "proxy-user", "auth")
	cookie := sc.cmd.on && sc.cmd.part == ':' && among(name, "b", "cookie")
	short := sc.cmd.on && dashes == 1 && c == noSecret && !cookie
	switch {
	case c == chosen, c == made, user, cookie, dashes == 1 && among(name, "passin", "passout"):
	case short && sc.cmd.joined && strings.IndexByte(sc.cmd.flags, name[0]) >= 0 && (glued || end < len(s) && !blank(s[end])):
		end = i + 1 + 1
		return sc.secretArgument(i, end, argument(s, end), "password", sc.cmd.part)
	case short && sc.cmd.apart && strings.IndexByte(sc.cmd.flags, name[len(name)-1]) >= 0 && (len(name) == 1 || sc.cmd.part == ':'):
		user = sc.cmd.part != 0
	default:
		return found{}
	}
	if kind == "" {
		kind = "password"
	}
	v := bound{start: end}
	switch {
	case end == len(s):
		return found{}
	case s[end] == '=':
		v = argument(s, end+1)
	case blank(s[end]):
		v = argument(s, end+span(s[end:min(len(s), end+look)], blank))
		v.spaced = true
	case quoteAt(s, end) > 0: // an element of a list
		next := end + quoteAt(s, end)
		gap := span(s[next:min(len(s), next+look)], func(c byte) bool { return strings.IndexByte(", \t\r\n", c) >= 0 })
		if gap == 0 || quoteAt(s, next+gap) == 0 {
			return found{}
		}
		v = argument(s, next+gap)
	default:
		return found{}
	}
	if v.end <= v.start {
		return found{}
	}
	text := s[v.start:v.end]
	switch {
	case cookie:
		if strings.IndexByte(text, '=') < 1 || reference(text) {
			return found{}
		}
		return found{v.start, v.end, "cookie"}
	case user:
		return sc.secretArgument(i, end, v, "password", sc.cmd.part)
	case among(name, "passin", "passout", "pass") && strings.IndexByte(text, ':') > 0:
		if !strings.HasPrefix(text, "pass:") {
			return found{}
		}
		v.start += len("pass:")
	case c == noSecret:
		return sc.secretArgument(i, end, v, "password", 0)
	case c == made && (wordlike(text) && len(text) < 20 || !mixed(text) && !traitsOf(text).inner), placeholder(text), filePath(text):
		return found{}
	case kind == "secret" && (wordlike(text) || strings.HasPrefix(text, "id=") || strings.HasPrefix(text, "type=") || !mixed(text)):
		return found{}
	case v.spaced && !v.quoted && !v.command:
		return found{}
	}
	return sc.secretArgument(i, end, v, kind, 0)
}

// secretArgument is the argument v of the option at offset i, less a user name
// before the sign part.
func (sc *scanner) secretArgument(i, end int, v bound, kind string, part byte) found {
	if v.end <= v.start {
		return found{}
	}
	text := sc.s[v.start:v.end]
	if part != 0 {
		at := strings.IndexByte(text, part)
		switch user := text[:max(at, 0)]; {
		case at < 0:
			return found{}
		case at == len(text)-1 && len(user) >= 16 && mixed(user):
			return found{v.start, v.start + at, "token"}
		case span(user, digit) == len(user) && span(text[at+1:], digit) == len(text)-at-1:
			return found{}
		}
		v.start += at + 1
		if text = text[at+1:]; text == "" {
			return found{}
		}
	}
	switch {
	case reference(text), placeholder(text), !v.quoted && text[0] == '-' && v.spaced:
		return found{}
	case sc.cmd.on && !sc.cmd.number && span(text, digit) == len(text):
		return found{}
	case sentence(text) && !v.quoted:
		return found{}
	}
	return found{v.start, v.end, kind}
}

// argument returns the bounds of the argument of a command line at offset i.
func argument(s string, i int) bound {
	v := bound{start: i}
	if i >= len(s) {
		return v
	}
	if open := quoteAt(s, i); open > 0 {
		v.quoted, v.command = true, true
		v.start += open
		v.end = closing(s, v.start, s[i:i+open])
		return v
	}
	v.end = i
	for v.end < len(s) && s[v.end] > ' ' && strings.IndexByte("\"`;|&<>)", s[v.end]) < 0 {
		if s[v.end] == '\\' && v.end+1 < len(s) && strings.IndexByte("nrt\"'", s[v.end+1]) >= 0 || s[v.end] == '\'' && (v.end+1 == len(s) || !alnum(s[v.end+1])) {
			break
		}
		v.end++
	}
	text := s[v.start:v.end]
	next := s[v.end:min(len(s), v.end+look)]
	blanks := span(next, blank)
	next = next[blanks:]
	// What follows a word of prose is another word, or the end of a sentence.
	plain := wordlike(strings.TrimRight(text, ".,:?!"))
	v.command = !plain || (next == "" || strings.IndexByte("\n-\"'`;|&><\\", next[0]) >= 0) && wordlike(text) && !among(text, "is", "to", "or", "and", "for", "with", "flag", "option", "argument", "value", "instead", "too", "now", "again", "only", "here", "there", "it", "needed", "file", "prompt")
	for v.end > v.start && strings.IndexByte(".,:", s[v.end-1]) >= 0 {
		v.end--
	}
	return v
}
