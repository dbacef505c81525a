package handoff

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/notes"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// reloadNotes is the digest of cc-reload in its state directory.
const reloadNotes = "session.md"

// reloadDir is the state directory of cc-reload.
func reloadDir(project string) state.Dir { return state.NewDir(filepath.Join(project, ".reload")) }

// delivery hands a handoff to the session of a hook.
func delivery(call *host.Call) *handover.Delivery {
	return &handover.Delivery{
		Call: call, Dir: dirOf(call.Project), Timeout: lockWait,
		Prepare: func(_ *state.Tx, a handover.Arm, _ bool) (handover.Payload, error) { return prepare(call, a) },
		Left:    func(handover.Arm) string { return textLeft },
		Confirmed: func(_ *state.Tx, a handover.Arm) error {
			_, err := archive(call.Project, a.Item, call.Env.Now())
			return err
		},
	}
}

// quiet reports whether the session is none of ours: another plugin continues
// its turns, or nobody is watching and the user has not said that it counts.
func quiet(call *host.Call, s Settings) bool {
	return handover.LoopActive(call.Project) || call.Host.Headless && !s.Headless
}

// loads reports whether a session that begins this way takes a handoff. An
// unknown source is a startup (case F05).
func loads(source string, onStartup bool) bool {
	switch source {
	case "resume", "compact", "clear", "fork":
		return true
	}
	return onStartup
}

// sessionStart answers the beginning of a session.
func sessionStart(call *host.Call) (host.Output, error) {
	if _, err := options.Vet(dirOf(call.Project)); err != nil {
		call.Env.Log("git did not say whether it tracks the settings", "error", err.Error())
	}
	settings := settingsFor(call)
	remember(call)
	refreshIndexes(call)
	if quiet(call, settings) {
		return host.Output{}, nil
	}
	c := delivery(call)
	if c.Waiting() && loads(call.Payload.Source, settings.LoadOnStartup) {
		out, err := c.Start(nil)
		if err != nil || !out.Silent() {
			return out, err
		}
	}
	return warn(c)
}

// userPrompt answers a prompt.
func userPrompt(call *host.Call) (host.Output, error) {
	refreshIndexes(call)
	return delivery(call).Prompt(func(claimed bool) bool {
		if claimed {
			return true
		}
		// Only a session that has had no SessionStart could still take the arm.
		settings := settingsFor(call)
		return settings.LoadOnStartup && !quiet(call, settings)
	})
}

// sessionEnd gives back what the session took and nobody has seen.
func sessionEnd(call *host.Call) (host.Output, error) {
	refreshIndexes(call)
	return host.Output{}, delivery(call).End()
}

// prepare decides what a session gets of an armed artifact.
func prepare(call *host.Call, arm handover.Arm) (handover.Payload, error) {
	known := readLedger(state.NewDir(call.Host.Data))
	arm.Item = known.waiting(call.Project, arm)
	name := filepath.Base(arm.Item)
	content, err := readArtifact(arm.Item)
	if err != nil || !strings.HasSuffix(name, artifactEnd) {
		return handover.Payload{}, nil
	}
	if !trusted(call, known, arm.Item, content) {
		if known.told(arm.Item, content) {
			return handover.Payload{Keep: true}, nil
		}
		tellOnce(call, arm.Item, content)
		return handover.Payload{Keep: true, Line: textForeign(name)}, nil
	}
	p := handover.Payload{Arm: arm}
	if handover.Delivers(reloadDir(call.Project), reloadNotes, call.Payload.SessionID) {
		p.Line = textTogether(name)
		return p, nil
	}
	doc := string(content)
	when := notes.Line(notes.FrontValue(doc, keyTime), 40)
	p.Context = notes.Page{
		Intro: textIntro(when, notes.Line(notes.FrontValue(doc, keyKind), 40)),
		Doc:   doc,
		First: survivors(),
		Rest:  func(left int) string { return textRest(arm.Item, left) },
	}.Context()
	p.Line = textBanner(when, nextStep(doc))
	return p, nil
}

// nextStep is the first open item of the section on how to continue, or else
// what was last asked for.
func nextStep(doc string) string {
	for _, at := range []struct {
		section int
		mark    string
	}{{secContinue, "- [ ] "}, {secWhy, "> "}} {
		for _, titles := range headings {
			text, _ := notes.Section(doc, titles[at.section])
			for line := range strings.Lines(text) {
				if item, ok := strings.CutPrefix(strings.TrimSpace(line), at.mark); ok {
					return notes.Line(item, 110)
				}
			}
		}
	}
	return ""
}

// trusted reports whether an artifact is this user's: our runtime wrote it, or
// a person edited what it wrote. An edited one that git tracks may have been
// edited by whoever pushed it, and its id is known to them: it counts only when
// what git has of it is still what our runtime wrote.
func trusted(call *host.Call, known ledger, path string, content []byte) bool {
	switch known.judge(path, content) {
	case ours:
		return true
	case edited:
		ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
		defer cancel()
		names, err := git.Tracked(ctx, filepath.Dir(path), filepath.Base(path))
		if err != nil {
			call.Env.Log("git did not say whether the artifact is tracked", "error", err.Error())
		}
		return err == nil && (len(names) == 0 || editedHere(ctx, known, path))
	}
	return false
}

// editedHere reports whether the changes to a tracked artifact were made in the
// worktree.
func editedHere(ctx context.Context, known ledger, path string) bool {
	repo, err := git.Open(ctx, filepath.Dir(path))
	if err != nil {
		return false
	}
	content, err := repo.Unstaged(ctx, path)
	return err == nil && known.judge(path, content) == ours
}

// warn tells the user, once, of an artifact in the project that is not theirs.
func warn(c *handover.Delivery) (host.Output, error) {
	call := c.Call
	for _, name := range artifactsIn(call.Project) {
		path := filepath.Join(call.Project, name)
		content, err := readArtifact(path)
		if err != nil {
			continue
		}
		known := readLedger(state.NewDir(call.Host.Data))
		if known.told(path, content) || trusted(call, known, path, content) {
			continue
		}
		tellOnce(call, path, content)
		return c.Say(textForeign(name))
	}
	return host.Output{}, nil
}

// tellOnce notes that the user has been told of a foreign file.
func tellOnce(call *host.Call, path string, content []byte) {
	if call.Host.Data == "" {
		return
	}
	call.AfterAnswer(func() {
		err := record(call.Host.Data, entry{Path: path, Sum: sumOf(content), Time: call.Env.Now(), Foreign: true})
		if err != nil {
			call.Env.Log("a foreign artifact will be mentioned again", "error", err.Error())
		}
	})
}

// remember keeps what only this hook is told: the user's options for the
// command line, and the session's model for Stop. Both go to the plugin's own
// directory, so that a project in which nothing happens gets no files.
func remember(call *host.Call) {
	if call.Host.Data == "" {
		return
	}
	dir := state.NewDir(call.Host.Data)
	stamp := options.Stamp(call.Profile, call.Host.Option)
	figure := occupancy.Figure{Session: call.Payload.SessionID, Model: call.Payload.Model, Used: -1}
	old, _ := dir.Read(options.StampFile, maxFile)
	err := dir.WithLock(lockWait, func(tx *state.Tx) error {
		if string(old) != string(stamp) {
			if err := tx.Write(options.StampFile, stamp); err != nil {
				return err
			}
		}
		return figure.Write(tx)
	})
	if err != nil {
		call.Env.Log("options and model were not stamped", "error", err.Error())
	}
}
