package redact

import (
	"strings"
	"testing"
	"time"
)

// Secrets are put together here, so that no scanner takes this file for a leak.
var (
	ghp  = "ghp" + "_" + "16C7e42F292c6912E7710c838347Ae178B4a"
	pat  = "github" + "_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	ant  = "sk-" + "ant-api03-" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7-_xyz"
	oai  = "sk-" + "proj-" + "aB3dE6gH9jK2mN5pQ8sT1vW4"
	aws  = "AKIA" + "IOSFODNN7EXAMPLE"
	xoxb = "xoxb" + "-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx"
	npm  = "npm" + "_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789"
	lab  = "glpat" + "-" + "aBcDeFgHiJkLmNoPqRsT"
	goog = "AIza" + "SyA1bC2dE3fG4hI5jK6lM7nO8pQ9rS0tU1v"
	web  = "eyJ" + "hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"
	pem  = "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\nQyNTUxOQAAACDm0Q==\n-----END OPENSSH " + "PRIVATE KEY-----"
)

// Case F62.
func TestText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"github token":             {"use " + ghp + " here", "use [redacted: github token] here"},
		"other github tokens":      {"gho" + ghp[3:] + "," + pat + ".", "[redacted: github token],[redacted: github token]."},
		"anthropic key":            {"ANTHROPIC_API_KEY=" + ant, "ANTHROPIC_API_KEY=[redacted: api key]"},
		"anthropic key, bare":      {`key "` + ant + `"`, `key "[redacted: anthropic key]"`},
		"api key":                  {"(" + oai + ")", "([redacted: api key])"},
		"aws key":                  {"id " + aws + "\n", "id [redacted: aws key]\n"},
		"aws secret":               {"AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n", "AWS_SECRET_ACCESS_KEY=[redacted: access key]\n"},
		"slack token":              {xoxb, "[redacted: slack token]"},
		"npm token":                {"//registry.npmjs.org/:_authToken=" + npm, "//registry.npmjs.org/:_authToken=[redacted: token]"},
		"npm token, bare":          {"npm " + npm, "npm [redacted: npm token]"},
		"gitlab token":             {lab, "[redacted: gitlab token]"},
		"google key":               {"key=" + goog, "key=[redacted: google key]"},
		"JWT":                      {"got " + web + " back", "got [redacted: JWT] back"},
		"bearer token":             {`-H "Authorization: Bearer aB3dE6gH9jK2mN5pQ8.sT1"`, `-H "Authorization: Bearer [redacted: credentials]"`},
		"bearer JWT":               {"authorization: bearer " + web, "authorization: bearer [redacted: credentials]"},
		"private key":              {"cat id\n" + pem + "\nnext", "cat id\n[redacted: private key]\nnext"},
		"private key in JSON":      {`{"key":"` + strings.ReplaceAll(pem, "\n", `\n`) + `\n","a":1}`, `{"key":"[redacted: private key]\n","a":1}`},
		"private key, cut off":     {"see " + pem[:90] + " and more", "see [redacted: private key] and more"},
		"two private keys":         {pem + "\n" + pem, "[redacted: private key]\n[redacted: private key]"},
		"connection string":        {"postgres://app:s3cr3t@db.local:5432/app?x=1", "postgres://app:[redacted: password]@db.local:5432/app?x=1"},
		"password with an @":       {"amqp://u:p@ss@host/", "amqp://u:[redacted: password]@host/"},
		"password without user":    {"redis://:hunter2@localhost:6379", "redis://:[redacted: password]@localhost:6379"},
		"environment":              {"export DB_PASSWORD=hunter22 API_TOKEN='abc def' X_SECRET=\"s3cr3ts\"", "export DB_PASSWORD=[redacted: password] API_TOKEN='abc def' X_SECRET=\"[redacted: secret]\""},
		"flag":                     {"login --token=abc123def", "login --token=[redacted: token]"},
		"JSON":                     {`{"password": "hunter22", "apiKey":"abcdef123456"}`, `{"password": "[redacted: password]", "apiKey":"[redacted: api key]"}`},
		"JSON inside a string":     {`"{\"password\":\"hunter22\"}"`, `"{\"password\":\"[redacted: password]\"}"`},
		"YAML":                     {"client_secret: 8f14e45fceea167a", "client_secret: [redacted: secret]"},
		"source code":              {`token = "a1b2c3d4e5"`, `token = "[redacted: token]"`},
		"Go source":                {`password := "a1b2c3d4e5"`, `password := "[redacted: password]"`},
		"a very long token":        {"ghp" + "_" + strings.Repeat("a1", 5000) + " x", "[redacted: github token] x"},
		"a very long secret":       {"secret=" + strings.Repeat("a1", 5000) + " x", "secret=[redacted: secret] x"},
		"letters that are no word": {"x" + strings.ToUpper(aws), "x" + aws},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Text(tt.in)
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
			if again := Text(got); again != got {
				t.Errorf("a second time: %q", again)
			}
		})
	}
}

// Inputs made to be looked at again and again take no longer than others: four
// times as much text takes about four times as long, and never sixteen times.
func TestTextIsLinear(t *testing.T) {
	t.Parallel()
	took := func(s string, size int) time.Duration {
		in := strings.Repeat(s, size/len(s))
		start := time.Now()
		Text(in)
		return time.Since(start)
	}
	for _, s := range []string{
		"sk-", "eyJ-", "eyJaaaaaaaaa.", "eyJ0.", "token=", "token=(", "password:x", "://a:", "://a:@", "bearer ", "-", "=", "e", "a", "a-", "%3D", "token%3D",
		"-----BEGIN " + "PRIVATE KEY-----\n", "-----END " + "PRIVATE KEY-----\n", `secret="`, `token=\"'`, "cookie:", "authorization: ", "curl -u ",
		"--password ", "--password=", "password ", "1:a:b", "a:1:b", "a:11:b:c", "\\n", "'", "set a_token ", ";password=", "<password>", "str:", "string ", "password: str", "@tcp(", ".atlasv1.",
	} {
		const tries = 10 // of which one is enough: the machine may be busy
		for try := 1; ; try++ {
			short, long := took(s, 32<<10), took(s, 128<<10)
			if long < 10*short {
				break
			}
			if try == tries {
				t.Errorf("%q: 32 KB took %v, 128 KB took %v", s, short, long)
				break
			}
		}
	}
}
