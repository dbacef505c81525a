package timer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

const (
	// Least and Most are how often a tick may be started.
	Least = time.Minute
	Most  = 24 * time.Hour

	maxFile = 1 << 20 // bytes of a file that is looked at
)

// Place is where the timer of a user is.
type Place struct {
	OS      string // as runtime.GOOS
	App     string // the application's directory, which gets the script
	Config  string // the host's configuration directory, in which the plugins are
	Units   string // of systemd or launchd: where a user's are
	Runtime string // a ccreload that no update moves, "" for none
	// Environ is what the agents of ticks are to find (host.Lasting).
	Environ []string
	UID     int
	// Run runs a program of the system for a moment and returns what it printed.
	Run func(ctx context.Context, name string, args ...string) (string, error)
}

// Status says what there is.
type Status struct {
	System string // what starts the ticks, as people call it
	// Files are those of ours that are there; none means that nothing is installed.
	Files  []string
	Whole  bool          // all of them are there
	Active bool          // the system says that it starts them
	Every  time.Duration // 0 when the script does not say
	Last   time.Time     // when it last did, zero for never
}

// Change says what Install or Uninstall did.
type Change struct {
	Done  bool // false: it was so already
	Paths []string
}

// system is what the timers of a system are called, "" for a system without.
func (p Place) system() string {
	switch p.OS {
	case "linux":
		return "systemd"
	case "darwin":
		return "launchd"
	case "windows":
		return "the Task Scheduler"
	}
	return ""
}

// check refuses what cannot be installed, before anything is written.
func (p Place) check() error {
	switch {
	case p.system() == "":
		return problem.Input("have cron start `ccreload later tick --background`", "there are no timers for %s here", p.OS)
	case !p.known():
		return problem.Input("set HOME to an absolute path", "you have no home directory, so there is no place for a timer")
	}
	for _, s := range append([]string{p.App, p.Config, p.Units, p.Runtime}, p.Environ...) {
		if strings.IndexFunc(s, unicode.IsControl) >= 0 {
			return problem.Input("", "%q has a control character in it, which a timer cannot have", s)
		}
		if p.OS == "windows" && strings.Contains(s, `"`) {
			return problem.Input("", "%q has a quote in it, which a script cannot have", s)
		}
	}
	return nil
}

// known reports whether there are places for files at all.
func (p Place) known() bool {
	return p.App != "" && p.Config != "" && (p.Units != "" || p.OS == "windows")
}

// Install has the system start a tick every so often: whole minutes. Doing it twice
// changes nothing but what is outdated. What stands in a place of ours and is not
// ours is an error, and nothing is written then; if the system refuses, what was
// written is removed again.
func (p Place) Install(ctx context.Context, every time.Duration) (Change, error) {
	if err := p.check(); err != nil {
		return Change{}, err
	}
	if every < Least || every > Most || every%time.Minute != 0 {
		return Change{}, problem.Input("such as 5m", "%s is no time between ticks: it takes whole minutes, a day at most", every)
	}
	if err := p.ready(ctx); err != nil {
		return Change{}, err
	}
	files := p.files(every)
	var stale []file
	fresh := true // nothing of ours was there
	for _, f := range files {
		old, err := read(f.path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return Change{}, err
		case !isOurs(old):
			return Change{}, problem.Input("move it away and try again", "%q is not ours, and was left as it is", f.path)
		default:
			fresh = false
		}
		if string(old) != f.data {
			stale = append(stale, f)
		}
	}
	if len(stale) == 0 && p.active(ctx) {
		return Change{}, nil
	}
	c := Change{Done: true}
	for _, f := range stale {
		err := os.MkdirAll(filepath.Dir(f.path), 0o755)
		if err == nil {
			err = state.WriteFile(f.path, []byte(f.data), fs.FileMode(f.perm))
		}
		if err != nil {
			return c, errors.Join(err, p.undo(fresh))
		}
		c.Paths = append(c.Paths, f.path)
	}
	if err := p.activate(ctx); err != nil {
		err = problem.Fault("`ccreload later tick` does by hand what the timer would", "%s does not take the timer: %w", p.system(), err)
		return Change{}, errors.Join(err, p.undo(fresh))
	}
	return c, nil
}

// undo removes what was written for nothing.
func (p Place) undo(fresh bool) error {
	if !fresh {
		return nil
	}
	_, err := p.remove()
	return err
}

// Uninstall takes back what Install did. What is not ours stays.
func (p Place) Uninstall(ctx context.Context) (Change, error) {
	s := p.Files()
	if len(s) == 0 {
		return Change{}, nil
	}
	if err := p.deactivate(ctx); err != nil {
		return Change{}, problem.Fault("", "%s does not let go of the timer: %w", p.system(), err)
	}
	paths, err := p.remove()
	if err == nil && p.OS == "linux" {
		p.Run(ctx, "systemctl", "--user", "daemon-reload") // it forgets by itself at the next login
	}
	return Change{Done: true, Paths: paths}, err
}

// remove deletes the files of ours.
func (p Place) remove() (paths []string, err error) {
	for _, path := range p.Files() {
		if e := os.Remove(path); e != nil {
			err = errors.Join(err, e)
			continue
		}
		paths = append(paths, path)
	}
	os.Remove(p.last())
	os.Remove(p.dir()) // stays when somebody has put something there
	return paths, err
}

// Status tells what there is.
func (p Place) Status(ctx context.Context) Status {
	s := Status{System: p.system(), Files: p.Files()}
	if len(s.Files) == 0 {
		return s
	}
	s.Whole = len(s.Files) == len(p.files(Least))
	s.Active = p.active(ctx)
	script, _ := read(p.script())
	if _, rest, ok := strings.Cut(string(script), everyWord); ok {
		word, _, _ := strings.Cut(rest, "\n")
		s.Every, _ = time.ParseDuration(strings.TrimSpace(word))
	}
	if info, err := os.Stat(p.last()); err == nil {
		s.Last = info.ModTime()
	}
	return s
}

// Files are those of ours that are there.
func (p Place) Files() []string {
	if p.system() == "" || !p.known() {
		return nil
	}
	var list []string
	for _, f := range p.files(Least) {
		if data, err := read(f.path); err == nil && isOurs(data) {
			list = append(list, f.path)
		}
	}
	return list
}

// read returns the content of a file. A link is not what we make, and not followed.
func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, problem.Input("move it away and try again", "%q is not a regular file, and was left as it is", path)
	}
	return state.ReadFile(path, maxFile)
}

// What the systems are told.

// ready fails where the system would not answer, or has something of that name that
// is not ours.
func (p Place) ready(ctx context.Context) error {
	switch p.OS {
	case "linux":
		if out, err := p.Run(ctx, "systemctl", "--user", "show-environment"); err != nil {
			return problem.Fault("have cron start `ccreload later tick --background`, or do so by hand now and then", "systemd does not look after this login: %w", says(out, err))
		}
	case "windows":
		if out, err := p.Run(ctx, "schtasks", "/Query", "/TN", name, "/XML"); err == nil && !isOurs([]byte(out)) {
			return problem.Input("give it another name and try again", "the Task Scheduler has a task %q that is not ours, and it was left as it is", name)
		}
	}
	return nil
}

func (p Place) active(ctx context.Context) bool {
	var err error
	switch p.OS {
	case "darwin":
		_, err = p.Run(ctx, "launchctl", "print", p.target())
	case "windows":
		_, err = p.Run(ctx, "schtasks", "/Query", "/TN", name)
	default:
		_, err = p.Run(ctx, "systemctl", "--user", "is-active", "--quiet", name+".timer")
	}
	return err == nil
}

func (p Place) activate(ctx context.Context) error {
	switch p.OS {
	case "darwin":
		if p.active(ctx) {
			p.Run(ctx, "launchctl", "bootout", p.target()) // bootstrap says what is wrong
		}
		return p.do(ctx, "launchctl", "bootstrap", p.domain(), p.plist())
	case "windows":
		return p.do(ctx, "schtasks", "/Create", "/TN", name, "/XML", p.taskXML(), "/F")
	}
	if err := p.do(ctx, "systemctl", "--user", "daemon-reload"); err != nil {
		return err
	}
	if err := p.do(ctx, "systemctl", "--user", "enable", name+".timer"); err != nil {
		return err
	}
	return p.do(ctx, "systemctl", "--user", "restart", name+".timer")
}

// deactivate has the system forget the timer. Where systemd does not run, what would
// start it at the next login goes.
func (p Place) deactivate(ctx context.Context) error {
	switch p.OS {
	case "darwin":
		if !p.active(ctx) {
			return nil
		}
		return p.do(ctx, "launchctl", "bootout", p.target())
	case "windows":
		if !p.active(ctx) {
			return nil
		}
		return p.do(ctx, "schtasks", "/Delete", "/TN", name, "/F")
	}
	if _, err := p.Run(ctx, "systemctl", "--user", "show-environment"); err == nil {
		if _, err := read(p.unit(".timer")); err != nil {
			p.Run(ctx, "systemctl", "--user", "stop", name+".timer") // if it was started before its file was removed
			return nil
		}
		return p.do(ctx, "systemctl", "--user", "disable", "--now", name+".timer")
	}
	link := filepath.Join(p.Units, "timers.target.wants", name+".timer")
	if _, err := os.Readlink(link); err == nil {
		return os.Remove(link)
	}
	return nil
}

func (p Place) domain() string { return "gui/" + strconv.Itoa(p.UID) }
func (p Place) target() string { return p.domain() + "/" + label }

func (p Place) do(ctx context.Context, program string, args ...string) error {
	out, err := p.Run(ctx, program, args...)
	if err != nil {
		return fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), says(out, err))
	}
	return nil
}

// says is what a program says is wrong, else err.
func says(out string, err error) error {
	if line, _, _ := strings.Cut(strings.TrimSpace(out), "\n"); line != "" {
		return errors.New(line)
	}
	return err
}
