package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/reload"
	"github.com/ccreload/ccreload/internal/statusline"
)

// stateDirs are the directories our plugins keep in a project, by plugin.
var stateDirs = map[string]string{reload.Plugin: ".reload", handoff.Plugin: ".handoff"}

func (rt *runtime) uninstallCommand() *cobra.Command {
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove everything the plugins have left on this machine",
		Long: `Remove everything the plugins have left: the state of this project with its
digest, the status line, recordings of this project, and the plugins' data
directories. What git tracks, and what is not ours, stays.

The plugins themselves are the client's to remove; the commands for that are
printed at the end. Close open sessions first: their hooks write again.`,
		Example: `  ccreload uninstall --dry-run   only say what would go
  ccreload uninstall`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return rt.uninstall(cmd.Context(), dryRun)
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "say what would be removed and remove nothing")
	return cmd
}

func (rt *runtime) uninstall(ctx context.Context, dryRun bool) error {
	list := rt.installedPlugins() // while its record can still be read
	paths, err := rt.leftovers(ctx, list)
	if err != nil {
		return err
	}
	status, err := rt.place().Status()
	if err != nil {
		return settingsError(err)
	}
	line := status == statusline.Ours || status == statusline.Broken
	verb := "removed"
	if dryRun {
		verb = "would remove"
	}
	if line && !dryRun {
		if _, err := rt.place().Uninstall(); err != nil {
			return settingsError(err)
		}
	}
	if line {
		fmt.Fprintf(rt.stdout, "%s the status line and put your settings back\n", verb)
	}
	var failed []error
	for _, path := range paths {
		if !dryRun {
			if err := os.RemoveAll(path); err != nil {
				failed = append(failed, err)
				continue
			}
		}
		fmt.Fprintf(rt.stdout, "%s %s\n", verb, path)
	}
	recorded, err := rt.removeRecordings(dryRun)
	failed = append(failed, err)
	for _, path := range recorded {
		fmt.Fprintf(rt.stdout, "%s %s\n", verb, path)
	}
	if !line && len(paths) == 0 && len(recorded) == 0 {
		fmt.Fprintln(rt.stdout, "There is nothing of ours left.")
	}
	rt.tellRest(list)
	return errors.Join(failed...)
}

// leftovers lists what is ours to remove, files and directories.
func (rt *runtime) leftovers(ctx context.Context, list []installed) ([]string, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	project, err := rt.project()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range slices.Sorted(maps.Values(stateDirs)) {
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
			fmt.Fprintf(rt.stdout, "kept %s: git tracks it\n", path)
			continue
		}
		out = append(out, path)
	}
	for _, dir := range rt.ourDataDirs() {
		known := func(p installed) bool { return p.Data == dir }
		if slices.ContainsFunc(list, known) || hasOurTraces(dir) {
			if _, err := os.Lstat(dir); err == nil {
				out = append(out, dir)
			}
		}
	}
	return append(out, handoff.Locks(filepath.Join(rt.configDir(), "projects"))...), nil
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
		return name == hook.LogName || name == handoff.StampFile || strings.HasPrefix(name, "platform-") || strings.HasPrefix(name, "told-")
	})
}

// removeRecordings drops the recordings of this project, with the directories
// that are empty then, and returns the files it found.
func (rt *runtime) removeRecordings(dryRun bool) ([]string, error) {
	shelf, err := rt.shelf()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range []string{shelf.Ongoing(), shelf.Finished()} {
		if _, err := os.Lstat(path); err == nil {
			found = append(found, path)
		}
	}
	if dryRun {
		return found, nil
	}
	return found, shelf.Drop()
}

// tellRest names what only the client can remove.
func (rt *runtime) tellRest(list []installed) {
	var markets []string
	for _, p := range list {
		if p.ID == "" {
			continue
		}
		fmt.Fprintf(rt.stdout, "The plugin itself: claude plugin uninstall %s\n", p.ID)
		if _, market, ok := strings.Cut(p.ID, "@"); ok && !slices.Contains(markets, market) {
			markets = append(markets, market)
		}
	}
	for _, market := range markets {
		fmt.Fprintf(rt.stdout, "Its marketplace:   claude plugin marketplace remove %s\n", market)
	}
}
