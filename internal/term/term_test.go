package term

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ in, want string }{
		"plain":           {"a\tb\nÜ 漢 🙂 ✔️ é", "a\tb\nÜ 漢 🙂 ✔️ é"},
		"title, clear":    {"\x1b]0;evil\x07\x1b[2J", "␛]0;evil␇␛[2J"},
		"delete, null":    {"a\x7f\x00", "a␡␀"},
		"C1":              {"\u009b2J\u0085", `\u009b2J\u0085`},
		"C1 as a byte":    {"\x9b2J", "\ufffd2J"},
		"override":        {"a\u202egpj.exe", `a\u202egpj.exe`},
		"isolate":         {"\u2066a\u2069", `\u2066a\u2069`},
		"marks":           {"\u200e\u200f\u061c", `\u200e\u200f\u061c`},
		"zero width":      {"\u200b\u200c\u200d\u2060\u2061\u2064\ufeff", `\u200b\u200c\u200d\u2060\u2061\u2064\ufeff`},
		"soft hyphen":     {"pass\u00adword", `pass\u00adword`},
		"tags":            {"a\U000e0001\U000e0068\U000e0069\U000e007f", `a\U000e0001\U000e0068\U000e0069\U000e007f`},
		"selectors":       {"a\U000e0100\U000e01ef", `a\U000e0100\U000e01ef`},
		"fillers":         {"\u115f\u3164\uffa0\u034f", `\u115f\u3164\uffa0\u034f`},
		"separators":      {"a\u2028b\u2029", `a\u2028b\u2029`},
		"Arabic number":   {"\u0600١", "\u0600١"},
		"Windows lines":   {"a\r\nb\x1b", "a\nb␛"},
		"overwrite":       {"rm -rf /\rls", "rm -rf /␍ls"},
		"no-break spaces": {"a\u00a0b\u202fc", "a\u00a0b\u202fc"},
		"nothing at all":  {"", ""},
	} {
		if got := Visible(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  a\r\n\tb  c\n":      "a b c",
		"a\x1b[1mb\u200b":      `a␛[1mb\u200b`,
		"one\u2028two\x00\n\n": `one\u2028two␀`,
	} {
		if got := Line(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestCutAndWidth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in    string
		n     int
		want  string
		width int // of want
	}{
		{"abc", 3, "abc", 3},
		{"abcd", 3, "ab…", 3},
		{"漢字漢", 6, "漢字漢", 6},
		{"漢字漢", 5, "漢字…", 5},
		{"漢字漢", 4, "漢…", 3},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301", 3},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", 2},
		{"🙂🙂", 3, "🙂…", 3},
		{"ab", 1, "…", 1},
	} {
		if got := Cut(tt.in, tt.n); got != tt.want || Width(got) != tt.width {
			t.Errorf("%q, %d: got %q, width %d, want %q, %d", tt.in, tt.n, got, Width(got), tt.want, tt.width)
		}
	}
	if got := Pad("漢", 4) + "|"; got != "漢  |" {
		t.Errorf("padded: %q", got)
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		in   string
		n    int
		want string
	}{
		{"one two three", 8, "one two|three"},
		{"one two three", 7, "one two|three"},
		{"one\n\ntwo", 8, "one||two"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"a bcdefghij", 6, "a bcde|fghij"},
		{"漢字漢字", 5, "漢字|漢字"},
		{"", 5, ""},
	} {
		if got := strings.Join(Wrap(tt.in, tt.n), "|"); got != tt.want {
			t.Errorf("%q, %d: got %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
}

// Whatever comes in, nothing comes out that a terminal obeys or a reader
// cannot see, and nothing is wider than was asked.
func FuzzTerm(f *testing.F) {
	for _, s := range []string{"a\tb", "\x1b[2J\u202e", "漢\u200b字", "\xff\U000e0041", "e\u0301 e\u0301", "one two three four"} {
		f.Add(s, 5)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		n = 2 + n&63
		shown := Visible(s)
		if !utf8.ValidString(shown) || Visible(shown) != shown {
			t.Errorf("%q becomes %q", s, shown)
		}
		for _, r := range shown {
			if r != '\n' && r != '\t' && !unicode.IsPrint(r) && !unicode.In(r, unicode.Zs, unicode.Co, unicode.Prepended_Concatenation_Mark) && assigned(r) {
				t.Errorf("%q shows %U", s, r)
			}
		}
		line := Line(s)
		if strings.ContainsAny(line, "\n\t") || Width(Cut(line, n)) > n {
			t.Errorf("%q: %q is no line of %d columns", s, Cut(line, n), n)
		}
		for _, l := range Wrap(line, n) {
			if Width(l) > n {
				t.Errorf("%q: %q is wider than %d", line, l, n)
			}
		}
	})
}

// assigned reports whether r is a character at all by now.
func assigned(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf)
}
