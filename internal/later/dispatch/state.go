package dispatch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ccreload/ccreload/internal/later"
	"github.com/ccreload/ccreload/internal/later/queue"
	"github.com/ccreload/ccreload/internal/state"
)

// maxState is the most that is read of state.json, in bytes.
const maxState = 16 << 20

// State is state.json: what is going on. The keys are the original's, whose users
// come and go; what is ours besides stands with each agent.
type State struct {
	LastHook    *time.Time       `json:"last_hook_ts"`
	WindowStart *time.Time       `json:"window_start_ts"`
	WindowLimit *time.Time       `json:"window_limit_ts"`
	Repos       map[string]*Repo `json:"repos"`
}

// Repo is what goes on in one repository.
type Repo struct {
	InFlight      bool       `json:"in_flight"`
	Agents        []*Run     `json:"agents"`
	ResumeEntries []Task     `json:"resume_entries"`
	ResumeReason  *string    `json:"resume_reason"`
	DispatchTS    *time.Time `json:"dispatch_ts"`
}

// Run is one agent, from the moment it is planned until what it left is dealt with.
type Run struct {
	Section    string    `json:"section_name"`
	PID        int       `json:"pid"`
	ResultPath string    `json:"result_path"`
	Branch     *string   `json:"branch"`
	Worktree   *string   `json:"worktree_path"`
	Entries    []Task    `json:"entries"`
	DispatchTS time.Time `json:"dispatch_ts"`
	Retries    int       `json:"retries"`

	// ID names the run in the store of agents; "" is one of the original's.
	ID      string `json:"run,omitempty"`
	Session string `json:"session,omitempty"`
	Model   string `json:"model,omitempty"`
	Writes  bool   `json:"writes,omitempty"`
	Resume  bool   `json:"resume,omitempty"`
	// Changed says what was found changed in the user's checkout since the run
	// began, as sentences.
	Changed []string `json:"changed,omitempty"`
	// Setup are the configuration and hooks of the repository that are among that, as
	// git.Worktree.Setup has them.
	Setup [][]string `json:"setup_files,omitempty"`
	// Checked is set once the checkout was compared for the last time.
	Checked bool `json:"checked,omitempty"`
	// Resnap says that a change of ours to the checkout may have been made since it
	// was noted.
	Resnap bool `json:"resnap,omitempty"`
	// Over says that the agent is not at work any more: what it left waits to be dealt
	// with. It takes no agent's place then.
	Over bool `json:"over,omitempty"`
	// Waits is why what it left could not be dealt with so far, or why it could not be
	// stopped.
	Waits string `json:"waits,omitempty"`
	// Stopped is set where a person has the agent ended.
	Stopped bool `json:"stopped,omitempty"`
	// Kept is why the worktree stays for the person, "" where it does not.
	Kept string `json:"held,omitempty"`
}

// Task is a task as it was given to an agent.
type Task struct {
	ID       string `json:"id"`
	Line     int    `json:"line_index"`
	Priority string `json:"priority"`
	Text     string `json:"text"`
}

func taskOf(t queue.Task) Task { return Task{t.ID, t.Line, t.Priority.String(), t.Text} }

// name is what people call the section of a run.
func (r *Run) name() string {
	switch {
	case r.Resume:
		return "resume"
	case r.Section == "":
		return "default"
	}
	return r.Section
}

// errBroken means that there was a state which says nothing, and is set aside.
var errBroken = errors.New("it is no state of cc-later")

// loadState returns the state. What is no state is set aside, with an errBroken;
// any other error means that the state is there and cannot be got at.
func loadState(app string) (State, error) {
	s := State{Repos: map[string]*Repo{}}
	path := filepath.Join(app, later.StateFile)
	data, err := state.ReadFile(path, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		if err = json.Unmarshal(data, &s); err == nil {
			s.clean()
			return s, nil
		}
		err = errors.Join(errBroken, err)
	}
	s = State{Repos: map[string]*Repo{}}
	if !errors.Is(err, errBroken) && !errors.Is(err, state.ErrTooLarge) && !errors.Is(err, state.ErrUnsafe) {
		return s, fmt.Errorf("%s cannot be read: %w", path, err)
	}
	aside := path + ".broken"
	if failed := os.Rename(path, aside); failed != nil {
		return s, fmt.Errorf("%s cannot be read: %w", path, failed)
	}
	return s, fmt.Errorf("%s is kept as %s: %w: %w", path, filepath.Base(aside), errBroken, err)
}

// clean takes away what JSON allows and nobody means.
func (s *State) clean() {
	if s.Repos == nil {
		s.Repos = map[string]*Repo{}
	}
	for path, r := range s.Repos {
		if r == nil || !filepath.IsAbs(path) {
			delete(s.Repos, path)
			continue
		}
		r.Agents = slices.DeleteFunc(r.Agents, func(a *Run) bool { return a == nil })
	}
}

// save writes the state in one step.
func (s *State) save(app string) error {
	for path, r := range s.Repos {
		r.InFlight = len(r.Agents) > 0
		if r.Agents == nil {
			r.Agents = []*Run{}
		}
		if r.ResumeEntries == nil {
			r.ResumeEntries = []Task{}
		}
		if !r.InFlight && len(r.ResumeEntries) == 0 && r.DispatchTS == nil {
			delete(s.Repos, path)
		}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return state.NewDir(app).WithLock(saveWait, func(tx *state.Tx) error {
		return tx.Update(later.StateFile, append(data, '\n'))
	})
}

// repo returns the state of a repository.
func (s *State) repo(path string) *Repo {
	r := s.Repos[path]
	if r == nil {
		r = &Repo{}
		s.Repos[path] = r
	}
	return r
}

// drop forgets a run.
func (r *Repo) drop(run *Run) {
	r.Agents = slices.DeleteFunc(r.Agents, func(a *Run) bool { return a == run })
}

// atWork counts the agents of all repositories that are at work, and those that are
// over while what they left has to wait.
func (s *State) atWork() (running, waiting int) {
	for _, r := range s.Repos {
		n := r.atWork()
		running += n
		waiting += len(r.Agents) - n
	}
	return running, waiting
}

// atWork counts the agents that are at work in the repository.
func (r *Repo) atWork() int {
	if r == nil {
		return 0
	}
	n := 0
	for _, a := range r.Agents {
		if !a.Over {
			n++
		}
	}
	return n
}

// with returns the run that has the task, nil for none.
func (r *Repo) with(text string) *Run {
	if r == nil {
		return nil
	}
	i := slices.IndexFunc(r.Agents, func(a *Run) bool {
		return slices.ContainsFunc(a.Entries, func(t Task) bool { return t.Text == text })
	})
	if i < 0 {
		return nil
	}
	return r.Agents[i]
}
