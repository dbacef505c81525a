//go:build acceptance

package fakeapi_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/fakeapi"
)

// upstream is our repository on github.com with the releases that belong to it.
type upstream struct {
	w    *world
	dir  string
	site *site
}

func newUpstream(w *world) *upstream {
	w.Helper()
	u := &upstream{w, filepath.Join(w.dir, "upstream"), w.secure()}
	w.mkdir(u.dir)
	u.release(ccreload.Version())
	w.hosted("ccreload/ccreload", u.dir)
	return u
}

// asset is the address of the runtime of a version.
func (u *upstream) asset(version string) string {
	return ourReleases + "v" + version + "/ccreload-" + platform
}

// release writes the tree of a version, its runtime and the sum of that.
func (u *upstream) release(version string) {
	w := u.w
	w.Helper()
	binary, err := setup.runtime()
	w.check(err)
	data, err := os.ReadFile(binary)
	w.check(err)
	program := filepath.Join(w.dir, "ccreload "+version)
	// What follows the program's end makes it another file, and does nothing.
	w.check(os.WriteFile(program, append(data, version...), 0o755))
	u.site.put(u.asset(version), program)
	for _, part := range []string{"marketplace", ".claude-plugin"} {
		from, to := filepath.Join(setup.root, part), filepath.Join(u.dir, part)
		w.check(os.RemoveAll(to))
		w.check(os.CopyFS(to, os.DirFS(from)))
		w.check(filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, bytes.ReplaceAll(text, []byte(ccreload.Version()), []byte(version)), 0o644) // the mode stays
		}))
	}
	bins, err := filepath.Glob(filepath.Join(u.dir, "marketplace", "plugins", "*", "bin"))
	w.check(err)
	for _, bin := range bins {
		w.write(filepath.Join(bin, "checksums.txt"), sumLine(w, program, "ccreload-"+platform))
	}
}

// update releases a version and has the client take it, as a person does.
func (u *upstream) update(version string) {
	w := u.w
	w.Helper()
	u.release(version)
	w.git("-C", u.dir, "add", "-A")
	w.git("-C", u.dir, "commit", "-q", "-m", version)
	w.must("plugin", "marketplace", "update", "ccreload")
	w.must("plugin", "update", "cc-reload@ccreload")
	if !exists(filepath.Join(w.config, "plugins", "cache", "ccreload", "cc-reload", version)) {
		w.Fatalf("the client did not take %s", version)
	}
}

// runtimes are the versions in the plugin's data directory.
func (u *upstream) runtimes() []string {
	w := u.w
	w.Helper()
	found, err := filepath.Glob(filepath.Join(w.config, "plugins", "data", "cc-reload-ccreload", "bin", "ccreload-*"))
	w.check(err)
	for i, path := range found {
		found[i] = strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "ccreload-"), "-"+platform)
	}
	return found
}

// reload has an open session take what was installed since.
func (s *screen) reload() {
	s.w.Helper()
	before := len(s.all(`(Reloaded)`))
	s.submit("/reload-plugins")
	s.w.until("the plugins to be reloaded", func() bool { return len(s.all(`(Reloaded)`)) > before })
}

// From git, through a company's proxy: the first session fetches the runtime, no
// other does. Then updates and downgrades with a session open, with and without a
// network: whenever it is over the budget it says so, and of the runtimes two stay.
func TestGitCatalogueAndUpdates(t *testing.T) {
	w := newWorld(t)
	u := newUpstream(w)
	version := ccreload.Version()
	w.must("plugin", "marketplace", "add", "ccreload/ccreload")
	w.must("plugin", "install", "cc-reload@ccreload")
	s := w.open()
	s.say("split the parser", fakeapi.Say("Split.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	s.exit()
	s = w.open()
	s.say("name its parts", fakeapi.Say("Named.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	if n := u.site.requests(u.asset(version)); n != 1 {
		t.Errorf("two sessions asked for the runtime %d times", n)
	}

	u.site.unplugged(true)
	u.update("7.0.1")
	s.say("test it", fakeapi.Say("Tested.").At(57*percent)) // the session has not noticed yet
	s.see(`cc-reload: context 57 ?%`)
	s.reload()
	s.say("tidy it", fakeapi.Say("Tidied.").At(68*percent))
	s.see(`cc-reload goes on with ccreload ` + version + ` until 7\.0\.1 is here`)
	s.see(`cc-reload: context 68 ?%`)
	u.update("0.0.9") // a downgrade
	s.say("document it", fakeapi.Say("Documented.").At(79*percent))
	s.see(`cc-reload: context 79 ?%`)
	s.reload()
	s.say("release it", fakeapi.Say("Released.").At(90*percent))
	s.see(`cc-reload: context 90 ?%`)
	if got := u.runtimes(); !slices.Equal(got, []string{version}) {
		t.Errorf("without a network it has the runtimes %q", got)
	}

	u.site.unplugged(false)
	versions := []string{"7.0.2", "7.0.3", "7.0.4"}
	for i, v := range versions {
		u.update(v)
		s.reload()
		s.say("try "+v, fakeapi.Say("Tried.").At(10*percent))
		// The prompt has begun to fetch it, beside the turn.
		w.until("the runtime "+v, func() bool { return slices.Contains(u.runtimes(), v) })
		before := version
		if i > 0 {
			before = versions[i-1]
		}
		w.until("the older ones to go", func() bool { return slices.Equal(u.runtimes(), []string{before, v}) })
	}
	s.say("look again", fakeapi.Say("Looked.").At(95*percent))
	s.see(`cc-reload: context 95 ?%`)
	s.absent("reported a problem|hook error|its hooks do nothing")
	s.exit()
	for _, v := range versions {
		if n := u.site.requests(u.asset(v)); n != 1 {
			t.Errorf("%s was asked for %d times", v, n)
		}
	}
}
