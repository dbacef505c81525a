package cli

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/shell"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/statusline"
	"github.com/ccreload/ccreload/internal/term"
)

const (
	binVar      = "CCRELOAD_BIN"      // a runtime that goes before all others
	downloadVar = "CCRELOAD_DOWNLOAD" // whether the launcher fetches one: off, or now
	noDownload  = "off"
	downloadNow = "now"

	versionTimeout = 10 * time.Second // for another program to name its version
	fetchTimeout   = 6 * time.Minute  // for the launcher to fetch a runtime; it has limits of its own
	askGrace       = 100 * time.Millisecond

	// namesItself is the first client that tells hooks its process (docs/host.md,
	// Plugins).
	namesItself = "2.1.214"

	// recent is how long a fault in the debug log counts as a problem.
	recent = 24 * time.Hour
)

// checkup is one run of doctor.
type checkup struct {
	*app
	problem.Findings
	ctx     context.Context
	project string
	plugins []installed

	commands []string // that check a release
}

// checks are what doctor looks at, in the order in which things depend on each
// other.
var checks = []func(*checkup){
	(*checkup).switches,
	(*checkup).client,
	(*checkup).installation,
	(*checkup).statusLine,
	(*checkup).options,
	(*checkup).state,
	(*checkup).later,
	(*checkup).logs,
}

// examine runs checks.
func (a *app) examine(ctx context.Context, checks []func(*checkup)) (*checkup, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	project, err := a.project()
	if err != nil {
		return nil, err
	}
	c := &checkup{app: a, ctx: ctx, project: project, plugins: a.installedPlugins()}
	for _, check := range checks {
		check(c)
	}
	return c, nil
}

// switches looks for what keeps every hook quiet.
func (c *checkup) switches() {
	before := len(c.Findings)
	for _, name := range []string{hook.OffVar, host.ChildVar} {
		if hook.On(c.env.Getenv(name)) {
			c.Bad("hooks", "unset "+name, "%s is set, so every hook is silent", name)
		}
	}
	for _, path := range c.settingsFiles(c.project) {
		s, err := readSettings(path)
		switch {
		case err != nil:
			c.Bad("settings", "correct the file", "%q cannot be read: %v", path, err)
		case s.NoHooks:
			c.Bad("hooks", "take disableAllHooks out of the file", "%q switches the hooks of every plugin off", path)
		}
	}
	if len(c.Findings) == before {
		c.OK("hooks", "nothing switches them off")
	}
}

// client holds the host's version against the oldest we ask for.
func (c *checkup) client() {
	const check = "client"
	path := c.host.Executable
	if path == "" {
		var err error
		if path, err = exec.LookPath("claude"); err != nil {
			c.Note(check, "", "version unknown: claude is not on PATH")
			return
		}
	}
	out, err := c.ask(versionTimeout, exec.Command(path, "--version"))
	version, _, _ := strings.Cut(out, " ")
	if err != nil || !host.AtLeast(version, "0") {
		c.Note(check, "", "version unknown: %q does not tell it", path)
		return
	}
	minimum := ""
	for _, name := range registry.Names() {
		if p, err := c.profile(name); err == nil && !host.AtLeast(minimum, p.MinHostVersion) {
			minimum = p.MinHostVersion
		}
	}
	if minimum != "" && !host.AtLeast(version, minimum) {
		c.Bad(check, "claude update", "Claude Code %s is too old: the plugins need %s or newer", version, minimum)
		return
	}
	if !host.AtLeast(version, namesItself) {
		c.Note(check, "claude update", "Claude Code %s does not tell hooks which process it is (%s does): with two sessions in one directory, the first one to start gets the digest", version, namesItself)
		return
	}
	c.OK(check, "Claude Code %s", version)
}

// installation looks at every plugin the host has installed.
func (c *checkup) installation() {
	switch {
	case c.host.Config == "":
		c.Note("plugins", "set HOME to an absolute path", "you have no home directory, so it is not known what is installed")
	case len(c.plugins) == 0:
		c.Bad("plugins", "in Claude Code: /plugin marketplace add ccreload/ccreload, /plugin install cc-reload@ccreload, then /reload-plugins or a restart",
			"no plugin of this toolkit is installed for this user, so no hook runs but in sessions that were given one with --plugin-dir")
	}
	c.twice()
	for _, p := range c.plugins {
		c.plugin(p)
		c.files(p)
		c.runtime(p)
		c.data(p)
	}
	if path := c.env.Getenv(binVar); path != "" && !runnable(path) {
		c.Bad("runtime", "set "+binVar+" to an executable file, or unset it", "%s names %q, which cannot be run", binVar, path)
	}
}

// twice looks for a plugin that is installed from two catalogues: each of its hooks
// would run twice.
func (c *checkup) twice() {
	ids := map[string][]string{}
	for _, p := range c.plugins {
		// A trial with --plugin-dir has no id, another scope has the same.
		if p.ID != "" && !slices.Contains(ids[p.Name], p.ID) && !c.switchedOff(p.ID) {
			ids[p.Name] = append(ids[p.Name], p.ID)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		if len(ids[name]) > 1 {
			slices.Sort(ids[name])
			c.Bad(name, "claude plugin uninstall "+ids[name][0]+", or another", "installed as %s, so each hook runs more than once", strings.Join(ids[name], " and as "))
		}
	}
}

// switchedOff reports whether the settings nearest to the project switch id off.
func (c *checkup) switchedOff(id string) bool {
	for _, path := range c.settingsFiles(c.project) {
		if s, err := readSettings(path); err == nil {
			if on, named := s.Enabled[id]; named {
				return on == false
			}
		}
	}
	return false
}

// ask runs another program and returns the first line it writes.
func (c *checkup) ask(timeout time.Duration, cmd *exec.Cmd) (string, error) {
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := proc.Run(ctx, cmd, askGrace); err != nil {
		// What ended it comes last; the launcher may have remarks before that.
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		if said := strings.TrimPrefix(lines[len(lines)-1], "ccreload: "); said != "" {
			return "", errors.New(said)
		}
		return "", err
	}
	return firstLine(stdout.String()), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return strings.TrimSpace(line)
}

// plugin holds what is installed against the manifest it was made from and the
// one its marketplace has by now.
func (c *checkup) plugin(p installed) {
	check, where := p.Name, p.ID
	if where == "" {
		where = "from " + p.Root
	}
	before := len(c.Findings)
	if p.ID != "" && !c.enabled(p.Name, c.project) {
		c.Note(check, "claude plugin enable "+p.ID, "installed (%s) and switched off", where)
	}
	if v := versionIn(filepath.Join(p.Root, ".claude-plugin", "plugin.json")); v != p.Version {
		c.Bad(check, reinstall(p), "files of two versions are mixed in %q: plugin.json says %q, ccreload.json %q", p.Root, v, p.Version)
	}
	if v := c.offered(p); v != "" && v != p.Version && host.AtLeast(v, p.Version) {
		c.Note(check, update(p), "%s available (%s installed)", v, p.Version)
	}
	if mine := version(); host.AtLeast(mine, "0") && mine != p.runtime() {
		if host.AtLeast(p.runtime(), mine) {
			c.Note(check, "/reload-plugins, or restart Claude Code; in a shell, update the ccreload on your PATH", "%s installed, but this is ccreload %s", p.runtime(), mine)
		} else {
			c.Note(check, update(p), "%s installed, and this is ccreload %s", p.runtime(), mine)
		}
	}
	if len(c.Findings) == before {
		c.OK(check, "version %s, %s", p.Version, where)
	}
}

func update(p installed) string {
	if p.ID == "" {
		return "get a fresh copy of the plugin"
	}
	return "claude plugin update " + p.ID
}

func reinstall(p installed) string {
	if p.ID == "" {
		return "get a fresh copy of the plugin"
	}
	return "claude plugin uninstall " + p.ID + ", then claude plugin install " + p.ID
}

// versionIn returns the version that a plugin.json names.
func versionIn(path string) string {
	var file struct {
		Version string `json:"version"`
	}
	if data, err := os.ReadFile(path); err == nil {
		json.Unmarshal(data, &file) // what cannot be read has no version
	}
	return file.Version
}

// offered returns the version of p in this machine's copy of its marketplace,
// "" when that cannot be told.
func (a *app) offered(p installed) string {
	_, market, _ := strings.Cut(p.ID, "@")
	var known map[string]struct {
		Path string `json:"installLocation"`
	}
	data, err := os.ReadFile(a.host.ConfigPath("plugins", "known_marketplaces.json"))
	if err != nil || json.Unmarshal(data, &known) != nil || known[market].Path == "" {
		return ""
	}
	root := known[market].Path
	var file struct {
		Plugins []struct {
			Name   string `json:"name"`
			Source any    `json:"source"`
		} `json:"plugins"`
	}
	data, err = os.ReadFile(filepath.Join(root, ".claude-plugin", "marketplace.json"))
	if err != nil || json.Unmarshal(data, &file) != nil {
		return ""
	}
	for _, q := range file.Plugins {
		if source, ok := q.Source.(string); ok && q.Name == p.Name && filepath.IsLocal(source) {
			return versionIn(filepath.Join(root, source, ".claude-plugin", "plugin.json"))
		}
	}
	return ""
}

// files looks for a tree whose programs cannot be started (case F08).
func (c *checkup) files(p installed) {
	if runtime.GOOS == "windows" {
		return
	}
	const check = "files"
	bin := filepath.Join(p.Root, "bin")
	if noexec(bin) {
		c.Bad(check, "move the client's configuration ("+host.ConfigVar+") to a file system that runs programs",
			"%q is on a file system mounted noexec, so no hook can start", bin)
		return
	}
	entries, err := os.ReadDir(bin)
	if err != nil {
		c.Bad(check, reinstall(p), "the plugin's programs are missing: %v", err)
		return
	}
	var locked []string
	for _, e := range entries {
		info, err := e.Info()
		isProgram := e.Name() == "ccreload" || strings.HasPrefix(e.Name(), "ccreload-")
		if err == nil && isProgram && info.Mode().IsRegular() && info.Mode()&0o111 == 0 {
			locked = append(locked, filepath.Join(bin, e.Name()))
		}
	}
	if len(locked) > 0 {
		c.Bad(check, "chmod +x "+quoteAll(locked), "not executable: %s", strings.Join(locked, ", "))
		return
	}
	c.OK(check, "the programs in %s are executable", bin)
}

// quoteAll writes paths for a shell.
func quoteAll(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = shell.Quote(p)
	}
	return strings.Join(quoted, " ")
}

// runtime starts the plugin's launcher, to see which runtime it finds. Where the
// one of the plugin's version is missing, it has it fetched.
func (c *checkup) runtime(p installed) {
	const check = "runtime"
	for _, path := range damaged(p) {
		c.Bad(check, "delete it: the next session fetches it anew", "%q is not the released runtime: it is empty, cut off, or something else", path)
	}
	said, err := c.launch(p, versionTimeout)
	version, path, _ := strings.Cut(said, " ")
	missing := err != nil || version != p.runtime() && p.Data != "" && state.Within(state.RealPath(p.Data), path)
	if missing && c.env.Getenv(downloadVar) != noDownload {
		said, err = c.launch(p, fetchTimeout, downloadVar+"="+downloadNow)
		version, path, _ = strings.Cut(said, " ")
	}
	if err != nil {
		c.Bad(check, "start a session, which fetches the runtime once; without a network set "+binVar+" to one from the releases page",
			"%s finds no runtime, so its hooks do nothing: %v", p.Name, err)
		return
	}
	if cause := notFetched(p); cause != "" {
		c.Bad(check, "set right what it says and run `ccreload doctor` again; without a network set "+binVar+" to one from the releases page",
			"the runtime %s of %s is missing: %s", p.runtime(), p.Name, cause)
	}
	if version != "devel" && !host.AtLeast(version, "0") {
		c.Bad(check, reinstall(p), "what %s runs is no runtime: asked for its version, it says %q", p.Name, term.Cut(said, 60))
		return
	}
	why := whyRuns(path, c.env.Getenv(binVar), p)
	if version != p.runtime() && version != "devel" {
		c.Note(check, "", "%s wants %s and runs %s, version %s: %s", p.Name, p.runtime(), path, version, why)
		return
	}
	c.OK(check, "%s runs %s, version %s: %s", p.Name, path, version, why)
}

// launch has the launcher of p start its runtime, which says its version and path.
func (c *checkup) launch(p installed, timeout time.Duration, vars ...string) (string, error) {
	launcher := filepath.Join(p.Root, "bin", "ccreload")
	cmd := exec.Command("/bin/sh", launcher, "version", "--path")
	if runtime.GOOS == "windows" {
		cmd = exec.Command(launcher+".exe", "version", "--path")
	}
	cmd.Env = append(append(os.Environ(), host.Host{Root: p.Root, Data: p.Data}.Vars()...), vars...)
	return c.ask(timeout, cmd)
}

// notFetched returns what the launcher has noted of its last download, "" where
// that went well.
func notFetched(p installed) string {
	note, err := os.ReadFile(filepath.Join(p.Data, "retry-"+p.runtime()))
	_, cause, ok := strings.Cut(string(note), "\n")
	if p.Data == "" || err != nil || !ok {
		return ""
	}
	return firstLine(cause)
}

// damaged lists the cached runtimes of p's version that do not have the sha256
// which came with the plugin.
func damaged(p installed) []string {
	if p.Data == "" {
		return nil
	}
	sums, _ := os.ReadFile(filepath.Join(p.Root, "bin", "checksums.txt"))                  // none pins nothing
	cached, _ := filepath.Glob(filepath.Join(p.Data, "bin", "ccreload-"+p.runtime()+"-*")) // fails only for a bad pattern
	return slices.DeleteFunc(cached, func(path string) bool {
		platform := strings.TrimPrefix(filepath.Base(path), "ccreload-"+p.runtime()+"-")
		f, err := os.Open(path)
		if err != nil {
			return true
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil || info.Size() == 0 {
			return err != nil
		}
		sum, err := sumOf(f)
		if err != nil {
			return true
		}
		want, ok := pinned(sums, "ccreload-"+platform)
		return !ok || want == hex.EncodeToString(sum[:])
	})
}

// pinned returns the sha256 that sums, the text of a checksums.txt, has for a file.
func pinned(sums []byte, name string) (sum string, ok bool) {
	for line := range strings.Lines(string(sums)) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[1] == name {
			return fields[0], true
		}
	}
	return "", false
}

// whyRuns says how the launcher came to the runtime at path.
func whyRuns(path, fromEnv string, p installed) string {
	switch {
	case fromEnv != "" && sameFile(path, fromEnv):
		return binVar + " names it"
	case state.Within(state.RealPath(p.Root), path):
		return "it came with the plugin"
	case p.Data != "" && state.Within(state.RealPath(p.Data), path):
		return "it was fetched for this version of the plugin"
	}
	return "it was fetched for another installation of the plugin"
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// data looks at the directory in which the plugin keeps its log and the runtime
// it has fetched.
func (c *checkup) data(p installed) {
	const check = "data"
	switch err := writable(p.Data); {
	case p.Data == "":
		c.Note(check, "", "Claude Code has named no data directory for %s", p.Name)
	case errors.Is(err, fs.ErrNotExist):
		c.OK(check, "%s does not exist yet; the first session makes it", p.Data)
	case err != nil:
		c.Bad(check, "make it writable for you", "%q cannot be written: %v", p.Data, err)
	default:
		c.OK(check, "%s is writable", p.Data)
	}
}

// statusLine looks at the status line.
func (c *checkup) statusLine() {
	const check = "status line"
	status, err := c.place().Status()
	switch {
	case err != nil:
		c.Error(check, err)
	case c.host.Config == "":
		c.Note(check, "", "not known, since you have no home directory")
	case status == statusline.Ours && c.lineHiddenBy(c.project) != "":
		c.Note(check, "take statusLine out of that file to see yours here", "installed, but not shown in this project: %q has a status line of its own", c.lineHiddenBy(c.project))
	case status == statusline.Ours:
		c.OK(check, "installed")
	case status == statusline.Broken:
		c.Bad(check, "ccreload statusline install", "your settings call it, but its script is gone")
	case status == statusline.Foreign:
		c.Note(check, "ccreload statusline install, which keeps it as the first part", "your settings have one of your own")
	default:
		c.Note(check, "ccreload statusline install", "not installed")
	}
}

// state looks at the state of the project, for each plugin that has any.
func (c *checkup) state() {
	const check = "project"
	some := false
	for _, p := range registry.Plugins() {
		dir := p.State(c.project)
		if dir.Kind("") == state.Absent {
			continue
		}
		some = true
		if err := dir.Check(); err != nil {
			c.Bad(check, "", "nothing can be kept: %v", err)
		} else if err := writable(dir.Path("")); err != nil {
			c.Bad(check, "make it writable for you", "%q cannot be written: %v", dir.Path(""), err)
		} else if at, err := c.at(p, c.project); err != nil {
			c.Error(check, err)
		} else {
			p.Check(at, &c.Findings)
			c.tracked(p.StateDir)
		}
	}
	if some {
		return
	}
	if err := writable(c.project); err != nil {
		c.Bad(check, "make it writable for you", "%q cannot be written: %v", c.project, err)
		return
	}
	c.OK(check, "%s: nothing is kept here yet", c.project)
}

// tracked looks for state that came with the repository (case F61).
func (c *checkup) tracked(dir string) {
	const check = "project"
	var names []string
	for _, name := range state.NewDir(filepath.Join(c.project, dir)).Names() {
		names = append(names, filepath.Join(dir, name))
	}
	tracked, err := git.Tracked(c.ctx, c.project, names...)
	switch {
	case err != nil:
		c.Note(check, "", "git does not tell whether it tracks %s, so nothing from there is handed on: %v", dir, err)
	case len(tracked) > 0:
		c.Bad(check, "git rm -r --cached "+dir, "git tracks %s: what comes with a repository is not trusted and not handed on", strings.Join(tracked, ", "))
	}
}

// options names the values of the plugins in use here that are set and count
// for nothing.
func (c *checkup) options() {
	const check = "options"
	var ignored []string
	for _, p := range registry.Plugins() {
		if p.State(c.project).Kind("") == state.Absent && !c.enabled(p.Name, c.project) {
			continue
		}
		of, err := c.app.options(p, c.project)
		if err != nil {
			c.Error(check, err)
			return
		}
		if of.Off() {
			c.Note(check, "ccreload config set --plugin "+p.Name+" "+options.EnabledKey+" on", "%s is switched off in this project", p.Name)
		}
		ignored = append(ignored, of.Unknown()...)
		for _, e := range of.Entries() {
			ignored = append(ignored, e.Ignored...)
		}
	}
	if len(ignored) > 0 {
		c.Bad(check, "ccreload config set KEY VALUE for the project, /plugin for your own", "not valid, and so ignored: %s", strings.Join(ignored, "; "))
		return
	}
	c.OK(check, "every value that is set is valid")
}

// fault is a line of the debug log.
type fault struct {
	Time   time.Time `json:"time"`
	Level  string    `json:"level"`
	Text   string    `json:"msg"`
	Plugin string    `json:"plugin"`
	Event  string    `json:"event"`
}

// logs reads the ends of the debug logs.
func (c *checkup) logs() {
	const check = "log"
	const most = 3 // faults that are shown
	var faults []fault
	var paths []string
	for _, dir := range c.ourDataDirs() {
		path := filepath.Join(dir, hook.LogName)
		if found := faultsIn(path); len(found) > 0 {
			faults, paths = append(faults, found...), append(paths, path)
		}
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return b.Time.Compare(a.Time) })
	seen := map[string]bool{}
	for _, f := range faults {
		says := f.Text
		if where := strings.TrimSpace(f.Plugin + " " + f.Event); where != "" {
			says = where + ": " + says
		}
		if seen[says] || len(seen) == most {
			continue
		}
		seen[says] = true
		at := f.Time.Local().Format(time.DateTime)
		if c.env.Now().Sub(f.Time) < recent {
			c.Bad(check, "if it goes on, report it with "+strings.Join(paths, ", "), "%s, %s", at, says)
		} else {
			c.Note(check, "", "%s, %s", at, says)
		}
	}
	if len(faults) == 0 {
		c.OK(check, "no errors")
	}
}

// faultsIn returns the faults at the end of a debug log.
func faultsIn(path string) []fault {
	const tail = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > tail {
		f.Seek(-tail, 2) // the first line is then cut, and skipped as unreadable
	}
	var buf bytes.Buffer
	buf.ReadFrom(f) // what has been read until an error counts
	var out []fault
	for line := range bytes.Lines(buf.Bytes()) {
		var row fault
		if json.Unmarshal(line, &row) == nil && row.Level == "error" {
			out = append(out, row)
		}
	}
	return out
}
