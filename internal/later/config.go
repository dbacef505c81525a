package later

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/later/schedule"
	"github.com/ccreload/ccreload/internal/state"
)

// ConfigFile is the file of settings in the application's directory: KEY=VALUE
// lines, the same as the original's. The keys are the options of the manifest in
// capital letters.
const ConfigFile = "config.env"

// maxConfig is the most that is read of it, in bytes.
const maxConfig = 64 << 10

// Config is the settings in force.
type Config struct {
	Watch           []string // repositories; none: wherever tasks were queued
	QueuePath       string   // below the top of a repository, with slashes
	AutoIgnore      bool     // add the queue to .git/info/exclude
	Model           string
	Writes          bool
	Output          string // of an agent: a path with {app}, {repo} and {date}
	BudgetUSD       string // of one agent, "" for none
	AllowKey        bool
	SkipPermissions bool

	SessionGap  time.Duration
	Logs        []string // directories; none: the host's
	WeekTokens  int64
	CountCached bool

	Nudge   bool
	Stale   time.Duration
	Compact bool

	WarnWindow time.Duration
	WarnBudget int // percent
	Notify     bool

	schedule.Settings

	// Problems are what is wrong in the file, as sentences; the defaults hold
	// instead.
	Problems []string
}

// plans are how long a usage window is, by plan, in minutes.
var plans = [...]struct {
	name    string
	minutes int
}{{"free", 300}, {"pro", 300}, {"max", 300}, {"team", 300}, {"enterprise", 300}}

// ReadConfig returns the settings in the application's directory; without a file,
// the defaults.
func ReadConfig(app string, p host.Profile) Config {
	if app == "" {
		return ParseConfig(nil, p)
	}
	path := filepath.Join(app, ConfigFile)
	data, err := state.ReadFile(path, maxConfig)
	c := ParseConfig(data, p)
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, state.ErrTooLarge):
		c.Problems = append(c.Problems, fmt.Sprintf("%s has more than %d KB, so the defaults hold", path, maxConfig>>10))
	default:
		c.Problems = append(c.Problems, fmt.Sprintf("%s cannot be read, so the defaults hold: %v", path, err))
	}
	return c
}

// ParseConfig reads the text of a file of settings. What it does not set, or sets
// to a value that does not fit, has the default of the profile.
func ParseConfig(data []byte, p host.Profile) Config {
	r := configReader{profile: p}
	r.scan(string(state.Text(data)))
	c := Config{
		Watch:           list(r.text("paths_watch")),
		QueuePath:       r.queuePath(),
		AutoIgnore:      r.on("later_auto_gitignore"),
		Model:           r.model(),
		Writes:          r.on("dispatch_allow_file_writes"),
		Output:          r.text("dispatch_output_path"),
		BudgetUSD:       r.dollars("dispatch_max_budget_usd"),
		AllowKey:        r.on("dispatch_allow_api_key"),
		SkipPermissions: r.on("dispatch_skip_permissions"),
		SessionGap:      r.minutes("window_session_gap_minutes"),
		Logs:            list(r.text("window_jsonl_paths")),
		WeekTokens:      int64(r.number("limits_weekly_budget_tokens")),
		CountCached:     r.on("limits_count_cache_reads"),
		Nudge:           r.on("nudge_enabled"),
		Stale:           r.minutes("nudge_stale_minutes"),
		Compact:         r.on("compact_enabled"),
		WarnWindow:      r.minutes("monitor_warn_window_minutes"),
		WarnBudget:      r.number("monitor_warn_budget_pct"),
		Notify:          r.on("monitor_notify_enabled"),
		Settings: schedule.Settings{
			Enabled:         r.on("dispatch_enabled"),
			Mode:            schedule.Mode(r.text("window_dispatch_mode")),
			Hours:           r.hours("window_fallback_dispatch_hours"),
			Duration:        r.duration(),
			Trigger:         r.minutes("window_trigger_at_minutes_remaining"),
			IdleGrace:       r.minutes("window_idle_grace_period_minutes"),
			Backoff:         r.number("limits_backoff_at_pct"),
			MaxAgents:       r.number("dispatch_max_agents"),
			PerWindow:       r.number("dispatch_per_window"),
			PerSection:      r.number("later_max_entries_per_dispatch"),
			MaxAttempts:     r.number("dispatch_max_attempts"),
			Resume:          r.on("auto_resume_enabled"),
			ResumeRemaining: r.minutes("auto_resume_min_remaining_minutes"),
			MaxRetries:      r.number("nudge_max_retries"),
		},
	}
	c.Problems = r.problems
	return c
}

// configReader looks up values and collects what is wrong with them.
type configReader struct {
	profile  host.Profile
	set      []setting
	problems []string
}

type setting struct{ key, value string }

func (r *configReader) scan(text string) {
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		key, value, ok := strings.Cut(l, "=")
		if !ok || strings.HasPrefix(l, "#") {
			continue
		}
		key = strings.ToLower(strings.TrimSpace(strings.TrimPrefix(key, "export ")))
		if _, known := r.profile.Option(key); !known {
			if key == "" {
				r.problems = append(r.problems, fmt.Sprintf("%q names no setting before the =", host.Cut(l, 40)))
				continue
			}
			r.unknown(key)
			continue
		}
		r.set = append(r.set, setting{key, unquote(strings.TrimSpace(value))})
	}
}

// unquote takes off the quotes that people put around values of such files.
func unquote(s string) string {
	if n := len(s); n > 1 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}

func (r *configReader) unknown(key string) {
	keys := make([]string, 0, len(r.profile.Options))
	for _, o := range r.profile.Options {
		if o.HasScope(host.ScopeApp) {
			keys = append(keys, o.Key)
		}
	}
	why := fmt.Sprintf("there is no setting %s", strings.ToUpper(key))
	if near := host.Nearest(key, keys); near != "" {
		why += "; did you mean " + strings.ToUpper(near) + "?"
	}
	r.problems = append(r.problems, why)
}

// text returns the value of key, the default where it is not set or does not fit.
func (r *configReader) text(key string) string {
	o, ok := r.profile.Option(key)
	if !ok {
		return "" // a profile of another plugin
	}
	for i := len(r.set) - 1; i >= 0; i-- {
		if r.set[i].key != key || r.set[i].value == "" {
			continue
		}
		value, err := o.Check(r.set[i].value)
		if err == nil {
			return value
		}
		r.bad(key, strings.TrimPrefix(err.Error(), key+" is "))
		break
	}
	return o.Default
}

func (r *configReader) bad(key, why string) {
	r.problems = append(r.problems, strings.ToUpper(key)+" is "+why)
}

func (r *configReader) on(key string) bool { return r.text(key) == "on" }

func (r *configReader) number(key string) int {
	n, _ := strconv.Atoi(r.text(key))
	return n
}

func (r *configReader) minutes(key string) time.Duration {
	return time.Duration(r.number(key)) * time.Minute
}

func (r *configReader) fallback(key string) string {
	o, _ := r.profile.Option(key)
	return o.Default
}

// queuePath is below the repository: what a setting names is edited.
func (r *configReader) queuePath() string {
	const key = "later_path"
	path := r.text(key)
	if !filepath.IsLocal(filepath.FromSlash(path)) {
		r.bad(key, fmt.Sprintf("%q; it takes a path below the top of a repository", path))
		return r.fallback(key)
	}
	return filepath.ToSlash(filepath.Clean(filepath.FromSlash(path)))
}

// model is an argument of the client, and must not be taken for another option.
func (r *configReader) model() string {
	const key = "dispatch_model"
	m := r.text(key)
	if strings.HasPrefix(m, "-") {
		r.bad(key, fmt.Sprintf("%q; it takes an alias such as opus, or the id of a model", m))
		return r.fallback(key)
	}
	return m
}

func (r *configReader) dollars(key string) string {
	s := strings.TrimPrefix(r.text(key), "$")
	if n, err := strconv.ParseFloat(s, 64); s != "" && (err != nil || !(n > 0 && n < 1e6)) {
		r.bad(key, fmt.Sprintf("%q; it takes an amount such as 2.50", s))
		return ""
	}
	return s
}

func (r *configReader) hours(key string) []schedule.Hours {
	hours, err := schedule.ParseHours(r.text(key))
	if err != nil {
		r.bad(key, fmt.Sprintf("%q: %v", r.text(key), err))
	}
	return hours
}

// duration is the plan's where the setting is not set.
func (r *configReader) duration() time.Duration {
	if n := r.number("window_duration_minutes"); n > 0 {
		return time.Duration(n) * time.Minute
	}
	plan := r.text("plan")
	for _, p := range plans {
		if p.name == plan {
			return time.Duration(p.minutes) * time.Minute
		}
	}
	return 5 * time.Hour
}

// list reads paths between commas.
func list(s string) []string {
	var out []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// DefaultConfig is the text of a file of settings in which every key stands at its
// default, commented out.
func DefaultConfig(p host.Profile) string {
	var b strings.Builder
	b.WriteString("# Settings of cc-later, for all repositories. Take away the # to change one.\n")
	for _, o := range p.Options {
		if !o.HasScope(host.ScopeApp) {
			continue
		}
		value := o.Default
		if o.Kind == host.KindBool {
			value = strconv.FormatBool(value == "on")
		}
		fmt.Fprintf(&b, "\n# %s\n#%s=%s\n", o.Help, strings.ToUpper(o.Key), value)
	}
	return b.String()
}
