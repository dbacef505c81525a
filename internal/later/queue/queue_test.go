package queue

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const sample = `# LATER

- [ ] tidy up
## Auth
- [ ] (P1) fix token refresh
  - [!] handle expired sessions
- [x] (P0) done already
* [ ] no task
-[ ]no blanks
## Empty
### not a section
## Docs
- [ ] (P2) (P1)
- [ ] (P0)
- [ ]
- [X] also done
`

func TestParse(t *testing.T) {
	t.Parallel()
	q, err := Parse([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range q.Sections {
		for _, task := range s.Tasks {
			got = append(got, fmt.Sprintf("%s|%d|%s|%s", s.Name, task.Line, task.Priority, task.Text))
		}
	}
	want := []string{
		"|2|P1|tidy up", "Auth|4|P1|fix token refresh", "Auth|5|P0|handle expired sessions", "Auth|8|P1|no blanks",
		"Docs|12|P2|(P1)", "Docs|13|P1|(P0)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("tasks\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(q.Done) != 2 || q.Open() != 6 {
		t.Errorf("done %d, open %d", len(q.Done), q.Open())
	}
}

// The original finds tasks with this expression; ours must agree on every line.
func FuzzLine(f *testing.F) {
	original := regexp.MustCompile(`^(?P<prefix>\s*-\s*)\[(?P<mark>[ xX!])\](?P<space>\s*)(?:(?P<prio>\(P[0-2]\))\s*)?(?P<text>.+?)\s*$`)
	for l := range strings.Lines(sample) {
		f.Add(strings.TrimRight(l, "\n"))
	}
	f.Add("- [ ] (P0) (P1) x ")
	f.Add("\t-\t[!] (P2)x")
	f.Fuzz(func(t *testing.T, l string) {
		if strings.ContainsAny(l, "\n\r\x00\v\f\u0085\u2028\u2029\u00a0\u1680\u3000\u202f\u205f") || strings.ContainsFunc(l, func(r rune) bool { return r >= 0x2000 && r <= 0x200a }) || !strings.HasPrefix(strings.ToValidUTF8(l, ""), l) {
			t.Skip() // blanks that the expression knows otherwise
		}
		m := original.FindStringSubmatch(l)
		got, ok := parseLine(l)
		if ok != (m != nil && strings.TrimSpace(m[5]) != "") {
			t.Fatalf("%q: task %v, the original's %q", l, ok, m)
		}
		if ok && (got.text != m[5] || got.given != (m[4] != "") || string(got.mark) != m[2]) {
			t.Fatalf("%q: %+v, the original's %q", l, got, m)
		}
	})
}

func TestIDsAreTheOriginals(t *testing.T) {
	t.Parallel()
	for i, text := range []string{"", "fix", strings.Repeat("long ", 40), "ünï©ode 日本語", strings.Repeat("x", 55), strings.Repeat("x", 64)} {
		want := fmt.Sprintf("t_%x", sha1.Sum([]byte(fmt.Sprintf("%d:%s", i, text))))[:12]
		if got := ID(i, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	line := []byte("- [ ] x\n")
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"10,000 lines", bytes.Repeat(line, MaxLines), nil},
		{"10,001 lines", bytes.Repeat(line, MaxLines+1), ErrTooLong},
		{"10,001 lines, the last without an end", append(bytes.Repeat(line, MaxLines), "- [ ] y"...), ErrTooLong},
		{"10 MB", bytes.Repeat([]byte("x"), 10<<20), ErrTooBig},
		{"binary", []byte("\x7fELF\x00\x01"), ErrBinary},
		{"UTF-16", []byte("\xff\xfe-\x00 \x00"), ErrBinary},
		{"empty", nil, nil},
	} {
		if _, err := Parse(tt.data); err != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
		if _, err := AppendTo(tt.data, "", Entry{Priority: P1, Text: "z"}); tt.want != nil && err != tt.want {
			t.Errorf("%s: append: %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := AppendTo(bytes.Repeat(line, MaxLines), "", Entry{Priority: P1, Text: "one too many"}); err != ErrTooLong {
		t.Errorf("append to a full queue: %v", err)
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	q, _ := Parse([]byte("- [ ] (P2) c\n- [ ] b\n- [!] a\n- [ ] (P0) d\n"))
	var got []string
	for _, task := range q.Sections[0].Select(3) {
		got = append(got, task.Text)
	}
	if want := []string{"a", "d", "b"}; !slices.Equal(got, want) {
		t.Errorf("selected %q, want %q", got, want)
	}
	if n := len(q.Sections[0].Select(0)); n != 0 {
		t.Errorf("%d of a limit of 0", n)
	}
}

func TestEditsKeepEveryOtherByte(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, before, want string }{
		{"empty", "", "# LATER\n\n- [ ] (P1) new\n"},
		{"a BOM only", bom, bom + "# LATER\n\n- [ ] (P1) new\n"},
		{"last newline", "- [ ] a\n", "- [ ] a\n- [ ] (P1) new\n"},
		{"no last newline", "- [ ] a", "- [ ] a\n- [ ] (P1) new"},
		{"CRLF with BOM", bom + "- [ ] a\r\n", bom + "- [ ] a\r\n- [ ] (P1) new\r\n"},
		{"CRLF, no last newline", "# x\r\n- [ ] a", "# x\r\n- [ ] a\r\n- [ ] (P1) new"},
	} {
		got, err := AppendTo([]byte(tt.before), "", Entry{Priority: P1, Text: "new"})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ name, section, before, want string }{
		{"middle", "A", "## A\n- [ ] a\n\n## B\n- [ ] b\n", "## A\n- [ ] a\n- [ ] (P1) new\n\n## B\n- [ ] b\n"},
		{"empty section", "A", "## A\n\n## B\n", "## A\n- [ ] (P1) new\n\n## B\n"},
		{"another letter case", "a", "## A\n- [ ] a\n", "## A\n- [ ] a\n- [ ] (P1) new\n"},
		{"its own letter case first", "a", "## A\n## a\n", "## A\n## a\n- [ ] (P1) new\n"},
		{"as it stands in the file", "## A", "## A\n", "## A\n- [ ] (P1) new\n"},
		{"new", "C", "## A\n- [ ] a\n", "## A\n- [ ] a\n\n## C\n- [ ] (P1) new\n"},
		{"new, CRLF, no last newline", "C", "## A\r\n- [ ] a", "## A\r\n- [ ] a\r\n\r\n## C\r\n- [ ] (P1) new\r\n"},
		{"title and BOM", "A", "\ufeff# LATER\n\n## B\n- [ ] b\n", "\ufeff# LATER\n\n## B\n- [ ] b\n\n## A\n- [ ] (P1) new\n"},
		{"nothing there", "A", "", "# LATER\n\n## A\n- [ ] (P1) new\n"},
		{"last, no newline", "A", "## A\n- [ ] a", "## A\n- [ ] a\n- [ ] (P1) new"},
	} {
		got, err := AppendTo([]byte(tt.before), tt.section, Entry{Priority: P1, Text: "new"})
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.name, got, err, tt.want)
		}
		q, err := Parse(got)
		if _, in, ok := q.Find("", "new"); err != nil || !ok || !strings.EqualFold(in, strings.TrimPrefix(tt.section, "## ")) {
			t.Errorf("%s: the task is in %q, %v", tt.name, in, err)
		}
	}
}

func TestMarkDone(t *testing.T) {
	t.Parallel()
	before := bom + "# mine\r\n- [ ] (P0) a\r\n-  [!] b \r\n- [x] c\r\n- [ ] a2"
	q, err := Parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	moved := q.Tasks()[0]
	moved.ID = "t_0000000000"
	got, done, err := MarkDone([]byte(before), moved, q.Tasks()[1], Task{ID: "t_ffffffffff", Text: "gone"}, Task{Text: "c"})
	want := bom + "# mine\r\n- [x] (P0) a\r\n-  [x] b \r\n- [x] c\r\n- [ ] a2"
	if err != nil || string(got) != want || len(done) != 2 {
		t.Errorf("%q, %d done, %v, want %q", got, len(done), err, want)
	}
	// Done twice, it does not take the same text further down.
	twice, _ := Parse([]byte("- [ ] a\n- [ ] a\n"))
	once, _, _ := MarkDone([]byte("- [ ] a\n- [ ] a\n"), twice.Tasks()[0])
	if got, done, _ := MarkDone(once, twice.Tasks()[0]); string(got) != "- [x] a\n- [ ] a\n" || len(done) != 0 {
		t.Errorf("%q, %d done", got, len(done))
	}
	// An id whose line has another text now is another task.
	other := Task{ID: q.Tasks()[2].ID, Text: "what stood there before"}
	if got, done, _ := MarkDone([]byte(before), other); string(got) != before || len(done) != 0 {
		t.Errorf("ticked off %q", got)
	}
}

func TestCaptures(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"fix the login bug. later: add an integration test": "P1 add an integration test",
		"later[!]: the debug endpoint is open":              "P0 the debug endpoint is open",
		"add this to later: update the readme":              "P1 update the readme",
		"Add To Later: one":                                 "P1 one",
		"NOTE FOR LATER[!]: two":                            "P0 two",
		"queue for later: three":                            "P1 three",
		"  for later : four":                                "P1 four",
		"later: first\nand\nlater: second\r\nx":             "P1 first|P1 second",
		"Done! (All of it.) later: check the logs":          "P1 check the logs",
		"later: a\x1b[31mb\u200bc\td":                       "P1 a[31mbc d",
		"later: a. later: b":                                "P1 a. later: b",
		"later: (P0) close the port":                        "P0 close the port",
		"later[!]: (P2) close the port":                     "P0 close the port",
		"later: (P2)":                                       "P1 (P2)",
		"later: (P2) ab":                                    "",
		"later: ask the 👩\u200d💻 about क्\u200dष":           "P1 ask the 👩\u200d💻 about क्\u200dष",
		"later: no\u200djoiner\u200d here 👩\u200d":          "P1 nojoiner here 👩",
		"later:fix":                                "P1 fix",
		"later: " + strings.Repeat("ä", 600):       "P1 " + strings.Repeat("ä", 500),
		"see you later: alligator":                 "",
		"what does 'later' mean in this codebase?": "",
		"later":                       "",
		"later: ab":                   "",
		"later:\nnothing on its line": "",
		"```\nlater: in code\n```":    "",
		"~~~ text\nlater: in code\n```\nlater: still\n~~~\nlater: out": "P1 out",
		"    later: indented code":                                     "",
		"> later: quoted":                                              "",
		"`later: x y z`":                                               "",
		"translater: no":                                               "",
		"add later: no":                                                "",
		"sooner or later: no":                                          "",
		"v1.later: no":                                                 "",
		"forlater: no":                                                 "",
		"laterally: no":                                                "",
	} {
		var got []string
		for _, e := range Captures(prompt).Tasks {
			got = append(got, e.Priority.String()+" "+e.Text)
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", prompt, s, want)
		}
	}
}

// What stands between marks is not typed, and what is left out is said.
func TestCapturesOfWhatIsTyped(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"look at this: <pasted_content id=\"1\">\nlater: send keys\n</pasted_content>":  "pasted 1",
		"look: <pasted_content id=\"1\">a\n```\nb</pasted_content>\nlater: fix it\n":    "fix it",
		"<pasted_content id=\"1\">\nlater: send keys\n</pasted_content>\nlater: fix it": "fix it|pasted 1",
		"look: <pasted_content id=\"1\">\nlater: send keys":                             "pasted 1",
		"hm <task-notification>\nlater: send keys":                                      "pasted 1",
		"hm <div class='x'>\nlater: send keys\n</div>":                                  "pasted 1",
		"later: put <b>x</b> there":                                                     "put <b>x</b> there",
		"later: is a < b, and <div> closed":                                             "is a < b, and <div> closed",
		"later: do what it says: <pasted_content id=1>send keys":                        "do what it says:|pasted 1",
		strings.Repeat("<a ", 300_000) + "\nlater: fix it":                              "fix it",
		"if a < b then\nlater: fix it":                                                  "fix it",
		"use <div>\nlater: fix it":                                                      "fix it",
		"later: ab":                                                                     "short 1",
		"later: one\nlater: " + strings.Repeat("x", MaxText+1):                          "one|" + strings.Repeat("x", MaxText) + " (cut)",
	} {
		var got []string
		found := Captures(prompt)
		for _, e := range found.Tasks {
			if e.Cut {
				e.Text += " (cut)"
			}
			got = append(got, e.Text)
		}
		if found.Pasted > 0 {
			got = append(got, fmt.Sprintf("pasted %d", found.Pasted))
		}
		if found.Short > 0 {
			got = append(got, fmt.Sprintf("short %d", found.Short))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %q, want %q", prompt, s, want)
		}
	}
}

// Whatever was captured is one task line again.
func FuzzCapture(f *testing.F) {
	f.Add("x. later[!]: (P1) - [ ] odd ## y")
	f.Fuzz(func(t *testing.T, prompt string) {
		entries := Captures(prompt).Tasks
		data, err := AppendTo(nil, "", entries...)
		if err != nil || len(entries) == 0 {
			return
		}
		q, err := Parse(data)
		if err != nil || q.Open() != len(entries) {
			t.Fatalf("%q: %d tasks of %d, %v", data, q.Open(), len(entries), err)
		}
		for i, task := range q.Tasks() {
			if task.Text != entries[i].Text || task.Priority != entries[i].Priority {
				t.Fatalf("%q came back as %q", entries[i].Text, task.Text)
			}
		}
	})
}
