package handoff

import (
	"strconv"

	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// Settings are the plugin's options with their values in force.
type Settings struct {
	HintPct       int    // %; from here on the status line hints; 0: never
	AutoPct       int    // %; a turn that ends at it starts a handoff; 0: never
	Commit        bool   // the artifact may be committed
	LoadOnStartup bool   // a plain start takes a handoff, too
	ArtifactDir   string // below the top of the worktree; "" means as classified
	PlanFile      string // a file that says that work goes on over several sessions
	Norwegian     bool   // headings
	Headless      bool   // runs without a person take part
	Ignored       []string
}

// settingsFor returns the settings in force for a hook.
func settingsFor(call *host.Call) Settings {
	return settle(call.Project, call.Profile, call.Env.Getenv)
}

// Effective returns the settings in force in a project for whoever is not a
// hook: the user's options and the plugin's defaults are those of the newest
// SessionStart, from whichever of the data directories has them.
func Effective(project string, data []string, p host.Profile, getenv func(string) string) Settings {
	for _, dir := range data {
		p, getenv = options.Stamped(state.At(dir), stampFile, p, getenv)
	}
	return settle(project, p, getenv)
}

func settle(project string, p host.Profile, getenv func(string) string) Settings {
	var config state.Pairs
	if data, err := dirOf(project).Read(configFile, maxFile); err == nil {
		config = state.ParsePairs(data)
	}
	var s Settings
	get := func(key string) string {
		set := p.Resolve(key, config.Get, getenv)
		s.Ignored = append(s.Ignored, set.Ignored...)
		return set.Value
	}
	number := func(key string) int {
		n, _ := strconv.Atoi(get(key)) // off and not set are 0
		return n
	}
	s.HintPct = number("hint_pct")
	s.AutoPct = number("auto_pct")
	s.Commit = get("commit") == "on"
	s.LoadOnStartup = get("load_on_startup") == "on"
	s.ArtifactDir = get("artifact_dir")
	s.PlanFile = get("plan_file")
	s.Norwegian = get("language") == "no"
	s.Headless = get("headless") == "on"
	return s
}

// Hint is the plugin's part of the status line at an occupancy of percent; ""
// below the hint. It only shows: nothing is written because of it.
func Hint(percent int, s Settings) (text string, urgent bool) {
	switch {
	case s.AutoPct > 0 && percent >= s.AutoPct:
		return textUrgent, true
	case s.HintPct > 0 && percent >= s.HintPct:
		return textHint, false
	}
	return "", false
}
