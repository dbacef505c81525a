package transcript

import (
	"bytes"
	"cmp"
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
	"github.com/ccreload/ccreload/internal/shell"
)

// Limits of what Facts holds, however long the session was. Of lists the
// newest entries are kept, texts are cut at the end; lengths are in characters
// as the host counts them.
const (
	MaxPrompts  = 50
	MaxFiles    = 200
	MaxCommands = 100
	MaxKeys     = 100
	MaxTodo     = 100

	MaxPromptText  = 4000
	MaxPath        = 1000
	MaxCommandText = 500
	MaxOutput      = 600 // and 8 lines
	MaxTodoText    = 300
	MaxAnswer      = 8000
	MaxSaid        = 2000 // of an answer before the last

	maxSaid = 12 // answers
	maxSeen = 60 // files that were found
	// maxSearched is how many results are looked through for them.
	maxSearched = 120
)

// Facts are the mechanical facts of a session. All lists but Todo have the newest
// first.
type Facts struct {
	Prompts  []Prompt  // what a person typed
	Files    []File    // that a tool read or wrote, or a command names, by their last touch
	Commands []Command // shell commands
	Keys     []string  // programs and subcommands that were run ("go test"), each once
	Broken   []string  // those of Keys whose newest run failed
	Todo     []Item    // the todo list as it stands at the end
	Answer   string    // last text of the main thread's model
	Said     []string  // the texts before it
	Seen     []string  // files that searches and listings named, whether or not they were opened then

	Branch, Cwd, Version string // of the newest row that has them
}

// Prompt is one prompt of a person.
type Prompt struct {
	Time time.Time
	Text string
}

// File is one file, under the name that was used for it.
type File struct {
	Path   string
	Edited bool // else it was read, or Named
	Named  bool // only a command names it
	Before bool // not touched since the last compaction
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

// Done reports whether nothing is left to do of an item.
func (i Item) Done() bool { return i.Status == "completed" }

// Begun reports whether an item is being worked on.
func (i Item) Begun() bool { return i.Status == "in_progress" }

// Open returns what is still to be done, what was begun first.
func (f Facts) Open() []Item {
	open := slices.DeleteFunc(slices.Clone(f.Todo), Item.Done)
	slices.SortStableFunc(open, func(a, b Item) int {
		switch {
		case a.Begun() == b.Begun():
			return 0
		case a.Begun():
			return -1
		}
		return 1
	})
	return open
}

// ReadFacts reads the live branch of a transcript, of one beyond all measure the
// end (maxReach, maxRows). Prompts, Files, Commands and Keys are those
// of rows stamped since or later; a zero since means all. The other facts are
// the state at the end, whenever it came about.
//
// Turns that were taken back (case F75), subagents, API errors, the host's own
// replies and its compaction summaries (case F76) are no part of it, and a prompt
// is only what a person typed (Typed). The directory is the one the rows name,
// since the name of the transcript's folder cannot be decoded (case F47). All
// texts are redacted.
//
// A path that is missing or not a regular file is an error.
func ReadFacts(path string, since time.Time) (Facts, error) {
	f, size, err := open(path)
	if err != nil {
		return Facts{}, err
	}
	defer f.Close()
	return readFacts(f, size, since)
}

// FactsAt is ReadFacts of the first size bytes of r, which hold whole rows.
func FactsAt(r io.ReaderAt, size int64) (Facts, error) { return readFacts(r, size, time.Time{}) }

func readFacts(r io.ReaderAt, size int64, since time.Time) (Facts, error) {
	s := newFactScan(since)
	err := s.scan(r, size)
	return s.facts(), err
}

func newFactScan(since time.Time) *factScan {
	return &factScan{
		since: since, results: map[string]result{}, keys: map[string]bool{}, files: map[string]int{}, replies: map[string][]block{},
		each: func(Event) {},
	}
}

func (s *factScan) scan(r io.ReaderAt, size int64) error {
	rows := newBranch(r, size)
	for {
		row, live, ok := rows.next()
		if !ok {
			return rows.lines.err
		}
		if rows.linear {
			clear(s.replies) // they come again
		}
		s.at = rows.lines.start()
		s.row(row, live)
	}
}

// factScan takes the rows of a transcript from the newest to the oldest.
type factScan struct {
	Facts
	since     time.Time
	at        int64             // where the row begins
	each      func(Event)       // is told what happened, the newest first
	results   map[string]result // of tool calls, by their id; those that matter
	outputs   int               // how many of them hold an output
	searched  int               // how many results were looked through for files
	replies   map[string][]block
	keys      map[string]bool
	files     map[string]int // index in Files
	compacted bool           // a compaction has been passed
	list      []Item         // as TodoWrite last wrote it whole
	listed    bool
	tasks     []taskCall // calls of TaskCreate and TaskUpdate, the newest first
}

// result is what a tool call came to.
type result struct {
	failed bool
	output string
	task   string   // id of the task that was created
	names  []string // of files, in what it said
}

// taskCall is a call that changes one entry of the todo list.
type taskCall struct {
	create              bool
	id, subject, status string
}

// How many results keep what they said, and how many replies of which it is not
// clear yet whether they are live are held.
const (
	maxOutputs = 2 * MaxCommands
	maxReplies = 64
	maxTasks   = 1000
)

func (s *factScan) row(r row, live bool) {
	if live {
		keep(&s.Version, r.version, MaxPath)
		keep(&s.Cwd, r.cwd, MaxPath)
		keep(&s.Branch, r.branch, MaxPath)
	}
	switch {
	case r.user():
		s.user(r, live)
	case r.assistant() && !r.apiError:
		s.assistant(r, live)
	case live && jsonscan.Is(r.kind, "attachment"):
		s.attached(r)
	case live && r.boundary():
		s.compacted = true
		s.each(Event{Kind: Compacted, Offset: s.at})
	}
}

// keep sets a text that is not known yet.
func keep(text *string, value []byte, limit int) {
	if *text == "" {
		*text = clean(jsonscan.Text(value), limit)
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

// user takes what a person typed, and the results of tools: those of calls that
// ran side by side hang on different rows, not all of them in the live branch.
func (s *factScan) user(r row, live bool) {
	content := jsonscan.Member(r.message, "content")
	if bytes.Contains(content, []byte(`"tool_result"`)) {
		jsonscan.Array(content, func(value []byte) { s.finish(r, value) })
	}
	if !live || r.meta || r.summary || r.screenOnly {
		return
	}
	if kind := jsonscan.Member(r.origin, "kind"); kind == nil || jsonscan.Is(kind, "human") {
		s.prompt(r, content)
	}
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
		if kind := jsonscan.Member(origin, "kind"); kind == nil || jsonscan.Is(kind, "human") {
			s.prompt(r, prompt)
		}
	}
}

func (s *factScan) prompt(r row, content []byte) {
	var typed []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			if text := Typed(b.Text); text != "" {
				typed = append(typed, text)
			}
		}
	}
	if len(typed) == 0 {
		return
	}
	text := strings.Join(typed, "\n\n")
	s.each(Event{Kind: Asked, Offset: s.at, Prompt: text})
	if t, ok := s.when(r); ok && len(s.Prompts) < MaxPrompts {
		s.Prompts = append(s.Prompts, Prompt{t, clean(text, MaxPromptText)})
	}
}

// assistant takes a row of a reply. A reply with several calls is several rows,
// and which of them the next row hangs on depends on which call was done first:
// they are all live if one is.
func (s *factScan) assistant(r row, live bool) {
	var id, model string
	var content []byte
	jsonscan.Object(r.message, func(key, value []byte) {
		switch string(key) {
		case "id":
			id = jsonscan.Plain(value)
		case "model":
			model = jsonscan.Plain(value)
		case "content":
			content = value
		}
	})
	if model == synthetic {
		return
	}
	if !live {
		if id != "" && bytes.Contains(content, []byte(`"tool_use"`)) {
			if len(s.replies) == maxReplies {
				clear(s.replies)
			}
			s.replies[id] = append(s.replies[id], calls(content)...)
		}
		return
	}
	list := blocks(content)
	if later := s.replies[id]; id != "" && len(later) > 0 {
		slices.Reverse(later)
		list = append(list, later...)
		delete(s.replies, id)
	}
	var said []string
	for _, b := range list {
		if t := strings.TrimSpace(b.Text); b.Type == "text" && t != "" {
			said = append(said, t)
		}
	}
	switch text := strings.Join(said, "\n\n"); {
	case text == "":
	case s.Answer == "":
		s.Answer = clean(text, MaxAnswer)
	case len(s.Said) < maxSaid:
		s.Said = append(s.Said, clean(text, MaxSaid))
	}
	for _, b := range slices.Backward(list) {
		if b.Type == "tool_use" {
			s.use(r, b)
		}
	}
}

// calls returns the tool calls of a message, the last first.
func calls(content []byte) []block {
	list := slices.DeleteFunc(blocks(content), func(b block) bool { return b.Type != "tool_use" })
	for i := range list {
		list[i].Input = bytes.Clone(list[i].Input)
	}
	slices.Reverse(list)
	return list
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
	done := s.results[b.ID]
	called := Event{Kind: Called, Offset: s.at, Call: Call{Tool: b.Name, Failed: done.failed}}
	defer func() { s.each(called) }()
	switch b.Name {
	case "Bash", "PowerShell", "Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "TodoWrite", "TaskCreate", "TaskUpdate":
	case "Grep", "Glob", "LS":
		s.found(done.names)
		return
	default:
		return
	}
	if len(b.Input) == 0 || !decode(b.Input, &in) {
		return
	}
	_, recent := s.when(r)
	switch b.Name {
	case "Bash", "PowerShell":
		called.Command = in.Command
		s.found(done.names)
		if recent && in.Command != "" {
			s.command(in.Command, done)
		}
	case "TodoWrite":
		list := todos(in.Todos)
		for _, item := range list {
			if item.Done() {
				called.Done = append(called.Done, item.Text)
			}
		}
		if !s.listed && len(s.tasks) == 0 {
			s.list, s.listed = list, true
		}
	case "TaskCreate", "TaskUpdate":
		t := taskCall{b.Name == "TaskCreate", taskID(in.TaskID), clean(in.Subject, MaxTodoText), clean(in.Status, MaxTodoText)}
		if t.create {
			t.id, t.status = done.task, "pending"
		}
		called.task = t
		if !s.listed && !done.failed && len(s.tasks) < maxTasks {
			s.tasks = append(s.tasks, t)
		}
	default:
		called.Path = in.File + in.Notebook
		if path := clean(called.Path, MaxPath); recent && path != "" && !done.failed {
			s.touch(File{Path: path, Edited: b.Name != "Read", Before: s.compacted})
		}
	}
}

// command notes a shell command, what it runs and the files it names.
func (s *factScan) command(line string, done result) {
	for _, c := range slices.Backward(shell.Commands(line)) {
		if key := clean(c.Key(), MaxPath); key != "" && !c.LooksAround() && !s.keys[key] && len(s.Keys) < MaxKeys {
			s.keys[key] = true
			s.Keys = append(s.Keys, key)
			if done.failed {
				s.Broken = append(s.Broken, key)
			}
		}
	}
	for _, path := range shell.Files(line) {
		s.touch(File{Path: clean(path, MaxPath), Named: true, Before: s.compacted})
	}
	if len(s.Commands) < MaxCommands {
		s.Commands = append(s.Commands, Command{clean(line, MaxCommandText), done.failed, done.output})
	}
}

// touch notes that a file was used. What is known of it is of a later use.
func (s *factScan) touch(f File) {
	i, ok := s.files[f.Path]
	if !ok {
		if len(s.Files) < MaxFiles {
			s.files[f.Path] = len(s.Files)
			s.Files = append(s.Files, f)
		}
		return
	}
	s.Files[i].Edited = s.Files[i].Edited || f.Edited
	s.Files[i].Named = s.Files[i].Named && f.Named
}

// finish takes a block of a user's row, for the result of a tool call. Of one that
// worked nothing has to be known.
func (s *factScan) finish(r row, block []byte) {
	var id, content []byte
	failed := false
	jsonscan.Object(block, func(key, value []byte) {
		switch string(key) {
		case "tool_use_id":
			id = value
		case "content":
			content = value
		case "is_error":
			failed = jsonscan.True(value)
		}
	})
	if len(id) == 0 {
		return
	}
	switch task := createdID(r.toolResult, content); {
	case failed:
		done := result{failed: true}
		if s.outputs < maxOutputs {
			s.outputs++
			done.output = firstLines(resultText(content))
		}
		s.results[jsonscan.Plain(id)] = done
	case task != "":
		s.results[jsonscan.Plain(id)] = result{task: task}
	case len(s.Seen) < maxSeen && s.searched < maxSearched:
		s.searched++
		if names := listed(resultText(content)); len(names) > 0 {
			s.results[jsonscan.Plain(id)] = result{names: names}
		}
	}
}

// found notes the files that a search or a listing named.
func (s *factScan) found(names []string) {
	for _, name := range names {
		if name = clean(name, MaxPath); len(s.Seen) < maxSeen && !slices.Contains(s.Seen, name) {
			s.Seen = append(s.Seen, name)
		}
	}
}

// Of the names that one result lists, how many are noted, and how far they are
// looked for.
const (
	maxListed     = 20
	maxListedText = 8000
)

// listed returns the files that the lines of a search or a listing begin with, or
// of one with their state (ls -l, git status) end with.
func listed(text string) []string {
	var names []string
	for line := range strings.Lines(text[:min(len(text), maxListedText)]) {
		fields := strings.Fields(line)
		if len(fields) == 0 || len(names) == maxListed {
			continue
		}
		name, _, _ := strings.Cut(fields[0], ":")
		if n := len(fields); n > 1 && (len(fields[0]) <= 2 || n >= 8 && len(fields[0]) >= 10 && fields[0][0] == '-') {
			name = fields[n-1]
		}
		if shell.IsFile(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
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

// tasked returns the todo list that the calls of the task tools built up.
func (s *factScan) tasked() []Item {
	type task struct {
		id string
		Item
	}
	var list []task
	for _, c := range slices.Backward(s.tasks) {
		if c.create {
			if len(list) == MaxTodo {
				list = slices.Delete(list, 0, 1)
			}
			list = append(list, task{c.id, Item{c.subject, c.status}})
			continue
		}
		i := slices.IndexFunc(list, func(t task) bool { return c.id != "" && t.id == c.id })
		switch {
		case i < 0:
		case c.status == "deleted":
			list = slices.Delete(list, i, i+1)
		default:
			list[i].Text, list[i].Status = cmp.Or(c.subject, list[i].Text), cmp.Or(c.status, list[i].Status)
		}
	}
	var items []Item
	for _, t := range list {
		items = append(items, t.Item)
	}
	return items
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
	if len(content) > 1000 || !bytes.Contains(content, []byte("Task #")) {
		return ""
	}
	_, rest, _ := strings.Cut(resultText(content), "Task #")
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

func (s *factScan) facts() Facts {
	s.Todo = s.list
	if len(s.tasks) > 0 {
		s.Todo = s.tasked()
	}
	return s.Facts
}
