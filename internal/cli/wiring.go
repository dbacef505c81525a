package cli

import (
	"os"
	"path/filepath"

	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/host"
	"github.com/ccreload/ccreload/internal/reload"
)

// handlers returns what answers each event of each plugin.
func handlers() map[hook.Key]host.Handler {
	all := map[hook.Key]host.Handler{}
	for event, h := range reload.Handlers() {
		all[hook.Key{Plugin: reload.Plugin, Event: event}] = h
	}
	return all
}

// project returns the directory whose state a command works on. The host
// names it to hooks only, so a command looks for the nearest state directory
// from the working directory upwards, but not beyond the repository; where
// there is none, it is the working directory.
func (rt *runtime) project() (string, error) {
	if dir := rt.env.Getenv("CLAUDE_PROJECT_DIR"); dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if info, err := os.Lstat(filepath.Join(dir, ".reload")); err == nil && info.IsDir() {
			return dir, nil
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return cwd, nil
		}
	}
}
