package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/jsonscan"
)

// Own returns the transcript of a session, of which the host says that it is
// path. At times the host names that of another session (case F48): a file that
// is not called after this one, and whose newest row says that it is of another.
// Then it is the one of that name beside it, and without that an error and no
// path. Rows copied by a fork or a resume, and clients whose rows name no
// session, are no reason to doubt.
func Own(path, session string) (string, error) {
	const suffix = ".jsonl"
	if path == "" || session == "" || strings.TrimSuffix(filepath.Base(path), suffix) == session {
		return path, nil
	}
	owner := ""
	if f, size, err := open(path); err == nil {
		defer f.Close()
		lines := newBackwards(f, size, func([]byte) bool { return false })
		for owner == "" {
			line, ok := lines.next()
			if !ok {
				break
			}
			if row, ok := parseRow(line); ok {
				owner = jsonscan.Plain(row.session)
			}
		}
	}
	if owner == "" || owner == session {
		return path, nil
	}
	beside := filepath.Join(filepath.Dir(path), session+suffix)
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && filepath.Base(beside) == session+suffix {
		return beside, nil
	}
	return "", fmt.Errorf("transcript %q is another session's", path)
}
