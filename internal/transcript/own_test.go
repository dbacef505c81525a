package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// case F48: the host names the transcript of another session.
func TestOwn(t *testing.T) {
	t.Parallel()
	row := func(session string) string { return `{"type":"user","sessionId":"` + session + `"}` }
	for name, tt := range map[string]struct {
		file   string
		rows   []string
		beside bool // there is a file of this session's name
		want   string
	}{
		"its own":                         {"s1.jsonl", []string{row("s1")}, false, "s1.jsonl"},
		"its own, rows of a fork's past":  {"s1.jsonl", []string{row("old"), row("old")}, false, "s1.jsonl"},
		"another's":                       {"old.jsonl", []string{row("old"), `{"type":"file-history-snapshot"}`}, false, ""},
		"another's, its own is beside it": {"old.jsonl", []string{row("old")}, true, "s1.jsonl"},
		"resumed under the old name":      {"old.jsonl", []string{row("old"), row("s1")}, true, "old.jsonl"},
		"no row says whose it is":         {"old.jsonl", []string{`{"type":"user"}`}, false, "old.jsonl"},
		"an empty file":                   {"old.jsonl", nil, false, "old.jsonl"},
		"not written yet":                 {"", nil, false, "none.jsonl"},
	} {
		dir := t.TempDir()
		put := func(file string, rows ...string) {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(lines(rows...)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, "none.jsonl")
		if tt.file != "" {
			path = filepath.Join(dir, tt.file)
			put(tt.file, tt.rows...)
		}
		if tt.beside {
			put("s1.jsonl", row("s1"))
		}
		got, err := Own(path, "s1")
		if want := filepath.Join(dir, tt.want); tt.want != "" && (got != want || err != nil) || tt.want == "" && (got != "" || err == nil) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	for _, session := range []string{"", "../s1", "/etc/passwd"} {
		path := written(t, lines(row("old")))
		if got, err := Own(path, session); session == "" && got != path || session != "" && (got != "" || err == nil) {
			t.Errorf("session %q: %q, %v", session, got, err)
		}
	}
}

// A file without a reply is given up on, whatever it is made of.
func TestReachIsBounded(t *testing.T) {
	t.Parallel()
	short := strings.Repeat("{}\n", maxRows+10)
	tail, err := ReadTail(written(t, lines(said(20_000))+short))
	if err != nil || tail.Known || !tail.Broken {
		t.Errorf("behind %d rows: %+v, %v", maxRows, tail, err)
	}
	tail, err = ReadTail(written(t, lines(said(20_000))+short[:3*(maxRows-10)]))
	if err != nil || tail.Tokens != 20_000 || tail.Broken {
		t.Errorf("behind a few less: %+v, %v", tail, err)
	}
	facts, err := ReadFacts(written(t, lines(typed("first"))+short+lines(typed("last"))), time.Time{})
	if err != nil || len(facts.Prompts) != 1 || facts.Prompts[0].Text != "last" {
		t.Errorf("facts: %+v, %v", facts.Prompts, err)
	}
	sparse, err := os.Create(filepath.Join(t.TempDir(), "s.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer sparse.Close()
	sparse.WriteString(lines(said(20_000)))
	if err := sparse.Truncate(maxReach + 1<<20); err != nil {
		t.Skip(err)
	}
	if tail, err := ReadTail(sparse.Name()); err != nil || tail.Known || !tail.Broken {
		t.Errorf("behind %d bytes: %+v, %v", maxReach, tail, err)
	}
}
