package jsonscan

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a", `"\`, "<&>", "\x00\b\f\n\r\t\x1f\x7f", "\u2028\u2029", "é漢🙂", "a\xffb\xc3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := Quote(s)
		var back string
		if err := json.Unmarshal([]byte(quoted), &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("%q becomes %s, which is %q, %v", s, quoted, back, err)
		}
		if got := Text([]byte(quoted)); got != back {
			t.Errorf("%s is read as %q", quoted, got)
		}
		if strings.ContainsAny(quoted, "\n\u2028") || strings.Contains(quoted, `\u003c`) {
			t.Errorf("%q becomes %s", s, quoted)
		}
	})
}
