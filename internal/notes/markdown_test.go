package notes

import (
	"strings"
	"testing"
)

// A heading in a code block is none, and a code block ends where CommonMark
// says, so that no section is lost in one.
func TestSectionsByCommonMark(t *testing.T) {
	t.Parallel()
	const next = "## Next concrete step\n- ship\n"
	for name, tt := range map[string]struct{ before, want string }{
		"nothing special":                 {"- x\n", "- ship\n"},
		"four around three":               {"````markdown\n```sh\nmake\n```\n````\n", "- ship\n"},
		"a heading in four around three":  {"````markdown\n```sh\n## Next concrete step\nwrong\n```\n````\n", "- ship\n"},
		"tildes in backticks":             {"```text\n~~~\n```\n", "- ship\n"},
		"backticks in tildes":             {"~~~\n```\n~~~\n", "- ship\n"},
		"code within a line":              {"```code``` is inline\n", "- ship\n"},
		"a longer end":                    {"```\nx\n`````\n", "- ship\n"},
		"an end with text is none":        {"```\n``` x\n## Next concrete step\nwrong\n```\n", "- ship\n"},
		"indented by three":               {"   ```\n## Next concrete step\nwrong\n   ```\n", "- ship\n"},
		"indented by four":                {"    ```\n", "- ship\n"},
		"in a list":                       {"- a\n- ```sh\n  ## Next concrete step\n  ```\n", "- ship\n"},
		"in a list that ends":             {"1. ```sh\n   make\n", "- ship\n"},
		"below a list item":               {"- a\n  ```\n  make\n  ```\n", "- ship\n"},
		"in a quotation":                  {"> ```\n> ## Next concrete step\n", "- ship\n"},
		"an indented heading of code":     {"x\n\n    ## Next concrete step\n    wrong\n", "- ship\n"},
		"not a heading without the space": {"##Next concrete step\nwrong\n", "- ship\n"},
		"a rule is no underline":          {"- x\n\n---\n\n* * *\n", "- ship\n"},
		"a rule below a list":             {"- Next concrete step\n---\n", "- ship\n"},
		"never closed":                    {"```\nx\n", ""},
	} {
		text, _ := Section("## Done this stretch\n"+tt.before+"\n"+next, "Next concrete step")
		if text != tt.want {
			t.Errorf("%s: %q", name, text)
		}
	}
}

func TestSectionHeadings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		heading string
		ok      bool
	}{
		"plain":                  {"## In flight", true},
		"first level":            {"# In flight", true},
		"third level":            {"### In flight", false},
		"closed":                 {"## In flight ##", true},
		"closed by more":         {"## In flight ####  ", true},
		"hashes of the title":    {"## In flight##", false},
		"indented":               {"   ## In flight", true},
		"a tab behind it":        {"##\tIn flight", true},
		"letter case":            {"## IN FLIGHT", true},
		"with a remark":          {"## In flight (two of five)", true},
		"with a colon":           {"## In flight: parser", true},
		"underlined":             {"In flight\n---------", true},
		"underlined, first":      {"In flight\n===", true},
		"underlined, two lines":  {"text\nIn flight\n---", false},
		"CRLF":                   {"## In flight\r", true},
		"another that begins so": {"## In flights", false},
	} {
		text, ok := Section("---\nintent: x\n---\n\n"+tt.heading+"\n- half\n\n## Done\n- x\n", "In flight")
		if ok != tt.ok || ok && text != "- half\n\n" {
			t.Errorf("%s: %q, %v", name, text, ok)
		}
	}
}

// What is cut within a code block must not turn the rest into code.
func TestFitClosesCode(t *testing.T) {
	t.Parallel()
	doc := "## Next\n- ship\n\n## Log\n````sh\n" + strings.Repeat("make all the things\n", 40) + "````\n\n## Last\n- x\n"
	got, left := Fit(doc, 500, "Next", "Last")
	if left == 0 || len(got) > 500 || !strings.Contains(got, "things\n````\n[…]\n## Last\n- x\n") {
		t.Errorf("%d left of %s", left, got)
	}
}

func FuzzSections(f *testing.F) {
	for _, s := range []string{
		"", "## a\n", "a\n---\n", "---\nintent: x\n---\n## a ##\n```\n## b\n```\n", "- ```\n  x\n## y", "````\n```\n````\n# z\n", "1. 2) - # x\n", "\t## a\n~~~~",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		var all strings.Builder
		for _, s := range sections(doc) {
			all.WriteString(s.text)
			if s.body < 0 || s.body > len(s.text) {
				t.Fatalf("%q begins its text at %d", s.text, s.body)
			}
		}
		if all.String() != doc {
			t.Fatalf("the sections of %q are %q", doc, all.String())
		}
	})
}
