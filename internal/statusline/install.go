package statusline

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/wrapper"
)

// Names in the directory of ours beside the user's settings.
const (
	homeName    = "ccreload"
	wrapperName = "statusline"           // what the settings call
	firstName   = "first"                // the command that stood there before
	beforeName  = "settings.before.json" // the settings as they were, to the byte
)

//go:embed wrapper.sh
var wrapperSh string

//go:embed wrapper.cmd
var wrapperCmd string

// Place is where the host keeps a user's settings.
type Place struct {
	Config string           // the configuration directory, ~/.claude as a rule
	Home   string           // the user's home directory
	Shells host.ShellFinder // what runs the command
}

// Status says what stands in the settings.
type Status int

// The states of a status line.
const (
	NoLine  Status = iota // the settings have none
	Foreign               // they have one, which is not ours
	Ours                  // installed
	Broken                // installed, but the wrapper the settings call is gone
)

// Change says what Install or Uninstall did.
type Change struct {
	Done  bool   // false: it was so already
	Kept  string // Install: the command that stays as the first segment
	Paths []string
}

// check refuses a user without a configuration directory: what is relative would
// be written into, and read from, whatever directory we happen to be in.
func (p Place) check() error {
	if p.Config == "" {
		return problem.Input("set HOME to an absolute path", "you have no home directory, so there are no settings of yours")
	}
	return nil
}

func (p Place) settings() string      { return filepath.Join(p.Config, "settings.json") }
func (p Place) at(name string) string { return filepath.Join(p.Config, homeName, name) }

func (p Place) wrapper() string {
	if p.Shells.Windows {
		return p.at(wrapperName + ".cmd")
	}
	return p.at(wrapperName)
}

// command is what the settings call. Below the home directory it is written
// with a tilde, so that settings which are carried to another machine hold; on
// Windows only where the path alone would not do, since the shells there do not
// agree on where home is.
func (p Place) command() string {
	if p.Shells.Windows && plainPath(p.path()) {
		return p.path()
	}
	if tilde := p.tilde(); tilde != "" {
		return tilde
	}
	if p.Shells.PowerShell() {
		return p.invoked()
	}
	return p.absolute()
}

// forms are the commands that may have been written for this place, with whatever
// shell.
func (p Place) forms() []string {
	forms := []string{p.absolute(), p.invoked()}
	if tilde := p.tilde(); tilde != "" {
		forms = append(forms, tilde)
	}
	return forms
}

// path is that of the wrapper, as every shell reads it.
func (p Place) path() string { return filepath.ToSlash(p.wrapper()) }

// tilde is the wrapper below the home directory, "" where that takes quotes.
func (p Place) tilde() string {
	rel, ok := state.Below(p.Home, p.wrapper())
	if !ok || p.Home == "" || !plainPath(filepath.ToSlash(rel)) {
		return ""
	}
	return "~/" + filepath.ToSlash(rel)
}

// absolute is the wrapper for bash and sh.
func (p Place) absolute() string {
	if plainPath(p.path()) {
		return p.path()
	}
	return "'" + strings.ReplaceAll(p.path(), "'", `'\''`) + "'"
}

// invoked is the wrapper for PowerShell, to which a path in quotes is a text, and a
// curly quote a quote.
func (p Place) invoked() string {
	quoted := strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(p.path())
	return "& '" + quoted + "'"
}

// plainPath reports whether every shell takes path as it is.
func plainPath(path string) bool {
	return strings.IndexFunc(path, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/:._-", r))
	}) < 0
}

// isOurs reports whether command is a wrapper of ours and nothing else, be it
// this user's or one whose settings were carried here.
func (p Place) isOurs(command string) bool {
	if slices.Contains(p.forms(), command) {
		return true
	}
	path := strings.Trim(strings.TrimSpace(command), `'"`)
	path = strings.TrimSuffix(strings.ReplaceAll(path, `\`, "/"), ".cmd")
	return strings.HasSuffix(path, "/"+homeName+"/"+wrapperName) && plainPath(strings.TrimPrefix(path, "~"))
}

// works reports whether the shell that the host takes runs our command.
func (p Place) works(command string) bool {
	plain := command == p.path() || command == p.tilde()
	return command == p.command() || plain && plainPath(strings.TrimPrefix(command, "~"))
}

// calls reports whether a command of the user's own makes use of the wrapper.
func (p Place) calls(command string) bool {
	return !p.isOurs(command) && slices.ContainsFunc(append(p.forms(), p.path(), p.wrapper()), func(form string) bool {
		return strings.Contains(command, form)
	})
}

// read returns the settings and whether there is a file.
func (p Place) read() (settings, bool, error) {
	data, exists, err := p.load()
	if err != nil {
		return nil, false, problem.AsInput(err)
	}
	s, err := parse(data)
	if err != nil {
		return nil, true, problem.Input("correct the file and try again", "%q was left as it is: %w", p.settings(), err)
	}
	return s, exists, nil
}

// load returns the text of the settings and whether there is a file. What
// stands there and is none is an error: reading could wait for ever, and
// writing would put a file in its place.
func (p Place) load() (data []byte, exists bool, err error) {
	if err := p.check(); err != nil {
		return nil, false, err
	}
	path := p.settings()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if target, err := os.Readlink(path); err == nil {
			return nil, false, problem.Input("bring that back, or remove the link, and try again", "%q is a link to %q, which is not there", path, target)
		}
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, problem.Input("move it away and try again", "%q is not a regular file", path)
	}
	data, err = os.ReadFile(path)
	return data, err == nil, err
}

// editable says why the settings must not be written, before anything is. A
// file that is read-only is so by somebody's decision, even where renaming
// another in its place, or the superuser, would get around it.
func (p Place) editable() error {
	path := state.RealPath(p.settings())
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first write says what is wrong with the directory
	}
	if err == nil && info.Mode().Perm()&0o200 == 0 {
		return problem.Input("make it writable, or add the status line where the file is made", "%q is read-only, and was left as it is", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		f.Close()
		f, err = os.CreateTemp(filepath.Dir(path), ".ccreload-*")
	}
	if err != nil {
		return problem.Input("make it writable for you, and its directory, and try again", "%q was left as it is: %w", path, err)
	}
	f.Close()
	return os.Remove(f.Name())
}

// Hides reports whether the settings of a project at path have a status line
// that the host shows in place of the user's.
func (p Place) Hides(path string) bool {
	data, err := state.ReadFile(path, maxSettings)
	if err != nil || state.RealPath(path) == state.RealPath(p.settings()) {
		return false
	}
	s, err := parse(data)
	if err != nil {
		return false
	}
	_, some := s.find()
	return some && !p.isOurs(s.command()) && !p.calls(s.command())
}

// maxSettings is the most that is read of a project's settings, in bytes.
const maxSettings = 1 << 20

// Status reports what the settings show now. An error means that they cannot
// be read, and says why.
func (p Place) Status() (Status, error) {
	if p.check() != nil {
		return NoLine, nil
	}
	s, _, err := p.read()
	if err != nil {
		return NoLine, err
	}
	_, some := s.find()
	switch {
	case !some:
		return NoLine, nil
	case !p.isOurs(s.command()) && !p.calls(s.command()):
		return Foreign, nil
	}
	if info, err := os.Stat(p.wrapper()); err != nil || !info.Mode().IsRegular() {
		return Broken, nil
	}
	return Ours, nil
}

// First returns the command that Install found in the settings, "" when there
// was none.
func (p Place) First() string {
	if p.check() != nil {
		return ""
	}
	data, err := os.ReadFile(p.at(firstName))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), "\n")
}

// Install makes the settings call the wrapper, which starts the newest
// runtime the plugins have brought, or else the one at the path runtime ("" is
// none). A command that
// stands there already stays as the first segment; a copy of the settings is
// kept. Doing it twice changes nothing but an outdated wrapper. Settings that
// are not valid JSON are an error and nothing is written.
func (p Place) Install(runtime string) (Change, error) {
	s, exists, err := p.read()
	if err != nil {
		return Change{}, err
	}
	command := s.command()
	if !p.calls(command) {
		if err := p.editable(); err != nil {
			return Change{}, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(p.wrapper()), 0o755); err != nil {
		return Change{}, err
	}
	if p.isOurs(command) || p.calls(command) {
		changed, err := p.writeWrapper(runtime)
		c := Change{Done: changed, Kept: p.First(), Paths: []string{p.wrapper()}}
		if err == nil && p.isOurs(command) && !p.works(command) {
			c.Done, c.Paths = true, append(c.Paths, p.settings())
			err = state.WriteFile(p.settings(), s.withCommand(p.command()), 0o600)
		}
		return c, err
	}
	// The settings come last: until then nothing calls what is written here.
	c := Change{Done: true, Kept: command, Paths: []string{p.wrapper(), p.settings()}}
	if err := p.keep(command, exists); err != nil {
		return Change{}, err
	}
	if _, err := p.writeWrapper(runtime); err != nil {
		return Change{}, err
	}
	return c, state.WriteFile(p.settings(), s.withCommand(p.command()), 0o600)
}

// keep puts by what Uninstall and the wrapper will ask for.
func (p Place) keep(command string, exists bool) error {
	if err := errors.Join(remove(p.at(beforeName)), remove(p.at(firstName))); err != nil {
		return err
	}
	if exists {
		data, err := os.ReadFile(p.settings())
		if err != nil {
			return err
		}
		if err := state.WriteFile(p.at(beforeName), data, 0o600); err != nil {
			return err
		}
	}
	if command == "" {
		return nil
	}
	return state.WriteFile(p.at(firstName), []byte(command+"\n"), 0o600)
}

// writeWrapper reports whether the wrapper had to be written.
func (p Place) writeWrapper(runtime string) (bool, error) {
	script := wrapper.Script{Text: wrapperSh, Runtime: runtime, Windows: p.Shells.Windows}
	if p.Shells.Windows {
		script.Text = wrapperCmd
	}
	text := script.String()
	if old, err := os.ReadFile(p.wrapper()); err == nil && string(old) == text {
		return false, nil
	}
	if err := state.WriteFile(p.wrapper(), []byte(text), 0o755); err != nil {
		return false, err
	}
	return true, os.Chmod(p.wrapper(), 0o755)
}

// Uninstall puts the settings back: to the byte when nothing else in them has
// changed since Install, else only the part that is ours. A status line that
// the user has chosen since stays. The directory of ours is removed.
func (p Place) Uninstall() (Change, error) {
	s, _, err := p.read()
	if err != nil {
		return Change{}, err
	}
	if p.calls(s.command()) {
		return Change{}, problem.Input(fmt.Sprintf("take %q out of statusLine.command in that file, keep the rest, and run this again", p.wrapper()), "nothing was changed: the status line command in %q calls %q among other things", p.settings(), p.wrapper())
	}
	c := Change{}
	if p.isOurs(s.command()) {
		c.Done, c.Paths = true, []string{p.settings()}
		if err := p.editable(); err != nil {
			return Change{}, err
		}
		if err := p.restore(s); err != nil {
			return Change{}, err
		}
	}
	for _, path := range []string{p.wrapper(), p.at(firstName), p.at(beforeName)} {
		if _, err := os.Lstat(path); err != nil {
			continue
		}
		if err := remove(path); err != nil {
			return c, err
		}
		c.Done, c.Paths = true, append(c.Paths, path)
	}
	os.Remove(filepath.Dir(p.wrapper())) // stays when the user has put something there
	return c, nil
}

// restore writes the settings without us.
func (p Place) restore(now settings) error {
	original, err := os.ReadFile(p.at(beforeName))
	existed := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, err := parse(original)
	if err != nil {
		return fmt.Errorf("the copy of the settings in %s: %w", p.at(beforeName), err)
	}
	switch untouched := bytes.Equal(now, before.withCommand(now.command())); {
	case untouched && existed:
		return state.WriteFile(p.settings(), original, 0o600)
	case untouched:
		return remove(p.settings())
	}
	return state.WriteFile(p.settings(), now.restored(before), 0o600)
}

// remove deletes a file; none there is fine.
func remove(path string) error {
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
