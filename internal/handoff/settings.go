package handoff

import (
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/plugin"
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
	Language      string // of the headings: en or no
	Headless      bool   // runs without a person take part
	Ignored       []string
}

// settingsFor returns the settings in force for a hook.
func settingsFor(call *host.Call) Settings {
	return settings(options.Plugin{Dir: dirOf(call.Project), Profile: call.Profile, User: call.Host.Option})
}

// Effective returns the settings in force in a project for whoever is not a
// hook (see options.ForCommand).
func Effective(project string, data []string, p host.Profile, user host.UserOption) Settings {
	return settings(options.ForCommand(dirOf(project), data, p, user))
}

func settings(p options.Plugin) Settings {
	v := p.Values()
	s := Settings{
		HintPct:       v.Number("hint_pct"),
		AutoPct:       v.Number("auto_pct"),
		Commit:        v.On("commit"),
		LoadOnStartup: v.On("load_on_startup"),
		ArtifactDir:   v.Text("artifact_dir"),
		PlanFile:      v.Text("plan_file"),
		Language:      v.Text("language"),
		Headless:      v.On("headless"),
	}
	s.Ignored = v.Ignored
	return s
}

// segment hints at the handoff, once the context is that full.
func segment(at plugin.Place, full occupancy.Occupancy) plugin.Segment {
	return hint(full, Effective(at.Project, at.Data, at.Profile, at.Host.Option))
}

// figures are in the data directories: a project has no directory of this plugin
// until its first handoff.
func figures(at plugin.Place) []state.Dir {
	var dirs []state.Dir
	for _, path := range at.Data {
		dirs = append(dirs, state.NewDir(path))
	}
	return dirs
}

func hint(full occupancy.Occupancy, s Settings) plugin.Segment {
	switch {
	case s.AutoPct > 0 && full.Reaches(s.AutoPct):
		return plugin.Hint(textUrgent, true)
	case s.HintPct > 0 && full.Reaches(s.HintPct):
		return plugin.Hint(textHint, false)
	}
	return plugin.Segment{}
}
