package redact

import "testing"

func TestDir(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, home, want string }{
		{"/home/ann/proj and /home/ann", "/home/ann", "~/proj and ~"},
		{"cd /home/ann.", "/home/ann/", "cd ~."},
		{"file:///home/ann/x --dir=/home/ann/y \"/home/ann\"", "/home/ann", "file://~/x --dir=~/y \"~\""},
		{"/home/anna /home/ann-b /home/ann.old /backup/home/ann", "/home/ann", "/home/anna /home/ann-b /home/ann.old /backup/home/ann"},
		{`C:\Users\ann\x {"p":"C:\\Users\\ann\\y"}`, `C:\Users\ann`, `~\x {"p":"~\\y"}`},
		{"/home/ann/home/ann", "/home/ann", "~/home/ann"},
		{"/a/b", "/", "/a/b"},
		{"/a/b", "", "/a/b"},
	} {
		if got := Dir(tt.in, tt.home, "~"); got != tt.want {
			t.Errorf("Dir(%q, %q) = %q, want %q", tt.in, tt.home, got, tt.want)
		}
	}
}
