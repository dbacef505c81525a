package statusline

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
)

func newPlace(t *testing.T) Place {
	t.Helper()
	home := t.TempDir()
	p := Place{Config: filepath.Join(home, ".claude"), Home: home}
	if err := os.Mkdir(p.Config, 0o755); err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(b)
}

func install(t *testing.T, p Place) Change {
	t.Helper()
	c, err := p.Install("/opt/ccreload")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func uninstall(t *testing.T, p Place) Change {
	t.Helper()
	c, err := p.Uninstall()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// want fails the test unless the settings show status.
func want(t *testing.T, p Place, status Status) {
	t.Helper()
	if got, err := p.Status(); err != nil || got != status {
		t.Errorf("status %v, %v; want %v", got, err, status)
	}
}

func TestUninstallPutsTheSettingsBack(t *testing.T) {
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			write(t, p.settings(), text)
			if err := os.Chmod(p.settings(), 0o600); err != nil {
				t.Fatal(err)
			}
			install(t, p)
			want(t, p, Ours)
			if again := install(t, p); again.Done {
				t.Errorf("a second install did something: %+v", again)
			}
			uninstall(t, p)
			if got := read(t, p.settings()); got != text {
				t.Errorf("got  %q\nwant %q", got, text)
			}
			if info, err := os.Stat(p.settings()); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if _, err := os.Stat(filepath.Dir(p.wrapper())); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("our directory is still there: %v", err)
			}
			if again := uninstall(t, p); again.Done {
				t.Errorf("a second uninstall did something: %+v", again)
			}
		})
	}
}

func TestInstallWithoutSettings(t *testing.T) {
	p := newPlace(t)
	want(t, p, NoLine)
	install(t, p)
	want(t, p, Ours)
	uninstall(t, p)
	if _, err := os.Stat(p.settings()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file is left where there was none: %v", err)
	}
}

func TestInstallKeepsTheCommandOfTheUser(t *testing.T) {
	p := newPlace(t)
	write(t, p.settings(), shapes["a line of their own"])
	want(t, p, Foreign)
	const theirs = `printf '%s' "a\b"`
	if c := install(t, p); c.Kept != theirs || p.First() != theirs {
		t.Errorf("kept %q, first %q", c.Kept, p.First())
	}
	if !strings.Contains(read(t, p.settings()), `"padding": 0`) {
		t.Errorf("their other fields are gone: %s", read(t, p.settings()))
	}
}

func TestInstallLeavesWhatIsNotJSON(t *testing.T) {
	p := newPlace(t)
	const text = "{\n  // mine\n}\n"
	write(t, p.settings(), text)
	_, err := p.Install("/opt/ccreload")
	_, gone := p.Uninstall()
	for _, err := range []error{err, gone} {
		if !problem.IsInput(err) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("error %v", err)
		}
	}
	if read(t, p.settings()) != text {
		t.Error("the settings were changed")
	}
	if _, err := os.Stat(filepath.Dir(p.wrapper())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
}

func TestUninstallLeavesALineChosenSince(t *testing.T) {
	p := newPlace(t)
	write(t, p.settings(), `{"statusLine": {"type": "command", "command": "old"}}`)
	install(t, p)
	const theirs = `{"statusLine": {"type": "command", "command": "new"}}`
	write(t, p.settings(), theirs)
	want(t, p, Foreign)
	uninstall(t, p)
	if got := read(t, p.settings()); got != theirs {
		t.Errorf("got %s", got)
	}
}

// A command that calls our wrapper among other things already shows our
// line; to take it apart is the user's to do.
func TestInstallSeesItselfInAnotherCommand(t *testing.T) {
	p := newPlace(t)
	text := `{"statusLine": {"type": "command", "command": "date; ` + p.command() + `"}}`
	write(t, p.settings(), text)
	install(t, p)
	if got := read(t, p.settings()); got != text {
		t.Errorf("got %s", got)
	}
	want(t, p, Ours)
	if _, err := p.Uninstall(); err == nil || !strings.Contains(err.Error(), "among other things") {
		t.Errorf("error %v", err)
	}
}

// Settings that were carried to another machine name a wrapper that is not
// there yet.
func TestInstallMendsWhatIsBroken(t *testing.T) {
	p := newPlace(t)
	write(t, p.settings(), `{"statusLine": {"type": "command", "command": "/home/other/.claude/ccreload/statusline"}}`)
	want(t, p, Broken)
	install(t, p)
	want(t, p, Ours)
	if got := read(t, p.settings()); !strings.Contains(got, `"~/.claude/ccreload/statusline"`) {
		t.Errorf("got %s", got)
	}
	uninstall(t, p)
	if got := read(t, p.settings()); got != "{}" {
		t.Errorf("got %q", got)
	}
}

func TestInstallFollowsALink(t *testing.T) {
	p := newPlace(t)
	dotfiles := filepath.Join(p.Home, "dotfiles.json")
	write(t, dotfiles, `{"a": 1}`)
	if err := os.Symlink(dotfiles, p.settings()); err != nil {
		t.Skip(err)
	}
	install(t, p)
	if info, err := os.Lstat(p.settings()); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	uninstall(t, p)
	if got := read(t, dotfiles); got != `{"a": 1}` {
		t.Errorf("got %s", got)
	}
}

// A link whose target is not mounted is the user's to mend: a file in its
// place would part the settings from their dotfiles.
func TestInstallRefusesWhatIsNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and pipes are made in another way there")
	}
	for name, tt := range map[string]struct {
		make func(path string) error
		says string
	}{
		"dangling link": {func(path string) error { return os.Symlink("no/such/dotfiles.json", path) }, `is a link to "no/such/dotfiles.json", which is not there`},
		"pipe":          {func(path string) error { return exec.Command("mkfifo", path).Run() }, "is not a regular file"},
		"device":        {func(path string) error { return os.Symlink("/dev/zero", path) }, "is not a regular file"},
		"directory":     {func(path string) error { return os.Mkdir(path, 0o755) }, "is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if err := tt.make(p.settings()); err != nil {
				t.Skip(err)
			}
			before, err := os.Lstat(p.settings())
			if err != nil {
				t.Fatal(err)
			}
			_, errIn := p.Install("/opt/ccreload")
			_, errOut := p.Uninstall()
			_, errStatus := p.Status()
			for _, err := range []error{errIn, errOut, errStatus} {
				if !problem.IsInput(err) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v, want %q", err, tt.says)
				}
			}
			if after, err := os.Lstat(p.settings()); err != nil || !os.SameFile(before, after) {
				t.Errorf("it was replaced: %v, %v", after, err)
			}
		})
	}
}

func TestUninstallLeavesWhatIsNotOurs(t *testing.T) {
	p := newPlace(t)
	install(t, p)
	write(t, p.at("notes.txt"), "mine")
	uninstall(t, p)
	if read(t, p.at("notes.txt")) != "mine" {
		t.Error("a file of the user's was removed")
	}
}

// On Windows a path that needs no quotes is the same in both shells; one that does
// is written for the shell that the host takes.
func TestCommandIsFitForAShell(t *testing.T) {
	shells := func(files ...string) host.ShellFinder {
		return host.ShellFinder{
			Windows:  true,
			Getenv:   func(string) string { return "" },
			IsFile:   func(path string) bool { return slices.Contains(files, path) },
			LookPath: func(string) string { return "" },
		}
	}
	power, bash := shells(), shells(`C:\Program Files\Git\bin\bash.exe`)
	for _, tt := range []struct {
		place Place
		want  string
	}{
		{Place{Config: "/home/u/.claude", Home: "/home/u"}, "~/.claude/ccreload/statusline"},
		{Place{Config: "/etc/cc", Home: "/home/u"}, "/etc/cc/ccreload/statusline"},
		{Place{Config: "/home/u/it's mine", Home: "/home/u"}, `'/home/u/it'\''s mine/ccreload/statusline'`},
		{Place{Config: `/home/u/a\b`, Home: "/home/u/c"}, `'/home/u/a\b/ccreload/statusline'`},
		{Place{Config: "/c/u/.claude", Home: "/c/u", Shells: power}, "/c/u/.claude/ccreload/statusline.cmd"},
		{Place{Config: "/c/u/.claude", Home: "/c/u", Shells: bash}, "/c/u/.claude/ccreload/statusline.cmd"},
		{Place{Config: "/c/Jürgen/.claude", Home: "/c/Jürgen", Shells: power}, "/c/Jürgen/.claude/ccreload/statusline.cmd"},
		{Place{Config: "/c/J M (x)/.claude", Home: "/c/J M (x)", Shells: power}, "~/.claude/ccreload/statusline.cmd"},
		{Place{Config: "/c/J M (x)/.claude", Home: "/c/J M (x)", Shells: bash}, "~/.claude/ccreload/statusline.cmd"},
		{Place{Config: "/d/it's (ü)’s", Home: "/c/u", Shells: power}, "& '/d/it''s (ü)’’s/ccreload/statusline.cmd'"},
		{Place{Config: "/d/it's (ü)’s", Home: "/c/u", Shells: bash}, `'/d/it'\''s (ü)’s/ccreload/statusline.cmd'`},
	} {
		if runtime.GOOS == "windows" && !tt.place.Shells.Windows {
			continue
		}
		if got := tt.place.command(); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
		for _, other := range []host.ShellFinder{tt.place.Shells, power, bash} {
			if other.Windows == tt.place.Shells.Windows {
				p := tt.place
				p.Shells = other
				if !p.isOurs(tt.want) || p.calls(tt.want) || !p.calls("date; "+tt.want) {
					t.Errorf("%s is not taken for ours", tt.want)
				}
			}
		}
	}
}

// A user who gets Git Bash, or loses it, installs again.
func TestInstallForTheOtherShell(t *testing.T) {
	p := newPlace(t)
	p.Config = filepath.Join(p.Home, "it's mine")
	files := []string{`C:\Program Files\Git\bin\bash.exe`}
	p.Shells = host.ShellFinder{
		Windows:  true,
		Getenv:   func(string) string { return "" },
		IsFile:   func(path string) bool { return slices.Contains(files, path) },
		LookPath: func(string) string { return "" },
	}
	const text = "{ }\n"
	write(t, p.settings(), text)
	install(t, p)
	if got := read(t, p.settings()); strings.Contains(got, "& ") {
		t.Errorf("for bash: %s", got)
	}
	files = nil
	if c := install(t, p); !c.Done || install(t, p).Done {
		t.Errorf("the second did %+v", c)
	}
	if got := read(t, p.settings()); !strings.Contains(got, `"& '`) && !strings.Contains(got, `"\u0026 '`) {
		t.Errorf("for PowerShell: %s", got)
	}
	want(t, p, Ours)
	uninstall(t, p)
	if got := read(t, p.settings()); got != text {
		t.Errorf("got %q", got)
	}
}

// tree puts a plugin that prints its version, root and data directory where
// the host keeps the installed ones.
func tree(t *testing.T, p Place, market, name, version string) string {
	t.Helper()
	root := filepath.Join(p.Config, "plugins", "cache", market, name, version)
	write(t, filepath.Join(root, "ccreload.json"), "{}")
	// Mode 0644 (case F08): the wrapper must not need the execute bit.
	write(t, filepath.Join(root, "bin", "ccreload"), "#!/bin/sh\nprintf '%s|%s|%s|' "+version+` "$CLAUDE_PLUGIN_ROOT" "$CLAUDE_PLUGIN_DATA"; printf '%s|' "$@"; cat`)
	return root
}

func TestWrapperStartsTheNewest(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the wrapper for Windows is tried on its own")
	}
	for name, tt := range map[string]struct {
		versions []string
		want     string
	}{
		"numbers, not text": {[]string{"0.9.0", "0.10.0", "0.2.11"}, "0.10.0"},
		"major first":       {[]string{"0.99.99", "1.0.0"}, "1.0.0"},
		"a commit":          {[]string{"3f2a91bc77de"}, "3f2a91bc77de"},
		"release first":     {[]string{"ffffffffffff", "0.0.1", "01.2.3"}, "0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			p.Config = filepath.Join(p.Home, "a b", "it's ü") // case F27
			for _, v := range tt.versions {
				tree(t, p, "ccreload", "cc-reload", v)
			}
			write(t, filepath.Join(p.Config, "plugins/cache/other/thing/9.9.9/bin/ccreload"), "echo wrong")
			write(t, filepath.Join(tree(t, p, "ccreload", "cc-reload", "8.0.0"), ".orphaned_at"), "")
			install(t, p)
			root := filepath.Join(p.Config, "plugins/cache/ccreload/cc-reload", tt.want)
			data := filepath.Join(p.Config, "plugins/data/cc-reload-ccreload")
			if got, want := runWrapper(t, p), tt.want+"|"+root+"|"+data+"|statusline|payload"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestWrapperWithoutPlugins(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the wrapper for Windows is tried on its own")
	}
	p := newPlace(t)
	install(t, p)
	if got := runWrapper(t, p); got != "" {
		t.Errorf("got %q, want silence", got)
	}
	// The user's own command outlives the plugins.
	write(t, p.settings(), `{"statusLine": {"type": "command", "command": "echo mine; cat"}}`)
	install(t, p)
	if got := runWrapper(t, p); got != "mine\npayload" {
		t.Errorf("got %q", got)
	}
	// So it does when a plugin has no runtime for this machine.
	root := tree(t, p, "ccreload", "cc-reload", "1.0.0")
	write(t, filepath.Join(root, "bin", "ccreload"), "echo no runtime >&2; exit 1")
	if got := runWrapper(t, p); got != "mine\npayload" {
		t.Errorf("got %q", got)
	}
	// A runtime that was installed by itself is used where it was.
	alone := filepath.Join(p.Home, "it's alone")
	write(t, alone, "#!/bin/sh\necho alone")
	if err := os.Chmod(alone, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(alone); err != nil {
		t.Fatal(err)
	}
	if got := runWrapper(t, p); got != "alone\n" {
		t.Errorf("got %q", got)
	}
}

// However a runtime fails, and whatever it has read until then, the user's own
// command shows its line.
func TestWrapperFallsBackToTheUsersCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the wrapper for Windows is tried on its own")
	}
	for name, bin := range map[string]string{
		"text":      "no program\n",
		"truncated": "\x7fELF\x02\x01\x01",
		"fails":     "#!/bin/sh\ncat >/dev/null; exit 1\n",
		"dies":      "#!/bin/sh\nkill -9 $$\n",
		"directory": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			write(t, p.settings(), `{"statusLine": {"type": "command", "command": "echo mine; cat"}}`)
			broken := filepath.Join(p.Home, "runtime")
			if bin == "" {
				write(t, filepath.Join(broken, "x"), "")
			} else {
				write(t, broken, bin)
			}
			if err := os.Chmod(broken, 0o755); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Install(broken); err != nil {
				t.Fatal(err)
			}
			if got := runWrapper(t, p, "CCRELOAD_BIN="+broken); got != "mine\npayload" {
				t.Errorf("got %q", got)
			}
		})
	}
}

// runWrapper runs what the settings call, the way the host does.
func runWrapper(t *testing.T, p Place, env ...string) string {
	t.Helper()
	s, _, err := p.read()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/bin/sh", "-c", s.command())
	cmd.Env = append(env, "HOME="+p.Home, "PATH=/usr/bin:/bin")
	cmd.Stdin = strings.NewReader("payload")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}
