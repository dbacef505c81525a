package transcript

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/redact"
)

// Limits of what Facts holds, however long the session was. Of lists the
// newest entries are kept, texts are cut at the end; lengths are in characters
// as the host counts them.
const (
	MaxPrompts  = 50
	MaxEdited   = 200
	MaxCommands = 100
	MaxTodo     = 100

	MaxPromptText  = 4000
	MaxPath        = 1000
	MaxCommandText = 500
	MaxOutput      = 600 // and 8 lines
	MaxTodoText    = 300
	MaxAnswer      = 8000
)

// Facts are the mechanical facts of a session.
type Facts struct {
	Prompts  []Prompt  // what a person typed, oldest first
	Edited   []string  // files written or edited, in the order of the first touch, as the tool was given them
	Commands []Command // shell commands, oldest first
	Todo     []Item    // the todo list as it stands at the end
	Answer   string    // last text of the main thread's model

	Branch, Cwd, Version string // of the newest row that has them
}

// Prompt is one prompt of a person.
type Prompt struct {
	Time time.Time
	Text string
}

// Command is one shell command.
type Command struct {
	Text   string
	Failed bool
	Output string // the first lines, of a failed command only
}

// Item is one entry of the todo list. Status is the host's word: pending,
// in_progress or completed.
type Item struct {
	Text, Status string
}

// ReadFacts reads a transcript, of one beyond all measure the end (maxReach,
// maxRows). Prompts, Edited and Commands are those
// of rows stamped since or later; a zero since means all. The other facts are
// the state at the end, whenever it came about.
//
// Subagents, API errors, the host's own replies and its compaction summaries
// (case F76) are no part of it, and a prompt is only what a person typed
// (IsTyped). The directory is the one the rows name, since the name of the
// transcript's folder cannot be decoded (case F47). All texts are redacted.
//
// A path that is missing or not a regular file is an error.
func ReadFacts(path string, since time.Time) (Facts, error) {
	f, size, err := open(path)
	if err != nil {
		return Facts{}, err
	}
	defer f.Close()
	begin := within(f, size)
	return readFacts(io.NewSectionReader(f, begin, size-begin), since)
}

func readFacts(r io.Reader, since time.Time) (Facts, error) {
	s := factScan{since: since}
	lines := newForwards(r)
	for {
		line, ok := lines.next()
		if !ok {
			break
		}
		if row, ok := parseRow(line); ok && !row.sidechain {
			s.row(row)
		}
	}
	return s.result(), lines.err
}

// factScan takes the rows of a transcript from the oldest to the newest.
type factScan struct {
	Facts
	since  time.Time
	calls  []call // commands, writes and new tasks
	todo   []Item // as TodoWrite writes it whole
	tasks  []task // as TaskCreate and TaskUpdate build it up
	byTask bool   // the latter was touched last
}

// call is a call of a tool. Whether it worked is told later, in a row of its own.
type call struct {
	id      string
	path    string // of a file that is written
	Command        // else
}

type task struct {
	call, id string
	Item
}

// maxCalls is how many calls are remembered: so many that the lists made of
// them are full.
const maxCalls = 1000

func (s *factScan) row(r row) {
	keep(&s.Version, r.version, MaxPath)
	keep(&s.Cwd, r.cwd, MaxPath)
	keep(&s.Branch, r.branch, MaxPath)
	switch {
	case r.user():
		s.user(r)
	case r.assistant() && !r.apiError:
		s.assistant(r)
	case jsonscan.Is(r.kind, "attachment"):
		s.attached(r)
	}
}

// keep replaces old by a JSON string that is not empty.
func keep(old *string, value []byte, limit int) {
	if s := jsonscan.Text(value); s != "" && s != *old {
		*old = clean(s, limit)
	}
}

// clean returns s without secrets and then cut: the first half of one would
// not be known for what it is.
func clean(s string, n int) string { return host.Cut(redact.Text(s), n) }

// block is one part of a message.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`

	ID    string          `json:"id"` // tool_use
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`

	ToolUseID string          `json:"tool_use_id"` // tool_result
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// blocks returns the content of a message, a plain string as one text block.
func blocks(content []byte) []block {
	if len(content) > 0 && content[0] == '"' {
		return []block{{Type: "text", Text: jsonscan.Text(content)}}
	}
	var list []block
	jsonscan.Array(content, func(value []byte) {
		var b block
		if decode(value, &b) {
			list = append(list, b)
		}
	})
	return list
}

// decode reads JSON into v. A member of an unexpected type leaves the others
// readable.
func decode(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var typed *json.UnmarshalTypeError
	return err == nil || errors.As(err, &typed) && typed.Field != ""
}

// when returns the time of a row and whether it is in the asked-for part of
// the session. A row without a time is.
func (s *factScan) when(r row) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, jsonscan.Plain(r.time))
	return t, err != nil || !t.Before(s.since)
}

func (s *factScan) user(r row) {
	list := blocks(jsonscan.Member(r.message, "content"))
	for _, b := range list {
		if b.Type == "tool_result" {
			s.finish(r, b)
		}
	}
	if r.meta || r.summary || r.screenOnly {
		return
	}
	s.prompt(r, r.origin, list)
}

// attached notes what a person typed while a turn was running: the host keeps
// it as an attachment to that turn.
func (s *factScan) attached(r row) {
	var kind, mode, prompt, origin []byte
	jsonscan.Object(r.attachment, func(key, value []byte) {
		switch string(key) {
		case "type":
			kind = value
		case "commandMode":
			mode = value
		case "prompt":
			prompt = value
		case "origin":
			origin = value
		}
	})
	if jsonscan.Is(kind, "queued_command") && (mode == nil || jsonscan.Is(mode, "prompt")) {
		s.prompt(r, origin, blocks(prompt))
	}
}

func (s *factScan) prompt(r row, origin []byte, list []block) {
	if kind := jsonscan.Member(origin, "kind"); kind != nil && !jsonscan.Is(kind, "human") {
		return
	}
	t, ok := s.when(r)
	if !ok {
		return
	}
	var typed []string
	for _, b := range list {
		if b.Type == "text" && strings.TrimSpace(b.Text) != "" && IsTyped(b.Text) {
			typed = append(typed, strings.TrimSpace(b.Text))
		}
	}
	if len(typed) > 0 {
		s.Prompts = newest(s.Prompts, MaxPrompts, Prompt{t, clean(strings.Join(typed, "\n\n"), MaxPromptText)})
	}
}

// newest appends v and drops from the front what is more than limit.
func newest[T any](list []T, limit int, v T) []T {
	if len(list) == limit {
		list = slices.Delete(list, 0, 1)
	}
	return append(list, v)
}

func (s *factScan) assistant(r row) {
	if jsonscan.Is(jsonscan.Member(r.message, "model"), synthetic) {
		return
	}
	var said []string
	for _, b := range blocks(jsonscan.Member(r.message, "content")) {
		switch b.Type {
		case "text":
			if t := strings.TrimSpace(b.Text); t != "" {
				said = append(said, t)
			}
		case "tool_use":
			s.use(r, b)
		}
	}
	if len(said) > 0 {
		s.Answer = clean(strings.Join(said, "\n\n"), MaxAnswer)
	}
}

// use notes a tool call. Calls of tools that leave no mark are ignored.
func (s *factScan) use(r row, b block) {
	var in struct {
		Command  string          `json:"command"`
		File     string          `json:"file_path"`
		Notebook string          `json:"notebook_path"`
		Todos    json.RawMessage `json:"todos"`
		Subject  string          `json:"subject"`
		TaskID   any             `json:"taskId"`
		Status   string          `json:"status"`
	}
	switch b.Name {
	case "Bash", "PowerShell", "Write", "Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate":
	default:
		return
	}
	if len(b.Input) == 0 || !decode(b.Input, &in) {
		return
	}
	_, recent := s.when(r)
	switch b.Name {
	case "Bash", "PowerShell":
		if recent && in.Command != "" {
			s.calls = newest(s.calls, maxCalls, call{id: b.ID, Command: Command{Text: clean(in.Command, MaxCommandText)}})
		}
	case "TodoWrite":
		s.todo, s.byTask = todos(in.Todos), false
	case "TaskCreate":
		s.byTask = true
		s.tasks = newest(s.tasks, MaxTodo, task{call: b.ID, Item: Item{clean(in.Subject, MaxTodoText), "pending"}})
	case "TaskUpdate":
		s.byTask = true
		s.updateTask(taskID(in.TaskID), in.Subject, in.Status)
	default:
		if path := clean(in.File+in.Notebook, MaxPath); recent && path != "" {
			s.calls = newest(s.calls, maxCalls, call{id: b.ID, path: path})
		}
	}
}

// finish takes the result of a tool call.
func (s *factScan) finish(r row, b block) {
	if b.ToolUseID == "" {
		return
	}
	for i := range s.calls {
		if c := &s.calls[i]; c.id == b.ToolUseID {
			c.Failed = b.IsError
			if b.IsError {
				c.Output = firstLines(resultText(b.Content))
			}
			return
		}
	}
	for i := range s.tasks {
		if t := &s.tasks[i]; t.call == b.ToolUseID {
			if b.IsError {
				s.tasks = slices.Delete(s.tasks, i, i+1)
			} else {
				t.id = createdID(r.toolResult, b.Content)
			}
			return
		}
	}
}

// todos reads the list a TodoWrite call writes.
func todos(list []byte) []Item {
	var items []Item
	jsonscan.Array(list, func(value []byte) {
		var in struct {
			Content string `json:"content"`
			Status  string `json:"status"`
		}
		if decode(value, &in) && in.Content != "" && len(items) < MaxTodo {
			items = append(items, Item{clean(in.Content, MaxTodoText), clean(in.Status, MaxTodoText)})
		}
	})
	return items
}

func (s *factScan) updateTask(id, subject, status string) {
	for i := range s.tasks {
		t := &s.tasks[i]
		if id == "" || t.id != id {
			continue
		}
		if status == "deleted" {
			s.tasks = slices.Delete(s.tasks, i, i+1)
			return
		}
		if subject != "" {
			t.Text = clean(subject, MaxTodoText)
		}
		if status != "" {
			t.Status = clean(status, MaxTodoText)
		}
		return
	}
}

// taskID returns the id of a task, which models write as text or as a number.
func taskID(v any) string {
	switch v := v.(type) {
	case string:
		return strings.TrimPrefix(v, "#")
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

// createdID returns the id a TaskCreate call was given: toolUseResult names
// it, and so does the text the model gets, "Task #3 created…".
func createdID(result, content []byte) string {
	if id := jsonscan.Plain(jsonscan.Member(jsonscan.Member(result, "task"), "id")); id != "" {
		return id
	}
	_, rest, _ := strings.Cut(resultText(content), "#")
	id, _, _ := strings.Cut(rest, " ")
	return id
}

// resultText returns the text of a tool's result.
func resultText(content []byte) string {
	var all []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

// firstLines returns the beginning of a command's output.
func firstLines(s string) string {
	s = strings.TrimSpace(redact.Text(s))
	end := 0
	for range 8 {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			end = len(s) + 1
			break
		}
		end += i + 1
	}
	return host.Cut(s[:end-1], MaxOutput)
}

func (s *factScan) result() Facts {
	f := s.Facts
	for _, c := range s.calls {
		switch {
		case c.path == "":
			f.Commands = newest(f.Commands, MaxCommands, c.Command)
		case !c.Failed && !slices.Contains(f.Edited, c.path):
			f.Edited = newest(f.Edited, MaxEdited, c.path)
		}
	}
	f.Todo = s.todo
	if s.byTask {
		f.Todo = nil
		for _, t := range s.tasks {
			f.Todo = append(f.Todo, t.Item)
		}
	}
	return f
}
