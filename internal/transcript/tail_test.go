package transcript

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadTail(t *testing.T) {
	t.Parallel()
	const model, version = "claude-opus-5-5", "2.1.332"
	known := func(tokens int) Tail { return Tail{Tokens: tokens, Known: true, Model: model, Version: version} }
	with := func(tail Tail, change func(*Tail)) Tail { change(&tail); return tail }
	incomplete := func(t *Tail) { t.Incomplete = true }
	failed := func(t *Tail) { t.APIError = true }
	huge := strings.Repeat("x", 20<<20)

	var noise []string
	for i := range 30 {
		noise = append(noise, fmt.Sprintf(`{"type":"atis-latch","atis":"%d"}`, i))
	}
	noise[11] = attachment(60 << 10)
	noise[23] = `{"type":"api-request-blob","message":[{"role":"assistant"},{"role":"user"}],"version":7}`

	part := func(output int) string {
		return reply(textBlock("a"), fmt.Sprintf(`{"input_tokens":2,"cache_read_input_tokens":15030,"cache_creation_input_tokens":8655,"output_tokens":%d}`, output))
	}
	const iterations = `{"input_tokens":2,"cache_read_input_tokens":987998,"iterations":[` +
		`{"type":"message","input_tokens":1000,"cache_read_input_tokens":492000},` +
		`{"type":"advisor_message","model":"other","input_tokens":497000},` +
		`{"type":"message","input_tokens":600,"cache_read_input_tokens":490000,"cache_creation_input_tokens":4000}]}`

	for name, tt := range map[string]struct {
		in   string
		want Tail
	}{
		"empty":                           {"", Tail{}},
		"only line ends":                  {"\n\n\n", Tail{}},
		"one reply":                       {lines(typed("hello"), said(20_000)), known(20_000)},
		"newest reply":                    {lines(said(10_000), typed("b"), said(30_000)), known(30_000)},
		"no line end":                     {strings.TrimSuffix(lines(said(10_000), said(30_000)), "\n"), known(30_000)},
		"spaces in the JSON":              {strings.NewReplacer(`":`, `": `, `,"`, `, "`).Replace(lines(typed("hello"), said(20_000))), known(20_000)},
		"lines end with CR LF":            {strings.ReplaceAll(lines(typed("a"), said(20_000)), "\n", "\r\n"), known(20_000)},
		"case F01: one reply, three rows": {lines(typed("hello"), part(1), part(1), part(412)), known(23_687)},
		"case F02: a tool result is newer": {
			lines(said(40_000), reply(toolUse("t1", "Bash", `{"command":"ls"}`), usage(41_000)), toolResult("t1", "README.md", false)),
			with(known(41_000), incomplete),
		},
		"case F02: a prompt is newer":            {lines(said(40_000), typed("go on"), `{"type":"api-request"}`), with(known(40_000), incomplete)},
		"case F02: no reply yet":                 {lines(typed("hello")), Tail{Version: version, Incomplete: true}},
		"a typed slash command is newer":         {lines(said(40_000), asked(quote("<command-message>snapshot</command-message>\n<command-name>/snapshot</command-name>"), "")), with(known(40_000), incomplete)},
		"a finished task's note is newer":        {lines(said(40_000), asked(quote("<task-notification>done</task-notification>"), `"origin":{"kind":"task-notification"},`)), with(known(40_000), incomplete)},
		"the host's own note is newer":           {lines(said(40_000), asked(quote("Caveat"), `"isMeta":true,`)), known(40_000)},
		"a local command is newer":               {lines(said(40_000), asked(quote("<command-name>/exit</command-name>"), ""), asked(quote("<local-command-stdout>Bye!</local-command-stdout>"), "")), known(40_000)},
		"an interruption is newer":               {lines(said(40_000), asked(`[{"type":"text","text":"[Request interrupted by user]"}]`, "")), known(40_000)},
		"case F17: compacted":                    {lines(said(190_000), boundary(`{"trigger":"auto","preTokens":190000,"postTokens":31000}`)), known(31_000)},
		"case F17: compacted to an unknown size": {lines(said(190_000), boundary(`{"trigger":"auto","preTokens":190000}`), asked(quote("summary"), summaryFlag)), Tail{Model: model, Version: version}},
		"compacted, then a reply":                {lines(said(190_000), boundary(`{"postTokens":31000}`), typed("a"), said(35_000)), known(35_000)},
		"compacted, then a prompt":               {lines(said(190_000), boundary(`{"postTokens":31000}`), typed("a")), with(known(31_000), incomplete)},
		"a subagent's compaction":                {lines(said(190_000), sidechain(boundary(`{"postTokens":31000}`))), known(190_000)},
		"old inline subagent":                    {lines(said(20_000), sidechain(said(150_000)), sidechain(typed("find it"))), known(20_000)},
		"case F28: 20 MB before the reply":       {lines(typed(huge), said(20_000)), known(20_000)},
		"case F28: 20 MB behind the reply":       {lines(said(20_000), reply(textBlock(huge), usage(9))), known(20_000)},
		"case F28: 20 MB without a line end":     {lines(said(20_000)) + huge, known(20_000)},
		"case F28: half a last line":             {lines(said(20_000)) + said(30_000)[:400], with(known(20_000), incomplete)},
		"case F28: a broken row":                 {lines(said(20_000), said(30_000)[:400], `{"type":"assistant"}}`, `{"type":"assistant","message":{"usage":{}`), known(20_000)},
		"case F28: NUL bytes":                    {lines(said(10_000)) + strings.Repeat("\x00", 3000) + lines(said(20_000)) + lines("\x00\x00"), known(20_000)},
		"case F28: a half row of NUL bytes":      {lines(said(20_000)) + "\x00\x00", with(known(20_000), incomplete)},
		"case F28: U+2028 inside a string":       {lines(reply("{\"type\":\"text\",\"text\":\"a\u2028b\u0085c\"}", usage(20_000))), known(20_000)},
		"case F29: 30 other rows":                {lines(append([]string{said(20_000)}, noise...)...), known(20_000)},
		"case F30: synthetic reply":              {lines(said(180_000), synthRow), known(180_000)},
		"only a synthetic reply":                 {lines(typed("a"), synthRow), Tail{Version: version}},
		"case F31: several requests":             {lines(reply(textBlock("a"), iterations)), known(494_600)},
		"case F31: none of them a message":       {lines(reply(textBlock("a"), `{"input_tokens":12000,"iterations":[{"type":"advisor_message","input_tokens":99}]}`)), known(12_000)},
		"case F36: limit":                        {lines(said(150_000), typed("go on"), limitRow), with(known(150_000), failed)},
		"limit, then a reply":                    {lines(limitRow, typed("go on"), said(150_000)), known(150_000)},
		"recovered before the prompt":            {lines(said(150_000), limitRow, typed("go on")), with(with(known(150_000), failed), incomplete)},
		"usage is zero for a while":              {lines(said(50_000), reply(textBlock("a"), `{"input_tokens":0,"output_tokens":0}`)), known(50_000)},
		"usage of odd types":                     {lines(said(50_000), reply(textBlock("a"), `{"input_tokens":"many"}`), reply(textBlock("a"), `[]`), reply(textBlock("a"), `null`)), known(50_000)},
		"absurd usage":                           {lines(said(50_000), reply(textBlock("a"), `{"input_tokens":99999999999999999999}`)), known(50_000)},
		"quoted rows are no rows":                {lines(said(50_000), typed(said(90_000)), said(51_000), attachment(300)), known(51_000)},
		"a model that is not named": {
			lines(said(10_000), strings.Replace(said(30_000), `"model":"claude-opus-5-5"`, `"model":null`, 1)),
			Tail{Tokens: 30_000, Known: true, Version: version},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadTail(written(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			got.Reply, got.Time, got.Ended, got.Broken = "", "", false, false // have tests of their own
			if got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

func TestReadTailEstimatesWithoutUsage(t *testing.T) {
	t.Parallel()
	prompt := strings.Repeat("word ", 4000)
	got, err := ReadTail(written(t, lines(attachment(50_000), typed(prompt), reply(textBlock("Yes."), `{}`), sidechain(typed(prompt)))))
	if err != nil {
		t.Fatal(err)
	}
	if !got.Known || !got.Estimate || got.Tokens < len(prompt)/4 || got.Tokens > len(prompt)/4+200 {
		t.Errorf("got %+v, want an estimate of about %d", got, len(prompt)/4)
	}
}

// The newest version wins, also when it stands in a row behind the reply.
func TestReadTailVersion(t *testing.T) {
	t.Parallel()
	newer := strings.Replace(attachment(100), "2.1.332", "2.1.400", 1)
	got, err := ReadTail(written(t, lines(said(20_000), newer, `{"type":"mode"}`)))
	if err != nil || got.Version != "2.1.400" || got.Tokens != 20_000 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestReadTailOfRecordedSessions(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Tail{
		"headless.jsonl":       {Tokens: 31_003, Known: true, Model: "claude-opus-5-5"},
		"compact-auto.jsonl":   {Tokens: 32_003, Known: true, Model: "claude-opus-5-5"},
		"compact-manual.jsonl": {Tokens: 32_503, Known: true, Model: "claude-opus-5-5"},
		"model-switch.jsonl":   {Tokens: 170_003, Known: true, Model: "claude-haiku-5-5"},
		"rate-limit.jsonl":     {Tokens: 100_003, Known: true, Model: "claude-opus-5-5", APIError: true},
		"subagent.jsonl":       {Tokens: 206_003, Known: true, Model: "claude-opus-5-5"},
	} {
		want.Version = "2.1.332"
		got, err := ReadTail(filepath.Join("testdata", name))
		got.Reply, got.Time, got.Ended, got.Broken = "", "", false, false
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v\nwant %+v", name, got, err, want)
		}
	}
}

// Wherever a recorded session is cut, there is an answer, and it is one that
// stands in the part that was kept.
func TestReadTailOfCutSessions(t *testing.T) {
	t.Parallel()
	whole := recorded(t, "compact-auto.jsonl")
	for n := 0; n < len(whole); n += 97 {
		got, err := readTail(strings.NewReader(whole[:n]), int64(n))
		if err != nil {
			t.Fatal(err)
		}
		if whole[:n] != "" && whole[n-1] != '\n' && whole[n] != '\n' && !got.Incomplete {
			t.Fatalf("cut at %d inside a row: %+v is not incomplete", n, got)
		}
	}
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "missing"), dir, os.DevNull} {
		if _, err := ReadTail(path); err == nil {
			t.Errorf("ReadTail(%q) is no error", path)
		}
	}
	if _, err := ReadTail(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("a missing file is told as %v, want %v", err, fs.ErrNotExist)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(written(t, lines(said(20_000))), link); err != nil {
		t.Skip("no symlinks here")
	}
	if got, err := ReadTail(link); err != nil || got.Tokens != 20_000 {
		t.Errorf("through a link: %+v, %v", got, err)
	}
}

func TestReadTailOfAShrinkingFile(t *testing.T) {
	t.Parallel()
	s := lines(said(20_000))
	if _, err := readTail(strings.NewReader(s), int64(len(s))+100); err == nil {
		t.Error("a file that is shorter than it was is no error")
	}
}

func TestReadTailReply(t *testing.T) {
	t.Parallel()
	say := func(content string) string {
		return `{"type":"assistant","message":{"model":"claude-opus-5-5","content":` + content + `,"usage":{"input_tokens":1}}}`
	}
	for name, tt := range map[string]struct{ in, want string }{
		"the newest":           {lines(say(`[{"type":"text","text":"one"}]`), say(`[{"type":"text","text":"t\"wo\n"}]`)), "t\"wo\n"},
		"the last text block":  {lines(say(`[{"type":"text","text":"one"},{"text":"two","type":"text"},{"type":"tool_use","text":"no"}]`)), "two"},
		"a call of a tool":     {lines(say(`[{"type":"text","text":"one"}]`), say(`[{"type":"tool_use","input":{"text":"no"}}]`)), ""},
		"no sidechain":         {lines(say(`[{"type":"text","text":"one"}]`), sidechain(said(5))), "one"},
		"an error of the API":  {lines(say(`[{"type":"text","text":"one"}]`), limitRow), "API Error: Request rejected (429)"},
		"before a compaction":  {lines(say(`[{"type":"text","text":"one"}]`), boundary(`{"postTokens":5}`)), ""},
		"content is no list":   {lines(say(`"one"`)), ""},
		"nothing is there yet": {lines(typed("a")), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadTail(written(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.Reply != tt.want {
				t.Errorf("got %q, want %q", got.Reply, tt.want)
			}
		})
	}
}

func TestReadTailEnded(t *testing.T) {
	t.Parallel()
	const over = `{"type":"system","subtype":"turn_duration","isSidechain":false}`
	const hooks = `{"type":"system","subtype":"stop_hook_summary","isSidechain":false}`
	for name, tt := range map[string]struct {
		in   string
		want bool
	}{
		"the turn's own reply":    {lines(said(1), over, typed("a"), said(2)), false},
		"the turn before is over": {lines(typed("a"), said(1), hooks, over), true},
		"its hooks have run":      {lines(typed("a"), said(1), hooks), true},
		"something else is newer": {lines(typed("a"), said(1), `{"type":"system","subtype":"local_command"}`), false},
		"a subagent's":            {lines(typed("a"), said(1), sidechain(over)), false},
		"there is no reply":       {lines(hooks), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadTail(written(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.Ended != tt.want {
				t.Errorf("got %v", got.Ended)
			}
		})
	}
}

func TestReadTailBroken(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   string
		want bool
	}{
		"whole":                 {lines(typed("a"), said(1)), false},
		"behind the reply":      {lines(said(1), `{"type":`), true},
		"half a last line":      {lines(said(1)) + `{"type":"us`, true},
		"no end of line":        {strings.TrimSuffix(lines(said(1)), "\n"), false},
		"before what is needed": {lines("{", said(1)), false},
		"an empty line":         {lines(said(1), ""), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := ReadTail(written(t, tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if got.Broken != tt.want {
				t.Errorf("got %v", got.Broken)
			}
		})
	}
}
