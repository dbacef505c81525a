package usage

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
)

func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil } // processes end here, no machine does
	os.Exit(m.Run())
}

var testPrices = models.Prices{
	{Model: "big", Rates: host.Rates{Input: 4, Output: 20, CacheWrite5m: 5, CacheWrite1h: 8, CacheRead: 0.4}},
	{Model: "mid", Rates: host.Rates{Input: 2, Output: 10, CacheWrite5m: 2.5, CacheWrite1h: 4, CacheRead: 0.2}},
	{Model: "mid", From: "2026-10-07", Rates: host.Rates{Input: 2, Output: 10, CacheWrite5m: 2.5, CacheWrite1h: 4, CacheRead: 0.1}},
	{
		Model: "tiny", Rates: host.Rates{Input: 0.1, Output: 0.5, CacheWrite5m: 0.125, CacheWrite1h: 0.2, CacheRead: 0.01},
		LongPrompt: &host.LongPrompt{Above: 1000, Rates: host.Rates{Input: 0.5, Output: 2.5, CacheWrite5m: 0.625, CacheWrite1h: 1, CacheRead: 0.05}},
	},
}

// world is a user's logs and index.
type world struct {
	testing.TB
	root, dir string
}

func newWorld(t testing.TB) world {
	t.Helper()
	w := world{t, filepath.Join(t.TempDir(), "projects"), filepath.Join(t.TempDir(), "usage")}
	if err := os.Mkdir(w.root, 0o755); err != nil {
		t.Fatal(err)
	}
	return w
}

// append adds text to a log.
func (w world) append(log, text string) {
	w.Helper()
	path := filepath.Join(w.root, log)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		w.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		w.Fatal(err)
	}
	f.Close()
}

func (w world) index() *Index { return Open(w.dir, []string{w.root}, testPrices) }

func (w world) update() (*Index, Report) {
	w.Helper()
	x := w.index()
	report, err := x.Update()
	if err != nil || report.NotKept != nil {
		w.Fatalf("%v, %v", err, report.NotKept)
	}
	return x, report
}

// queries ask for everything in every way.
func queries() (list []Query) {
	oslo, err := time.LoadLocation("Europe/Oslo")
	if err != nil {
		oslo = time.FixedZone("Oslo", 3600)
	}
	for _, zone := range []*time.Location{time.UTC, oslo, time.FixedZone("Nepal", 5*3600+45*60)} {
		for _, by := range []By{ByDay, ByModel, ByProject, BySession} {
			for _, days := range []int{0, 20} {
				list = append(list, Query{Days: days, By: by, Zone: zone, Now: noon, Prices: testPrices})
			}
		}
	}
	return list
}

// agree compares statistics, costs to a billionth of a dollar.
func agree(t testing.TB, what string, got, want Stats) {
	t.Helper()
	equal := func(a, b Total) bool {
		near := math.Abs(a.Cost-b.Cost) < 1e-9*max(1, math.Abs(b.Cost))
		a.Cost, b.Cost = 0, 0
		return near && a == b
	}
	ok := equal(got.Total, want.Total) && len(got.By) == len(want.By)
	for key, total := range want.By {
		ok = ok && equal(got.By[key], total)
	}
	if !ok {
		t.Fatalf("%s:\ngot  %+v\nwant %+v", what, got, want)
	}
}

// counts holds an index against the naive counter, in every way.
func (w world) counts(what string, x *Index) {
	w.Helper()
	replies := naiveReplies(w, w.root)
	for _, q := range queries() {
		agree(w, fmt.Sprintf("%s, by %s in %s, %d days", what, q.By, q.Zone, q.Days), x.Stats(q), naiveStats(replies, q))
	}
}

func reply(time, id, request, session, more, usage string) string {
	requestID := ""
	if request != "" {
		requestID = fmt.Sprintf(`"requestId":%q,`, request)
	}
	return fmt.Sprintf(`{"parentUuid":null,%s"message":{"id":%q,"type":"message","role":"assistant","model":"big","content":[{"type":"text","text":"a \"type\":\"user\" {"}],"usage":{%s}},%s"type":"assistant","uuid":"u","timestamp":%q,"cwd":"/w/one","sessionId":%q}`+"\n",
		more, id, usage, requestID, time, session)
}

// Every rule, one by one: what is in the log, and what is counted.
func TestRules(t *testing.T) {
	t.Parallel()
	const when, in10 = "2026-11-30T10:00:00.000Z", `"input_tokens":10,"output_tokens":1`
	ten := func(replies int64) Total {
		return Total{Replies: replies, Input: 10 * replies, Output: replies, Cost: float64(replies) * 60e-6, Priced: replies > 0}
	}
	for name, tt := range map[string]struct {
		log  string
		want Total
	}{
		"one reply":        {reply(when, "m1", "r1", "s1", "", in10), ten(1)},
		"rows of one":      {reply(when, "m1", "r1", "s1", "", in10) + reply(when, "m1", "r1", "s1", "", in10), ten(1)},
		"another request":  {reply(when, "m1", "r1", "s1", "", in10) + reply(when, "m1", "r2", "s1", "", in10), ten(2)},
		"no request":       {reply(when, "m1", "", "s1", "", in10) + reply(when, "m1", "", "s1", "", in10) + reply(when, "m1", "", "s2", "", in10), ten(2)},
		"maximum per kind": {reply(when, "m1", "r1", "s1", "", `"input_tokens":10,"output_tokens":0`) + reply(when, "m1", "r1", "s1", "", `"input_tokens":2,"output_tokens":1`), ten(1)},
		"fork":             {reply(when, "m1", "r1", "s1", "", in10) + reply(when, "m1", "r1", "s2", `"forkedFrom":{"sessionId":"s1","messageUuid":"u"},`, in10), ten(1)},
		"fork, no request": {reply(when, "m1", "", "s1", "", in10) + reply(when, "m1", "", "s2", `"forkedFrom":{"sessionId":"s1","messageUuid":"u"},`, in10), ten(1)},
		"sidechain":        {reply(when, "m1", "r1", "s1", `"isSidechain":true,`, in10), ten(1)},
		"replay":           {reply(when, "m1", "r1", "s1", "", in10) + reply(when, "m1", "r2", "s1", `"isSidechain":true,`, in10), ten(1)},
		"replay first":     {reply(when, "m1", "r2", "s1", `"isSidechain":true,`, in10) + reply(when, "m1", "r3", "s1", `"isSidechain":true,`, in10) + reply(when, "m1", "r1", "s1", "", in10), ten(1)},
		"synthetic":        {strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", in10), `"big"`, `"<synthetic>"`), ten(0)},
		"error":            {reply(when, "m1", "r1", "s1", `"isApiErrorMessage":true,`, in10) + reply(when, "m2", "r2", "s1", `"error":"rate_limit",`, in10), ten(0)},
		"no error":         {reply(when, "m1", "r1", "s1", `"isApiErrorMessage":false,"error":null,`, in10), ten(1)},
		"user rows":        {strings.ReplaceAll(reply(when, "m1", "r1", "s1", `"toolUseResult":{"usage":{"input_tokens":5}},`, in10), `"type":"assistant"`, `"type":"user"`), ten(0)},
		"no usage":         {strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", in10), `"usage"`, `"other"`), ten(0)},
		"usage elsewhere":  {reply(when, "m1", "r1", "s1", `"usage":{"input_tokens":5,"cache_creation":{"ephemeral_1h_input_tokens":9}},"cache_creation":{"ephemeral_1h_input_tokens":9},"other":{"message":{"usage":{"output_tokens":7}}},`, in10), ten(1)},
		"no time":          {reply("yesterday", "m1", "r1", "s1", "", in10) + reply("", "m1", "r1", "s1", "", in10), ten(0)},
		"no id":            {reply(when, "", "r1", "s1", "", in10), ten(1)},
		"half a row":       {reply(when, "m1", "r1", "s1", "", in10)[:250], ten(0)},
		"no newline yet":   {strings.TrimSuffix(reply(when, "m1", "r1", "s1", "", in10), "\n"), ten(1)},
		"CRLF, NUL, BOM":   {"\ufeff" + strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", in10), "\n", "\r\n") + "\x00\x00" + reply(when, "m2", "r2", "s1", "", in10), ten(2)},
		"not JSON":         {"word\n[]\n{}\n\n{\"type\":\"assistant\"}\n" + reply(when, "m1", "r1", "s1", "", in10), ten(1)},
		"cache, no split":  {reply(when, "m1", "r1", "s1", "", `"cache_creation_input_tokens":100`), Total{Replies: 1, Write5m: 100, Cost: 500e-6, Priced: true}},
		"cache, split": {
			reply(when, "m1", "r1", "s1", "", `"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":30,"ephemeral_1h_input_tokens":70}`),
			Total{Replies: 1, Write5m: 30, Write1h: 70, Cost: 150e-6 + 560e-6, Priced: true},
		},
		"cache, split late": {
			reply(when, "m1", "r1", "s1", "", `"cache_creation_input_tokens":100`) + reply(when, "m1", "r1", "s1", "", `"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":100}`),
			Total{Replies: 1, Write1h: 100, Cost: 800e-6, Priced: true},
		},
		"cache read": {reply(when, "m1", "r1", "s1", "", `"cache_read_input_tokens":1000`), Total{Replies: 1, CacheRead: 1000, Cost: 400e-6, Priced: true}},
		"batch":      {reply(when, "m1", "r1", "s1", "", in10+`,"service_tier":"batch"`), Total{Replies: 1, Input: 10, Output: 1, Cost: 30e-6, Priced: true}},
		"unknown":    {strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", in10), `"big"`, `"gpt-9"`), Total{Replies: 1, Input: 10, Output: 1, Unpriced: 1}},
		"prompt at the limit": {
			strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", `"input_tokens":10,"cache_read_input_tokens":490,"cache_creation_input_tokens":500,"output_tokens":9000`), `"big"`, `"tiny"`),
			Total{Replies: 1, Input: 10, Output: 9000, CacheRead: 490, Write5m: 500, Cost: (1 + 4500 + 4.9 + 62.5) * 1e-6, Priced: true},
		},
		"prompt above it": {
			strings.ReplaceAll(reply(when, "m1", "r1", "s1", "", `"input_tokens":11,"cache_read_input_tokens":490,"cache_creation_input_tokens":500,"output_tokens":9000`), `"big"`, `"tiny"`),
			Total{Replies: 1, Input: 11, Output: 9000, CacheRead: 490, Write5m: 500, Cost: 5 * (1.1 + 4500 + 4.9 + 62.5) * 1e-6, Priced: true},
		},
		"price of the day before": {
			strings.ReplaceAll(reply("2026-10-06T23:59:59.999Z", "m1", "r1", "s1", "", `"cache_read_input_tokens":1000`), `"big"`, `"mid-20260901"`),
			Total{Replies: 1, CacheRead: 1000, Cost: 200e-6, Priced: true},
		},
		"price of the day": {
			strings.ReplaceAll(reply("2026-10-07T00:00:00.000Z", "m1", "r1", "s1", "", `"cache_read_input_tokens":1000`), `"big"`, `"mid-20260901"`),
			Total{Replies: 1, CacheRead: 1000, Cost: 100e-6, Priced: true},
		},
		"advisor": {
			reply(when, "m1", "r1", "s1", "", in10+`,"iterations":[{"type":"message","input_tokens":10,"output_tokens":1}]`) +
				reply(when, "m1", "r1", "s1", "", in10+`,"iterations":[{"type":"message","input_tokens":10,"output_tokens":1},{"type":"advisor_message","model":"mid","input_tokens":100,"output_tokens":10,"cache_creation_input_tokens":100,"cache_creation":{"ephemeral_1h_input_tokens":100}},{"type":"advisor_message","model":"gpt-9","input_tokens":7,"output_tokens":7}]`),
			Total{Replies: 1, Input: 117, Output: 18, Write1h: 100, Cost: (60 + 300 + 400) * 1e-6, Priced: true, Unpriced: 1},
		},
		"odd figures": {reply(when, "m1", "r1", "s1", "", `"input_tokens":-5,"output_tokens":1e3,"cache_read_input_tokens":null,"cache_creation_input_tokens":"7"`), Total{Replies: 1, Priced: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.append("-w-one/s1.jsonl", tt.log)
			x, _ := w.update()
			got := x.Stats(Query{By: ByModel, Zone: time.UTC, Prices: testPrices}).Total
			if math.Abs(got.Cost-tt.want.Cost) > 1e-12 {
				t.Errorf("it costs %v, want %v", got.Cost, tt.want.Cost)
			}
			if got.Cost = tt.want.Cost; got != tt.want {
				t.Errorf("got  %+v\nwant %+v", got, tt.want)
			}
			if name != "odd figures" { // encoding/json refuses the row for them
				w.counts("by the naive counter", x)
			}
		})
	}
}

// history makes up rows of all kinds, with few ids, so that all of them meet.
type history struct{ *rand.Rand }

func (h history) of(list ...string) string { return list[h.IntN(len(list))] }

func (h history) usage() string {
	n := func() int { return h.IntN(900) }
	var b strings.Builder
	fmt.Fprintf(&b, `"input_tokens":%d,"output_tokens":%d`, n(), n())
	if h.IntN(3) > 0 {
		fmt.Fprintf(&b, `,"cache_read_input_tokens":%d`, n())
	}
	if h.IntN(2) == 0 {
		m5, h1 := n(), n()
		fmt.Fprintf(&b, `,"cache_creation_input_tokens":%d`, m5+h1)
		if h.IntN(2) == 0 {
			fmt.Fprintf(&b, `,"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d}`, m5, h1)
		}
	}
	return b.String()
}

func (h history) row(session string) string {
	n := h.IntN(40)
	model := []string{"big", "mid", "tiny", "gpt-9", "mid-20260901"}[n%5]
	usage := h.usage()
	if h.IntN(6) == 0 {
		usage += `,"service_tier":"batch"`
	}
	if n%4 == 0 {
		// Later rows of a reply have more of the same.
		its := []string{`{"type":"message","input_tokens":3}`}
		for i := range h.IntN(3) {
			its = append(its, fmt.Sprintf(`{"type":"advisor_message","model":%q,%s}`, []string{"mid", "gpt-9"}[i], h.usage()))
		}
		usage += `,"iterations":[` + strings.Join(its, ",") + `]`
	}
	when := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(h.IntN(63*24*60)) * time.Minute)
	if h.IntN(3) == 0 {
		when = noon.Add(-time.Duration(h.IntN(30*60)) * time.Minute)
	}
	members := []string{
		`"type":"` + h.of("assistant", "assistant", "assistant", "assistant", "user") + `"`,
		`"timestamp":"` + when.Format("2006-01-02T15:04:05.000Z07:00") + `"`,
		fmt.Sprintf(`"message":{"id":"m%d","model":%q,"content":[{"text":%q}],"usage":{%s}}`, n, h.of(model, model, model, "<synthetic>"), strings.Repeat(`x"\{`, h.IntN(50)), usage),
		`"cwd":"` + h.of("/w/one", "/w/one/sub") + `"`,
	}
	if n%3 > 0 {
		members = append(members, fmt.Sprintf(`"requestId":"r%d"`, h.IntN(2)))
	}
	if h.IntN(10) > 0 {
		members = append(members, fmt.Sprintf(`"sessionId":%q`, session))
	}
	if h.IntN(4) == 0 {
		members = append(members, `"isSidechain":true`)
	}
	if h.IntN(8) == 0 {
		members = append(members, `"forkedFrom":{"sessionId":"`+h.of("s1", "s2", "old")+`"}`)
	}
	if h.IntN(12) == 0 {
		members = append(members, h.of(`"isApiErrorMessage":true`, `"error":"overloaded"`, `"error":null`))
	}
	h.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ",") + "}" + h.of("\n", "\n", "\r\n")
}

func (h history) log() (log, session string) {
	session = h.of("s1", "s2", "s3")
	return h.of("-w-one/"+session+".jsonl", "-w-two/"+session+".jsonl", "-w-one/"+session+"/subagents/agent-1.jsonl", "loose.jsonl"), session
}

// However the logs grow, an index that was brought up to date in between, by another
// process each time, says what one does that reads them at once, and what the naive
// counter says.
func TestGrowingLogsAreCountedAsOnes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		h := history{rand.New(rand.NewPCG(seed, 1))}
		w := newWorld(t)
		half := map[string]string{} // what is missing of the last row of a log
		for range 12 {
			for range 1 + h.IntN(30) {
				log, session := h.log()
				row := half[log]
				if delete(half, log); row == "" {
					row = h.row(session)
				}
				if h.IntN(8) == 0 {
					i := h.IntN(len(row))
					row, half[log] = row[:i], row[i:]
				}
				w.append(log, row)
			}
			x, _ := w.update()
			w.counts(fmt.Sprintf("seed %d", seed), x)
		}
		x := Open(t.TempDir(), []string{w.root}, testPrices)
		if _, err := x.Update(); err != nil {
			t.Fatal(err)
		}
		w.counts("at once", x)
		again, report := w.update()
		if report.Read != 0 || report.Bytes != 0 {
			t.Errorf("nothing new, and %d logs were read", report.Read)
		}
		w.counts("from the snapshot", again)
	}
}

// An update reads what was added, and nothing else.
func TestOnlyWhatWasAddedIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", "", `"input_tokens":1`)
	w.append("-w-one/s1.jsonl", strings.Repeat(row, 1000))
	w.append("-w-one/s2.jsonl", row)
	if _, report := w.update(); report.Bytes != int64(1001*len(row)) || report.Rows != 1001 || report.Read != 2 || report.Logs != 2 {
		t.Errorf("%+v", report)
	}
	w.append("-w-one/s1.jsonl", row+row[:100])
	if _, report := w.update(); report.Bytes != int64(len(row)+100) || report.Read != 1 {
		t.Errorf("%+v", report)
	}
	w.append("-w-one/s1.jsonl", row[100:])
	if _, report := w.update(); report.Bytes != int64(len(row)) || report.Rows != 1 {
		t.Errorf("%+v", report)
	}
}

// The host deletes logs, and other programs do what they like with them.
func TestWhatWasCountedStaysCounted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	usage := `"input_tokens":1,"output_tokens":2`
	row := func(n int) string {
		return reply("2026-11-30T10:00:00.000Z", fmt.Sprint("m", n), fmt.Sprint("r", n), "s1", "", usage)
	}
	log := filepath.Join(w.root, "-w-one/s1.jsonl")
	wantReplies := func(what string, want int64) {
		t.Helper()
		x, _ := w.update()
		if got := x.Stats(Query{Zone: time.UTC, By: BySession}); got.Total.Replies != want || got.By["s1"].Output != 2*want {
			t.Errorf("%s: %+v, want %d", what, got, want)
		}
	}
	rewrite := func(rows ...string) {
		t.Helper()
		if err := os.WriteFile(log, []byte(strings.Join(rows, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w.append("-w-one/s1.jsonl", row(1)+row(2)+row(3))
	wantReplies("first", 3)
	if err := os.Truncate(log, int64(len(row(1)))); err != nil {
		t.Fatal(err)
	}
	wantReplies("cut off", 3)
	w.append("-w-one/s1.jsonl", row(2)+row(4))
	wantReplies("grown again", 4)
	rewrite(row(5), row(6), row(7), row(8), row(9))
	wantReplies("replaced by a longer one", 9)
	rewrite(row(1))
	wantReplies("replaced by a shorter one", 9)
	if err := os.RemoveAll(w.root); err != nil {
		t.Fatal(err)
	}
	wantReplies("deleted", 9)
	w.append("-w-one/s1.jsonl", row(9)+row(10))
	wantReplies("come again", 10)
}

// What becomes of the index's own files costs no more than reading the logs again,
// and the logs that are gone are counted as long as their cells are there.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	damage := map[string]func(path string) error{
		"deleted":   os.Remove,
		"emptied":   func(path string) error { return os.Truncate(path, 0) },
		"torn":      func(path string) error { return os.Truncate(path, 100) },
		"one byte":  func(path string) error { return flip(path, 200) },
		"the start": func(path string) error { return flip(path, 3) },
		"garbage":   func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("garbage ", 500)), 0o600) },
		"doubled": func(path string) error {
			data, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path, append(data, data...), 0o600))
		},
	}
	for name, hurt := range damage {
		for _, files := range [][]string{{snapshotName}, {journalName}, {snapshotName, journalName}} {
			w := newWorld(t)
			h := history{rand.New(rand.NewPCG(7, 7))}
			for range 200 {
				log, session := h.log()
				w.append(log, h.row(session))
			}
			x, _ := w.update()
			for _, file := range files {
				if err := hurt(x.dir.Path(file)); err != nil {
					t.Fatal(err)
				}
			}
			what := name + " " + strings.Join(files, ", ")
			x, _ = w.update()
			w.counts(what, x)
			log, session := h.log()
			w.append(log, h.row(session))
			x, _ = w.update()
			w.counts(what+", and then", x)
		}
	}
	// Without the snapshot, the journal has what the logs have no more.
	w := newWorld(t)
	w.append("-w-one/s1.jsonl", reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", "", `"input_tokens":7`))
	x, _ := w.update()
	if err := errors.Join(os.RemoveAll(w.root), os.Remove(x.dir.Path(snapshotName))); err != nil {
		t.Fatal(err)
	}
	x, _ = w.update()
	if got := x.Stats(Query{Zone: time.UTC, By: ByProject}); got.By["/w/one"].Input != 7 {
		t.Errorf("%+v", got)
	}
}

// The worktrees of agents are one project, whether it is known where each was or not.
func TestProjectsOfAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, tt := range []struct{ logs, cwd string }{{"-src-trees-a", "/src/trees/a"}, {"-src-trees-b", "/elsewhere"}, {"-src-treeshop", "/src/treeshop"}} {
		n := strconv.Itoa(i)
		row := reply("2026-01-01T00:00:00Z", "m"+n, "r"+n, "s"+n, "", `"output_tokens":`+strconv.Itoa(1<<i))
		w.append(filepath.Join(tt.logs, n+".jsonl"), strings.Replace(row, "/w/one", tt.cwd, 1))
	}
	x, _ := w.update()
	got := x.Stats(Query{By: ByProject, Zone: time.UTC, Worktrees: "/src/trees"}).By
	if len(got) != 2 || got["/src/trees"].Output != 3 || got["/src/treeshop"].Output != 4 {
		t.Errorf("%+v", got)
	}
}

func flip(path string, at int) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	data[min(at, len(data)-1)] ^= 0x10
	return os.WriteFile(path, data, 0o600)
}

// Whoever is killed before any change of a file leaves an index with which the next
// update counts right.
func TestKilledUpdate(t *testing.T) {
	type kill struct{}
	defer func() { state.Step = nil }()
	w := newWorld(t)
	h := history{rand.New(rand.NewPCG(3, 9))}
	grow := func() {
		for range 30 {
			log, session := h.log()
			w.append(log, h.row(session))
		}
	}
	for at := 0; ; at++ {
		grow()
		steps, killed := 0, ""
		state.Step = func(what string) {
			if steps++; steps > at && killed == "" {
				killed = what
				panic(kill{})
			}
		}
		func() {
			defer func() {
				if p := recover(); p != nil && p != any(kill{}) {
					panic(p)
				}
			}()
			w.update()
		}()
		state.Step = nil
		x, _ := w.update()
		w.counts(fmt.Sprintf("killed before %q", killed), x)
		if killed == "" {
			if at < 3 {
				t.Errorf("an update has %d steps", at)
			}
			return
		}
	}
}

// A write that a kill, or a full disk, has cut off in its middle.
func TestTornJournal(t *testing.T) {
	t.Parallel()
	for _, more := range []int{1, cellSize - 1, cellSize, 5*cellSize + 7} {
		w := newWorld(t)
		h := history{rand.New(rand.NewPCG(5, 5))}
		for range 100 {
			log, session := h.log()
			w.append(log, h.row(session))
		}
		x, _ := w.update()
		path := x.dir.Path(journalName)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		// Behind what the snapshot knows stand cells of the journal's beginning.
		if err := os.WriteFile(path, append(data, data[:more]...), 0o600); err != nil {
			t.Fatal(err)
		}
		for range 100 {
			log, session := h.log()
			w.append(log, h.row(session))
		}
		x, _ = w.update()
		w.counts(fmt.Sprint(more, " bytes too many"), x)
	}
}

func TestUnreadableLogs(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Log("root may read everything: what follows only holds what is no file")
	}
	w := newWorld(t)
	row := reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", "", `"input_tokens":7`)
	w.append("-w-one/s1.jsonl", row)
	w.append("-w-one/s2.jsonl", strings.ReplaceAll(row, "m1", "m2"))
	w.append("-w-one/notes.txt", strings.ReplaceAll(row, "m1", "m3"))
	if err := errors.Join(os.Chmod(filepath.Join(w.root, "-w-one/s2.jsonl"), 0), os.MkdirAll(filepath.Join(w.root, "-w-one/dir.jsonl"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.root, "-w-one/notes.txt"), filepath.Join(w.root, "-w-one/link.jsonl")); err != nil {
		t.Log(err)
	}
	x, report := w.update()
	replies := x.Stats(Query{Zone: time.UTC}).Total.Replies
	if unread := len(report.Unread); replies+int64(unread) != 2 || unread == 1 && !errors.Is(report.Unread[0].Err, fs.ErrPermission) {
		t.Errorf("%d replies, unread %v", replies, report.Unread)
	}
	if err := os.Chmod(filepath.Join(w.root, "-w-one/s2.jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	x, report = w.update()
	if n := x.Stats(Query{Zone: time.UTC}).Total.Replies; n != 2 || len(report.Unread) != 0 {
		t.Errorf("%d replies, unread %v", n, report.Unread)
	}
}

// An index that cannot be kept counts all the same.
func TestIndexWithoutAPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := history{rand.New(rand.NewPCG(5, 6))}
	for range 300 {
		log, session := h.log()
		w.append(log, h.row(session))
	}
	if err := os.WriteFile(w.dir, nil, 0o600); err != nil { // a file where the directory should be
		t.Fatal(err)
	}
	x := w.index()
	report, err := x.Update()
	if err != nil || report.NotKept == nil {
		t.Fatalf("%v, %v", err, report.NotKept)
	}
	w.counts("not kept", x)
	for _, file := range []string{journalName, snapshotName} {
		w.dir = t.TempDir()
		if err := os.MkdirAll(filepath.Join(w.index().dir.Path(file), "in", "the", "way"), 0o755); err != nil {
			t.Fatal(err)
		}
		x := w.index()
		report, err := x.Update()
		if err != nil || !errors.Is(report.NotKept, state.ErrUnsafe) || len(report.Unread) > 0 {
			t.Fatalf("%s: %v, %v, %v", file, err, report.NotKept, report.Unread)
		}
		w.counts(file+" not kept", x)
	}
}

// A row of more bytes than any reply has is stepped over, and held only as far as
// it may be one.
func TestLongRows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	row := func(id string, size int) string {
		return strings.Replace(reply("2026-11-30T10:00:00.000Z", id, "r", "s1", "", `"input_tokens":1`), `"a \"type`, `"`+strings.Repeat(`long \"`, size/7)+`type`, 1)
	}
	user := func(size int) string {
		return `{"type":"user","message":{"content":"` + strings.Repeat(`xyz\n`, size/5) + `"}}` + "\n"
	}
	w.append("-w-one/s1.jsonl", row("m1", 10)+user(3<<20)+row("m2", blockSize)+user(12<<20)+row("m3", 2<<20)+row("m4", 9<<20)+row("m5", 10)+user(blockSize-3)+row("m6", 10)+user(20 << 20)[:15<<20])
	x, report := w.update()
	if n := x.Stats(Query{Zone: time.UTC}).Total.Replies; n != 5 { // all but m4
		t.Errorf("%d replies", n)
	}
	w.append("-w-one/s1.jsonl", user(20 << 20)[15<<20:]+row("m7", 10))
	x, report = w.update()
	if n := x.Stats(Query{Zone: time.UTC}).Total.Replies; n != 6 || report.Bytes > 22<<20 {
		t.Errorf("%d replies, read %d", n, report.Bytes)
	}
}

// Other lengths of prompts are counted from the journal, not from the logs.
func TestOtherLongPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := history{rand.New(rand.NewPCG(1, 2))}
	for range 300 {
		log, session := h.log()
		w.append(log, h.row(session))
	}
	w.update()
	row := h.row("s1")
	w.append("-w-one/s1.jsonl", row)
	replies := naiveReplies(t, w.root)
	prices := append(models.Prices{{Model: "big", From: "2026-10-20", LongPrompt: &host.LongPrompt{Above: 700, Rates: host.Rates{Input: 9}}}}, testPrices...)
	x := Open(w.dir, []string{w.root}, prices)
	if report, err := x.Update(); err != nil || report.Bytes != int64(len(row)) {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, q := range queries() {
		q.Prices = prices
		agree(t, fmt.Sprint(q.By), x.Stats(q), naiveStats(replies, q))
	}
}

func TestRoots(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	in := func(elem ...string) string { return filepath.Join(append([]string{home}, elem...)...) }
	for name, tt := range map[string]struct {
		h     host.Host
		given []string
		want  []string
	}{
		"of the home":       {host.Host{Home: home, Config: in(".claude")}, nil, []string{in(".claude", "projects"), in(".config", "claude", "projects")}},
		"another directory": {host.Host{Home: home, Config: in("work")}, nil, []string{in("work", "projects")}},
		"given":             {host.Host{Home: home, Config: in("work")}, []string{in("a"), in("a", "."), "relative", in("b")}, []string{in("a"), in("b")}},
		"no home":           {host.Host{}, nil, nil},
	} {
		if got := Roots(tt.h, tt.given); fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// People have a link to where their logs are; two that lead to one are one.
func TestLinkedRoots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.append("-w-one/s1.jsonl", reply("2026-11-30T10:00:00.000Z", "m1", "r1", "s1", "", `"input_tokens":7`))
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(w.root, link); err != nil {
		t.Skip(err)
	}
	x := Open(w.dir, []string{link, w.root}, nil)
	report, err := x.Update()
	if err != nil || report.Logs != 1 || x.Stats(Query{Zone: time.UTC, By: ByProject}).By["/w/one"].Input != 7 {
		t.Errorf("%+v, %v", report, err)
	}
}
