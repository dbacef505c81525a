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
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/registry"
	"github.com/ccreload/ccreload/internal/term"

	"github.com/ccreload/ccreload/internal/git"
	"github.com/ccreload/ccreload/internal/hook"
	"github.com/ccreload/ccreload/internal/statusline"
)

// ignoreName is what keeps such a directory out of git.
const ignoreName = ".gitignore"

func (a *app) uninstallCommand() *cobra.Command {
	var dryRun, laterData bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove what the plugins have left of this project and in your home",
		Long: `Remove what the plugins have left: the state of this project with its digest,
the status line, the timer of cc-later, recordings of this project, and the
plugins' data directories. ~/.cc-later, with what cc-later has done for you, goes
only with --later-data; the queues in your repositories are yours and stay.
What git tracks and what somebody else put there is kept and named. Other
projects keep their state; the last lines say how to find it.

The plugins themselves are removed by Claude Code; the commands for that are
printed, too. Open sessions write again at their next turn, so close them first.
If ccreload is found inside a session only, type this in the last one that is open;
its hooks do nothing from then on:
! ccreload uninstall`,
		Example: `  ccreload uninstall --dry-run   only say what would go
  ccreload uninstall`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.uninstall(cmd.Context(), dryRun, laterData)
		},
	}
	cmd.Flags().BoolVarP(&dryRun, "dry-run", "n", false, "remove nothing, only say what would be removed")
	cmd.Flags().BoolVar(&laterData, "later-data", false, "remove ~/.cc-later, too: settings, results and statistics of cc-later")
	return cmd
}

func (a *app) uninstall(ctx context.Context, dryRun, laterData bool) error {
	list := a.installedPlugins() // while its record can still be read
	found, err := a.leftovers(ctx, list, laterData)
	if err != nil {
		return err
	}
	verb := "removed"
	if dryRun {
		verb = "would remove"
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(a.stdout, term.Line(fmt.Sprintf(format, args...)))
	}
	var failed []error
	some := false
	for _, l := range found {
		if !dryRun {
			if err := l.remove(); err != nil {
				failed = append(failed, err)
				continue
			}
		}
		some = some || len(l.what) > 0
		for _, what := range l.what {
			say("%s %s", verb, what)
		}
		for _, path := range l.kept {
			say("kept %s: %s", path, l.why)
		}
	}
	if !dryRun && a.host.Session != "" {
		if hook.End(a.host.Session) {
			say("The hooks of this session do nothing from now on.")
		} else {
			say("The hooks of this session may write anew at its next turn: end it, and do this once more.")
		}
	}
	if a.host.Home == "" {
		failed = append(failed, problem.Fault("set HOME to an absolute path", "you have no home directory, so it is not known what is installed and what the plugins have left there"))
		return errors.Join(failed...)
	}
	if !some {
		say("Nothing of the plugins is left here.")
	}
	a.tellRest(list)
	return errors.Join(failed...)
}

// leftover is something of ours to remove.
type leftover struct {
	what   []string // as a person is told
	remove func() error
	// kept is what others have put there, and why it stays.
	kept []string
	why  string
}

// files is the leftover of these paths.
func files(paths ...string) leftover {
	return leftover{what: paths, remove: func() error {
		var errs []error
		for _, path := range paths {
			errs = append(errs, os.RemoveAll(path))
		}
		return errors.Join(errs...)
	}}
}

// leftovers lists what is ours to remove.
func (a *app) leftovers(ctx context.Context, list []installed, laterData bool) ([]leftover, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	project, err := a.project()
	if err != nil {
		return nil, err
	}
	var out []leftover
	line, err := a.place().Status()
	if err != nil {
		return nil, err
	}
	if line == statusline.Ours || line == statusline.Broken {
		out = append(out, leftover{what: []string{"the status line from your settings"}, remove: func() error {
			_, err := a.place().Uninstall()
			return err
		}})
	}
	for _, p := range registry.Plugins() {
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
		l := leftover{kept: []string{path}, why: "git tracks it", remove: func() error { return nil }}
		if !tracked {
			if l, err = sift(path, p.Owns); err != nil {
				return nil, err
			}
		}
		out = append(out, l)
	}
	for _, dir := range a.ourDataDirs() {
		known := func(p installed) bool { return p.Data == dir }
		if slices.ContainsFunc(list, known) || hasOurTraces(dir) {
			if _, err := os.Lstat(dir); err == nil {
				out = append(out, files(dir))
			}
		}
	}
	for _, p := range registry.Plugins() {
		if p.Leftovers != nil && a.host.Config != "" {
			out = append(out, files(p.Leftovers(a.host.Config)...))
		}
	}
	if dir, ok := a.servedDir(); ok {
		out = append(out, files(dir))
	}
	ofLater, err := a.laterLeftovers(ctx, laterData)
	if err != nil {
		return nil, err
	}
	out = append(out, ofLater...)
	store, err := a.recordStore()
	if err != nil {
		return out, nil // without a home nothing was recorded
	}
	recordings := leftover{remove: store.Drop}
	for _, path := range []string{store.Ongoing(), store.Finished()} {
		if _, err := os.Lstat(path); err == nil {
			recordings.what = append(recordings.what, path)
		}
	}
	return append(out, recordings), nil
}

// sift tells what is ours in the state directory at dir from what is not. Where
// something is not, the directory stays and its .gitignore with it, without
// which git would see what is kept. Links are not followed, and what is neither
// a file nor a link is not ours.
func sift(dir string, ours func(name string) bool) (leftover, error) {
	var remove, kept []string
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
			kept = append(kept, path)
		case e.Name() != ignoreName:
			remove = append(remove, path)
		}
		return nil
	})
	if len(kept) == 0 {
		return files(dir), err
	}
	l := files(remove...)
	l.kept, l.why = kept, "it is not ours"
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

// tellRest names what lies elsewhere and what only the client can remove.
func (a *app) tellRest(list []installed) {
	fmt.Fprintln(a.stdout, `Other projects keep their .reload, .handoff and .later: run "ccreload uninstall" there, too. To find them:
  find ~ -type d '(' -name .reload -o -name .handoff -o -name .later ')'`)
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
