package gen

import (
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// Validate refuses what the host does: the acceptance test TestVerdicts holds the
// client to the same file.
func TestValidateAgrees(t *testing.T) {
	t.Parallel()
	verdicts, err := fakeapi.Verdicts("../testdata/verdicts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			dir := lay(t, v.Files)
			what, warnings, err := Validate(dir)
			if (err != nil) != v.Refused {
				t.Errorf("the error is %v, with the warnings %v", err, warnings)
			}
			for _, f := range problems(err) {
				if what != "" && (f.Line == 0 || f.Source == "") {
					t.Errorf("it does not say where: %s", f)
				}
			}
		})
	}
}
