//go:build acceptance

package fakeapi_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/fakeapi"
	"github.com/ccreload/ccreload/internal/host"
)

// sumLine is the line of a program in checksums.txt.
func sumLine(w *world, path, name string) string {
	w.Helper()
	data, err := os.ReadFile(path)
	w.check(err)
	return fmt.Sprintf("%x  %s\n", sha256.Sum256(data), name)
}

// released publishes a program as an asset of a release on this machine, from
// which the launcher is told to download, and counts the requests.
func (w *world) released(variable, tag, program, asset string) *atomic.Int32 {
	w.Helper()
	asked := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/"+tag+"/"+asset {
			http.NotFound(rw, r)
			return
		}
		http.ServeFile(rw, r, program)
	}))
	w.Cleanup(server.Close)
	w.env[variable] = server.URL
	return asked
}

// hookProgram is what an author writes beside the manifest: any program.
const hookProgram = `package main

import (
	"io"
	"os"
	"strings"
)

func main() {
	payload, err := io.ReadAll(os.Stdin)
	switch {
	case err != nil || len(os.Args) < 4:
	case os.Args[3] == "SessionStart":
		os.WriteFile(os.Getenv("CLAUDE_PLUGIN_DATA")+"/started", []byte(os.Args[2]), 0o644)
	case os.Args[3] == "Stop" && !strings.Contains(string(payload), "\"stop_hook_active\":true"):
		os.Stdout.WriteString("{\"hookSpecificOutput\":{\"hookEventName\":\"Stop\",\"additionalContext\":\"one more thing\"}}")
	}
}
`

const hookManifest = `name: watcher
repository: https://github.com/someone/watcher
platforms: [linux/amd64, linux/arm64, darwin/amd64, darwin/arm64, windows/amd64, windows/arm64]
marketplace: {name: watcher, owner: {name: Someone}}
plugins:
  - name: watch
    version: 1.2.0
    description: Says one more thing.
    runtime: {name: watch-hook}
    hooks:
      - {event: SessionStart, timeout: 60}
      - {event: Stop, timeout: 10}
`

// A plugin of somebody else's program, written as a manifest and the program:
// bundled for six platforms, installed, fetched from a release by the first
// session and no other, and its Stop hook continues a turn.
func TestOwnProgramFromARelease(t *testing.T) {
	w := newWorld(t)
	needs(t, "2.1.163", "a Stop hook that continues a turn")
	source, builds := filepath.Join(w.dir, "watcher"), filepath.Join(w.dir, "builds")
	w.write(filepath.Join(w.dir, "src", "main.go"), hookProgram)
	w.write(filepath.Join(w.dir, "src", "go.mod"), "module watch\n\ngo 1.22\n")
	for _, system := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			name := "watch-hook-" + system + "-" + arch
			if system == "windows" {
				name += ".exe"
			}
			build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(builds, name), ".")
			build.Dir = filepath.Join(w.dir, "src")
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch, "GOFLAGS=")
			if text, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build for %s/%s: %v\n%s", system, arch, err, text)
			}
		}
	}
	generator := filepath.Join(w.dir, "ccreload-gen")
	build := exec.Command("go", "build", "-o", generator, "./cmd/ccreload-gen")
	build.Dir = setup.root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, text)
	}
	gen := func(args ...string) string {
		t.Helper()
		r := w.exec(generator, args...)
		if r.code != 0 {
			t.Fatalf("ccreload-gen %q: exit %d\n%s%s", args, r.code, r.out, r.err)
		}
		return r.out + r.err
	}
	gen("init", "--bare", source)
	w.check(os.RemoveAll(filepath.Join(source, "gen", "content")))
	w.write(filepath.Join(source, "gen", "manifest.yaml"), hookManifest)
	if said := gen("bundle", "-C", source, "--binaries", builds, "--out", filepath.Join(w.dir, "zips")); strings.Contains(said, "warning") {
		t.Errorf("bundle says %s", said)
	}
	gen("check", source)
	w.must("plugin", "validate", filepath.Join(source, "marketplace", "plugins", "watch"))

	w.hosted("someone/watcher", source)
	asset := "watch-hook-" + platform
	asked := w.released("WATCH_HOOK_DOWNLOAD_BASE", "v1.2.0", filepath.Join(builds, asset), asset)
	w.must("plugin", "marketplace", "add", "someone/watcher")
	w.must("plugin", "install", "watch@watcher")
	for session := range 2 {
		s := w.open()
		s.say("begin", fakeapi.Say("Continued.").For(func(r fakeapi.Request) bool {
			return strings.Contains(r.Latest(), "one more thing")
		}), fakeapi.Say("Begun."))
		s.see("Continued")
		s.absent("reported a problem|watch is installed, but")
		s.exit()
		if n := asked.Load(); n != 1 {
			t.Errorf("after session %d: %d requests", session+1, n)
		}
	}
	if got := w.read(filepath.Join(w.config, "plugins", "data", "watch-watcher", "started")); got != "watch" {
		t.Errorf("its SessionStart has left %q", got)
	}
}

// program builds ccreload with another file compiled in at path, "" for none.
func (w *world) program(to, path, text string) {
	w.Helper()
	args := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", to}
	if path != "" {
		file, overlay := filepath.Join(w.dir, "compiled-in"), filepath.Join(w.dir, "overlay.json")
		w.write(file, text)
		w.write(overlay, `{"Replace":{"`+filepath.Join(setup.root, path)+`":"`+file+`"}}`)
		args = append(args, "-overlay", overlay)
	}
	build := exec.Command("go", append(args, "./cmd/ccreload")...)
	build.Dir, build.Env = setup.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		w.Fatalf("go build: %v\n%s", err, out)
	}
}

// The plugin comes from the program that is installed. When that is replaced, the
// sessions after the next one have the new hooks, and uninstall leaves nothing.
func TestInstalledProgramServesItsPlugin(t *testing.T) {
	w := newWorld(t)
	program := filepath.Join(w.dir, "usr bin", "ccreload")
	binary, err := setup.runtime()
	w.check(err)
	w.mkdir(filepath.Dir(program))
	install := func(from string) { // as a package manager does
		t.Helper()
		data, err := os.ReadFile(from)
		w.check(err)
		w.check(os.WriteFile(program+".new", data, 0o755))
		w.check(os.Rename(program+".new", program))
	}
	install(binary)
	w.env["PATH"] = filepath.Dir(program) + ":" + filepath.Dir(setup.client) + ":" + os.Getenv("PATH")
	if !w.hasFlag("--accept-command", "plugin", "install") {
		r := w.exec(program, "setup", "--yes")
		if r.code != 2 || !strings.Contains(r.err, "does not know plugins that come from a command") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
		}
		// Whoever types what setup prints reads the client's own word.
		w.must("plugin", "marketplace", "add", filepath.Join(w.home, ".local", "share", "ccreload", "marketplace"))
		if r := w.claude("plugin", "install", "cc-reload@ccreload-installed"); r.code == 0 || !strings.Contains(r.out+r.err, "Update Claude Code") {
			t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
		}
		return
	}
	// Without being told, the client asks a command nothing.
	w.env["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"] = ""
	for range 2 { // it may be said again
		if r := w.exec(program, "setup", "--yes"); r.code != 0 {
			t.Fatalf("setup: exit %d\n%s%s", r.code, r.out, r.err)
		}
	}
	nudged := func(percents ...int) {
		t.Helper()
		s := w.open()
		for _, at := range []int{31, 46} {
			s.say(fmt.Sprintf("step %d", at), fakeapi.Say("Done.").At(at*percent))
			if pattern := fmt.Sprintf(`cc-reload: context %d ?%%`, at); at == 46 || len(percents) > 1 {
				s.see(pattern)
			} else {
				s.absent(pattern)
			}
		}
		s.exit()
	}
	nudged(46)

	// The next release of the program has a lower budget.
	profile := filepath.Join("marketplace", "plugins", "cc-reload", "ccreload.json")
	text := w.read(filepath.Join(setup.root, profile))
	lower := strings.Replace(text, `"default": "45"`, `"default": "30"`, 1)
	if lower == text {
		t.Fatal("the budget is not 45 any more")
	}
	w.program(filepath.Join(w.dir, "next"), profile, lower)
	install(filepath.Join(w.dir, "next"))
	cached := func() int {
		found, err := filepath.Glob(filepath.Join(w.config, "plugins", "cache", "ccreload-installed", "cc-reload", "*", "ccreload.json"))
		w.check(err)
		return len(found)
	}
	s := w.open()
	w.until("the new plugin to be there", func() bool { return cached() == 2 })
	s.exit()
	nudged(31, 46)

	w.must("plugin", "uninstall", "cc-reload@ccreload-installed")
	w.must("plugin", "marketplace", "remove", "ccreload-installed")
	if r := w.exec(program, "uninstall"); r.code != 0 {
		t.Errorf("uninstall: exit %d\n%s%s", r.code, r.out, r.err)
	}
	if data := filepath.Join(w.home, ".local", "share", "ccreload"); exists(data) {
		t.Errorf("%s is left", data)
	}
}

// site is the part of the internet that a test has: files at https://HOST/PATH.
type site struct {
	mu      sync.Mutex
	files   map[string]string // by HOST/PATH
	asked   map[string]int    // how often each was asked for
	offline bool              // nobody gets there
}

func (s *site) put(url, file string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[url] = file
}

func (s *site) requests(url string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[url]
}

func (s *site) unplugged(yes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offline = yes
}

func (s *site) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	file, ok := s.files[r.Host+r.URL.Path]
	s.asked[r.Host+r.URL.Path]++
	s.mu.Unlock()
	if !ok {
		http.NotFound(rw, r)
		return
	}
	http.ServeFile(rw, r, file)
}

// reached reports whether there is a way to the host.
func (s *site) reached(host string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.offline && slices.Contains(siteHosts, host)
}

var siteHosts = []string{"github.com", "raw.githubusercontent.com", "mirror.example.com"}

// secure gives the client a site as a company does: a proxy that leads there, and
// an authority to trust. Nothing else is told the launcher.
func (w *world) secure() *site {
	w.Helper()
	s := &site{files: map[string]string{}, asked: map[string]int{}}
	server := httptest.NewUnstartedServer(s)
	authority := filepath.Join(w.dir, "authority.pem")
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate(w, authority, siteHosts)}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the launcher's first handshake fails
	server.StartTLS()
	w.Cleanup(server.Close)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ":")
		if r.Method != http.MethodConnect || !s.reached(host) {
			http.Error(rw, "only what the test serves", http.StatusForbidden)
			return
		}
		to, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			http.Error(rw, err.Error(), http.StatusBadGateway)
			return
		}
		defer to.Close()
		rw.WriteHeader(http.StatusOK)
		from, buffered, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer from.Close()
		go func() {
			io.Copy(to, buffered) // ends with the connection
			to.Close()
		}()
		io.Copy(from, to)
	}))
	w.Cleanup(proxy.Close)
	w.env["HTTPS_PROXY"], w.env["NO_PROXY"], w.env["NODE_EXTRA_CA_CERTS"] = proxy.URL, "127.0.0.1", authority
	return s
}

// ourReleases is where the launcher and the catalogue of a release download from.
const ourReleases = "github.com/ccreload/ccreload/releases/download/"

// platform ends the name of the runtime for this machine.
const platform = runtime.GOOS + "-" + runtime.GOARCH

// certificate makes one for the hosts, and writes the authority that vouches for it.
func certificate(w *world, authority string, hosts []string) tls.Certificate {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, DNSNames: hosts,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	w.check(err)
	w.write(authority, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// The catalogue of a release has archives with the runtimes inside. It may stand
// beside the one in git, and an older client says what it cannot do.
func TestReleaseCatalogue(t *testing.T) {
	w := newWorld(t)
	binary, err := setup.runtime()
	w.check(err)
	out := filepath.Join(setup.release, "bundles")
	if setup.release == "" {
		builds := filepath.Join(w.dir, "builds")
		out = filepath.Join(w.dir, "release")
		data, err := os.ReadFile(binary)
		w.check(err)
		w.mkdir(builds)
		w.check(os.WriteFile(filepath.Join(builds, "ccreload-"+platform), data, 0o755))
		bundle := exec.Command("go", "run", "./cmd/ccreload-gen", "bundle", "--binaries", builds, "--out", out, "--dry-run")
		bundle.Dir = setup.root
		if text, err := bundle.CombinedOutput(); err != nil {
			t.Fatalf("ccreload-gen bundle: %v\n%s", err, text)
		}
	}
	const catalogue = "raw.githubusercontent.com/ccreload/ccreload/main/release/marketplace.json"
	web := w.secure()
	web.put(catalogue, filepath.Join(out, "marketplace.json"))
	zips, err := filepath.Glob(filepath.Join(out, "*.zip"))
	w.check(err)
	for _, zip := range zips {
		web.put(ourReleases+"v"+ccreload.Version()+"/"+filepath.Base(zip), zip)
	}
	w.must("plugin", "marketplace", "add", "https://"+catalogue)
	install := w.claude("plugin", "install", "cc-reload@ccreload-release")
	if !host.AtLeast(setup.version, "2.1.224") {
		if said := install.out + install.err; install.code == 0 || !strings.Contains(said, "Update Claude Code") {
			t.Errorf("exit %d: %s", install.code, said)
		}
		return
	}
	if install.code != 0 {
		t.Fatalf("exit %d: %s%s", install.code, install.out, install.err)
	}
	git := filepath.Join(w.dir, "git")
	w.published(git)
	w.must("plugin", "marketplace", "add", git)
	if list := w.must("plugin", "marketplace", "list"); !strings.Contains(list, "ccreload-release") || strings.Count(list, "ccreload") < 3 {
		t.Errorf("the catalogues are\n%s", list)
	}
	s := w.open()
	s.say("split the parser", fakeapi.Say("Split.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
}
