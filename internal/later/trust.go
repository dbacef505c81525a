package later

import (
	"fmt"
	"math/rand/v2" // its functions draw from what the runtime seeds; crypto/rand costs each hook
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/state"
)

// trustFile in a project's .later has a random mark that the ledger has, too. So
// another repository in the same place, whatever it ships, is not trusted.
const trustFile = "trusted"

// MarkTrusted puts a new mark into a repository and returns it, for the Note of
// Trusted.
func MarkTrusted(root string) (mark string, err error) {
	mark = fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
	err = state.NewDir(filepath.Join(root, stateDir)).WithLock(lockWait, func(tx *state.Tx) error {
		return tx.Write(trustFile, []byte(mark+"\n"))
	})
	return mark, err
}

// isMarked reports whether a repository has the mark.
func isMarked(root, mark string) bool {
	data, err := state.NewDir(filepath.Join(root, stateDir)).Read(trustFile, 1<<10)
	return err == nil && mark != "" && strings.TrimSpace(string(data)) == mark
}
