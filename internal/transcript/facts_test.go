package transcript

import (
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
)

func factsOf(t *testing.T, content string, since time.Time) Facts {
	t.Helper()
	f, err := ReadFacts(written(t, content), since)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func prompts(f Facts) []string {
	var list []string
	for _, p := range slices.Backward(f.Prompts) {
		list = append(list, p.Text)
	}
	return list
}

func TestPromptsAreWhatAPersonTyped(t *testing.T) {
	t.Parallel()
	queued := func(prompt, more string) string {
		return `{"type":"attachment","isSidechain":false,"attachment":{"type":"queued_command","prompt":` + prompt + `,"commandMode":"prompt"` + more + `},` + common + `}`
	}
	for name, tt := range map[string]struct {
		rows []string
		want []string
	}{
		"typed":                        {[]string{typed("  fix the parser\n")}, []string{"fix the parser"}},
		"no origin, older clients":     {[]string{asked(quote("fix it"), "")}, []string{"fix it"}},
		"blocks with an image":         {[]string{asked(`[{"type":"text","text":"see"},{"type":"image","source":{"data":"aa"}},{"type":"text","text":"this"}]`, "")}, []string{"see\n\nthis"}},
		"a reminder beside it":         {[]string{asked(`[{"type":"text","text":"<system-reminder>x</system-reminder>"},{"type":"text","text":"go"}]`, "")}, []string{"go"}},
		"case F76: compaction summary": {[]string{asked(quote(strings.Repeat("s", 20_000)), summaryFlag), asked(quote("old"), `"isCompactSummary":true,`)}, nil},
		"host's words":                 {[]string{asked(quote("Caveat: the messages below"), `"isMeta":true,`)}, nil},
		"subagent":                     {[]string{sidechain(typed("find the config"))}, nil},
		"case F10: task notification":  {[]string{asked(quote("<task-notification>\nlater: delete the tests"), `"origin":{"kind":"task-notification"},`)}, nil},
		"other origin":                 {[]string{asked(quote("hello from next door"), `"origin":{"kind":"peer"},`)}, nil},
		"wrappers without origin":      {[]string{asked(quote("<command-name>/exit</command-name>"), ""), asked(quote("<local-command-stdout>x"), ""), asked(quote(" [SYSTEM NOTIFICATION] x"), ""), asked(quote("<cross-session-message from=\"b\">"), "")}, nil},
		"tool results":                 {[]string{toolResult("t1", "output", false)}, nil},
		"typed while a turn runs":      {[]string{queued(quote("take B"), `,"origin":{"kind":"human"}`), queued(`[{"type":"text","text":"and C"}]`, "")}, []string{"take B", "and C"}},
		"a note while a turn runs":     {[]string{queued(quote("<task-notification>x"), ""), queued(quote("x"), `,"origin":{"kind":"peer"}`)}, nil},
		"half a row, a huge row":       {[]string{typed("a"), typed("b")[:120], typed(strings.Repeat("x", 2<<20)), typed("c")}, []string{"a", "c"}},
		"case F28: U+2028":             {[]string{typed("a\u2028b")}, []string{"a\u2028b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := prompts(factsOf(t, lines(tt.rows...), time.Time{})); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestFactsOfTools(t *testing.T) {
	t.Parallel()
	use := func(id, name, input string) string { return reply(toolUse(id, name, input), usage(20_000)) }
	got := factsOf(t, lines(
		typed("do it"),
		use("t1", "Write", `{"file_path":"/p/a.go","content":"x"}`), toolResult("t1", "ok", false),
		use("t2", "Edit", `{"file_path":"/p/b.go","old_string":"x"}`), toolResult("t2", "not found", true),
		use("t3", "Edit", `{"file_path":"/p/a.go"}`), toolResult("t3", "not found", true),
		use("t4", "NotebookEdit", `{"notebook_path":"n.ipynb"}`), toolResult("t4", "ok", false),
		use("t5", "Read", `{"file_path":"/p/c.go"}`), toolResult("t5", "ok", false),
		use("t6", "Bash", `{"command":"go vet ./...","description":"vet"}`), toolResult("t6", "", false),
		use("t7", "Bash", `{"command":"go test ./..."}`), toolResult("t7", "1\n2\n3\n4\n5\n6\n7\n8\n9", true),
		use("t8", "MultiEdit", `{"file_path":"/p/d.go"}`),
		use("t9", "Write", `["not an object"]`),
		sidechain(use("ta", "Bash", `{"command":"ls"}`)),
		use("tb", "Bash", `{"command":"make","timeout":"soon"}`),
	), time.Time{})
	if want := []File{{Path: "/p/d.go", Edited: true}, {Path: "/p/c.go"}, {Path: "n.ipynb", Edited: true}, {Path: "/p/a.go", Edited: true}}; !slices.Equal(got.Files, want) {
		t.Errorf("files %+v, want %+v", got.Files, want)
	}
	want := []Command{{Text: "make"}, {Text: "go test ./...", Failed: true, Output: "1\n2\n3\n4\n5\n6\n7\n8"}, {Text: "go vet ./..."}}
	if !slices.Equal(got.Commands, want) {
		t.Errorf("commands %+v, want %+v", got.Commands, want)
	}
	if got.Cwd != "/home/ann/proj" || got.Branch != "main" || got.Version != "2.1.332" {
		t.Errorf("cwd %q, branch %q, version %q", got.Cwd, got.Branch, got.Version)
	}
}

func TestTodo(t *testing.T) {
	t.Parallel()
	use := func(id, name, input string) string { return reply(toolUse(id, name, input), usage(20_000)) }
	created := func(call, id string) string {
		return strings.Replace(toolResult(call, "Task #"+id+" created successfully: x", false), `"uuid"`, `"toolUseResult":{"task":{"id":"`+id+`","subject":"x"}},"uuid"`, 1)
	}
	whole := use("w", "TodoWrite", `{"todos":[{"content":"parse","status":"completed","activeForm":"Parsing"},{"content":"print","status":"in_progress"},{"status":"pending"}]}`)
	for name, tt := range map[string]struct {
		rows []string
		want []Item
	}{
		"none":          {nil, nil},
		"TodoWrite":     {[]string{use("v", "TodoWrite", `{"todos":[{"content":"old"}]}`), whole}, []Item{{"parse", "completed"}, {"print", "in_progress"}}},
		"emptied":       {[]string{whole, use("x", "TodoWrite", `{"todos":[]}`)}, nil},
		"of odd type":   {[]string{use("x", "TodoWrite", `{"todos":"all"}`)}, nil},
		"by a subagent": {[]string{whole, sidechain(use("x", "TodoWrite", `{"todos":[]}`))}, []Item{{"parse", "completed"}, {"print", "in_progress"}}},
		"task by task": {[]string{
			use("c1", "TaskCreate", `{"subject":"parse","description":"d","activeForm":"Parsing"}`), created("c1", "1"),
			use("c2", "TaskCreate", `{"subject":"print"}`), toolResult("c2", "Task #2 created successfully: print", false),
			use("c3", "TaskCreate", `{"subject":"refused"}`), toolResult("c3", "no", true),
			use("c4", "TaskCreate", `{"subject":"dropped"}`), created("c4", "3"),
			use("u1", "TaskUpdate", `{"taskId":"1","status":"completed"}`),
			use("u2", "TaskUpdate", `{"taskId":2,"status":"in_progress","subject":"print it"}`),
			use("u3", "TaskUpdate", `{"taskId":"#3","status":"deleted"}`),
			use("u4", "TaskUpdate", `{"taskId":"77","status":"completed"}`),
			use("u5", "TaskUpdate", `{"status":"completed"}`),
		}, []Item{{"parse", "completed"}, {"print it", "in_progress"}}},
		"the list touched last counts": {[]string{whole, use("c1", "TaskCreate", `{"subject":"new"}`)}, []Item{{"new", "pending"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := factsOf(t, lines(tt.rows...), time.Time{}).Todo; !slices.Equal(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Files that were only found, the newest search first.
func TestSeenFiles(t *testing.T) {
	t.Parallel()
	said := func(id, tool, input, text string) string {
		return lines(reply(toolUse(id, tool, input), usage(9)), toolResult(id, text, false))
	}
	f := factsOf(t, said("t1", "Glob", `{"pattern":"**/*.go"}`, "/p/src/old.go\n/p/src/new.go")+
		said("t2", "Read", `{"file_path":"/p/a.md"}`, "     1\tnot.this")+
		said("t3", "Grep", `{"pattern":"x"}`, "Found 2 files\nsrc/parse.go\nsrc/lex.go:12: import os.path")+
		said("t4", "Bash", `{"command":"ls -la && git status --short"}`, "-rw-r--r-- 1 a a 22 Sep  3 09:00 Makefile.am\n M docs/api.md\n?? notes.txt\ndone in 1.5s")+
		said("t5", "Bash", `{"command":"npm test"}`, "PASS a.test.ts (5 ms)"), time.Time{})
	if got, want := strings.Join(f.Seen, " "), "Makefile.am docs/api.md notes.txt src/parse.go src/lex.go /p/src/old.go /p/src/new.go"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// A program whose newest run failed is named before all others.
func TestAlsoRanNamesWhatIsBrokenFirst(t *testing.T) {
	t.Parallel()
	var rows []string
	run := func(id, line string, failed bool) {
		rows = append(rows, reply(toolUse(id, "Bash", `{"command":`+quote(line)+`}`), usage(9)), toolResult(id, "x", failed))
	}
	run("a", "make lint", true)
	run("b", "go vet ./...", true)
	run("c", "go vet ./...", false)
	run("d", "npm ci", false)
	run("e", "cargo test", false)
	f := factsOf(t, lines(rows...), time.Time{})
	if got := strings.Join(f.AlsoRan("npm ci", 1), "|"); got != "make lint" {
		t.Errorf("got %q", got)
	}
	if got := strings.Join(f.AlsoRan("npm ci", 9), "|"); got != "make lint|cargo test|go vet" {
		t.Errorf("got %q", got)
	}
}

func TestAnswerIsTheModelsLastText(t *testing.T) {
	t.Parallel()
	got := factsOf(t, lines(
		reply(textBlock("First."), usage(1)),
		reply(`{"type":"thinking","thinking":"hm"},`+textBlock("Now ")+`,`+textBlock("both."), usage(1)),
		reply(toolUse("t", "Read", `{}`), usage(1)),
		sidechain(reply(textBlock("A helper's."), usage(1))), synthRow, limitRow,
	), time.Time{})
	if got.Answer != "Now\n\nboth." {
		t.Errorf("answer %q", got.Answer)
	}
}

func TestSinceLimitsWhatWasDoneNotWhatIs(t *testing.T) {
	t.Parallel()
	at := func(clock, row string) string { return strings.Replace(row, "21:40:40.433", clock, 1) }
	use := func(id, name, input string) string { return reply(toolUse(id, name, input), usage(20_000)) }
	content := lines(
		at("10:00:00.000", typed("early")),
		at("10:00:01.000", use("a", "Bash", `{"command":"early"}`)),
		at("10:00:02.000", use("b", "Write", `{"file_path":"early"}`)),
		at("10:00:03.000", use("c", "TodoWrite", `{"todos":[{"content":"open","status":"pending"}]}`)),
		at("10:00:04.000", reply(textBlock("Early."), usage(1))),
		at("11:00:00.000", typed("late")),
		at("11:00:01.000", use("d", "Bash", `{"command":"late"}`)),
		at("11:00:02.000", use("e", "Write", `{"file_path":"late"}`)),
	)
	got := factsOf(t, content, time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC))
	want := Facts{
		Prompts:  []Prompt{{time.Date(2026, 11, 30, 11, 0, 0, 0, time.UTC), "late"}},
		Files:    []File{{Path: "late", Edited: true}},
		Commands: []Command{{Text: "late"}},
		Keys:     []string{"late"},
		Todo:     []Item{{"open", "pending"}},
		Answer:   "Early.",
		Branch:   "main", Cwd: "/home/ann/proj", Version: "2.1.332",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// Case F47: the rows name the directory; the newest one counts.
func TestCwdIsTheRows(t *testing.T) {
	t.Parallel()
	got := factsOf(t, lines(typed("a"), strings.Replace(typed("b"), "/home/ann/proj", "/home/ann/a-b/c", 1), `{"type":"mode"}`), time.Time{})
	if got.Cwd != "/home/ann/a-b/c" {
		t.Errorf("cwd %q", got.Cwd)
	}
}

func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("界", 9000)
	var rows []string
	for i := range 2 * MaxFiles {
		n := strings.Repeat("i", i+1)
		rows = append(rows, typed(n+long),
			reply(toolUse("b"+n, "Bash", `{"command":`+quote(n+long)+`}`), usage(1)), toolResult("b"+n, long, true),
			reply(toolUse("w"+n, "Write", `{"file_path":`+quote(n+"/"+long)+`}`), usage(1)),
			reply(toolUse("c"+n, "TaskCreate", `{"subject":`+quote(n+long)+`}`), usage(1)))
		if len(rows) > 300 {
			long = "" // enough of the long ones
		}
	}
	rows = append(rows, reply(textBlock(strings.Repeat("界", 9000)), usage(1)))
	got := factsOf(t, lines(rows...), time.Time{})
	if len(got.Prompts) != MaxPrompts || len(got.Commands) != MaxCommands || len(got.Files) != MaxFiles || len(got.Todo) != MaxTodo {
		t.Errorf("%d prompts, %d commands, %d files, %d todo items", len(got.Prompts), len(got.Commands), len(got.Files), len(got.Todo))
	}
	if last := got.Prompts[0].Text; len(last) != 2*MaxFiles {
		t.Errorf("the newest prompt has %d bytes, want the last one's %d", len(last), 2*MaxFiles)
	}
	if host.Len(got.Answer) > MaxAnswer {
		t.Errorf("the answer has %d characters", host.Len(got.Answer))
	}

	got = factsOf(t, lines(rows[:50]...), time.Time{})
	for _, c := range got.Commands {
		if host.Len(c.Text) > MaxCommandText || host.Len(c.Output) > MaxOutput || !c.Failed {
			t.Fatalf("command of %d characters, output of %d", host.Len(c.Text), host.Len(c.Output))
		}
	}
	for i := range got.Prompts {
		if host.Len(got.Prompts[i].Text) > MaxPromptText || host.Len(got.Files[i].Path) > MaxPath || host.Len(got.Todo[i].Text) > MaxTodoText {
			t.Fatal("a text is too long")
		}
	}
}

func TestFactsOfRecordedSessions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		prompts, edited, commands []string
		answer                    string
	}{
		"headless.jsonl":       {[]string{"list the files and write a.txt"}, []string{"/home/ann/proj/a.txt"}, []string{"ls"}, "Done."},
		"compact-manual.jsonl": {[]string{"split the parser", "go on", "next"}, nil, nil, "After the compaction."},
		"rate-limit.jsonl":     {[]string{"start", "go on"}, nil, nil, "Working."},
		"subagent.jsonl":       {[]string{"where is the config read?", "thanks"}, nil, nil, "Fine."},
	} {
		f, err := ReadFacts(filepath.Join("testdata", name), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		var commands []string
		for _, c := range slices.Backward(f.Commands) {
			commands = append(commands, c.Text)
		}
		if got := prompts(f); !slices.Equal(got, want.prompts) || !slices.Equal(f.Paths(Edited), want.edited) || !slices.Equal(commands, want.commands) || f.Answer != want.answer {
			t.Errorf("%s: prompts %q, files %+v, commands %q, answer %q", name, got, f.Files, commands, f.Answer)
		}
	}
}

func TestIsTyped(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "fix it", "/snapshot now", "what does <system-reminder> mean?", "<div> is not closed", "later: delete the tests", "[SYSTEM] crashed"} {
		if !IsTyped(s) {
			t.Errorf("%q was typed", s)
		}
	}
	for _, s := range []string{
		"<task-notification>\nlater: delete the tests", "\n <system-reminder>x", "[SYSTEM NOTIFICATION - NOT USER INPUT]", "<cross-session-message from=\"a\">hi",
		"<local-command-stdout>x", "<local-command-caveat>x", "<command-name>/exit</command-name>", "<command-message>x</command-message>", "<bash-stdout>x", "[Request interrupted by user for tool use]",
	} {
		if IsTyped(s) {
			t.Errorf("%q was not typed", s)
		}
	}
}
