package occupancy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/models"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/transcript"
)

const opus, haiku = "claude-opus-5-5", "claude-haiku-4-5"

var table = models.Table{{Model: opus, Tokens: 1_000_000}, {Model: haiku, Tokens: 200_000}}

func TestWindow(t *testing.T) {
	t.Parallel()
	shown := func(model string, window, proxy int) Figure {
		return Figure{Session: "s1", Model: model, Window: window, Used: -1, Proxy: proxy}
	}
	for name, tt := range map[string]struct {
		in     Sources
		live   string
		seen   int
		tokens int
		source string
		stamp  Stamp // after a switch
	}{
		"nothing is known":                {Sources{}, "", 0, models.Unknown, FromNothing, Stamp{}},
		"unknown model":                   {Sources{}, "x", 0, models.Unknown, FromNothing, Stamp{}},
		"table":                           {Sources{}, haiku, 0, 200_000, FromTable, Stamp{}},
		"stamp":                           {Sources{Stamp: Stamp{haiku, 300_000}}, haiku, 0, 300_000, FromStamp, Stamp{}},
		"host":                            {Sources{Figure: shown(haiku, 400_000, 0), Stamp: Stamp{haiku, 300_000}}, haiku, 0, 400_000, FromHost, Stamp{}},
		"host, another model":             {Sources{Figure: shown(opus, 500_000, 0)}, haiku, 0, 200_000, FromTable, Stamp{}},
		"host, no reply yet":              {Sources{Figure: shown(opus, 500_000, 0)}, "", 0, 500_000, FromHost, Stamp{}},
		"proxy above the host's default":  {Sources{Figure: shown("glm-x", 200_000, 128_000)}, "glm-x", 0, 128_000, FromProxy, Stamp{}},
		"config":                          {Sources{Pinned: 50_000, Figure: shown(haiku, 400_000, 70_000)}, haiku, 0, 50_000, FromConfig, Stamp{}},
		"invalid figures":                 {Sources{Pinned: 999, Figure: shown(haiku, -1, 5), Stamp: Stamp{haiku, 5}, Limit: 10}, haiku, 0, 200_000, FromTable, Stamp{}},
		"stamp without a window":          {Sources{Stamp: Stamp{haiku + "[1m]", 0}}, haiku, 0, 1_000_000, FromTable, Stamp{}},
		"a bare id is no downgrade":       {Sources{Stamp: Stamp{haiku + "[1m]", 1_000_000}}, haiku, 150_000, 1_000_000, FromStamp, Stamp{}},
		"an alias with the large window":  {Sources{Stamp: Stamp{"haiku[1m]", 0}}, haiku, 0, 1_000_000, FromTable, Stamp{}},
		"an alias":                        {Sources{Stamp: Stamp{"haiku", 0}}, haiku, 0, 200_000, FromTable, Stamp{}},
		"an alias of another family":      {Sources{Stamp: Stamp{"opus[1m]", 1_000_000}}, haiku, 0, 200_000, FromTable, Stamp{haiku, 200_000}},
		"started with the large window":   {Sources{Figure: shown(haiku+"[1m]", 0, 0)}, haiku, 150_000, 1_000_000, FromTable, Stamp{}},
		"a dated id is no switch":         {Sources{Stamp: Stamp{haiku, 300_000}}, haiku + "-20251001", 0, 300_000, FromStamp, Stamp{}},
		"a switch":                        {Sources{Stamp: Stamp{opus + "[1m]", 1_000_000}}, haiku, 120_003, 200_000, FromTable, Stamp{haiku, 200_000}},
		"a switch to an unknown model":    {Sources{Stamp: Stamp{haiku, 200_000}}, "x", 0, models.Unknown, FromNothing, Stamp{"x", models.Unknown}},
		"a switch while pinned":           {Sources{Pinned: 50_000, Stamp: Stamp{opus, 1_000_000}}, haiku, 0, 50_000, FromConfig, Stamp{haiku, 200_000}},
		"the host forgets [1m] (F06)":     {Sources{Figure: shown(haiku, 200_000, 0), Stamp: Stamp{haiku + "[1m]", 1_000_000}}, haiku, 0, 1_000_000, FromStamp, Stamp{}},
		"more seen than the table (F06)":  {Sources{}, haiku, 219_313, 1_000_000, FromTable, Stamp{}},
		"more seen than the host (F06)":   {Sources{Figure: shown(haiku, 200_000, 0)}, haiku, 219_313, 1_000_000, FromHost, Stamp{}},
		"raised to the next size":         {Sources{Figure: shown("x", 128_000, 0)}, "x", 150_000, 200_000, FromHost, Stamp{}},
		"raised beyond all sizes":         {Sources{}, opus, 1_200_000, 1_200_000, FromTable, Stamp{}},
		"exactly full is not too much":    {Sources{}, haiku, 200_000, 200_000, FromTable, Stamp{}},
		"pinned is never raised":          {Sources{Pinned: 200_000}, haiku, 219_313, 200_000, FromConfig, Stamp{}},
		"auto-compact caps (F06)":         {Sources{Limit: 300_000}, opus, 0, 300_000, FromTable, Stamp{}},
		"a larger one does not":           {Sources{Limit: 300_000}, haiku, 0, 200_000, FromTable, Stamp{}},
		"it caps what was raised":         {Sources{Limit: 300_000}, haiku, 219_313, 300_000, FromTable, Stamp{}},
		"it caps what is pinned":          {Sources{Pinned: 500_000, Limit: 300_000}, opus, 0, 300_000, FromConfig, Stamp{}},
		"a stamp keeps the real size":     {Sources{Limit: 300_000, No1M: true, Stamp: Stamp{haiku, 0}}, opus, 0, 200_000, FromTable, Stamp{opus, 1_000_000}},
		"no large window":                 {Sources{No1M: true}, opus, 150_000, 200_000, FromTable, Stamp{}},
		"no large window, chosen":         {Sources{No1M: true, Stamp: Stamp{haiku + "[1m]", 1_000_000}}, haiku, 0, 200_000, FromStamp, Stamp{}},
		"no large window, unknown model":  {Sources{No1M: true}, "x", 0, 200_000, FromNothing, Stamp{}},
		"no large window, and outgrown":   {Sources{No1M: true}, opus, 250_000, 1_000_000, FromTable, Stamp{}},
		"no large window, pinned":         {Sources{No1M: true, Pinned: 1_000_000}, opus, 0, 1_000_000, FromConfig, Stamp{}},
		"no large window, a smaller one":  {Sources{No1M: true, Figure: shown("x", 128_000, 0)}, "x", 0, 128_000, FromHost, Stamp{}},
		"a dotted id of a gateway":        {Sources{}, "anthropic/claude-haiku-4.5:beta", 0, 200_000, FromTable, Stamp{}},
		"the stamp of a gateway's own id": {Sources{Stamp: Stamp{"databricks-claude-haiku-4-5", 64_000}}, haiku, 0, 64_000, FromStamp, Stamp{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.in.Table = table
			w := tt.in.window(tt.live, tt.seen)
			if w.Tokens != tt.tokens || w.Source != tt.source {
				t.Errorf("%d (%s), want %d (%s)", w.Tokens, w.Source, tt.tokens, tt.source)
			}
			if w.Switched != (tt.stamp != Stamp{}) || w.Switched && w.Stamp != tt.stamp {
				t.Errorf("switched %v to %+v, want %+v", w.Switched, w.Stamp, tt.stamp)
			}
		})
	}
}

// case F94: the host's percentage counts only where the transcript has no
// figure, and only if it was shown since.
func TestOf(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	shown := func(used, window int, age time.Duration) Sources {
		return Sources{Table: table, Figure: Figure{Session: "s1", Model: opus, Window: window, Used: used, Time: at.Add(-age)}}
	}
	used := transcript.Tail{Known: true, Tokens: 900_000, Model: opus, Time: "2026-11-30T12:00:00Z"}
	none := transcript.Tail{Model: opus, Time: "2026-11-30T12:00:00Z"}
	rough := transcript.Tail{Known: true, Estimate: true, Tokens: 50_000, Model: opus, Time: none.Time}
	noTime := shown(72, 1_000_000, 0)
	noTime.Figure.Time = time.Time{}
	for name, tt := range map[string]struct {
		s        Sources
		tail     transcript.Tail
		known    bool
		tokens   int
		fromHost bool
	}{
		"the transcript comes first":         {shown(20, 1_000_000, -time.Minute), used, true, 900_000, false},
		"shown after the last row":           {shown(72, 1_000_000, -time.Second), none, true, 720_000, true},
		"shown before it":                    {shown(72, 1_000_000, time.Second), none, false, 0, false},
		"nobody knows when":                  {noTime, none, false, 0, false},
		"no transcript at all":               {shown(72, 1_000_000, 0), transcript.Tail{}, true, 720_000, true},
		"no transcript, and nobody knows":    {noTime, transcript.Tail{}, true, 720_000, true},
		"no figure":                          {SourcesOf(host.Host{}, "s1", table, 0), transcript.Tail{}, false, 0, false},
		"none yet":                           {shown(-1, 1_000_000, -time.Second), none, false, 0, false},
		"better than an estimate":            {shown(72, 1_000_000, -time.Second), rough, true, 720_000, true},
		"an estimate is better than old":     {shown(72, 1_000_000, time.Second), rough, true, 50_000, false},
		"a percentage without a size":        {shown(50, 0, -time.Second), none, true, 500_000, true},
		"without a size, of a smaller model": {Sources{Table: table, Stamp: Stamp{"x", 64_000}, Figure: Figure{Session: "s1", Model: "x", Used: 50, Time: at}}, transcript.Tail{Model: "x"}, true, 32_000, true},
	} {
		o := tt.s.Of(tt.tail)
		if o.Known != tt.known || o.Known && o.Tokens != tt.tokens || o.FromHost != tt.fromHost {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestReachesIsExact(t *testing.T) {
	t.Parallel()
	for tokens, want := range map[int]string{
		138_999: "69 % false", 139_000: "70 % false", 139_999: "70 % false", 140_000: "70 % true", 250_000: "100 % true",
	} {
		o := Occupancy{Known: true, Tokens: tokens, Window: Window{Tokens: 200_000}}
		if got := fmt.Sprintf("%d %% %v", o.Percent(), o.Reaches(70)); got != want {
			t.Errorf("%d: %s, want %s", tokens, got, want)
		}
		if !strings.HasPrefix(o.String(), fmt.Sprintf("%d %% full (", o.Percent())) {
			t.Errorf("%d: said %s", tokens, o)
		}
	}
	if (Occupancy{Tokens: 200, Window: Window{Tokens: 200}}).Reaches(1) {
		t.Error("an unknown occupancy reaches something")
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		0: "0", 999: "999", 1000: "1k", 1500: "1.5k", 2000: "2k", 9999: "9.9k", 32_768: "32k", 200_000: "200k",
		461_999: "461k", 999_999: "999k", 1_000_000: "1M", 1_048_576: "1M", 1_500_000: "1.5M", 2_000_000: "2M", 12_000_000: "12M",
	} {
		if got := Tokens(n); got != want {
			t.Errorf("Tokens(%d) = %q, want %q", n, got, want)
		}
	}
}

// turn is a session whose transcript is written while it is waited for.
type turn struct {
	t     *testing.T
	path  string
	now   time.Time
	sleep func(waited time.Duration)
	slow  bool
}

func newTurn(t *testing.T) *turn {
	return &turn{t: t, path: filepath.Join(t.TempDir(), "s1.jsonl"), now: time.Unix(1e9, 0), sleep: func(time.Duration) {}}
}

func (u *turn) write(rows ...any) {
	u.t.Helper()
	var b strings.Builder
	for _, row := range rows {
		line, err := json.Marshal(row)
		if err != nil {
			u.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	if err := os.WriteFile(u.path, []byte(b.String()), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

// measure returns what Measure says and how long it has waited.
func (u *turn) measure(message string, wait bool) (Occupancy, time.Duration) {
	began := u.now
	call := &host.Call{
		Payload: host.Payload{SessionID: "s1", TranscriptPath: u.path, LastMessage: message},
		Env: host.Env{
			Now:   func() time.Time { return u.now },
			Sleep: func(d time.Duration) { u.now = u.now.Add(d); u.sleep(u.now.Sub(began)) },
			Log:   func(string, ...any) {},
		},
		OnSlow: func() { u.slow = true },
	}
	o := Measure(call, Sources{Table: table}, wait)
	return o, u.now.Sub(began)
}

func prompt(text string) any {
	return map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}}
}

func said(tokens int, text string) any {
	return map[string]any{"type": "assistant", "message": map[string]any{
		"model": opus, "content": []any{map[string]any{"type": "text", "text": text}}, "usage": map[string]any{"input_tokens": tokens},
	}}
}

func system(subtype string) any { return map[string]any{"type": "system", "subtype": subtype} }

// case F02: the reply of the turn is not written yet.
func TestMeasureWaitsForTheReply(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		rows    []any
		message string
		waits   time.Duration
	}{
		"complete":                       {[]any{prompt("go on"), said(440_000, "All done. ")}, "All done.", 0},
		"complete, in several rows":      {[]any{prompt("go on"), said(440_000, "Part one."), said(440_000, "Part two.")}, "Part one.Part two.", 0},
		"the host names no message":      {[]any{prompt("go on"), said(440_000, "Done.")}, "", 0},
		"the reply is missing":           {[]any{said(440_000, "Before."), prompt("go on")}, "Done.", tailWait},
		"missing, with the same words":   {[]any{said(440_000, "Done."), prompt("go on")}, "Done.", tailWait},
		"the whole turn is missing":      {[]any{prompt("go on"), said(440_000, "Before.")}, "Done.", tailWait},
		"missing, after equal words":     {[]any{prompt("go on"), said(440_000, "Done."), system("turn_duration")}, "Done.", tailWait},
		"missing, first turn":            {[]any{prompt("go on")}, "Done.", tailWait},
		"there is no transcript yet":     {nil, "Done.", tailWait},
		"after a compaction, then a row": {[]any{said(440_000, "Before."), system("compact_boundary")}, "Before.", tailWait},
	} {
		u := newTurn(t)
		if tt.rows != nil {
			u.write(tt.rows...)
		}
		if _, waited := u.measure(tt.message, true); waited != tt.waits || u.slow != (tt.waits > 0) {
			t.Errorf("%s: waited %s, want %s; the clock runs: %v", name, waited, tt.waits, u.slow)
		}
		if _, waited := u.measure(tt.message, false); waited != 0 {
			t.Errorf("%s: waited %s for nobody", name, waited)
		}
	}
	u := newTurn(t)
	u.path = ""
	if o, waited := u.measure("Done.", true); o.Known || waited != 0 {
		t.Errorf("no transcript is named: %+v after %s", o, waited)
	}
	// The reply comes after 180 ms.
	u = newTurn(t)
	u.write(said(440_000, "Before."), prompt("go on"))
	u.sleep = func(waited time.Duration) {
		if waited == 180*time.Millisecond {
			u.write(said(440_000, "Before."), prompt("go on"), said(461_000, "Done."))
		}
	}
	if o, waited := u.measure("Done.", true); o.Tokens != 461_000 || waited != 180*time.Millisecond {
		t.Errorf("%d tokens after %s", o.Tokens, waited)
	}
}

// What it costs to read counts as waiting, and a file that stays as it is is
// read once.
func TestMeasureReadsWhatIsNew(t *testing.T) {
	t.Parallel()
	u := newTurn(t)
	u.write(prompt("go on"))
	info, err := os.Stat(u.path)
	if err != nil {
		t.Fatal(err)
	}
	u.sleep = func(waited time.Duration) {
		u.now = u.now.Add(tailWait / 2) // a machine that has no time for us
		// Other content under the same size and time: whoever reads it again is
		// told something else.
		b := []byte(strings.Repeat("x", int(info.Size())))
		if err := errors.Join(os.WriteFile(u.path, b, 0o600), os.Chtimes(u.path, info.ModTime(), info.ModTime())); err != nil {
			t.Error(err)
		}
	}
	o, waited := u.measure("Done.", true)
	if !o.Tail.Incomplete || o.Tail.Broken {
		t.Errorf("it was read again: %+v", o.Tail)
	}
	if most := tailWait + tailWait/2 + 2*tailPoll; waited > most {
		t.Errorf("waited %s, want at most %s", waited, most)
	}
}

// A clock that stands still ends the wait all the same.
func TestMeasureWithAStoppedClock(t *testing.T) {
	t.Parallel()
	u := newTurn(t)
	stopped := u.now
	looks := 0
	u.sleep = func(time.Duration) { looks++; u.now = stopped }
	u.measure("Done.", true)
	if looks != int(tailWait/tailPoll) {
		t.Errorf("looked %d times", looks)
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tail transcript.Tail
		err  error
		want bool
	}{
		"it is there":            {transcript.Tail{Reply: "Done."}, nil, false},
		"a prompt is unanswered": {transcript.Tail{Reply: "Done.", Incomplete: true}, nil, true},
		"the turn before":        {transcript.Tail{Reply: "Before."}, nil, true},
		"in the same words":      {transcript.Tail{Reply: "Done.", Ended: true}, nil, true},
		"nothing is there yet":   {transcript.Tail{}, nil, true},
		"no file is there yet":   {transcript.Tail{}, fs.ErrNotExist, true},
		"no file at all":         {transcript.Tail{}, errors.New("a directory"), false},
		"broken":                 {transcript.Tail{Reply: "Before.", Incomplete: true, Broken: true}, nil, false},
	} {
		if got := late(tt.tail, tt.err, "Done."); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

// dirWith is a state directory with files.
func dirWith(t *testing.T, files map[string]string) state.Dir {
	t.Helper()
	dir := state.NewDir(filepath.Join(t.TempDir(), ".reload"))
	if err := os.Mkdir(dir.Path(""), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		if err := os.WriteFile(dir.Path(name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func content(dir state.Dir, name string) string {
	data, _ := os.ReadFile(dir.Path(name))
	return string(data)
}

func TestShow(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_796_000_000_000)
	show := func(dir state.Dir, f Figure) Figure {
		t.Helper()
		if err := f.Show(dir, true); err != nil {
			t.Fatal(err)
		}
		got, _ := ReadFigure(dir, f.Session)
		return got
	}
	none := state.NewDir(filepath.Join(t.TempDir(), "none"))
	f := Figure{Session: "s1", Model: opus, Window: 1_000_000, Used: 7, Time: at}
	if show(none, f); none.Kind("") != state.Absent {
		t.Error("the status line made a state directory")
	}
	dir := dirWith(t, nil)
	if got := show(dir, f); got != f {
		t.Errorf("%+v, want %+v", got, f)
	}
	if got := content(dir, stampFile); got != "model: claude-opus-5-5\nwindow: 1000000\n" {
		t.Errorf("stamp %q", got)
	}
	// Nothing new, nothing written, whatever the time.
	before := content(dir, figureFile)
	later := f
	later.Time = at.Add(time.Hour)
	if show(dir, later); content(dir, figureFile) != before {
		t.Errorf("written again: %q", content(dir, figureFile))
	}
	// Two sessions in one project keep their own.
	other := Figure{Session: "s2", Model: haiku, Window: 200_000, Used: 90, Time: at}
	show(dir, other)
	if got, _ := ReadFigure(dir, "s1"); got != f {
		t.Errorf("the first session's is %+v", got)
	}
	if got, _ := ReadFigure(dir, ""); got != other {
		t.Errorf("the newest is %+v", got)
	}
	// Right after a compaction the host has none; what a proxy said stays.
	f.Used, f.Proxy = -1, 0
	if got := show(dirWith(t, map[string]string{figureFile: "s1: 200000 50 64000 1 " + opus + "\n"}), f); got.Proxy != 64_000 || got.Used != -1 {
		t.Errorf("%+v", got)
	}
	// case F06: a figure that is too small shrinks no stamp, and a model that
	// was chosen with the large window has it.
	f.Window = 200_000
	large := dirWith(t, map[string]string{stampFile: "model: claude-opus-5-5\nwindow: 1000000\n"})
	if show(large, f); content(large, stampFile) != "model: claude-opus-5-5\nwindow: 1000000\n" {
		t.Errorf("stamp %q", content(large, stampFile))
	}
	if got := show(dir, Figure{Session: "s1", Model: opus + "[1m]", Window: 200_000, Used: 50, Time: at}); got.Window != 1_000_000 || got.Used != 10 {
		t.Errorf("%+v", got)
	}
	kept := content(dir, figureFile)
	for _, bad := range []Figure{{Model: opus, Window: 5000}, {Session: "s", Window: 5, Used: -1}, {Session: "a b", Model: opus, Window: 5000}, {Session: "a\nb", Model: opus, Window: 5000}} {
		if show(dir, bad); content(dir, figureFile) != kept {
			t.Errorf("%+v was kept", bad)
		}
	}
	for i := range 2 * maxFigures {
		show(dir, Figure{Session: fmt.Sprint("many-", i), Model: opus, Window: 5000, Used: i, Time: at})
	}
	if n := strings.Count(content(dir, figureFile), "\n"); n != maxFigures {
		t.Errorf("%d sessions are kept", n)
	}
}

func TestReadFigure(t *testing.T) {
	t.Parallel()
	const earlier = "session: s1\nmodel: claude-opus-5-5\nwindow: 200000\nused_percentage: 20\n"
	for name, tt := range map[string]struct {
		data, session string
		want          Figure
		ok            bool
	}{
		"none":                          {"", "s1", Figure{}, false},
		"of an earlier release":         {earlier, "s1", Figure{Session: "s1", Model: opus, Window: 200_000, Used: 20}, true},
		"of an earlier release, newest": {earlier, "", Figure{Session: "s1", Model: opus, Window: 200_000, Used: 20}, true},
		"another session's":             {earlier, "s2", Figure{Session: "s1", Model: opus, Window: 200_000, Used: -1}, false},
		"a line":                        {"s1: 5000 -1 0 7 m[1m]\n", "s1", Figure{Session: "s1", Model: "m[1m]", Window: 5000, Used: -1, Time: time.UnixMilli(7)}, true},
		"without a model":               {"s1: 5000 3 0 7 \n", "s1", Figure{Session: "s1", Window: 5000, Used: 3, Time: time.UnixMilli(7)}, true},
		"broken":                        {"s1: 5000 many 0 7 m\ns1\n: \n", "s1", Figure{}, false},
	} {
		got, ok := ReadFigure(dirWith(t, map[string]string{figureFile: tt.data}), tt.session)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}

func TestAtStart(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		io.WriteString(rw, `{"data":[{"id":"claude-haiku-4-5","context_window":64000}]}`)
	}))
	defer server.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct {
		model, url, stamped string
		proxy               int
		file                string
	}{
		{haiku, "", "", 0, "model: claude-haiku-4-5\nwindow: 200000\n"},
		{haiku + "[1m]", "", "", 0, "model: claude-haiku-4-5[1m]\nwindow: 1000000\n"},
		{"claude-new-9", "", "", 0, "model: claude-new-9\nwindow: 1000000\n"},
		{"sonnet", "", "", 0, "model: sonnet\n"},
		{"sonnet[1m]", "", "", 0, "model: sonnet[1m]\nwindow: 1000000\n"},
		{haiku, server.URL, "", 64_000, "model: claude-haiku-4-5\nwindow: 64000\n"},
		{opus, server.URL, "", 0, "model: claude-opus-5-5\nwindow: 1000000\n"},
		{haiku, "http://" + closed.Addr().String(), "", 0, "model: claude-haiku-4-5\nwindow: 200000\n"},
		{haiku, "https://api.example.com", "", 0, "model: claude-haiku-4-5\nwindow: 200000\n"},
		{"", "", "model: x\nwindow: 5000\n", 0, "model: x\nwindow: 5000\n"},
		{"", server.URL, "model: claude-haiku-4-5\nwindow: 64000\n", 64_000, "model: claude-haiku-4-5\nwindow: 64000\n"},
		{haiku, "", "# mine\nmodel: x\nwindow: 5000\n", 0, "# mine\nmodel: claude-haiku-4-5\nwindow: 200000\n"},
	} {
		dir := dirWith(t, map[string]string{stampFile: tt.stamped})
		call := &host.Call{
			Host:    host.Host{ProxyURL: tt.url},
			Payload: host.Payload{SessionID: "s1", Model: tt.model},
			Profile: host.Profile{Windows: table},
			Env: host.Env{Dial: func(ctx context.Context, address string) (io.ReadWriteCloser, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", address)
			}},
		}
		figure, stamp := AtStart(call, dir)
		err := dir.WithLock(time.Second, func(tx *state.Tx) error { return errors.Join(figure.Write(tx), stamp.Write(tx)) })
		if err != nil || figure.Proxy != tt.proxy || content(dir, stampFile) != tt.file {
			t.Errorf("%s at %q: %+v, file %q, %v", tt.model, tt.url, figure, content(dir, stampFile), err)
		}
	}
}
