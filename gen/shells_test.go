package gen

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/shell"
)

// Where there is no Git Bash the host has no tool but PowerShell. So a command
// line of our prose is one plain command that either shell takes for the same
// words, and whatever one tool may run the other may.

var (
	fenced      = regexp.MustCompile("(?ms)^ *```(sh|bash|shell|console|powershell)\\b.*?^ *```")
	commandLine = regexp.MustCompile("`(!?ccreload [^`\n]*)`")
	filled      = regexp.MustCompile(`\$\{CLAUDE_SESSION_ID\}`) // by the host, before any shell
)

// forBoth returns what is wrong with the command lines of prose, for two shells.
func forBoth(prose string) (wrong []string) {
	for _, block := range fenced.FindAllString(prose, -1) {
		wrong = append(wrong, "a block for one shell: "+strings.TrimSpace(block))
	}
	if strings.Contains(prose, "!`") {
		wrong = append(wrong, "a command that the host itself runs, in a shell that is not known")
	}
	for _, m := range commandLine.FindAllStringSubmatch(prose, -1) {
		line := filled.ReplaceAllString(m[1], "id")
		words, ok := shell.Words(line)
		switch {
		case !ok:
			wrong = append(wrong, "more than one plain command: "+line)
		case strings.ContainsAny(line, `\"`):
			// A backslash escapes in one of them only, and old PowerShell loses double quotes.
			wrong = append(wrong, "a backslash or a double quote: "+line)
		case slices.ContainsFunc(words, func(w string) bool { return strings.ContainsAny(w, "@%,‘’‚‛“”„") }):
			wrong = append(wrong, "a character that PowerShell takes for its own: "+line)
		}
	}
	return wrong
}

func TestProseIsForBothShells(t *testing.T) {
	files, err := filepath.Glob("content/*/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files of prose, %v", len(files), err)
	}
	seen := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == "README.md" {
			continue // for people, who know their shell
		}
		for _, wrong := range forBoth(string(text)) {
			t.Errorf("%s: %s", file, wrong)
		}
		seen += len(commandLine.FindAllString(string(text), -1))
	}
	if seen < 15 {
		t.Errorf("only %d command lines were found", seen)
	}
}

func TestForBothFinds(t *testing.T) {
	for _, prose := range []string{
		"```sh\nccreload reload write <<'D'\nD\n```",
		"run !`ccreload reload show`",
		"run `ccreload reload write <<'D'`",
		"run `ccreload reload show && ccreload reload arm`",
		"run `ccreload reload show $(cat n)`",
		"run `ccreload later add \"a b\"`",
		`run ` + "`ccreload later add 'it'\\''s'`",
		"run `ccreload later add 'it’s'`",
		"run `ccreload reload show > $HOME/x`",
	} {
		if len(forBoth(prose)) == 0 {
			t.Errorf("nothing is wrong with %s", prose)
		}
	}
}

func TestToolsOfBothShells(t *testing.T) {
	text, err := os.ReadFile("manifest.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`\b(Bash|PowerShell)\(ccreload [^)]*\)`)
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "- {event: ") {
			continue
		}
		rules := rule.FindAllString(line, -1)
		for _, r := range rules {
			other := strings.Replace(r, "Bash(", "PowerShell(", 1)
			if !slices.Contains(rules, other) {
				t.Errorf("%s is allowed and %s is not", r, other)
			}
			n++
		}
	}
	if n < 20 {
		t.Errorf("only %d rules were found", n)
	}
	// A hook that has the person asked must do so in either.
	bash := strings.Count(string(text), "matcher: Bash, if: \"Bash(ccreload ")
	if power := strings.Count(string(text), "matcher: PowerShell, if: \"PowerShell(ccreload "); bash == 0 || bash != power {
		t.Errorf("%d hooks look at Bash and %d at PowerShell", bash, power)
	}
}
