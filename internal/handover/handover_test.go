package handover

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newDir(t *testing.T) state.Dir {
	t.Helper()
	d := state.NewDir(t.TempDir())
	do(t, d, func(*state.Tx) error { return nil })
	return d
}

func do(t *testing.T, d state.Dir, fn func(*state.Tx) error) {
	t.Helper()
	if err := d.WithLock(time.Second, fn); err != nil {
		t.Fatal(err)
	}
}

func TestFileName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"8f2c5c7a-b1e9_X": "8f2c5c7a-b1e9_X", "../../ESCAPED": "ESCAPED", "a/b\\c:d\x00é": "abcd", "": "", "..": "",
	} {
		if got := FileName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
	if n := len(FileName(strings.Repeat("x", 500))); n != 80 {
		t.Errorf("a long name keeps %d characters", n)
	}
}

func TestArm(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	want := Arm{Owner: "s1", Client: Client{PID: 7}, Item: "notes of today"}
	do(t, d, want.Put)
	if got, ok := FindArm(d); !ok || got != want {
		t.Errorf("got %+v, %v", got, ok)
	}
	if data, _ := os.ReadFile(d.Path(ArmFile)); string(data) != "s1" {
		t.Errorf("the arm holds %q", data)
	}
	// Another writer, which knows nothing of the stamp, arms over it.
	if err := os.WriteFile(d.Path(ArmFile), []byte("s2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, ok := FindArm(d); !ok || got != (Arm{Owner: "s2"}) {
		t.Errorf("a stamp of s1 speaks for s2: %+v", got)
	}
	do(t, d, Disarm)
	if _, ok := FindArm(d); ok || HasArm(d) || d.Kind(stampFile) != state.Absent {
		t.Errorf("left behind: %v", d.Names())
	}
}

// An arm is there or not; what is in it only says whose it is.
func TestArmThatCannotBeRead(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	do(t, d, Arm{Owner: "s1"}.Put)
	if err := os.Truncate(d.Path(ArmFile), 200<<20); err != nil {
		t.Fatal(err)
	}
	if arm, ok := FindArm(d); !ok || arm != (Arm{}) {
		t.Errorf("%+v, %v", arm, ok)
	}
	do(t, d, Disarm)
	if _, ok := FindArm(d); ok {
		t.Error("still armed")
	}
}

func TestArmWhereSomethingElseStands(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(path string) error{
		"directory":           func(p string) error { return os.Mkdir(p, 0o755) },
		"dangling link":       func(p string) error { return os.Symlink("gone", p) },
		"link to the outside": func(p string) error { return os.Symlink("/etc/passwd", p) },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			if err := plant(d.Path(ArmFile)); err != nil {
				t.Skip(err)
			}
			if _, ok := FindArm(d); ok {
				t.Error("it is taken for an arm")
			}
			err := d.WithLock(time.Second, Arm{Owner: "s1"}.Put)
			if !errors.Is(err, state.ErrUnsafe) || !strings.HasPrefix(err.Error(), d.Path(ArmFile)+" is a ") || !strings.HasSuffix(err.Error(), "; move it away") {
				t.Errorf("armed: %v", err)
			}
			if _, err := os.Lstat(d.Path(ArmFile)); err != nil {
				t.Error("what stood there is gone")
			}
		})
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	arm := Arm{Owner: "s0", Client: Client{PID: 7}}
	do(t, d, arm.Put)
	c := Claim{Session: "s1", Client: Client{PID: 8}, Time: noon, Armed: true, Arm: arm, Notice: "back\nagain"}
	do(t, d, func(tx *state.Tx) error { return c.Take(tx, ArmFile) })
	if HasArm(d) || !HasClaim(d, "s1") || HasClaim(d, "s2") || !HasClaims(d) {
		t.Fatalf("files: %v", d.Names())
	}
	c.Notice = "back again"
	got, ok := FindClaim(d, "s1")
	if got.from, got.since = "", (time.Time{}); !ok || got != c {
		t.Errorf("got %+v", got)
	}
	do(t, d, c.GiveBack)
	if got, ok := FindArm(d); !ok || got != arm || HasClaims(d) {
		t.Errorf("given back: %+v, files %v", got, d.Names())
	}
}

// An arm that came up while the claim was held is the newer one.
func TestGiveBackLeavesANewArm(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	c := Claim{Session: "s1", Armed: true, Arm: Arm{Owner: "old"}}
	do(t, d, c.Put)
	do(t, d, Arm{Owner: "new"}.Put)
	do(t, d, c.GiveBack)
	if got, _ := FindArm(d); got.Owner != "new" || HasClaims(d) {
		t.Errorf("arm of %q, files %v", got.Owner, d.Names())
	}
}

func TestConfirm(t *testing.T) {
	t.Parallel()
	told := Claim{Session: "s1", Time: noon, Armed: true, Delivered: true, Notice: "n"}
	untold := Claim{Session: "s1", Time: noon, Armed: true}
	for name, tt := range map[string]struct {
		claim   *Claim
		after   time.Duration
		want    State
		remains bool
	}{
		"no claim":                       {nil, 0, NoClaim, false},
		"told":                           {&told, time.Second, Delivered, false},
		"a notice alone":                 {&Claim{Session: "s1", Notice: "n"}, 0, Delivered, false},
		"being told (case F44)":          {&untold, time.Second, InFlight, true},
		"the clock was set back":         {&untold, -time.Second, InFlight, true},
		"the hook was killed (case F14)": {&untold, answering, Undelivered, true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDir(t)
			if tt.claim != nil {
				do(t, d, tt.claim.Put)
			}
			do(t, d, func(tx *state.Tx) error {
				c, got, err := Confirm(tx, "s1", noon.Add(tt.after))
				if got != tt.want {
					t.Errorf("state %d, want %d", got, tt.want)
				}
				if tt.claim != nil && c.Notice != tt.claim.Notice {
					t.Errorf("notice %q", c.Notice)
				}
				return err
			})
			if HasClaim(d, "s1") != tt.remains {
				t.Errorf("files: %v", d.Names())
			}
		})
	}
}

func TestStartLost(t *testing.T) {
	t.Parallel()
	me, dead, other := Client{PID: 1}, Client{PID: 2}, Client{PID: 3}
	alive := func(c Client) bool { return c == me || c == other }
	for name, tt := range map[string]struct {
		claim   Claim
		resumed bool
		want    bool
	}{
		"a dead client":                         {Claim{Session: "a", Client: dead}, false, true},
		"another living client":                 {Claim{Session: "a", Client: other}, false, false},
		"this client, the session before":       {Claim{Session: "a", Client: me}, false, true},
		"this client, this session (case F44)":  {Claim{Session: "s", Client: me}, true, false},
		"this session, resumed after a crash":   {Claim{Session: "s", Client: dead}, true, true},
		"this session, resumed twice":           {Claim{Session: "s", Client: other}, true, false},
		"unknown client, this session":          {Claim{Session: "s", Time: noon.Add(-time.Minute)}, false, false},
		"unknown client, this session, resumed": {Claim{Session: "s", Time: noon.Add(-time.Minute)}, true, true},
		"the same, twice at once (case F44)":    {Claim{Session: "s", Time: noon}, true, false},
		"unknown client, just now":              {Claim{Session: "a", Time: noon.Add(-time.Second)}, false, false},
		"unknown client, silent (case F14)":     {Claim{Session: "a", Time: noon.Add(-6 * time.Second)}, false, true},
		"unknown client, clock set back":        {Claim{Session: "a", Time: noon.Add(time.Second)}, false, false},
		"unknown client, from the future":       {Claim{Session: "a", Time: noon.AddDate(10, 0, 0)}, false, true},
		"this session, from the future":         {Claim{Session: "s", Time: noon.AddDate(10, 0, 0)}, true, true},
	} {
		s := Start{Session: "s", Resumed: tt.resumed, Client: me, Now: noon, Alive: alive}
		if got := s.lost(tt.claim); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestStartLeftTo(t *testing.T) {
	t.Parallel()
	me, dead, other := Client{PID: 1}, Client{PID: 2}, Client{PID: 3}
	alive := func(c Client) bool { return c == me || c == other }
	for name, tt := range map[string]struct {
		me, arm Client
		want    bool
	}{
		"same client":           {me, me, false},
		"dead client":           {me, dead, false},
		"another living client": {me, other, true},
		"arm without a stamp":   {me, Client{}, false},
		"own client unknown":    {Client{}, other, false},
	} {
		if got := (Start{Client: tt.me, Alive: alive}).LeftTo(Arm{Client: tt.arm}); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A process id that was handed out again is not the client that armed.
func TestClientKnowsAReusedProcessID(t *testing.T) {
	t.Parallel()
	env := host.Env{Alive: func(int) bool { return true }, Getenv: func(string) string { return "" }}
	self := Here(host.Host{PID: os.Getpid()})
	if self.id == "" {
		t.Skip("processes cannot be identified here")
	}
	if !self.Alive(env) || ParseClient(self.String()) != self || !self.Same(Client{PID: self.PID}) {
		t.Errorf("%q is not itself", self)
	}
	pid, rest, _ := strings.Cut(self.id, ":")
	before := ParseClient(pid + ":1" + rest)
	if before.PID != self.PID || before.Alive(env) || before.Same(self) {
		t.Errorf("%q is taken for %q", before, self)
	}
	if (Client{}).Alive(env) || (Client{}).Same(Client{}) {
		t.Error("an unknown client is somebody")
	}
}

// A client that was killed is gone, though its parent has not waited for it.
func TestClientThatWasKilledIsGone(t *testing.T) {
	t.Parallel()
	env := host.Env{Alive: proc.Alive, Getenv: func(string) string { return "" }}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	client := Here(host.Host{PID: cmd.Process.Pid})
	if client.id == "" {
		t.Skip("processes cannot be identified here")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); client.Alive(env); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%q is alive", client)
		}
	}
}

func itoa(n int) string { return Client{PID: n}.String() }

func TestStarted(t *testing.T) {
	t.Parallel()
	d := newDir(t)
	for i := range 2 * maxStarted {
		do(t, d, func(tx *state.Tx) error { return MarkStarted(tx, "session-"+itoa(i+1)) })
	}
	newest := "session-" + itoa(2*maxStarted)
	if !Started(d, newest) || Started(d, "session-1") || Started(d, "session") || Started(d, "") {
		t.Errorf("%q", strings.Join(d.Names(), " "))
	}
}
