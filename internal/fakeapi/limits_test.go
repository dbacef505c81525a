package fakeapi

import (
	"testing"
	"time"
)

func TestErrorsAndLimitsReachTheClient(t *testing.T) {
	t.Parallel()
	s := start(t)
	reset := time.Unix(1_798_858_800, 0)
	s.Script(
		Say("ok").With(Limits{FiveHour: 0.93, SevenDay: 0.1, FiveHourReset: reset, SevenDayReset: reset.Add(time.Hour)}),
		RateLimited("no more").With(Limits{FiveHour: 0.3, SevenDay: 1, FiveHourReset: reset, SevenDayReset: reset.Add(time.Hour)}),
		Unauthorized(), NoCredit())
	const unified = "anthropic-ratelimit-unified-"
	for i, want := range []struct {
		status                      int
		overall, claim, reset, used string
	}{
		{200, "allowed_warning", "five_hour", "1798858800", "0.93"},
		{429, "rejected", "seven_day", "1798862400", "0.3"},
		{401, "", "", "", ""},
		{400, "", "", "", ""},
	} {
		resp, data := post(t, s, messages, body("hi", 5, false))
		h := resp.Header
		if resp.StatusCode != want.status || h.Get(unified+"status") != want.overall || h.Get(unified+"representative-claim") != want.claim ||
			h.Get(unified+"reset") != want.reset || h.Get(unified+"5h-utilization") != want.used {
			t.Errorf("reply %d: %d %v\n%s", i, resp.StatusCode, h, data)
		}
	}
	for _, c := range []struct {
		tools []string
		want  Kind
	}{{[]string{"Glob", "Grep", "Read"}, Main}, {[]string{"Glob", "Grep"}, Side}} {
		list := ""
		for i, name := range c.tools {
			if i > 0 {
				list += ","
			}
			list += `{"name":"` + name + `"}`
		}
		r := Request{Path: "/v1/messages", Raw: []byte(`{"tools":[` + list + `],"messages":[]}`)}
		if r.decode(); r.Kind != c.want {
			t.Errorf("with %q it is %q", c.tools, r.Kind)
		}
	}
}
