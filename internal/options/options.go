// Package options knows the options of a plugin and their values: in a project,
// whose file lies in the plugin's state directory, of the user, and by default.
package options

import (
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/state"
)

// The host tells only hooks what the user has set for a plugin. A command of the
// same plugin, or its status line, gets no variables (docs/host.md, Plugins), so
// SessionStart stamps the values and whoever is not a hook reads the stamp.

// A stamp has lines "option.KEY: value" for what the user set and
// "default.KEY: value" for what the plugin in use has.
const (
	optionPrefix  = "option."
	defaultPrefix = "default."
	maxStamp      = 64 << 10 // bytes
)

// Stamp is the content of the stamp for p in the environment of a hook.
func Stamp(p host.Profile, getenv func(string) string) []byte {
	var record state.Pairs
	for _, o := range p.Options {
		if o.Default != "" {
			record = record.Set(defaultPrefix+o.Key, o.Default)
		}
		if !o.HasScope(host.ScopeUser) {
			continue
		}
		if value, err := o.Check(getenv(o.EnvName())); err == nil {
			record = record.Set(optionPrefix+o.Key, value)
		}
	}
	return record.Bytes()
}

// Stamped returns p with the defaults of the plugin in use and getenv with the
// user's options, both from the stamp called name. What getenv knows itself
// comes first; without a stamp both are as they were.
func Stamped(from state.Reader, name string, p host.Profile, getenv func(string) string) (host.Profile, func(string) string) {
	data, err := from.Read(name, maxStamp)
	if err != nil {
		return p, getenv
	}
	record := state.ParsePairs(data)
	list := make([]host.Option, len(p.Options))
	given := map[string]string{}
	for i, o := range p.Options {
		if value, err := o.Check(record.Get(defaultPrefix + o.Key)); err == nil {
			o.Default = value
		}
		list[i] = o
		given[o.EnvName()] = record.Get(optionPrefix + o.Key)
	}
	p.Options = list
	return p, func(name string) string {
		if value := getenv(name); value != "" {
			return value
		}
		return given[name]
	}
}
