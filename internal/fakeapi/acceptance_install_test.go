//go:build acceptance

package fakeapi_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/fakeapi"
)

// alwaysOn is the most tokens each plugin may cost every session that has it,
// by the client's own estimate.
var alwaysOn = map[string]int{"cc-later": 80, "cc-reload": 100, "graceful-handoff": 20}

// knows skips the test unless the client's help for a command names the flag.
func (w *world) knows(flag string, command ...string) {
	w.Helper()
	if !w.hasFlag(flag, command...) {
		w.Skipf("client %s: `claude %s` does not know %s", setup.version, strings.Join(command, " "), flag)
	}
}

func (w *world) hasFlag(flag string, command ...string) bool {
	w.Helper()
	return strings.Contains(w.must(append(command, "--help")...), flag)
}

// The directory that plugins are submitted to refuses warnings too.
func TestValidate(t *testing.T) {
	type check struct {
		path string
		args []string
	}
	checks := []check{{path: "."}, {path: "marketplace"}}
	plugins, err := filepath.Glob(filepath.Join(setup.root, "marketplace", "plugins", "*"))
	if err != nil || len(plugins) == 0 {
		t.Fatalf("no plugins: %v", err)
	}
	for _, p := range plugins {
		checks = append(checks, check{filepath.Join("marketplace", "plugins", filepath.Base(p)), []string{"--profile", "directory"}})
	}
	for _, c := range checks {
		t.Run(filepath.Base(c.path), func(t *testing.T) {
			w := newWorld(t)
			// A client that has no directory profile does not know the
			// fields it asks for either, and warns about them.
			w.knows("--profile", "plugin", "validate")
			args := append([]string{"plugin", "validate", "--strict", filepath.Join(setup.root, c.path)}, c.args...)
			r := w.claude(args...)
			if r.code != 0 || regexp.MustCompile(`(?i)warning|error`).MatchString(r.out+r.err) {
				t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
			}
		})
	}
}

// published copies what users get from the repository to dir, and bundles the
// runtime for this machine with the plugin, as a release does.
func (w *world) published(dir string) {
	w.Helper()
	for _, part := range []string{"marketplace", ".claude-plugin"} {
		w.check(os.CopyFS(filepath.Join(dir, part), os.DirFS(filepath.Join(setup.root, part))))
	}
	bins, err := filepath.Glob(filepath.Join(dir, "marketplace", "plugins", "*", "bin"))
	w.check(err)
	for _, bin := range bins {
		w.bundleRuntime(bin)
	}
}

// bundleRuntime puts the runtime where the launcher looks for it first.
func (w *world) bundleRuntime(bin string) {
	w.Helper()
	binary, err := setup.runtime()
	w.check(err)
	data, err := os.ReadFile(binary)
	w.check(err)
	w.check(os.WriteFile(filepath.Join(bin, "ccreload-"+platform), data, 0o755))
}

// tokensAlwaysOn asks the client what the installed plugin costs, with the API
// out of reach so that it estimates by itself.
func (w *world) tokensAlwaysOn(plugin string) int {
	w.Helper()
	w.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
	defer delete(w.env, "ANTHROPIC_BASE_URL")
	out := w.must("plugin", "details", plugin)
	m := regexp.MustCompile(`(?i)always[- ]on[^0-9]*([0-9][0-9.,]*)(k?)`).FindStringSubmatch(out)
	if m == nil {
		w.Fatalf("the client does not say what is always on:\n%s", out)
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	w.check(err)
	if m[2] != "" {
		n *= 1000
	}
	w.Logf("%s: %g tokens always on", plugin, n)
	return int(n)
}

// leftovers returns the paths below dir that bear the plugin's name.
func (w *world) leftovers(dir, name string) []string {
	w.Helper()
	var found []string
	w.check(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.Contains(d.Name(), name) {
			found = append(found, path)
		}
		return nil
	}))
	return found
}

func TestTokensThatAreAlwaysOn(t *testing.T) {
	w := newInstalled(t)
	list, err := filepath.Glob(filepath.Join(setup.root, "marketplace", "plugins", "*"))
	w.check(err)
	for _, dir := range list {
		name := filepath.Base(dir)
		most, ok := alwaysOn[name]
		if !ok {
			t.Errorf("%s has no limit", name)
		}
		w.must("plugin", "install", name+"@ccreload") // once more for cc-reload, which is no error
		if n := w.tokensAlwaysOn(name); n > most {
			t.Errorf("%s: %d tokens are always on, at most %d may be", name, n, most)
		}
	}
}

// newInstalled is a world where cc-reload came from a marketplace on this
// machine, with its runtime bundled.
func newInstalled(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	market := filepath.Join(w.dir, "market")
	w.published(market)
	w.must("plugin", "marketplace", "add", filepath.Join(market, "marketplace"))
	w.must("plugin", "install", "cc-reload@ccreload")
	return w
}

// From adding the marketplace to being gone again.
func TestInstallFromAMarketplaceAndRemove(t *testing.T) {
	w := newInstalled(t)
	if list := w.must("plugin", "list"); !strings.Contains(list, "cc-reload@ccreload") {
		t.Errorf("plugin list: %s", list)
	}
	s := w.open()
	s.say("split the parser", fakeapi.Say("Split.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	s.exit()

	w.must("plugin", "uninstall", "cc-reload@ccreload")
	w.must("plugin", "marketplace", "remove", "ccreload")
	s = w.open()
	s.say("add tests", fakeapi.Say("Added.").At(81*percent))
	s.absent(`cc-reload: context`)
	s.exit()
	for _, path := range w.leftovers(w.config, "cc-reload") {
		if !w.orphaned(path) {
			t.Errorf("left behind: %s", path)
		}
	}
	if got := w.read(filepath.Join(w.config, "settings.json")); strings.Contains(got, "ccreload") || strings.Contains(got, "cc-reload") {
		t.Errorf("settings.json still names us:\n%s", got)
	}
}

// orphaned reports whether dir is the client's own cache of a plugin that it
// has marked for removal. It keeps that for a few days.
func (w *world) orphaned(dir string) bool {
	w.Helper()
	marks, err := filepath.Glob(filepath.Join(dir, "*", ".orphaned_at"))
	w.check(err)
	return len(marks) > 0 && strings.HasPrefix(dir, filepath.Join(w.config, "plugins", "cache"))
}

// The status line shows how full the context is, against the budget, beside
// what the user had there before; taking it away restores the settings.
func TestStatusLine(t *testing.T) {
	w := newInstalled(t)
	settings := filepath.Join(w.config, "settings.json")
	var all map[string]any
	w.check(json.Unmarshal([]byte(w.read(settings)), &all))
	all["statusLine"] = map[string]string{"type": "command", "command": "echo a line of my own"}
	before, err := json.MarshalIndent(all, "", "    ")
	w.check(err)
	w.write(settings, string(before))

	launcher := w.launchers()[0]
	if r := w.exec(launcher, "statusline", "install"); r.code != 0 {
		t.Fatalf("statusline install: exit %d\n%s%s", r.code, r.out, r.err)
	}
	s := w.open()
	s.say("read a little", fakeapi.Say("Read.").At(7*percent))
	s.see(`a line of my own.*ctx\[1M\] 7% ?· ?45`)
	s.say("read a lot", fakeapi.Say("Read.").At(46*percent))
	s.see(`ctx\[1M\] 46% ?· ?45`)
	s.exit()
	if r := w.exec(launcher, "statusline", "uninstall"); r.code != 0 {
		t.Fatalf("statusline uninstall: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if after := w.read(settings); after != string(before) {
		t.Errorf("settings.json is not as before:\n%s\nwant\n%s", after, before)
	}
	if exists(filepath.Join(w.config, "ccreload")) {
		t.Errorf("left behind: %q", w.leftovers(w.config, "ccreload"))
	}
}

// launchers are the copies of bin/ccreload in the client's plugin cache.
func (w *world) launchers() []string {
	w.Helper()
	found, err := filepath.Glob(filepath.Join(w.config, "plugins", "cache", "ccreload", "cc-reload", "*", "bin", "ccreload"))
	w.check(err)
	if len(found) != 1 {
		w.Fatalf("launchers in the cache: %q", found)
	}
	return found
}

// hosted makes a repository of the directory source, and has git find it when
// it is asked for slug, OWNER/REPO: nothing leaves this machine.
func (w *world) hosted(slug, source string) {
	w.Helper()
	config := gitConfig + "[url \"file://" + source + "\"]\n"
	for _, url := range []string{"https://github.com/", "git@github.com:", "ssh://git@github.com/"} {
		config += "\tinsteadOf = " + url + slug + ".git\n\tinsteadOf = " + url + slug + "\n"
	}
	w.write(filepath.Join(w.home, ".gitconfig"), config)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "release"}} {
		w.git(append([]string{"-C", source}, args...)...)
	}
}

// Every step of a fork's FORK.md, without Go from the second on: the manifest
// made one's own, generated, checked, tried, and published for others, who get the
// runtime from our release.
func TestFork(t *testing.T) {
	w := newWorld(t)
	generator, source := filepath.Join(w.dir, "ccreload-gen"), filepath.Join(w.dir, "fork")
	binary, err := setup.runtime()
	w.check(err)
	// As a release is built: the sums are recorded first.
	sums, overlay := filepath.Join(w.dir, "checksums.txt"), filepath.Join(w.dir, "overlay.json")
	w.write(sums, sumLine(w, binary, "ccreload-"+platform))
	w.write(overlay, `{"Replace":{"`+filepath.Join(setup.root, "gen", "checksums.txt")+`":"`+sums+`"}}`)
	build := exec.Command("go", "build", "-overlay", overlay, "-o", generator, "./cmd/ccreload-gen")
	build.Dir = setup.root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	gen := func(args ...string) {
		t.Helper()
		if r := w.exec(generator, args...); r.code != 0 {
			t.Fatalf("ccreload-gen %q: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
	}
	gen("init", source)
	manifest := filepath.Join(source, "gen", "manifest.yaml")
	text := w.read(manifest)
	for old, its := range map[string]string{
		"\nrepository: https://github.com/ccreload/ccreload\n": "\nrepository: https://github.com/someone/tools\n",
		"\nversion: 0.1.0\n":                   "\nversion: 7.0.0\n",
		"author: ccreload authors":             "author: Someone",
		"marketplace:\n  name: ccreload":       "marketplace:\n  name: tools",
		`default: "45"`:                        `default: "30"`,
		"    icon: icon.png\n":                 "",
		"  - darwin/amd64\n  - darwin/arm64\n": "",
	} {
		if !strings.Contains(text, old) {
			t.Fatalf("the manifest has no %q", old)
		}
		text = strings.ReplaceAll(text, old, its)
	}
	w.write(manifest, text)
	gen("generate", source)
	gen("check", source)

	if w.hasFlag("--profile", "plugin", "validate") {
		for _, plugin := range []string{"cc-reload", "graceful-handoff"} {
			w.must("plugin", "validate", "--strict", filepath.Join(source, "marketplace", "plugins", plugin), "--profile", "directory")
		}
	}
	w.env["CCRELOAD_BIN"] = binary
	nudged := func() {
		t.Helper()
		s := w.open()
		s.say("read a little", fakeapi.Say("Read.").At(29*percent))
		s.say("split the parser", fakeapi.Say("Split.").At(31*percent))
		s.see(`cc-reload: context 31 ?% full.*budget 30 ?%`)
		s.absent(`cc-reload: context 29`)
		s.exit()
	}
	w.flags = []string{"--plugin-dir", filepath.Join(source, "marketplace", "plugins", "cc-reload")}
	nudged()

	// The two lines of the plugin's README, which every client knows.
	w.flags = nil
	w.hosted("someone/tools", source)
	w.must("plugin", "marketplace", "add", "someone/tools")
	w.must("plugin", "install", "cc-reload@tools")
	delete(w.env, "CCRELOAD_BIN")
	asset := ourReleases + "v" + ccreload.Version() + "/ccreload-" + platform
	web := w.secure()
	web.put(asset, binary)
	nudged()
	nudged()
	if n := web.requests(asset); n != 1 {
		t.Errorf("the runtime was asked for %d times", n)
	}
}

// The line of the README: from owner/repo, with an option.
func TestOneLineInstallWithAnOption(t *testing.T) {
	w := newWorld(t)
	source := filepath.Join(w.dir, "repo")
	w.mkdir(source)
	w.published(source)
	w.hosted("ccreload/ccreload", source)
	option := "context_budget_pct=30"
	if w.hasFlag("--marketplace", "plugin", "install") {
		out := w.must("plugin", "install", "cc-reload", "--marketplace", "ccreload/ccreload", "--json", "--config", option)
		var answer map[string]any
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Errorf("the answer is no JSON: %v\n%s", err, out)
		}
	} else { // older clients need two lines
		w.must("plugin", "marketplace", "add", "ccreload/ccreload")
		w.must("plugin", "install", "cc-reload@ccreload", "--config", option)
	}
	if fi, err := os.Stat(w.launchers()[0]); err != nil || fi.Mode()&0o111 == 0 {
		t.Errorf("the launcher lost its exec bits: %v %v", fi, err)
	}
	s := w.open()
	s.say("read a little", fakeapi.Say("Read.").At(29*percent))
	s.say("split the parser", fakeapi.Say("Split.").At(31*percent))
	s.see(`cc-reload: context 31 ?% full.*budget 30 ?%`)
	s.absent(`cc-reload: context 29`)
}

// The release's zip for a trial without installing anything.
func TestBundleZip(t *testing.T) {
	w := newWorld(t)
	binaries, out := filepath.Join(w.dir, "binaries"), filepath.Join(w.dir, "bundles")
	w.mkdir(binaries)
	binary, err := setup.runtime()
	w.check(err)
	data, err := os.ReadFile(binary)
	w.check(err)
	// Only this machine's runtime is started, so it stands in for all.
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := "ccreload-" + system + "-" + arch
			if system == "windows" {
				name += ".exe"
			}
			w.check(os.WriteFile(filepath.Join(binaries, name), data, 0o755))
		}
	}
	bundle := exec.Command("go", "run", "./cmd/ccreload-gen", "bundle", "--binaries", binaries, "--out", out, "--dry-run")
	bundle.Dir = setup.root
	if text, err := bundle.CombinedOutput(); err != nil {
		t.Fatalf("ccreload-gen bundle: %v\n%s", err, text)
	}
	zips, err := filepath.Glob(filepath.Join(out, "cc-reload-*.zip"))
	w.check(err)
	if len(zips) != 1 {
		t.Fatalf("bundles: %q", zips)
	}
	w.flags = []string{"--plugin-dir", zips[0]}
	s := w.open()
	s.say("split the parser", fakeapi.Say("Split.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	s.exit()

	// And for a network without a way out, as docs/companies.md says.
	if _, err := exec.LookPath("unzip"); err != nil {
		t.Skip(err)
	}
	w.flags = nil
	programs := filepath.Join(w.dir, "programs")
	w.mkdir(programs)
	w.check(os.Symlink(setup.client, filepath.Join(programs, "claude")))
	w.check(os.Symlink(zips[0], filepath.Join(w.project, filepath.Base(zips[0]))))
	w.env["PATH"] = programs + ":" + os.Getenv("PATH")
	if r := w.exec("/bin/sh", "-ec", w.shown("companies.md", "catalogue/.claude-plugin")); r.code != 0 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	s = w.open()
	s.say("join the parser", fakeapi.Say("Joined.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
}
