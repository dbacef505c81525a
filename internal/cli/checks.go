package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/proc"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/statusline"
)

const (
	binVar = "CCRELOAD_BIN" // a runtime that goes before all others

	versionTimeout = 10 * time.Second // for another program to name its version
	askGrace       = 100 * time.Millisecond

	// recent is how long a fault in the debug log counts as a problem.
	recent = 24 * time.Hour
)

// examine runs every check, in the order in which things depend on each other.
func (a *app) examine(ctx context.Context) ([]finding, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	project, err := a.project()
	if err != nil {
		return nil, err
	}
	list := a.installedPlugins()
	var all []finding
	add := func(f ...finding) { all = append(all, f...) }
	add(a.checkSwitches(project)...)
	add(a.checkClient(ctx))
	if len(list) == 0 {
		add(plugin.Problem("plugins", "in Claude Code: /plugin install cc-reload --marketplace ccreload/ccreload",
			"no plugin of ours is installed for this user, so no hook runs"))
	}
	for _, p := range list {
		add(a.checkPlugin(p, project)...)
		add(checkFiles(p)...)
		add(a.checkRuntime(ctx, p))
		add(checkData(p))
	}
	if path := a.env.Getenv(binVar); path != "" && !runnable(path) {
		add(plugin.Problem("runtime", "set "+binVar+" to an executable file, or unset it",
			"%s names %s, which cannot be run", binVar, path))
	}
	add(a.checkLine())
	add(a.checkProject(ctx, list, project)...)
	add(a.checkLogs()...)
	return all, nil
}

// checkSwitches looks for what keeps every hook quiet.
func (a *app) checkSwitches(project string) []finding {
	var out []finding
	for _, name := range []string{hook.OffVar, hook.ChildVar} {
		if a.env.Getenv(name) != "" {
			out = append(out, plugin.Problem("hooks", "unset "+name, "%s is set, so every hook is silent", name))
		}
	}
	for _, path := range a.settingsFiles(project) {
		s, err := readSettings(path)
		switch {
		case err != nil:
			out = append(out, plugin.Problem("settings", "correct the file", "%s cannot be read: %v", path, err))
		case s.NoHooks:
			out = append(out, plugin.Problem("hooks", "take disableAllHooks out of the file", "%s switches the hooks of every plugin off", path))
		}
	}
	if len(out) == 0 {
		out = append(out, plugin.OK("hooks", "nothing switches them off"))
	}
	return out
}

// checkClient holds the host's version against the oldest we ask for.
func (a *app) checkClient(ctx context.Context) finding {
	const check = "client"
	path := a.host.Executable
	if path == "" {
		var err error
		if path, err = exec.LookPath("claude"); err != nil {
			return plugin.Note(check, "", "claude is not on PATH, so its version is not known")
		}
	}
	out, err := a.ask(ctx, exec.Command(path, "--version"))
	version, _, _ := strings.Cut(out, " ")
	if err != nil || !host.AtLeast(version, "0") {
		return plugin.Note(check, "", "%s does not tell its version", path)
	}
	minimum := ""
	for _, name := range pluginNames() {
		if p, err := a.profile(name); err == nil && !host.AtLeast(minimum, p.MinHostVersion) {
			minimum = p.MinHostVersion
		}
	}
	if minimum != "" && !host.AtLeast(version, minimum) {
		return plugin.Problem(check, "claude update", "Claude Code is %s; the plugins are made for %s or newer", version, minimum)
	}
	return plugin.OK(check, "Claude Code %s", version)
}

// ask runs another program and returns the first line it writes.
func (a *app) ask(ctx context.Context, cmd *exec.Cmd) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
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

// checkPlugin holds what is installed against the manifest it was made from
// and the one its marketplace has by now.
func (a *app) checkPlugin(p installed, project string) []finding {
	check := p.Name
	where := p.ID
	if where == "" {
		where = "from " + p.Root
	}
	var out []finding
	if p.ID != "" && !a.enabled(p.Name, project) {
		out = append(out, plugin.Note(check, "claude plugin enable "+p.ID, "installed (%s) and switched off", where))
	}
	if v := versionIn(filepath.Join(p.Root, ".claude-plugin", "plugin.json")); v != p.Version {
		out = append(out, plugin.Problem(check, reinstall(p), "plugin.json says %q and ccreload.json %q: files of two versions are mixed in %s", v, p.Version, p.Root))
	}
	if v := a.offered(p); v != "" && v != p.Version && host.AtLeast(v, p.Version) {
		out = append(out, plugin.Note(check, "claude plugin update "+p.ID, "version %s is installed and %s is there", p.Version, v))
	}
	if len(out) == 0 {
		out = append(out, plugin.OK(check, "version %s, %s", p.Version, where))
	}
	return out
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
	data, err := os.ReadFile(filepath.Join(a.host.Config, "plugins", "known_marketplaces.json"))
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

// checkFiles looks for a tree whose programs cannot be started (case F08).
func checkFiles(p installed) []finding {
	if runtime.GOOS == "windows" {
		return nil
	}
	const check = "files"
	bin := filepath.Join(p.Root, "bin")
	if noexec(bin) {
		return []finding{plugin.Problem(check, "move the client's configuration ("+host.ConfigVar+") to a file system that runs programs",
			"%s is on a file system mounted noexec, so no hook can start", bin)}
	}
	entries, err := os.ReadDir(bin)
	if err != nil {
		return []finding{plugin.Problem(check, reinstall(p), "the plugin's programs are missing: %v", err)}
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
		return []finding{plugin.Problem(check, "chmod +x "+quoteAll(locked), "%s may not be executed", strings.Join(locked, ", "))}
	}
	return []finding{plugin.OK(check, "the programs in %s can be started", bin)}
}

// quoteAll writes paths for a shell.
func quoteAll(paths []string) string {
	quoted := make([]string, len(paths))
	for i, p := range paths {
		quoted[i] = "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
	}
	return strings.Join(quoted, " ")
}

// checkRuntime starts the plugin's launcher, to see which runtime it finds.
func (a *app) checkRuntime(ctx context.Context, p installed) finding {
	const check = "runtime"
	launcher := filepath.Join(p.Root, "bin", "ccreload")
	cmd := exec.Command("/bin/sh", launcher, "version", "--path")
	if runtime.GOOS == "windows" {
		cmd = exec.Command(launcher+".exe", "version", "--path")
	}
	cmd.Env = append(os.Environ(), host.Host{Root: p.Root, Data: p.Data}.Vars()...)
	said, err := a.ask(ctx, cmd)
	if err != nil {
		return plugin.Problem(check, "start a session, which fetches the runtime once; without a network set "+binVar+" to one from the releases page",
			"%s finds no runtime, so its hooks do nothing: %v", p.Name, err)
	}
	version, path, _ := strings.Cut(said, " ")
	why := whyRuns(path, a.env.Getenv(binVar), p)
	if version != p.Version && version != "devel" {
		return plugin.Note(check, "", "%s runs %s, version %s, while the plugin is %s: %s", p.Name, path, version, p.Version, why)
	}
	return plugin.OK(check, "%s runs %s, version %s: %s", p.Name, path, version, why)
}

// whyRuns says how the launcher came to the runtime at path.
func whyRuns(path, fromEnv string, p installed) string {
	switch {
	case fromEnv != "" && sameFile(path, fromEnv):
		return binVar + " names it"
	case below(path, p.Root):
		return "it came with the plugin"
	case p.Data != "" && below(path, p.Data):
		return "it was fetched for this version of the plugin"
	}
	return "it was fetched for another installation of the plugin"
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// below reports whether path is inside dir, links resolved.
func below(path, dir string) bool {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// checkData looks at the directory in which the plugin keeps its log and the
// runtime it has fetched.
func checkData(p installed) finding {
	const check = "data"
	if p.Data == "" {
		return plugin.Note(check, "", "the host has named no data directory for %s", p.Name)
	}
	if err := writable(p.Data); errors.Is(err, fs.ErrNotExist) {
		return plugin.OK(check, "%s does not exist yet; the first session makes it", p.Data)
	} else if err != nil {
		return plugin.Problem(check, "make it writable for you", "%s cannot be written: %v", p.Data, err)
	}
	return plugin.OK(check, "%s is writable", p.Data)
}

// checkLine looks at the status line.
func (a *app) checkLine() finding {
	const check = "status line"
	status, err := a.place().Status()
	switch {
	case err != nil:
		return plugin.Problem(check, "", "%v", err)
	case status == statusline.Ours:
		return plugin.OK(check, "installed")
	case status == statusline.Broken:
		return plugin.Problem(check, "ccreload statusline install", "your settings call it and its script is gone")
	case status == statusline.Foreign:
		return plugin.Note(check, "ccreload statusline install, which keeps it as the first part", "your settings have one of your own")
	}
	return plugin.Note(check, "ccreload statusline install", "not installed")
}

// checkProject looks at the settings in force and the state of the project, for
// each plugin that runs here or has.
func (a *app) checkProject(ctx context.Context, list []installed, project string) []finding {
	const check = "project"
	var used, kept []*plugin.Plugin
	for _, p := range plugins() {
		if p.State(project).Kind("") != state.Absent {
			kept = append(kept, p)
		} else if !a.enabled(p.Name, project) {
			continue
		}
		used = append(used, p)
	}
	out := []finding{a.checkOptions(used, list, project)}
	if len(kept) == 0 {
		if err := writable(project); err != nil {
			return append(out, plugin.Problem(check, "make it writable for you", "%s cannot be written: %v", project, err))
		}
		return append(out, plugin.OK(check, "%s: nothing is kept here yet", project))
	}
	for _, p := range kept {
		path := p.State(project).Path("")
		if err := p.State(project).Check(); err != nil {
			out = append(out, plugin.Problem(check, "", "nothing is kept: %v", err))
			continue
		}
		if err := writable(path); err != nil {
			out = append(out, plugin.Problem(check, "make it writable for you", "%s cannot be written: %v", path, err))
			continue
		}
		at, err := a.at(p, project)
		if err != nil {
			out = append(out, plugin.Problem(check, "", "%v", err))
			continue
		}
		out = append(out, p.Check(at)...)
		out = append(out, checkTracked(ctx, project, p.StateDir)...)
	}
	return out
}

// checkTracked looks for state that came with the repository (case F61).
func checkTracked(ctx context.Context, project, dir string) []finding {
	const check = "project"
	var names []string
	for _, name := range state.NewDir(filepath.Join(project, dir)).Names() {
		names = append(names, filepath.Join(dir, name))
	}
	tracked, err := git.Tracked(ctx, project, names...)
	switch {
	case err != nil:
		return []finding{plugin.Note(check, "", "git does not tell whether it tracks %s, so nothing from there is handed on: %v", dir, err)}
	case len(tracked) > 0:
		return []finding{plugin.Problem(check, "git rm -r --cached "+dir,
			"git tracks %s: what comes with a repository is not trusted and not handed on", strings.Join(tracked, ", "))}
	}
	return nil
}

// checkOptions names the values of the plugins that are set and count for
// nothing.
func (a *app) checkOptions(used []*plugin.Plugin, list []installed, project string) finding {
	const check = "options"
	var ignored []string
	for _, p := range used {
		of, err := a.options(p, project)
		if err != nil {
			return plugin.Problem(check, "", "%v", err)
		}
		set, user := a.userOptions(of.Profile, list, project), of.User
		of.User = func(key string) string { return cmp.Or(a.host.Option(key), set[key], user.Get(key)) }
		for _, e := range of.Entries() {
			ignored = append(ignored, e.Ignored...)
		}
	}
	if len(ignored) > 0 {
		return plugin.Problem(check, "ccreload config set KEY VALUE for the project, /plugin for your own",
			"not valid, and so ignored: %s", strings.Join(ignored, "; "))
	}
	return plugin.OK(check, "every value that is set is valid")
}

// userOptions returns what the user has set for the plugin in the host's
// settings, by key.
func (a *app) userOptions(profile host.Profile, list []installed, project string) map[string]string {
	set := map[string]string{}
	files := a.settingsFiles(project)
	slices.Reverse(files) // the nearest last, so that it wins
	for _, path := range files {
		s, err := readSettings(path)
		if err != nil {
			continue
		}
		for _, p := range list {
			for _, o := range profile.Options {
				if v, ok := s.Plugins[p.ID].Options[o.Key]; ok && p.Name == profile.Plugin {
					set[o.Key] = fmt.Sprint(v)
				}
			}
		}
	}
	return set
}

// fault is a line of the debug log.
type fault struct {
	Time   time.Time `json:"time"`
	Level  string    `json:"level"`
	Text   string    `json:"msg"`
	Plugin string    `json:"plugin"`
	Event  string    `json:"event"`
}

// checkLogs reads the ends of the debug logs.
func (a *app) checkLogs() []finding {
	const check = "log"
	const most = 3 // faults that are shown
	var faults []fault
	var paths []string
	for _, dir := range a.ourDataDirs() {
		path := filepath.Join(dir, hook.LogName)
		if found := faultsIn(path); len(found) > 0 {
			faults, paths = append(faults, found...), append(paths, path)
		}
	}
	slices.SortStableFunc(faults, func(a, b fault) int { return b.Time.Compare(a.Time) })
	var out []finding
	seen := map[string]bool{}
	for _, f := range faults {
		where := strings.TrimSpace(f.Plugin + " " + f.Event)
		if seen[where+f.Text] || len(out) == most {
			continue
		}
		seen[where+f.Text] = true
		says := fmt.Sprintf("%s, %s: %s", f.Time.Local().Format(time.DateTime), where, f.Text)
		if where == "" {
			says = fmt.Sprintf("%s: %s", f.Time.Local().Format(time.DateTime), f.Text)
		}
		if a.env.Now().Sub(f.Time) < recent {
			out = append(out, plugin.Problem(check, "if it goes on, report it with "+strings.Join(paths, ", "), "%s", says))
		} else {
			out = append(out, plugin.Note(check, "", "%s", says))
		}
	}
	if len(out) == 0 {
		out = append(out, plugin.OK(check, "no faults"))
	}
	return out
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
