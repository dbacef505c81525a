package redact

import "strings"

// userinfo matches user:password@ or token@ at offset i, the start of a URL's
// authority.
func userinfo(s string, i int) found {
	text := s[i:min(len(s), i+look)]
	if strings.IndexByte(text, '@') < 0 {
		return found{}
	}
	n := span(text, func(c byte) bool { return c > ' ' && c != 0x7f && strings.IndexByte("\"'`<>\\", c) < 0 })
	authority := strings.IndexAny(text[:n]+"/", "/?#")
	colon := strings.IndexByte(text[:authority], ':')
	at := strings.LastIndexByte(text[:authority], '@')
	if at < 0 && colon >= 0 && span(text[colon+1:authority], digit) < authority-colon-1 {
		// No port is like this: a password with a / or # in it.
		at = strings.LastIndexByte(text[:n], '@')
	}
	if at < 0 {
		return found{}
	}
	user := text[:at]
	if colon < 0 || colon >= at {
		if len(user) >= 16 && mixed(user) && !reference(user) {
			return found{i, i + at, "token"}
		}
		return found{}
	}
	user, password := text[:colon], text[colon+1:at]
	if (password == "" || password == "x-oauth-basic") && len(user) >= 16 && mixed(user) {
		return found{i, i + colon, "token"}
	}
	if reference(password) {
		return found{}
	}
	return found{i + colon + 1, i + at, "password"}
}

// webhook matches the part of a URL at offset i that alone lets one post there.
func webhook(s string, i int) found {
	for _, sign := range [...]string{
		"/hooks.slack.com/services/", "/hooks.slack.com/workflows/", "/hooks.slack.com/triggers/", "/api/webhooks/",
		"/webhookb2/", "/outlook.office.com/webhook/", "/hooks.zapier.com/hooks/catch/", "/maker.ifttt.com/use/", "/with/key/",
	} {
		if strings.HasPrefix(s[i:], sign) {
			from := i + len(sign)
			n := span(s[from:], func(c byte) bool { return wordChar(c) || c == '/' || c == '@' || c == '%' })
			if n >= 16 && mixed(s[from:from+n]) {
				return found{from, from + n, "webhook"}
			}
		}
	}
	return found{}
}

// oracle matches user/password@ at its slash, as Oracle's tools and driver take it.
func oracle(s string, i int) found {
	user := i - spanBack(s[:i], 64, wordChar)
	if user == i || !hasSuffix(s[:user], ":thin:", "sqlplus ", "sqlplus -s ", "sqlplus -S ") {
		return found{}
	}
	n := span(s[i+1:], func(c byte) bool { return c > ' ' && strings.IndexByte("@\"'`\\", c) < 0 })
	if n == 0 || reference(s[i+1:i+1+n]) {
		return found{}
	}
	return found{i + 1, i + 1 + n, "password"}
}

// escaped looks at an escape in a URL that stands for a sign.
func (sc *scanner) escaped(i int) found {
	s := sc.s[i:]
	if len(s) < 3 || !hexadecimal(s[1]) || !hexadecimal(s[2]) {
		return found{}
	}
	const slashes = "%3a%2f%2f"
	switch {
	case hasPrefixFold(s, slashes):
		from := i + len(slashes)
		text := sc.s[from:min(len(sc.s), from+look)]
		n := span(text, func(c byte) bool { return wordChar(c) || c == '%' || c == '.' || c == '~' || c == '!' })
		lower := strings.ToLower(text[:n])
		at, end := strings.Index(lower, "%40"), strings.Index(lower+"%2f", "%2f")
		if colon := strings.Index(lower, "%3a"); colon >= 0 && colon+3 < at && at < end && !reference(text[colon+3:at]) {
			return found{from + colon + 3, from + at, "password"}
		}
	case hasPrefixFold(s, "%3d"):
		if f := sc.assignment(i, 3); f.end > 0 {
			return f
		}
	}
	sc.escape = i + 3
	return found{end: i + 3}
}

// driverDSN matches user:password@tcp(host) of Go's MySQL driver at its @.
func driverDSN(s string, i, done int) found {
	if !strings.HasPrefix(s[i:], "@tcp(") && !strings.HasPrefix(s[i:], "@unix(") {
		return found{}
	}
	n := spanBack(s[done:i], look, func(c byte) bool { return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '/' })
	colon := strings.IndexByte(s[i-n:i], ':')
	if colon < 0 || reference(s[i-n+colon+1:i]) {
		return found{}
	}
	return found{i - n + colon + 1, i, "password"}
}

// pgpass matches host:port:database:user:password, alone on its line, at the
// first colon.
func pgpass(s string, i int) found {
	if i+1 >= len(s) || !digit(s[i+1]) && s[i+1] != '*' {
		return found{}
	}
	host := spanBack(s[:i], look, func(c byte) bool { return wordChar(c) || c == '.' || c == '*' })
	if lead := s[:i-host]; host == 0 || lead != "" && !hasSuffix(lead, "\n", `\n`, "\"", "'", " ") {
		return found{}
	}
	line := s[i+1 : min(len(s), i+look)]
	line = line[:span(line, func(c byte) bool { return c > ' ' && c != '"' && c != '\'' && c != '`' })]
	fields := strings.SplitN(line, ":", 4)
	if len(fields) < 4 || len(fields[3]) < 4 || fields[0] != "*" && (span(fields[0], digit) != len(fields[0]) || len(fields[0]) < 2) {
		return found{}
	}
	for _, f := range fields[1:3] {
		if f == "" || f != "*" && (span(f, dotted) != len(f) || !letter(f[0])) {
			return found{}
		}
	}
	if strings.Contains(strings.ReplaceAll(fields[3], `\:`, ""), ":") || reference(fields[3]) {
		return found{}
	}
	return found{i + 1 + len(line) - len(fields[3]), i + 1 + len(line), "password"}
}
