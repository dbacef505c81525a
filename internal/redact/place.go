package redact

import "strings"

// class is how much a name says about what it holds.
type class int

const (
	noSecret class = iota
	chosen         // by a person: may be any word
	made           // by a machine: is no word of a language
	maybe          // a secret if it is long and looks random
	scheme         // the value of an Authorization header
	cookies        // NAME=VALUE; NAME=VALUE
)

// nameClass returns what the name of a variable, field, flag or header says of
// its value, and what to call that.
func nameClass(name string) (class, string) {
	var buf [48]byte
	n := 0
	for i := max(0, len(name)-len(buf)); i < len(name); i++ {
		if c := name[i]; alnum(c) {
			if letter(c) {
				c |= 0x20
			}
			buf[n] = c
			n++
		}
	}
	switch flat := string(buf[:n]); {
	case hasSuffix(flat, "password", "passwd", "passphrase", "pwd", "passcode", "storepass", "keypass", "dbpass", "userpass", "requirepass", "masterauth"):
		return chosen, "password"
	case hasSuffix(flat, "pass") && standsOut(name, "pass"), hasSuffix(flat, "pw") && standsOut(name, "pw"), among(flat, "psk"):
		return chosen, "password"
	case hasSuffix(flat, "secret"), flat == "secretkeybase":
		return chosen, "secret"
	case hasSuffix(flat, "token", "oauth2bearer"):
		return made, "token"
	case hasSuffix(flat, "apikey", "appkey", "subscriptionkey", "licensekey"):
		return made, "api key"
	case hasSuffix(flat, "accesskey", "accountkey", "storagekey", "sharedkey"):
		return made, "access key"
	case hasSuffix(flat, "secretkey", "signingkey", "encryptionkey", "masterkey", "authkey", "privatekey"):
		return made, "secret key"
	case hasSuffix(flat, "sharedaccesssignature"):
		return made, "signature"
	case hasSuffix(flat, "authorization"):
		return scheme, "credentials"
	case among(flat, "cookie", "setcookie"):
		return cookies, "cookie"
	case among(flat, "auth", "credential", "credentials"), hasSuffix(flat, "basicauth"):
		return maybe, "credentials"
	case strings.HasSuffix(name, "_KEY") && !hasSuffix(name, "PUBLIC_KEY", "PUBLISHABLE_KEY", "CACHE_KEY", "PRIMARY_KEY", "FOREIGN_KEY", "SORT_KEY", "PARTITION_KEY"):
		return maybe, "key"
	}
	return noSecret, ""
}

// standsOut reports whether the last word of a name is the whole of it or set
// off from the rest, as compass is not.
func standsOut(name, last string) bool {
	i := len(name) - len(last)
	return i <= 0 || !letter(name[i-1]) || name[i] < 'a' && name[i-1] >= 'a'
}

// queryClass is nameClass for a parameter of a URL, where short names mean more.
func queryClass(name string) (class, string) {
	if c, kind := nameClass(name); c != noSecret {
		return c, kind
	}
	switch flat := strings.ToLower(name); {
	case hasSuffix(flat, "signature"), among(flat, "sig", "key", "code", "sas", "hapikey", "x-amz-credential"):
		return maybe, "signature"
	}
	return noSecret, ""
}

// assignment looks for a secret behind the sign of n bytes at offset i, which
// stands between a name and a value.
func (sc *scanner) assignment(i, n int) found {
	at := nameBefore(sc.s, i)
	if at.name == "" {
		return found{}
	}
	classify := nameClass
	if at.query {
		classify = queryClass
	}
	if strings.EqualFold(at.name, "value") {
		// name: DB_PASSWORD, value: …
		if sibling := nameBefore(sc.s, at.start); sibling.name != "" {
			at.name = sibling.name
		}
	}
	c, kind := classify(at.name)
	if c == noSecret {
		return found{}
	}
	s := sc.s[:min(len(sc.s), i+look)]
	v := valueAfter(s, i, n, at)
	switch {
	case v.end <= v.start:
		return found{}
	case c == scheme:
		v.start += authScheme(sc.s[v.start:v.end])
	case c == cookies && strings.IndexByte(sc.s[v.start:v.end], '=') < 1:
		return found{}
	}
	if text := sc.s[v.start:v.end]; reference(text) || !v.holds(c, at, text) {
		return found{}
	}
	if v.end == len(s) { // what begins as a secret is one to its end
		v.end = max(v.end, valueAfter(sc.s, i, n, at).end)
	}
	return found{v.start, v.end, kind}
}

// place is the left side of an assignment.
type place struct {
	name  string
	start int    // of the name
	quote string // that stands directly before it
	query bool   // it is a parameter of a URL
	field bool   // of a connection string: a ; stands before it
	line  bool   // it is the first word of its line
	shell bool   // it is written as environment variables are
	tag   bool   // it is an XML element
}

// most is how far back the left side of an assignment is looked for, in bytes.
const most = 64

// wordBefore returns where the name begins and ends that stands before offset i
// of s, with no more between them than blanks, quotes, a bracket or signs.
func wordBefore(s string, i int) (start, end int) {
	end = i - spanBack(s[:i], most, func(c byte) bool { return strings.IndexByte(" \t\r\n:=!?,", c) >= 0 })
	end -= spanBack(s[:end], most, func(c byte) bool { return strings.IndexByte("\"'`\\]", c) >= 0 })
	return end - spanBack(s[:end], most, dotted), end
}

// nameBefore returns the name that ends at offset i of s, or before the type
// that ends there.
func nameBefore(s string, i int) place {
	start, end := wordBefore(s, i)
	if among(s[start:end], "str", "string", "String") {
		if from, to := wordBefore(s, start); to > from && start-to <= 3 {
			start, end = from, to
		}
	}
	p := place{name: s[start:end], start: start}
	n := end - start
	before := s[:p.start]
	switch {
	case p.name == "":
		return p
	case strings.HasSuffix(before, `\`) && strings.IndexByte("nrt", p.name[0]) >= 0:
		p.name, p.line = p.name[1:], true
	case strings.HasSuffix(before, "%") && n > 2:
		p.query = among(p.name[:2], "3F", "3f", "26")
		p.name = p.name[2:]
	case hasSuffix(before, "?", "&", "&amp;", `\u0026`):
		p.query = true
	case strings.HasSuffix(before, ";"):
		p.field = true
	case hasSuffix(before, "<", ":") && i < len(s) && s[i] == '>':
		p.tag = true
	}
	for q := len(before); q > 0 && strings.IndexByte("\"'`", before[q-1]) >= 0 && p.quote == ""; {
		q -= 1 + spanBack(before[:q-1], most, func(c byte) bool { return c == '\\' })
		p.quote = before[q:]
	}
	lead := strings.TrimRight(before[max(0, len(before)-most):], " \t-+>\"'")
	p.line = p.line || lead == "" || strings.HasSuffix(lead, "\n") || hasSuffix(lead, `\n`, "export", "set", "ENV", "ARG")
	p.shell = p.name == strings.ToUpper(p.name)
	return p
}

// bound is the right side of an assignment.
type bound struct {
	start, end int
	sign       byte
	quoted     bool
	spaced     bool // blanks stand before it
	whole      bool // it goes on to the end of its line
	called     bool // ( or [ follows
	command    bool // as an argument it reads as one of a command line, not as prose
}

// valueAfter returns where the value ends that follows the sign of n bytes at
// offset i.
func valueAfter(s string, i, n int, at place) bound {
	v := bound{sign: s[i]}
	rest := func() string { return s[v.start:min(len(s), v.start+look)] }
	v.start = i + n
	switch {
	case v.sign == '>' && !at.tag:
		return bound{}
	case v.sign == '%':
		v.sign = '='
	case strings.HasPrefix(rest(), "="), strings.HasPrefix(rest(), ">"):
		// == and := are looked at by their second sign.
		if v.sign == ':' || rest()[0] == '=' {
			return bound{}
		}
		v.start, v.sign = v.start+1, ':'
	}
	blanks := span(rest(), blank)
	v.start, v.spaced = v.start+blanks, blanks > 0
	if r := rest(); len(r) > 1 && letter(r[0]) && (r[1] == '"' || r[1] == '\'') {
		v.start++ // a letter of Python, C or shell says what string it is
	}
	if open := quoteAt(s, v.start); open > 0 {
		v.quoted, v.whole = true, true
		quote := s[v.start : v.start+open]
		v.start += open
		v.end = closing(s, v.start, quote)
		return v
	}
	if r := rest(); at.line && v.sign == ':' && len(r) > 2 && (r[0] == '|' || r[0] == '>') && span(r[1:], func(c byte) bool { return c == '-' || c == '+' }) < 2 {
		// A block scalar of YAML stands on the next line.
		lead := 1 + span(r[1:], func(c byte) bool { return strings.IndexByte("+- \t\r\n", c) >= 0 })
		if strings.Contains(r[:lead], "\n") {
			v.start += lead
		}
	}
	header := at.quote
	if c, _ := nameClass(at.name); c == scheme || c == cookies {
		if v.end = len(s); header != "" {
			v.end = closing(s, v.start, header)
		}
		v.end = v.start + span(s[v.start:v.end], func(c byte) bool { return c != '\n' && c != '\r' })
		if at := strings.Index(s[v.start:v.end], `\n`); at >= 0 {
			v.end = v.start + at
		}
		v.whole = true
		return v
	}
	stops := "\"'`\\<"
	switch {
	case at.tag:
	case at.query || s[i] == '%':
		stops += "&#;,|)>}"
	case at.field:
		stops += ";"
	case at.shell && v.sign == '=':
	default:
		stops += ",;&|)>}(["
	}
	v.end = v.start
	for v.end < len(s) {
		c := s[v.end]
		spaces := at.field || at.tag
		if c < ' ' || c == ' ' && !spaces || c == '%' && s[i] == '%' && endsEscaped(s[v.end:]) {
			break
		}
		if strings.IndexByte(stops, c) >= 0 {
			// A quote in the midst of a word does not end it.
			if (c != '"' && c != '\'') || v.end == v.start || v.end+1 == len(s) || !alnum(s[v.end+1]) || s[v.end-1] == '\\' {
				break
			}
		}
		v.end++
	}
	if at.field && v.end-v.start > look {
		return bound{}
	}
	v.called = v.end < len(s) && (s[v.end] == '(' || s[v.end] == '[')
	after := strings.TrimLeft(s[v.end:min(len(s), v.end+look)], " \t\r")
	v.whole = after == "" || after[0] == '\n' || after[0] == '#' || strings.HasPrefix(after, `\n`) || at.quote != "" && strings.HasPrefix(after, at.quote)
	if !at.tag && !at.field {
		for v.end > v.start && strings.IndexByte(".,;:!?)", s[v.end-1]) >= 0 {
			v.end--
		}
	}
	return v
}

// endsEscaped reports whether s begins with an escaped & or # or the like of a
// URL in a URL.
func endsEscaped(s string) bool {
	return len(s) >= 3 && among(s[1:3], "26", "23", "3B", "3b", "0A", "0a", "20", "22", "27")
}

// quoteAt returns the length of the quote at offset i of s: in JSON in a
// string backslashes stand before it.
func quoteAt(s string, i int) int {
	n := span(s[i:min(len(s), i+8)], func(c byte) bool { return c == '\\' })
	if i+n < len(s) && strings.IndexByte("\"'`", s[i+n]) >= 0 {
		return n + 1
	}
	return 0
}

// closing returns the offset of the quote that closes what begins at offset i,
// or of the end of the line or of the text, if that comes first. A quote in it
// has more backslashes before it than the one that opens.
func closing(s string, i int, quote string) int {
	depth, mark := len(quote)-1, quote[len(quote)-1]
	run := 0
	for at := i; at < len(s); at++ {
		switch c := s[at]; {
		case c == '\\':
			run++
			continue
		case c == '\n':
			return at
		case c == mark && run%(2*depth+2) == depth:
			return at - depth
		case c == mark && mark == '\'' && depth == 0 && (at+1 == len(s) || !alnum(s[at+1])):
			return at // a backslash escapes nothing in single quotes of a shell
		}
		run = 0
	}
	return len(s)
}

// holds reports whether the value text can be a secret of its class, given
// where it stands: code and prose are full of names like token.
func (v bound) holds(c class, at place, text string) bool {
	t := traitsOf(text)
	spaces := strings.IndexByte(text, ' ') >= 0
	switch {
	case c == scheme:
		return len(text) >= 6 && (t.digit || t.lower && t.inner || t.other && !spaces) && !sentence(text)
	case c == cookies:
		return true
	case v.called || text[0] == '=' || at.name == "PASS" && v.sign == ':' || namesItself(at.name, text) || placeholder(text):
		return false
	case among(at.name, "PWD", "OLDPWD", "pwd") && strings.IndexByte(`/~\.`, text[0]) >= 0, filePath(text):
		return false
	case c == maybe:
		return !spaces && len(text) >= 12 && (mixed(text) || t.lower && t.inner && len(text)%4 == 0)
	case v.quoted && spaces:
		return v.sign == '=' && !v.spaced && at.shell && c == chosen || !sentence(text)
	case at.tag, at.field:
		return len(text) >= 3 && !sentence(text)
	case c == made && wordlike(text) && len(text) < 20:
		return false
	case v.quoted:
		return len(text) >= 4
	case v.sign == '=' && !v.spaced:
		return len(text) >= 3 && !(t.digit && !t.lower && !t.upper && !t.other && c == made)
	case c == chosen && v.whole && at.line && v.sign == ':':
		return len(text) >= 4 && (t.digit && (t.lower || t.upper) || t.other && !strings.HasSuffix(text, ".") || t.lower && t.inner)
	case c == chosen && v.sign == ':' && !at.shell && strings.IndexByte(text, '-') < 0:
		return len(text) >= 6 && mixed(text) && !among(text, "base64", "sha256", "sha512", "oauth2", "argon2")
	case c == chosen && v.whole && at.line:
		return len(text) >= 6 && mixed(text)
	case c == made && v.whole && at.line:
		return len(text) >= 8 && mixed(text)
	}
	return len(text) >= 12 && mixed(text)
}

// reference reports whether v is no secret but stands for one: a variable, a
// template, stars, something redacted already.
func reference(v string) bool {
	if v == "" || strings.IndexByte("$%{<[(*", v[0]) >= 0 && !strings.HasPrefix(v, "[[") {
		// $ may also begin a password; a reference is a name.
		if len(v) > 1 && v[0] == '$' {
			name := span(v[1:], func(c byte) bool { return wordChar(c) })
			return name == len(v)-1 || strings.IndexByte("{([", v[1]) >= 0 || strings.IndexByte(":.", v[1+name]) >= 0
		}
		return true
	}
	return strings.Contains(v, "[redacted:")
}

// placeholder reports whether v is a word that people write where a secret
// would stand.
func placeholder(v string) bool {
	if strings.Trim(v, "xX.*•…_-") == "" {
		return true
	}
	switch flat := strings.ToLower(v); {
	case strings.HasPrefix(flat, "your"), strings.HasPrefix(flat, "process.env"), strings.HasPrefix(flat, "os.environ"):
		return true
	default:
		return among(flat, "null", "nil", "none", "undefined", "true", "false", "string", "required", "optional", "bytes", "number", "boolean", "text", "redacted", "hidden", "unknown", "disabled", "enabled", "missing", "invalid", "incorrect", "empty")
	}
}

// namesItself reports whether a value is the variable of the same name, or a
// field that ends with it: password=args.password.
func namesItself(name, v string) bool {
	if dot := strings.LastIndexByte(v, '.'); dot >= 0 && dot+1 < len(v) && !mixed(v[:dot]) {
		if c, _ := nameClass(v[dot+1:]); c != noSecret {
			return true
		}
	}
	flat := func(s string) string { return strings.ToLower(strings.Trim(s, "_-")) }
	return flat(name) == flat(v)
}

// filePath reports whether v names a file.
func filePath(v string) bool {
	if hasPrefixFold(v, "./") || strings.HasPrefix(v, "../") || strings.HasPrefix(v, "~/") {
		return true
	}
	if len(v) > 2 && letter(v[0]) && v[1] == ':' && (v[2] == '\\' || v[2] == '/') {
		return true
	}
	if v[0] != '/' {
		return false
	}
	first, _, more := strings.Cut(v[1:], "/")
	return more && len(first) > 1 && wordlike(first)
}

// sentence reports whether s is prose: several words, and none of them mixed
// of letters with digits or signs.
func sentence(s string) bool {
	words := strings.Fields(s)
	for _, w := range words {
		w = strings.Trim(w, `.,:;!?()"'`)
		if t := traitsOf(w); t.digit && (t.lower || t.upper) || t.other && (strings.ContainsAny(w, "@#$%^&*+=~/|") || t.digit) {
			return false
		}
	}
	return len(words) > 1
}

// authScheme returns the length of the scheme that the value of an
// Authorization header begins with.
func authScheme(v string) int {
	n := span(v, wordChar)
	blanks := span(v[n:], blank)
	if n == 0 || blanks == 0 || n+blanks == len(v) {
		return 0
	}
	return n + blanks
}

// schemed matches the credentials behind the scheme of an Authorization header
// that stands alone.
func schemed(s string, i int) found {
	for _, scheme := range [...]string{"bearer ", "basic "} {
		if !hasPrefixFold(s[i:], scheme) {
			continue
		}
		from := i + len(scheme) + span(s[i+len(scheme):], blank)
		n := span(s[from:], func(c byte) bool { return base64url(c) || c == '.' || c == '~' })
		v := s[from : from+n]
		if t := traitsOf(v); n >= 16 && t.digit && (t.lower || t.upper) && (scheme == "bearer " || t.lower && t.upper && !t.other || strings.HasSuffix(v, "=")) {
			if scheme == "bearer " {
				return found{from, from + n, "bearer token"}
			}
			return found{from, from + n, "credentials"}
		}
	}
	return found{}
}
