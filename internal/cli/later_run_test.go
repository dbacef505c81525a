package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ccreload/ccreload"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/dispatch"
	"github.com/ccreload/ccreload/internal/registry"
)

// What goes on by itself does nothing where nothing is kept, and ends once all was
// removed: it would make the directory anew.
func TestWhatGoesOnByItselfMakesNothingAnew(t *testing.T) {
	t.Parallel()
	watch := func(a *app) error { return a.watchAgents(t.Context()) }
	for name, tt := range map[string]struct {
		run   func(*app) error
		kept  bool // whether there is something at first
		slept int
	}{
		"a tick":                    {run: func(a *app) error { return a.tick(t.Context(), dispatch.Options{}, true) }},
		"a watcher":                 {run: watch},
		"a watcher, all is removed": {run: watch, kept: true, slept: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			dir := filepath.Join(home, ".cc-later")
			slept := 0
			env := registry.Env()
			env.Getenv = func(name string) string {
				return map[string]string{"HOME": home, "USERPROFILE": home}[name]
			}
			env.Sleep = func(time.Duration) {
				slept++
				if err := os.RemoveAll(dir); err != nil {
					t.Error(err)
				}
			}
			if tt.kept {
				if err := os.MkdirAll(filepath.Join(dir, "locks"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			a := &app{env: env, host: host.FromEnv(env.Getenv), stdout: io.Discard, stderr: io.Discard, defaults: ccreload.Defaults}
			if err := tt.run(a); err != nil || slept != tt.slept {
				t.Errorf("slept %d times, want %d: %v", slept, tt.slept, err)
			}
			if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is there: %v", dir, err)
			}
		})
	}
}
