package proc

import (
	"os"
	"strconv"
	"strings"
)

// WorkingIn returns the processes whose working directory is dir, a path without
// links, or below it. Those of other users, which cannot be looked at, are left out.
func WorkingIn(dir string) ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var found []int
	for pid, s := range all {
		at, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd")
		if err == nil && !s.ended && (at == dir || strings.HasPrefix(at, dir+"/")) {
			found = append(found, pid)
		}
	}
	return found, nil
}
