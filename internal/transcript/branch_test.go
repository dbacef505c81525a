package transcript

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// node is a row of the thread with its own uuid and that of the one before it.
func node(row, uuid, parent string) string {
	p := quote(parent)
	if parent == "" {
		p = "null"
	}
	i := strings.Index(row, `"uuid":`)
	row = row[:i] + `"uuid":` + quote(uuid) + row[i+len(`"uuid":"735348af-a493-4e46-8222-76efee646088"`):]
	if rest, ok := strings.CutPrefix(row, `{"parentUuid":null`); ok {
		return `{"parentUuid":` + p + rest
	}
	_, rest, _ := strings.Cut(row, ",")
	return `{"parentUuid":` + p + "," + rest
}

// answered is a reply with an id of its own.
func answered(id, content string) string {
	return strings.Replace(reply(content, usage(20_000)), "msg_0001", id, 1)
}

func TestTurnsTakenBackAreDead(t *testing.T) {
	t.Parallel()
	edit := func(id, path string) string { return toolUse(id, "Edit", `{"file_path":`+quote(path)+`}`) }
	turn := func(n int, parent, word string) []string {
		u, a, r, e := fmt.Sprint("u", n), fmt.Sprint("a", n), fmt.Sprint("r", n), fmt.Sprint("e", n)
		return []string{
			node(typed("ask "+word), u, parent),
			node(answered("m"+a, edit("t"+a, word+".go")), a, u),
			node(toolResult("t"+a, "ok", false), r, a),
			node(answered("m"+e, textBlock("did "+word)), e, r),
		}
	}
	huge := func(uuid, parent string) string {
		return node(toolResult("tx", strings.Repeat("x", 2<<20), false), uuid, parent)
	}
	first, second := turn(1, "", "one"), turn(2, "e1", "two")
	for name, tt := range map[string]struct {
		rows           []string
		prompts, files string
		answer         string
	}{
		"none taken back": {slices.Concat(first, second), "ask one|ask two", "two.go|one.go", "did two"},
		"the last turn":   {slices.Concat(first, second, turn(3, "e1", "three")), "ask one|ask three", "three.go|one.go", "did three"},
		"two turns":       {slices.Concat(first, second, turn(3, "e2", "three"), turn(4, "e1", "four")), "ask one|ask four", "four.go|one.go", "did four"},
		"twice":           {slices.Concat(first, second, turn(3, "e1", "three"), turn(4, "e1", "four")), "ask one|ask four", "four.go|one.go", "did four"},
		"all of it":       {slices.Concat(first, second, turn(3, "", "three")), "ask three", "three.go", "did three"},
		"half a turn":     {slices.Concat(first, second, turn(3, "r2", "three")), "ask one|ask two|ask three", "three.go|two.go|one.go", "did three"},
		"after a compaction": {slices.Concat(first, second, []string{
			strings.Replace(node(boundary(`{"postTokens":9}`), "b", ""), `{"parentUuid"`, `{"logicalParentUuid":"e1","parentUuid"`, 1),
			node(asked(quote("the summary"), summaryFlag), "s", "b"),
		}, turn(3, "s", "three")), "ask one|ask three", "three.go|one.go", "did three"},
		"a compaction that names nothing": {slices.Concat(first, []string{node(boundary(`{}`), "b", "")}, turn(3, "b", "three")), "ask one|ask three", "three.go|one.go", "did three"},
		"a row is missing":                {slices.Concat(first, second[:2], second[3:], turn(3, "e2", "three")), "ask one|ask two|ask three", "three.go|two.go|one.go", "did three"},
		"a row is too long":               {slices.Concat(first, second, turn(3, "e1", "three")[:2], []string{huge("x", "a3"), node(answered("m9", textBlock("end")), "e9", "x")}), "ask one|ask three", "three.go|one.go", "end"},
		"a row is half written":           {slices.Concat(first, second, turn(3, "e1", "three"), []string{first[0][:90]}), "ask one|ask three", "three.go|one.go", "did three"},
		"the host's rows between":         {slices.Concat(first, []string{`{"type":"mode"}`, `{"type":"progress","uuid":"p","parentUuid":"e1"}`}, second, turn(3, "p", "three"), []string{`{"type":"progress","uuid":"q","parentUuid":"e2"}`}), "ask one|ask three", "three.go|one.go", "did three"},
		"subagents in between":            {slices.Concat(first, []string{sidechain(node(typed("find"), "k", "")), sidechain(node(answered("mk", edit("tk", "k.go")), "l", "k"))}, second), "ask one|ask two", "two.go|one.go", "did two"},
		"without uuids": {slices.Collect(func(yield func(string) bool) {
			for _, r := range slices.Concat(first, second) {
				i := strings.Index(r, `"uuid":`)
				j := i + strings.Index(r[i:], ",") + 1
				_, rest, _ := strings.Cut(r[:i]+r[j:], ",")
				yield("{" + rest)
			}
		}), "ask one|ask two", "two.go|one.go", "did two"},
		// The calls of a reply hang on one another, each result on its call, and
		// the next reply on the result that came last.
		"calls side by side": {[]string{
			node(typed("ask"), "u", ""),
			node(answered("m", edit("t1", "one.go")), "a1", "u"),
			node(answered("m", edit("t2", "two.go")), "a2", "a1"),
			node(answered("m", edit("t3", "three.go")), "a3", "a2"),
			node(toolResult("t3", "no", true), "r3", "a3"),
			node(toolResult("t2", "ok", false), "r2", "a2"),
			node(toolResult("t1", "ok", false), "r1", "a1"),
			node(answered("m2", textBlock("end")), "e", "r1"),
		}, "ask", "two.go|one.go", "end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := factsOf(t, lines(tt.rows...), time.Time{})
			if s := strings.Join(prompts(got), "|"); s != tt.prompts {
				t.Errorf("prompts %q, want %q", s, tt.prompts)
			}
			if s := strings.Join(got.Paths(Edited), "|") + strings.Join(got.Paths(EditedBefore), "|"); s != tt.files && strings.ReplaceAll(s, "one.go", "|one.go") != tt.files {
				t.Errorf("files %q, want %q", s, tt.files)
			}
			if got.Answer != tt.answer {
				t.Errorf("answer %q, want %q", got.Answer, tt.answer)
			}
		})
	}
}

// A page that is open in an editor, and how a slash command is kept, are not what
// was asked for.
func TestWhatIsAddedToAPromptIsTakenAway(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"<ide_opened_file>The user opened /w/a.go.</ide_opened_file>\nrename it":                                                  "rename it",
		"<ide_selection>Lines 1 to 2:\nfoo\n</ide_selection>\nrename it":                                                          "rename it",
		"<ide_selection>a</ide_selection><ide_diagnostics>b</ide_diagnostics>rename it":                                           "rename it",
		"rename it\n\n<ide_selection>Lines 1 to 2:\nfoo</ide_selection>":                                                          "rename it",
		"<system-reminder>x</system-reminder>\nrename it":                                                                         "rename it",
		"rename it\n<system-reminder>x</system-reminder>":                                                                         "rename it",
		"<ide_opened_file>only that</ide_opened_file>":                                                                            "",
		"<ide_selection>never ended":                                                                                              "",
		"<ide_opened_file>The user opened /w/a.go\nrename it":                                                                     "rename it",
		"what is <ide_selection>x</ide_selection>":                                                                                "what is <ide_selection>x</ide_selection>",
		"<command-message>fix</command-message>\n<command-name>/fix</command-name>\n<command-args>4821 the button</command-args>": "/fix 4821 the button",
		"<command-message>fix</command-message>\n<command-name>/fix</command-name>":                                               "/fix",
		"<command-name>/fix</command-name>\n<command-message>fix</command-message>\n<command-args>4821</command-args>":            "/fix 4821",
		"<command-name>/team:review</command-name>\n<command-args></command-args>":                                                "/team:review",
		"<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus</command-args>":        "",
		"/fix 4821": "/fix 4821",
		"  ":        "",
	} {
		if got := Typed(prompt); got != want {
			t.Errorf("%q: %q, want %q", prompt, got, want)
		}
	}
}

func TestWhatASessionDidByItsLastTouch(t *testing.T) {
	t.Parallel()
	use := func(name, input string) string { return reply(toolUse("t", name, input), usage(20_000)) }
	bash := func(line string) string { return use("Bash", `{"command":`+quote(line)+`}`) }
	file := func(name, path string) string { return use(name, `{"file_path":`+quote(path)+`}`) }
	f := factsOf(t, lines(
		file("Edit", "old.go"), file("Edit", "kept.go"), file("Read", "first.go"), bash("make old"),
		boundary(`{}`),
		file("Read", "kept.go"), file("Read", "a.go"), file("Write", "b.go"), file("Read", "b.go"),
		bash("cd /p && go vet ./... && pytest tests/x.py 2>&1 | tail"), bash("cat notes.md a.go"), bash("git status"),
		bash("go vet ./..."), file("Read", "a.go"),
	), time.Time{})
	for what, pick := range map[string]func(File) bool{"kept.go b.go": Edited, "old.go": EditedBefore, "a.go first.go": Read, "notes.md tests/x.py": Named} {
		got := f.Paths(pick)
		slices.Sort(got)
		want := strings.Fields(what)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if f.Files[0].Path != "a.go" || f.Files[len(f.Files)-1].Path != "old.go" {
		t.Errorf("files %+v: the last touch orders them", f.Files)
	}
	if got, want := f.Keys, []string{"go vet", "pytest", "make old"}; !slices.Equal(got, want) {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got, want := f.Ran(2), []string{"go vet ./...", "go vet ./... && pytest tests/x.py"}; !slices.Equal(got, want) {
		t.Errorf("ran %q, want %q", got, want)
	}
	if got, want := f.AlsoRan("go vet ./... && pytest tests/x.py", 5), []string{"make old"}; !slices.Equal(got, want) {
		t.Errorf("also ran %q, want %q", got, want)
	}
}

func TestFailingIsWhatHasNotWorkedSince(t *testing.T) {
	t.Parallel()
	f := Facts{Commands: []Command{{Text: "a"}, {Text: "b", Failed: true}, {Text: "b"}, {Text: "a", Failed: true}, {Text: "c", Failed: true}, {Text: "c", Failed: true}}}
	var got []string
	for _, c := range f.Failing(9) {
		got = append(got, c.Text)
	}
	if want := []string{"b", "c"}; !slices.Equal(got, want) {
		t.Errorf("failing %q, want %q", got, want)
	}
}

func TestTerms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"the retry in fetch.go still ignores --max-wait, fix it":   "fetch.go --max-wait",
		"Run `go` and `parse row` and `parseRow`, then MaxWait_x.": "parseRow MaxWait_x",
		"src/a/b.go: HTTPServer, server.stop() and evt_7f44":       "src/a/b.go HTTPServer server.stop evt_7f44",
		"e.g. this, i.e. that - or well-known things, 3.5 %, v1.2": "",
		"~/x/y and ./run.sh and https://example.com/a":             "~/x/y /run.sh //example.com/a",
		"NASA and JSON, the USA":                                   "",
		"令牌 refreshToken`x`":                                       "refreshToken",
		"`":                                                        "", "``": "", "-": "", "--": "", "": "",
	} {
		if got := strings.Join(Terms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
