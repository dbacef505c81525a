package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
)

// Case is a test of one hook: a txtar archive whose head has a command a line, and
// whose files are what they speak of.
//
//	root DIR           the plugin's tree, seen from the case's file
//	set KEY=VALUE      an option of the plugin
//	hook EVENT [N]     the first hook of the event, or the N-th, gets call.jsonl
//	exits N            it has ended with this exit code
//	[!] stdout REGEXP  what it has printed; ! where it must not be there
//	[!] stderr REGEXP
//	cmp stdout FILE    it has printed what FILE has, JSON by value
//	[!] exists FILE    a file of the project
//
// The files below project/ are in the project when the hook starts.
type Case struct {
	Root  string   // "" where the case does not say
	Set   []string // KEY=VALUE
	file  string
	head  string
	files []part
	steps []caseStep
}

// caseStep is one line of the head.
type caseStep struct {
	line int // from 1
	not  bool
	args []string
}

// callFile is the file of a case with the call, as a recording of one line.
const callFile = "call.jsonl"

// ReadCase reads the case in file. The error names the line.
func ReadCase(file string, data []byte) (*Case, error) {
	c := &Case{file: file}
	c.head, c.files = parseArchive(string(data))
	for i, line := range strings.Split(c.head, "\n") {
		step := caseStep{line: i + 1}
		var err error
		if step.args, err = fields(line); err != nil {
			return nil, c.fail(step, "%w", err)
		}
		if len(step.args) > 0 && step.args[0] == "!" {
			step.not, step.args = true, step.args[1:]
		}
		if len(step.args) == 0 {
			if step.not {
				return nil, c.fail(step, "there is nothing after the !")
			}
			continue
		}
		least, most, not, usage := command(step.args[0])
		if usage == "" {
			return nil, c.fail(step, "unknown command %q: want root, set, hook, exits, stdout, stderr, cmp or exists", step.args[0])
		}
		if n := len(step.args) - 1; n < least || n > most || step.not && !not {
			return nil, c.fail(step, "write it as %s", usage)
		}
		switch step.args[0] {
		case "root":
			c.Root = filepath.Join(filepath.Dir(file), filepath.FromSlash(step.args[1]))
		case "set":
			c.Set = append(c.Set, step.args[1])
		}
		c.steps = append(c.steps, step)
	}
	return c, nil
}

// command returns how a command of a case is written.
func command(name string) (min, max int, not bool, usage string) {
	switch name {
	case "root":
		return 1, 1, false, "root DIR"
	case "set":
		return 1, 1, false, "set KEY=VALUE"
	case "hook":
		return 1, 2, false, "hook EVENT [N]"
	case "exits":
		return 1, 1, false, "exits N"
	case "stdout", "stderr":
		return 1, 1, true, name + " REGEXP"
	case "cmp":
		return 2, 2, false, "cmp stdout FILE"
	case "exists":
		return 1, 1, true, "exists FILE"
	}
	return 0, 0, false, ""
}

// fields splits a line at spaces, with single quotes around what has some; two of
// them in quotes are one.
func fields(line string) (out []string, err error) {
	word, inWord, quoted := "", false, false
	for i := 0; i < len(line); i++ {
		switch b := line[i]; {
		case quoted && b == '\'' && i+1 < len(line) && line[i+1] == '\'':
			word += "'"
			i++
		case b == '\'':
			quoted, inWord = !quoted, true
		case quoted:
			word += string(b)
		case b == '#' && !inWord:
			return out, nil
		case b == ' ' || b == '\t' || b == '\r':
			if inWord {
				out = append(out, word)
			}
			word, inWord = "", false
		default:
			word, inWord = word+string(b), true
		}
	}
	if quoted {
		return nil, errors.New("a quote is not closed")
	}
	if inWord {
		out = append(out, word)
	}
	return out, nil
}

func (c *Case) fail(step caseStep, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", c.file, step.line, fmt.Errorf(format, args...))
}

func (c *Case) part(name string) *part {
	for i := range c.files {
		if c.files[i].name == name {
			return &c.files[i]
		}
	}
	return nil
}

// Run runs the case in r.Dir. It returns each thing that is not as the case says;
// with update, it has the case say what is: exit codes and the files of cmp.
func (c *Case) Run(r Replayer, update bool) (faults []error, err error) {
	hooks, err := readHooks(r.Root)
	if err != nil {
		return nil, err
	}
	w, err := newWorld(r.Dir, r.Binary, r.Root)
	if err != nil {
		return nil, err
	}
	defer w.leave(math.MaxInt)
	if err := w.configure(r.Config); err != nil {
		return nil, err
	}
	for _, f := range c.files {
		name, ok := strings.CutPrefix(f.name, "project/")
		if !ok {
			continue
		}
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return nil, fmt.Errorf("%s: the file %q is not in the project", c.file, f.name)
		}
		at := filepath.Join(w.places.Project, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(at, []byte(f.text), 0o644); err != nil {
			return nil, err
		}
	}
	p := player{Replayer: r, world: w, hooks: hooks}
	var last *answer
	for _, step := range c.steps {
		fault := func(format string, args ...any) { faults = append(faults, c.fail(step, format, args...)) }
		name := step.args[0]
		if last == nil && name != "root" && name != "set" && name != "hook" {
			return faults, c.fail(step, "%s comes after hook", name)
		}
		switch name {
		case "hook":
			a, err := c.hook(&p, step)
			if err != nil {
				return faults, err
			}
			last = &a
		case "exits":
			want, err := strconv.Atoi(step.args[1])
			switch {
			case err != nil:
				return faults, c.fail(step, "%q is not an exit code", step.args[1])
			case last.exit == want:
			case update && last.exit >= 0:
				c.rewrite(step, "exits "+strconv.Itoa(last.exit))
			case last.exit < 0:
				fault("the hook did not end by itself: %v", last.failure)
			case last.stderr == "":
				fault("the hook ended with %d, want %d", last.exit, want)
			default:
				fault("the hook ended with %d, want %d%s", last.exit, want, quoted(last.stderr))
			}
		case "stdout", "stderr":
			text := last.stdout
			if name == "stderr" {
				text = last.stderr
			}
			if update && name == "stderr" && step.not && step.args[1] == "." && text != "" {
				c.rewrite(step, "stderr "+quote1(literal(w.places.out(text))))
				continue
			}
			if has := r.Matcher != nil && r.Matcher("(?m)"+step.args[1], w.places.out(text)); has == step.not {
				is := "no"
				if step.not {
					is = "a"
				}
				fault("%s has %s match of %q%s", name, is, step.args[1], quoted(w.places.out(text)))
			}
		case "cmp":
			want := c.part(step.args[2])
			if step.args[1] != "stdout" || want == nil {
				return faults, c.fail(step, "write it as cmp stdout FILE, a file of the case")
			}
			got := w.places.out(last.stdout)
			switch {
			case same(got, want.text):
			case update:
				want.text = strings.TrimRight(got, "\n") + "\n"
				if strings.TrimSpace(got) == "" {
					want.text = ""
				}
			default:
				fault("stdout is not what %q has%s", step.args[2], quoted(got))
			}
		case "exists":
			_, err := os.Stat(filepath.Join(w.places.Project, filepath.FromSlash(path.Clean("/"+step.args[1]))))
			if (err == nil) == step.not {
				is := "no "
				if step.not {
					is = ""
				}
				fault("there is %s%q in the project", is, step.args[1])
			}
		}
	}
	if last == nil {
		return faults, fmt.Errorf("%s: it has no line such as `hook Stop`", c.file)
	}
	return faults, nil
}

// literal returns an expression that the first line of text matches.
func literal(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	var b strings.Builder
	for _, r := range strings.TrimSpace(line) {
		if strings.ContainsRune(`\.+*?()|[]{}^$`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// quoted shows what a hook said below a fault.
func quoted(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ": it is empty"
	}
	return ":\n" + text
}

// same compares JSON by value, and else text without the space at its ends.
func same(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	if a == b {
		return true
	}
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// hook starts the hook of a step.
func (c *Case) hook(p *player, step caseStep) (answer, error) {
	event, n := host.Event(step.args[1]), 1
	if len(step.args) > 2 {
		var err error
		if n, err = strconv.Atoi(step.args[2]); err != nil || n < 1 {
			return answer{}, c.fail(step, "%q is not the number of a hook", step.args[2])
		}
	}
	handlers, groups := p.hooks.handlers(event)
	if n > len(handlers) {
		return answer{}, c.fail(step, "the plugin has %d hooks of %s", len(handlers), event)
	}
	h, g := handlers[n-1], groups[n-1]
	if !h.program() {
		return answer{}, c.fail(step, "%s is not run here", h.line())
	}
	file := c.part(callFile)
	if file == nil {
		return answer{}, c.fail(step, "the case has no %s", callFile)
	}
	calls, err := Read(strings.NewReader(file.text))
	if err != nil {
		return answer{}, fmt.Errorf("%s: %s: %w", c.file, callFile, err)
	}
	for _, call := range calls {
		if call.Event != event {
			continue
		}
		expanded, made, err := p.stage(call, math.MaxInt)
		if err != nil {
			return answer{}, err
		}
		if !p.Matcher.matches(g.Matcher, subject(made.Payload, expanded.Payload)) || !allows(h.If, made.Payload) {
			return answer{}, c.fail(step, "the host does not start this hook for the call: matcher %q, if %q", g.Matcher, h.If)
		}
		return p.run(h, expanded, &made, nil)
	}
	return answer{}, c.fail(step, "%s has no call of %s", callFile, event)
}

// rewrite replaces the line of a step.
func (c *Case) rewrite(step caseStep, text string) {
	lines := strings.Split(c.head, "\n")
	lines[step.line-1] = text
	c.head = strings.Join(lines, "\n")
}

// Format returns the case as its file has it.
func (c *Case) Format() []byte { return formatArchive(c.head, c.files) }

// part is a file of an archive in the format of txtar: lines, and after each line
// -- NAME -- those of a file. (The library for it is not for what hooks link.)
type part struct{ name, text string }

func parseArchive(text string) (head string, files []part) {
	into := &head
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "-- ")
		if ok {
			name, ok = strings.CutSuffix(name, " --")
		}
		if name = strings.TrimSpace(name); ok && name != "" {
			files = append(files, part{name: name})
			into = &files[len(files)-1].text
			continue
		}
		*into += line
	}
	return head, files
}

func formatArchive(head string, files []part) []byte {
	var b bytes.Buffer
	add := func(text string) {
		b.WriteString(text)
		if text != "" && !strings.HasSuffix(text, "\n") {
			b.WriteByte('\n')
		}
	}
	add(head)
	for _, f := range files {
		fmt.Fprintf(&b, "-- %s --\n", f.name)
		add(f.text)
	}
	return b.Bytes()
}

// Draft is a case that Scaffold has made up.
type Draft struct {
	Name string // of its file, such as Stop.txtar
	Data []byte
}

// Scaffold returns a case for each hook of the plugin in root, with the first of
// calls for which the host starts it, and names the hooks for which there is none.
// toRoot is the way from the cases to root.
func Scaffold(root, toRoot string, calls []Call, m Matcher) (drafts []Draft, missing []string, err error) {
	all, err := readHooks(root)
	if err != nil {
		return nil, nil, err
	}
	for _, event := range slices.Sorted(maps.Keys(all.Events)) {
		handlers, groups := all.handlers(event)
		for i, h := range handlers {
			name, number := string(event), ""
			if len(handlers) > 1 {
				name, number = fmt.Sprintf("%s-%d", event, i+1), fmt.Sprintf(" %d", i+1)
			}
			if !h.program() {
				missing = append(missing, fmt.Sprintf("%s: %s is not run here", name, h.line()))
				continue
			}
			call, ok := callFor(calls, event, h, groups[i], m)
			if !ok {
				missing = append(missing, fmt.Sprintf("%s: no recorded call starts it (%s)", name, h.line()))
				continue
			}
			var b bytes.Buffer
			if err := Write(&b, []Call{call}); err != nil {
				return nil, nil, err
			}
			head := fmt.Sprintf("# %s\nroot %s\nhook %s%s\nexits 0\n! stderr .\ncmp stdout want\n\n",
				strings.ReplaceAll(h.line(), "\n", " "), quote1(toRoot), event, number)
			drafts = append(drafts, Draft{name + ".txtar", formatArchive(head, []part{{callFile, b.String()}, {name: "want"}})})
		}
	}
	return drafts, missing, nil
}

// quote1 returns s as one field of a line.
func quote1(s string) string {
	if s != "" && !strings.ContainsAny(s, " \t'#!$") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

// callFor returns the first call for which the host starts h, with all that its
// transcript had by then.
func callFor(calls []Call, event host.Event, h handler, g group, m Matcher) (Call, bool) {
	for i, c := range calls {
		if c.Event != event {
			continue
		}
		p, err := host.Claude{}.Decode(c.Payload)
		if err != nil || !m.matches(g.Matcher, subject(p, c.Payload)) || !allows(h.If, p) {
			continue
		}
		var rows []json.RawMessage
		for _, before := range calls[:i+1] {
			if transcriptPath(before) != transcriptPath(c) {
				continue
			}
			if before.Rewritten {
				rows = nil
			}
			rows = append(rows, before.Rows...)
		}
		c.T, c.Rows, c.Rewritten = 0, rows, false
		return c, true
	}
	return Call{}, false
}
