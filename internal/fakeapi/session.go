package fakeapi

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/txtar"
)

// Session is a scripted piece of work: what a person types and what the model
// answers. testdata/continuity/README.md describes the format of its file.
type Session struct {
	Client string       // version of the client it is for
	Todos  string       // the tool the model keeps its list with: TodoWrite or TaskCreate
	Files  []txtar.File // of the project, committed before the session begins
	Setup  []string     // shell commands that follow the commit
	Steps  []Step
}

// Step is one thing a person does: rewind, or type a line.
type Step struct {
	Line    int    // in the file, for messages
	Rewind  int    // how many prompts to go back; 0 is a step that types
	Code    bool   // of a rewind: restore the files as well
	Prompt  string // what is typed
	Summary string // what the host is told when it asks for a summary during this step
	Replies []Reply
}

// Compacts reports whether the step is a /compact, which no turn follows.
func (s Step) Compacts() bool {
	return s.Prompt == "/compact" || strings.HasPrefix(s.Prompt, "/compact ")
}

// Reply is one answer of the model.
type Reply struct {
	Text  string
	Calls []Call
	Full  bool   // reports a context that is all but full
	Brief string // the task of the agent that says it; empty for the main thread
}

// Call is one call of a tool and whether it is meant to fail.
type Call struct {
	ToolUse
	Fails bool
	Line  int
}

// Texts returns all that the script lets people and the model say.
func (s Session) Texts() []string {
	var texts []string
	for _, step := range s.Steps {
		texts = append(texts, step.Prompt, step.Summary)
		for _, r := range step.Replies {
			texts = append(texts, r.Text, r.Brief)
		}
	}
	return texts
}

// ParseSession reads a script. project is the directory that $PROJECT and
// relative paths in it stand for. Errors name the line.
func ParseSession(data []byte, project string) (Session, error) {
	a := txtar.Parse(data)
	p := sessionParser{project: project, lines: strings.Split(strings.TrimRight(string(a.Comment), "\n"), "\n")}
	p.Files = a.Files
	for p.at < len(p.lines) {
		at := p.at
		if err := p.line(); err != nil {
			return Session{}, fmt.Errorf("line %d: %w", at+1, err)
		}
	}
	if err := p.end(); err != nil {
		return Session{}, fmt.Errorf("line %d: %w", len(p.lines), err)
	}
	if p.Client == "" || p.Todos == "" || len(p.Steps) == 0 {
		return Session{}, errors.New("a script has a client, todos and at least one prompt")
	}
	return p.Session, nil
}

type sessionParser struct {
	Session
	project string
	lines   []string
	at      int

	text    string // said, and not yet part of a reply
	full    bool   // the next reply is
	brief   string // of the agent whose lines are being read
	inAgent bool
	summary string
	todos   []todo
}

type todo struct{ text, status string }

// Words of the host for the state of a todo item.
const (
	pending    = "pending"
	inProgress = "in_progress"
	completed  = "completed"
)

// line reads the line at p.at and those that belong to it.
func (p *sessionParser) line() error {
	line := p.lines[p.at]
	p.at++
	if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	indented := strings.HasPrefix(line, "  ")
	if p.inAgent && !indented {
		if err := p.endAgent(); err != nil {
			return err
		}
	}
	if indented != p.inAgent {
		return errors.New("only what an agent does is indented")
	}
	line = strings.TrimPrefix(line, "  ")
	also := strings.HasPrefix(line, "& ")
	word, rest, _ := strings.Cut(strings.TrimPrefix(line, "& "), " ")
	fails := strings.HasSuffix(word, "!")
	word = strings.TrimSuffix(word, "!")
	rest = strings.TrimSpace(p.expand(rest))
	if !also && !fails && p.person(word) {
		return p.personal(word, rest)
	}
	if len(p.Steps) == 0 || p.Steps[len(p.Steps)-1].Rewind > 0 {
		return errors.New("nobody has asked for anything yet")
	}
	switch word {
	case "say":
		if p.text != "" {
			return errors.New("two texts in a row")
		}
		p.text = rest + p.more(true)
		return nil
	case "full":
		p.full = true
		return nil
	}
	calls, err := p.calls(word, rest)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i].Fails, calls[i].Line = fails, p.at
	}
	step := &p.Steps[len(p.Steps)-1]
	if also {
		last := len(step.Replies) - 1
		if last < 0 || len(step.Replies[last].Calls) == 0 || p.text != "" || step.Replies[last].Brief != p.brief {
			return errors.New("& needs a call before it")
		}
		step.Replies[last].Calls = append(step.Replies[last].Calls, calls...)
		return nil
	}
	p.reply(calls)
	if word == "agent" {
		p.brief, p.inAgent = calls[0].Input["prompt"].(string), true
	}
	return nil
}

// person reports whether a line is about the person or the session.
func (p *sessionParser) person(word string) bool {
	switch word {
	case ">", "rewind", "summary", "client":
		return true
	case "todos", "setup":
		return len(p.Steps) == 0
	}
	return false
}

func (p *sessionParser) personal(word, rest string) error {
	switch word {
	case "client":
		p.Client = rest
	case "todos":
		if rest != "TodoWrite" && rest != "TaskCreate" {
			return fmt.Errorf("%q is no tool for todo items", rest)
		}
		p.Todos = rest
	case "setup":
		p.Setup = append(p.Setup, rest)
	case "summary":
		p.summary = strings.TrimPrefix(p.more(true), "\n")
	case ">":
		if err := p.end(); err != nil {
			return err
		}
		if rest == "" {
			return errors.New("an empty prompt")
		}
		p.Steps = append(p.Steps, Step{Line: p.at, Prompt: rest, Summary: p.summary})
		p.summary = ""
	case "rewind":
		if err := p.end(); err != nil {
			return err
		}
		back, what, _ := strings.Cut(rest, " ")
		n, err := strconv.Atoi(back)
		if err != nil || n < 1 || what != "" && what != "code" {
			return fmt.Errorf("rewind %q: want a number of prompts, and code to restore the files", rest)
		}
		p.Steps = append(p.Steps, Step{Line: p.at, Rewind: n, Code: what == "code"})
	}
	return nil
}

// end closes the step before: the model has the last word.
func (p *sessionParser) end() error {
	if err := p.endAgent(); err != nil {
		return err
	}
	if len(p.Steps) == 0 {
		return nil
	}
	if last := p.Steps[len(p.Steps)-1]; last.Rewind > 0 || last.Compacts() {
		return nil
	}
	if p.text == "" {
		return errors.New("the model has to say something at the end of its turn")
	}
	p.reply(nil)
	return nil
}

func (p *sessionParser) endAgent() error {
	if !p.inAgent {
		return nil
	}
	if p.text == "" {
		return errors.New("the agent has to say something at the end")
	}
	p.reply(nil)
	p.brief, p.inAgent = "", false
	return nil
}

// reply adds an answer with what has been said before it.
func (p *sessionParser) reply(calls []Call) {
	step := &p.Steps[len(p.Steps)-1]
	step.Replies = append(step.Replies, Reply{Text: p.text, Calls: calls, Full: p.full, Brief: p.brief})
	p.text, p.full = "", false
}

// more returns the lines that follow with a bar, without it; each with a line
// feed before it when lead is set, else after it.
func (p *sessionParser) more(lead bool) string {
	var b strings.Builder
	for ; p.at < len(p.lines); p.at++ {
		line := p.lines[p.at]
		if p.inAgent {
			line = strings.TrimPrefix(line, "  ")
		}
		line, ok := strings.CutPrefix(line, "|")
		if !ok {
			break
		}
		if lead {
			b.WriteString("\n" + p.expand(line))
		} else {
			b.WriteString(p.expand(line) + "\n")
		}
	}
	return b.String()
}

func (p *sessionParser) expand(s string) string { return strings.ReplaceAll(s, "$PROJECT", p.project) }

func (p *sessionParser) path(s string) string {
	if path.IsAbs(s) {
		return s
	}
	return path.Join(p.project, s)
}

// calls returns what a line of the model calls.
func (p *sessionParser) calls(word, rest string) ([]Call, error) {
	one := func(tool string, input map[string]any) ([]Call, error) {
		return []Call{{ToolUse: ToolUse{Name: tool, Input: input}}}, nil
	}
	if rest == "" {
		return nil, fmt.Errorf("%q needs more on its line", word)
	}
	switch word {
	case "sh":
		command := rest + p.more(true)
		return one("Bash", map[string]any{"command": command, "description": "Run " + strings.Fields(rest)[0]})
	case "read":
		f := strings.Fields(rest)
		input := map[string]any{"file_path": p.path(f[0])}
		for i, key := range []string{"offset", "limit"} {
			if len(f) > i+1 {
				n, err := strconv.Atoi(f[i+1])
				if err != nil {
					return nil, fmt.Errorf("read: %q is no line", f[i+1])
				}
				input[key] = n
			}
		}
		return one("Read", input)
	case "write":
		return one("Write", map[string]any{"file_path": p.path(rest), "content": p.more(false)})
	case "edit":
		path, all := strings.CutSuffix(rest, " all")
		old, changed := p.diff()
		if old == changed {
			return nil, errors.New("the edit changes nothing")
		}
		input := map[string]any{"file_path": p.path(path), "old_string": old, "new_string": changed}
		if all {
			input["replace_all"] = true
		}
		return one("Edit", input)
	case "agent":
		kind, description, ok := strings.Cut(rest, ": ")
		brief := strings.TrimPrefix(p.more(true), "\n")
		if !ok || brief == "" {
			return nil, errors.New("agent KIND: DESCRIPTION, and its task in the lines below")
		}
		return one("Agent", map[string]any{
			"description": description, "prompt": brief, "subagent_type": kind, "run_in_background": false,
		})
	case "todo":
		return p.todo(rest)
	}
	return nil, fmt.Errorf("%q is no word of a script", word)
}

// diff reads the lines of an edit: a minus is taken away, a plus comes in its
// place, what begins with a space stays.
func (p *sessionParser) diff() (old, changed string) {
	var a, b []string
	for ; p.at < len(p.lines) && p.lines[p.at] != "" && strings.ContainsAny(p.lines[p.at][:1], "-+ "); p.at++ {
		sign, text := p.lines[p.at][0], p.expand(p.lines[p.at][1:])
		if sign != '+' {
			a = append(a, text)
		}
		if sign != '-' {
			b = append(b, text)
		}
	}
	return strings.Join(a, "\n"), strings.Join(b, "\n")
}

// todo changes the list: "add A; B", or "start 2" and "done 1", several of them
// separated by commas.
func (p *sessionParser) todo(rest string) ([]Call, error) {
	var calls []Call
	texts, add := strings.CutPrefix(rest, "add ")
	changes := strings.Split(rest, ", ")
	if add {
		changes = strings.Split(texts, "; ")
	}
	for _, change := range changes {
		if add {
			p.todos = append(p.todos, todo{change, pending})
			calls = append(calls, Call{ToolUse: ToolUse{Name: "TaskCreate", Input: map[string]any{"subject": change, "description": change}}})
			continue
		}
		verb, item, _ := strings.Cut(change, " ")
		status := map[string]string{"start": inProgress, "done": completed}[verb]
		n, err := strconv.Atoi(item)
		if status == "" || err != nil || n < 1 || n > len(p.todos) {
			return nil, fmt.Errorf("todo %q: want add TEXT, start N or done N", change)
		}
		p.todos[n-1].status = status
		calls = append(calls, Call{ToolUse: ToolUse{Name: "TaskUpdate", Input: map[string]any{"taskId": item, "status": status}}})
	}
	if p.Todos == "TodoWrite" {
		list := []any{}
		for _, t := range p.todos {
			list = append(list, map[string]any{"content": t.text, "activeForm": t.text, "status": t.status})
		}
		return []Call{{ToolUse: ToolUse{Name: "TodoWrite", Input: map[string]any{"todos": list}}}}, nil
	}
	return calls, nil
}
