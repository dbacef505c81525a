package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ccreload/ccreload/internal/record"
)

// A session that was recorded while it was replayed can be replayed from its
// export, and the hooks say the same again.
func TestRecordOfAReplay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  map[string]string
		text bool // texts have to be kept for hooks to say the same
	}{
		{name: "notify-ladder"},
		{name: "compact-auto", text: true},
		{name: "snapshot-cycle", env: map[string]string{"CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE": "snapshot"}, text: true},
		{name: "resume-fork"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(filepath.Join("..", "..", "testdata", "recordings", tt.name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			calls, err := record.Read(f)
			if err != nil {
				t.Fatal(err)
			}
			dir, store := recordedWorld(t)
			first := replayed(t, calls, dir, tt.env)

			raw, err := store.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			var export bytes.Buffer
			if _, err := record.Export(raw, &export, record.Places{Home: filepath.Join(dir, "home"), Tmp: filepath.Join(dir, "tmp")}, tt.text); err != nil {
				t.Fatal(err)
			}
			again, err := record.Read(&export)
			if err != nil {
				t.Fatal(err)
			}
			again = again[:len(again)-1] // the session that a replay starts in the end
			// The options came with the recording.
			dir, _ = recordedWorld(t)
			second := replayed(t, again, dir, nil)

			if len(first) != len(second) {
				t.Fatalf("%d calls with hooks became %d", len(first), len(second))
			}
			spoke := false
			for i := range first {
				spoke = spoke || first[i] != ""
				if first[i] != second[i] {
					t.Errorf("call %d\n%s\nbecame\n%s", i+1, first[i], second[i])
				}
			}
			if !spoke && tt.name != "resume-fork" {
				t.Error("no hook said anything: this compares nothing")
			}
		})
	}
}

// recordedWorld returns a directory to replay in whose project is recorded.
func recordedWorld(t *testing.T) (string, record.Store) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	store := record.StoreFor(filepath.Join(dir, "project"), func(key string) string {
		return map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "home", ".local", "state")}[key]
	})
	if begun, err := store.Start(); !begun || err != nil {
		t.Fatalf("Start: %v, %v", begun, err)
	}
	return dir, store
}

// replayed returns what the hooks of each call said that had any.
func replayed(t *testing.T, calls []record.Call, dir string, env map[string]string) []string {
	t.Helper()
	binary, err := exec.LookPath("ccreload")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs(filepath.Join("..", "..", "marketplace", "plugins", "cc-reload"))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err = record.Replayer{Binary: binary, Root: root, Dir: dir, Env: env}.Run(calls, func(s record.Step) error {
		if s.Fault != "" {
			t.Errorf("%s at %.1f s: %s", s.Event, s.T, s.Fault)
		}
		if s.Processes == 0 {
			return nil
		}
		text := ""
		if all := s.Message + "|" + s.Context + "|" + s.Continue + "|" + s.Ask; all != "|||" {
			text = moment.ReplaceAllString(string(s.Event)+" "+all, "<time>")
		}
		said = append(said, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}
