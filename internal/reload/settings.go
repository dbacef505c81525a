package reload

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// Keys of the plugin's options, as the manifest declares them.
const (
	keyPercent     = "context_budget_pct"
	keyMode        = "context_budget_mode"
	keyTokens      = "context_budget_tokens"
	keyWindow      = "context_window"
	keyOwnerWindow = "context_owner_window"
	keyHeadless    = "headless"
)

// Settings are the plugin's options with their values in force.
type Settings struct {
	BudgetPct    int           // %; 0 means that there is no budget at all
	BudgetTokens int           // tokens; 0 means that only the percentage counts
	Snapshot     bool          // mode snapshot, else notify
	Window       int           // tokens, set by the user; 0 means found out
	OwnerWindow  time.Duration // how long a foreign digest is protected; 0 means not at all
	Headless     bool          // take part in runs without a person
	Ignored      []string      // values that were set and are not valid, as sentences
}

// reader is what a state.Dir and a state.Tx have in common.
type reader interface {
	Kind(name string) state.Kind
	Stat(name string) (state.Kind, time.Time)
	Read(name string, limit int64) ([]byte, error)
}

// pairs reads a file of "key: value" lines; one that is missing or cannot be
// read has none.
func pairs(from reader, name string) state.Pairs {
	data, err := from.Read(name, maxFile)
	if err != nil {
		return state.Pairs{}
	}
	return state.ParsePairs(data)
}

// settingsFor returns the settings in force for a hook. Only hooks are given
// the user's options by the host; everybody else asks Effective.
func settingsFor(call *host.Call, from reader) Settings {
	return settle(call.Profile, pairs(from, configFile), call.Env.Getenv)
}

func settle(p host.Profile, config state.Pairs, getenv func(string) string) Settings {
	var s Settings
	get := func(key string) string {
		set := p.Resolve(key, config.Get, getenv)
		s.Ignored = append(s.Ignored, set.Ignored...)
		return set.Value
	}
	s.BudgetPct = number(get(keyPercent))
	s.BudgetTokens = number(get(keyTokens))
	s.Snapshot = get(keyMode) == "snapshot"
	s.Window = number(get(keyWindow))
	s.OwnerWindow = time.Duration(number(get(keyOwnerWindow))) * time.Second
	s.Headless = get(keyHeadless) == "on"
	return s
}

// number reads a checked value; off and not set are 0.
func number(value string) int {
	n, _ := strconv.Atoi(value)
	return n
}

// over reports whether tokens of a window are at or above the budget.
func (s Settings) over(o occupancy) bool {
	return s.BudgetPct > 0 &&
		(o.Tokens*100 >= s.BudgetPct*o.Window.Tokens || s.BudgetTokens > 0 && o.Tokens >= s.BudgetTokens)
}

// Entry is one option and its value in force.
type Entry struct {
	Key     string      `json:"key"`
	Value   string      `json:"value"` // "" when the option is not set and has no default
	Source  host.Source `json:"source"`
	Ignored []string    `json:"ignored,omitempty"` // invalid values that count for nothing, as sentences
}

// Effective returns the settings in force in a project for whoever is not a
// hook: the project's file is read afresh, the user's options and the
// plugin's defaults are those of the newest SessionStart, and what was never
// stamped is p's.
func Effective(project string, p host.Profile, getenv func(string) string) Settings {
	dir := dirOf(project)
	p, getenv = options.Stamped(dir, effectiveFile, p, getenv)
	return settle(p, pairs(dir, configFile), getenv)
}

// Config lists the options of p in the order of the manifest, with the values
// in force in a project (see Effective).
func Config(project string, p host.Profile, getenv func(string) string) []Entry {
	dir := dirOf(project)
	p, getenv = options.Stamped(dir, effectiveFile, p, getenv)
	config := pairs(dir, configFile)
	list := make([]Entry, 0, len(p.Options))
	for _, o := range p.Options {
		set := p.Resolve(o.Key, config.Get, getenv)
		list = append(list, Entry{o.Key, set.Value, set.Source, set.Ignored})
	}
	return list
}

// SetConfig writes the option called key to the project's file and returns
// the value in its canonical form; an empty value takes the option out of the
// file. An unknown key or a value the option does not take is a BadConfig,
// and the file stays as it was.
func SetConfig(project string, p host.Profile, key, value string) (string, error) {
	o, ok := p.Option(key)
	if !ok {
		return "", BadConfig{textUnknownKey(key, host.Nearest(key, keysOf(p)), keysOf(p))}
	}
	if !o.HasScope(host.ScopeProject) {
		return "", BadConfig{textNotInProject(key)}
	}
	if value != "" {
		var err error
		if value, err = o.Check(value); err != nil {
			return "", BadConfig{err.Error()}
		}
	}
	err := dirOf(project).Do(lockWait, func(tx *state.Tx) error {
		old, err := tx.Read(configFile, maxFile)
		if err != nil && tx.Kind(configFile) != state.Absent {
			return err
		}
		return tx.Write(configFile, state.ParsePairs(old).Set(key, value).Bytes())
	})
	if err != nil {
		return "", fmt.Errorf("%s was not written: %w", dirOf(project).Path(configFile), err)
	}
	return value, nil
}

// BadConfig says what is wrong with a key or value and what would be right.
type BadConfig struct{ text string }

func (b BadConfig) Error() string { return b.text }

// KnownKey returns nil if p has an option called key, else a BadConfig that
// names the nearest one.
func KnownKey(p host.Profile, key string) error {
	if _, ok := p.Option(key); !ok {
		return BadConfig{textUnknownKey(key, host.Nearest(key, keysOf(p)), keysOf(p))}
	}
	return nil
}

func keysOf(p host.Profile) []string {
	keys := make([]string, len(p.Options))
	for i, o := range p.Options {
		keys[i] = o.Key
	}
	return keys
}

// stampEffective keeps what only hooks are told for everybody else.
func stampEffective(tx *state.Tx, call *host.Call) error {
	return rewrite(tx, effectiveFile, options.Stamp(call.Profile, call.Env.Getenv))
}

// rewrite writes data to name unless it holds that already: most stamps say
// what the one before said, and a flush to the disk has its price.
func rewrite(tx *state.Tx, name string, data []byte) error {
	if old, err := tx.Read(name, maxFile); err == nil && string(old) == string(data) {
		return nil
	}
	return tx.Write(name, data)
}
