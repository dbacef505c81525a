package state

import "testing"

func TestText(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		"":                               "",
		"a ü\r\n":                        "a ü\r\n",
		"\xef\xbb\xbfa ü":                "a ü",
		"\xff\xfea\x00\xfc\x00\r\x00":    "aü\r",
		"\xfe\xff\x00a\x00\xfc":          "aü",
		"\xff\xfe\x3d\xd8\x00\xde":       "😀",
		"\xff\xfe\x3d\xd8":               "\ufffd", // half a pair
		"\xff\xfea\x00b":                 "a",
		"\xff\xfe":                       "",
		"\xff":                           "\xff",
		"no mark \xff\xfe in the middle": "no mark \xff\xfe in the middle",
	} {
		if got := string(Text([]byte(data))); got != want {
			t.Errorf("%q: %q, want %q", data, got, want)
		}
	}
}
