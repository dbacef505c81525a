package reload

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/ccreload/ccreload/internal/host"
)

// git runs git in the project.
func (w *world) git(args ...string) {
	w.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		w.Skip("no git")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir = w.project
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// shipped is a project whose repository brought a digest.
func shipped(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.put(digestFile, sampleDigest)
	w.git("init", "-q")
	for _, name := range names {
		if name != digestFile {
			w.put(name, "")
		}
		w.git("add", "-f", w.path(name))
	}
	return w
}

const tracked = "git tracks session.md in .reload, so somebody else may have written it; if it is yours, `git rm -r --cached .reload` takes it out of git and leaves the files"

// case F61: a command does not say that something is armed which the next
// session will refuse.
func TestCommandsKnowWhatGitTracks(t *testing.T) {
	t.Parallel()
	w := shipped(t, digestFile)
	d := w.store("s1")
	if err := d.Arm(); err == nil || err.Error() != tracked || w.has(armFile) {
		t.Errorf("arm: %v, %q", err, w.names())
	}
	w.put(armFile, "s0 says hello")
	s := d.Status("")
	says(t, s.String(), "Armed:    NOT armed: "+tracked)
	if s.Armed || strings.Contains(s.String(), "hello") || strings.Contains(s.String(), "token refresh") || s.Digest.Session != "" {
		t.Errorf("a word of the repository's: %s", s)
	}
	os.Remove(w.path(armFile))

	// What the person hands in is saved all the same.
	got, err := d.Write([]byte(page), "", true)
	if err != nil || got.Armed || w.has(armFile) || !strings.Contains(w.read(digestFile), "- d\n") {
		t.Errorf("write: %+v, %v", got, err)
	}
	says(t, got.String(), "but NOT armed: "+tracked, "`ccreload reload arm`")

	// The end of a turn has it from the command.
	w.at(460_000, opus)
	w.payload = host.Payload{Event: host.Stop, SessionID: "s1", TranscriptPath: w.transcript, Cwd: w.project}
	says(t, w.stop().Message, tracked)

	w.git("rm", "-q", "-rf", "--cached", ".reload")
	if err := d.Arm(); err != nil || w.read(armFile) != "s1" {
		t.Errorf("after the cure: %v", err)
	}
	if s := d.Status(""); !s.Armed || s.Blocked != "" {
		t.Errorf("after the cure: %+v", s)
	}
	says(t, w.at(560_000, opus).stop().Message, "A digest is armed")
}

// case F61: the beginning of a session asks git, the end of a turn knows.
func TestStopKnowsWhatGitTracks(t *testing.T) {
	t.Parallel()
	w := shipped(t, digestFile, markerFile).at(460_000, opus)
	w.env["CLAUDE_PLUGIN_OPTION_CONTEXT_BUDGET_MODE"] = "snapshot"
	plain(t, w.on(host.SessionStart, "s1", source("resume"))) // leaves the marker
	at := func() {
		w.payload = host.Payload{Event: host.Stop, SessionID: "s1", TranscriptPath: w.transcript, Cwd: w.project}
	}
	at()
	out := w.stop()
	says(t, out.Message, "NOT armed: "+strings.Replace(tracked, "session.md", "session.md, summarizing", 1))
	if w.has(armFile) || w.has(markerFile) {
		t.Errorf("%q", w.names())
	}
	w.on(host.SessionStart, "s1")
	at()
	out = w.stop()
	says(t, out.Message, "/clear would start WITHOUT a digest: "+tracked)
	if out.Continue != "" {
		t.Errorf("the model is sent to the digest: %q", out.Continue)
	}

	w.git("rm", "-q", "-rf", "--cached", ".reload")
	w.on(host.SessionStart, "s1")
	at()
	says(t, w.stop().Continue, "Read the file that is there")

	// The digest is gone, and what git said of it with it.
	os.Remove(w.path(digestFile))
	w.on(host.SessionStart, "s2")
	if w.has(trustFile) {
		t.Errorf("%q", w.names())
	}
}

// case F61: a compaction neither changes nor arms what came with the
// repository, and the session hears of it afterwards, as this event is mute.
func TestPreCompactKnowsWhatGitTracks(t *testing.T) {
	t.Parallel()
	w := shipped(t, digestFile)
	mechanical := mechanical{Session: "s0"}.digest()
	w.put(digestFile, mechanical) // one that would be replaced
	w.worked()
	plain(t, w.on(host.PreCompact, "s1"))
	if w.has(armFile) || w.read(digestFile) != mechanical {
		t.Errorf("%q", w.names())
	}
	out := w.on(host.SessionStart, "s1", source("compact"))
	says(t, out.Message, "no digest was carried over this compaction: "+tracked)
	if out.Context != "" {
		t.Errorf("%+v", out)
	}
	out = w.on(host.SessionStart, "s2")
	says(t, out.Message, "the last session")
	if out.Context != "" {
		t.Errorf("%+v", out)
	}
}

// What a compaction cannot hand on is left alone, armed or not.
func TestPreCompactWhereSomethingElseStands(t *testing.T) {
	t.Parallel()
	for name, plant := range map[string]func(w *world){
		"a directory":        func(w *world) { w.put(digestFile+"/x", "") },
		"a link that leaves": func(w *world) { w.put(modelFile, ""); os.Symlink("../../x", w.path(digestFile)) },
		"too large":          func(w *world) { w.put(digestFile, strings.Repeat("x", maxFile+1)) },
	} {
		w := newWorld(t)
		w.worked()
		plant(w)
		before, _ := os.Lstat(w.path(digestFile))
		plain(t, w.on(host.PreCompact, "s1"))
		after, err := os.Lstat(w.path(digestFile))
		if err != nil || !os.SameFile(before, after) || w.has(armFile) {
			t.Errorf("%s: %v, %q", name, err, w.names())
		}
		says(t, w.on(host.SessionStart, "s1", source("compact")).Message, "no digest was carried over", "session.md is")
	}
}
