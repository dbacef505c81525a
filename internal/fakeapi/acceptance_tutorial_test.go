//go:build acceptance

package fakeapi_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// The tutorial, word by word, with prebuilt programs and no Go in PATH: then the
// plugin is installed, and its hook speaks. (TestTutorial of package cli compares
// what is printed.)
func TestTutorialInTheClient(t *testing.T) {
	w := newWorld(t)
	data, err := os.ReadFile(filepath.Join(setup.root, "docs", "tutorial.md"))
	w.check(err)
	programs := filepath.Join(w.dir, "programs")
	w.mkdir(programs)
	w.check(os.Symlink(setup.client, filepath.Join(programs, "claude")))
	for _, name := range []string{"ccreload", "ccreload-gen"} {
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(programs, name), "./cmd/"+name)
		build.Dir = setup.root
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	w.env["PATH"] = programs + ":/usr/bin:/bin"
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
		script.WriteString(block[1])
	}
	r := w.exec("/bin/sh", "-ec", "! command -v go\n"+script.String())
	if r.code != 0 || !strings.Contains(r.out, "tidy@my-plugins") {
		t.Fatalf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	s := w.open()
	s.say("good morning", fakeapi.Say("Morning."))
	s.see("tidy: are the tests green?")
	s.exit()
	// What is packed works as well, without being installed.
	w.must("plugin", "uninstall", "tidy@my-plugins")
	w.flags = append(w.flags, "--plugin-dir", filepath.Join(w.project, "my-plugins", "dist", "tidy-1.1.0.zip"))
	s = w.open()
	s.say("good evening", fakeapi.Say("Evening."))
	s.see("tidy: are the tests green?")
	s.exit()
}
