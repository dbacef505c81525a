// Package redact takes secrets and the directories of this machine out of
// text. Whatever leaves a transcript for a file, a commit, a log or a terminal
// passes it, whole: half of a secret is still a secret, so redaction comes
// before any cut. docs/redaction.md says what is found and what is not.
//
// It needs nothing but package strings, and nothing of it runs at start-up:
// every hook links it, few call it.
package redact

import "strings"

const markOpen = "[redacted: "

// Count returns how many secrets have been taken out of s.
func Count(s string) int { return strings.Count(s, markOpen) }

// Text is s without its secrets, each replaced by [redacted: KIND] (case F62).
// It takes time linear in s, and doing it again changes nothing. What only
// might be a secret stays: commit ids, UUIDs, references to variables.
func Text(s string) string {
	var out strings.Builder
	from := 0
	for i := 0; i < len(s); {
		start, end, kind := secretAt(s, i)
		if kind == "" {
			i++
			continue
		}
		out.WriteString(s[from:start] + markOpen + kind + "]")
		from, i = end, end
	}
	if from == 0 {
		return s
	}
	return out.String() + s[from:]
}

// secretAt reports the secret that is announced at offset i of s: by its own
// first bytes, or by the sign in front of it. kind is "" if there is none.
func secretAt(s string, i int) (start, end int, kind string) {
	rest, n := s[i:], 0
	switch c := s[i]; {
	case c == '-':
		n, kind = privateKey(rest), "private key"
	case c == ':' && strings.HasPrefix(rest, "://"):
		start, n = urlPassword(rest)
		kind = "password"
	case c == '=' || c == ':':
		if kind = assigned(s[:i]); kind != "" {
			start, n = value(rest)
		}
	case i > 0 && alnum(s[i-1]):
		// In the middle of a word nothing begins.
	case c == 'b' || c == 'B':
		start, n = bearer(rest)
		kind = "bearer token"
	case c == 'e':
		if i == 0 || !wordChar(s[i-1]) { // jwt follows a whole word: once is enough
			n, kind = jwt(rest), "JWT"
		}
	default:
		n, kind = token(rest)
	}
	if n == 0 {
		return 0, 0, ""
	}
	return i + start, i + n, kind
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

// in returns the set of alnum and more.
func in(more string) func(byte) bool {
	return func(c byte) bool { return alnum(c) || strings.IndexByte(more, c) >= 0 }
}

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
	digits := span(s, func(c byte) bool { return c < '0' || c > '9' })
	return digits < len(s) && strings.ContainsFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// hasSuffix reports whether s ends with one of the words.
func hasSuffix(s string, words ...string) bool {
	for _, w := range words {
		if strings.HasSuffix(s, w) {
			return true
		}
	}
	return false
}

// token matches a token that shows by its first bytes what it is.
func token(s string) (int, string) {
	for _, t := range [...]struct {
		kind     string
		least    int    // bytes behind the prefix
		more     string // what may be among them besides letters and digits
		random   bool   // only with digits and letters: the prefix is also the start of words
		prefixes []string
	}{
		{"github token", 20, "_", false, []string{"github_pat_"}},
		{"github token", 20, "", false, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}},
		{"gitlab token", 16, "_-", false, []string{"glpat-"}},
		{"anthropic key", 16, "_-", false, []string{"sk-ant-"}},
		{"api key", 20, "_-", true, []string{"sk-"}},
		{"npm token", 30, "", false, []string{"npm_"}},
		{"google key", 30, "_-", false, []string{"AIza"}},
		{"aws key", 16, "", true, []string{"AKIA", "ASIA"}},
		{"slack token", 10, "_-", true, []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"}},
	} {
		for _, prefix := range t.prefixes {
			if !strings.HasPrefix(s, prefix) {
				continue
			}
			body := s[len(prefix):]
			if n := span(body[:min(look, len(body))], in(t.more)); n >= t.least && (!t.random || mixed(body[:n])) {
				return len(prefix) + span(body, in(t.more)), t.kind
			}
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
	switch {
	case hasSuffix(name, "password", "passwd", "passphrase", "pwd"):
		return "password"
	case hasSuffix(name, "token"):
		return "token"
	case hasSuffix(name, "secret"):
		return "secret"
	case hasSuffix(name, "apikey", "api_key", "api-key"):
		return "api key"
	case hasSuffix(name, "accesskey", "access_key", "access-key", "accountkey", "account_key"):
		return "access key"
	case hasSuffix(name, "secretkey", "secret_key", "privatekey", "private_key"):
		return "secret key"
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
