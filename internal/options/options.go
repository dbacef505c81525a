// Package options knows the options of a plugin and their values: in a project,
// whose file lies in the plugin's state directory, of the user, and by default.
package options

import (
	"cmp"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// EnabledKey is an option that every plugin has: off in a project silences all
// its hooks there.
const EnabledKey = "enabled"

// The host tells only hooks what the user has set for a plugin. A command of the
// same plugin, or its status line, gets no variables (docs/host.md, Plugins), so
// SessionStart stamps the values and whoever is not a hook reads the stamp.

// A stamp has lines "option.KEY: value" for what the user set and
// "default.KEY: value" for what the plugin in use has.
const (
	// StampFile is the stamp's name, in a state directory or in the plugin's
	// data directory.
	StampFile = ".effective"

	optionPrefix  = "option."
	defaultPrefix = "default."
	maxStamp      = 64 << 10 // bytes
)

// Stamp is the content of the stamp for p and what a hook is told.
func Stamp(p host.Profile, user host.UserOption) []byte {
	var record state.Pairs
	for _, o := range p.Options {
		if o.Default != "" {
			record = record.Set(defaultPrefix+o.Key, o.Default)
		}
		if !o.HasScope(host.ScopeUser) {
			continue
		}
		if value, err := o.Check(user.Get(o.Key)); err == nil {
			record = record.Set(optionPrefix+o.Key, value)
		}
	}
	return record.Bytes()
}

// Stamped returns p with the defaults of the plugin in use and user with the
// options of the user, both from the stamp. What user knows itself comes first;
// without a stamp both are as they were.
func Stamped(from state.Reader, p host.Profile, user host.UserOption) (host.Profile, host.UserOption) {
	data, err := from.Read(StampFile, maxStamp)
	if err != nil {
		return p, user
	}
	record := state.ParsePairs(data)
	list := make([]host.Option, len(p.Options))
	for i, o := range p.Options {
		if value, err := o.Check(record.Get(defaultPrefix + o.Key)); err == nil {
			o.Default = value
		}
		list[i] = o
	}
	p.Options = list
	return p, func(key string) string { return cmp.Or(user.Get(key), record.Get(optionPrefix+key)) }
}

// ForCommand returns what can be set for a plugin with its state directory at
// dir, for whoever is not a hook: the project's file is read afresh, the user's
// options and the plugin's defaults are those of the newest SessionStart, from
// whichever of the directories has its stamp, and what was never stamped is p's.
func ForCommand(dir state.Dir, data []string, p host.Profile, user host.UserOption) Plugin {
	p, user = Stamped(dir, p, user)
	for _, path := range data {
		p, user = Stamped(state.NewDir(path), p, user)
	}
	return Plugin{Dir: dir, Profile: p, User: user}
}
