package later

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/jsonscan"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
)

// userPrompt queues what a person asks for in a prompt, and has the report that a
// cleared session did not show.
func userPrompt(call *host.Call) (host.Output, error) {
	if call.Host.Headless {
		return host.Output{}, nil
	}
	out := capture(call)
	if app := AppDir(call.Host, call.Env.Getenv); app != "" {
		told := report(app, Root(call.Project), call)
		out.Message, out.Context = joined(told.Message, out.Message), joined(told.Context, out.Context)
	}
	return out, nil
}

// idle reports whether a call is a prompt that queues nothing, while nobody waits to be
// told of a run.
func idle(call *host.Call) bool {
	if call.Payload.Event != host.UserPromptSubmit || !queue.Captures(call.Payload.Prompt).None() {
		return false
	}
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" {
		return false
	}
	_, err := os.Lstat(ReportFile(app, Root(call.Project)))
	return errors.Is(err, fs.ErrNotExist)
}

// capture queues what a person asks for in a prompt.
func capture(call *host.Call) host.Output {
	wanted := queue.Captures(call.Payload.Prompt)
	if wanted.None() || !typed(call) {
		return host.Output{}
	}
	left := textLeftOut(wanted)
	if len(wanted.Tasks) == 0 {
		return host.Output{Message: left}
	}
	call.Slow()
	app := AppDir(call.Host, call.Env.Getenv)
	if app == "" {
		return host.Output{Message: textNoHome}
	}
	c := ReadConfig(app, call.Profile)
	q := QueueOf(Root(call.Project), c)
	note := func(entries ...Entry) error { return Append(app, entries...) }
	added, err := Add(app, q, "", Captured, call, note, wanted.Tasks)
	switch {
	case err != nil:
		return host.Output{Message: joined(textNotQueued(len(wanted.Tasks), q.Path, err), left)}
	case len(added) == 0:
		return host.Output{Message: joined(textQueuedAlready(len(wanted.Tasks), q), left)}
	}
	return host.Output{Message: joined(textQueued(added, q), left), Context: textForModel(added)}
}

// joined returns texts that are not empty, a line each.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// Add queues what is wanted in a section of q ("" for the end of the file), and has
// note note that a person wanted it. It returns what was not queued already, or
// waited for trust.
func Add(app string, q Queue, section string, by Event, call *host.Call, note func(...Entry) error, wanted []queue.Entry) ([]queue.Entry, error) {
	if err := Prepare(app, call.Profile); err != nil {
		return nil, err
	}
	var added []queue.Entry
	now := call.Env.Now()
	err := q.Edit(app, lockWait, func(data []byte) ([]byte, error) {
		have, err := queue.Parse(data)
		if err != nil {
			return nil, err
		}
		added = added[:0]
		var lines []queue.Entry
		var notes []Entry
		for _, w := range wanted {
			same, there := have.Like(w.Text)
			if there {
				w.Text = same.Text
			}
			if there && !waitsForTrust(app, q.Root, w.Text) || slices.ContainsFunc(added, func(e queue.Entry) bool { return strings.EqualFold(e.Text, w.Text) }) {
				continue
			}
			added = append(added, w)
			notes = append(notes, Entry{Time: now, Event: by, Repo: q.Root, Text: w.Text})
			if !there {
				lines = append(lines, w)
			}
		}
		out, err := queue.AppendTo(data, section, lines...)
		if err != nil {
			return nil, err
		}
		// The ledger first: a task that it does not know would wait for trust, one
		// that is not in the queue means nothing.
		return out, note(notes...)
	})
	if err != nil {
		return nil, err
	}
	return added, nil
}

// waitsForTrust reports whether a task that stands in the queue of a repository may
// not run. Whoever asks for it in the same words wants it.
func waitsForTrust(app, root, text string) bool {
	l, err := ReadLedger(app, schedule.Settings{})
	return err == nil && !l.Task(root, text).May()
}

// Prepare creates the application's directory with its file of settings.
func Prepare(app string, p host.Profile) error {
	if err := os.MkdirAll(app, 0o700); err != nil {
		return err
	}
	_, err := state.CreateExclusive(filepath.Join(app, ConfigFile), []byte(DefaultConfig(p)))
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// typed reports whether a person typed the prompt. The host hands in prompts of
// other origin by the same event, and says so in nothing but their text.
func typed(call *host.Call) bool {
	prompt := strings.TrimSpace(call.Payload.Prompt)
	switch {
	case strings.HasPrefix(prompt, "/"),
		strings.HasPrefix(prompt, "<") && !strings.HasPrefix(prompt, "<pasted_content"),
		strings.Contains(prompt, "<system-reminder"), strings.Contains(prompt, "<task-notification"),
		strings.Contains(prompt, "[SYSTEM NOTIFICATION"):
		return false
	}
	return !scheduled(call.Payload.TranscriptPath, prompt)
}

// scheduleTail is how much of a transcript's end is searched, in bytes.
const scheduleTail = 4 << 20

// scheduled reports whether the model had the host hand in this prompt: a wake-up
// arrives like something typed, and only the transcript tells (docs/host.md,
// Prompts).
func scheduled(transcript, prompt string) bool {
	f, err := state.Open(transcript)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	from := max(0, info.Size()-scheduleTail)
	data := make([]byte, info.Size()-from)
	n, _ := f.ReadAt(data, from)
	for line := range strings.Lines(string(data[:n])) {
		if !strings.Contains(line, "scheduled_task_fire") && !strings.Contains(line, "ScheduleWakeup") && !strings.Contains(line, "CronCreate") {
			continue
		}
		if handsIn([]byte(strings.TrimSpace(line)), prompt) {
			return true
		}
	}
	return false
}

// handsIn reports whether a row of the transcript has the host hand in a prompt.
func handsIn(row []byte, prompt string) bool {
	same := func(object []byte) bool {
		return strings.TrimSpace(jsonscan.Text(jsonscan.Member(object, "prompt"))) == prompt
	}
	if jsonscan.Is(jsonscan.Member(row, "subtype"), "scheduled_task_fire") {
		return same(row)
	}
	found := false
	jsonscan.Array(jsonscan.Member(jsonscan.Member(row, "message"), "content"), func(block []byte) {
		switch jsonscan.Plain(jsonscan.Member(block, "name")) {
		case "ScheduleWakeup", "CronCreate":
			found = found || same(jsonscan.Member(block, "input"))
		}
	})
	return found
}
