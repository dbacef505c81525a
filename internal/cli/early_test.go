package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// The program runs a hook before the packages of the command line are
// initialized (package early); only one that may ask a proxy waits for them. All
// of them answer as they do when package cli runs them.
func TestHooksRunBeforeTheCommandLineIsInitialized(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "ccreload")
	if err := release(program, "../../cmd/ccreload"); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		fmt.Fprint(w, `{"data":[{"id":"m","context_window":100000}]}`)
	}))
	defer proxy.Close()
	root, err := filepath.Abs("../../marketplace/plugins/cc-reload")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args  string
		early bool
	}{
		{"hook cc-reload Stop", true},
		{"hook cc-reload UserPromptSubmit", true},
		{"hook cc-reload SessionEnd", true},
		{"hook cc-reload SessionStart", false},
		{"hook", false},
		{"hook cc-reload Stop more", false},
	} {
		project, data := t.TempDir(), t.TempDir()
		args := strings.Fields(tt.args)
		cmd := exec.Command(program, args...)
		event := "Stop"
		if len(args) > 2 {
			event = args[2]
		}
		cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s1","cwd":%q,"source":"startup","model":"m"}`, event, project))
		cmd.Env = []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CLAUDE_PROJECT_DIR=" + project, "CLAUDE_PLUGIN_ROOT=" + root, "CLAUDE_PLUGIN_DATA=" + data,
			"CLAUDE_CODE_ENTRYPOINT=cli", "ANTHROPIC_BASE_URL=" + proxy.URL, "GODEBUG=inittrace=1",
		}
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		asked.Store(0)
		if err := cmd.Run(); err != nil || stdout.Len() > 0 {
			t.Errorf("%s: %v, stdout %q", tt.args, err, &stdout)
		}
		if log, err := os.ReadFile(filepath.Join(data, "debug.jsonl")); err == nil {
			t.Errorf("%s: %s", tt.args, log)
		}
		for _, late := range []string{"net", "regexp", "text/template", "github.com/spf13/cobra", "github.com/spf13/pflag"} {
			if done := strings.Contains(stderr.String(), "init "+late+" @"); done == tt.early {
				t.Errorf("%s: %s initialized: %v", tt.args, late, done)
			}
		}
		if strings.Contains(stderr.String(), "init crypto") {
			t.Errorf("%s: something of crypto is linked, which each hook pays for", tt.args)
		}
		if want := event == "SessionStart"; (asked.Load() > 0) != want {
			t.Errorf("%s: the proxy was asked %d times", tt.args, asked.Load())
		}
	}
}
