package reload

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// in has what follows happen in the client with this process id, which lives.
func (w *world) in(pid int) *world {
	w.env["CLAUDE_PID"] = strconv.Itoa(pid)
	w.alive[pid] = true
	return w
}

// crosses ends a turn over the budget.
func (w *world) crosses(session string, percent int) host.Output {
	w.Helper()
	w.at(percent*10_000, opus)
	return w.on(host.Stop, session, func(p *host.Payload) { p.LastMessage = fmt.Sprint(session, " at ", w.now) })
}

// writes has the model of a session write its digest, as its tools do.
func (w *world) writes(session string) {
	w.Helper()
	w.on(host.PreToolUse, session)
	w.put(digestFile, strings.NewReplacer(`"s0"`, strconv.Quote(session), "run TestExpiry", "go on with "+session).Replace(sampleDigest))
	at := w.now
	if err := os.Chtimes(w.path(digestFile), at, at); err != nil {
		w.Fatal(err)
	}
	w.on(host.PostToolUse, session)
}

// snapshots lets a session that is over the budget have its snapshot turn.
func (w *world) snapshots(session string) {
	w.Helper()
	if out := w.crosses(session, 47); out.Continue == "" {
		w.Fatalf("%s has no snapshot turn: %+v, %q", session, out, w.names())
	}
	// The marker has the time of the machine, the test a clock of its own.
	if err := os.Chtimes(w.path(markerFile), w.now, w.now); err != nil {
		w.Fatal(err)
	}
	w.writes(session)
	says(w.T, w.crosses(session, 48).Message, "snapshot saved")
}

// Three sessions of one project cross the budget together, a run without a
// person beside them. Each has its snapshot turn, and each of its successors
// gets its own digest.
func TestSessionsKeepTheirOwnDigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(configFile, "context_budget_mode: snapshot\n")
	clients := map[string]int{"a": 11, "b": 12, "c": 13}
	for s, pid := range clients {
		w.in(pid).on(host.SessionStart, s)
	}
	w.in(11)
	if out := w.crosses("a", 47); out.Continue == "" {
		t.Fatalf("a: %+v", out)
	}
	os.Chtimes(w.path(markerFile), w.now, w.now)
	for _, s := range []string{"b", "c"} {
		says(t, w.in(clients[s]).crosses(s, 47).Message, "47 % full") // told, and asked later
	}
	w.in(11).writes("a")
	says(t, w.crosses("a", 48).Message, "snapshot saved")
	for _, s := range []string{"b", "c"} {
		w.in(clients[s]).snapshots(s)
	}

	before := w.names()
	w.env["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
	w.in(14).on(host.SessionStart, "headless")
	w.on(host.UserPromptSubmit, "headless")
	w.on(host.SessionEnd, "headless")
	delete(w.env, "CLAUDE_CODE_SESSION_ATTENDED")
	if got := w.names(); strings.Join(got, " ") != strings.Join(before, " ") {
		t.Errorf("a run without a person changed %q to %q", before, got)
	}

	for _, s := range []string{"b", "a", "c"} {
		w.in(clients[s]).on(host.SessionEnd, s, func(p *host.Payload) { p.Reason = "clear" })
		out := w.on(host.SessionStart, s+"2", source("clear"))
		says(t, out.Context, "go on with "+s)
		w.on(host.UserPromptSubmit, s+"2")
		plain(t, w.on(host.SessionStart, s+"3", source("clear")))
	}
	if names := strings.Join(w.names(), " "); strings.Contains(names, ".arm") || strings.Contains(names, armFile) {
		t.Errorf("left behind: %s", names)
	}
}

// What a client has armed and another has parked is for everybody when it goes.
func TestParkedDigestOfAClientThatGoes(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"exit", "crash"} {
		w := newWorld(t)
		w.put(configFile, "context_budget_mode: snapshot\n")
		w.in(11).snapshots("a")
		w.in(12).snapshots("b")
		w.in(11)
		if how == "exit" {
			w.on(host.SessionEnd, "a", func(p *host.Payload) { p.Reason = "prompt_input_exit" })
		}
		delete(w.alive, 11)
		out := w.in(13).on(host.SessionStart, "c")
		says(t, out.Context, "go on with a")
		w.on(host.UserPromptSubmit, "c")
		out = w.on(host.SessionStart, "c2")
		says(t, out.Message, "armed by another session") // b lives, and keeps its own
		says(t, w.in(12).on(host.SessionStart, "b2", source("clear")).Context, "go on with b")
	}
}

// A digest that is being given to a session is not lost when another writes
// its own and the first comes to nothing.
func TestDigestInFlightIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	w.put(configFile, "context_budget_mode: snapshot\n")
	given(t, w.in(11).on(host.SessionStart, "a"))
	w.in(12).snapshots("b")
	w.in(11).on(host.SessionEnd, "a", func(p *host.Payload) { p.Reason = "clear" })
	given(t, w.on(host.SessionStart, "a2", source("clear")))
	says(t, w.in(12).on(host.SessionStart, "b2", source("clear")).Context, "go on with b")
}

// Each client has a version of its own, which decides about the banner.
func TestVersionsOfTwoClients(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(options.StampFile, "")
	w.in(11).on(host.SessionStart, "a")
	w.at(20_000, opus).on(host.Stop, "a")
	w.in(12).on(host.SessionStart, "b")
	data, _ := os.ReadFile(w.transcript)
	os.WriteFile(w.transcript, []byte(strings.ReplaceAll(string(data), "2.1.332", "2.1.197")), 0o600)
	w.on(host.Stop, "b")
	w.armed()
	w.in(11)
	if out := w.on(host.SessionStart, "a2", source("clear")); out.Message != "" || out.Context == "" {
		t.Errorf("2.1.332 hides this: %+v", out)
	}
	says(t, w.on(host.UserPromptSubmit, "a2").Message, "picked up")
	w.armed()
	says(t, w.in(12).on(host.SessionStart, "b2", source("clear")).Message, "picked up")
}

// The ladder of earlier releases belongs to one session at a time; others that
// live have their own.
func TestLadderOfTwoSessions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	says(t, w.in(11).crosses("a", 46).Message, "46 % full")
	says(t, w.in(12).crosses("b", 50).Message, "50 % full")
	for range 3 {
		plain(t, w.in(11).crosses("a", 47))
		plain(t, w.in(12).crosses("b", 51))
	}
	if w.read(ladderFile) != "46\n" {
		t.Errorf("the ladder of a is %q", w.read(ladderFile))
	}
	plain(t, w.in(12).crosses("b", 10)) // compacted
	plain(t, w.in(11).crosses("a", 48))
	says(t, w.in(12).crosses("b", 46).Message, "46 % full")
	says(t, w.in(11).crosses("a", 57).Message, "57 % full")
	// Whoever starts afresh takes back only what is its own.
	plain(t, w.in(12).on(host.SessionStart, "b2", source("clear")))
	plain(t, w.in(11).crosses("a", 58))
	delete(w.alive, 11)
	plain(t, w.in(12).on(host.SessionStart, "b3", source("clear")))
	if w.has(ladderFile) || w.has(sessionsFile) {
		t.Errorf("of a session that is gone: %q", w.names())
	}
}

func TestDecideArm(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		facts armFacts
		want  bool
	}{
		"nothing there":                    {armFacts{}, false},
		"written just now":                 {armFacts{Present: true, Fresh: true}, true},
		"an older one":                     {armFacts{Present: true}, true},
		"older, of another one":            {armFacts{Present: true, Foreign: true}, true},
		"older, used up by another one":    {armFacts{Present: true, Foreign: true, Used: true}, false},
		"just now, in another one's name":  {armFacts{Present: true, Fresh: true, Foreign: true, Used: true}, true},
		"just now, armed by another one":   {armFacts{Present: true, Fresh: true, Foreign: true, Theirs: true}, false},
		"older, waiting for another's own": {armFacts{Present: true, Foreign: true, Theirs: true}, false},
	} {
		if got := decideArm(tt.facts); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The records of a file that somebody has edited, or an earlier release has
// written, are read as far as they go.
func FuzzSessions(f *testing.F) {
	f.Add("s1: 1700000000000 4194999 abc\n", 46)
	f.Add("s1: 1700000000000 12:34:boot - -1\ns2: x\n: \n\x00", 0)
	f.Add("", 100)
	f.Fuzz(func(t *testing.T, content string, percent int) {
		r := record{at: time.UnixMilli(1700000000000), stop: "abc", notice: percent}
		if got := parseRecord(r.String()); got != r {
			t.Fatalf("%+v became %+v", r, got)
		}
		for line := range strings.Lines(content) {
			again := parseRecord(line)
			if s := again.String(); s != "" && parseRecord(s) != again {
				t.Fatalf("%q: %+v became %+v", line, again, parseRecord(s))
			}
		}
	})
}

// A digest that is handed on from the copy beside it is used up where it still
// stands, too.
func TestDeliveredCopyUsesUpThePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	doc := w.owned("s1", "split the parser", w.now)
	w.put(asideName("s1"), doc)
	w.arm(handover.Arm{Owner: "s1", Item: asideName("s1")})
	says(t, w.on(host.SessionStart, "s2", source("clear")).Context, "split the parser")
	if _, wrote := dirOf(w.project).Stat(digestFile); state.ReadPairs(dirOf(w.project), usedFile).Get(keyUsed) != nanoseconds(wrote) {
		t.Errorf("the page may be armed again; %s: %q", usedFile, w.read(usedFile))
	}
}
