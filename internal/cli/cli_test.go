package cli

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/problem"
)

// run calls Main and returns the exit code and what was written.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = Main(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

func TestMainSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, want string }{
		{"", "unknown command \"\" for \"ccreload\"\nhint: see ccreload --help"},
		{"nope", "unknown command \"nope\" for \"ccreload\"\nhint: see ccreload --help"},
		{"statsline", "unknown command \"statsline\" for \"ccreload\"\nhint: did you mean ccreload statusline?"},
		{"doctor --jsno", "unknown flag: --jsno\nhint: see ccreload doctor --help"},
		{"version x", "ccreload version takes no argument, and was given \"x\"\nhint: see ccreload version --help"},
		{"statusline unistall", "unknown command \"unistall\" for \"ccreload statusline\"\nhint: did you mean ccreload statusline uninstall?"},
	} {
		code, stdout, stderr := run(t, "", strings.Split(tt.args, " ")...)
		if code != cmdline.ExitUsage || stdout != "" || stderr != "ccreload: "+tt.want+"\n" {
			t.Errorf("ccreload %s: exit code %d, stdout %q, stderr %q; want %q", tt.args, code, stdout, stderr, tt.want)
		}
	}
}

// A client that drops a hook's arguments leaves the payload: that is no reason
// to print a help text into the session.
func TestMainTakesAPayloadForAHook(t *testing.T) {
	t.Setenv("CLAUDE_PLUGIN_ROOT", "")
	t.Setenv("CLAUDE_PLUGIN_DATA", "")
	for _, stdin := range []string{`{"hook_event_name":"Stop"}`, "", "half a pay"} {
		if code, stdout, stderr := run(t, stdin); code != cmdline.ExitOK || stdout != "" || stderr != "" {
			t.Errorf("stdin %q: exit code %d, stdout %q, stderr %q", stdin, code, stdout, stderr)
		}
	}
}

func TestMainHelpsWhoeverTypesTheNameOnly(t *testing.T) {
	t.Parallel()
	null, err := os.Open(os.DevNull) // like a terminal, a device that carries no payload
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var out, errs bytes.Buffer
	if code := Main(nil, null, &out, &errs); code != cmdline.ExitOK || !strings.Contains(out.String(), "ccreload doctor ") || errs.Len() != 0 {
		t.Errorf("exit code %d, stdout %q, stderr %q", code, &out, &errs)
	}
	out.Reset()
	if code := Main([]string{"statusline"}, null, &out, &errs); code != cmdline.ExitUsage || out.Len() != 0 || !strings.Contains(errs.String(), "ccreload statusline install") {
		t.Errorf("statusline: exit code %d, stdout %q, stderr %q", code, &out, &errs)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	var f problem.Findings
	f.OK("a", "fine")
	f.Note("b", "do %s", "see")
	f.Bad("c", "mend it", "broken: %d%%\x1b", 7)
	r := report{Problems: f.Problems(), Findings: f}
	var b bytes.Buffer
	if err := r.write(&b, false); err != nil {
		t.Fatal(err)
	}
	want := "ok       a  fine\n" +
		"note     b  see\n" +
		"            hint: do %s\n" +
		"problem  c  broken: 7%␛\n" +
		"            hint: mend it\n" +
		"\nProblems: 1\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &b, want)
	}
	b.Reset()
	if err := r.write(&b, true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\x1b[31mproblem\x1b[0m  c") {
		t.Errorf("no colors in %q", b.String())
	}
}

func TestWhyRuns(t *testing.T) {
	t.Parallel()
	bin := t.TempDir() + "/ccreload"
	if err := os.WriteFile(bin, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	p := installed{Root: "/plug/in", Data: "/data"}
	for _, tt := range []struct{ path, env, want string }{
		{bin, bin, "CCRELOAD_BIN names it"},
		{"/plug/in/bin/ccreload-linux-amd64", bin, "it came with the plugin"},
		{"/data/bin/ccreload-1", "", "it was fetched for this version of the plugin"},
		{"/plug/inside", "", "it was fetched for another installation of the plugin"},
	} {
		if got := whyRuns(tt.path, tt.env, p); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestDataName(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{"cc-reload@ccreload": "cc-reload-ccreload", "a_b@x.y z": "a_b-x-y-z"} {
		if got := dataName(id); got != want {
			t.Errorf("dataName(%q) = %q, want %q", id, got, want)
		}
	}
}
