package gen

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf16"
)

// utf16le is text as editors of Windows save it when asked for "Unicode".
func utf16le(text string) []byte {
	out := []byte("\xff\xfe")
	for _, u := range utf16.Encode([]rune(text)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return out
}

func TestDecodeText(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                  "",
		"a\n":               "a\n",
		"\ufeffa\n":         "a\n",
		"ä\ufffd\U0001f600": "ä\ufffd\U0001f600",
	} {
		if got, problem := decodeText("f", []byte(in)); got != want || problem != nil {
			t.Errorf("%q is %q, %v", in, got, problem)
		}
	}
	for in, want := range map[string]string{
		"a\x00b":                        "f:1:2: the file is not text, a NUL byte stands here: save it as UTF-8\n    1 | a␀b\n      |  ^",
		"a\nä\xffb":                     "f:2:2: the file is not UTF-8 text from here on: save it as UTF-8\n    2 | ä�b\n      |  ^",
		"\ufeff\xe4":                    "f:1:1: the file is not UTF-8 text from here on: save it as UTF-8\n    1 | �\n      | ^",
		string(utf16le("name: x\n")):    "f:1:1: the file is UTF-16 text: save it as UTF-8",
		"\xfe\xff\x00a":                 "f:1:1: the file is UTF-16 text: save it as UTF-8",
		"n\x00a\x00m\x00e\x00:\x00\x00": "f:1:2: the file is not text, a NUL byte stands here: save it as UTF-8\n    1 | n␀a␀m␀e␀:␀␀\n      |  ^",
	} {
		if _, problem := decodeText("f", []byte(in)); problem == nil || problem.Error() != want {
			t.Errorf("%q: %v, want %s", in, problem, want)
		}
	}
}

// What an editor on Windows makes of a manifest is the same manifest.
func TestDecodeTakesWindowsText(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"a byte order mark": "\ufeff" + small,
		"CR LF":             "\ufeff" + strings.ReplaceAll(small, "\n", "\r\n"),
	} {
		if _, err := decode(ManifestPath, []byte(in), nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A place in a file with a byte order mark is the one an editor shows.
func TestByteOrderMarkHasNoColumn(t *testing.T) {
	t.Parallel()
	_, err := decode("m.yaml", []byte("\ufeffnam: x\n"), nil)
	wants(t, err, "m.yaml:1:1: unknown key \"nam\"; did you mean \"name\"?\n    1 | nam: x\n      | ^")
}

func TestProblemIsSafeToShow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		problem finding
		want    string
	}{
		"control characters": {
			finding{File: "a\x1b]0;b\a", Line: 1, Column: 6, Message: "no \x1b[2J", Source: "x\t\x1b[0mabc\u202e"},
			"a␛]0;b␇:1:6: no ␛[2J\n    1 | x\t␛[0mabc\\u202e\n      |  \t   ^",
		},
		"no UTF-8":     {finding{File: "a\xff", Message: "b\nc"}, "a\ufffd: b c"},
		"end of line":  {finding{File: "a", Line: 1, Column: 9, Message: "b", Source: "cd"}, "a:1:9: b\n    1 | cd\n      |   ^"},
		"long message": {finding{File: "a", Message: strings.Repeat("x", 9999)}, "a: " + strings.Repeat("x", maxMessage-1) + "…"},
		"long line, in the middle": {
			finding{File: "a", Line: 1, Column: 1001, Message: "b", Source: strings.Repeat("x", 1000) + "y" + strings.Repeat("z", 1000)},
			"a:1:1001: b\n    1 | …" + strings.Repeat("x", 60) + "y" + strings.Repeat("z", 59) + "…\n      | " + strings.Repeat(" ", 61) + "^",
		},
		"long line, at the end": {
			finding{File: "a", Line: 1, Column: 1001, Message: "b", Source: strings.Repeat("x", 1000)},
			"a:1:1001: b\n    1 | …" + strings.Repeat("x", 60) + "\n      | " + strings.Repeat(" ", 61) + "^",
		},
	} {
		if got := tt.problem.String(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestProblemsShowTheFirst(t *testing.T) {
	t.Parallel()
	ps := make(Problems, maxShown+2)
	for i := range ps {
		ps[i] = finding{File: "f", Message: "m"}
	}
	if got := strings.Split(ps.Error(), "\n"); len(got) != maxShown+1 || got[maxShown] != "and 2 more" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}

// Prose is held against the same rules as the manifest, with its own place.
func TestEmitRefusesProseThatIsNoText(t *testing.T) {
	t.Parallel()
	m, err := decode(ManifestPath, []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"Go.\n\nIt was caf\xe9.\n": "gen/content/first/go.md:3:11: the file is not UTF-8 text from here on",
		"a\x00":                    "gen/content/first/go.md:1:2: the file is not text",
		string(utf16le("Go.\n")):   "gen/content/first/go.md:1:1: the file is UTF-16 text",
	} {
		content := smallContent(t)
		content["gen/content/first/go.md"].Data = []byte(in)
		_, _, err := emit(m, content, nil)
		wants(t, err, want)
		content = smallContent(t)
		content["gen/content/first/go.md"].Data = []byte("x\n{{include \"piece.md\"}}\n")
		content["gen/content/first/piece.md"] = &fstest.MapFile{Data: []byte(in)}
		_, _, err = emit(m, content, nil)
		wants(t, err, "gen/content/first/go.md:2:3: "+strings.Replace(want, "go.md", "piece.md", 1))
	}
	content := smallContent(t)
	content["gen/content/first/go.md"].Data = []byte("\ufeffGo.\n")
	tree, _, err := emit(m, content, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := tree["marketplace/plugins/first/commands/go.md"].Data; strings.Contains(string(got), "\ufeff") {
		t.Errorf("the byte order mark is in the plugin: %q", got)
	}
}

// promptly fails the test when f does not come back: it waits for somebody to
// write into a pipe.
func promptly(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting")
	}
}

// What stands where a file belongs is named, and nothing waits.
func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{ManifestPath, templatePath, "gen/content/first/go.md", checksumsPath} {
		for what, place := range map[string]func(path string) error{
			"a named pipe": mkfifo,
			"a directory":  func(path string) error { return os.Mkdir(path, 0o755) },
			"a link":       func(path string) error { return os.Symlink("nowhere", path) },
		} {
			t.Run(name+" is "+what, func(t *testing.T) {
				t.Parallel()
				dir := smallProject(t)
				path := dir + "/" + name
				if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				if err := place(path); err != nil {
					t.Skip(err)
				}
				promptly(t, func() {
					p, err := open(dir, nil)
					if err == nil {
						defer p.Close()
						_, err = p.Generate()
					}
					want := fmt.Sprintf("%q is %s: put a file there", name, what)
					if what == "a link" {
						want = fmt.Sprintf("%q is a link that leads nowhere or out of the project: put what it stands for in its place", name)
					}
					if err == nil || !strings.Contains(sentence(err), want) {
						t.Errorf("the error is %v, want %s", err, want)
					}
					var ps Problems
					if errors.As(err, &ps) && len(ps) != 1 {
						t.Errorf("%d problems", len(ps))
					}
				})
			})
		}
	}
}
