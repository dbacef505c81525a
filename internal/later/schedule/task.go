package schedule

import "time"

// Task is an open task of the queue and what is known of it.
type Task struct {
	Key      string // unique in its repository
	Priority int    // 0 is the most urgent
	Line     int

	Trusted bool
	Running bool
	State
}

// State is what a task's runs have left.
type State struct {
	Attempts int // runs that count
	Retries  int // runs in a row that ended without a word
	Delays   int // runs in a row that the API had no room for
	// Started is when an agent was last started with it, zero for never.
	Started time.Time
	// Again says that the last run did not count: the task may be started once more
	// in the same window, from NotBefore on.
	Again     bool
	NotBefore time.Time
	// Resume says that the account's limit ended the last run.
	Resume bool
	// Held is why the task waits for the person, "" if it does not.
	Held string
}

// Verdict is what came of a task in one run.
type Verdict string

// The verdicts.
const (
	Done       Verdict = "DONE"
	Failed     Verdict = "FAILED"
	Skipped    Verdict = "SKIPPED"
	NeedsHuman Verdict = "NEEDS_HUMAN"
	Unmerged   Verdict = "NEEDS_HUMAN_TO_MERGE" // the agent is done, and its work is kept
	Limited    Verdict = "LIMIT"                // the account's limit ended the run
	Throttled  Verdict = "THROTTLED"            // the API had no room
	Refused    Verdict = "REFUSED"              // nobody pays: not logged in, no credit
	Ended      Verdict = "ENDED"                // the agent ended without a word
	Stopped    Verdict = "STOPPED"              // a person has ended the agent
	NotStarted Verdict = "NOT_STARTED"
)

// Why a task waits for the person.
const (
	HeldAsked    = "the agent asks for you"
	HeldUnmerged = "it is done, but not merged"
	HeldAttempts = "it did not succeed"
	HeldLong     = "it is too long to be given to an agent; shorten it"
)

// delays are how long a task waits after the API had no room, time by time.
var delays = [...]time.Duration{5 * time.Minute, 10 * time.Minute, 20 * time.Minute, 40 * time.Minute, time.Hour}

// Start returns the state of a task that is being started.
func (s State) Start(now time.Time) State {
	s.Started, s.Again, s.Resume, s.NotBefore = now, false, false, time.Time{}
	return s
}

// End returns the state of a task after a run.
func (s State) End(v Verdict, now time.Time, set Settings) State {
	retries, late := s.Retries, s.Delays
	s.Again, s.Resume, s.Retries, s.Delays = false, false, 0, 0
	switch v {
	case Done, Refused:
	case Stopped:
		s.Again, s.Retries, s.Delays = true, retries, late
	case Limited:
		s.Resume = true
	case Throttled, NotStarted:
		s.Again, s.NotBefore = true, now.Add(delays[min(late, len(delays)-1)])
		s.Delays = late + 1
	case Ended:
		if retries < set.MaxRetries {
			s.Again, s.Retries = true, retries+1
			return s
		}
		return s.attempt(set)
	case NeedsHuman:
		s.Attempts++
		s.Held = HeldAsked
	case Unmerged:
		s.Attempts++
		s.Held = HeldUnmerged
	default:
		return s.attempt(set)
	}
	return s
}

// attempt counts a run that did not succeed.
func (s State) attempt(set Settings) State {
	s.Attempts++
	if s.Attempts >= set.MaxAttempts {
		s.Held = HeldAttempts
	}
	return s
}

// Retry returns the state of a task that the person wants to be tried again.
func (s State) Retry() State { return State{Started: s.Started, Again: true} }
