package redact

import "strings"

// issuer is a kind of token that shows by its first bytes who has issued it.
type issuer struct {
	kind     string
	least    int // bytes behind the prefix
	in       func(byte) bool
	strict   bool // a word of a language may begin so: only with digits
	prefixes []string
}

func dotted(c byte) bool { return wordChar(c) || c == '.' }

func base64url(c byte) bool { return wordChar(c) || base64(c) }

var issuers = [...]issuer{
	{"github token", 20, wordChar, false, []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"}},
	{"gitlab token", 16, dotted, false, []string{"glpat-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-", "GR1348941"}},
	{"anthropic key", 16, wordChar, false, []string{"sk-ant-"}},
	{"stripe key", 10, wordChar, false, []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "sk_prod_", "rk_prod_"}},
	{"webhook secret", 16, base64, false, []string{"whsec_"}},
	{"api key", 20, wordChar, true, []string{"sk-", "gsk_", "xai-", "pplx-", "nvapi-", "tvly-", "r8_", "pcsk_", "lsv2_", "sgp_", "rdme_", "phx_", "re_", "bkua_", "nfp_", "tfp_", "key-", "rnd_", "xkeysib-", "CFPAT-", "CCIPAT_", "EZAK", "dnkey-", "fio-u-", "ico-"}},
	{"api key", 32, wordChar, true, []string{"sk_", "LTAI", "AKCp", "cmVmd", "AVNS_", "shippo_live_", "duffel_live_", "API-", "sm_pat_", "sha256~"}},
	{"npm token", 30, alnum, false, []string{"npm_"}},
	{"pypi token", 16, wordChar, false, []string{"pypi-AgE"}},
	{"rubygems token", 30, alnum, false, []string{"rubygems_"}},
	{"nuget key", 40, alnum, true, []string{"oy2"}},
	{"google key", 30, wordChar, false, []string{"AIza"}},
	{"google token", 20, dotted, true, []string{"ya29.", "GOCSPX-", "1//0"}},
	{"aws key", 16, alnum, false, []string{"AKIA", "ASIA", "ABIA", "ACCA"}},
	{"aws key", 80, base64, false, []string{"ABSK", "bedrock-api-key-"}},
	{"slack token", 10, dotted, false, []string{"xoxa-", "xoxb-", "xoxe-", "xoxe.", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xoxc-", "xoxd-", "xapp-", "xwfp-"}},
	{"twilio key", 32, hexadecimal, true, []string{"SK"}},
	{"sendgrid key", 20, dotted, false, []string{"SG."}},
	{"huggingface token", 20, alnum, false, []string{"hf_", "api_org_"}},
	{"digitalocean token", 30, hexadecimal, false, []string{"dop_v1_", "doo_v1_", "dor_v1_"}},
	{"heroku key", 20, wordChar, false, []string{"HRKU-"}},
	{"shopify token", 20, alnum, false, []string{"shpat_", "shpca_", "shppa_", "shpss_"}},
	{"square token", 20, wordChar, false, []string{"sq0atp-", "sq0csp-"}},
	{"access token", 54, wordChar, true, []string{"EAAA", "EAAC", "EAAM"}},
	{"linear key", 20, alnum, false, []string{"lin_api_", "lin_oauth_"}},
	{"notion token", 40, alnum, true, []string{"ntn_", "secret_"}},
	{"figma token", 20, wordChar, false, []string{"figd_", "figo_"}},
	{"new relic key", 16, wordChar, false, []string{"NRAK-", "NRJS-", "NRII-", "NRIQ-"}},
	{"sentry token", 20, base64url, false, []string{"sntrys_", "sntryu_"}},
	{"grafana token", 20, base64url, true, []string{"glsa_", "glc_", "eyJrIjoi"}},
	{"atlassian token", 20, base64url, false, []string{"ATATT3", "ATCTT3", "ATBB"}},
	{"dropbox token", 40, wordChar, false, []string{"sl.", "sl.u."}},
	{"cloudflare key", 40, wordChar, false, []string{"v1.0-", "cfut_", "cfat_", "cfk_"}},
	{"vault token", 20, wordChar, false, []string{"hvs.", "hvb.", "hvr."}},
	{"docker token", 16, wordChar, false, []string{"dckr_pat_", "dckr_oat_"}},
	{"pulumi token", 30, hexadecimal, false, []string{"pul-"}},
	{"databricks token", 30, wordChar, false, []string{"dapi", "dose"}},
	{"planetscale token", 20, dotted, false, []string{"pscale_tkn_", "pscale_pw_", "pscale_oauth_"}},
	{"supabase token", 20, wordChar, false, []string{"sbp_", "sb_secret_"}},
	{"fly token", 30, base64url, false, []string{"fo1_", "fm1r_", "fm1a_", "fm2_"}},
	{"doppler token", 20, wordChar, false, []string{"dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."}},
	{"age key", 20, alnum, false, []string{"AGE-SECRET-KEY-1"}},
	{"1password token", 20, base64url, false, []string{"ops_eyJ"}},
	{"1password key", 30, wordChar, true, []string{"A3-"}},
	{"postman key", 20, wordChar, false, []string{"PMAK-"}},
	{"tailscale key", 10, wordChar, false, []string{"tskey-"}},
	{"dynatrace token", 20, dotted, false, []string{"dt0c01."}},
}

// issued matches a token of one of the issuers at the start of s.
func issued(s string) (n int, kind string) {
	const shortest = 15
	if len(s) < shortest || span(s[:shortest], func(c byte) bool { return base64url(c) || c == '.' || c == '~' }) < shortest {
		return 0, ""
	}
	for i := range issuers {
		t := &issuers[i]
		for _, prefix := range t.prefixes {
			if s[0] != prefix[0] || !strings.HasPrefix(s, prefix) {
				continue
			}
			body := s[len(prefix):]
			n := span(body[:min(look, len(body))], t.in)
			if form := traitsOf(body[:n]); n >= t.least && (form.digit || !t.strict && form.inner) {
				return len(prefix) + span(body, t.in), t.kind
			}
		}
	}
	return 0, ""
}

// signed matches three base64url words with dots between: a JWT, of which the
// first two are JSON objects and so begin with eyJ (the third may be cut off),
// another token that begins with a JSON object, or the token of a Discord bot.
func signed(s string) (n int, kind string) {
	const object = "eyJ"
	first := span(s, wordChar)
	if first < 10 || first == len(s) || s[first] != '.' {
		return 0, ""
	}
	second := span(s[first+1:], wordChar)
	n = first + 1 + second
	third := 0
	if n < len(s) && s[n] == '.' {
		third = span(s[n+1:], wordChar)
		n += 1 + third
	}
	switch {
	case strings.HasPrefix(s, object) && (second >= 10 && strings.HasPrefix(s[first+1:], object) || third >= 20):
		// An encrypted one has five parts.
		for n < len(s) && s[n] == '.' && third > 0 {
			third = span(s[n+1:], wordChar)
			n += 1 + third
		}
		return n, "JWT"
	case first >= 23 && first <= 28 && second == 6 && third >= 27 && strings.IndexByte("MNO", s[0]) >= 0:
		return n, "discord token"
	}
	return 0, ""
}

// telegram matches the token of a bot at its colon: its number stands in front.
func telegram(s string, i int) found {
	if !strings.HasPrefix(s[i+1:], "AA") || spanBack(s[:i], 11, digit) < 7 {
		return found{}
	}
	n := span(s[i+1:min(len(s), i+look)], wordChar)
	if n < 33 || n > 40 {
		return found{}
	}
	return found{i + 1, i + 1 + n, "telegram token"}
}

// terraform matches ID.atlasv1.SECRET at its first dot.
func terraform(s string, i, done int) found {
	const sign = ".atlasv1."
	if !strings.HasPrefix(s[i:], sign) {
		return found{}
	}
	n := span(s[i+len(sign):], wordChar)
	if n < 20 {
		return found{}
	}
	return found{i - spanBack(s[done:i], 32, alnum), i + len(sign) + n, "terraform token"}
}

// privateKey matches a PEM or PGP block of a private key up to its end line. Of
// a key that was cut it matches the lines that are there, before an end line as
// well as after a begin line; such a line alone, in a sentence about keys, is
// none.
func privateKey(s string, i, done int) found {
	const begin, end, kind = "-----BEGIN ", "-----END ", "private key"
	const longest = 16 << 10 // bytes; an RSA key of 16384 bits has 13 KB
	if head := keyLine(s[i:], begin); head > 0 {
		rest := s[i+head : min(len(s), i+head+longest)]
		if at := strings.Index(rest, end); at >= 0 {
			if tail := keyLine(rest[at:], end); tail > 0 {
				return found{i, i + head + at + tail, kind}
			}
		}
		if n := keyBody(s[i+head:]); n > 0 {
			return found{i, i + head + n, kind}
		}
	}
	if tail := keyLine(s[i:], end); tail > 0 {
		body := spanBack(s[done:i], longest, func(c byte) bool { return base64(c) || strings.IndexByte(" \t\r\n\\", c) >= 0 })
		if lead := span(s[i-body:i], func(c byte) bool { return !base64(c) }); body-lead >= 16 && mixed(s[i-body:i]) {
			return found{i - body + lead, i + tail, kind}
		}
	}
	return found{}
}

// keyLine returns the length of the line about a private key that s begins
// with, without its line end; 0 if it is another.
func keyLine(s, sign string) int {
	const dashes = "-----"
	if !strings.HasPrefix(s, sign) {
		return 0
	}
	n := len(sign) + span(s[len(sign):], func(c byte) bool { return c >= 'A' && c <= 'Z' || digit(c) || c == ' ' })
	if !hasSuffix(s[:n], "PRIVATE KEY", "PRIVATE KEY BLOCK") || !strings.HasPrefix(s[n:], dashes) {
		return 0
	}
	return n + len(dashes)
}

// keyBody returns the length of the lines of base64 that s begins with, with
// the header lines before them. Lines may be indented, quoted, numbered or
// marked as in a diff.
func keyBody(s string) int {
	n := 0
	for n < len(s) {
		// In a JSON string a line ends with the two characters \n.
		gap := span(s[n:], func(c byte) bool { return strings.IndexByte(" \r\n\t>+|", c) >= 0 })
		for strings.HasPrefix(s[n+gap:], `\n`) || strings.HasPrefix(s[n+gap:], `\r`) {
			gap += 2
		}
		if number := span(s[n+gap:], digit); number > 0 && number < 6 && strings.HasPrefix(s[n+gap+number:], "→") {
			gap += number + len("→")
		}
		line := span(s[n+gap:], base64)
		if gap == 0 || line < 16 && !(n > 0 && line > 1 && strings.HasSuffix(s[:n+gap+line], "=")) {
			header := strings.IndexByte(s[n+gap:min(len(s), n+gap+100)], ':')
			if !strings.ContainsAny(s[n:n+gap], "\n\\") || header < 3 || span(s[n+gap:], wordChar) != header {
				break
			}
			line = span(s[n+gap:], func(c byte) bool { return c != '\n' && c != '\\' })
		}
		n += gap + line
	}
	if !mixed(s[:n]) {
		return 0
	}
	return n
}
