package reload

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Everything a person or the model reads from this plugin stands in this file.

// Stop, the budget and its settings.

// textBrief asks the model for the digest. It is the one text of Stop that
// costs the user a turn, so it leaves nothing to be asked.
func textBrief(o occupancy, s Settings, path string, exists bool, session string, now time.Time) string {
	first := "Write it"
	if exists {
		first = "Read the file that is there, then replace it"
	}
	return fmt.Sprintf(`The context window is %s, and the budget of this project is %s. Write down where the work stands now, so that it survives a reset of the context.

%s with the Write tool, at %s, in under 30 lines of this form:

---
session_id: %s
updated_at: %s
intent: what all of this is for, in one line
---

## Done this stretch
- what is finished, with the files and commits that prove it

## In flight
- what is half done, and in which state it was left

## Next concrete step
- the one thing to do first, exact enough to start without asking

## Open questions & risks
- what is undecided, what failed and must not be tried again

Use these four headings as they are. Facts, paths and commands instead of story, and no secrets. Take it from this conversation and look nothing up for it. Then stop: the user decides what comes next.`,
		fullness(o), budget(o, s), first, path, session, now.UTC().Format(time.RFC3339))
}

func textNotice(o occupancy, s Settings, armed bool) string {
	next := "/snapshot writes down where the work stands, /clear then starts afresh with it. /reload-budget changes the budget."
	if armed {
		next = "A digest is armed: /clear starts afresh with it. /snapshot brings it up to date first."
	}
	return fmt.Sprintf("cc-reload: context %s, budget %s. %s", fullness(o), budget(o, s), next)
}

func textArmed(fresh bool) string {
	if !fresh {
		return "cc-reload: the digest was not refreshed. The older one in .reload/session.md is armed for the next session; /snapshot writes a new one before you /clear."
	}
	return "cc-reload: snapshot saved in .reload/session.md and armed. /clear starts afresh with it."
}

func textNotArmed(fresh bool) string {
	state := "The digest is in .reload/session.md"
	if !fresh {
		state = "The digest in .reload/session.md was not refreshed either"
	}
	return "cc-reload: NOT armed, because .reload/pending cannot be written. " + state + ". Move away what stands at .reload/pending, then run /snapshot; until then /clear starts without a digest."
}

func textNoDigest() string {
	return "cc-reload: no digest was written, so nothing is armed and /clear would lose the thread. /snapshot tries again."
}

func textUnknownKey(key, nearest string, known []string) string {
	hint := ""
	if nearest != "" {
		hint = fmt.Sprintf(" Did you mean %s?", nearest)
	}
	return fmt.Sprintf("there is no setting %q.%s The settings are %s", key, hint, strings.Join(known, ", "))
}

func textNotInProject(key string) string {
	return fmt.Sprintf("%s cannot be set for a project; set it in the options of the plugin (/plugin)", key)
}

// fullness is an occupancy as people read it: "46 % full (461k of 1M tokens)".
func fullness(o occupancy) string {
	about := ""
	if o.Tail.Estimate {
		about = "about "
	}
	return fmt.Sprintf("%s%d %% full (%s of %s tokens)", about, o.Percent, tokens(o.Tokens), tokens(o.Window.Tokens))
}

// budget is the budget that is reached first in the window of o.
func budget(o occupancy, s Settings) string {
	if s.BudgetTokens > 0 && s.BudgetTokens < o.Window.Tokens/100*s.BudgetPct {
		return tokens(s.BudgetTokens) + " tokens"
	}
	return strconv.Itoa(s.BudgetPct) + " %"
}

// tokens rounds a number of tokens down to three digits: 461k, 1M, 1.04M.
func tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	}
	s := strconv.FormatFloat(float64(n/10_000)/100, 'f', -1, 64)
	return s + "M"
}
