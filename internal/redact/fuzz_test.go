package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzText(f *testing.F) {
	for _, s := range []string{ghp, pat, ant, oai, aws, xoxb, npm, lab, goog, web, pem, pem[:80], "Bearer " + ant, "postgres://a:b@c/d", `"password": "hunter22"`, "token=abcdef1 secret: 8f14e45fceea167a", `\"secret\":\"hunter22\"`, "[redacted: token]"} {
		f.Add(s)
		f.Add(s + "-" + s)
	}
	for _, row := range formats() {
		f.Add(strings.ReplaceAll(row.line, "§", row.secret))
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Text(s)
		if again := Text(got); again != got {
			t.Fatalf("%q became %q and then %q", s, got, again)
		}
		if len(got) > 32*len(s) {
			t.Fatalf("%d bytes became %d", len(s), len(got))
		}
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Fatalf("%q became %q: characters were split", s, got)
		}
	})
}

func BenchmarkText1MB(b *testing.B) {
	s := strings.Repeat("a line of prose, then token=abc123def and https://u:p4ssw0rd@host/\n", 1<<20/68)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Text(s)
	}
}
