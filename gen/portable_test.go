package gen

import (
	"testing"
)

// Paths that some system cannot have are said, and no others.
func TestPortable(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		paths []string
		want  string
	}{
		{[]string{"a/con.md"}, "a/con.md: Windows cannot have this name, so nobody there can check it out or install it: it is that of a device"},
		{[]string{"NUL/a", "NUL/b"}, "NUL: Windows cannot have this name, so nobody there can check it out or install it: it is that of a device"},
		{[]string{"a/b:c"}, "a/b:c: Windows cannot have this name, so nobody there can check it out or install it: it has :"},
		{[]string{`a\b`}, `a\b: Windows cannot have this name, so nobody there can check it out or install it: it has \`},
		{[]string{"a./b"}, "a.: Windows cannot have this name, so nobody there can check it out or install it: it ends in a dot or a space"},
		{[]string{"a/Foo.md", "a/foo.md"}, "a/foo.md: it differs from a/Foo.md in capitals only, and Windows and macOS keep one of the two"},
		{[]string{"A/x", "a/y"}, "a: it differs from A in capitals only, and Windows and macOS keep one of the two"},
		{[]string{"a/b", "a/c", "console.md", "auxiliary/com10", "com.md", ".a", "a b/c..d", "日本/é", "lptx"}, ""},
	} {
		files := tree{}
		for _, p := range tt.paths {
			files[p] = file{}
		}
		if got := files.portable().Error(); got != tt.want {
			t.Errorf("%q: %s; want %s", tt.paths, got, tt.want)
		}
	}
}

// A matcher is a regular expression of JavaScript; what Go alone does not know is none
// of its mistakes.
func TestBadMatcher(t *testing.T) {
	t.Parallel()
	for matcher, want := range map[string]string{
		"Bash(":        "a ) is missing",
		"Bash)":        "a ( is missing",
		"[a":           "a ] is missing",
		"*Bash":        "nothing stands before a *, + or ? that it could repeat",
		"Edit|+":       "nothing stands before a *, + or ? that it could repeat",
		"a**":          "nothing stands before a *, + or ? that it could repeat",
		"[z-a]":        "a range in [ ] runs backwards",
		"":             "",
		"*":            "",
		"Edit|Write":   "",
		"mcp__.*__x":   "",
		"^(?!Bash).*$": "",
		"(?<=a)b":      "",
		`(a)\1`:        "",
		`\(\[\*`:       "",
		`\u0041\cA\q`:  "",
		"(?<n>a)":      "",
		"Bash(git *)":  "",
		"日本":           "",
	} {
		if got := badMatcher(matcher); got != want {
			t.Errorf("%q: %q, want %q", matcher, got, want)
		}
	}
}
