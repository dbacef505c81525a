//go:build acceptance

package fakeapi_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// alwaysOn is the most tokens the plugin may cost every session that has it,
// by the client's own estimate.
const alwaysOn = 100

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

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		path string
	}{
		"plugin":                        {[]string{"--strict"}, "marketplace/plugins/cc-reload"},
		"plugin for the directory":      {[]string{"--strict", "--profile", "directory"}, "marketplace/plugins/cc-reload"},
		"marketplace":                   {[]string{"--strict"}, "marketplace"},
		"marketplace of the repository": {[]string{"--strict"}, "."},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if len(c.args) > 1 {
				w.knows("--profile", "plugin", "validate")
			}
			args := append(append([]string{"plugin", "validate"}, c.args...), filepath.Join(setup.root, c.path))
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
	w.bundleRuntime(filepath.Join(dir, "marketplace", "plugins", "cc-reload", "bin"))
}

// bundleRuntime puts the runtime where the launcher looks for it first.
func (w *world) bundleRuntime(bin string) {
	w.Helper()
	binary, err := setup.runtime()
	w.check(err)
	data, err := os.ReadFile(binary)
	w.check(err)
	w.check(os.WriteFile(filepath.Join(bin, "ccreload-"+runtime.GOOS+"-"+runtime.GOARCH), data, 0o755))
}

// tokensAlwaysOn asks the client what the installed plugin costs, with the API
// out of reach so that it estimates by itself.
func (w *world) tokensAlwaysOn(plugin string) int {
	w.Helper()
	w.env["ANTHROPIC_BASE_URL"] = "http://127.0.0.1:9"
	defer delete(w.env, "ANTHROPIC_BASE_URL")
	out := w.must("plugin", "details", plugin)
	w.Logf("claude plugin details %s:\n%s", plugin, out)
	m := regexp.MustCompile(`(?i)always[- ]on[^0-9]*([0-9][0-9.,]*)(k?)`).FindStringSubmatch(out)
	if m == nil {
		w.Fatal("the client does not say what is always on")
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", ""), 64)
	w.check(err)
	if m[2] != "" {
		n *= 1000
	}
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

// From adding the marketplace to being gone again, with the bundled runtime.
func TestInstallFromAMarketplaceAndRemove(t *testing.T) {
	w := newWorld(t)
	market := filepath.Join(w.dir, "market")
	w.published(market)
	settings := w.read(filepath.Join(w.config, "settings.json"))
	w.must("plugin", "marketplace", "add", filepath.Join(market, "marketplace"))
	w.must("plugin", "install", "cc-reload@ccreload")
	if list := w.must("plugin", "list"); !strings.Contains(list, "cc-reload@ccreload") {
		t.Errorf("plugin list: %s", list)
	}
	if n := w.tokensAlwaysOn("cc-reload"); n > alwaysOn {
		t.Errorf("%d tokens are always on, at most %d may be", n, alwaysOn)
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
	if got := w.leftovers(filepath.Join(w.config, "plugins"), "cc-reload"); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
	if got := w.read(filepath.Join(w.config, "settings.json")); strings.Contains(got, "ccreload") || strings.Contains(got, "cc-reload") {
		t.Errorf("settings.json still names us:\n%s\nbefore:\n%s", got, settings)
	}
}

// The line of the README: from owner/repo, with an option. Git is told to take
// the repository from a directory, so nothing leaves this machine.
func TestOneLineInstallWithAnOption(t *testing.T) {
	w := newWorld(t)
	source := filepath.Join(w.dir, "repo")
	w.mkdir(source)
	w.published(source)
	config := gitConfig + "[url \"file://" + source + "\"]\n"
	for _, url := range []string{"https://github.com/ccreload/ccreload", "git@github.com:ccreload/ccreload", "ssh://git@github.com/ccreload/ccreload"} {
		config += "\tinsteadOf = " + url + ".git\n\tinsteadOf = " + url + "\n"
	}
	w.write(filepath.Join(w.home, ".gitconfig"), config)
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"commit", "-q", "-m", "release"}} {
		w.git(append([]string{"-C", source}, args...)...)
	}

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
	installed, err := filepath.Glob(filepath.Join(w.config, "plugins", "cache", "ccreload", "cc-reload", "*", "bin", "ccreload"))
	w.check(err)
	if len(installed) != 1 {
		t.Fatalf("launchers in the cache: %q", installed)
	}
	if fi, err := os.Stat(installed[0]); err != nil || fi.Mode()&0o111 == 0 {
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
	bundle := exec.Command("go", "run", "./cmd/ccreload-gen", "bundle", "--binaries", binaries, "--out", out)
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
}
