//go:build acceptance

package fakeapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/fakeapi"
)

// shown returns the block of a page in docs that has the words.
func (w *world) shown(page, words string) string {
	w.Helper()
	text := w.read(filepath.Join(setup.root, "docs", page))
	for _, block := range regexp.MustCompile("(?s)\n```\\w+\n(.*?)```").FindAllStringSubmatch(text, -1) {
		if strings.Contains(block[1], words) {
			return block[1]
		}
	}
	w.Fatalf("%s shows nothing with %q", page, words)
	return ""
}

// managed has every session find the text as the settings of a company, in a view of
// its own of /etc.
func (w *world) managed(settings string) {
	w.Helper()
	file := filepath.Join(w.dir, "managed-settings.json")
	w.write(file, settings)
	w.within = []string{"unshare", "--mount", "sh", "-ec", `mount -t tmpfs none /mnt
		mkdir /mnt/upper /mnt/work
		mount -t overlay none -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
		mkdir -p /etc/claude-code
		cp "$0" /etc/claude-code/managed-settings.json
		exec "$@"`, file}
	if out, err := exec.Command(w.within[0], append(w.within[1:], "true")...).CombinedOutput(); err != nil {
		w.Skipf("no settings of a company can be made here: %v %s", err, out)
	}
}

// docs/companies.md: the mirror that its commands make, and the settings for
// everyone, with a proxy and an authority of the company.
func TestCompany(t *testing.T) {
	w := newWorld(t)
	needs(t, "2.1.332", "what the page says of managed settings")
	u := newUpstream(w)
	w.managed("{}")
	settings := w.shown("companies.md", "enabledPlugins")
	for old, its := range map[string]string{
		"http://proxy.example.com:8080": w.env["HTTPS_PROXY"],
		"/etc/ssl/company.pem":          w.env["NODE_EXTRA_CA_CERTS"],
	} {
		if !strings.Contains(settings, old) {
			t.Fatalf("the settings shown have no %s", old)
		}
		settings = strings.ReplaceAll(settings, old, its)
	}
	w.managed(settings)

	// Only this machine's runtime is started, so it stands in for all.
	program, sums := filepath.Join(w.dir, "ccreload "+ccreload.Version()), ""
	release := ourReleases + "v" + ccreload.Version() + "/"
	for _, system := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"} {
		u.site.put(release+"ccreload-"+system, program)
		sums += sumLine(w, program, "ccreload-"+system)
	}
	checksums := filepath.Join(w.dir, "checksums.txt")
	w.write(checksums, sums+strings.Repeat("0", 64)+"  ccreload_"+ccreload.Version()+"_linux_amd64.tar.gz\n")
	u.site.put(release+"checksums.txt", checksums)
	w.env["CURL_CA_BUNDLE"] = w.env["NODE_EXTRA_CA_CERTS"]
	if r := w.exec("/bin/sh", "-ec", w.shown("companies.md", "mirror/v$version")); r.code != 0 || strings.Count(r.out, ": OK") != 4 {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	for _, name := range []string{"CURL_CA_BUNDLE", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS"} {
		delete(w.env, name) // the settings have them
	}
	name := "/v" + ccreload.Version() + "/ccreload-" + platform
	mirrored := "mirror.example.com/ccreload" + name
	u.site.put(mirrored, filepath.Join(w.project, "mirror", name))
	before := u.site.requests(u.asset(ccreload.Version()))

	// The first session installs it in the background, and has its hooks from then on.
	s := w.open()
	registered := regexp.MustCompile(`(?s)plugin\.register: cc-reload.*Registered \d+ hooks`)
	w.until("the plugin to be installed", func() bool {
		return registered.MatchString(w.read(filepath.Join(w.dir, "client", "0.log")))
	})
	s.say("split the parser", fakeapi.Say("Split.").At(10*percent))
	w.until("the runtime", func() bool { return len(u.runtimes()) == 1 })
	s.say("join the parser", fakeapi.Say("Joined.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	s.exit()
	// Later ones have them once it is installed by command, too.
	if r := w.exec(w.within[0], append(w.within[1:], setup.client, "plugin", "install", "cc-reload@ccreload")...); r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	s = w.open()
	s.say("test the parser", fakeapi.Say("Tested.").At(46*percent))
	s.see(`cc-reload: context 46 ?%`)
	s.exit()
	if n, also := u.site.requests(mirrored), u.site.requests(u.asset(ccreload.Version())); n != 1 || also != before {
		t.Errorf("the mirror was asked %d times, the release %d times", n, also-before)
	}
	// No other catalogue may be added.
	other := filepath.Join(w.dir, "other")
	w.published(other)
	add := append(w.within[1:], setup.client, "plugin", "marketplace", "add", other)
	if r := w.exec(w.within[0], add...); r.code == 0 || !strings.Contains(r.out+r.err, "policy") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	if _, err := os.Stat("/etc/claude-code/managed-settings.json"); err == nil {
		t.Error("the settings have left their view of /etc")
	}
}
