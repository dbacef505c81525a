package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// The commands of the tutorial do what it shows, with the two programs as they are
// released and no Go in PATH. Those of the client are for the acceptance tests.
func TestTutorial(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("its commands are for a POSIX shell")
	}
	data, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	programs := filepath.Join(dir, "bin")
	for _, name := range []string{"ccreload", "ccreload-gen"} {
		if err := release(filepath.Join(programs, name), "../../cmd/"+name); err != nil {
			t.Fatal(err)
		}
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?").FindAllStringSubmatch(string(data), -1)
	const mark = "~~~ end of a block"
	script := "set -e\n"
	for _, b := range blocks {
		if !strings.HasPrefix(b[1], "claude ") {
			script += b[1] + "echo '" + mark + "'\n"
		}
	}
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + programs + ":/usr/bin:/bin", "HOME=" + filepath.Join(dir, "home")}
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	shown := strings.Split(string(out), mark+"\n")
	for _, b := range blocks {
		if strings.HasPrefix(b[1], "claude ") {
			continue
		}
		if b[2] != "" && shown[0] != b[2] {
			t.Errorf("after\n%s\nthe tutorial shows\n%s\nand there is\n%s", b[1], b[2], shown[0])
		}
		shown = shown[1:]
	}
}
