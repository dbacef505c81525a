package host

import (
	"strings"
	"testing"
)

func TestDecodeKeepsWhatItCanRead(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want Payload
		fail bool
	}{
		"plain":           {in: `{"hook_event_name":"Stop","session_id":"a","background_tasks":[{},{}]}`, want: Payload{Event: Stop, SessionID: "a", BackgroundTasks: 2}},
		"byte order mark": {in: "\xef\xbb\xbf" + `{"hook_event_name":"Stop"}`, want: Payload{Event: Stop}},
		"one odd field":   {in: `{"cwd":7,"hook_event_name":"Stop","session_id":"a"}`, want: Payload{Event: Stop, SessionID: "a"}},
		"odd tasks":       {in: `{"hook_event_name":"Stop","background_tasks":"none"}`, want: Payload{Event: Stop}},
		"model object":    {in: `{"hook_event_name":"SessionStart","model":{"id":"m"}}`, want: Payload{Event: SessionStart, Model: "m"}},
		"tool path":       {in: `{"hook_event_name":"PreToolUse","tool_input":{"file_path":"/a","content":"x"}}`, want: Payload{Event: PreToolUse, ToolPath: "/a"}},
		"lone surrogate":  {in: `{"hook_event_name":"Stop","session_id":"\ud800"}`, want: Payload{Event: Stop, SessionID: "\ufffd"}},
		"empty":           {in: " \n", fail: true},
		"half":            {in: `{"hook_event_name":"Stop","sess`, fail: true},
		"an array":        {in: `[]`, fail: true},
		"utf-16":          {in: "\xff\xfe{\x00}\x00", fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Claude{}.Decode([]byte(tt.in))
			if tt.fail != (err != nil) {
				t.Fatalf("err = %v, want failure %v", err, tt.fail)
			}
			if got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestEncode(t *testing.T) {
	for name, tt := range map[string]struct {
		event Event
		out   Output
		want  string
		fail  bool
	}{
		"silence is zero bytes (case F42)": {event: Stop, out: Output{Client: "2.1.332"}},
		"message":                          {event: Stop, out: Output{Message: "a<b"}, want: `{"systemMessage":"a<b"}`},
		"context":                          {event: SessionStart, out: Output{Context: "c", Message: "m"}, want: `{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}`},
		"continue":                         {event: Stop, out: Output{Continue: "go", Client: "2.1.163"}, want: `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"go"}}`},
		"continue, older":                  {event: Stop, out: Output{Continue: "go", Client: "2.1.162"}, want: `{"decision":"block","reason":"Not an error: go"}`},
		"continue, unknown":                {event: Stop, out: Output{Continue: "go"}, want: `{"decision":"block","reason":"Not an error: go"}`},
		"ask":                              {event: PreToolUse, out: Output{Ask: "why"}, want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"why"}}`},
		"ask, with context":                {event: PreToolUse, out: Output{Ask: "why", Context: "c"}, want: `{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"c","permissionDecision":"ask","permissionDecisionReason":"why"}}`},
		"ask too late":                     {event: PostToolUse, out: Output{Ask: "why"}, fail: true},
		"compact takes none (case F18)":    {event: PreCompact, out: Output{Context: "c"}, fail: true},
		"end takes none":                   {event: SessionEnd, out: Output{Message: "m"}, fail: true},
		"stop takes no context":            {event: Stop, out: Output{Context: "m"}, fail: true},
		"unknown event":                    {event: "Nope", out: Output{Message: "m"}, fail: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Claude{}.Encode(tt.event, tt.out)
			if tt.fail != (err != nil) {
				t.Fatalf("err = %v, want failure %v", err, tt.fail)
			}
			if strings.TrimSuffix(string(got), "\n") != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if err := (Claude{}).Valid(tt.event, got); err != nil {
				t.Errorf("not valid for the host: %v", err)
			}
		})
	}
}

func TestValidRefuses(t *testing.T) {
	for _, s := range []string{
		`{}`, `{"continue":true}`, `{"systemMessage":"a"}{"systemMessage":"b"}`, `x`, `[]`,
		`{"decision":"approve"}`, `{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"a"}}`,
		`{"systemMessage":"` + strings.Repeat("x", MaxText+1) + `"}`,
	} {
		if (Claude{}).Valid(SessionStart, []byte(s)) == nil {
			t.Errorf("%.60s is accepted", s)
		}
	}
}

func TestValidRefusesVerdictsThatAreNotOurs(t *testing.T) {
	for _, s := range []string{`"allow","permissionDecisionReason":"x"`, `"deny","permissionDecisionReason":"x"`, `"ask"`, `"","permissionDecisionReason":"x"`} {
		out := `{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":` + s + `}}`
		if (Claude{}).Valid(PreToolUse, []byte(out)) == nil {
			t.Errorf("%s is accepted", out)
		}
	}
}

func TestCutCountsAsTheHostDoes(t *testing.T) {
	for _, s := range []string{"", "plain", strings.Repeat("界", 50), strings.Repeat("🙂", 50), "a\xff\xfe" + strings.Repeat("b", 50)} {
		for n := 1; n < 60; n++ {
			got := Cut(s, n)
			if Len(got) > n {
				t.Fatalf("Cut(%q, %d) has %d characters", s, n, Len(got))
			}
			if Len(s) <= n && got != s {
				t.Fatalf("Cut(%q, %d) = %q", s, n, got)
			}
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, tt := range []struct {
		version, min string
		want         bool
	}{
		{"2.1.332", "2.1.163", true},
		{"2.1.163", "2.1.163", true},
		{"2.1.99", "2.1.163", false},
		{"2.2", "2.1.163", true},
		{"2.1", "2.1.163", false},
		{"3", "2.1.163", true},
		{"2.1.163-beta", "2.1.163", true},
		{"", "2.1.163", false},
		{"dev", "2.1.163", false},
	} {
		if got := AtLeast(tt.version, tt.min); got != tt.want {
			t.Errorf("AtLeast(%q, %q) = %v", tt.version, tt.min, got)
		}
	}
}

func TestDecodeNamesTheSession(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"session_id":"a","transcript_path":"/x/b.jsonl"}`: "a",
		`{"transcript_path":"/x/b.jsonl"}`:                  "b",
		`{"transcript_path":"C:\\x\\b.jsonl"}`:              "b",
		`{"cwd":"/x"}`:                                      "",
	} {
		if p, err := (Claude{}).Decode([]byte(in)); err != nil || p.SessionID != want {
			t.Errorf("%s: %q, %v", in, p.SessionID, err)
		}
	}
}

func TestWhen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		source, version string
		want            bool
	}{
		{"clear", "2.1.332", true},
		{"clear", "2.1.265", true},
		{"clear", "2.1.264", false},
		{"clear", "", true},
		{"startup", "2.1.332", false},
		{"compact", "", false},
		{"", "", false},
	} {
		p := Payload{Event: SessionStart, Source: tt.source}
		if got := (Claude{}).When(p, ToPerson, tt.version); (got == UserPromptSubmit) != tt.want {
			t.Errorf("source %q, version %q: %v", tt.source, tt.version, got)
		}
	}
}

// case F36
func TestIsAPIError(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]bool{
		`API Error: 529 {"type":"error"}`:                           true,
		"Claude AI usage limit reached|1749924000":                  true,
		"5-hour limit reached ∙ resets 12pm":                        true,
		"You've hit your limit · resets 4pm (Asia/Kuala_Lumpur)":    true,
		"You’ve hit your session limit · resets 3:45pm":             true,
		"Opus weekly limit reached ∙ resets Monday 9am":             true,
		"You've hit your stride: all tests pass.":                   false,
		"The rate limit reached zero, and it resets at noon.":       false,
		"I read that the 5-hour limit reached zero. It resets too.": false,
		"Done.\nAPI Error is handled now.":                          false,
		"API Error " + strings.Repeat("x", maxErrorLine):            false,
		"": false,
	} {
		if got := IsAPIError(message); got != want {
			t.Errorf("%q: %v", message, got)
		}
	}
}

func TestWhenThereIsNoReader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		event Event
		to    Channel
		want  Event
	}{
		{PreCompact, ToModel, ""},
		{SessionEnd, ToPerson, ""},
		{Stop, ToModel, ""},
		{Stop, GoOn, Stop},
		{PreToolUse, Question, PreToolUse},
		{UserPromptSubmit, ToPerson, UserPromptSubmit},
		{"Nope", ToPerson, ""},
	} {
		if got := (Claude{}).When(Payload{Event: tt.event, Source: "clear"}, tt.to, ""); got != tt.want {
			t.Errorf("%s, channel %d: %q, want %q", tt.event, tt.to, got, tt.want)
		}
	}
}
