package host

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// Profile is the part of the manifest the runtime obeys, as ccreload-gen
// writes it to ccreload.json in a plugin's root. A fork that changes a budget
// changes this file, and the stock binary follows.
type Profile struct {
	Plugin         string   `json:"plugin"`
	Version        string   `json:"version"`
	Runtime        string   `json:"runtime,omitempty"` // its version, where that is not Version
	MinHostVersion string   `json:"minHostVersion"`
	Options        []Option `json:"options"`
	Windows        []Window `json:"windows"`
	// Prices are those of PriceTable, for a plugin that asks for them.
	Prices Raw `json:"prices,omitempty"`
}

// Window is a row of the model table: ids that begin with Model, up to a
// boundary, have a context window of Tokens tokens.
type Window struct {
	Model  string `json:"model"`
	Tokens int    `json:"tokens"`
}

// Scope says where an option may be set.
type Scope string

// The scopes of an option.
const (
	ScopeUser    Scope = "user"    // the host asks for it: plugin.json userConfig
	ScopeProject Scope = "project" // the project's config file
	ScopeApp     Scope = "app"     // a file of the plugin's own, for all projects
)

// Kind is the type of an option's value.
type Kind string

// The kinds of an option. KindOff is an integer or the word off, which is 0.
const (
	KindInt    Kind = "int"
	KindOff    Kind = "int|off"
	KindChoice Kind = "choice"
	KindBool   Kind = "bool" // on or off
	KindText   Kind = "text"
)

// Option is one setting of a plugin. Min and Max bound KindInt and KindOff;
// Max 0 means no upper bound.
type Option struct {
	Key     string   `json:"key"`
	Kind    Kind     `json:"kind"`
	Default string   `json:"default"`
	Min     int      `json:"min,omitempty"`
	Max     int      `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
	// Aliases maps an older spelling of a choice to the one in use.
	Aliases map[string]string `json:"aliases,omitempty"`
	Scopes  []Scope           `json:"scopes"`
	Title   string            `json:"title"`
	Help    string            `json:"help"`
}

// HasScope reports whether the option may be set in s.
func (o Option) HasScope(s Scope) bool { return slices.Contains(o.Scopes, s) }

// Check returns value in its canonical form, or an error that says what is
// wrong with it and what would be right. An empty default of an option means
// "not set" and is not checked here.
func (o Option) Check(value string) (string, error) {
	v := strings.ToLower(strings.TrimSpace(value))
	if to, ok := o.Aliases[v]; ok {
		v = to
	}
	switch o.Kind {
	case KindText:
		v = strings.TrimSpace(value)
		if strings.ContainsAny(v, "\r\n\x00") {
			return "", fmt.Errorf("%s takes one line of text", o.Key)
		}
		return v, nil
	case KindChoice:
		if !slices.Contains(o.Choices, v) {
			return "", fmt.Errorf("%s is %q; it takes %s", o.Key, value, Either(o.Choices))
		}
		return v, nil
	case KindBool:
		switch v {
		case "on", "true", "yes", "1":
			return "on", nil
		case "off", "false", "no", "0":
			return "off", nil
		}
		return "", fmt.Errorf("%s is %q; it takes on or off", o.Key, value)
	case KindOff:
		if v == "off" || v == "0" {
			return "off", nil
		}
	}
	n, err := strconv.Atoi(strings.TrimSuffix(v, "%"))
	if err != nil || n < o.Min || o.Max != 0 && n > o.Max {
		return "", fmt.Errorf("%s is %q; it takes %s", o.Key, value, o.takes())
	}
	return strconv.Itoa(n), nil
}

func (o Option) takes() string {
	s := fmt.Sprintf("a whole number from %d to %d", o.Min, o.Max)
	if o.Max == 0 {
		s = fmt.Sprintf("a whole number of at least %d", o.Min)
	}
	if o.Kind == KindOff {
		s += ", or off"
	}
	return s
}

// Option returns the option called key.
func (p Profile) Option(key string) (Option, bool) {
	for _, o := range p.Options {
		if o.Key == key {
			return o, true
		}
	}
	return Option{}, false
}

// DecodeProfile reads a ccreload.json. Keys it does not know are ignored, so
// that an older runtime can serve a newer plugin. It is read at every hook,
// which is why it is scanned and not decoded by reflection. The profile has parts of
// data, which must not be changed afterwards.
func DecodeProfile(data []byte) (Profile, error) {
	var p Profile
	text := texts(data)
	ok := jsonscan.Object(data, func(key, value []byte) {
		switch string(key) {
		case "plugin":
			p.Plugin = text(value)
		case "version":
			p.Version = text(value)
		case "runtime":
			p.Runtime = text(value)
		case "minHostVersion":
			p.MinHostVersion = text(value)
		case "options":
			p.Options = make([]Option, 0, elements(value))
			jsonscan.Array(value, func(value []byte) { p.Options = append(p.Options, scanOption(value, text)) })
		case "prices":
			p.Prices = value
		case "windows":
			p.Windows = make([]Window, 0, elements(value))
			jsonscan.Array(value, func(value []byte) { p.Windows = append(p.Windows, scanWindow(value, text)) })
		}
	})
	if !ok {
		return Profile{}, errors.New("ccreload.json is not a JSON object")
	}
	if p.Plugin == "" {
		return Profile{}, errors.New("ccreload.json names no plugin")
	}
	return p, nil
}

// elements counts the elements of an array.
func elements(array []byte) (n int) {
	jsonscan.Array(array, func([]byte) { n++ })
	return n
}

// texts returns a function like jsonscan.Text for values that are parts of
// data. All its strings are parts of data, too: a profile has dozens, and memory that
// is touched for the first time is what a hook spends its time with.
func texts(data []byte) func(value []byte) string {
	whole := unsafe.String(unsafe.SliceData(data), len(data))
	return func(value []byte) string {
		if jsonscan.Escaped(value) {
			return jsonscan.Text(value)
		}
		at := cap(data) - cap(value)
		return whole[at+1 : at+len(value)-1]
	}
}

func scanWindow(data []byte, text func([]byte) string) (w Window) {
	jsonscan.Object(data, func(key, value []byte) {
		switch string(key) {
		case "model":
			w.Model = text(value)
		case "tokens":
			w.Tokens, _ = jsonscan.Count(value)
		}
	})
	return w
}

func scanOption(data []byte, text func([]byte) string) (o Option) {
	jsonscan.Object(data, func(key, value []byte) {
		switch string(key) {
		case "key":
			o.Key = text(value)
		case "kind":
			o.Kind = Kind(text(value))
		case "default":
			o.Default = text(value)
		case "min":
			o.Min, _ = strconv.Atoi(string(value))
		case "max":
			o.Max, _ = strconv.Atoi(string(value))
		case "choices":
			jsonscan.Array(value, func(value []byte) { o.Choices = append(o.Choices, text(value)) })
		case "aliases":
			o.Aliases = map[string]string{}
			jsonscan.Object(value, func(key, value []byte) { o.Aliases[string(key)] = text(value) })
		case "scopes":
			jsonscan.Array(value, func(value []byte) { o.Scopes = append(o.Scopes, Scope(text(value))) })
		case "title":
			o.Title = text(value)
		case "help":
			o.Help = text(value)
		}
	})
	return o
}

// Source says where a setting's value came from.
type Source string

// Where a value can come from, strongest first.
const (
	FromProject Source = "project file"
	FromUser    Source = "plugin option"
	FromPlugin  Source = "plugin default"
)

// Setting is the value in force for one option.
type Setting struct {
	Value   string
	Source  Source
	Ignored []string // values that were set and are not valid, as sentences
}

// Resolve returns the value in force for key: the project file's (looked up
// with project, "" when it has none), else the user's option, else the
// plugin's default. An invalid value behaves exactly like none.
func (p Profile) Resolve(key string, project func(string) string, user UserOption) Setting {
	o, ok := p.Option(key)
	if !ok {
		return Setting{}
	}
	var s Setting
	try := func(raw string, from Source) bool {
		if raw == "" {
			return false
		}
		v, err := o.Check(raw)
		if err != nil {
			s.Ignored = append(s.Ignored, fmt.Sprintf("%s: %v", from, err))
			return false
		}
		s.Value, s.Source = v, from
		return true
	}
	if o.HasScope(ScopeProject) && try(project(key), FromProject) ||
		o.HasScope(ScopeUser) && try(user.Get(key), FromUser) {
		return s
	}
	s.Value, s.Source = o.Default, FromPlugin
	return s
}
