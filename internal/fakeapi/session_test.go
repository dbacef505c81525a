package fakeapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const smallSession = `# a comment
client 2.1.332
todos TodoWrite
setup git tag v1

> look at $PROJECT/a.txt
say I will.
|Soon.
read a.txt 3 10
& sh! cat <<E
|x
|E
edit a.txt
-old
 kept
+new
todo add one; two, and three
todo done 1, start 2
agent Explore: Look
|Where is it?
  sh ls
  say There.
say Done.

rewind 1 code
summary
|what
|was
> /compact keep it
> and now?
full
say Nothing.
-- a.txt --
old
kept
`

func TestParseSession(t *testing.T) {
	t.Parallel()
	s, err := ParseSession([]byte(smallSession), "/p")
	if err != nil {
		t.Fatal(err)
	}
	if s.Client != "2.1.332" || s.Setup[0] != "git tag v1" || s.Files[0].Name != "a.txt" || len(s.Steps) != 4 {
		t.Fatalf("got %+v", s)
	}
	first := s.Steps[0]
	if first.Prompt != "look at /p/a.txt" || len(first.Replies) != 8 {
		t.Fatalf("%d replies: %+v", len(first.Replies), first)
	}
	reply := first.Replies[0]
	read, sh := reply.Calls[0], reply.Calls[1]
	if reply.Text != "I will.\nSoon." || read.Input["file_path"] != "/p/a.txt" || read.Input["offset"] != 3 || read.Input["limit"] != 10 || read.Fails {
		t.Errorf("%+v", reply)
	}
	if sh.Input["command"] != "cat <<E\nx\nE" || !sh.Fails {
		t.Errorf("%+v", sh)
	}
	if edit := first.Replies[1].Calls[0]; edit.Input["old_string"] != "old\nkept" || edit.Input["new_string"] != "kept\nnew" {
		t.Errorf("%+v", edit)
	}
	todos := first.Replies[3].Calls[0].Input["todos"].([]any)
	if one, two := todos[0].(map[string]any), todos[1].(map[string]any); one["status"] != completed || two["status"] != inProgress || two["content"] != "two, and three" {
		t.Errorf("%+v", todos)
	}
	for i, brief := range map[int]string{4: "", 5: "Where is it?", 6: "Where is it?", 7: ""} {
		if first.Replies[i].Brief != brief {
			t.Errorf("reply %d is of %q, want %q", i, first.Replies[i].Brief, brief)
		}
	}
	if s.Steps[1].Rewind != 1 || !s.Steps[1].Code {
		t.Errorf("%+v", s.Steps[1])
	}
	if s.Steps[2].Summary != "what\nwas" || !s.Steps[2].Compacts() || s.Steps[3].Summary != "" || !s.Steps[3].Replies[0].Full {
		t.Errorf("%+v", s.Steps[2:])
	}
	if texts := strings.Join(s.Texts(), "|"); !strings.Contains(texts, "what\nwas") || !strings.Contains(texts, "Where is it?") {
		t.Errorf("texts %q", texts)
	}

	// The other tool has a call for each change.
	s, err = ParseSession([]byte(strings.Replace(smallSession, "TodoWrite", "TaskCreate", 1)), "/p")
	if err != nil {
		t.Fatal(err)
	}
	calls := append(s.Steps[0].Replies[2].Calls, s.Steps[0].Replies[3].Calls...)
	if len(calls) != 4 || calls[1].Input["subject"] != "two, and three" || calls[3].Name != "TaskUpdate" || calls[3].Input["taskId"] != "2" {
		t.Errorf("%+v", calls)
	}
}

func TestParseSessionRefuses(t *testing.T) {
	t.Parallel()
	const head = "client 1\ntodos TaskCreate\n"
	for script, want := range map[string]string{
		"client 1\n> hello\nsay hi":               "a script has",
		head:                                      "a script has",
		head + "say hi":                           "line 3: nobody has asked",
		head + "> a\nsay b\nrewind 1\nsay c":      "line 6: nobody has asked",
		head + "> a\nread b":                      "line 4: the model has to say something",
		head + "> a\nsay b\nsay c":                "line 5: two texts",
		head + "> a\ndance b":                     `line 4: "dance" is no word`,
		head + "> a\nread":                        `line 4: "read" needs more`,
		head + "> a\nread b x":                    `line 4: read: "x"`,
		head + "> a\nedit b\n+c\n-c":              "line 4: the edit changes nothing",
		head + "> a\n& read b":                    "line 4: & needs a call",
		head + "> a\n  read b":                    "line 4: only what an agent does",
		head + "> a\ntodo done 1":                 `line 4: todo "done 1"`,
		head + "> a\nagent Explore: x":            "line 4: agent KIND",
		head + "> a\nagent E: x\n|y\n  sh z\nsay": "line 7: the agent has to say",
		head + "> a\nsay b\nrewind x":             `line 5: rewind "x"`,
		"client 1\ntodos List\n> a":               `line 2: "List" is no tool`,
	} {
		if _, err := ParseSession([]byte(script), "/p"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", script, err, want)
		}
	}
}

// No text brings the parser down, and what it takes ends every turn with a reply.
func FuzzParseSession(f *testing.F) {
	f.Add([]byte(smallSession))
	scripts, _ := filepath.Glob(continuity + "/scripts/*.txtar")
	for _, path := range scripts {
		if data, err := os.ReadFile(path); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseSession(data, "/p")
		if err != nil {
			return
		}
		for _, step := range s.Steps {
			if step.Rewind > 0 || step.Compacts() {
				continue
			}
			if n := len(step.Replies); n == 0 || len(step.Replies[n-1].Calls) > 0 {
				t.Errorf("line %d: nobody ends the turn", step.Line)
			}
		}
	})
}
