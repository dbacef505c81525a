package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/ccreload/ccreload/internal/cli/cmdline"
	"github.com/ccreload/ccreload/internal/handoff"
	"github.com/ccreload/ccreload/internal/measure"
	"github.com/ccreload/ccreload/internal/problem"
	"github.com/ccreload/ccreload/internal/reload"
	"github.com/ccreload/ccreload/internal/state"
	"github.com/ccreload/ccreload/internal/term"
	"github.com/ccreload/ccreload/internal/transcript"
)

func (a *app) reloadMeasure() *cobra.Command {
	var asJSON, ofHandoff bool
	cmd := &cobra.Command{
		Use:   "measure [TRANSCRIPT|DIR ...]",
		Short: "Measure how much of what your sessions did next a digest would have said",
		Long: `Measure how much of what your sessions did next a digest would have said.

Each transcript is cut where the session was compacted, and in the middle and at
three quarters of its prompts. The mechanical digest is made of what was before,
and compared with what came then: the files the next calls touched, the commands
they ran again, the to-dos that got done, the names in the next prompts and the
failing commands that got fixed. Without arguments the sessions of this project
are measured. Nothing is written, and nothing leaves this machine.

docs/continuity.md says what the figures mean and what they do not.`,
		Example: `  ccreload reload measure
  ccreload reload measure --handoff
  ccreload reload measure ~/.claude/projects --json | jq .overall`,
		RunE: func(_ *cobra.Command, args []string) error {
			paths, skipped, err := a.transcripts(args)
			if err != nil {
				return err
			}
			page := func(f transcript.Facts) string { return reload.MechanicalPage(f, a.host.Home, a.env.Now()) }
			if ofHandoff {
				page = func(f transcript.Facts) string { return handoff.Page(f, a.host.Home, a.env.Now()) }
			}
			report := measure.Sum(append(a.measureAll(paths, page), skipped...))
			if asJSON {
				err = a.printJSON(report)
			} else {
				_, err = io.WriteString(a.stdout, term.Visible(measured(report)))
			}
			switch {
			case err != nil:
				return err
			case report.Sessions == 0:
				return problem.Fault("a session needs 10 tool calls before one of the moments at which it is cut, and 3 after it", "nothing was measured")
			case slices.ContainsFunc(skipped, func(r measure.Result) bool { return slices.Contains(args, r.Path) }):
				return cmdline.ErrFailed // what was asked for is named above
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs")
	cmd.Flags().BoolVar(&ofHandoff, "handoff", false, "measure the handoff document instead")
	return cmd
}

// transcripts returns the files to be measured: those named, those in directories
// that are named, and without any those of this project.
func (a *app) transcripts(args []string) (paths []string, skipped []measure.Result, err error) {
	if len(args) == 0 {
		project, err := a.project()
		if err != nil {
			return nil, nil, err
		}
		for _, s := range transcript.Sessions(a.host.ConfigPath("projects")) {
			cwd := transcript.Cwd(s.Path)
			if _, inside := state.Below(state.RealPath(project), state.RealPath(cwd)); cwd != "" && inside {
				paths = append(paths, s.Path)
			}
		}
		if len(paths) == 0 {
			return nil, nil, problem.Fault("name transcripts or directories of them: `ccreload reload measure DIR`", "no session of %q has a transcript in %q", project, a.host.ConfigPath("projects"))
		}
		return paths, nil, nil
	}
	for _, arg := range args {
		_ = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				skipped = append(skipped, measure.Result{Path: path, Err: errors.Unwrap(err)})
			case d.IsDir() && d.Name() == "subagents" && path != arg:
				return fs.SkipDir
			case !d.IsDir() && (path == arg || transcript.IsSession(d.Name())) && !slices.Contains(paths, filepath.Clean(path)):
				paths = append(paths, filepath.Clean(path))
			}
			return nil
		})
	}
	if len(paths) == 0 && len(skipped) == 0 {
		return nil, nil, problem.Input("transcripts end in .jsonl; Claude Code keeps them in ~/.claude/projects", "no transcript in %q", strings.Join(args, " "))
	}
	return paths, skipped, nil
}

// maxMeasured is the size of the largest transcript that is measured, in bytes.
const maxMeasured = 256 << 20

// measureAll measures transcripts, as many at once as there are processors, and
// shows on a terminal how far it is.
func (a *app) measureAll(paths []string, page measure.Page) []measure.Result {
	workers := runtime.NumCPU()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
	results := make([]measure.Result, len(paths))
	next := make(chan int)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := range next {
				cuts, err := measureFile(paths[i], page)
				results[i] = measure.Result{Path: paths[i], Cuts: cuts, Err: err}
				done <- struct{}{}
			}
		})
	}
	go func() {
		for i := range paths {
			next <- i
		}
		close(next)
		wg.Wait()
		close(done)
	}()
	bar := term.Bar{W: a.stderr, Total: len(paths)}
	for range done {
		bar.Add()
	}
	bar.Clear()
	return results
}

func measureFile(path string, page measure.Page) ([]measure.Cut, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("no regular file")
	case info.Size() == 0:
		return nil, errors.New("empty")
	case info.Size() > maxMeasured:
		return nil, fmt.Errorf("larger than %d MiB", maxMeasured>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return measure.Session(data, page)
}

// measured is a report for people.
func measured(r measure.Report) string {
	var b strings.Builder
	if r.Sessions > 0 {
		fmt.Fprintf(&b, "%s, tried at %s: %.1f %% of what was needed next was on the page, which has %.0f characters on average.\n\n", term.Count(r.Sessions, "session"), term.Count(r.Cuts, "moment"), r.Overall, r.Characters)
		for _, name := range measure.Names {
			if n := r.Needed[name]; n > 0 {
				fmt.Fprintf(&b, "  %-10s %5.1f   of %d needed\n", name, r.Classes[name], n)
			}
		}
		fmt.Fprintf(&b, "\n  %.1f for 1,000 characters. Of the files a page lists, the next 10 calls touched %.0f %%, the next 30 %.0f %%.\n", r.Per1000, r.Soon, r.Later)
	}
	for i, w := range r.Worst {
		if i == 0 {
			b.WriteString("\nWhere most was missing:\n")
		}
		fmt.Fprintf(&b, "  %s after %d calls: %.0f\n", filepath.Base(w.Path), w.Calls, w.Score)
		for _, name := range measure.Names {
			if list := w.Missing[name]; len(list) > 0 {
				more := ""
				if len(list) > maxMissing {
					list, more = list[:maxMissing], fmt.Sprintf(" and %d more", len(list)-maxMissing)
				}
				var short []string
				for _, s := range list {
					short = append(short, term.Cut(term.Line(s), missingWidth))
				}
				fmt.Fprintf(&b, "    %s: %s%s\n", name, strings.Join(short, ", "), more)
			}
		}
	}
	reasons := map[string][]string{}
	var order []string
	for _, s := range r.Skipped {
		if reasons[s.Why] == nil {
			order = append(order, s.Why)
		}
		reasons[s.Why] = append(reasons[s.Why], filepath.Base(s.Path))
	}
	slices.Sort(order)
	for _, why := range order {
		fmt.Fprintf(&b, "\nNot measured, %s:\n  %s\n", why, strings.Join(reasons[why], ", "))
	}
	return b.String()
}

const (
	maxMissing   = 6
	missingWidth = 60
)
