package record

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ccreload/ccreload/internal/redact"
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
	s = strings.ReplaceAll(s, "/-PROJECT/", "/"+slug(p.Project)+"/")
	s = redact.Dir(s, "$PROJECT", p.Project)
	s = redact.Dir(s, "$HOME", p.Home)
	return redact.Dir(s, "$TMP", p.Tmp)
}

// out is the opposite of in: it returns s with the places replaced by the
// variables. The project comes first, since it is often below the home.
func (p Places) out(s string) string {
	s = redact.Dir(s, p.Project, "$PROJECT")
	s = redact.Dir(s, p.Home, "$HOME")
	s = redact.Dir(s, p.Tmp, "$TMP")
	return redact.Dir(s, slug(strings.TrimRight(p.Project, `/\`)), "-PROJECT")
}
