package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/redact"
)

// LongText is how many characters a text of the host may have in what
// Transcript writes. Of a longer one an x stays for each, up to that number.
const LongText = 200

// ownTools are the tools whose results are contents of files and outputs of
// commands. What other tools return has been worded by the host.
var ownTools = []string{"Bash", "Read", "Edit", "Write", "Grep", "Glob", "MultiEdit"}

// Transcript copies the transcript of a session whose words are ours, less
// what belongs to the host and to this machine: the directories of here become
// those of there, and long texts of the host are masked. Pieces of them that
// are among ours stay. Rows, their order and everything else in them stay as
// they are.
func Transcript(in io.Reader, out io.Writer, here, there Places, ours []string) error {
	c := copier{here: here, there: there, ours: slices.Clone(ours), tools: map[string]string{}}
	// The longest first: one may be part of another.
	slices.SortFunc(c.ours, func(a, b string) int { return len(b) - len(a) })
	r := bufio.NewReader(in)
	for n := 1; ; n++ {
		line, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		row, err := c.row(bytes.TrimSpace(line))
		if err != nil {
			return fmt.Errorf("row %d: %w", n, err)
		}
		if _, err := out.Write(append(row, '\n')); err != nil {
			return err
		}
	}
}

type copier struct {
	here, there Places
	ours        []string
	tools       map[string]string // the name of the tool, by the id of the call
}

// rowHead is what decides about a row.
type rowHead struct {
	Type    string `json:"type"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Attachment struct {
		Type   string `json:"type"`
		Origin struct {
			Kind string `json:"kind"`
		} `json:"origin"`
	} `json:"attachment"`
}

func (c *copier) row(row []byte) ([]byte, error) {
	var head rowHead
	if err := json.Unmarshal(row, &head); err != nil {
		return nil, err
	}
	var blocks []struct {
		Type, ID, Name string
		Call           string `json:"tool_use_id"`
	}
	json.Unmarshal(head.Message.Content, &blocks) // else it is a text
	kept := head.Type == "assistant"
	for _, b := range blocks {
		switch b.Type {
		case "tool_use":
			c.tools[b.ID] = b.Name
		case "tool_result":
			kept = slices.Contains(ownTools, c.tools[b.Call])
		}
	}
	typed := head.Attachment.Type == "queued_command" && head.Attachment.Origin.Kind == "human"
	if strings.HasPrefix(head.Type, "api-request") || head.Type == "attachment" && !typed {
		return c.masked(row)
	}
	rw := rewriter{
		fill: filler,
		key:  func(_ []string, key string) string { return c.moved(key) },
		text: func(_ []string, s string) []byte {
			if kept {
				return quote(c.moved(unremind(s)))
			}
			return quote(c.moved(c.mask(s)))
		},
	}
	return rw.rewrite(row)
}

// masked returns a row that is the host's own as an export would have it, with
// its fills written out.
func (c *copier) masked(row []byte) ([]byte, error) {
	e := exporter{places: c.here}
	rw := rewriter{text: e.string, fill: fillOf, key: e.key}
	row, err := rw.rewrite(row)
	if err != nil {
		return nil, err
	}
	rw = c.there.expander()
	rw.fill = func(n int) []byte { return filler(min(n, LongText)) }
	return rw.rewrite(row)
}

// mask returns s unless it is long. Then only our pieces of it stay.
func (c *copier) mask(s string) string {
	if len(s) <= LongText {
		return s
	}
	for _, text := range c.ours {
		if before, after, ok := strings.Cut(s, text); ok && text != "" {
			return c.mask(before) + text + c.mask(after)
		}
	}
	return strings.Repeat("x", LongText)
}

// unremind returns s with the reminders masked that the host puts into the
// results of tools.
func unremind(s string) string {
	const open, end = "<system-reminder>", "</system-reminder>"
	before, rest, ok := strings.Cut(s, open)
	if !ok {
		return s
	}
	text, after, ok := strings.Cut(rest, end)
	if !ok {
		return s
	}
	return before + open + strings.Repeat("x", min(len(text), LongText)) + end + unremind(after)
}

// moved returns s with the directories of this machine replaced, also as tar
// writes them: without the first slash.
func (c *copier) moved(s string) string {
	for _, d := range [][2]string{
		{c.here.Project, c.there.Project},
		{c.here.Home, c.there.Home},
		{c.here.Tmp, c.there.Tmp},
		{slug(c.here.Project), slug(c.there.Project)},
	} {
		s = redact.Dir(s, d[0], d[1])
		s = redact.Dir(s, strings.TrimPrefix(d[0], "/"), strings.TrimPrefix(d[1], "/"))
	}
	return s
}
