package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ccreload/ccreload/internal/registry"
)

// project returns the directory whose state a command works on: the one the
// host names, which it does to hooks and the status line, else what
// projectOf makes of the working directory.
func (a *app) project() (string, error) {
	if dir := a.host.Project; dir != "" {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, nil
		}
	}
	cwd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return projectOf(cwd), nil
}

// projectOf returns the nearest directory with state, from cwd upwards but not
// beyond its repository; for a linked worktree that of the main checkout counts
// too, since a session keeps its project when it moves to one (case F39).
// Where there is none it is cwd.
func projectOf(cwd string) string {
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if hasState(dir) {
			return dir
		}
		info, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil && info.Mode().IsRegular() {
			if main := mainCheckout(filepath.Join(dir, ".git")); main != "" && hasState(main) {
				return main
			}
		}
		if err == nil || dir == filepath.Dir(dir) {
			return cwd
		}
	}
}

func hasState(dir string) bool {
	for _, p := range registry.Plugins() {
		if info, err := os.Lstat(filepath.Join(dir, p.StateDir)); err == nil && info.IsDir() {
			return true
		}
	}
	return false
}

// mainCheckout returns the directory of the repository that a linked worktree
// belongs to, by the file git leaves there: gitdir: MAIN/.git/worktrees/NAME;
// "" for any other file.
func mainCheckout(link string) string {
	data, err := os.ReadFile(link)
	if err != nil {
		return ""
	}
	gitdir, _ := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if main, _, ok := strings.Cut(filepath.ToSlash(gitdir), "/.git/worktrees/"); ok && filepath.IsAbs(main) {
		return filepath.FromSlash(main)
	}
	return ""
}
