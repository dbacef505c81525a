package timer

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
)

func TestMain(m *testing.M) {
	state.Flush = func(*os.File) error { return nil }
	os.Exit(m.Run())
}

// odd is a directory with everything in its name that a shell, a unit or XML could
// take for something else.
const odd = `a b $HOME %h 'q' & <c> \n`

// newPlace returns a place on a system, whose programs are stand-ins that note how
// they were called.
func newPlace(t *testing.T, os_ string) *Place {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	name := odd
	if runtime.GOOS == "windows" {
		name = "a b %h & 'q'"
	}
	home := filepath.Join(dir, name)
	return &Place{
		OS: os_, App: filepath.Join(home, ".cc-later"), Config: filepath.Join(home, ".claude"), Units: filepath.Join(home, "units"), UID: 501,
		Environ: []string{"PATH=/usr/bin:/bin", "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"), "HTTPS_PROXY=http://proxy:3128"},
		Run:     (&programs{t: t}).run,
	}
}

// programs stand for those of the system: the timer is active once it was started.
type programs struct {
	t      *testing.T
	calls  []string
	active bool
	fails  string // the word in a call that fails
	task   string // what the Task Scheduler has
}

func (s *programs) run(_ context.Context, name string, args ...string) (string, error) {
	call := name + " " + strings.Join(args, " ")
	s.calls = append(s.calls, call)
	if s.fails != "" && strings.Contains(call, s.fails) {
		return "it is not allowed\nby the administrator\n", errors.New("exit status 1")
	}
	switch {
	case strings.Contains(call, "is-active"), strings.Contains(call, " print "), strings.HasSuffix(call, "/Query /TN cc-later"):
		if !s.active {
			return "", errors.New("exit status 3")
		}
	case strings.Contains(call, "/XML") && strings.Contains(call, "/Query"):
		if s.task == "" {
			return "ERROR: The system cannot find the file specified.", errors.New("exit status 1")
		}
		return s.task, nil
	case strings.Contains(call, " restart "), strings.Contains(call, "bootstrap"), strings.Contains(call, "/Create"):
		s.active = true
	case strings.Contains(call, "disable"), strings.Contains(call, "bootout"), strings.Contains(call, "/Delete"):
		s.active = false
	}
	return "", nil
}

func (p *Place) install(t *testing.T, every time.Duration) Change {
	t.Helper()
	c, err := p.Install(t.Context(), every)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestInstallAndTakeBack(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, system)
			s := &programs{t: t}
			p.Run = s.run
			if got := p.Status(t.Context()); len(got.Files) > 0 || len(s.calls) > 0 {
				t.Fatalf("before: %+v, %q", got, s.calls)
			}
			c := p.install(t, 5*time.Minute)
			if !c.Done || len(c.Paths) != len(p.files(Least)) {
				t.Fatalf("installed: %+v", c)
			}
			if c := p.install(t, 5*time.Minute); c.Done {
				t.Errorf("the second time: %+v", c)
			}
			if c := p.install(t, 10*time.Minute); !c.Done || len(c.Paths) < 1 {
				t.Errorf("another interval: %+v", c)
			}
			if got := p.Status(t.Context()); !got.Whole || !got.Active || got.Every != 10*time.Minute || !got.Last.IsZero() {
				t.Errorf("status: %+v", got)
			}
			s.active = false
			if c := p.install(t, 10*time.Minute); !c.Done || !s.active || len(c.Paths) > 0 {
				t.Errorf("one that was stopped: %+v, active %v", c, s.active)
			}
			c, err := p.Uninstall(t.Context())
			if err != nil || !c.Done || s.active {
				t.Fatalf("uninstalled: %+v, %v, active %v", c, err, s.active)
			}
			if _, err := os.Lstat(p.dir()); err == nil {
				t.Error("the directory is left")
			}
			if left := p.Files(); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			if c, err := p.Uninstall(t.Context()); err != nil || c.Done {
				t.Errorf("the second time: %+v, %v", c, err)
			}
		})
	}
}

func TestForeignFilesStay(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		p := newPlace(t, system)
		all := p.files(Least)
		foreign := all[len(all)-1].path
		os.MkdirAll(filepath.Dir(foreign), 0o755)
		os.WriteFile(foreign, []byte("theirs"), 0o644)
		if _, err := p.Install(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "not ours") {
			t.Errorf("%s: %v", system, err)
		}
		if _, err := os.Lstat(p.script()); err == nil {
			t.Errorf("%s: a file was written", system)
		}
		if c, err := p.Uninstall(t.Context()); err != nil || c.Done || content(t, foreign) != "theirs" {
			t.Errorf("%s: %+v, %v, %q", system, c, err, content(t, foreign))
		}
	}
	p := newPlace(t, "windows")
	p.Run = (&programs{task: "<Task>theirs</Task>"}).run
	if _, err := p.Install(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "not ours") {
		t.Errorf("a task of that name: %v", err)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "linux")
	target := filepath.Join(t.TempDir(), "target")
	os.WriteFile(target, []byte(serviceUnit), 0o644)
	os.MkdirAll(p.Units, 0o755)
	if err := os.Symlink(target, p.unit(".service")); err != nil {
		t.Skip(err)
	}
	if _, err := p.Install(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if got := content(t, target); got != serviceUnit {
		t.Errorf("the target has become %q", got)
	}
}

func TestARefusalLeavesNothing(t *testing.T) {
	t.Parallel()
	for system, word := range map[string]string{"linux": "restart", "darwin": "bootstrap", "windows": "/Create"} {
		p := newPlace(t, system)
		p.Run = (&programs{fails: word}).run
		_, err := p.Install(t.Context(), time.Minute)
		if err == nil || !strings.Contains(err.Error(), "it is not allowed") || strings.Contains(err.Error(), "administrator") {
			t.Errorf("%s: %v", system, err)
		}
		if left := p.Files(); len(left) > 0 {
			t.Errorf("%s: left %q", system, left)
		}
	}
	p := newPlace(t, "linux")
	p.Run = (&programs{fails: "show-environment"}).run
	if _, err := p.Install(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "does not look after this login") {
		t.Error(err)
	}
	if _, err := newPlace(t, "plan9").Install(t.Context(), time.Minute); err == nil {
		t.Error("a system without timers was accepted")
	}
	for _, every := range []time.Duration{0, 30 * time.Second, 90 * time.Second, 48 * time.Hour, -time.Minute} {
		if _, err := newPlace(t, "linux").Install(t.Context(), every); err == nil {
			t.Errorf("%s was accepted", every)
		}
	}
}

// What cannot be installed can be taken back: an environment changes.
func TestUninstallInAnyEnvironment(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "linux")
	p.install(t, time.Minute)
	p.Environ = append(p.Environ, "GOFLAGS=a\x1bb")
	if _, err := p.Install(t.Context(), time.Minute); err == nil || !strings.Contains(err.Error(), "control character") {
		t.Errorf("installed: %v", err)
	}
	if c, err := p.Uninstall(t.Context()); err != nil || len(c.Paths) != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Where systemd is gone, what would start the timer at the next login goes, too.
func TestUninstallWithoutSystemd(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "linux")
	p.install(t, time.Minute)
	wants := filepath.Join(p.Units, "timers.target.wants", "cc-later.timer")
	os.MkdirAll(filepath.Dir(wants), 0o755)
	if err := os.Symlink(p.unit(".timer"), wants); err != nil {
		t.Skip(err)
	}
	p.Run = (&programs{fails: "systemctl"}).run
	if c, err := p.Uninstall(t.Context()); err != nil || !c.Done {
		t.Fatalf("%+v, %v", c, err)
	}
	if _, err := os.Lstat(wants); err == nil {
		t.Error("the link is left")
	}
}

// The units are what systemd itself takes.
func TestUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip(err)
	}
	p := newPlace(t, "linux")
	p.install(t, 7*time.Minute)
	cmd := exec.Command(analyze, "verify", "--user", "--man=no", p.unit(".service"), p.unit(".timer"))
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "cc-later") {
		t.Errorf("%v\n%s", err, out)
	}
	if text := content(t, p.unit(".timer")); !strings.Contains(text, "OnUnitActiveSec=420s\n") {
		t.Errorf("the timer is\n%s", text)
	}
}

// The property list is what Python's parser takes, and says what is to be said.
func TestPropertyList(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "darwin")
	p.install(t, 5*time.Minute)
	wellFormed(t, []byte(content(t, p.plist())))
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(python, "-c", `
import plistlib, sys
p = plistlib.load(open(sys.argv[1], "rb"))
assert p == {"Label": "com.github.ccreload.cc-later", "ProgramArguments": ["/bin/sh", sys.argv[2]], "RunAtLoad": True, "StartInterval": 300, "AbandonProcessGroup": True}, p
`, p.plist(), p.script())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The task is what the schema of the Task Scheduler takes (testdata/task.xsd has
// the part of it that is documented for what we use).
func TestTask(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "windows")
	p.install(t, 5*time.Minute)
	data := content(t, p.taskXML())
	if !strings.HasPrefix(data, "\xff\xfe") {
		t.Fatalf("it begins with %q", data[:4])
	}
	var units []uint16
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i])|uint16(data[i+1])<<8)
	}
	text := string(utf16.Decode(units))
	text = strings.Replace(text, `encoding="UTF-16"`, `encoding="UTF-8"`, 1)
	wellFormed(t, []byte(text))
	var parsed struct {
		Interval string `xml:"Triggers>TimeTrigger>Repetition>Interval"`
		Command  string `xml:"Actions>Exec>Command"`
		Args     string `xml:"Actions>Exec>Arguments"`
	}
	if err := xml.Unmarshal([]byte(text), &parsed); err != nil {
		t.Fatal(err)
	}
	if want := `--headless cmd.exe /d /c ""` + p.script() + `""`; parsed.Interval != "PT5M" || parsed.Args != want {
		t.Errorf("got %+v, want %q", parsed, want)
	}
	lint, err := exec.LookPath("xmllint")
	if err != nil {
		t.Skip(err)
	}
	schema, err := filepath.Abs(filepath.Join("testdata", "task.xsd"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		data string
		ok   bool
	}{
		"ours":              {data, true},
		"an unknown policy": {encode16(strings.Replace(strings.Replace(text, "UTF-8", "UTF-16", 1), "IgnoreNew", "Ignore", 1)), false},
		"the wrong order":   {encode16(strings.Replace(strings.Replace(text, "UTF-8", "UTF-16", 1), "<LogonType>InteractiveToken</LogonType>", "<Enabled>true</Enabled>", 1)), false},
	} {
		path := filepath.Join(t.TempDir(), "task.xml")
		os.WriteFile(path, []byte(tt.data), 0o600)
		out, err := exec.Command(lint, "--noout", "--nonet", "--schema", schema, path).CombinedOutput()
		if (err == nil) != tt.ok {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func wellFormed(t *testing.T, data []byte) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		if _, err := d.Token(); err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("%v\n%s", err, data)
			}
			return
		}
	}
}

// The script starts the newest runtime of the plugin with what agents need, and
// nothing where there is none.
func TestScript(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("it is a shell script")
	}
	p := newPlace(t, "linux")
	p.Environ = []string{"PATH=/usr/bin:" + filepath.Join(p.Config, "plugins", "cache", "m", "cc-later", "0.1.0", "bin") + ":.:/bin", "CLAUDE_CONFIG_DIR=" + p.Config}
	p.Runtime = filepath.Join(p.Config, "local", "ccreload")
	p.install(t, 5*time.Minute)
	run := func() string {
		cmd := exec.Command("/bin/sh", p.script())
		cmd.Env = []string{"PATH=/bin:/usr/bin"}
		cmd.Dir = "/"
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if got := run(); got != "" {
		t.Errorf("without a runtime it says %q", got)
	}
	if got := p.Status(t.Context()); got.Last.IsZero() {
		t.Error("it did not note that it ran")
	}
	const says = "#!/bin/sh\nprintf '%s' \"$0|$*|$CLAUDE_CONFIG_DIR|$PATH|$CLAUDE_PLUGIN_DATA\"\n"
	put := func(path string) {
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := proc.WriteProgram(path, says); err != nil {
			t.Fatal(err)
		}
	}
	put(p.Runtime)
	want := func(program, data string) string {
		return program + "|later tick --background|" + p.Config + "|/usr/bin:/bin|" + data
	}
	if got := run(); got != want(p.Runtime, "") {
		t.Errorf("the one that was recorded: %q", got)
	}
	plugins := filepath.Join(p.Config, "plugins")
	for _, at := range []string{"cc-later/0.9.0", "cc-later/0.10.0", "cc-later/0.11.0", "cc-reload/0.12.0"} {
		put(filepath.Join(plugins, "cache", "m", at, "bin", "ccreload"))
		put(filepath.Join(plugins, "cache", "m", at, "ccreload.json"))
	}
	put(filepath.Join(plugins, "cache", "m", "cc-later", "0.11.0", ".orphaned_at"))
	if got := run(); got != want(filepath.Join(plugins, "cache", "m", "cc-later", "0.10.0", "bin", "ccreload"), filepath.Join(plugins, "data", "cc-later-m")) {
		t.Errorf("the newest of the plugin: %q", got)
	}
	if p.Uninstall(t.Context()); slices.ContainsFunc(p.Files(), func(string) bool { return true }) {
		t.Error("files are left")
	}
}
