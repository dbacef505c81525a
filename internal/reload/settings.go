package reload

import (
	"time"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
	"github.com/ccreload/ccreload/internal/state"
)

// Keys of the plugin's options, as the manifest declares them.
const (
	keyPercent     = "context_budget_pct"
	keyMode        = "context_budget_mode"
	keyTokens      = "context_budget_tokens"
	keyWindow      = "context_window"
	keyOwnerWindow = "context_owner_window"
	keyAtEnd       = "digest_at_end"
	keyHeadless    = "headless"
)

// Settings are the plugin's options with their values in force.
type Settings struct {
	BudgetPct    int           // %; 0 means that there is no budget at all
	BudgetTokens int           // tokens; 0 means that only the percentage counts
	Snapshot     bool          // mode snapshot, else notify
	Window       int           // tokens, set by the user; 0 means found out
	OwnerWindow  time.Duration // how long a foreign digest is protected; 0 means not at all
	AtEnd        bool          // write a digest at the end of a session that has none
	Headless     bool          // take part in runs without a person
	Ignored      []string      // what was set and counts for nothing, as sentences
}

// settingsFor returns the settings in force for a hook. Only hooks are given
// the user's options by the host; everybody else asks Effective.
func settingsFor(call *host.Call, from state.Reader) Settings {
	return settle(options.In(from, call.Profile, call.Host.Option))
}

// Effective returns the settings in force in a project for whoever is not a
// hook (see options.ForCommand).
func Effective(project string, p host.Profile, user host.UserOption) Settings {
	return settle(options.ForCommand(dirOf(project), nil, p, user).Values())
}

func settle(v *options.Values) Settings {
	s := Settings{
		BudgetPct:    v.Number(keyPercent),
		BudgetTokens: v.Number(keyTokens),
		Snapshot:     v.Text(keyMode) == "snapshot",
		Window:       v.Number(keyWindow),
		OwnerWindow:  time.Duration(v.Number(keyOwnerWindow)) * time.Second,
		AtEnd:        v.On(keyAtEnd),
		Headless:     v.On(keyHeadless),
	}
	s.Ignored = v.Ignored
	return s
}

// over reports whether the budget is reached.
func (s Settings) over(o occupancy.Occupancy) bool {
	return s.BudgetPct > 0 && (o.Reaches(s.BudgetPct) || s.BudgetTokens > 0 && o.Tokens >= s.BudgetTokens)
}

// sources are what tells the window of a session in a project.
func (s Settings) sources(h host.Host, session string, p host.Profile, from state.Reader) occupancy.Sources {
	return occupancy.SourcesOf(h, session, p.Windows, s.Window, from)
}

// stampEffective keeps what only hooks are told for everybody else.
func stampEffective(tx *state.Tx, call *host.Call) error {
	return tx.Update(options.StampFile, options.Stamp(call.Profile, call.Host.Option))
}

// segment shows how full the context is, against the budget, and whether /clear
// is safe.
func segment(at plugin.Place, full occupancy.Occupancy) plugin.Segment {
	s := Effective(at.Project, at.Profile, at.Host.Option)
	shown := plugin.Context(full, plugin.Budget{Percent: s.BudgetPct, Tokens: s.BudgetTokens})
	if full.Known && armed(at.Project) {
		shown.Note += " armed"
	}
	return shown
}
