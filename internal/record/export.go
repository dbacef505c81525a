package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/redact"
)

// Kept lists, for people, what an export contains of what was recorded.
// Everything else is a string of x of the same length.
var Kept = []string{
	"order and times of the calls, sizes of all texts, all numbers and yes/no values",
	"names of events, tools, models, versions and the host's own fields and states",
	"ids of sessions, prompts, messages and tool calls",
	"options of the plugin, and whether somebody sat in front of the session",
	"paths, as $PROJECT, $HOME and $TMP; the names below them with every letter an x",
	"of a digest: headings, field names and the shape of its lines",
}

// Redaction says how much an export has taken out.
type Redaction struct {
	Calls, Rows int
	Texts       int // strings of which only the length is left
	Secrets     int // keys, tokens and passwords (package redact)
}

// ErrEmpty means that there is nothing to export.
var ErrEmpty = errors.New("no hook has been called since recording began")

// Export writes what the tap has recorded as a recording that can be given
// away: no prompt, no answer, no content of a file, no name of a file or
// directory, no secret (see Kept). With text, texts stay, less the secrets and
// the paths of this machine.
//
// here tells the home and the temporary directory of this machine.
func Export(in io.Reader, out io.Writer, here Places, text bool) (Redaction, error) {
	raws, err := readRaw(in)
	if err != nil {
		return Redaction{}, err
	}
	if len(raws) == 0 {
		return Redaction{}, ErrEmpty
	}
	here.Project = project(raws)
	e := exporter{places: here, text: text}
	calls := merged(raws)
	for i, c := range calls {
		if calls[i], err = e.call(c); err != nil {
			return Redaction{}, fmt.Errorf("call %d: %w", i+1, err)
		}
		e.done.Rows += len(c.Rows)
	}
	e.done.Calls = len(calls)
	return e.done, Write(out, calls)
}

// exporter takes out of calls what is private.
type exporter struct {
	places Places
	text   bool
	done   Redaction
}

func (e *exporter) call(c Call) (Call, error) {
	rw := rewriter{text: e.string, fill: fillOf, key: e.key}
	digest := isDigest(c.Payload)
	payload := rw
	payload.text = func(path []string, s string) []byte {
		if digest && !e.text && slices.Contains(digestKeys, strings.Join(path, ".")) {
			e.done.Texts++
			return quote(shape(s))
		}
		return e.string(path, s)
	}
	var err error
	if c.Payload, err = payload.rewrite(c.Payload); err != nil {
		return Call{}, fmt.Errorf("payload: %w", err)
	}
	rows := make([]json.RawMessage, len(c.Rows))
	for i, row := range c.Rows {
		if rows[i], err = rw.rewrite(row); err != nil {
			return Call{}, fmt.Errorf("transcript row %d: %w", i+1, err)
		}
	}
	env := make(map[string]string, len(c.Env))
	for name, v := range c.Env {
		switch {
		case name == host.ProjectVar:
			env[name] = e.path(v)
		case plain(v):
			env[name] = v
		}
	}
	c.Rows, c.Env = rows, env
	return c, nil
}

// digestKeys are where a tool call carries the content of a file.
var digestKeys = []string{"tool_input.content", "tool_input.old_string", "tool_input.new_string", "tool_response.content"}

// isDigest reports whether a payload is of a tool call on a digest of ours:
// hooks judge its shape, so that has to stay.
func isDigest(payload []byte) bool {
	p, err := host.Claude{}.Decode(payload)
	return err == nil && strings.HasSuffix(strings.ReplaceAll(p.ToolPath, `\`, "/"), "/.reload/session.md")
}

// keptKeys are the keys whose values are words and ids of the host, pathKeys
// those whose values are paths, transcriptKeys those that name transcripts.
const (
	keptKeys = ` agent_id agent_type effort entrypoint error hook_event_name id kind level message_id messageId mode model
		name parentUuid permission_mode permissionMode prompt_id promptId promptSource reason requestId requestedModel
		role rowSource service_tier session_id sessionId source speed status stop_reason subtype timestamp tool_name
		tool_use_id toolUseID trigger turnOrigin type userType uuid version `
	pathKeys       = ` cwd file_path filePath `
	transcriptKeys = ` agent_transcript_path transcript_path `
)

func among(words, key string) bool { return slices.Contains(strings.Fields(words), key) }

// string returns what an export has in the place of s.
func (e *exporter) string(path []string, s string) []byte {
	key := ""
	if len(path) > 0 {
		key = path[len(path)-1]
	}
	clean := redact.Text(s)
	e.done.Secrets += redact.Count(clean) - redact.Count(s)
	switch {
	case s == "":
		return quote(s)
	case among(transcriptKeys, key):
		return quote(e.transcript(s))
	case e.text:
		return quote(e.places.out(clean))
	case among(pathKeys, key):
		return quote(e.path(s))
	case plain(s) && among(keptKeys, key) && !owned(path):
		return quote(s)
	}
	e.done.Texts++
	if lead := hostLead(s); lead != "" {
		return quote(lead + strings.Repeat("x", host.Len(s[len(lead):])))
	}
	return fillOf(host.Len(s))
}

// owned reports whether a path leads into what a tool was given or gave: its
// fields may be called as the host's are.
func owned(path []string) bool {
	return slices.ContainsFunc(path, func(key string) bool {
		return key == "input" || key == "tool_input" || key == "tool_response" || key == "toolUseResult"
	})
}

// key returns what an export has in the place of a key. Some maps have names
// of files as keys.
func (e *exporter) key(_ []string, key string) string {
	if e.text {
		return e.places.out(redact.Text(key))
	}
	if plain(key) && !strings.ContainsAny(key, "./") {
		return key
	}
	return mask(key)
}

// plain reports whether s can be a word or an id of the host: short, without
// spaces, and no secret.
func plain(s string) bool {
	if len(s) > 80 || strings.ContainsFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:$<>[]", r)
	}) {
		return false
	}
	return redact.Text(s) == s
}

// path returns s with this machine's directories as variables and the names
// below them masked, but for those that the host or we have given.
func (e *exporter) path(s string) string {
	s = e.places.out(s)
	if strings.HasPrefix(strings.ReplaceAll(s, `\`, "/")+"/", "$PROJECT/.reload/") {
		return s
	}
	name, rest := "", s
	if strings.HasPrefix(s, "$") {
		end := strings.IndexAny(s+"/", `/\`)
		name, rest = s[:end], s[end:]
	}
	return name + mask(rest)
}

// transcript returns the path s of a transcript as the host would have it
// without a configuration directory of its own (docs/host.md, Transcripts), so
// that a replay finds a place for it.
func (e *exporter) transcript(s string) string {
	elems := strings.Split(strings.ReplaceAll(s, `\`, "/"), "/")
	at := len(elems) - 1
	for at >= 0 && elems[at] != "projects" {
		at--
	}
	if at < 0 || at+2 >= len(elems) {
		return e.path(s)
	}
	for i := at + 2; i < len(elems); i++ {
		if !plain(elems[i]) {
			elems[i] = mask(elems[i])
		}
	}
	return "$HOME/.claude/projects/-PROJECT/" + strings.Join(elems[at+2:], "/")
}

// hostLead returns the beginning of s by which the host marks a text that
// nobody typed: a tag, or the words of an API error.
func hostLead(s string) string {
	const apiError = "API Error"
	if strings.HasPrefix(s, apiError) {
		return apiError
	}
	end := strings.IndexByte(s, '>')
	if end < 2 || s[0] != '<' || strings.ContainsFunc(s[1:end], func(r rune) bool { return r != '-' && (r < 'a' || 'z' < r) }) {
		return ""
	}
	return s[:end+1]
}

// shape returns the digest s with headings and the names of frontmatter fields
// as they are, and everything else masked.
func shape(s string) string {
	lines := strings.Split(s, "\n")
	front := len(lines) > 0 && lines[0] == "---"
	for i, line := range lines {
		switch {
		case line == "---":
			front = front && i == 0
		case strings.HasPrefix(line, "## "):
		case front:
			if key, value, ok := strings.Cut(line, ":"); ok {
				lines[i] = key + ":" + mask(value)
			}
		default:
			lines[i] = mask(line)
		}
	}
	return strings.Join(lines, "\n")
}

// mask returns s with every letter an x and every digit a 0.
func mask(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '0'
		case r > unicode.MaxASCII || unicode.IsLetter(r):
			return 'x'
		}
		return r
	}, s)
}
