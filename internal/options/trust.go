package options

import (
	"context"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/state"
)

// trackedMark stands in a state directory while git tracks the project's file
// in it. Whatever stands there counts, so that a repository cannot keep the
// mark from being set.
const trackedMark = ".config-tracked"

// Tracked reports whether git tracked the project's file when Vet last asked.
func Tracked(from state.Reader) bool { return from.Kind(trackedMark) != state.Absent }

// Vet has the project's file in a state directory ignored from now on if git
// tracks it, and obeyed if not: settings that came with a repository are not
// the user's, and could have turns continued that the user pays for (case
// F61). It reports whether the file is ignored.
//
// It may start git, so it is for the beginning of a session; the end of a turn
// only looks for the mark. Where git gives no answer everything stays as it
// is: what a setting can do is bounded, and a user whose git is broken has
// settings, too.
func Vet(d state.Dir) (ignored bool, err error) {
	view := d.View()
	defer view.Close()
	if view.Kind(ConfigFile) != state.File {
		return false, nil
	}
	marked := Tracked(view)
	foreign, err := tracked(d)
	if err != nil || foreign == marked {
		return marked, err
	}
	return foreign, d.WithLock(lockWait, func(tx *state.Tx) error {
		if foreign {
			return tx.Write(trackedMark, nil)
		}
		return tx.Remove(trackedMark)
	})
}

// tracked reports whether git tracks the project's file.
func tracked(d state.Dir) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), git.QueryTimeout)
	defer cancel()
	names, err := git.Tracked(ctx, d.Path(""), ConfigFile)
	return len(names) > 0, err
}
