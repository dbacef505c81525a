package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/options"
	"github.com/ccreload/ccreload/internal/term"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/statusline"
)

// ignoreName is what keeps such a directory out of git.
const ignoreName = ".gitignore"

func (a *app) uninstallCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what the plugins have left of this project and in your home",
		Long: `Remove what the plugins have left: the state of this project with its digest,
the status line, recordings of this project, and the plugins' data directories.
What git tracks, and what is not ours, stays and is named. Other projects keep
theirs; the last lines say how to find it.

The plugins themselves are the client's to remove; the commands for that are
printed, too. Sessions write again at their next turn, so close them first. If
only a session knows ccreload, type this as the last thing in it:
! ccreload uninstall`,
		Example: `  ccreload uninstall --dry-run   only say what would go
  ccreload uninstall`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.uninstall(cmd.Context(), dryRun)
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be removed and remove nothing")
	return cmd
}

func (a *app) uninstall(ctx context.Context, dryRun bool) error {
	list := a.installedPlugins() // while its record can still be read
	found, err := a.leftovers(ctx, list)
	if err != nil {
		return err
	}
	status, err := a.place().Status()
	if err != nil {
		return err
	}
	line := status == statusline.Ours || status == statusline.Broken
	verb := "removed"
	if dryRun {
		verb = "would remove"
	}
	if line && !dryRun {
		if _, err := a.place().Uninstall(); err != nil {
			return err
		}
	}
	if line {
		fmt.Fprintf(a.stdout, "%s the status line and put your settings back\n", verb)
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(a.stdout, term.Visible(fmt.Sprintf(format, args...)))
	}
	var failed []error
	some := line
	for _, l := range found {
		if !dryRun {
			if err := l.remove(); err != nil {
				failed = append(failed, err)
				continue
			}
		}
		for _, path := range l.paths() {
			some = true
			say("%s %s", verb, path)
		}
		for _, path := range l.kept {
			say("kept %s: it is not ours", path)
		}
	}
	recorded, err := a.removeRecordings(dryRun)
	failed = append(failed, err)
	for _, path := range recorded {
		some = true
		say("%s %s", verb, path)
	}
	if !some {
		say("There is nothing of ours left here.")
	}
	a.tellRest(list)
	return errors.Join(failed...)
}

// leftover is something of ours to remove.
type leftover struct {
	path string
	// Of a directory in which others have put something: the files that are
	// ours, and what is not. It stays then, and so does its .gitignore, without
	// which git would see what is kept.
	ours, kept []string
}

// paths are what remove takes away.
func (l leftover) paths() []string {
	if len(l.kept) > 0 {
		return l.ours
	}
	return []string{l.path}
}

func (l leftover) remove() error {
	var errs []error
	for _, path := range l.paths() {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// leftovers lists what is ours to remove.
func (a *app) leftovers(ctx context.Context, list []installed) ([]leftover, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	project, err := a.project()
	if err != nil {
		return nil, err
	}
	var out []leftover
	for _, p := range plugins() {
		name := p.StateDir
		path := filepath.Join(project, name)
		// A link is not what we make.
		if info, err := os.Lstat(path); err != nil || !info.IsDir() {
			continue
		}
		tracked, err := tracks(ctx, project, name)
		if err != nil {
			return nil, err
		}
		if tracked {
			fmt.Fprintf(a.stdout, "kept %s: git tracks it\n", path)
			continue
		}
		l, err := sift(path, p.Owns)
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	for _, dir := range a.ourDataDirs() {
		known := func(p installed) bool { return p.Data == dir }
		if slices.ContainsFunc(list, known) || hasOurTraces(dir) {
			if _, err := os.Lstat(dir); err == nil {
				out = append(out, leftover{path: dir})
			}
		}
	}
	for _, p := range plugins() {
		if p.Leftovers == nil {
			continue
		}
		for _, path := range p.Leftovers(a.host.Config) {
			out = append(out, leftover{path: path})
		}
	}
	return out, nil
}

// sift tells what is ours in the state directory at dir from what is not. Links
// are not followed, and what is neither a file nor a link is not ours.
func sift(dir string, ours func(name string) bool) (leftover, error) {
	l := leftover{path: dir}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		switch t := e.Type(); {
		case !ours(filepath.ToSlash(rel)) || t != 0 && t != fs.ModeSymlink:
			l.kept = append(l.kept, path)
		case e.Name() != ignoreName:
			l.ours = append(l.ours, path)
		}
		return nil
	})
	return l, err
}

// tracks reports whether git tracks anything in dir.
func tracks(ctx context.Context, project, dir string) (bool, error) {
	var names []string
	entries, err := os.ReadDir(filepath.Join(project, dir))
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	tracked, err := git.Tracked(ctx, project, names...)
	return len(tracked) > 0, err
}

// hasOurTraces tells a data directory of ours from that of another plugin of
// the same name.
func hasOurTraces(dir string) bool {
	entries, _ := os.ReadDir(dir) // none when it cannot be read
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool {
		name := e.Name()
		return name == hook.LogName || name == options.StampFile || strings.HasPrefix(name, "platform-") || strings.HasPrefix(name, "told-")
	})
}

// removeRecordings drops the recordings of this project, with the directories
// that are empty then, and returns the files it found.
func (a *app) removeRecordings(dryRun bool) ([]string, error) {
	store, err := a.recordStore()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range []string{store.Ongoing(), store.Finished()} {
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	if dryRun {
		return found, nil
	}
	return found, store.Drop()
}

// tellRest names what lies elsewhere and what only the client can remove.
func (a *app) tellRest(list []installed) {
	fmt.Fprintln(a.stdout, `Other projects keep their .reload and .handoff: run "ccreload uninstall" there, too. To find them:
  find ~ -type d '(' -name .reload -o -name .handoff ')'`)
	var markets []string
	for _, p := range list {
		if p.ID == "" {
			continue
		}
		fmt.Fprintf(a.stdout, "The plugin itself: claude plugin uninstall %s\n", p.ID)
		if _, market, ok := strings.Cut(p.ID, "@"); ok && !slices.Contains(markets, market) {
			markets = append(markets, market)
		}
	}
	for _, market := range markets {
		fmt.Fprintf(a.stdout, "Its marketplace:   claude plugin marketplace remove %s\n", market)
	}
}
