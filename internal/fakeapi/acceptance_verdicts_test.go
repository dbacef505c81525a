//go:build acceptance

package fakeapi_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ccreload/ccreload/internal/fakeapi"
)

// The client refuses what testdata/verdicts.yaml says it does; a test of gen holds
// our own validate to the same file.
func TestVerdicts(t *testing.T) {
	verdicts, err := fakeapi.Verdicts(filepath.Join(setup.root, "testdata", "verdicts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	for i, v := range verdicts {
		dir := filepath.Join(w.dir, "verdicts", fmt.Sprint(i))
		for name, text := range v.Files {
			w.write(filepath.Join(dir, filepath.FromSlash(name)), text)
		}
		want := v.Refused
		if setup.version != defaultClient {
			want = v.Older
		}
		if r := w.claude("plugin", "validate", dir); (r.code != 0) != want {
			t.Errorf("%s: exit %d\n%s%s", v.Name, r.code, r.out, r.err)
		}
	}
}
