package options

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/state"
)

// ConfigFile is the project's file in a plugin's state directory: "key: value"
// lines.
const ConfigFile = "config"

// maxConfig is the most that is read of a project's file, in bytes.
const maxConfig = 1 << 20

// lockWait is how long a state directory is waited for.
const lockWait = 2 * time.Second

// Values looks up the values in force. An invalid one counts for nothing, and
// so does the whole file of a project that came with the repository.
type Values struct {
	Ignored []string // what was set and counts for nothing, as sentences

	profile host.Profile
	config  state.Pairs // of the project
	shipped state.Pairs // the same, when it came with the repository
	user    host.UserOption
}

// In reads the project's file from a state directory. Only hooks
// are told what the user has set (see Stamped).
func In(from state.Reader, p host.Profile, user host.UserOption) *Values {
	v := &Values{profile: p, user: user}
	data, err := from.Read(ConfigFile, maxConfig)
	if err != nil || len(data) == 0 {
		return v
	}
	if Tracked(from) {
		v.shipped = state.ParsePairs(data)
	} else {
		v.config = state.ParsePairs(data)
	}
	return v
}

// Setting returns the value in force for key and where it comes from.
func (v *Values) Setting(key string) host.Setting {
	set := v.profile.Resolve(key, v.config.Get, v.user)
	if v.shipped.Get(key) != "" {
		set.Ignored = append(set.Ignored, fmt.Sprintf("%s: %s is set by a file that git tracks, so somebody else may have written it", host.FromProject, key))
	}
	v.Ignored = append(v.Ignored, set.Ignored...)
	return set
}

// Text returns the value of key, "" when it is not set.
func (v *Values) Text(key string) string { return v.Setting(key).Value }

// Number returns the value of key; off and not set are 0.
func (v *Values) Number(key string) int {
	n, _ := strconv.Atoi(v.Text(key))
	return n
}

// On reports whether key is switched on.
func (v *Values) On(key string) bool { return v.Text(key) == "on" }

// Plugin is what can be set for one plugin in one project.
type Plugin struct {
	Dir     state.Dir // the plugin's state directory in the project
	Profile host.Profile
	User    host.UserOption
}

// Name returns the name of the plugin.
func (p Plugin) Name() string { return p.Profile.Plugin }

// Values returns the values in force.
func (p Plugin) Values() *Values {
	view := p.Dir.View()
	defer view.Close()
	return In(view, p.Profile, p.User)
}

// Off reports whether the plugin is switched off in the project.
func (p Plugin) Off() bool { return p.Values().Text(EnabledKey) == "off" }

// Unknown names what the project's file sets and no option of the plugin is
// called, as sentences.
func (p Plugin) Unknown() []string {
	var keys, out []string
	for _, o := range p.Profile.Options {
		keys = append(keys, o.Key)
	}
	for _, key := range state.ReadPairs(p.Dir, ConfigFile).Keys() {
		if slices.Contains(keys, key) {
			continue
		}
		why := fmt.Sprintf("%s: there is no setting %q", host.FromProject, key)
		if near := host.Nearest(key, keys); near != "" {
			why += "; did you mean " + near + "?"
		}
		out = append(out, why)
	}
	return out
}

// Entry is one option and its value in force.
type Entry struct {
	Key     string      `json:"key"`
	Value   string      `json:"value"` // "" when the option is not set and has no default
	Source  host.Source `json:"source"`
	Ignored []string    `json:"ignored,omitempty"` // invalid values that count for nothing, as sentences
}

// Entries lists the options in the order of the manifest.
func (p Plugin) Entries() []Entry {
	v := p.Values()
	list := make([]Entry, 0, len(p.Profile.Options))
	for _, o := range p.Profile.Options {
		set := v.Setting(o.Key)
		list = append(list, Entry{o.Key, set.Value, set.Source, set.Ignored})
	}
	return list
}

// Set writes the option called key to the project's file and returns the value
// in its canonical form; an empty value takes the option out of the file. An
// unknown key or a value the option does not take is an input error. After an
// error the file is as it was.
func (p Plugin) Set(key, value string) (string, error) {
	o, ok := p.Profile.Option(key)
	if !ok {
		_, err := Find([]Plugin{p}, key)
		return "", err
	}
	if !o.HasScope(host.ScopeProject) {
		hint := "set it in the options of the plugin (/plugin)"
		if o.HasScope(host.ScopeApp) {
			hint = "set " + strings.ToUpper(key) + " in ~/.cc-later/config.env"
		}
		return "", problem.Input(hint, "%q cannot be set for a project", key)
	}
	if value != "" {
		var err error
		if value, err = o.Check(value); err != nil {
			return "", problem.AsInput(err)
		}
	}
	foreign, unasked := tracked(p.Dir)
	if foreign {
		path := p.Dir.Path(ConfigFile)
		return "", problem.Fault("`git rm --cached "+path+"` makes it yours", "git tracks %q, so somebody else may have written it, and it is not obeyed", path)
	}
	written := value
	if o.Kind == host.KindOff && value == "off" {
		written = "0" // as earlier releases of the plugins write it
	}
	err := p.Dir.WithLock(lockWait, func(tx *state.Tx) error {
		old, err := tx.Read(ConfigFile, maxConfig)
		if err != nil && tx.Kind(ConfigFile) != state.Absent {
			return err
		}
		if unasked == nil {
			if err := tx.Remove(trackedMark); err != nil {
				return err
			}
		}
		return tx.Write(ConfigFile, state.ParsePairs(old).Set(key, written).Bytes())
	})
	if err != nil {
		return "", fmt.Errorf("%s was not set: %w", key, err)
	}
	return value, nil
}

// Find returns the plugin of list that has an option called key. A key that
// none or more than one of them has is an input error.
func Find(list []Plugin, key string) (Plugin, error) {
	var found []Plugin
	var names, keys []string
	for _, p := range list {
		if _, ok := p.Profile.Option(key); ok {
			found, names = append(found, p), append(names, p.Name())
		}
		for _, o := range p.Profile.Options {
			if !slices.Contains(keys, o.Key) {
				keys = append(keys, o.Key)
			}
		}
	}
	switch len(found) {
	case 0:
		hint := "the settings are " + strings.Join(keys, ", ")
		if near := host.Nearest(key, keys); near != "" {
			hint = "did you mean " + near + "? " + hint
		}
		return Plugin{}, problem.Input(hint, "there is no setting %q", key)
	case 1:
		return found[0], nil
	}
	return Plugin{}, problem.Input("say which one you mean, as in --plugin "+names[0], "%s have a setting %q", strings.Join(names, " and "), key)
}
