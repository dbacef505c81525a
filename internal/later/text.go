package later

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/state"
)

// What a person reads of the plugin's hooks.

const (
	textNoHome = "cc-later: nothing was queued, since you have no home directory; set HOME to an absolute path"
	textAsk    = "cc-later will run this text unattended, as if you had typed it. Queue it?"
	// What else the command does cannot be held against what was asked.
	textNotAlone = " (It is not a command of its own, so a yes lets it run, and what it queues waits for your trust all the same.)"
)

func textTrust(root string) string {
	return fmt.Sprintf("From then on cc-later runs what stands in the queue of %s, whoever wrote it. Trust it?", root)
}

func textNotNoted(err error) string {
	return fmt.Sprintf("cc-later: that you said yes could not be noted, so it waits for `ccreload later trust`: %v", err)
}

// shown is how many characters of a task a message shows.
const shown = 60

func textQueued(added []queue.Entry, q Queue) string {
	var tasks []string
	for _, e := range added {
		task := fmt.Sprintf("%q (%s)", host.Cut(e.Text, shown), e.Priority)
		if e.Cut {
			task += fmt.Sprintf(" WITHOUT what follows its first %d characters", queue.MaxText)
		}
		tasks = append(tasks, task)
	}
	return fmt.Sprintf("cc-later: queued for later in %s: %s", q.short(), strings.Join(tasks, ", "))
}

// textLeftOut says what was not queued although the words are there, "" if nothing.
func textLeftOut(r queue.Requests) string {
	switch {
	case r.Pasted > 0:
		return "cc-later: what is pasted is NOT queued; type it"
	case r.Short > 0:
		return fmt.Sprintf("cc-later: a task of less than %d characters is NOT queued", queue.MinText)
	}
	return ""
}

func textQueuedAlready(n int, q Queue) string {
	if n == 1 {
		return "cc-later: that is in " + q.short() + " already"
	}
	return "cc-later: all of that is in " + q.short() + " already"
}

func textNotQueued(n int, path string, err error) string {
	what := "the task was"
	if n > 1 {
		what = fmt.Sprintf("the %d tasks were", n)
	}
	hint := ""
	if errors.Is(err, state.ErrBusy) {
		err, hint = errors.New("another program is changing the queue"), "; type it once more"
	}
	return fmt.Sprintf("cc-later: %s NOT queued in %s: %v%s", what, path, err, hint)
}

// textForModel keeps the model from doing at once what was to wait.
func textForModel(added []queue.Entry) string {
	if len(added) == 1 {
		return "The user has queued the task after the word \"later\" for an unattended run; it is not part of what is to be done now."
	}
	return fmt.Sprintf("The user has queued the %d tasks after the word \"later\" for an unattended run; they are not part of what is to be done now.", len(added))
}

// short is how the queue is called in a message.
func (q Queue) short() string {
	rel, err := filepath.Rel(q.Root, q.Path)
	if err != nil {
		return q.Path
	}
	return filepath.ToSlash(rel)
}

// planLimit reports whether the host's line about a failed turn is about the limit
// of a plan: nothing else of what the hook is told sets it apart from a busy API.
func planLimit(message string) bool {
	m := strings.ToLower(message)
	return strings.Contains(m, "limit") && strings.Contains(m, "resets") && strings.Contains(m, "you've")
}
