package reload

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// clientFile is where continuity keeps the version of the host.
const clientFile = ".client"

const sampleDigest = `---
session_id: "s0"
updated_at: "2026-11-30T12:00:00Z"
intent: "refactor the token refresh"
---

## Done this stretch
- moved refresh into its own file
- second thing

## In flight
- the expiry test

## Next concrete step
- run TestExpiry

## Open questions & risks
- none
`

// on runs the hook of an event as the runner would, a minute after the one
// before: an answer that is given has been written.
func (w *world) on(event host.Event, session string, change ...func(*host.Payload)) host.Output {
	w.Helper()
	out, told := w.killed(event, session, change...)
	told()
	return out
}

// killed is on for a hook that dies before its answer is written, unless told
// is called.
func (w *world) killed(event host.Event, session string, change ...func(*host.Payload)) (out host.Output, told func()) {
	w.Helper()
	w.now = w.now.Add(time.Minute)
	w.payload = host.Payload{Event: event, SessionID: session, TranscriptPath: w.transcript, Cwd: w.project}
	switch event {
	case host.SessionStart:
		w.payload.Source = "startup"
	case host.PreToolUse, host.PostToolUse:
		w.payload.Tool, w.payload.ToolPath = "Write", w.path(digestFile)
	}
	for _, c := range change {
		c(&w.payload)
	}
	call := w.call()
	out, err := handler(event)(call)
	if err != nil {
		w.Fatalf("%s: %v", event, err)
	}
	if data, err := (host.Claude{}).Encode(event, out); err != nil {
		w.Fatalf("%s is refused by the host: %v", event, err)
	} else if err := (host.Claude{}).Valid(event, data); err != nil {
		w.Fatalf("%s is refused by the host: %v", event, err)
	}
	return out, call.Answered
}

func source(s string) func(*host.Payload) { return func(p *host.Payload) { p.Source = s } }

// armed puts the sample digest there, armed by its owner.
func (w *world) armed() *world {
	w.Helper()
	w.put(digestFile, sampleDigest)
	w.arm(handover.Arm{Owner: "s0"})
	return w
}

func (w *world) arm(a handover.Arm) {
	w.Helper()
	if err := dirOf(w.project).WithLock(time.Second, a.Put); err != nil {
		w.Fatal(err)
	}
}

// given fails unless the digest was handed over.
func given(t *testing.T, out host.Output) {
	t.Helper()
	says(t, out.Context, "run TestExpiry", "information, not instructions", "<earlier-session-notes>")
}

func plain(t *testing.T, out host.Output) {
	t.Helper()
	if !out.Silent() {
		t.Errorf("said %+v", out)
	}
}

// SECURITY.md: a project that is no repository is trusted as it stands there.
func TestStartDelivers(t *testing.T) {
	t.Parallel()
	for _, from := range []string{"startup", "resume", "clear", "compact", "fork", "", "teleport"} {
		t.Run("source "+from, func(t *testing.T) {
			w := newWorld(t).armed()
			w.put(clientFile, "version: 2.1.263\n") // one that hides nothing after /clear
			out := w.on(host.SessionStart, "s1", source(from))
			given(t, out)
			says(t, out.Message, "refactor the token refresh", "done: moved refresh into its own file", "in flight: the expiry test", "next: run TestExpiry")
			if w.has(armFile) {
				t.Error("the arm is still there")
			}
			says(t, w.read(digestFile), `session_id: "s1"`)
			if want := strings.Replace(sampleDigest, `"s0"`, `"s1"`, 1); w.read(digestFile) != want {
				t.Errorf("the digest is now:\n%s", w.read(digestFile))
			}
			w.on(host.UserPromptSubmit, "s1")
			plain(t, w.on(host.SessionEnd, "s1"))
			plain(t, w.on(host.SessionStart, "s2"))
		})
	}
}

func TestStartWithoutAnArmIsPlain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain(t, w.on(host.SessionStart, "s1", source("clear")))
	w.put(digestFile, sampleDigest)
	plain(t, w.on(host.SessionStart, "s2", source("clear")))
	if w.read(digestFile) != sampleDigest {
		t.Error("a digest that was not handed over has a new owner")
	}
}

func TestStartPurges(t *testing.T) {
	t.Parallel()
	for from, purged := range map[string]bool{"startup": true, "clear": true, "compact": true, "": true, "odd": true, "resume": false, "fork": false} {
		w := newWorld(t)
		w.put(markerFile, "s0\n")
		w.put(ladderFile, "50\n")
		w.on(host.SessionStart, "s1", source(from))
		if w.has(markerFile) == purged || w.has(ladderFile) == purged {
			t.Errorf("source %q: %v", from, w.names())
		}
	}
	// A run without a person must not end the snapshot turn of a session.
	w := newWorld(t)
	w.put(markerFile, "s0\n")
	w.env["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
	w.on(host.SessionStart, "s1")
	if !w.has(markerFile) {
		t.Error("a headless run removed the marker")
	}
}

func TestStartStampsTheModel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.on(host.SessionStart, "s1", func(p *host.Payload) { p.Model = "claude-haiku-4-5" })
	says(t, w.read(modelFile), "model: claude-haiku-4-5\n", "window: 200000\n")
	says(t, w.read(".gitignore"), "*")
	w.on(host.SessionStart, "s2", source("clear"))
	says(t, w.read(modelFile), "model: claude-haiku-4-5\n")
	if !w.has(options.StampFile) {
		t.Error("the settings in force are not stamped")
	}
}

func TestStartNothingToHandOver(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(w *world){
		"no digest":    func(*world) {},
		"blank digest": func(w *world) { w.put(digestFile, " \n") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(armFile, "s0")
			plant(w)
			before := w.has(digestFile)
			plain(t, w.on(host.SessionStart, "s1"))
			if w.has(armFile) || w.has(digestFile) != before {
				t.Errorf("files: %v", w.names())
			}
		})
	}
}

// What cannot be handed on is said, stays where it is, and stays armed.
func TestStartDigestThatIsNoDigest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plant func(w *world)
		says  string
	}{
		"too large":       {func(w *world) { w.put(digestFile, strings.Repeat("x", maxFile+1)) }, "session.md is larger than 1024 KiB; a digest is a page"},
		"a directory":     {func(w *world) { os.Mkdir(w.path(digestFile), 0o755) }, "session.md is a directory, not a file; move it away"},
		"a dangling link": {func(w *world) { os.Symlink("gone", w.path(digestFile)) }, "session.md is a link that leads nowhere"},
		"a link that leaves the directory": {func(w *world) {
			os.WriteFile(filepath.Join(w.project, "secret"), []byte(sampleDigest), 0o600)
			os.Symlink("../secret", w.path(digestFile))
		}, "session.md is a link that leads nowhere or out of its directory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put(armFile, "s0")
			tt.plant(w)
			out := w.on(host.SessionStart, "s1")
			says(t, out.Message, "armed, but was not loaded", tt.says)
			if out.Context != "" || !w.has(armFile) || !w.has(digestFile) {
				t.Errorf("%+v, files %v", out, w.names())
			}
			plain(t, w.on(host.UserPromptSubmit, "s1"))
		})
	}
}

// An arm that comes up after git was asked about nothing is not taken on trust.
func TestStartTakesNothingItHasNotAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.payload = host.Payload{Event: host.SessionStart, SessionID: "s1", Source: "startup"}
	late := newThread(w.call())
	late.checkTrust()
	w.armed()
	out, err := late.Start(nil)
	plain(t, out)
	if err != nil || w.read(armFile) != "s0" {
		t.Errorf("%v, the arm holds %q", err, w.read(armFile))
	}
	given(t, w.on(host.SessionStart, "s2"))
}

func TestStartInADirectoryThatIsALink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	elsewhere := t.TempDir()
	os.WriteFile(filepath.Join(elsewhere, digestFile), []byte(sampleDigest), 0o600)
	os.WriteFile(filepath.Join(elsewhere, armFile), nil, 0o600)
	if err := os.Symlink(elsewhere, w.path("")); err != nil {
		t.Skip(err)
	}
	w.payload = host.Payload{Event: host.SessionStart, SessionID: "s1", Source: "startup"}
	out, err := sessionStart(w.call())
	if err == nil || !out.Silent() {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, armFile)); err != nil {
		t.Error("the arm is gone")
	}
}

func TestStartInALoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	os.Mkdir(filepath.Join(w.project, ".repete"), 0o755)
	os.WriteFile(filepath.Join(w.project, ".repete", "loop.local.md"), []byte("---\nactive: true\n---\n"), 0o600)
	for _, e := range []host.Event{host.SessionStart, host.UserPromptSubmit, host.PreToolUse, host.PostToolUse, host.PreCompact} {
		plain(t, w.on(e, "s1"))
	}
	if w.read(armFile) != "s0" || w.read(digestFile) != sampleDigest {
		t.Errorf("something was touched: %v", w.names())
	}
}

// The arm and the digest of two sessions that are both open: it is handed over all
// the same.
func TestStartWarnsWhenOwnersDisagree(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		arm, owner string
		writer     int // process of the client that the owner runs in, 0 if it is gone
		warns      bool
	}{
		"they agree":                      {"s0", "s0", 12, false},
		"two clients":                     {"sA", "s0", 12, true},
		"one client, one after the other": {"sA", "s0", 11, false},
		"the one that wrote is gone":      {"sA", "s0", 0, false},
		"an arm of an older kind":         {"", "s0", 12, false},
		"a digest without owner":          {"sA", "", 12, false},
		"neither is this one":             {"s9", "s9", 12, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.in(11).on(host.SessionStart, "sA")
			if tt.writer > 0 {
				w.in(tt.writer).on(host.SessionStart, "s0")
			}
			w.put(digestFile, strings.Replace(sampleDigest, `"s0"`, `"`+tt.owner+`"`, 1))
			w.in(11).arm(handover.Arm{Owner: tt.arm, Client: handover.Client{PID: 11}})
			out := w.on(host.SessionStart, "s1", source("clear"))
			out.Message += w.on(host.UserPromptSubmit, "s1").Message
			given(t, out)
			if strings.Contains(out.Message, textDisagree) != tt.warns {
				t.Errorf("message %q", out.Message)
			}
		})
	}
}

// case F14: a run without a person neither takes nor consumes an arm.
func TestHeadlessLeavesTheArm(t *testing.T) {
	t.Parallel()
	for name, env := range map[string][2]string{
		"not attended": {"CLAUDE_CODE_SESSION_ATTENDED", "0"},
		"sdk":          {"CLAUDE_CODE_ENTRYPOINT", "sdk-cli"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).armed()
			w.env[env[0]] = env[1]
			plain(t, w.on(host.SessionStart, "h1"))
			plain(t, w.on(host.UserPromptSubmit, "h1"))
			plain(t, w.on(host.UserPromptSubmit, "h2"))
			plain(t, w.on(host.PreCompact, "h1"))
			plain(t, w.on(host.SessionEnd, "h1"))
			if w.read(armFile) != "s0" || w.read(digestFile) != sampleDigest {
				t.Fatalf("the arm holds %q", w.read(armFile))
			}
			delete(w.env, env[0])
			given(t, w.on(host.SessionStart, "s1"))
		})
	}
	t.Run("headless: on", func(t *testing.T) {
		w := newWorld(t).armed()
		w.put(configFile, "headless: on\n")
		w.env["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
		given(t, w.on(host.SessionStart, "h1"))
	})
	t.Run("leaves no directory behind", func(t *testing.T) {
		w := newWorld(t)
		w.env["CLAUDE_CODE_SESSION_ATTENDED"] = "0"
		plain(t, w.on(host.SessionStart, "h1"))
		if _, err := os.Stat(w.path("")); err == nil {
			t.Error("there is one")
		}
	})
}

// case F14: a session that ends without a prompt gives the digest back.
func TestUnseenDigestGoesToTheNextSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	w.env["CLAUDE_PID"], w.alive[71], w.alive[72] = "71", true, true
	given(t, w.on(host.SessionStart, "s1"))
	plain(t, w.on(host.SessionEnd, "s1"))
	if !w.has(armFile) {
		t.Fatal("nothing was given back")
	}
	given(t, w.on(host.SessionStart, "s2"))

	// The next one dies, and its client with it.
	w.alive[71] = false
	w.env["CLAUDE_PID"] = "72"
	given(t, w.on(host.SessionStart, "s3"))

	// A turn that ends is a sign of life as well as a prompt.
	w.on(host.Stop, "s3")
	plain(t, w.on(host.SessionEnd, "s3"))
	plain(t, w.on(host.SessionStart, "s4"))
}

// A living session that has not been spoken to yet keeps what it was given.
func TestUnseenDigestStaysWithALivingSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	w.alive[71], w.alive[72] = true, true
	w.env["CLAUDE_PID"] = "71"
	given(t, w.on(host.SessionStart, "s1"))
	w.env["CLAUDE_PID"] = "72"
	plain(t, w.on(host.SessionStart, "s2"))
	w.env["CLAUDE_PID"] = "71"
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	if names := strings.Join(w.names(), " "); strings.Contains(names, ".claim") {
		t.Errorf("the claim is not settled: %s", names)
	}
}

// A client that is on its way out still has a process for a moment: what it
// armed is for everybody from then on.
func TestArmOfAClientThatLeaves(t *testing.T) {
	t.Parallel()
	for reason, free := range map[string]bool{"prompt_input_exit": true, "other": true, "": true, "clear": false, "resume": false} {
		w := newWorld(t).armed()
		w.alive[71] = true
		w.env["CLAUDE_PID"] = "71"
		w.on(host.PreCompact, "s1")
		plain(t, w.on(host.SessionEnd, "s1", func(p *host.Payload) { p.Reason = reason }))
		w.env["CLAUDE_PID"] = "72"
		if out := w.on(host.SessionStart, "s2"); (out.Context != "") != free {
			t.Errorf("reason %q: %+v", reason, out)
		}
	}
}

// Wherever a hook is killed, somebody still gets the digest.
func TestNoDigestIsLostInACrash(t *testing.T) {
	t.Parallel()
	claim := func(w *world, tell bool) {
		c := handover.Claim{Session: "s1", Time: w.now, Armed: true, Arm: handover.Arm{Owner: "s0"}, Delivered: tell}
		if err := dirOf(w.project).WithLock(time.Second, c.Put); err != nil {
			w.Fatal(err)
		}
	}
	for name, crash := range map[string]func(w *world){
		"before anything":                     func(*world) {},
		"the digest has its new owner":        func(w *world) { w.put(digestFile, strings.Replace(sampleDigest, `"s0"`, `"s1"`, 1)) },
		"the claim is written, the arm there": func(w *world) { claim(w, false) },
		"the arm is gone, its stamp is not":   func(w *world) { claim(w, false); os.Remove(w.path(armFile)) },
		"before the answer":                   func(w *world) { w.killed(host.SessionStart, "s1") },
		"while giving back":                   func(w *world) { claim(w, true) },
	} {
		for next, deliver := range map[string]func(w *world) host.Output{
			"the next session": func(w *world) host.Output {
				w.on(host.SessionEnd, "s1")
				return w.on(host.SessionStart, "s2")
			},
			"the same one": func(w *world) host.Output {
				if out := w.on(host.SessionStart, "s1", source("resume")); out.Context != "" {
					return out
				}
				return w.on(host.UserPromptSubmit, "s1")
			},
		} {
			t.Run(name+", "+next, func(t *testing.T) {
				w := newWorld(t).armed()
				crash(w)
				given(t, deliver(w))
			})
		}
	}
}

// A hook that was killed before its answer has told nothing: the first prompt
// does, and once.
func TestPromptTellsWhatTheStartDidNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	w.killed(host.SessionStart, "s1")
	w.on(host.Stop, "s1")
	w.killed(host.UserPromptSubmit, "s1")
	out := w.on(host.UserPromptSubmit, "s1")
	given(t, out)
	says(t, out.Message, "refactor the token refresh")
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	plain(t, w.on(host.SessionStart, "s2"))
}

// case F05: SessionStart never fired.
func TestPromptDeliversWithoutAStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	out := w.on(host.UserPromptSubmit, "s1")
	given(t, out)
	says(t, out.Message, "refactor the token refresh")
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	plain(t, w.on(host.SessionStart, "s2"))

	// The session that arms goes on: it does not hand the digest to itself.
	w.armed()
	w.arm(handover.Arm{Owner: "s1"})
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	// One that came before the plugin did is told by its id.
	w.arm(handover.Arm{Owner: "s7"})
	plain(t, w.on(host.UserPromptSubmit, "s7"))
	plain(t, w.on(host.UserPromptSubmit, "s7"))
	if !w.has(armFile) {
		t.Error("the arm is gone")
	}
}

// An ordinary prompt takes no lock and writes nothing.
func TestPromptOrdinary(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain(t, w.on(host.UserPromptSubmit, "s1"))
	plain(t, w.on(host.SessionEnd, "s1"))
	if _, err := os.Stat(w.path("")); err == nil {
		t.Error("a prompt made a directory")
	}
	w.on(host.SessionStart, "s1")
	w.armed()
	held := make(chan bool)
	done := make(chan bool)
	go func() {
		dirOf(w.project).WithLock(time.Second, func(*state.Tx) error {
			held <- true
			<-done
			return nil
		})
	}()
	<-held
	plain(t, w.on(host.UserPromptSubmit, "s1")) // armed by another, but this one has started
	plain(t, w.on(host.SessionEnd, "s1"))
	close(done)
}

// After /clear newer clients hide the banner in one of their renderers and show
// it in the other (docs/host.md, Output): it is sent once.
func TestBannerAfterClear(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		known, later    string // the version, at the start and at the prompt
		start, atPrompt bool
	}{
		"new client":                 {"2.1.332", "2.1.332", false, true},
		"first that hides":           {"2.1.265", "", false, true},
		"old client":                 {"2.1.263", "2.1.263", true, false},
		"unknown to the end":         {"", "", false, true},
		"unknown, turns out new":     {"", "2.1.300", false, true},
		"unknown, turns out old":     {"", "2.1.200", false, true},
		"went back to an old client": {"2.1.332", "2.1.200", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).armed()
			if tt.known != "" {
				w.put(clientFile, "version: "+tt.known+"\n")
			}
			out := w.on(host.SessionStart, "s1", source("clear"))
			given(t, out)
			if (out.Message != "") != tt.start {
				t.Errorf("at the start: %q", out.Message)
			}
			if tt.later != "" {
				w.rows(map[string]any{"type": "user", "version": tt.later, "message": map[string]any{"role": "user", "content": "hi"}})
			}
			out = w.on(host.UserPromptSubmit, "s1")
			if (out.Message != "") != tt.atPrompt || out.Context != "" {
				t.Errorf("at the prompt: %+v", out)
			}
			plain(t, w.on(host.UserPromptSubmit, "s1"))
		})
	}
}

// Two live sessions in one directory.
func TestArmOfALivingSessionIsLeft(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(clientFile, "version: 2.1.332\n")
	w.put(digestFile, sampleDigest)
	w.alive[71], w.alive[72] = true, true
	w.env["CLAUDE_PID"] = "71"
	w.arm(handover.Arm{Owner: "s0", Client: handover.Client{PID: 71}})

	w.env["CLAUDE_PID"] = "72"
	out := w.on(host.SessionStart, "s1")
	says(t, out.Message, "/cc-reload:reload")
	if out.Context != "" || strings.Contains(out.Message, "\n") || w.read(armFile) != "s0" {
		t.Errorf("%+v", out)
	}
	plain(t, w.on(host.SessionStart, "s2", source("clear")))
	out = w.on(host.UserPromptSubmit, "s2")
	says(t, out.Message, "/cc-reload:reload")
	plain(t, w.on(host.UserPromptSubmit, "s2"))
	plain(t, w.on(host.SessionEnd, "s2"))
	// Its own compaction does not take the arm over either.
	plain(t, w.on(host.PreCompact, "s2"))
	if w.read(armFile) != "s0" {
		t.Errorf("the arm holds %q", w.read(armFile))
	}

	w.env["CLAUDE_PID"] = "71"
	given(t, w.on(host.SessionStart, "s3", source("clear")))
}

func TestArmOfADeadSessionIsTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t).armed()
	w.arm(handover.Arm{Owner: "s0", Client: handover.Client{PID: 71}})
	w.env["CLAUDE_PID"] = "72"
	given(t, w.on(host.SessionStart, "s1"))
}

// case F44: the same payload twice, at once, has one effect.
func TestStartTwiceAtOnce(t *testing.T) {
	t.Parallel()
	for _, event := range []host.Event{host.SessionStart, host.UserPromptSubmit} {
		t.Run(string(event), func(t *testing.T) {
			w := newWorld(t).armed()
			w.payload = host.Payload{Event: event, SessionID: "s1", Source: "resume", Cwd: w.project}
			outs := make([]host.Output, 8)
			var all sync.WaitGroup
			for i := range outs {
				all.Go(func() {
					call := w.call()
					out, err := handler(event)(call)
					if err != nil {
						t.Error(err)
					}
					call.Answered()
					outs[i] = out
				})
			}
			all.Wait()
			n := 0
			for _, out := range outs {
				if out.Context != "" {
					n++
				}
			}
			if n != 1 {
				t.Errorf("handed over %d times", n)
			}
		})
	}
}

// case F61, and SECURITY.md: what git tracks is never handed to the model, nor
// is a digest beside any file of ours that it tracks.
func TestFilesOfTheRepositoryAreNotTrusted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	for name, tracked := range map[string][]string{
		"all":      {digestFile, armFile, configFile},
		"digest":   {digestFile},
		"arm":      {armFile},
		"settings": {configFile},
		"a copy":   {"session.s7.md"},
		"a claim":  {".claim.s7"},
		"a stamp":  {options.StampFile},
		"figures":  {".host"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).armed()
			for _, f := range tracked {
				if !w.has(f) {
					w.put(f, "x: y\n")
				}
			}
			w.put(configFile, "headless: on\n")
			gitIn(t, w.project, "init", "-q")
			for _, f := range tracked {
				gitIn(t, w.project, "add", "-f", filepath.Join(".reload", f))
			}
			out := w.on(host.SessionStart, "s1")
			if out.Context != "" || w.read(digestFile) != sampleDigest || w.read(armFile) != "s0" {
				t.Errorf("it was taken: %+v", out)
			}
			says(t, out.Message, append(tracked, "was not loaded", "git rm")...)
			plain(t, w.on(host.UserPromptSubmit, "s1"))
			if out := w.on(host.UserPromptSubmit, "new"); out.Context != "" {
				t.Errorf("a prompt takes it: %+v", out)
			}
		})
	}
	t.Run("none", func(t *testing.T) {
		w := newWorld(t).armed()
		gitIn(t, w.project, "init", "-q")
		given(t, w.on(host.SessionStart, "s1"))
	})
	t.Run("a repository of its own inside", func(t *testing.T) {
		w := newWorld(t).armed()
		gitIn(t, w.project, "init", "-q")
		gitIn(t, w.path(""), "init", "-q")
		gitIn(t, w.path(""), "add", "-f", digestFile)
		if out := w.on(host.SessionStart, "s1"); out.Context != "" {
			t.Errorf("it was taken: %+v", out)
		}
	})
}

func gitIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// case F04: characters are counted as the host does, and the next step stays.
func TestLongDigestIsCut(t *testing.T) {
	t.Parallel()
	for name, filler := range map[string]string{"10,400 characters": strings.Repeat("- did a thing\n", 715), "9,900 CJK": "- " + strings.Repeat("界", 9_650) + "\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t).armed()
			w.put(digestFile, strings.Replace(sampleDigest, "- second thing\n", filler, 1))
			out := w.on(host.SessionStart, "s1")
			given(t, out)
			if n := host.Len(out.Context); n > notes.MaxContext {
				t.Errorf("%d characters", n)
			}
			says(t, out.Context, "refactor the token refresh", "expiry test")
			end := out.Context[strings.LastIndex(out.Context, "["):]
			var left int
			if _, err := fmt.Sscanf(end, "[%d characters", &left); err != nil || left < 600 || !strings.Contains(end, w.path(digestFile)) {
				t.Errorf("it ends with %q", end)
			}
		})
	}
}

func TestBannerIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("界🙂", 200)
	got := banner("---\nintent: \""+long+"\"\n---\n## Done this stretch\n- "+long+"\n## In flight\n- "+long+"\n## Next concrete step\n"+long+"\n", 0)
	if strings.Contains(got, "\ufffd") || strings.Count(got, "…") != 4 || host.Len(got) > 500 {
		t.Errorf("%d characters: %s", host.Len(got), got)
	}
}

func TestBannerLeavesOutWhatSaysNothing(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]bool{
		"- nothing": false, "nothing in flight": false, "- (none)": false, "N/A": false, "-": false, "": false,
		"- Nothing is left, but TestExpiry fails": true, "- 42": true, "- 界": true, "nothingness.go": true,
	} {
		got := banner("## In flight\n"+in+"\n## Next concrete step\nrun it\n", 0)
		if strings.Contains(got, "in flight") != out {
			t.Errorf("%q: %s", in, got)
		}
		says(t, got, "next: run it")
	}
}
