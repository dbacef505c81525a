package term

import "testing"

func TestVisible(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":          {"a\tb\nÜ 漢 🙂", "a\tb\nÜ 漢 🙂"},
		"title, clear":   {"\x1b]0;evil\x07\x1b[2J", "␛]0;evil␇␛[2J"},
		"delete, null":   {"a\x7f\x00", "a␡␀"},
		"C1":             {"\u009b2J\u0085", `\u009b2J\u0085`},
		"C1 as a byte":   {"\x9b2J", "\ufffd2J"},
		"override":       {"a\u202egpj.exe", `a\u202egpj.exe`},
		"isolate":        {"\u2066a\u2069", `\u2066a\u2069`},
		"Windows lines":  {"a\r\nb\x1b", "a\nb␛"},
		"overwrite":      {"rm -rf /\rls", "rm -rf /␍ls"},
		"nothing at all": {"", ""},
	} {
		if got := Visible(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
