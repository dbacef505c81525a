package reload

import (
	"strings"

	"github.com/ccreload/ccreload/internal/handover"
	"github.com/ccreload/ccreload/internal/occupancy"
	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/state"
)

// owns reports whether name is a file the plugin keeps in a project's .reload, or
// the directory of old digests in it.
func owns(name string) bool {
	switch name {
	case digestFile, armFile, markerFile, ladderFile, sessionsFile, trustFile, usedFile, seenFile, openFile, historyDir:
		return true
	}
	if kept, ok := strings.CutPrefix(name, historyDir+"/"); ok {
		return keptNumber(kept) > 0 || state.Owns(kept)
	}
	between := func(before, after string) bool {
		return strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	}
	return between(sidePrefix, sideSuffix) || between(draftPrefix, draftSuffix) || between(summaryPrefix, summarySuffix) ||
		state.Owns(name) || handover.Owns(name) || occupancy.Owns(name) || options.Owns(name)
}
