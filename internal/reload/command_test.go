package reload

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

func (w *world) store(session string) Store {
	return Store{Project: w.project, Session: session, Env: w.call().Env, Host: w.call().Host, Profile: testProfile}
}

const page = "---\nintent: x\n---\n\n## Done this stretch\n- a\n\n## In flight\n- b\n\n## Next concrete step\n- c\n\n## Open questions & risks\n- d\n"

func TestWriteTakesWhatItCan(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in, intent string
		want       []string // in the file
		lacks      int
		bad        bool
	}{
		"whole":              {page, "", []string{"intent: x\n", `session_id: "s1"`, "updated_at: ", "- d\n"}, 0, false},
		"intent given":       {page, "y: \"z\"", []string{`intent: "y: \"z\""`}, 0, false},
		"byte order mark":    {"\ufeff" + page, "", []string{"---\nintent: x\n"}, 0, false},
		"UTF-16":             {"\xff\xfe" + strings.Join(strings.Split(page, ""), "\x00") + "\x00", "", []string{"---\nintent: x\n", "- d\n"}, 0, false},
		"CRLF":               {strings.ReplaceAll(page, "\n", "\r\n"), "", []string{"intent: x\r\n", "- d\r\n"}, 0, false},
		"not UTF-8":          {page + "\xff\xfe", "", []string{"- d\n\ufffd"}, 0, false},
		"no frontmatter":     {"just words", "", []string{"just words\n", `session_id: "s1"`}, 5, false},
		"never closed":       {"---\nintent: x\nwords", "", []string{"---\nintent: x\nwords\n"}, 5, false},
		"somebody else's id": {strings.Replace(page, "---\n", "---\nsession_id: other\n", 1), "", []string{`session_id: "s1"`}, 0, false},
		"nothing":            {"\ufeff \r\n", "", nil, 0, true},
		"far too much":       {page + strings.Repeat("x", MaxDigest), "", nil, 0, true},
	} {
		w := newWorld(t)
		got, err := w.store("s1").Write([]byte(tt.in), tt.intent, false)
		if bad := problem.IsInput(err); bad != tt.bad || !bad && err != nil {
			t.Errorf("%s: error %v", name, err)
			continue
		}
		if len(got.Lacks) != tt.lacks {
			t.Errorf("%s: lacks %q", name, got.Lacks)
		}
		for _, part := range tt.want {
			if !strings.Contains(w.read(digestFile), part) {
				t.Errorf("%s: %q is missing in %q", name, part, w.read(digestFile))
			}
		}
		if tt.bad && w.has("") {
			t.Errorf("%s: the state directory was created", name)
		}
	}
}

func TestDeskMeetsOddThings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.store("s1")
	if err := os.MkdirAll(w.path(digestFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Write([]byte(page), "", true); err == nil || w.has(armFile) {
		t.Errorf("a directory was replaced: %v", err)
	}
	const want = "session.md is a directory, not a file; move it away"
	if err := d.Arm(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("arm: %v", err)
	}
	if _, _, err := d.Take(); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("take: %v", err)
	}
	says(t, d.Status("").String(), "Digest:   "+w.path(digestFile)+" is a directory", "Armed:    NOT armed: ")

	// What stands in the place of the directory, or of its lock.
	for _, name := range []string{"", ".lock"} {
		w := newWorld(t)
		if name != "" {
			w.put(digestFile, page)
			os.Mkdir(w.path(name), 0o755)
		} else {
			os.WriteFile(w.path(name), nil, 0o600)
		}
		want := w.path(name) + " is a "
		if err := w.store("s1").Arm(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: arm: %v", name, err)
		}
		if _, err := w.store("s1").Write([]byte(page), "", true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: write: %v", name, err)
		}
		s := w.store("s1").Status("").String()
		says(t, s, "Problem:  "+want, "move it away")
		if strings.Contains(s, "pending") {
			t.Errorf("%q: %s", name, s)
		}
	}

	w = newWorld(t)
	w.put(digestFile, page)
	os.Mkdir(w.path(armFile), 0o755)
	if err := w.store("s1").Arm(); err == nil || err.Error() != w.path(armFile)+" is a directory, not a file; move it away" {
		t.Errorf("arm: %v", err)
	}
	w = newWorld(t)
	w.put(digestFile, strings.Repeat("x", maxFile+1))
	if _, _, err := w.store("s1").Take(); !errors.Is(err, state.ErrTooLarge) {
		t.Errorf("take: %v", err)
	}
	w.put(armFile, "s0")
	if s := w.store("s1").Status(""); s.Digest == nil || s.Digest.Problem == "" || s.Armed || !strings.Contains(s.Blocked, "larger than") {
		t.Errorf("status: %+v", s)
	}
	gone := w.store("s1")
	gone.Project += "/gone"
	if _, err := gone.Write([]byte(page), "", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a project that is gone: %v", err)
	}
}

func TestStatusSaysWhatIsTheMatter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.put(configFile, "context_budget_pct: off\ncontext_window: 12\n")
	w.put(markerFile, "")
	if err := os.Mkdir(w.path(armFile), 0o755); err != nil {
		t.Fatal(err)
	}
	says(t, w.store("s1").Status(w.transcript).String(),
		"Budget:   off (project file)", "Armed:    no: what stands at .reload/pending is not a file",
		"Snapshot: a turn that writes the digest is running", `Ignored:  project file: context_window is "12"`)
}
