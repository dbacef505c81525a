package transcript

import (
	"strings"
)

// Redact replaces secrets of known shapes in s by [redacted: KIND] and
// returns how many there were (case F62). It takes time linear in s, and doing
// it again changes nothing. What only might be a secret stays: commit ids,
// UUIDs, references to variables.
func Redact(s string) (string, int) {
	var out strings.Builder
	from, n := 0, 0
	for i := 0; i < len(s); {
		start, end, kind := secretAt(s, i)
		if kind == "" {
			i++
			continue
		}
		out.WriteString(s[from:start])
		out.WriteString("[redacted: " + kind + "]")
		from, i = end, end
		n++
	}
	if n == 0 {
		return s, 0
	}
	out.WriteString(s[from:])
	return out.String(), n
}

// secretAt reports the secret that is announced at offset i of s: by its own
// first bytes, or by the sign in front of it. kind is "" if there is none.
func secretAt(s string, i int) (start, end int, kind string) {
	rest := s[i:]
	switch c := s[i]; {
	case c == '-':
		if n := privateKey(rest); n > 0 {
			return i, i + n, "private key"
		}
	case c == ':' && strings.HasPrefix(rest, "://"):
		if from, to := urlPassword(rest); to > 0 {
			return i + from, i + to, "password"
		}
	case c == '=' || c == ':':
		if kind := assigned(s[:i]); kind != "" {
			if from, to := value(rest); to > 0 {
				return i + from, i + to, kind
			}
		}
	case i > 0 && alnum(s[i-1]):
		// In the middle of a word nothing begins.
	case c == 'b' || c == 'B':
		if from, to := bearer(rest); to > 0 {
			return i + from, i + to, "bearer token"
		}
	case c == 'e':
		if i > 0 && wordChar(s[i-1]) {
			break // jwt follows a whole word: once is enough
		}
		if n := jwt(rest); n > 0 {
			return i, i + n, "JWT"
		}
	default:
		if n, kind := token(rest); n > 0 {
			return i, i + n, kind
		}
	}
	return 0, 0, ""
}

// look is how far ahead a decision is made, in bytes. What is then found to be
// a secret is followed to its end, and never looked at again; what is not
// costs no more than this at each offset, so that time stays linear.
const look = 256

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// wordChar reports whether c belongs to a base64url word.
func wordChar(c byte) bool { return alnum(c) || c == '_' || c == '-' }

// span returns how many bytes at the start of s are in the set.
func span(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

// mixed reports whether s looks random: it has digits and letters.
func mixed(s string) bool {
	var digit, letter bool
	for i := range len(s) {
		switch {
		case s[i] >= '0' && s[i] <= '9':
			digit = true
		case alnum(s[i]):
			letter = true
		}
	}
	return digit && letter
}

// shape is a kind of token that shows by its first bytes what it is.
type shape struct {
	kind, prefix string
	least        int  // bytes behind the prefix
	word         bool // - and _ may be among them
	random       bool // only if it has digits and letters: the prefix is also the start of words
}

func token(s string) (int, string) {
	for _, t := range [...]shape{
		{"github token", "github_pat_", 20, true, false},
		{"github token", "ghp_", 20, false, false},
		{"github token", "gho_", 20, false, false},
		{"github token", "ghu_", 20, false, false},
		{"github token", "ghs_", 20, false, false},
		{"github token", "ghr_", 20, false, false},
		{"gitlab token", "glpat-", 16, true, false},
		{"anthropic key", "sk-ant-", 16, true, false},
		{"api key", "sk-", 20, true, true},
		{"npm token", "npm_", 30, false, false},
		{"google key", "AIza", 30, true, false},
		{"aws key", "AKIA", 16, false, false},
		{"aws key", "ASIA", 16, false, true},
		{"slack token", "xoxa-", 10, true, true},
		{"slack token", "xoxb-", 10, true, true},
		{"slack token", "xoxe-", 10, true, true},
		{"slack token", "xoxe.", 10, true, true},
		{"slack token", "xoxo-", 10, true, true},
		{"slack token", "xoxp-", 10, true, true},
		{"slack token", "xoxr-", 10, true, true},
		{"slack token", "xoxs-", 10, true, true},
		{"slack token", "xapp-", 10, true, true},
	} {
		if !strings.HasPrefix(s, t.prefix) {
			continue
		}
		body := s[len(t.prefix):]
		in := alnum
		if t.word {
			in = wordChar
		}
		if n := span(body[:min(look, len(body))], in); n >= t.least && (!t.random || mixed(body[:n])) {
			return len(t.prefix) + span(body, in), t.kind
		}
	}
	return 0, ""
}

// jwt matches header.payload.signature, of which the first two are JSON
// objects in base64 and so begin with eyJ.
func jwt(s string) int {
	const object = "eyJ"
	header := span(s, wordChar)
	if !strings.HasPrefix(s, object) || header < 10 || !strings.HasPrefix(s[header:], "."+object) {
		return 0
	}
	payload := span(s[header+1:], wordChar)
	n := header + 1 + payload
	if payload < 10 {
		return 0
	}
	if n < len(s) && s[n] == '.' {
		n += 1 + span(s[n+1:], wordChar)
	}
	return n
}

// bearer matches the scheme of an Authorization header and returns where its
// token stands.
func bearer(s string) (from, to int) {
	const scheme = "bearer "
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return 0, 0
	}
	from = len(scheme) + span(s[len(scheme):], func(c byte) bool { return c == ' ' })
	n := span(s[from:], func(c byte) bool { return wordChar(c) || strings.IndexByte("._~+/=", c) >= 0 })
	if n < 16 || !mixed(s[from:from+n]) {
		return 0, 0
	}
	return from, from + n
}

// privateKey matches a PEM block of a private key up to its end line. Of a key
// that was cut off it matches the lines that are there; a begin line alone, in
// a sentence about keys, is none.
func privateKey(s string) int {
	const begin, tail, closing, dashes = "-----BEGIN ", "PRIVATE KEY", "-----END ", "-----"
	const longest = 16 << 10 // bytes; an RSA key of 16384 bits has 13 KB
	if !strings.HasPrefix(s, begin) {
		return 0
	}
	label := span(s[len(begin):], func(c byte) bool { return c >= 'A' && c <= 'Z' || c == ' ' })
	name := s[len(begin) : len(begin)+label]
	head := len(begin) + label + len(dashes)
	if !strings.HasSuffix(name, tail) && !strings.HasSuffix(name, tail+" BLOCK") || len(s) < head || s[head-len(dashes):head] != dashes {
		return 0
	}
	if i := strings.Index(s[head:min(len(s), head+longest)], closing); i >= 0 {
		n := head + i + len(closing)
		n += span(s[n:], func(c byte) bool { return c >= 'A' && c <= 'Z' || c == ' ' })
		return n + span(s[n:], func(c byte) bool { return c == '-' })
	}
	n := head
	for {
		// In a JSON string a line ends with the two characters \n.
		gap := span(s[n:], func(c byte) bool { return strings.IndexByte(" \r\n\t", c) >= 0 })
		for strings.HasPrefix(s[n+gap:], `\n`) || strings.HasPrefix(s[n+gap:], `\r`) {
			gap += 2
		}
		line := span(s[n+gap:], func(c byte) bool { return alnum(c) || c == '+' || c == '/' || c == '=' })
		if gap == 0 || line < 16 {
			break
		}
		n += gap + line
	}
	if n == head {
		return 0
	}
	return n
}

// urlPassword matches ://user:password@host and returns where the password
// stands.
func urlPassword(s string) (from, to int) {
	const sign = "://"
	authority := span(s[len(sign):], func(c byte) bool {
		return c > ' ' && c < 0x7f && strings.IndexByte("/?#\"'`<>\\", c) < 0
	})
	user, at := s[len(sign):len(sign)+authority], 0
	if at = strings.LastIndexByte(user, '@'); at < 0 {
		return 0, 0
	}
	colon := strings.IndexByte(user[:at], ':')
	if colon < 0 || reference(user[colon+1:at]) {
		return 0, 0
	}
	return len(sign) + colon + 1, len(sign) + at
}

// reference reports whether v is no secret but stands for one: a variable, a
// placeholder, stars, something redacted already.
func reference(v string) bool {
	return v == "" || strings.IndexByte("$%{<[(*", v[0]) >= 0 || strings.Contains(v, "[redacted:")
}

// assigned returns what kind of secret the name at the end of s, the left side
// of an assignment, says it holds.
func assigned(s string) string {
	s = strings.TrimRight(s[max(0, len(s)-64):], " \t:")
	s = strings.TrimRight(s, `"'\`)
	name := strings.ToLower(s[max(0, len(s)-20):])
	for _, k := range [...]struct{ end, kind string }{
		{"password", "password"},
		{"passwd", "password"},
		{"passphrase", "password"},
		{"pwd", "password"},
		{"token", "token"},
		{"secret", "secret"},
		{"api_key", "api key"},
		{"apikey", "api key"},
		{"api-key", "api key"},
		{"access_key", "access key"},
		{"accesskey", "access key"},
		{"access-key", "access key"},
		{"secret_key", "secret key"},
		{"secretkey", "secret key"},
		{"private_key", "private key"},
		{"privatekey", "private key"},
		{"account_key", "access key"},
		{"accountkey", "access key"},
	} {
		if strings.HasSuffix(name, k.end) {
			return k.kind
		}
	}
	return ""
}

// value returns where the secret stands in s, which begins with the = or : of
// an assignment. Code is full of names like token, so what looks like an
// expression or a word of a language is none.
func value(s string) (from, to int) {
	sign := s[0]
	i := 1 + span(s[1:min(look, len(s))], func(c byte) bool { return c == ' ' || c == '\t' })
	if i == len(s) {
		return 0, 0
	}
	quote := ""
	for _, q := range [...]string{`"`, `'`, `\"`} { // the last one in JSON within a string
		if strings.HasPrefix(s[i:], q) {
			quote = q
		}
	}
	quoted := quote != ""
	i += len(quote)
	if !quoted && i > 1 && sign == '=' {
		return 0, 0 // x = y is code; x=y is what a shell and an .env file write
	}
	in := func(c byte) bool {
		return c > ' ' && strings.IndexByte("\"'`\\", c) < 0 && (quoted || strings.IndexByte(",;&|)>}([", c) < 0)
	}
	n := span(s[i:min(i+look, len(s))], in)
	v, rest := s[i:i+n], s[i+n:]
	switch {
	case n < 6 || v[0] == '=' || reference(v):
		return 0, 0
	case quoted && n < look && !strings.HasPrefix(rest, quote):
		return 0, 0 // a sentence
	case !quoted && rest != "" && (rest[0] == '(' || rest[0] == '['):
		return 0, 0 // a call or an index
	case !quoted && sign == ':' && (n < 12 || !mixed(v)):
		return 0, 0 // prose
	}
	return i, i + n + span(rest, in)
}

// HomePaths replaces the directory home by ~ where a path begins with it.
// A home with backslashes is also found as JSON and Go write it.
func HomePaths(s, home string) string {
	home = strings.TrimRight(home, `/\`)
	if home == "" {
		return s
	}
	if strings.Contains(home, `\`) {
		s = homePaths(s, strings.ReplaceAll(home, `\`, `\\`))
	}
	return homePaths(s, home)
}

func homePaths(s, home string) string {
	var out strings.Builder
	var before byte
	for {
		i := strings.Index(s, home)
		if i < 0 {
			out.WriteString(s)
			return out.String()
		}
		if i > 0 {
			before = s[i-1]
		}
		after := s[i+len(home):]
		out.WriteString(s[:i])
		if nameChar(before) || before == '.' || continues(after) {
			out.WriteString(home)
		} else {
			out.WriteByte('~')
		}
		before, s = home[len(home)-1], after
	}
}

// continues reports whether the name of a file goes on in s. A dot only does
// if more follows: it may end a sentence.
func continues(s string) bool {
	s = strings.TrimLeft(s, ".")
	return s != "" && nameChar(s[0])
}

func nameChar(c byte) bool { return wordChar(c) || c >= 0x80 }
