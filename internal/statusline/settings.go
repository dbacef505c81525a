package statusline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

const (
	bom = "\xef\xbb\xbf"
	key = "statusLine"
)

// settings is the text of the user's settings.json. It is edited in place:
// order, spacing and everything that is not ours stay byte for byte.
type settings []byte

// parse checks that data is a JSON object; nothing at all counts as an empty
// one. An error says where it stops being one.
func parse(data []byte) (settings, error) {
	body := bytes.TrimPrefix(data, []byte(bom))
	if len(bytes.TrimSpace(body)) == 0 {
		return settings("{}\n"), nil
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(body, &object)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		before := body[:min(int(syntax.Offset), len(body))]
		return nil, fmt.Errorf("line %d is not valid JSON: %w", 1+bytes.Count(before, []byte("\n")), err)
	case err != nil || object == nil:
		return nil, errors.New("it does not hold a JSON object")
	}
	return settings(data), nil
}

// command returns the status line command, "" when there is none.
func (s settings) command() string {
	var line struct {
		Command string `json:"command"`
	}
	if m, ok := s.find(); ok && json.Unmarshal(s[m.value:m.end], &line) == nil {
		return line.Command
	}
	return ""
}

// withCommand returns s with command as its status line. Other fields of an
// existing one, such as its padding, stay.
func (s settings) withCommand(command string) settings {
	m, ok := s.find()
	if !ok {
		return s.insert(command)
	}
	if c, ok := s.commandOf(m); ok {
		return s.splice(c.value, c.end, jsonscan.Quote(command))
	}
	return s.splice(m.value, m.end, object(command))
}

// restored returns s with the status line that stood in before. What else has
// changed since stays.
func (s settings) restored(before settings) settings {
	now, ok := s.find()
	if !ok {
		return s
	}
	then, ok := before.find()
	if !ok {
		return s.remove(now)
	}
	from, fromOK := before.commandOf(then)
	to, toOK := s.commandOf(now)
	if fromOK && toOK {
		return s.splice(to.value, to.end, string(before[from.value:from.end]))
	}
	return s.splice(now.value, now.end, string(before[then.value:then.end]))
}

// member is a name and its value inside an object: s[start:end], of which
// s[value:end] is the value.
type member struct{ start, value, end int }

// find returns the status line. Of several the last counts, as for the host.
func (s settings) find() (member, bool) { return s.last(s.all(), key) }

// commandOf returns the command of the status line m, when it is one that
// runs a command.
func (s settings) commandOf(m member) (member, bool) {
	list := s.members(m.value, m.end)
	kind, ok := s.last(list, "type")
	if !ok || !jsonscan.Is(s[kind.value:kind.end], "command") {
		return member{}, false
	}
	c, ok := s.last(list, "command")
	return c, ok && s[c.value] == '"'
}

func (s settings) last(list []member, name string) (member, bool) {
	for i := len(list) - 1; i >= 0; i-- {
		if s.name(list[i]) == name {
			return list[i], true
		}
	}
	return member{}, false
}

// open and shut are where the outermost object begins and ends.
func (s settings) open() int { return bytes.IndexByte(s, '{') }
func (s settings) shut() int { return bytes.LastIndexByte(s, '}') }

// all lists the members of the outermost object.
func (s settings) all() []member { return s.members(s.open(), len(s)) }

// members lists the members of the object s[from:to]; anything else has none.
func (s settings) members(from, to int) (list []member) {
	jsonscan.Object(s[from:to], func(key, value []byte) {
		// Both are parts of s, so their capacity tells where they begin.
		m := member{start: cap(s) - cap(key) - 1, value: cap(s) - cap(value)}
		m.end = m.value + len(value)
		list = append(list, m)
	})
	return list
}

// name returns the name of m.
func (s settings) name(m member) string {
	quoted := bytes.TrimRight(s[m.start:m.value], " \t\r\n")
	quoted = bytes.TrimRight(quoted[:len(quoted)-1], " \t\r\n") // the colon
	return jsonscan.Text(quoted)
}

func (s settings) splice(from, to int, text string) settings {
	out := make(settings, 0, len(s)+len(text))
	out = append(out, s[:from]...)
	out = append(out, text...)
	return append(out, s[to:]...)
}

// object is a status line of ours.
func object(command string) string {
	return `{"type": "command", "command": ` + jsonscan.Quote(command) + `}`
}

// insert adds a status line behind the last member, laid out as the first one.
func (s settings) insert(command string) settings {
	text := `"` + key + `": ` + object(command)
	list := s.all()
	if len(list) == 0 {
		return s.splice(s.open()+1, s.shut(), "\n  "+text+"\n")
	}
	at := list[len(list)-1].end
	return s.splice(at, at, ","+string(s[s.open()+1:list[0].start])+text)
}

// remove takes m out, with the comma that goes with it.
func (s settings) remove(m member) settings {
	list := s.all()
	for i := range list {
		switch {
		case list[i].start != m.start:
		case i > 0:
			return s.splice(list[i-1].end, m.end, "")
		case len(list) > 1:
			return s.splice(m.start, list[1].start, "")
		}
	}
	return s.splice(s.open()+1, s.shut(), "")
}
