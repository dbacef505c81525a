package record

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Places are the directories that a recording's variables stand for.
type Places struct {
	Project, Home, Tmp string
}

// slug returns the folder name the host derives from a project's path
// (docs/host.md, Transcripts).
func slug(project string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '-'
	}, project)
}

// expand returns c with its variables replaced and its fills written out.
func (p Places) expand(c Call) (Call, error) {
	var err error
	rw := p.expander()
	if c.Payload, err = rw.rewrite(c.Payload); err != nil {
		return Call{}, fmt.Errorf("payload: %w", err)
	}
	if c.Rows, err = p.expandRows(c.Rows); err != nil {
		return Call{}, err
	}
	env := make(map[string]string, len(c.Env))
	for key, value := range c.Env {
		env[key] = p.in(value)
	}
	c.Env = env
	return c, nil
}

func (p Places) expandRows(rows []json.RawMessage) ([]json.RawMessage, error) {
	rw := p.expander()
	out := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = rw.rewrite(row); err != nil {
			return nil, fmt.Errorf("transcript row %d: %w", i+1, err)
		}
	}
	return out, nil
}

func (p Places) expander() rewriter {
	return rewriter{text: func(_ []string, s string) []byte { return quote(p.in(s)) }, fill: filler}
}

// in returns s with the variables replaced by the places.
func (p Places) in(s string) string {
	if !strings.ContainsAny(s, "$-") {
		return s
	}
	s = replaceWord(s, "/-PROJECT", "/"+slug(p.Project))
	s = replaceWord(s, "$PROJECT", p.Project)
	s = replaceWord(s, "$HOME", p.Home)
	return replaceWord(s, "$TMP", p.Tmp)
}

// out is the opposite of in: it returns s with the places replaced by the
// variables. The project comes first, since it is often below the home.
func (p Places) out(s string) string {
	for _, place := range []struct{ path, name string }{
		{p.Project, "$PROJECT"}, {p.Home, "$HOME"}, {p.Tmp, "$TMP"},
	} {
		// A root directory is part of every path and says nothing.
		if len(place.path) > 1 {
			s = replaceWord(s, place.path, place.name)
		}
	}
	if p.Project != "" {
		s = replaceWord(s, "/"+slug(p.Project), "/-PROJECT")
	}
	return s
}

// replaceWord replaces old where no letter, digit, _ or - follows, so that
// /home/ann is not found in /home/anna.
func replaceWord(s, old, new string) string {
	if !strings.Contains(s, old) {
		return s
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, old)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if after != "" && isWordByte(after[0]) {
			b.WriteString(old)
		} else {
			b.WriteString(new)
		}
		s = after
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
