package reload

import (
	"strconv"
	"strings"

	"github.com/ccreload/ccreload/internal/state"
)

// ladderStep is how many points the occupancy has to rise before the user is
// told again.
const ladderStep = 10

// nextNotice returns the occupancy in % from which a notice is due: at once
// when there was none since the budget was crossed. A ladder that makes no
// sense is none.
func nextNotice(from state.Reader) int {
	data, err := from.Read(ladderFile, maxFile)
	if err != nil {
		return 0
	}
	last, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || last < 0 || last > 100 {
		return 0
	}
	return last + ladderStep
}

// recordNotice notes that a notice fires at percent. Without that note nothing may
// be said, or it would be said at every turn from now on.
func recordNotice(tx *state.Tx, percent int) error {
	return tx.Write(ladderFile, []byte(strconv.Itoa(percent)+"\n"))
}
