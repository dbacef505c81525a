package gen

import (
	"maps"
	"os"
	"path"
	"testing"

	"github.com/goccy/go-yaml"
)

// Validate refuses what the host does: the acceptance test TestVerdicts holds the
// client to the same file.
func TestValidateAgrees(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../testdata/verdicts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var verdicts struct {
		Base, Market map[string]string
		Rows         []struct {
			Name    string
			Market  bool
			Refused bool
			Older   *bool
			Files   map[string]string
		}
	}
	if err := yaml.UnmarshalWithOptions(data, &verdicts, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	for _, row := range verdicts.Rows {
		t.Run(row.Name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{}
			for name, text := range verdicts.Base {
				if row.Market {
					name = path.Join("tools", name)
				}
				files[name] = text
			}
			if row.Market {
				maps.Copy(files, verdicts.Market)
			}
			maps.Copy(files, row.Files)
			maps.DeleteFunc(files, func(_, text string) bool { return text == "-" })
			_, warnings, err := Validate(lay(t, files))
			if (err != nil) != row.Refused {
				t.Errorf("the error is %v, with the warnings %v", err, warnings)
			}
			for _, f := range problems(err) {
				if f.Line == 0 || f.Source == "" {
					t.Errorf("it does not say where: %s", f)
				}
			}
		})
	}
}
