package gencli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
)

// generator calls Main and returns the exit code and what was written.
func generator(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(args, strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}

// Whatever is wrong: exit code 2, what it is, and what to do.
func TestMainSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"empty/x": "", "file": "", "f.txt": ""} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ args, want string }{
		{"nope", "unknown command \"nope\" for \"ccreload-gen\"\nhint: see ccreload-gen --help"},
		{"generat", "unknown command \"generat\" for \"ccreload-gen\"\nhint: did you mean ccreload-gen generate?"},
		{"generate --fast", "unknown flag: --fast\nhint: see ccreload-gen generate --help"},
		{"generate a b", "2 arguments do not fit: ccreload-gen generate [DIR] [flags]\nhint: see ccreload-gen generate --help"},
		{"init", "there is no argument: ccreload-gen init DIR [flags]\nhint: see ccreload-gen init --help"},
		{"init ''", "the name of the directory is empty\nhint: name one, as in \".\" for this one"},
		{"generate ''", "the name of the directory is empty\nhint: name one, as in \".\" for this one"},
		{"check -C ''", "the name of the directory is empty\nhint: name one, as in \".\" for this one"},
		{"validate ''", "the name of the directory is empty\nhint: name one, as in \".\" for this one"},
		{"init DIR/file", "\"DIR/file\" cannot be a directory: not a directory\nhint: choose another directory, new or empty"},
		{"init DIR/file/sub", "\"DIR/file/sub\" cannot be a directory: not a directory\nhint: choose another directory, new or empty"},
		{"generate DIR/nowhere", "\"DIR/nowhere\" cannot be opened: no such file or directory\nhint: name the directory of a project, or begin one with `ccreload-gen init DIR`"},
		{"check -C DIR/file", "\"DIR/file\" cannot be opened: not a directory\nhint: name the directory of a project, or begin one with `ccreload-gen init DIR`"},
		{"docs DIR/empty", "there is no gen/manifest.yaml in \"DIR/empty\"\nhint: name the directory of a project, or begin one with `ccreload-gen init DIR`"},
		{"validate DIR/nowhere", `there is no file "DIR/nowhere"`},
		{"validate DIR/f.txt", "\"DIR/f.txt\" is neither a directory nor a .yaml or .jsonl file\nhint: name one of these"},
		{"validate DIR/empty", "\"DIR/empty\" is not a plugin or a marketplace\nhint: name a directory that has .claude-plugin/plugin.json or .claude-plugin/marketplace.json"},
		{"schema nope", "there is no schema \"nope\"\nhint: the schemas are hooks, host-hooks, manifest, marketplace, plugin, recording"},
	} {
		args := strings.Split(strings.ReplaceAll(tt.args, "DIR", dir), " ")
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "''", "")
		}
		if filepath.Separator != '/' && strings.Contains(tt.args, "DIR") {
			continue // the system's own words for the same
		}
		code, stdout, stderr := generator("", args...)
		if want := "ccreload-gen: " + strings.ReplaceAll(tt.want, "DIR/", dir+"/") + "\n"; code != cmdline.ExitUsage || stdout != "" || stderr != want {
			t.Errorf("ccreload-gen %s: exit code %d, stdout %q, stderr %q; want %q", tt.args, code, stdout, stderr, want)
		}
	}
}

// Names and lines that others may have written do not reach the terminal as
// they are.
func TestNothingIsObeyedByTheTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, _, stderr := generator("", "init", dir); code != cmdline.ExitOK {
		t.Fatal(stderr)
	}
	if code, _, stderr := generator("", "generate", dir); code != cmdline.ExitOK {
		t.Fatal(stderr)
	}
	const evil = "\x1b]0;evil\a\u202e"
	if err := os.WriteFile(filepath.Join(dir, "marketplace", "x"+evil), nil, 0o644); err != nil {
		t.Skip(err)
	}
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("name: x # "+evil+"\nnam"+evil+": x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"check", dir}, {"validate", bad}, {"generate", dir + evil}, {evil}, {"schema", evil}, {"validate", evil}, {"init", bad + evil + "/x/" + evil},
	} {
		_, stdout, stderr := generator("", args...)
		for _, r := range stdout + stderr {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%q prints %q, %q", args, stdout, stderr)
				break
			}
		}
	}
}

// Every command says what it is for, at length and by example.
func TestEveryCommandHasAnExample(t *testing.T) {
	t.Parallel()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Short == "" || cmd.Long == "" || !strings.Contains(cmd.Example, "ccreload-gen") {
			t.Errorf("%s: short %q, long %q, example %q", cmd.CommandPath(), cmd.Short, cmd.Long, cmd.Example)
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(Command())
}

// Of many files not each is named, and what is wrong in both marketplace.json is said
// once.
func TestGenerateIsShort(t *testing.T) {
	t.Parallel()
	dir, out := t.TempDir(), filepath.Join(t.TempDir(), "out")
	files := map[string]string{
		".claude-plugin/marketplace.json": `{"name": "many", "owner": {"name": "a"}, "colour": "red", "plugins": [{"name": "many", "source": "./many"}]}`,
	}
	for i := range 50 {
		files[fmt.Sprintf("many/docs/%02d.md", i)] = "a"
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := generator("", "import", dir, out); code != 0 {
		t.Fatal(stderr)
	}
	_, stdout, stderr := generator("", "generate", out)
	// Beside the 50 there are two marketplaces and the inventory.
	if n := strings.Count(stdout, "\n"); n != maxListed+1 || !strings.HasSuffix(stdout, "\n13 more files: added\n") {
		t.Errorf("%d lines:\n%s", n, stdout)
	}
	if n := strings.Count(stderr, `unknown key "colour"`); n != 1 {
		t.Errorf("it is said %d times:\n%s", n, stderr)
	}
}
