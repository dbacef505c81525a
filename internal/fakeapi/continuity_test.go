package fakeapi

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/record"
)

const (
	continuity = "../../testdata/continuity"
	home       = "/home/dev/" // of the transcripts

	maxTranscript, maxTranscripts = 1_500_000, 6_000_000 // bytes
)

// sessionRow is a row of a transcript, as far as these tests look at it.
type sessionRow struct {
	Type, Subtype, UUID, Version string
	Parent                       string `json:"parentUuid"`
	LogicalParent                string `json:"logicalParentUuid"`
	Meta                         bool   `json:"isMeta"`
	Summary                      bool   `json:"isCompactSummary"`
	Sidechain                    bool   `json:"isSidechain"`
	Compact                      struct {
		Trigger string
	} `json:"compactMetadata"`
	Message struct {
		Content json.RawMessage
	}
	raw any
}

type sessionBlock struct {
	Type, ID, Name, Text string
	Call                 string `json:"tool_use_id"`
	Failed               bool   `json:"is_error"`
	Input                struct {
		Command string
	}
}

// blocks returns the blocks of a message. Rows of other types repeat some of
// them as they went to the API.
func (r sessionRow) blocks() []sessionBlock {
	if r.Type != "user" && r.Type != "assistant" {
		return nil
	}
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []sessionBlock{{Type: "text", Text: text}}
	}
	var list []sessionBlock
	json.Unmarshal(r.Message.Content, &list)
	return list
}

// prompt returns what a person has typed, the record of a slash command
// included, or "".
func (r sessionRow) prompt() string {
	if r.Type != "user" || r.Meta || r.Summary {
		return ""
	}
	for _, b := range r.blocks() {
		if b.Type == "text" && !strings.HasPrefix(b.Text, "<local-command") && !strings.Contains(b.Text, "<command-name>/exit") {
			return b.Text
		}
	}
	return ""
}

// tally is what a transcript holds.
type tally struct {
	client               string
	calls                []string // names of tools
	tools                map[string]int
	prompts              int
	manual, auto, rewind int // compactions, and prompts on dead branches
	mended               int // commands that failed and succeeded later
	arguments            int // slash commands with arguments, /compact aside
}

func (c tally) line(name, what string) string {
	todos := "TodoWrite"
	if c.tools["TaskCreate"] > 0 {
		todos = "TaskCreate"
	}
	return fmt.Sprintf("| %s | %s | %s | %d | %d | %d + %d | %d | %d | %s |", name, what, c.client, len(c.calls), c.prompts, c.manual, c.auto, c.rewind, c.tools["Agent"], todos)
}

func count(rows []sessionRow) tally {
	c := tally{tools: map[string]int{}}
	byUUID := map[string]sessionRow{}
	newest := ""
	commands, failed := map[string]string{}, map[string]bool{}
	for _, r := range rows {
		if r.UUID != "" {
			byUUID[r.UUID], newest = r, r.UUID
		}
		c.client = max(c.client, r.Version)
		switch r.Compact.Trigger {
		case "manual":
			c.manual++
		case "auto":
			c.auto++
		}
		if p := r.prompt(); p != "" {
			c.prompts++
			if strings.Contains(p, "<command-args>") && !strings.Contains(p, "<command-args></command-args>") && !strings.Contains(p, "/compact<") {
				c.arguments++
			}
		}
		for _, b := range r.blocks() {
			switch b.Type {
			case "tool_use":
				c.calls = append(c.calls, b.Name)
				c.tools[b.Name]++
				commands[b.ID] = b.Input.Command
			case "tool_result":
				command := commands[b.Call]
				if failed[command] && !b.Failed {
					c.mended++
				}
				failed[command] = b.Failed && command != ""
			}
		}
	}
	live := map[string]bool{}
	for at := newest; at != "" && !live[at]; {
		live[at] = true
		if r := byUUID[at]; r.Parent != "" {
			at = r.Parent
		} else {
			at = r.LogicalParent
		}
	}
	for _, r := range rows {
		if r.prompt() != "" && !live[r.UUID] {
			c.rewind++
		}
	}
	return c
}

func readTranscript(t *testing.T, path string) []sessionRow {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > maxTranscript {
		t.Errorf("%d bytes", len(data))
	}
	var rows []sessionRow
	for line := range strings.Lines(string(data)) {
		var r sessionRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(line), &r.raw); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	return rows
}

// The transcripts are what README.md says of them and what their scripts ask
// for, and every ingredient of a long session is in one of them.
func TestContinuitySessions(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob(continuity + "/scripts/*.txtar")
	if err != nil || len(scripts) < 6 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	transcripts, _ := filepath.Glob(continuity + "/*.jsonl")
	if len(transcripts) != len(scripts) {
		t.Errorf("%d transcripts of %d scripts", len(transcripts), len(scripts))
	}
	readme, err := os.ReadFile(continuity + "/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var all tally
	total := 0
	tools, clients := map[string]int{}, map[string]bool{}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		session, err := ParseSession(script, home+name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		file := filepath.Join(continuity, name+".jsonl")
		rows := readTranscript(t, file)
		if info, err := os.Stat(file); err == nil {
			total += int(info.Size())
		}
		c := count(rows)
		what := regexp.MustCompile(`(?m)^\| ` + name + ` \| ([^|]*) \|`).FindStringSubmatch(string(readme) + "\n| " + name + " |  |")[1]
		if want := c.line(name, what); !strings.Contains(string(readme), want+"\n") {
			t.Errorf("README.md should say\n%s", want)
		}
		if n := len(c.calls); n < 60 || n > 200 {
			t.Errorf("%s: %d calls of tools", name, n)
		}
		if c.client != session.Client || !slices.Equal(c.calls, session.calls()) {
			t.Errorf("%s: the transcript is not of this script: make record-sessions", name)
		}
		foreign(t, name, rows, session.Texts())
		all.manual, all.auto, all.rewind = all.manual+c.manual, all.auto+c.auto, all.rewind+c.rewind
		all.mended, all.arguments = all.mended+c.mended, all.arguments+c.arguments
		clients[c.client] = true
		for tool, n := range c.tools {
			tools[tool] += n
		}
	}
	if total > maxTranscripts {
		t.Errorf("%d bytes in all", total)
	}
	for what, ok := range map[string]bool{
		"a compaction by hand and one by the host": all.manual > 0 && all.auto > 0,
		"a rewind":                            all.rewind > 0,
		"an agent":                            tools["Agent"] > 0,
		"both kinds of todo lists":            tools["TodoWrite"] > 0 && tools["TaskCreate"] > 0 && tools["TaskUpdate"] > 0,
		"a command that works in the end":     all.mended > 0,
		"a slash command with arguments":      all.arguments > 0,
		"files read, edited and written":      tools["Read"] > 0 && tools["Edit"] > 0 && tools["Write"] > 0,
		"clients of more than one generation": len(clients) > 1,
	} {
		if !ok {
			t.Errorf("there is not %s in any session", what)
		}
	}
}

// calls returns the names of the tools that the main thread calls.
func (s Session) calls() []string {
	var names []string
	for _, step := range s.Steps {
		for _, r := range step.Replies {
			for _, c := range r.Calls {
				if r.Brief == "" {
					names = append(names, c.Name)
				}
			}
		}
	}
	return names
}

// machine finds what may be a path of the machine on which was recorded.
var machine = regexp.MustCompile(`/home/[^d]\w*|/(root|work|Users|private|mnt|opt)/|ccreload-\d`)

// foreign fails the test when a row has a path of the machine in it, or a long
// text that is neither ours nor the work of a tool.
func foreign(t *testing.T, name string, rows []sessionRow, ours []string) {
	t.Helper()
	ours = slices.Clone(ours)
	slices.SortFunc(ours, func(a, b string) int { return len(b) - len(a) })
	own := map[string]bool{} // calls whose results are files and outputs
	reminder := regexp.MustCompile(`<system-reminder>[^x<]`)
	for n, r := range rows {
		kept := r.Type == "assistant"
		for _, b := range r.blocks() {
			own[b.ID] = b.Type == "tool_use" && slices.Contains([]string{"Bash", "Read", "Edit", "Write"}, b.Name)
			kept = kept || b.Type == "tool_result" && own[b.Call]
		}
		texts(r.raw, func(s string) {
			if m := machine.FindString(s); m != "" {
				t.Errorf("%s, row %d: %q is of some machine", name, n+1, m)
			}
			if reminder.MatchString(s) {
				t.Errorf("%s, row %d: a reminder of the host", name, n+1)
			}
			if kept || len(s) <= record.LongText {
				return
			}
			for _, text := range ours {
				if text != "" {
					s = strings.ReplaceAll(s, text, "")
				}
			}
			if s = strings.Trim(s, "x"); len(s) > record.LongText {
				t.Errorf("%s, row %d: %d characters of the host: %.60q…", name, n+1, len(s), s)
			}
		})
	}
}

// texts calls f with every string in a value of JSON.
func texts(v any, f func(string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, e := range v {
			texts(e, f)
		}
	case map[string]any:
		for key, e := range v {
			f(key)
			texts(e, f)
		}
	}
}
